// How charts of metrics are drawn, chosen once for all of them: smoothing, a logarithmic axis, x as steps or time.

import { useMemo, useSyncExternalStore } from "react";
import { duration } from "../lib/format";
import { Segments, Select } from "./basics";
import { Chart } from "./Chart";
import { viewed, type ChartView, type Line } from "./chart_data";

const KEPT = "nanoproof-charts";
const PLAIN: ChartView = { smooth: 0, log: false, x: "step" };
let view: ChartView = read();
const watchers = new Set<() => void>();

function read(): ChartView {
  try {
    const { smooth, log, x } = JSON.parse(localStorage.getItem(KEPT) ?? "{}") as Partial<ChartView>;
    return { smooth: typeof smooth === "number" && smooth >= 0 && smooth < 1 ? smooth : 0, log: log === true, x: x === "time" ? "time" : "step" };
  } catch {
    return PLAIN;
  }
}

function choose(changes: Partial<ChartView>): void {
  view = { ...view, ...changes };
  try {
    localStorage.setItem(KEPT, JSON.stringify(view));
  } catch {
    // a browser that keeps nothing still shows what was chosen
  }
  for (const watcher of watchers) watcher();
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function useChartView(): ChartView {
  return useSyncExternalStore(subscribe, () => view);
}

/** What all charts of metrics follow. */
export function ChartTools() {
  const { smooth, log, x } = useChartView();
  return (
    <>
      <Segments label="x of charts" value={x} choices={[["step", "Steps"], ["time", "Time"]]} onChange={(next) => choose({ x: next })} />
      <Select label="Smoothing" value={String(smooth)} choices={[["0", "none"], ["0.6", "light"], ["0.9", "medium"], ["0.98", "strong"]]} onChange={(next) => choose({ smooth: Number(next) })} />
      <button className="button" type="button" aria-pressed={log} onClick={() => choose({ log: !log })}>Log scale</button>
    </>
  );
}

/** A chart of metrics by step that follows the chosen view; `times` are those of a line's points. */
export function MetricChart({ label, lines, times, y, range, shape, height }: {
  label: string; lines: Line[]; times: (line: Line) => (number | null)[]; y: (value: number) => string;
  range?: [number | null, number | null]; shape?: "points"; height?: number;
}) {
  const chosen = useChartView();
  const drawn = useMemo(() => viewed(lines, chosen, times), [lines, chosen]);
  return (
    <Chart label={label} lines={drawn} raw={lines} y={y} log={chosen.log} elapsed={chosen.x === "time"}
      {...(chosen.x === "time" ? { x: duration } : {})} {...(range && !chosen.log ? { range } : {})} {...(shape ? { shape } : {})} {...(height ? { height } : {})} />
  );
}
