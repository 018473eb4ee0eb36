import { expect, it } from "vitest";
import type { RunRow } from "../../api/types";
import { differing, matching, sorted } from "./rows";

const row = (name: string, loss: number | null, stage = "rl"): RunRow => ({
  name, title: "", note: "", stage, loss, state: { name: "finished", since: 1 }, step: 1, num_steps: null, score: null, started: 1, updated: 1,
  commit: "abc1234", changed: false, seed: 0, host: "",
});
const rows = [row("rl/a", 0.3), row("sft/b", null, "sft"), row("rl/c", 0.1)];

it("finds runs by every word, wherever it stands", () => {
  expect(matching(rows, "SFT abc").map((one) => one.name)).toEqual(["sft/b"]);
  expect(matching(rows, " ")).toHaveLength(3);
  expect(matching(rows, "rl nothing")).toEqual([]);
});

it("orders both ways, with runs that have no value last", () => {
  expect(sorted(rows, "loss", "asc").map((one) => one.name)).toEqual(["rl/c", "rl/a", "sft/b"]);
  expect(sorted(rows, "loss", "desc").map((one) => one.name)).toEqual(["rl/a", "rl/c", "sft/b"]);
});

it("tells the options in which runs differ", () => {
  const options = differing([{ lr: 0.1, seed: 1, sets: ["a"] }, { lr: 0.1, seed: 2, sets: ["a"] }, { lr: 0.1, seed: 1, sets: ["a"], lora: 8 }]);
  expect(options).toEqual([["seed", ["1", "2", "1"]], ["lora", ["–", "–", "8"]]]);
});
