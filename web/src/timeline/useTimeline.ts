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

const SHORTEST = 0.1;

/** `seconds` is how much of the newest is shown while no stretch is chosen; 0 shows all there is. */
export function useTimeline(seconds: number, max: number): Shown {
  const live = useLive((state) => state.overview?.live ?? false);
  const [chosen, choose] = useState<Range | null>(null);
  const following = chosen === null;
  const answer = useResource<Timeline>("timeline", { ...(chosen ?? { last: seconds }), max }, { every: following && live ? 2000 : 0 });
  const { start = 0, end = 0, first = null, last = null } = answer.data ?? {};
  const limits = rangeOf(first ?? start, last ?? end);
  return { answer, range: chosen ?? rangeOf(start, end), limits, following, choose };
}

const rangeOf = (from: number, to: number): Range => ({ from, to: Math.max(to, from + SHORTEST) });
