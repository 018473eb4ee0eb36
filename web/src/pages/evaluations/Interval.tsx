// A rate with its interval on a line from 0 to 100%.

import type { EvaluationRow } from "../../api/types";
import { percent } from "../../lib/format";

export function Interval({ row }: { row: Pick<EvaluationRow, "solved" | "done" | "low" | "high"> }) {
  const middle = row.done ? row.solved / row.done : 0;
  return (
    <span className="interval">
      <svg width="96" height="12" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2="100" y1="6" y2="6" stroke="var(--line)" strokeWidth="2" />
        <line x1={100 * row.low} x2={100 * row.high} y1="6" y2="6" stroke="var(--accent)" strokeWidth="4" opacity="0.45" />
        <line x1={100 * middle} x2={100 * middle} y1="1" y2="11" stroke="var(--accent)" strokeWidth="2.5" />
      </svg>
      <span className="muted small">{percent(row.low)} to {percent(row.high)}</span>
    </span>
  );
}
