// One store for the whole page, and hooks that read a part of it.

import { useSyncExternalStore } from "react";
import { apiUrl, ask } from "../api/client";
import { listen } from "../api/sse";
import type { Overview } from "../api/types";
import { initial, reduce, type Action, type Live } from "./live";

let live: Live = initial;
const watchers = new Set<() => void>();

function dispatch(action: Action): void {
  live = reduce(live, action);
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

/** Begin to listen; the overview is asked for at once, so that the first picture does not wait for the stream. */
export function startLive(): () => void {
  ask<Overview>("overview").then(
    (overview) => live.overview ?? dispatch({ type: "overview", overview }),
    () => undefined, // the stream says what is wrong
  );
  return listen(apiUrl("stream"), (event) => dispatch({ type: "message", event }), (link) => dispatch({ type: "link", link }));
}
