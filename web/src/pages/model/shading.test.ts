import { describe, expect, it } from "vitest";
import { hardest, shade, shorter, spreadOf, visible } from "./shading";

describe("shade", () => {
  it("grows with the loss up to a limit, and is nothing for no loss", () => {
    expect([shade(null), shade(0), shade(2.5), shade(50), shade(-1)]).toEqual([0, 0, 0.5, 1, 0]);
  });
});

describe("hardest", () => {
  it("gives the highest losses first and leaves out tokens without one", () => {
    const hard = hardest(["a", "b", "c", "d"], [0.1, null, 3, 1], 2);
    expect(hard.map((one) => one.token)).toEqual(["c", "d"]);
  });
});

describe("visible", () => {
  it("shows white space at the edges, and tokens without any text", () => {
    expect([visible(" rw"), visible("\n"), visible("a b"), visible("")]).toEqual(["␣rw", "↵", "a b", "∅"]);
  });
});

describe("spreadOf", () => {
  it("counts tactics from one", () => {
    expect(spreadOf([0, 1, 0])).toEqual({ mean: 2, mode: 2, deviation: 0 });
    expect(spreadOf([0.5, 0, 0.5])!.mean).toBeCloseTo(2);
  });
  it("needs no sum of one, and is nothing for nothing", () => {
    expect(spreadOf([2, 2])!.mean).toBeCloseTo(1.5);
    expect(spreadOf([])).toBeNull();
    expect(spreadOf([0, 0])).toBeNull();
  });
});

describe("shorter", () => {
  it("leaves away what every answer begins with, and nothing else", () => {
    expect(shorter("Could not apply tactic: Lean error:\nUnknown identifier `h`\nand more")).toBe("Unknown identifier `h`\nand more");
    expect(shorter("timed out")).toBe("timed out");
  });
});
