import { expect, it } from "vitest";
import { recent } from "./trend";

it("does not follow one batch that jumps, and passes over steps without a value", () => {
  const values = Array.from({ length: 100 }, (_, step): number | null => (step % 10 === 9 ? null : 1));
  values[98] = 19;
  const loss = recent(values)!;
  expect(loss.steps).toBe(18);
  expect(loss.now).toBeCloseTo(2);
  expect(loss.before).toBe(1);
});

it("says nothing of what there is not", () => {
  expect(recent([null])).toBe(null);
  expect(recent([3], 1)).toEqual({ now: 3, before: null, steps: 1 });
});
