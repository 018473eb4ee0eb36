import { describe, expect, it } from "vitest";
import { calibrationLines, depthLines } from "./calibration";

describe("calibrationLines", () => {
  it("draws the truth over the prediction with a band, and the diagonal over the same places", () => {
    const bin = { low: 2, high: 3, count: 5, predicted: 2.5, actual: 1, deviation: 2 };
    const [measured, perfect] = calibrationLines([{ ...bin, predicted: 4 }, bin]);
    expect(measured!.x).toEqual([2.5, 4]);
    expect([measured!.low![0], measured!.high![0]]).toEqual([0, 3]);
    expect(perfect!.y).toEqual([2.5, 4]);
    expect(perfect!.x).toBe(measured!.x);
  });
});

describe("depthLines", () => {
  it("draws the prediction over the true number, and the truth over the same places", () => {
    const row = { depth: 3, count: 4, predicted: 2, error: -1, absolute_error: 1.5 };
    const [predicted, perfect] = depthLines([row]);
    expect([predicted!.x, predicted!.y, predicted!.low, predicted!.high]).toEqual([[3], [2], [0.5], [3.5]]);
    expect(perfect!.y).toEqual([3]);
  });
});
