// An answer of the API as React state: asked for when the question changes, kept on show while a new one is under way.

import { useEffect, useRef, useState } from "react";
import { apiUrl, ask, ApiFailure, type Params } from "../api/client";
import { useLive } from "./store";

export interface Resource<T> {
  data: T | null;
  /** Why there is no newer answer. `data` may still hold the one before. */
  error: ApiFailure | null;
  loading: boolean;
  reload: () => void;
}

interface Options {
  /** Ask again whenever this changes (say, a step number), but at most every `atMost` milliseconds. */
  version?: string | number;
  atMost?: number;
  /** Ask again every so many milliseconds. */
  every?: number;
  /** Show nothing of an earlier question while this one is asked. */
  forget?: boolean;
}

interface Held<T> {
  url: string;
  data: T | null;
  error: ApiFailure | null;
  loading: boolean;
}

/** The answer to `path` with `params`; null asks nothing. */
export function useResource<T>(path: string | null, params: Params = {}, options: Options = {}): Resource<T> {
  const generation = useLive((live) => live.generation);
  const [turn, setTurn] = useState(0);
  const [held, setHeld] = useState<Held<T>>({ url: "", data: null, error: null, loading: path !== null });
  const asked = useRef(0);
  const url = path === null ? "" : apiUrl(path, params);
  const { version = 0, atMost = 1500, every, forget = false } = options;

  useEffect(() => {
    if (path === null) return;
    const control = new AbortController();
    setHeld((old) => ({ ...old, loading: true, data: forget && old.url !== url ? null : old.data }));
    const put = (next: Partial<Held<T>>): void => setHeld((old) => ({ ...old, url, error: null, loading: false, ...next }));
    const timer = window.setTimeout(() => {
      asked.current = Date.now();
      ask<T>(path, params, control.signal).then(
        (data) => put({ data }),
        (error: unknown) => {
          if (!control.signal.aborted) put({ error: asFailure(error), ...(held.url === url ? {} : { data: null }) });
        },
      );
    }, held.url === url ? Math.max(0, asked.current + atMost - Date.now()) : 0);
    return () => {
      window.clearTimeout(timer);
      control.abort();
    };
    // `url` stands for path and params.
  }, [url, version, turn, generation]);

  useEffect(() => {
    if (!every || path === null) return;
    const timer = window.setInterval(() => !document.hidden && setTurn((old) => old + 1), every);
    return () => window.clearInterval(timer);
  }, [every, path]);

  const fresh = held.url === url || !forget;
  return { data: fresh ? held.data : null, error: held.error, loading: held.loading, reload: () => setTurn((old) => old + 1) };
}

function asFailure(error: unknown): ApiFailure {
  return error instanceof ApiFailure ? error : new ApiFailure(0, String(error));
}
