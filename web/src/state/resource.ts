// An answer of the API as React state: asked for when the question changes, kept on show while a new one is under way.

import { useEffect, useRef, useState } from "react";
import { apiUrl, ask, ApiFailure, type Params } from "../api/client";
import { Asking } from "./asking";
import { useLive } from "./store";

export interface Resource<T> {
  data: T | null;
  /** Why there is no newer answer. `data` may still hold the one before. */
  error: ApiFailure | null;
  loading: boolean;
  reload: () => void;
}

interface Options<T> {
  /** Ask again whenever this changes (say, a step number), but at most every `atMost` milliseconds. */
  version?: string | number;
  atMost?: number;
  /** Ask again every so many milliseconds, which may depend on the newest answer; 0: do not. */
  every?: number | ((data: T) => number);
  /** Show nothing of an earlier question while this one is asked. */
  forget?: boolean;
}

interface Held<T> {
  url: string;
  data: T | null;
  error: ApiFailure | null;
  loading: boolean;
}

/** The answer to `path` with `params`; null asks nothing. A request is given up only when the question is another one. */
export function useResource<T>(path: string | null, params: Params = {}, options: Options<T> = {}): Resource<T> {
  const generation = useLive((live) => live.generation);
  const openings = useLive((live) => live.openings);
  const [held, setHeld] = useState<Held<T>>({ url: "", data: null, error: null, loading: path !== null });
  const asking = useRef<Asking<T> | null>(null);
  const url = path === null ? "" : apiUrl(path, params);
  const { version = 0, atMost = 1500, every = 0, forget = false } = options;
  const again = (): void => asking.current?.again();

  useEffect(() => {
    if (path === null) return;
    setHeld((old) => ({ ...old, loading: true, data: forget && old.url !== url ? null : old.data }));
    const own = new Asking<T>((signal) => ask<T>(path, params, signal), (answer) => {
      setHeld((old) => "data" in answer
        ? { url, data: answer.data, error: null, loading: false }
        : { url, data: old.url === url ? old.data : null, error: asFailure(answer.error), loading: false });
    }, atMost);
    asking.current = own;
    return () => {
      own.close();
      asking.current = null;
    };
    // `url` stands for path and params.
  }, [url]);

  useEffect(() => {
    again();
  }, [url, version, generation]);
  useEffect(() => {
    if (held.error) again();
  }, [openings]);

  const pause = typeof every === "number" ? every : held.data === null ? 0 : every(held.data);
  useEffect(() => {
    if (!pause || path === null) return;
    const timer = window.setInterval(() => !document.hidden && again(), pause);
    return () => window.clearInterval(timer);
  }, [pause, path]);

  const fresh = held.url === url || !forget;
  return { data: fresh ? held.data : null, error: held.error, loading: held.loading, reload: again };
}

function asFailure(error: unknown): ApiFailure {
  return error instanceof ApiFailure ? error : new ApiFailure(0, String(error));
}
