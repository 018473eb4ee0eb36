// Lines as the columns that uPlot wants: one x for all, nulls where a line has no value.

export interface Line {
  name: string;
  x: number[];
  y: (number | null)[];
  /** A band around the line (an interval, or lowest and highest value). */
  low?: (number | null)[];
  high?: (number | null)[];
  format?: (value: number) => string;
}

/** Which columns a line lies in. */
export interface Place {
  value: number;
  low?: number;
  high?: number;
}

export const DASHES: number[][] = [[], [7, 4], [2, 3], [9, 3, 2, 3], [14, 4], [4, 2, 4, 6]];

/** Columns over the union of all x, which come sorted. Lines that share their x array cost no merging. */
export function joinColumns(lines: Line[]): { columns: (number | null)[][]; places: Place[] } {
  const first = lines[0]?.x ?? [];
  const same = lines.every((line) => line.x === first);
  const xs = same ? first : [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  const rowOf = same ? null : new Map(xs.map((value, row) => [value, row]));
  const columns: (number | null)[][] = [xs];
  const add = (line: Line, values: (number | null)[]): number => {
    if (!rowOf) columns.push(values);
    else {
      const column = new Array<number | null>(xs.length).fill(null);
      line.x.forEach((value, row) => (column[rowOf.get(value) ?? 0] = values[row] ?? null));
      columns.push(column);
    }
    return columns.length - 1;
  };
  const places = lines.map((line) => {
    const place: Place = { value: add(line, line.y) };
    if (line.low && line.high) {
      place.low = add(line, line.low);
      place.high = add(line, line.high);
    }
    return place;
  });
  return { columns, places };
}

/** The last value that is one. */
export function lastValue(column: (number | null)[] | undefined): number | null {
  if (!column) return null;
  for (let row = column.length - 1; row >= 0; row--) if (column[row] !== null && column[row] !== undefined) return column[row] as number;
  return null;
}

/** The part of x that is on show, where it is not all of it. */
export function zoomed(x: (number | null)[] | undefined, { min, max }: { min?: number | null; max?: number | null }): { min: number; max: number } | null {
  const [first, last] = [x?.[0], x?.[x.length - 1]];
  if (typeof first !== "number" || typeof last !== "number" || typeof min !== "number" || typeof max !== "number") return null;
  return min > first || max < last ? { min, max } : null;
}

/** A range of y with some air, that never has no height; ends that are `wanted` are kept as they are. */
export function padded(low: number | null, high: number | null, wanted?: [number | null, number | null]): [number, number] {
  const bottom = wanted?.[0] ?? low ?? 0;
  const top = wanted?.[1] ?? high ?? 1;
  const air = bottom === top ? Math.abs(top) * 0.1 || 1 : (top - bottom) * 0.06;
  return [wanted?.[0] ?? bottom - air, wanted?.[1] ?? top + air];
}

/** How charts of metrics are drawn. `smooth` is the weight of what came before, 0 for none. */
export interface ChartView {
  smooth: number;
  log: boolean;
  x: "step" | "time";
}

/** An exponential moving average without the pull towards 0 at its beginning; gaps stay gaps. */
export function smoothed(values: (number | null)[], weight: number): (number | null)[] {
  let sum = 0;
  let mass = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    mass = weight * mass + (1 - weight);
    return sum / mass;
  });
}

/** Lines as a view wants them: over time since the first step where `times` are known, smoothed, without what has no logarithm. */
export function viewed(lines: Line[], view: ChartView, times: (line: Line) => (number | null)[]): Line[] {
  return lines.map((line) => {
    const shown = view.x === "time" ? overTime(line, times(line)) : line;
    const { low: _low, high: _high, ...plain } = shown;
    const calm = view.smooth > 0 ? { ...plain, y: smoothed(shown.y, view.smooth) } : shown;
    return view.log ? { ...calm, y: calm.y.map((value) => (value !== null && value > 0 ? value : null)) } : calm;
  });
}

function overTime(line: Line, times: (number | null)[]): Line {
  const rows = line.x.map((_, row) => row).filter((row) => typeof times[row] === "number");
  const first = times[rows[0] ?? 0] ?? 0;
  const pick = <T>(values: T[]): T[] => rows.map((row) => values[row] as T);
  return {
    ...line, x: rows.map((row) => (times[row] as number) - first), y: pick(line.y),
    ...(line.low && line.high ? { low: pick(line.low), high: pick(line.high) } : {}),
  };
}

/** Lines as comma-separated values, with a column for x. */
export function csvOf(lines: Line[], xName: string): string {
  const { columns, places } = joinColumns(lines);
  const heads = lines.flatMap((line, at) => [line.name, ...(places[at]?.low === undefined ? [] : [`${line.name} low`, `${line.name} high`])]);
  const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? "").join(","));
  return [[xName, ...heads].map(quoted).join(","), ...rows, ""].join("\n");
}
