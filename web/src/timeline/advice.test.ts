import { describe, expect, it } from "vitest";
import { advice } from "./advice";

describe("what takes the actors' time", () => {
  it("is said with what would help, and what would not", () => {
    expect(advice({ model: 6, lean: 3, idle: 1 })).toMatch(/\(60%\) actors wait for the network.*more Lean processes would not/);
    expect(advice({ model: 3, lean: 6, idle: 1 })).toMatch(/\(60%\) actors wait for Lean.*--lean-processes.*a faster network would not/);
    expect(advice({ model: 0.2, lean: 0.2, paused: 0.6 })).toMatch(/\(60%\) actors are paused.*--collect-transitions/);
    expect(advice({ model: 1, idle: 3 })).toMatch(/\(75%\) actors have nothing to do/);
  });

  it("names servers out of reach before anything else, and says nothing of nothing", () => {
    expect(advice({ model: 8, error: 2 })).toMatch(/out of reach/);
    expect(advice({})).toBeNull();
  });
});
