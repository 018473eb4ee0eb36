// Addresses of evaluations.

import { href } from "../../app/router";

/** The address of an evaluation's page; with `q` it shows the theorems whose names hold it. */
export function evaluationHref(name: string, q = ""): string {
  return href(`evaluation/${encodeURIComponent(name)}`, { q });
}
