// Figures and lines of what the models did, from samples of them.

import type { Batches } from "../../api/types";
import type { Line } from "../../parts/chart_data";

export interface BatchFigures {
  meanStates: number;
  medianStates: number;
  meanRows: number;
  mostRows: number;
  meanQueue: number;
  mostQueue: number;
}

export function batchFigures(batches: Batches[]): BatchFigures {
  const rows = batches.flatMap((rank) => rank.rows);
  const states = batches.flatMap((rank) => rank.states);
  const queue = batches.flatMap((rank) => rank.queue);
  const sorted = [...states].sort((a, b) => a - b);
  return {
    meanStates: mean(states),
    medianStates: sorted[sorted.length >> 1] ?? 0,
    meanRows: mean(rows),
    mostRows: most(rows),
    meanQueue: mean(queue),
    mostQueue: most(queue),
  };
}

/** Which part of `seconds` the models computed, in the mean of the ranks. */
export function busyShare(batches: Batches[], seconds: number): number {
  if (batches.length === 0 || seconds <= 0) return 0;
  return Math.min(1, sum(batches.map((rank) => rank.busy)) / batches.length / seconds);
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: number[]): number => (values.length ? sum(values) / values.length : 0);
const most = (values: number[]): number => values.reduce((high, value) => Math.max(high, value), 0);

const POINTS = 120;

/** Lines by time, one of each rank; many samples are put together to their mean, with lowest and highest. */
export function batchLines(batches: Batches[]): { rows: Line[]; queue: Line[]; seconds: Line[] } {
  const some = batches.filter((rank) => rank.start.length > 0);
  const line = (rank: Batches, values: number[]): Line => together(some.length > 1 ? `rank ${rank.rank}` : "samples", rank.start, values);
  return {
    rows: some.map((rank) => line(rank, rank.rows)),
    queue: some.map((rank) => line(rank, rank.queue)),
    seconds: some.map((rank) => line(rank, rank.seconds)),
  };
}

function together(name: string, x: number[], y: number[]): Line {
  if (x.length <= POINTS) return { name, x, y };
  const size = Math.ceil(x.length / POINTS);
  const line = { name, x: [] as number[], y: [] as number[], low: [] as number[], high: [] as number[] };
  for (let start = 0; start < x.length; start += size) {
    const part = y.slice(start, start + size);
    line.x.push(x[start] as number);
    line.y.push(mean(part));
    line.low.push(Math.min(...part));
    line.high.push(Math.max(...part));
  }
  return line;
}
