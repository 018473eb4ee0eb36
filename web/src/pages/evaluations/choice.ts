// Which two evaluations are to be compared.

import type { EvaluationRow } from "../../api/types";

/** The names chosen, at most two; choosing a third lets go of the first. */
export function choose(chosen: string[], name: string): string[] {
  if (chosen.includes(name)) return chosen.filter((one) => one !== name);
  return [...chosen, name].slice(-2);
}

/** The two in the order of the run: what is gained is gained by the later one. */
export function inOrder(chosen: string[], rows: EvaluationRow[]): [string, string] | null {
  const [first, second] = chosen;
  if (first === undefined || second === undefined) return null;
  const place = (name: string): number => {
    const row = rows.find((one) => one.name === name);
    return row?.time ?? row?.step ?? 0;
  };
  return place(first) <= place(second) ? [first, second] : [second, first];
}

/** Why two evaluations cannot be compared theorem by theorem; null if they can. */
export function mismatch(chosen: string[], rows: EvaluationRow[]): string | null {
  const [a, b] = chosen.map((name) => rows.find((row) => row.name === name));
  if (!a || !b) return null;
  if (a.dataset !== b.dataset || a.split !== b.split) return "These two are of different benchmarks.";
  return null;
}

/** What a p value says, in words. */
export function verdict(p: number, gained: number, lost: number): string {
  if (gained === lost) return gained === 0 ? "No theorem changed." : "As many were gained as lost.";
  const way = gained > lost ? "more gained than lost" : "more lost than gained";
  if (p < 0.01) return `Clearly ${way}: chance alone would hardly do this.`;
  if (p < 0.05) return `Probably ${way}.`;
  return `${way[0]!.toUpperCase()}${way.slice(1)}, but chance alone could do this.`;
}
