// Pages whose code comes when they are shown: the list of runs and the overview are on show before, and need a fifth less.

import { useEffect, useState, type ComponentType } from "react";
import { Failure } from "../parts/states";
import { useLive } from "../state/store";

const parts: ((openings: number) => Promise<void>)[] = [];

/** A page of a part of the code that `load` fetches. */
export function later<Part>(load: () => Promise<Part>, choose: (part: Part) => ComponentType): ComponentType {
  let Page: ComponentType | null = null;
  let failedIn: number | null = null; // the connection (see Live.openings) in which the part could not be had

  const fetchPart = async (openings: number): Promise<void> => {
    try {
      Page = choose(await load());
    } catch {
      failedIn ??= openings;
    }
  };
  parts.push(fetchPart);

  return function Later() {
    const openings = useLive((live) => live.openings);
    const [, setTries] = useState(0);
    useEffect(() => {
      if (Page === null && failedIn === null) void fetchPart(openings).then(() => setTries((tries) => tries + 1));
      // A browser remembers that a script could not be had, and does not ask again before the whole page is loaded anew.
      if (failedIn !== null && openings > failedIn) location.reload();
    }, [openings]);
    if (Page) return <Page />;
    if (failedIn !== null) return <Failure message="The monitor did not send this page; it may be a newer one by now" retry={() => location.reload()} />;
    return <div className="skeleton" style={{ minHeight: 420 }} role="status" aria-label="Loading" />;
  };
}

/** Fetch all parts, so that a click need not wait and a monitor that ends does not take its pages along. */
export function loadAhead(openings: number): void {
  for (const fetchPart of parts) void fetchPart(openings);
}
