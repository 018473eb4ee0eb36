import { describe, expect, it } from "vitest";
import { ago, bytes, compact, count, duration, integer, level, measure, percent, rate, signed } from "./format";

it("axes show no digits that say nothing", () => {
  expect([0, 0.8, 0.6, 1, 2.5, 1e-5, 2000, 0.30000000000000004].map(level)).toEqual(["0", "0.8", "0.6", "1", "2.5", "0.00001", "2,000", "0.3"]);
});

describe("missing values", () => {
  it("are a dash in every format", () => {
    for (const show of [integer, compact, measure, percent, duration, bytes, signed]) {
      for (const value of [null, undefined, NaN, Infinity]) expect(show(value)).toBe("–");
    }
    expect(rate(0, 0)).toBe("–");
    expect(ago(null, 5)).toBe("–");
  });
});

describe("numbers", () => {
  it.each([[0, "0"], [999, "999"], [12345, "12,345"], [-4200, "-4,200"]])("%d as an integer is %s", (value, text) =>
    expect(integer(value)).toBe(text));
  it.each([[0, "0"], [1.5, "1.5"], [99.96, "100"], [950, "950"], [999.6, "1.0k"], [1234, "1.2k"], [34_000, "34k"], [5_600_000, "5.6M"], [2e9, "2.0G"]])(
    "%d in short is %s", (value, text) => expect(compact(value)).toBe(text));
  it.each([[0, "0"], [0.00003, "3.0e-5"], [0.01234, "0.0123"], [2.31349, "2.313"], [45.123, "45.12"], [123.45, "123.5"], [1234.5, "1,235"], [7, "7"], [-0.5, "-0.500"]])(
    "%d measured is %s", (value, text) => expect(measure(value)).toBe(text));
  it.each([[0, "±0"], [0.25, "+0.250"], [-3, "−3"]])("the change %d is %s", (value, text) => expect(signed(value)).toBe(text));
  it("a share has one decimal", () => {
    expect(percent(0.1234)).toBe("12.3%");
    expect(rate(1, 3)).toBe("33.3%");
  });
  it("a count agrees with its word", () => {
    expect(count(1, "proof")).toBe("1 proof");
    expect(count(2000, "branch", "branches")).toBe("2,000 branches");
  });
});

describe("durations", () => {
  it.each([[0, "0 s"], [0.0000052, "5 µs"], [0.045, "45 ms"], [0.9999, "1.0 s"], [3.21, "3.2 s"], [9.96, "10 s"], [59.6, "1 m 00 s"], [245, "4 m 05 s"], [7500, "2 h 05 m"], [48 * 3600, "2 d 00 h"], [100 * 3600, "4 d 04 h"]])(
    "%d s is %s", (seconds, text) => expect(duration(seconds)).toBe(text));
  it("a moment ago is just now", () => {
    expect(ago(100, 101)).toBe("just now");
    expect(ago(100, 112.7)).toBe("12 s ago");
  });
});

describe("sizes", () => {
  it.each([[512, "512 B"], [1536, "1.5 KiB"], [41e9, "38 GiB"], [3 * 2 ** 40, "3.0 TiB"]])("%d is %s", (value, text) => expect(bytes(value)).toBe(text));
});
