import { expect, it } from "vitest";
import type { RunRow } from "../../api/types";
import { differing, drawnApart, matching, sorted } from "./rows";

const row = (name: string, loss: number | null, stage = "rl"): RunRow => ({
  name, title: "", note: "", stage, loss, state: { name: "finished", since: 1 }, step: 1, num_steps: null, score: null, evaluates: "", started: 1, updated: 1,
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

it("tells the options in which runs differ from those that only some of them have", () => {
  const { shared, own } = differing([{ lr: 0.1, seed: 1, sets: ["a"] }, { lr: 0.1, seed: 2, sets: ["a"] }, { lr: 0.1, seed: 1, sets: ["a"], lora: 8 }]);
  expect(shared).toEqual([["seed", ["1", "2", "1"]]]);
  expect(own).toEqual([["lora", ["–", "–", "8"]]]);
});

it("draws runs of other stages, or of quite other lengths, apart", () => {
  const curve = (stage: string, name: string, steps: number) => ({ stage, line: { name, x: [1, steps], y: [1, 1] } });
  const charts = drawnApart([curve("rl", "a", 12), curve("sft", "b", 701), curve("rl", "c", 40), curve("rl", "d", 900)]);
  expect(charts.map((lines) => lines.map((line) => line.name))).toEqual([["a", "c"], ["b"], ["d"]]);
});
