import { describe, expect, it } from "vitest";
import { csvOf, joinColumns, lastValue, padded, smoothed, viewed, zoomed } from "./chart_data";

describe("lines of a chart", () => {
  it("of different steps share one sorted x, with gaps", () => {
    const { columns, places } = joinColumns([
      { name: "a", x: [1, 3], y: [10, 30] },
      { name: "b", x: [2, 3], y: [20, 33], low: [19, 32], high: [21, 34] },
    ]);
    expect(columns).toEqual([[1, 2, 3], [10, null, 30], [null, 20, 33], [null, 19, 32], [null, 21, 34]]);
    expect(places).toEqual([{ value: 1 }, { value: 2, low: 3, high: 4 }]);
  });

  it("with the same x are taken as they are", () => {
    const x = [1, 2];
    const y = [5, null];
    expect(joinColumns([{ name: "a", x, y }]).columns[1]).toBe(y);
  });

  it("are zoomed where a part of them is on show", () => {
    expect(zoomed([1, 5, 9], { min: 1, max: 9 })).toBeNull();
    expect(zoomed([1, 5, 9], { min: 3, max: 9 })).toEqual({ min: 3, max: 9 });
    expect(zoomed([5], { min: 4, max: 6 })).toBeNull();
    expect(zoomed([], { min: null, max: null })).toBeNull();
  });

  it("end with their last value", () => {
    expect(lastValue([1, 2, null])).toBe(2);
    expect(lastValue([null])).toBeNull();
  });

  it("have some air, even where all values are equal, and none where a limit is wished", () => {
    const [low, high] = padded(5, 5);
    expect(low).toBeLessThan(5);
    expect(high).toBeGreaterThan(5);
    expect(padded(2, 10, [0, null])[0]).toBe(0);
    expect(padded(null, null)).toEqual([-0.06, 1.06]);
  });
});

it("smooths without a pull towards zero, and leaves gaps", () => {
  expect(smoothed([4, 4, null, 4], 0.9)).toEqual([4, 4, null, 4].map((value) => (value === null ? null : expect.closeTo(value, 9))));
  expect(smoothed([1, 4], 0.5)).toEqual([1, 3]); // (0.5 * 0.5 * 1 + 0.5 * 4) / 0.75
});

it("shows lines over the time since the first step, and nothing where a logarithm has no value", () => {
  const line = { name: "loss", x: [1, 2, 3], y: [2, 0, 8], low: [1, 0, 7], high: [3, 0, 9] };
  const [over] = viewed([line], { smooth: 0, log: true, x: "time" }, () => [100, null, 130]);
  expect(over).toEqual({ name: "loss", x: [0, 30], y: [2, 8], low: [1, 7], high: [3, 9] });
  expect(viewed([line], { smooth: 0, log: true, x: "step" }, () => [])[0]?.y).toEqual([2, null, 8]);
  expect(viewed([line], { smooth: 0.5, log: false, x: "step" }, () => [])[0]).not.toHaveProperty("low");
});

it("writes lines as comma-separated values over all x", () => {
  const lines = [{ name: 'a,"b"', x: [1, 2], y: [0.5, null] }, { name: "c", x: [2], y: [3], low: [2], high: [4] }];
  expect(csvOf(lines, "step")).toBe('step,"a,""b""",c,c low,c high\n1,0.5,,,\n2,,3,2,4\n');
});
