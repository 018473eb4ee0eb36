// Places of attempts on a small chart: steps to the right, simulations upwards (each doubling as high as the last).

import type { AttemptRow } from "../../api/types";

export interface Mark {
  attempt: AttemptRow;
  x: number;
  y: number;
}

export interface Axes {
  marks: Mark[];
  /** Simulations with a line, and where it is. */
  lines: { value: number; y: number }[];
  first: number;
  last: number;
}

/** Marks within a box of this size; attempts of one step stand beside each other. */
export function historyMarks(attempts: AttemptRow[], width: number, height: number): Axes {
  const steps = attempts.map((attempt) => attempt.step);
  const first = Math.min(...steps);
  const last = Math.max(...steps);
  const top = Math.log2(1 + Math.max(1, ...attempts.map((attempt) => Math.max(attempt.simulations, attempt.budget))));
  const y = (simulations: number): number => height - (height * Math.log2(1 + simulations)) / top;
  const seen = new Map<number, number>();
  const marks = attempts.map((attempt) => {
    const before = seen.get(attempt.step) ?? 0;
    seen.set(attempt.step, before + 1);
    const x = last === first ? width / 2 : (width * (attempt.step - first)) / (last - first);
    return { attempt, x: Math.max(0, x - 3 * before), y: y(attempt.simulations) };
  });
  const lines = [];
  for (let value = 1; Math.log2(1 + value) <= top; value *= 4) lines.push({ value, y: y(value) });
  return { marks, lines, first, last };
}
