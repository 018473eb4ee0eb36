// Addresses of evaluations.

import { runHref } from "../../api/client";
import type { EvaluationDiff } from "../../api/types";
import { href } from "../../app/router";

/** The address of an evaluation's page; with `q` it shows the theorems whose names or statements hold it. */
export function evaluationHref(name: string, q = ""): string {
  return href(`evaluation/${encodeURIComponent(name)}`, { q });
}

/** The address of the comparison of two evaluations, which may be of two runs of the folder. */
export function compareHref({ run_a, run_b, a, b }: Pick<EvaluationDiff, "run_a" | "run_b"> & { a: { name: string }; b: { name: string } }, theorem = ""): string {
  const hash = href("compare", { a: a.name, b: b.name, of: run_a === run_b ? "" : run_a, theorem });
  return run_b ? runHref(run_b, hash) : hash;
}
