import { describe, expect, it } from "vitest";
import { calibrationLines } from "./calibration";

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
