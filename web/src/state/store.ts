// One store for the whole page, and hooks that read a part of it.

import { useSyncExternalStore } from "react";
import { apiUrl, ask } from "../api/client";
import { listen, type ServerEvent } from "../api/sse";
import type { Overview } from "../api/types";
import { Asking } from "./asking";
import { fileRun } from "../file/data";
import { noteEnd } from "../lib/format";
import { initial, reduce, type Action, type Live } from "./live";

let live: Live = initial;
const watchers = new Set<() => void>();

function dispatch(action: Action): void {
  live = reduce(live, action);
  const { overview } = live;
  noteEnd(overview?.state.name === "finished" ? overview.step : null); // before anything is drawn: attempts are counted by it
  for (const watcher of watchers) watcher();
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** A part of the live state; the component is drawn again only when that part changes. */
export function useLive<T>(select: (live: Live) => T): T {
  return useSyncExternalStore(subscribe, () => select(live));
}

const CHANGES_OVERVIEW = ["hello", "reset", "event"];

/** The whole overview; what it holds beyond the stream's status changes seldom. The stream says what is wrong. */
const overview = new Asking<Overview>(
  (signal) => ask("overview", {}, signal),
  (answer) => "data" in answer && dispatch({ type: "overview", overview: answer.data }),
  1000,
);

/** Ask for the overview anew. */
export const renewOverview = (): void => overview.again();

/** Begin to listen; the overview is asked for at once, so that the first picture does not wait for the stream. */
export function startLive(): () => void {
  overview.again();
  const onEvent = (event: ServerEvent): void => {
    dispatch({ type: "message", event });
    if (CHANGES_OVERVIEW.includes(event.kind)) overview.again();
  };
  if (fileRun()) return () => undefined; // nothing more comes
  return listen(apiUrl("stream"), onEvent, (link) => dispatch({ type: "link", link }));
}
