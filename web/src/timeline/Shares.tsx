// Which part of the time went where, as one bar with its figures.

import { percent } from "../lib/format";
import { stateName } from "./Timeline";
import "./timeline.css";

const ORDER = ["model", "lean", "paused", "idle", "error"];

/** What takes most of the actors' time, and what would help; `shares` in any unit. */
export function advice(shares: Record<string, number>): string | null {
  const total = ORDER.reduce((sum, state) => sum + (shares[state] ?? 0), 0);
  if (total <= 0) return null;
  const part = (state: string): number => (shares[state] ?? 0) / total;
  if (part("error") > 0.1) return "A Lean server is out of reach for much of the time: see the servers on the overview and the log.";
  const most = ["model", "lean", "paused", "idle"].reduce((best, state) => (part(state) > part(best) ? state : best));
  const share = percent(part(most), 0);
  switch (most) {
    case "model":
      return `Most of the time (${share}) actors wait for the network: a smaller network, fewer samples of a state (--num-sampled-tactics), or another GPU would help; more Lean processes would not.`;
    case "lean":
      return `Most of the time (${share}) actors wait for Lean: more Lean processes (--lean-processes) or more servers would help, or a shorter --tactic-timeout; a faster network would not.`;
    case "paused":
      return `Most of the time (${share}) actors are paused while the network trains: a larger --collect-transitions, or fewer updates of each collection, leaves more of it to the search.`;
    default:
      return `Most of the time (${share}) actors have nothing to do: the run evaluates, saves or waits; the profile's timeline shows which.`;
  }
}

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
