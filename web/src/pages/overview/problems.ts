// What is wrong with a run, in sentences, the worst first.

import type { Overview, Searches } from "../../api/types";
import { href } from "../../app/router";
import { bytes, count, integer, percent } from "../../lib/format";

export interface Problem {
  tone: "bad" | "warn";
  text: string;
  /** Where more of it is to be seen. */
  href: string;
  where: string;
}

/** Shares from which on something is worth a sentence: below, every run has some of it. */
const MANY_ERRORS = 0.02;
const MANY_REFUSED = 0.9;
const FULL = 0.95;
/** So near to chance the value does not tell provable theorems from others. */
const NOTHING_TOLD = 0.56;
const FEW = 50;

export function problemsOf(overview: Overview, searches: Searches | null): Problem[] {
  const found: Problem[] = [];
  const add = (tone: Problem["tone"], text: string, page: string, where: string): void => void found.push({ tone, text, href: href(page), where });
  if (overview.live) {
    const down = overview.servers.filter((server) => server.state !== "up");
    if (down.length > 0) add("bad", `${count(down.length, "Lean server")} of ${integer(overview.servers.length)} out of reach: ${down.slice(0, 3).map((server) => server.address).join(", ")}.`, "actors", "Actors");
    const silent = overview.ranks.filter((rank) => !rank.live);
    if (silent.length > 0) add("bad", `${count(silent.length, "rank")} of ${integer(overview.ranks.length)} silent: ${silent.slice(0, 3).map((rank) => rank.rank).join(", ")}.`, "logs", "Logs");
    for (const { rank, gpu } of overview.ranks) {
      if (gpu?.memory && gpu.memory_total && gpu.memory > FULL * gpu.memory_total) add("warn", `The GPU of rank ${rank} is nearly full: ${bytes(gpu.memory)} of ${bytes(gpu.memory_total)}.`, "run", "Settings");
    }
  }
  if (overview.lost_proofs > 0) add("bad", `${count(overview.lost_proofs, "found proof")} could not be checked and ${overview.lost_proofs === 1 ? "is" : "are"} lost. The last: ${overview.last_loss ?? "unknown"}.`, "logs", "Logs");
  if (overview.attempts > 0 && overview.errors > MANY_ERRORS * overview.attempts) add("warn", `${percent(overview.errors / overview.attempts, 0)} of the attempts ended in errors.`, "theorems?outcome=error", "Theorems");
  const stale = overview.remote;
  if (stale && stale.stale > MANY_ERRORS * stale.attempts) add("warn", `${count(stale.stale, "attempt")} of hosts were dropped since their weights were too old.`, "actors", "Actors");
  const run = searches?.counts["tactics_run"] ?? 0;
  const refused = (searches?.counts["rejected"] ?? 0) / Math.max(1, run);
  if (run > 0 && refused > MANY_REFUSED) add("warn", `Lean refused ${percent(refused, 0)} of the tactics: the network seldom says something that applies.`, "model", "Model");
  const [proven, unproven] = [searches?.values["proven"]?.count ?? 0, searches?.values["unproven"]?.count ?? 0];
  if (searches?.told_apart != null && Math.min(proven, unproven) >= FEW && searches.told_apart < NOTHING_TOLD) add("warn", "The value of a theorem says nearly nothing of whether it was proved.", "model?view=calibration", "Calibration");
  return found.sort((a, b) => Number(b.tone === "bad") - Number(a.tone === "bad"));
}
