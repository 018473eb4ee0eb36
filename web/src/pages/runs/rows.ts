// Search and order of the list of runs.

import type { RunRow } from "../../api/types";

/** The rows in which every word stands: in name, note, stage, state, commit, data set or machine. */
export function matching(rows: RunRow[], words: string): RunRow[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return rows;
  return rows.filter((row) => {
    const text = [row.name, row.title, row.note, row.stage, row.state.name, row.commit, row.host, row.score?.dataset ?? ""].join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

const KEYS: Record<string, (row: RunRow) => string | number | null> = {
  name: (row) => row.name,
  stage: (row) => row.stage,
  state: (row) => row.state.name,
  step: (row) => row.step,
  loss: (row) => row.loss,
  score: (row) => (row.score && row.score.total ? row.score.solved / row.score.total : null),
  updated: (row) => row.updated,
};

/** In order of a column; rows without a value come last either way. */
export function sorted(rows: RunRow[], sort: string, order: "asc" | "desc"): RunRow[] {
  const key = KEYS[sort] ?? KEYS["updated"]!;
  const sign = order === "asc" ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return sign * (typeof x === "string" && typeof y === "string" ? x.localeCompare(y) : Number(x) - Number(y));
  });
}

/** The options in which runs differ, with the value of each run. */
export function differing(args: Record<string, unknown>[]): [name: string, values: string[]][] {
  const names = [...new Set(args.flatMap((one) => Object.keys(one)))];
  return names.flatMap((name): [string, string[]][] => {
    const values = args.map((one) => (one[name] === undefined || one[name] === null ? "–" : typeof one[name] === "string" ? one[name] : JSON.stringify(one[name])));
    return new Set(values).size > 1 ? [[name, values]] : [];
  });
}
