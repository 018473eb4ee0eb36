import { describe, expect, it } from "vitest";
import { batchFigures, batchLines, busyShare } from "./batches";

const rank = (count: number) => ({
  rank: 0,
  start: Array.from({ length: count }, (_, index) => index),
  seconds: Array.from({ length: count }, () => 0.5),
  rows: Array.from({ length: count }, (_, index) => 1 + (index % 8)),
  states: Array.from({ length: count }, () => 2),
  queue: Array.from({ length: count }, () => 0),
});

describe("batches of the model", () => {
  it("are summed up over ranks", () => {
    const figures = batchFigures([rank(8), rank(8)]);
    expect(figures).toMatchObject({ count: 16, seconds: 8, meanRows: 4.5, mostRows: 8, medianStates: 2 });
    expect(busyShare([rank(8), rank(8)], 8)).toBe(0.5);
  });

  it("that are many are drawn as means that keep the extremes", () => {
    const [line] = batchLines([rank(5000)]).rows;
    expect(line?.x.length).toBeLessThanOrEqual(120);
    expect(Math.max(...(line?.high as number[]))).toBe(8);
    expect(Math.min(...(line?.low as number[]))).toBe(1);
  });

  it("that are none have no figures", () => {
    expect(batchFigures([])).toMatchObject({ count: 0, meanRows: 0, medianStates: 0 });
    expect(batchLines([rank(0)]).rows).toEqual([]);
    expect(busyShare([], 10)).toBe(0);
  });
});
