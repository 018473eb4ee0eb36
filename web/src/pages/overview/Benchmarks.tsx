// The solve rate on each benchmark by step, and the newest one with its interval.

import { useMemo } from "react";
import type { Benchmark } from "../../api/types";
import { href } from "../../app/router";
import { integer, percent, rate, signed } from "../../lib/format";
import { CopyButton } from "../../parts/basics";
import { Chart } from "../../parts/Chart";
import type { Line } from "../../parts/chart_data";

export function SolveRateChart({ benchmarks }: { benchmarks: Benchmark[] }) {
  const lines = useMemo(() => benchmarks.flatMap((benchmark) => [lineOf(benchmark), ...solverLine(benchmark)]), [benchmarks]);
  return <Chart label="Solve rate by step" lines={lines} y={percent} level={(value) => percent(value, 0)} range={[0, null]} shape="points" height={220} />;
}

/** Rate and interval by step; without a step the point is left out. */
export function lineOf(benchmark: Benchmark): Line {
  const points = benchmark.points.filter((point) => point.step !== null && point.total > 0);
  return {
    name: benchmark.name,
    x: points.map((point) => point.step as number),
    y: points.map((point) => point.solved / point.total),
    low: points.map((point) => point.low),
    high: points.map((point) => point.high),
  };
}

/** What solver tactics alone prove, from the first to the last step: they do not learn. */
export function solverLine({ name, points, solvers }: Benchmark): Line[] {
  const steps = points.flatMap((point) => point.step ?? []);
  if (!solvers || steps.length === 0) return [];
  const share = solvers.solved / solvers.total;
  const x = steps.length === 1 ? steps : [Math.min(...steps), Math.max(...steps)];
  return [{ name: `${name}, solvers alone`, x, y: x.map(() => share) }];
}

/** One benchmark below the other, so that nothing is cut at any width. */
export function Scores({ benchmarks }: { benchmarks: Benchmark[] }) {
  return (
    <ul className="scores num">
      {benchmarks.map((benchmark) => {
        const last = benchmark.points[benchmark.points.length - 1];
        const first = benchmark.points[0];
        if (!last || !first) return null;
        const solved = last.solved / (last.total || 1);
        const gain = solved - first.solved / (first.total || 1);
        return (
          <li key={benchmark.name}>
            <div className="line">
              <a href={href("evaluations", { dataset: benchmark.dataset })}>{benchmark.name}</a>
              <span className="figure"><b>{rate(last.solved, last.total)}</b> <span className="muted">{integer(last.solved)} of {integer(last.total)}</span></span>
            </div>
            <Whiskers low={last.low} high={last.high} value={solved} />
            <div className="line small muted">
              <span>{percent(last.low)} to {percent(last.high)}</span>
              <span className="figure">{benchmark.points.length > 1 ? `${signed(gain, (value) => (100 * value).toFixed(1))} points since the first, ${rate(first.solved, first.total)}` : "the first score"}</span>
            </div>
            <Solvers of={benchmark} />
          </li>
        );
      })}
    </ul>
  );
}

/** What solver tactics prove of the same theorems without a network; how to find out where nobody did. */
function Solvers({ of: { dataset, split, simulations, total, lean, solvers } }: { of: Benchmark }) {
  if (solvers) {
    return (
      <div className="line small muted" title={solvers.where}>
        <span>solver tactics alone, without a network</span>
        <span className="figure">{rate(solvers.solved, solvers.total)}, {integer(solvers.solved)} of {integer(solvers.total)}</span>
      </div>
    );
  }
  const command = `python -m scripts.prover_eval --policy solver-only --datasets ${dataset}${split ? ` --split ${split}` : ""} --max-theorems ${total} --num-simulations ${simulations}`;
  return (
    <details className="small muted">
      <summary>No score of solver tactics alone on these theorems</summary>
      <p>This makes one{lean === "nanolean" ? "" : ", with the run's Lean servers (--lean-servers)"}; it appears here:</p>
      <div className="command"><code>{command}</code><CopyButton text={command} /></div>
    </details>
  );
}

function Whiskers({ low, high, value }: { low: number; high: number; value: number }) {
  return (
    <svg className="whiskers" role="img" aria-label={`${percent(value)}, interval ${percent(low)} to ${percent(high)}`}>
      <title>{`${percent(low)} to ${percent(high)}`}</title>
      <line x1="0" x2="100%" y1="9" y2="9" stroke="var(--line)" strokeWidth="2" />
      <line x1={`${100 * low}%`} x2={`${100 * high}%`} y1="9" y2="9" stroke="var(--accent)" strokeWidth="4" strokeLinecap="round" opacity="0.45" />
      <circle cx={`${100 * value}%`} cy="9" r="4.5" fill="var(--accent)" />
    </svg>
  );
}
