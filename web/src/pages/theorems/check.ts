// What the final check of a proof said, in words.

import type { Attempt } from "../../api/types";

/** Whether it was accepted, else why not, and the axioms that it rests on. */
export function checkFacts(check: Attempt["check"]): string[] {
  if (typeof check?.["accepted"] !== "boolean") return [];
  const axioms = Array.isArray(check["axioms"]) ? check["axioms"].join(", ") : "";
  if (check["accepted"]) return ["check: accepted", `axioms: ${axioms || "none"}`];
  const lost = check["lost"] ?? "refused";
  if (lost !== "refused" && lost !== "not replayed") return [`found proof lost: ${lost}${check["reason"] ? `, ${check["reason"]}` : ""}`];
  return [`check: ${lost}${check["reason"] ? `, ${check["reason"]}` : ""}`, axioms && `axioms: ${axioms}`].filter(Boolean);
}
