// Wilson intervals, as the monitor computes them, and curves of them.

import type { Line } from "../../parts/chart_data";

const Z = 1.959963984540054;

/** The 95% interval of a rate of `solved` in `total`. */
export function wilson(solved: number, total: number): [low: number, high: number] {
  if (total <= 0) return [0, 1];
  const rate = solved / total;
  const spread = (Z * Z) / total;
  const center = (rate + spread / 2) / (1 + spread);
  const half = (Z * Math.sqrt((rate * (1 - rate)) / total + spread / (4 * total))) / (1 + spread);
  return [Math.max(0, center - half), Math.min(1, center + half)];
}

/** The share solved within so many simulations, with its interval, for a chart whose x is the logarithm (base 2). */
export function solvedWithin(name: string, solvedAt: Record<string, number>, total: number): Line {
  const entries = Object.entries(solvedAt)
    .map(([simulations, solved]) => [Number(simulations), solved] as const)
    .filter(([simulations]) => simulations > 0)
    .sort((a, b) => a[0] - b[0]);
  const intervals = entries.map(([, solved]) => wilson(solved, total));
  return {
    name,
    x: entries.map(([simulations]) => Math.log2(simulations)),
    y: entries.map(([, solved]) => (total > 0 ? solved / total : null)),
    low: intervals.map(([low]) => low),
    high: intervals.map(([, high]) => high),
  };
}
