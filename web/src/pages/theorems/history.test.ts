import { describe, expect, it } from "vitest";
import type { AttemptRow } from "../../api/types";
import { historyMarks } from "./history";

const attempt = (step: number, simulations: number, budget = 64): AttemptRow => ({
  rank: 0, step, seq: 0, dataset: "d", id: "t", outcome: "unproven", disproving: false, simulations, budget, tactics: 0,
  seconds: 1, time: null, tree: false,
});

describe("historyMarks", () => {
  it("puts steps to the right and more simulations higher, within the box", () => {
    const { marks, first, last } = historyMarks([attempt(10, 64), attempt(20, 0), attempt(15, 7)], 100, 50);
    expect([first, last]).toEqual([10, 20]);
    expect(marks.map((mark) => mark.x)).toEqual([0, 100, 50]);
    expect(marks[0]!.y).toBeCloseTo(0);
    expect(marks[1]!.y).toBe(50);
    expect(marks[2]!.y).toBeCloseTo(25, 0);
  });
  it("puts attempts of one step beside each other", () => {
    const { marks } = historyMarks([attempt(1, 3), attempt(9, 3), attempt(9, 3)], 100, 50);
    expect(marks[1]!.x).not.toBe(marks[2]!.x);
  });
  it("shows a single step in the middle", () => {
    expect(historyMarks([attempt(4, 1)], 100, 50).marks[0]!.x).toBe(50);
  });
  it("draws lines within the box only", () => {
    const { lines } = historyMarks([attempt(1, 100, 128)], 100, 50);
    expect(lines.map((line) => line.value)).toEqual([1, 4, 16, 64]);
    expect(lines.every((line) => line.y >= 0)).toBe(true);
  });
});
