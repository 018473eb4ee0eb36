// Time to pixels, ticks at round times, and what lies under the pointer: the arithmetic of the timeline.

import type { Lane } from "../api/types";

/** A stretch of time, in seconds since the epoch. */
export interface Range {
  from: number;
  to: number;
}

const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

/** Round times within the range, at most one for every `space` pixels. */
export function ticks(range: Range, width: number, space = 90): number[] {
  const wanted = ((range.to - range.from) * space) / Math.max(1, width);
  const step = STEPS.find((candidate) => candidate >= wanted) ?? 86400;
  const found: number[] = [];
  for (let index = Math.ceil(range.from / step); index * step <= range.to; index++) found.push(index * step);
  return found;
}

/** A tick as text: time of day, with as many decimals as the range asks for. */
export function tickText(time: number, range: Range): string {
  const date = new Date(1000 * time);
  const pad = (value: number, size = 2): string => String(value).padStart(size, "0");
  const minutes = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  const span = range.to - range.from;
  if (span > 1800) return minutes;
  if (span > 8) return `${minutes}:${pad(date.getSeconds())}`;
  return `${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)} s`;
}

/** The span of a lane at a time, if there is one. Spans are sorted by start; of those that overlap the last begun counts. */
export function spanAt(lane: Lane, time: number): [number, number, string] | null {
  let low = 0;
  let high = lane.spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lane.spans[middle]?.[0] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  for (let index = low - 1; index >= Math.max(0, low - 4); index--) {
    const span = lane.spans[index];
    if (span && span[1] >= time) return span;
  }
  return null;
}

/** The range made longer or shorter around a time, within what there is. */
export function zoom(range: Range, factor: number, around: number, limits: Range): Range {
  const length = Math.min(limits.to - limits.from, Math.max(0.02, (range.to - range.from) * factor));
  const share = (around - range.from) / (range.to - range.from || 1);
  return clamp({ from: around - share * length, to: around + (1 - share) * length }, limits);
}

/** The range moved by a part of its length, within what there is. */
export function pan(range: Range, share: number, limits: Range): Range {
  const by = share * (range.to - range.from);
  return clamp({ from: range.from + by, to: range.to + by }, limits);
}

function clamp(range: Range, limits: Range): Range {
  const length = Math.min(range.to - range.from, limits.to - limits.from);
  const from = Math.min(Math.max(range.from, limits.from), limits.to - length);
  return { from, to: from + length };
}
