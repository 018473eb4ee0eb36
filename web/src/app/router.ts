// Addresses after the hash: `#/theorems?q=add&page=2`. They can be kept, sent and gone back to, and need no server.

import { useEffect, useSyncExternalStore } from "react";
import type { Params } from "../api/client";

export interface Route {
  /** "theorems" of #/theorems/x?q=1; "" is the overview. */
  page: string;
  /** What follows the page: ["x"]. */
  parts: string[];
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [page = "", ...parts] = path.split("/").filter(Boolean).map(decode);
  return { page, parts, query: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a page: href("tree/0/3/7", {node: 5}); empty parameters are left out. Encode parts of your own. */
export function href(path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "" && value !== false) query.set(name, String(value));
  }
  const text = query.toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

/** Go there. `replace` leaves no step for the back button (typing in a filter). */
export function go(address: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", address);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = address;
}

let held = { hash: "\0", route: parseRoute("") };
function current(): Route {
  if (held.hash !== location.hash) held = { hash: location.hash, route: parseRoute(location.hash) };
  return held.route;
}

function subscribe(watcher: () => void): () => void {
  window.addEventListener("hashchange", watcher);
  return () => window.removeEventListener("hashchange", watcher);
}

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, current);
}

/** The query of the page at hand, and a function that changes some of it (null takes a parameter away). */
export function useQuery(): [URLSearchParams, (changes: Params, replace?: boolean) => void] {
  const { query } = useRoute();
  return [query, changeQuery];
}

function changeQuery(changes: Params, replace = false): void {
  const { page, parts, query } = current();
  const params = { ...Object.fromEntries(query), ...changes };
  go(href([page, ...parts].map(encodeURIComponent).join("/"), params), replace);
}

/** Where the address names a page of a list beyond its last one: show that. */
export function useLastPage(list: { items: unknown[]; total: number; size: number } | null | undefined): void {
  const last = list && list.items.length === 0 ? Math.ceil(list.total / list.size) : 0;
  useEffect(() => {
    if (last) changeQuery({ page: last }, true);
  }, [last]);
}
