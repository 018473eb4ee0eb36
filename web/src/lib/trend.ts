// How a curve goes, in two numbers.

/** A fifth of the points, and at most so many, are the newest ones. */
const MOST = 50;
const PART = 5;

export interface Recent {
  now: number;
  /** Of as many points before; null where there are not as many. */
  before: number | null;
  steps: number;
}

/** The mean of the newest values, and of as many before them; null where there is none. */
export function recent(values: (number | null)[], points?: number): Recent | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const steps = points ?? Math.max(1, Math.min(MOST, Math.floor(known.length / PART)));
  const mean = (part: number[]): number => part.reduce((sum, value) => sum + value, 0) / part.length;
  const before = known.slice(-2 * steps, -steps);
  return { now: mean(known.slice(-steps)), before: before.length === steps ? mean(before) : null, steps };
}
