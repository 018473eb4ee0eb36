import { describe, expect, it } from "vitest";
import { advice } from "./advice";

describe("advice on what takes the time", () => {
  it("names what would help where one thing takes more than the others", () => {
    expect(advice({ model: 60, lean: 30, paused: 10 })).toMatch(/^Most of the time \(60%\) actors wait for the network/);
    expect(advice({ model: 25, lean: 45, paused: 30 })).toMatch(/^The largest part of the time \(45%\) actors wait for Lean/);
  });

  it("does not choose between two that take about as much", () => {
    expect(advice({ model: 32, lean: 33, paused: 30, idle: 5 })).toMatch(/^Actors wait for Lean \(33%\) about as long as they wait for the network \(32%\)/);
  });

  it("says first that a server is out of reach, and nothing of no time", () => {
    expect(advice({ model: 80, error: 20 })).toMatch(/out of reach/);
    expect(advice({})).toBeNull();
  });
});
