// The timeline that a page shows: the newest minutes of a live run, or a stretch that was chosen.

import { useState } from "react";
import type { Timeline } from "../api/types";
import { useResource, type Resource } from "../state/resource";
import { useLive } from "../state/store";
import type { Range } from "./scale";

export interface Shown {
  answer: Resource<Timeline>;
  range: Range;
  limits: Range;
  /** Whether the newest is followed. */
  following: boolean;
  /** Choose a stretch; null follows the newest again. */
  choose: (range: Range | null) => void;
}

/** `seconds` is how much of the newest is shown while no stretch is chosen; 0 shows all there is. */
export function useTimeline(seconds: number, max: number): Shown {
  const now = useLive((state) => (state.overview?.live ? Math.floor(state.overview.time / 2) * 2 : null));
  const [chosen, choose] = useState<Range | null>(null);
  const ends = useResource<Timeline>("timeline", { max: 10 }, { version: now === null ? "" : Math.floor(now / 10), atMost: 5000 });
  const first = ends.data?.first ?? null;
  const last = now ?? ends.data?.last ?? null;
  const limits: Range = { from: first ?? (last ?? 1) - 1, to: Math.max(last ?? 1, (first ?? 0) + 0.1) };
  const newest: Range = { from: seconds > 0 ? Math.max(limits.from, limits.to - seconds) : limits.from, to: limits.to };
  const range = chosen ?? newest;
  const ready = last !== null && first !== null;
  const asked = useResource<Timeline>(ready ? "timeline" : null, { from: range.from, to: range.to, max }, {});
  return { answer: ready ? asked : ends, range, limits, following: chosen === null, choose };
}
