// The model's belief in how many tactics are still needed, as bars; the true number is marked where it is known.

import { percent } from "../../lib/format";
import { spreadOf } from "./shading";

const HEIGHT = 56;

export function Distribution({ distribution, value, depth }: { distribution: number[]; value: number | null; depth: number | null }) {
  const spread = spreadOf(distribution);
  const words = [
    value === null ? "no value" : `${value.toFixed(1)} tactics expected`,
    spread && `± ${spread.deviation.toFixed(1)}, most likely ${spread.mode}`,
    depth === null ? null : `really ${depth}`,
  ].filter(Boolean).join(" · ");
  const tallest = Math.max(...distribution, 1e-9);
  const needed = distribution.findLastIndex((p) => p > 0.004 * tallest) + 1;
  const shown = Math.min(distribution.length, Math.max(8, needed, depth ?? 0));
  return (
    <figure className="distribution">
      {spread && (
        <div className="bars" aria-hidden="true" style={{ height: HEIGHT }}>
          {distribution.slice(0, shown).map((p, i) => (
            <span key={i} title={`${i + 1}: ${percent(p)}`} className={i + 1 === depth ? "true" : ""}>
              <i style={{ height: Math.max(1, (HEIGHT - 16) * (p / tallest)) }} />
              <small>{i + 1 === depth ? "▲" : i === 0 || (i + 1) % (shown > 24 ? 8 : 4) === 0 ? i + 1 : ""}</small>
            </span>
          ))}
        </div>
      )}
      <figcaption className="small muted num">{words}</figcaption>
    </figure>
  );
}
