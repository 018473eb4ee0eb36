// What the final check of a proof said, in words.

import type { Attempt } from "../../api/types";
import { count, integer } from "../../lib/format";

/** Whether it was accepted, else why not, and the axioms that it rests on. */
export function checkFacts(check: Attempt["check"]): string[] {
  if (typeof check?.["accepted"] !== "boolean") return [];
  const axioms = Array.isArray(check["axioms"]) ? check["axioms"].join(", ") : "";
  if (check["accepted"]) return ["check: accepted", `axioms: ${axioms || "none"}`];
  const lost = check["lost"] ?? "refused";
  if (lost !== "refused" && lost !== "not replayed") return [`found proof lost: ${lost}${check["reason"] ? `, ${check["reason"]}` : ""}`];
  return [`check: ${lost}${check["reason"] ? `, ${check["reason"]}` : ""}`, axioms && `axioms: ${axioms}`].filter(Boolean);
}

type Failed = Pick<Attempt, "outcome" | "stop_reason" | "simulations" | "budget" | "counts">;

const ENDED: Record<string, (attempt: Failed) => string> = {
  simulations: ({ simulations }) => `The search made all of its ${count(simulations, "simulation")} without a proof: a larger budget, or better tactics, may find one.`,
  hopeless: ({ simulations }) => `The search gave up after ${count(simulations, "simulation")}: by its estimates no proof was in reach of those that were left.`,
  nodes: () => "The search was ended because its tree has too many nodes (--search-max-nodes).",
  bytes: () => "The search was ended because its tree takes too much memory (--search-max-tree-mbytes).",
  stopped: () => "The search was ended from outside: the collection was over, or the run was stopped.",
};

/** Why an attempt has no proof, in sentences; none for one that has, or that ended in an error (its message says it). */
export function whyNot(attempt: Failed): string[] {
  if (attempt.outcome !== "unproven") return [];
  const { tactics_run: run = 0, rejected = 0, timeouts = 0, cycles = 0, banned = 0, nodes = 0 } = attempt.counts;
  const ended = ENDED[attempt.stop_reason]?.(attempt);
  if (run === 0) return ended ? [ended] : [];
  const others = [
    rejected > 0 && `${integer(rejected)} were refused by Lean`,
    timeouts > 0 && `${integer(timeouts)} ran out of time`,
    cycles > 0 && `${integer(cycles)} led back to a state before them`,
    banned > 0 && `${integer(banned)} are not allowed`,
  ].filter(Boolean);
  const tried = `Of ${count(run, "tactic")} that were tried, ${others.join(", ") || "all could be applied"}${nodes > 0 ? `; the tree has ${count(nodes, "node")}` : ""}.`;
  return ended ? [ended, tried] : [tried];
}
