// What takes the time of a run, in words.

import { percent } from "../lib/format";

/** The states of actors, in the order in which they are shown. */
export const ORDER = ["model", "lean", "paused", "idle", "error"];

/** What actors do in each state in which they do not search on. */
const DOING: Record<string, string> = {
  model: "wait for the network", lean: "wait for Lean", paused: "are paused while the network trains", idle: "have nothing to do",
};
/** Shares that differ by less than this say nothing of which of the two to mend. */
const ALIKE = 0.05;

/** What takes most of the actors' time, and what would help; `shares` in any unit. */
export function advice(shares: Record<string, number>): string | null {
  const total = ORDER.reduce((sum, state) => sum + (shares[state] ?? 0), 0);
  if (total <= 0) return null;
  const part = (state: string): number => (shares[state] ?? 0) / total;
  if (part("error") > 0.1) return "A Lean server is out of reach for much of the time: see the servers on the overview and the log.";
  const [most = "", next = ""] = Object.keys(DOING).sort((a, b) => part(b) - part(a));
  const share = percent(part(most), 0);
  if (part(most) - part(next) < ALIKE) return `Actors ${DOING[most]} (${share}) about as long as they ${DOING[next]} (${percent(part(next), 0)}): to mend one of the two gains little without the other.`;
  const how = part(most) > 0.5 ? "Most of the time" : "The largest part of the time";
  switch (most) {
    case "model":
      return `${how} (${share}) actors wait for the network: a smaller network, fewer samples of a state (--num-sampled-tactics), or another GPU would help; more Lean processes would not.`;
    case "lean":
      return `${how} (${share}) actors wait for Lean: more Lean processes (--lean-processes) or more servers would help; a faster network would not.`;
    case "paused":
      return `${how} (${share}) actors are paused while the network trains: a larger --collect-transitions, or fewer updates of each collection, leaves more of it to the search.`;
    default:
      return `${how} (${share}) actors have nothing to do: the run evaluates, saves or waits; the profile's timeline shows which.`;
  }
}
