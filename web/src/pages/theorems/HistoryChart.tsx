// The attempts at a theorem over the run; the shape of a mark says how it ended.

import { useEffect, useRef, useState } from "react";
import type { AttemptRow } from "../../api/types";
import { atStep, duration, integer } from "../../lib/format";
import { historyMarks } from "./history";
import { attemptPath } from "./links";

const HEIGHT = 92;
const LEFT = 52;

export function HistoryChart({ attempts, chosen, onChoose }: { attempts: AttemptRow[]; chosen: string | null; onChoose: (attempt: AttemptRow) => void }) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    observer.observe(host.current!);
    return () => observer.disconnect();
  }, []);
  const { marks, lines, first, last } = historyMarks(attempts, Math.max(50, width - LEFT - 14), HEIGHT);
  return (
    <div className="history" ref={host}>
      <svg width={width} height={HEIGHT + 34} role="img" aria-label={`Simulations of ${attempts.length} attempts from ${atStep(first)} to ${atStep(last)}; the table below holds the same.`}>
        <g transform={`translate(${LEFT} 10)`}>
          {lines.map(({ value, y }) => (
            <g key={value} transform={`translate(0 ${y})`}>
              <line x2={Math.max(50, width - LEFT - 14)} stroke="var(--line)" />
              <text x={-8} dy="0.33em" textAnchor="end">{integer(value)}</text>
            </g>
          ))}
          <text y={HEIGHT + 20}>{atStep(first)}</text>
          {last !== first && <text x={Math.max(50, width - LEFT - 14)} y={HEIGHT + 20} textAnchor="end">{atStep(last)}</text>}
          {marks.map(({ attempt, x, y }) => (
            <g key={attemptPath(attempt)} transform={`translate(${x} ${y})`} className="history-mark" onClick={() => onChoose(attempt)}>
              <title>{`${atStep(attempt.step)}: ${attempt.outcome}, ${attempt.simulations} of ${attempt.budget} simulations, ${duration(attempt.seconds)}`}</title>
              <circle r="9" fill="transparent" />
              {attemptPath(attempt) === chosen && <circle r="8" fill="none" stroke="var(--accent)" strokeWidth="1.5" />}
              <Shape outcome={attempt.outcome} />
            </g>
          ))}
        </g>
      </svg>
      <ul className="history-legend small muted">
        {([["proven", "proved"], ["unproven", "not proved"], ["disproven", "disproved"], ["error", "error"]] as const)
          .filter(([outcome]) => attempts.some((attempt) => attempt.outcome === outcome))
          .map(([outcome, word]) => <li key={outcome}><svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true"><Shape outcome={outcome} /></svg>{word}</li>)}
        <li className="spread">simulations by step</li>
      </ul>
    </div>
  );
}

function Shape({ outcome }: { outcome: AttemptRow["outcome"] }) {
  switch (outcome) {
    case "proven":
      return <circle r="4.5" fill="var(--good)" />;
    case "disproven":
      return <path d="M0-5.5 5.5 0 0 5.5-5.5 0Z" fill="var(--accent)" />;
    case "error":
      return <path d="M-4-4 4 4M4-4-4 4" stroke="var(--bad)" strokeWidth="2" />;
    case "unproven":
      return <circle r="4" fill="var(--surface)" stroke="var(--muted)" strokeWidth="1.5" />;
  }
}
