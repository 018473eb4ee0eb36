// Answers to the page's questions from the lists that a file holds, with the filters that the monitor has.

import { ApiFailure, type Params } from "../api/client";
import type { AttemptRow, Evaluation, Evaluations, Page, Series, Theorem, TheoremRow, TheoremSort, Theorems } from "../api/types";
import type { RunFile } from "./data";

export function answerFrom(file: RunFile, path: string, params: Params): unknown {
  const whole = file.answers[path === "evaluations/diff" ? `${path}/${params["a"]}/${params["b"]}` : path];
  switch (path) {
    case "series":
      return seriesOf(whole as Series, String(params["names"] ?? ""));
    case "theorems":
      return theoremsOf(whole as Theorems, params);
    case "theorem":
      return theoremOf(file, String(params["dataset"] ?? ""), String(params["id"] ?? ""));
    case "attempts":
      return pageOf((whole as Page<AttemptRow>).items.filter((one) => !params["outcome"] || one.outcome === params["outcome"]), params);
    case "evaluations":
      return evaluationsOf(whole as Evaluations, params);
  }
  if (whole === undefined) throw new ApiFailure(404, "This is not in the file. The monitor of the run shows it.");
  if (path.startsWith("evaluations/") && path !== "evaluations/diff" && !path.includes("/results/")) return evaluationOf(whole as Evaluation, params);
  return whole;
}

function pageOf<T>(items: T[], params: Params): Page<T> {
  const page = Number(params["page"]) || 1;
  const size = Number(params["size"]) || 50;
  return { items: items.slice((page - 1) * size, page * size), total: items.length, page, size };
}

function seriesOf(series: Series, names: string): Series {
  const wanted = new Set(names.split(","));
  const pick = <T>(columns: Record<string, T>): Record<string, T> => Object.fromEntries(Object.entries(columns).filter(([name]) => wanted.has(name)));
  return { ...series, values: pick(series.values), low: pick(series.low), high: pick(series.high) };
}

const matches = (id: string, q: unknown): boolean => String(q ?? "").toLowerCase().split(/\s+/).every((word) => id.toLowerCase().includes(word));

const VALUES: Record<TheoremSort, (row: TheoremRow) => string | number | null> = {
  id: (row) => row.id,
  dataset: (row) => row.dataset,
  outcome: (row) => ["proven", "disproven", "unproven", "error"].indexOf(row.outcome),
  attempts: (row) => row.attempts,
  proven: (row) => row.proven,
  budget: (row) => row.budget,
  simulations: (row) => row.simulations,
  seconds: (row) => row.seconds,
  tactics: (row) => row.tactics,
  first: (row) => row.first_proven,
  last: (row) => row.last_time ?? row.last_step,
};

function theoremsOf(all: Theorems, params: Params): Theorems {
  const value = VALUES[(params["sort"] as TheoremSort) in VALUES ? (params["sort"] as TheoremSort) : "last"];
  const sign = params["order"] === "asc" ? 1 : -1;
  const items = all.items.filter((row) =>
    matches(`${row.id} ${row.statement}`, params["q"]) && (!params["dataset"] || row.dataset === params["dataset"]) && (!params["outcome"] || row.outcome === params["outcome"]));
  items.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null); // those without a proof come last, either way
    return x === y ? 0 : x < y ? -sign : sign;
  });
  return { ...all, ...pageOf(items, params) };
}

/** In full, where the file has that; else the theorem's row, without its attempts. */
function theoremOf(file: RunFile, dataset: string, id: string): Theorem {
  const full = file.answers[`theorem/${dataset}/${id}`];
  if (full !== undefined) return full as Theorem;
  const row = (file.answers["theorems"] as Theorems).items.find((one) => one.dataset === dataset && one.id === id);
  if (!row) throw new ApiFailure(404, "This theorem is not in the file.");
  return { theorem: row, best: null, history: [], total: row.attempts };
}

function evaluationsOf(all: Evaluations, params: Params): Evaluations {
  return { ...all, ...pageOf(all.items.filter((row) => !params["dataset"] || row.dataset === params["dataset"]), params) };
}

function evaluationOf(whole: Evaluation, params: Params): Evaluation {
  const items = whole.results.items.filter((one) => matches(`${one.id} ${one.statement}`, params["q"]) && (!params["outcome"] || one.outcome === params["outcome"]));
  return { ...whole, results: pageOf(items, params) };
}
