// The solve rate on each benchmark by step, and the newest one with its interval.

import { useMemo } from "react";
import type { Benchmark } from "../../api/types";
import { href } from "../../app/router";
import { integer, percent, rate, signed } from "../../lib/format";
import { Chart } from "../../parts/Chart";
import type { Line } from "../../parts/chart_data";

export function SolveRateChart({ benchmarks }: { benchmarks: Benchmark[] }) {
  const lines = useMemo(() => benchmarks.map(lineOf), [benchmarks]);
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
              <span className="figure">{benchmark.points.length > 1 ? `${signed(gain, (value) => (100 * value).toFixed(1))} points since the first` : "the first score"}</span>
            </div>
          </li>
        );
      })}
    </ul>
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
