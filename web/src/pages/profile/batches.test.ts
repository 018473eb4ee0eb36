import { describe, expect, it } from "vitest";
import { batchFigures, batchLines, busyShare } from "./batches";

const rank = (count: number) => ({
  rank: 0,
  busy: 0.05 * count,
  start: Array.from({ length: count }, (_, index) => index),
  seconds: Array.from({ length: count }, () => 0.05),
  rows: Array.from({ length: count }, (_, index) => 1 + (index % 8)),
  states: Array.from({ length: count }, () => 2),
  queue: Array.from({ length: count }, () => 0),
});

describe("samples of the model", () => {
  it("are summed up over ranks", () => {
    expect(batchFigures([rank(8), rank(8)])).toMatchObject({ meanRows: 4.5, mostRows: 8, medianStates: 2 });
    expect(busyShare([rank(80), rank(80)], 8)).toBe(0.5);
  });

  it("of which only every second was sent say the same of the time", () => {
    const sent = { ...rank(80), start: [], seconds: [] };
    expect(busyShare([sent], 8)).toBe(0.5);
  });

  it("that are many are drawn as means that keep the extremes", () => {
    const [line] = batchLines([rank(5000)]).rows;
    expect(line?.x.length).toBeLessThanOrEqual(120);
    expect(Math.max(...(line?.high as number[]))).toBe(8);
    expect(Math.min(...(line?.low as number[]))).toBe(1);
  });

  it("that are none have no figures", () => {
    expect(batchFigures([])).toMatchObject({ meanRows: 0, medianStates: 0 });
    expect(batchLines([rank(0)]).rows).toEqual([]);
    expect(busyShare([], 10)).toBe(0);
  });
});
