import { expect, it } from "vitest";
import type { Series } from "../../api/types";
import { funnel, lineOf } from "./funnel";

it("counts what passed each filter and those before it", () => {
  const stages = funnel({ unreadable: 3, refused: 1, known: 2, "held out": 1, vacuous: 1, trivial: 4, false: 5, new: 3 });
  expect(stages.map(({ name, count }) => [name, count])).toEqual([
    ["proposed", 20], ["well-formed", 16], ["novel", 13], ["not vacuous", 12], ["not trivial", 8], ["not refuted", 3],
  ]);
  expect(stages[2]!.share).toBe(0.65);
  expect(funnel({})[0]).toEqual({ name: "proposed", count: 0, share: 0 });
});

it("divides by what was proposed in the same step, and not by nothing", () => {
  const values = { "conjectures/proposed": [8, 0, 4], "conjectures/novel": [2, 0, 3] };
  const data: Series = { names: [], steps: [1, 2, 3], times: [], values, low: {}, high: {}, total: 3, thinned: false };
  expect(lineOf(data, "novel", "novel", "proposed")?.y).toEqual([0.25, null, 0.75]);
  expect(lineOf(data, "novel", "novel")?.y).toEqual([2, 0, 3]);
  expect(lineOf(data, "length", "length")).toBeNull();
});
