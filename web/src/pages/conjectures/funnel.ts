// What becomes of proposals: how many passed each filter, in all and by step.

import type { Series } from "../../api/types";
import type { Line } from "../../parts/chart_data";

/** The filters in their order: the verdicts of those that each stops, and what the others are by then. */
const FILTERS: [verdicts: string[], passed: string][] = [
  [["unreadable", "refused"], "well-formed"],
  [["known", "held out"], "novel"],
  [["vacuous"], "not vacuous"],
  [["trivial"], "not trivial"],
  [["false"], "not refuted"],
];

export const VERDICTS = [...FILTERS.flatMap(([verdicts]) => verdicts), "new"];

export interface Stage {
  name: string;
  count: number;
  /** Of all proposals. */
  share: number;
}

/** How many proposals passed each filter and those before it, beginning with all of them. */
export function funnel(verdicts: Record<string, number>): Stage[] {
  const all = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  let left = all;
  const stages = FILTERS.map(([stopped, name]) => {
    for (const verdict of stopped) left -= verdicts[verdict] ?? 0;
    return { name, count: left, share: all ? left / all : 0 };
  });
  return [{ name: "proposed", count: all, share: all ? 1 : 0 }, ...stages];
}

export const METRICS = ["proposed", "well_formed", "novel", "not_vacuous", "not_trivial", "not_false", "length", "attempted", "proved", "barely_proved", "lessons", "set_aside"]
  .map((name) => `conjectures/${name}`);

/** A metric of conjectures by step; divided by another where `of` names one, without the steps in which that is 0. */
export function lineOf(data: Series, name: string, title: string, of?: string): Line | null {
  const values = data.values[`conjectures/${name}`];
  const whole = of === undefined ? null : data.values[`conjectures/${of}`] ?? [];
  const y = values?.map((value, row) => {
    if (value === null || whole === null) return value;
    const all = whole[row];
    return all ? value / all : null;
  });
  return !y || y.every((value) => value === null) ? null : { name: title, x: data.steps, y };
}
