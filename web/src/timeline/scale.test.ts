import { describe, expect, it } from "vitest";
import type { Lane } from "../api/types";
import { pan, spanAt, ticks, zoom } from "./scale";

const limits = { from: 0, to: 100 };

describe("the timeline", () => {
  it("has ticks at round times, not too many", () => {
    expect(ticks({ from: 3, to: 64 }, 600)).toEqual([10, 20, 30, 40, 50, 60]);
    for (const length of [0.05, 1, 60, 7200, 500_000]) expect(ticks({ from: 0, to: length }, 600).length).toBeLessThanOrEqual(8);
  });

  it("keeps the time under the pointer where it is while zooming", () => {
    const near = zoom({ from: 20, to: 60 }, 0.5, 30, limits);
    expect(near).toEqual({ from: 25, to: 45 });
  });

  it("never shows what is not there", () => {
    expect(zoom({ from: 20, to: 60 }, 10, 30, limits)).toEqual(limits);
    expect(pan({ from: 60, to: 100 }, 0.5, limits)).toEqual({ from: 60, to: 100 });
    expect(pan({ from: 10, to: 50 }, -0.5, limits)).toEqual({ from: 0, to: 40 });
  });

  it("finds the span under the pointer", () => {
    const lane: Lane = { rank: 0, kind: "actor", name: "actor 0", spans: [[0, 2, "model"], [2, 3, "lean"], [5, 6, "model"]] };
    expect(spanAt(lane, 2.5)?.[2]).toBe("lean");
    expect(spanAt(lane, 4)).toBeNull();
    expect(spanAt(lane, 5.5)?.[0]).toBe(5);
    expect(spanAt({ ...lane, spans: [] }, 1)).toBeNull();
  });
});
