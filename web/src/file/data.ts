// What a file that holds the page brings with it: search trees, or a run. A page of a monitor has none of it.

import type { SearchTree } from "../api/types";

/** `scripts.prove --html`. */
export interface TreesFile {
  kind: "trees";
  searches: { title: string; facts: string; outcome: string; tree: SearchTree }[];
}

/** `nanoproof.monitor export`: answers of the API, whole lists in one page each. */
export interface RunFile {
  kind: "run";
  /** When it was made, in seconds since the epoch. */
  made: number;
  answers: Record<string, unknown>;
}

declare global {
  interface Window {
    nanoproof?: TreesFile | RunFile;
  }
}

export const fileData = (): TreesFile | RunFile | null => (typeof window === "undefined" ? null : (window.nanoproof ?? null));

/** The run of the file, if there is one. */
export function fileRun(): RunFile | null {
  const data = fileData();
  return data?.kind === "run" ? data : null;
}

/** The pages that a file of a run has something for. */
export const FILE_PAGES = ["", "run", "rounds", "theorems", "theorem", "tree", "evaluations", "evaluation", "compare"];
