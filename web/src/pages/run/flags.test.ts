import { expect, it } from "vitest";
import { flagsOf } from "./flags";

it("reads flags with one value, several, none, or after an equals sign", () => {
  const command = ["/a/rl/__main__.py", "--seed", "0", "--datasets", "nanolean", "nanolean-hard", "--no-eval-start", "--lr=-0.5", "--temperature", "-1"];
  expect(flagsOf(command)).toEqual([
    ["--seed", "0"], ["--datasets", "nanolean nanolean-hard"], ["--no-eval-start", ""], ["--lr", "-0.5"], ["--temperature", "-1"],
  ]);
  expect(flagsOf(["prove", "theorem t", "--html", "x"])).toEqual([["", "theorem t"], ["--html", "x"]]);
  expect(flagsOf(undefined)).toEqual([]);
});
