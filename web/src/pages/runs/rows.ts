// Search and order of the list of runs.

import type { RunRow } from "../../api/types";
import type { Line } from "../../parts/chart_data";

/** The rows in which every word stands: in name, note, stage, state, commit, data set or machine. */
export function matching(rows: RunRow[], words: string): RunRow[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return rows;
  return rows.filter((row) => {
    const text = [row.name, row.title, row.note, row.stage, row.state.name, row.commit, row.host, row.evaluates, row.score?.dataset ?? ""].join(" ").toLowerCase();
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

/** An option, and its value in each run. */
export type Difference = [name: string, values: string[]];

/** The options in which runs differ: those that all of them have, and those that only some have, as runs of different stages. */
export function differing(args: Record<string, unknown>[]): { shared: Difference[]; own: Difference[] } {
  const [shared, own]: [Difference[], Difference[]] = [[], []];
  for (const name of new Set(args.flatMap((one) => Object.keys(one)))) {
    if (name === "run_dir") continue; // its name says that
    const values = args.map((one) => shown(one[name]));
    if (new Set(values).size === 1) continue;
    (args.every((one) => name in one) ? shared : own).push([name, values]);
  }
  return { shared, own };
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A run with so many times as many steps as another would squeeze it into the corner of a common chart. */
const MOST_TIMES_AS_LONG = 4;

/** Curves in as few charts as are readable: those of one stage, and of about one length, share an axis. */
export function drawnApart(curves: { stage: string; line: Line }[]): Line[][] {
  const charts: { stage: string; shortest: number; longest: number; lines: Line[] }[] = [];
  for (const { stage, line } of curves) {
    const last = line.x[line.x.length - 1] ?? 0;
    const fits = charts.find((chart) => chart.stage === stage && Math.max(chart.longest, last) <= MOST_TIMES_AS_LONG * Math.max(1, Math.min(chart.shortest, last)));
    if (!fits) charts.push({ stage, shortest: last, longest: last, lines: [line] });
    else {
      fits.lines.push(line);
      fits.shortest = Math.min(fits.shortest, last);
      fits.longest = Math.max(fits.longest, last);
    }
  }
  return charts.map((chart) => chart.lines);
}
