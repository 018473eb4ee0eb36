import { describe, expect, it } from "vitest";
import type { Evaluation, Page, Series, Theorem, TheoremRow, Theorems } from "../api/types";
import { answerFrom } from "./archive";
import type { RunFile } from "./data";

const row = (id: string, tactics: number | null, last: number): TheoremRow => ({
  dataset: id < "c" ? "demo" : "other", id, statement: `theorem ${id} : True`, outcome: tactics === null ? "unproven" : "proven", attempts: 2, proven: tactics === null ? 0 : 1, disproven: 0, errors: 0,
  budget: 8, simulations: 9, seconds: 1, tactics, first_proven: tactics, last_step: last, last_time: last,
});
const file: RunFile = {
  kind: "run",
  made: 1,
  answers: {
    theorems: { items: [row("a_add", 3, 5), row("b_add", null, 7), row("c_mul", 1, 6)], total: 3, page: 1, size: 500, datasets: {}, outcomes: { proven: 2 } },
    series: { names: ["loss", "lr"], steps: [1, 2], times: [1, 2], values: { loss: [2, 1], lr: [1, 1] }, low: { loss: [2, 1] }, high: {}, total: 2, thinned: false },
    "theorem/demo/a_add": { best: { id: "a_add" } },
    "evaluations/7_demo": { results: { items: [{ id: "x", outcome: "proven" }, { id: "y", outcome: "error" }], total: 2, page: 1, size: 500 } },
    "evaluations/7_demo/results/0": { proof: "rfl" },
  },
};
const ids = (params: Record<string, string | number>): string[] => (answerFrom(file, "theorems", params) as Theorems).items.map((one) => one.id);

describe("answers from a file", () => {
  it("are filtered, sorted and cut into pages as the monitor does it", () => {
    expect(ids({})).toEqual(["b_add", "c_mul", "a_add"]);
    expect(ids({ q: "ADD", sort: "id", order: "asc" })).toEqual(["a_add", "b_add"]);
    expect(ids({ sort: "tactics", order: "desc" })).toEqual(["a_add", "c_mul", "b_add"]);
    expect(ids({ sort: "tactics", order: "asc" })).toEqual(["c_mul", "a_add", "b_add"]);
    expect(ids({ dataset: "other" })).toEqual(["c_mul"]);
    expect(ids({ outcome: "proven", page: 2, size: 1 })).toEqual(["a_add"]);
    const results = (answerFrom(file, "evaluations/7_demo", { outcome: "error" }) as Evaluation).results as Page<{ id: string }>;
    expect([results.items.map((one) => one.id), results.total]).toEqual([["y"], 1]);
  });

  it("have the metrics that are asked for", () => {
    const series = answerFrom(file, "series", { names: "loss,none" }) as Series;
    expect([series.values, series.low, series.names]).toEqual([{ loss: [2, 1] }, { loss: [2, 1] }, ["loss", "lr"]]);
  });

  it("say what the file does not have", () => {
    expect((answerFrom(file, "theorem", { dataset: "demo", id: "a_add" }) as Theorem).best?.id).toBe("a_add");
    expect(answerFrom(file, "theorem", { dataset: "demo", id: "b_add" })).toMatchObject({ best: null, history: [], total: 2 });
    expect(answerFrom(file, "evaluations/7_demo/results/0", {})).toEqual({ proof: "rfl" });
    expect(() => answerFrom(file, "evaluations/7_demo/results/1", {})).toThrow("not in the file");
    expect(() => answerFrom(file, "timeline", {})).toThrow("not in the file");
    expect(() => answerFrom(file, "theorem", { dataset: "demo", id: "z" })).toThrow("not in the file");
  });
});
