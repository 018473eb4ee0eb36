// Questions to the monitor. Every failure becomes an ApiFailure with one sentence that can be shown.

import { answerFrom } from "../file/archive";
import { fileRun } from "../file/data";

export type Param = string | number | boolean | null | undefined;
export type Params = Record<string, Param>;

/** Why there is no answer. `status` 0: the monitor could not be reached. */
export class ApiFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "ApiFailure";
    this.status = status;
  }
}

/** The run that the page shows, where the monitor shows the runs of a folder: `?run=rl/NAME` before the hash. */
export function chosenRun(search: string = typeof location === "undefined" ? "" : location.search): string | null {
  return new URLSearchParams(search).get("run") || null;
}

/** The address of the page of a run of the folder; null: of the list of all runs. */
export function runHref(name: string | null, hash = "#/"): string {
  return name === null ? "./" : `./?${new URLSearchParams({ run: name })}${hash}`;
}

/** The address of an API path relative to the page, without the parameters that are empty. */
export function apiUrl(path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  const run = chosenRun();
  if (run !== null) query.set("run", run);
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `api/${path}${text ? `?${text}` : ""}`;
}

/** Ask for `path` (without `api/`). Rejects with ApiFailure, or AbortError where `signal` was used. */
export async function ask<T>(path: string, params: Params = {}, signal?: AbortSignal): Promise<T> {
  const file = fileRun();
  if (file) return answerFrom(file, decodeURIComponent(path), params) as T;
  return answerOf<T>(path, params, { signal: signal ?? null, headers: { Accept: "application/json" } }, signal);
}

/** Write `data` to `path`, and return what the monitor says is there now. Rejects with ApiFailure. */
export async function put<T>(path: string, data: unknown): Promise<T> {
  if (fileRun()) throw new ApiFailure(409, "A file cannot be changed; the monitor of the run can.");
  return answerOf<T>(path, {}, { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) });
}

async function answerOf<T>(path: string, params: Params, how: RequestInit, signal?: AbortSignal): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(apiUrl(path, params), how);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiFailure(0, "The monitor cannot be reached.");
  }
  const body: unknown = await answer.json().catch(() => null);
  if (!answer.ok) throw new ApiFailure(answer.status, errorText(body) ?? `The monitor answered ${answer.status}.`);
  if (body === null) throw new ApiFailure(answer.status, "The monitor's answer is not JSON.");
  return body as T;
}

function errorText(body: unknown): string | null {
  if (typeof body !== "object" || body === null || !("error" in body)) return null;
  return typeof body.error === "string" ? body.error : null;
}
