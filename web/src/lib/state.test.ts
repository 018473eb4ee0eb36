import { expect, it } from "vitest";
import { phaseWord, progressOf, shownSteps, stateSentence, stateWord } from "./state";

const limits = { step: 76, num_steps: 1_000_000, seconds: 900, max_seconds: 1800 };

it("says that a run died, and when, and nothing of a run that goes on or has finished", () => {
  expect(stateSentence({ name: "died", since: 1_700_000_000 }, 1_700_000_100)).toMatch(/^The run died at 2023-11-1\d \d\d:\d\d:/);
  expect(stateSentence({ name: "stalled", since: 1000 }, 1090)).toContain("nothing for 1 m 30 s");
  expect(stateSentence({ name: "running", since: null }, 0)).toBeNull();
  expect(stateSentence({ name: "finished", since: 5 }, 9)).toBeNull();
});

it("never calls a run by its last phase once it is over", () => {
  expect(phaseWord({ state: { name: "died", since: 1 }, phase: "train", stage: "rl" })).toBe("Died");
  expect(phaseWord({ state: { name: "running", since: null }, phase: "train", stage: "rl" })).toBe("Training");
  expect(phaseWord({ state: { name: "running", since: null }, phase: "", stage: "sft" })).toBe("Training");
  expect(stateWord({ name: "finished", since: 1 })).toBe("Finished");
});

it("measures a run by what will end it", () => {
  expect(progressOf(limits)).toEqual({ share: 0.5, by: "time" });
  expect(shownSteps(limits)).toBeNull();
  expect(progressOf({ ...limits, num_steps: 100 })).toEqual({ share: 0.76, by: "step" });
  expect(shownSteps({ ...limits, num_steps: 100 })).toBe(100);
  expect(progressOf({ step: 3, num_steps: null, seconds: 5, max_seconds: null })).toBeNull();
  expect(progressOf({ step: 3, num_steps: null, seconds: 1814, max_seconds: 1800 })).toEqual({ share: 1, by: "time" });
});
