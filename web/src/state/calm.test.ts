import { expect, it } from "vitest";
import { outdated } from "./calm";

it.each([
  ["in the same step", { generation: 1, step: 3 }, false],
  ["in a later step", { generation: 1, step: 4 }, false],
  ["in an earlier step", { generation: 1, step: 2 }, true],
  ["in another run", { generation: 2, step: 9 }, true],
  ["where nothing is known any more", { generation: 1, step: null }, false],
])("what was asked for in a step is kept %s: %o", (_, now, expected) => {
  expect(outdated({ generation: 1, step: 3 }, now)).toBe(expected);
});

it("what was asked for before the step was known is asked for anew, in step 0 too", () => {
  expect(outdated({ generation: 0, step: null }, { generation: 0, step: 0 })).toBe(true);
  expect(outdated({ generation: 0, step: 0 }, { generation: 0, step: 1 })).toBe(false);
});
