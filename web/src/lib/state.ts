// How a run fares, in words.

import type { Overview, RunState } from "../api/types";
import { dateTime, duration } from "./format";

export type Tone = "good" | "bad" | "warn" | "";

const WORDS: Record<RunState["name"], [tone: Tone, word: string]> = {
  running: ["good", "Running"],
  stalled: ["bad", "Stalled"],
  silent: ["warn", "Silent"],
  finished: ["", "Finished"],
  stopped: ["warn", "Stopped"],
  died: ["bad", "Died"],
  unknown: ["", "Unknown"],
};

export function stateWord(state: RunState): string {
  return WORDS[state.name][1];
}

export function stateTone(state: RunState): Tone {
  return WORDS[state.name][0];
}

/** What is to be said about a run that should be running and is not; null where nothing is. */
export function stateSentence(state: RunState, now: number): string | null {
  const at = state.since === null ? "" : ` at ${dateTime(state.since)}`;
  const quiet = state.since === null ? "" : ` for ${duration(Math.max(0, Math.floor(now - state.since)))}`;
  switch (state.name) {
    case "died":
      return `The run died${at}: its process is gone, without the end of a run (killed, out of memory, or the machine went down).`;
    case "stopped":
      return `The run was stopped${at}, before its end: by a signal, or by an error that its log tells.`;
    case "stalled":
      return `The process of the run is alive, but has written nothing${quiet}. Its log may tell why.`;
    case "silent":
      return `There has been no sign of life${quiet} from the machine that the run is on.`;
    default:
      return null;
  }
}

const PHASES: Record<string, string> = {
  starting: "Starting", collect: "Collecting", exchange: "Exchanging", train: "Training", evaluate: "Evaluating",
  save: "Saving", stopped: "Starting",
};

/** What the run is doing, or how it ended. */
export function phaseWord(overview: Pick<Overview, "state" | "phase" | "stage">): string {
  if (overview.state.name !== "running") return stateWord(overview.state);
  return PHASES[overview.phase] ?? (overview.phase || (overview.stage === "rl" ? "Starting" : "Training"));
}

/** How much of the log of attempts was read, while counts are of that part only; null once all of it was. */
export function readShare({ done, bytes, total_bytes }: Overview["indexing"]): number | null {
  return done || total_bytes === 0 || bytes >= total_bytes ? null : bytes / total_bytes;
}

type Limits = Pick<Overview, "step" | "num_steps" | "seconds" | "max_seconds">;

/** How far a run is by what will end it, steps or time; null where nothing limits it. */
export function progressOf({ step, num_steps, seconds, max_seconds }: Limits): { share: number; by: "step" | "time" } | null {
  const steps = num_steps && step !== null ? step / num_steps : -1;
  const time = max_seconds && seconds !== null ? seconds / max_seconds : -1;
  if (steps < 0 && time < 0) return null;
  return time >= steps ? { share: Math.min(1, time), by: "time" } : { share: Math.min(1, steps), by: "step" };
}

/** The number of steps that is worth showing: none where the time limit ends the run long before. */
export function shownSteps(limits: Limits): number | null {
  return progressOf(limits)?.by === "time" ? null : limits.num_steps;
}
