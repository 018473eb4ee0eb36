import { describe, expect, it } from "vitest";
import type { EvaluationRow } from "../../api/types";
import { choose, inOrder, mismatch, verdict } from "./choice";
import { solvedWithin, wilson } from "./wilson";

const row = (name: string, time: number | null, dataset = "minif2f"): EvaluationRow => ({
  name, model: "", about: "", dataset, split: "test", step: 3, time, over: true, done: 10, total: 10, solved: 5, low: 0, high: 1, failed: 5,
  errors: 0, simulations: 64, tactic_samples: null, seconds: 1, solved_at: {}, baseline: null, accepted: "",
});

describe("wilson", () => {
  it("is the published interval", () => {
    const [low, high] = wilson(81, 263);
    expect(low).toBeCloseTo(0.2553, 4);
    expect(high).toBeCloseTo(0.3662, 4);
  });
  it("stays between 0 and 1, and knows nothing of nothing", () => {
    expect(wilson(0, 10)[0]).toBeCloseTo(0);
    expect(wilson(10, 10)[1]).toBeCloseTo(1);
    expect(wilson(0, 0)).toEqual([0, 1]);
  });
});

describe("solvedWithin", () => {
  it("sorts by simulations as numbers and gives shares", () => {
    const line = solvedWithin("ours", { "128": 5, "16": 2, "8": 1 }, 10);
    expect(line.x).toEqual([3, 4, 7]);
    expect(line.y).toEqual([0.1, 0.2, 0.5]);
    expect(line.low![0]! < 0.1 && line.high![0]! > 0.1).toBe(true);
  });
});

describe("choosing two evaluations", () => {
  it("lets go of the first when a third is chosen, and of one that is chosen again", () => {
    expect(choose(["a", "b"], "c")).toEqual(["b", "c"]);
    expect(choose(["a", "b"], "a")).toEqual(["b"]);
  });
  it("puts the earlier one first", () => {
    const rows = [row("late", 20), row("early", 10)];
    expect(inOrder(["late", "early"], rows)).toEqual(["early", "late"]);
    expect(inOrder(["late"], rows)).toBeNull();
  });
  it("says when they are of different benchmarks", () => {
    expect(mismatch(["a", "b"], [row("a", 1), row("b", 2)])).toBeNull();
    expect(mismatch(["a", "b"], [row("a", 1), row("b", 2, "putnam")])).toMatch(/different benchmarks/);
  });
});

describe("verdict", () => {
  it("does not call chance an improvement", () => {
    expect(verdict(0.4, 5, 3)).toMatch(/chance alone could/);
    expect(verdict(0.001, 20, 3)).toMatch(/^Clearly more gained/);
    expect(verdict(0.03, 3, 12)).toMatch(/more lost/);
    expect(verdict(1, 0, 0)).toBe("No theorem changed.");
  });
});
