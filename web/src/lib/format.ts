// Numbers, times and sizes as people read them. Missing values are an en dash, never "NaN".

export const NONE = "–";
type Maybe = number | null | undefined;

const there = (value: Maybe): value is number => typeof value === "number" && Number.isFinite(value);
const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 12345 -> "12,345". */
export function integer(value: Maybe): string {
  return there(value) ? grouped.format(value) : NONE;
}

let ended: number | null = null;

/** Note the last step of a run that is over; null while it goes on. */
export function noteEnd(step: number | null): void {
  ended = step;
}

/** The step of an attempt as charts count it: an attempt made before the first update belongs to step 1, one made after the last update to none. */
export function attemptStep(step: Maybe): string {
  if (!there(step)) return NONE;
  return ended !== null && step >= ended ? `after ${integer(ended)}` : integer(step + 1);
}

/** Whether an attempt of this step belongs to a step that the run has made, or makes now. */
export const isCounted = (step: number): boolean => ended === null || step < ended;

/** The step of an attempt in words: "step 3", or "after step 12" where the run ended there. */
export function atStep(step: Maybe): string {
  return there(step) && ended !== null && step >= ended ? `after step ${integer(ended)}` : `step ${attemptStep(step)}`;
}

/** At most four characters and a letter: 950, 1.2k, 34k, 5.6M. */
export function compact(value: Maybe): string {
  if (!there(value)) return NONE;
  const size = Math.abs(value);
  for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (size >= 0.9995 * unit) return `${trim(value / unit)}${letter}`;
  }
  return size >= 99.95 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

const trim = (value: number): string => (Math.abs(value) >= 9.95 ? value.toFixed(0) : value.toFixed(1));

/** A measured value with about four digits: 0.01234, 2.313, 45.1, 1,234. Tiny ones as 3.2e-5. */
export function measure(value: Maybe): string {
  if (!there(value)) return NONE;
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size >= 1000) return grouped.format(value);
  if (size < 0.001) return value.toExponential(1);
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : size >= 0.1 ? 3 : 4);
}

/** A round value on an axis, without digits that say nothing: 0.8, 1, 2,000. */
export function level(value: Maybe): string {
  return there(value) && Math.abs(value) < 1000 && value !== 0 ? String(Number(value.toPrecision(4))) : measure(value);
}

/** 0.1234 -> "12.3%". */
export function percent(value: Maybe, digits = 1): string {
  return there(value) ? `${(100 * value).toFixed(digits)}%` : NONE;
}

/** "12.3%" of solved and total. */
export function rate(solved: number, total: number, digits = 1): string {
  return total > 0 ? percent(solved / total, digits) : NONE;
}

/** A span of time with two units: 45 ms, 3.2 s, 4 m 05 s, 2 h 05 m, 3 d 04 h. */
export function duration(seconds: Maybe): string {
  if (!there(seconds)) return NONE;
  const size = Math.max(0, seconds);
  if (size === 0) return "0 s";
  if (size < 0.9995) return size < 0.001 ? `${Math.round(size * 1e6)} µs` : `${Math.round(size * 1000)} ms`;
  if (size < 9.95) return `${size.toFixed(1)} s`;
  const whole = Math.round(size);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

const two = (value: number): string => String(value).padStart(2, "0");

/** How long ago, seen at `now`: "just now", "12 s ago". Both in seconds since the epoch. */
export function ago(time: Maybe, now: number): string {
  if (!there(time)) return NONE;
  const seconds = now - time;
  return seconds < 2 ? "just now" : `${duration(Math.floor(seconds))} ago`;
}

/** Time of day, local: 14:03:27. */
export function timeOfDay(time: Maybe): string {
  if (!there(time)) return NONE;
  const date = new Date(1000 * time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

/** Date and time, local: 2026-11-21 14:03. */
export function dateTime(time: Maybe): string {
  if (!there(time)) return NONE;
  const date = new Date(1000 * time);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** 1536 -> "1.5 KiB". */
export function bytes(value: Maybe): string {
  if (!there(value)) return NONE;
  let size = value;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (Math.abs(size) < 1023.5) return `${unit === "B" ? Math.round(size) : trim(size)} ${unit}`;
    size /= 1024;
  }
  return `${trim(size)} TiB`;
}

/** "1 proof", "2 proofs". */
export function count(value: number, word: string, plural = `${word}s`): string {
  return `${integer(value)} ${value === 1 ? word : plural}`;
}

/** "+1.2" or "−0.3" with the true minus sign; "±0" where the shown digits are zero. */
export function signed(value: Maybe, show: (value: number) => string = measure): string {
  if (!there(value)) return NONE;
  return value === 0 ? "±0" : `${value > 0 ? "+" : "−"}${show(Math.abs(value))}`;
}
