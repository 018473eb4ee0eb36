// Addresses of theorems, attempts and trees.

import type { AttemptRow } from "../../api/types";
import { href } from "../../app/router";

/** The address of a theorem's page. */
export function theoremHref({ dataset, id }: { dataset: string; id: string }): string {
  return href("theorem", { dataset, id });
}

export const attemptPath = ({ rank, step, seq }: AttemptRow): string => `${rank}/${step}/${seq}`;

export const treeHref = (attempt: AttemptRow): string => href(`tree/${attemptPath(attempt)}`);

/** The address of the search that an actor is at. */
export const liveTreeHref = (rank: number, actor: number): string => href(`tree/live/${rank}/${actor}`);

/** A statement without its keyword and its name, which stand beside it: "(n : Nat) : n + 0 = n". */
export function withoutName(statement: string, id: string): string {
  const rest = statement.replace(/^.*?\b(theorem|lemma|example)\s+/, ""); // what comes before it, such as `universe u`, is no part of it
  const name = rest.startsWith(id) ? id : (/^[^\s({[⦃:]+/.exec(rest)?.[0] ?? "");
  return rest.slice(name.length).trimStart();
}
