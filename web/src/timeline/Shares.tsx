// Which part of the time went where, as one bar with its figures.

import { percent } from "../lib/format";
import { advice, ORDER } from "./advice";
import { stateName } from "./Timeline";
import "./timeline.css";


export function Shares({ label, shares }: { label: string; shares: Record<string, number> }) {
  const total = ORDER.reduce((sum, state) => sum + (shares[state] ?? 0), 0) || 1;
  const said = advice(shares);
  return (
    <div className="shares">
      <div className="whole" role="img" aria-label={`${label}: ${ORDER.map((state) => `${stateName(state)} ${percent((shares[state] ?? 0) / total)}`).join(", ")}`}>
        {ORDER.map((state) => <span key={state} className={`fill-${state}`} style={{ width: `${(100 * (shares[state] ?? 0)) / total}%` }} />)}
      </div>
      <ul>
        {ORDER.map((state) => (
          <li key={state}>
            <span className={`swatch fill-${state}`} aria-hidden="true" />
            {stateName(state)} <b>{percent((shares[state] ?? 0) / total)}</b>
          </li>
        ))}
      </ul>
      {said && <p className="small advice">{said}</p>}
    </div>
  );
}
