// Lines over steps or time, drawn by uPlot. Lines differ by dash as well as by colour; the legend is made of buttons and
// shows the values under the pointer (or the last ones); with the keyboard, arrow keys move the pointer.

import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { cssColor, useTheme } from "../app/theme";
import { duration, level as roundLevel, measure, NONE, timeOfDay } from "../lib/format";
import { csvOf, DASHES, joinColumns, lastValue, padded, zoomed, type Line } from "./chart_data";

interface Props {
  /** What the chart shows, for screen readers. */
  label: string;
  lines: Line[];
  height?: number;
  /** How x is written in the legend ("step 120") and on the axis. */
  x?: (value: number) => string;
  y?: (value: number) => string;
  /** How the axis writes y, where that is not as in the legend. */
  level?: (value: number) => string;
  /** How whole numbers are written on the x axis. */
  tick?: (value: number) => string;
  /** x is seconds since the epoch. */
  time?: boolean;
  /** x is seconds since a beginning. */
  elapsed?: boolean;
  /** A logarithmic y axis; values must be positive then. */
  log?: boolean;
  /** What can be downloaded, where it is not what is drawn. */
  raw?: Line[];
  /** Always show this range of y. */
  range?: [number | null, number | null];
  /** Draw as steps (1), bars of points (2) or lines (0). */
  shape?: "line" | "steps" | "points";
  /** Called with the range of x that was drawn out by dragging. Without it dragging zooms, a double click undoes that. */
  onRange?: (from: number, to: number) => void;
}

export function Chart({ label, lines, height = 200, x = (value) => `step ${value.toLocaleString("en")}`, y = measure, level = y === measure ? roundLevel : y, elapsed = false, tick = elapsed ? duration : undefined, time = false, log = false, raw, range, shape = "line", onRange }: Props) {
  const theme = useTheme();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const drawn = useRef<{ columns: (number | null)[][]; range: string }>({ columns: [], range: "" });
  const [at, setAt] = useState<number | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const { columns, places } = useMemo(() => joinColumns(lines), [lines]);
  const names = lines.map((line) => line.name + (line.low ? "~" : "")).join("\0");
  const latest = useRef({ lines, columns, places, level, tick, range, onRange });
  latest.current = { lines, columns, places, level, tick, range, onRange };

  useEffect(() => {
    if (!host.current) return;
    const box = host.current;
    const made = new uPlot(options(box.clientWidth, height, { time, elapsed, log, shape }, latest, setAt), columns as uPlot.AlignedData, box);
    plot.current = made;
    drawn.current = { columns, range: String(range) };
    applyHidden(made, latest.current, hidden);
    const observer = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height }));
    observer.observe(box);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
    // Lines of other names need another plot; new values are set below.
  }, [names, theme, height, time, elapsed, log, shape]);

  // A new plot has its data, and must not be disturbed before its first frame. What is zoomed stays as it is.
  useEffect(() => {
    if (drawn.current.columns === columns && drawn.current.range === String(range)) return;
    drawn.current = { columns, range: String(range) };
    if (!plot.current) return;
    const part = zoomed(plot.current.data[0] as number[], plot.current.scales["x"] ?? {});
    plot.current.setData(columns as uPlot.AlignedData, part === null);
    if (part) plot.current.setScale("x", part);
  }, [columns, range?.[0], range?.[1]]);

  const toggle = (name: string): void => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
    if (plot.current) applyHidden(plot.current, latest.current, next);
  };
  const onKey = (event: KeyboardEvent): void => {
    const size = columns[0]?.length ?? 0;
    const by: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -size, End: size };
    const step = by[event.key];
    if (step === undefined || !plot.current || size === 0) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(size - 1, (at ?? (step > 0 ? -1 : size)) + step));
    plot.current.setCursor({ left: plot.current.valToPos(columns[0]?.[next] as number, "x"), top: height / 3 });
  };

  const where = at === null ? null : columns[0]?.[at];
  const valueOf = (index: number): number | null | undefined =>
    at === null ? lastValue(columns[places[index]?.value ?? 0]) : columns[places[index]?.value ?? 0]?.[at];
  return (
    <div className="chart">
      <ul className="legend" aria-label={`Lines of ${label}`}>
        {lines.map((line, index) => (
          <li key={line.name}>
            <button type="button" aria-pressed={!hidden.has(line.name)} onClick={() => toggle(line.name)} title="Show or hide">
              <Swatch index={index} />
              {line.name}
              <b>{shown(valueOf(index), line.format ?? y)}</b>
            </button>
          </li>
        ))}
        <li className="where small muted num" style={{ alignSelf: "center", marginLeft: "auto" }} aria-live="polite">
          {where === null || where === undefined ? "" : x(where)}
        </li>
        <li><button type="button" title={`Download ${label} as CSV`} onClick={() => download(`${label}.csv`, csvOf(raw ?? lines, raw ? "step" : "x"))}>CSV</button></li>
      </ul>
      <div className="plot" ref={host} tabIndex={0} role="img" onKeyDown={onKey} style={{ minHeight: height }}
        aria-label={`${label}: ${lines.map((line, index) => `${line.name} ${shown(valueOf(index), line.format ?? y)}`).join(", ")}. Arrow keys read values.`} />
    </div>
  );
}

const shown = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? NONE : format(value);

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name.replaceAll(/[^\w.-]+/g, "_");
  link.click();
  URL.revokeObjectURL(link.href);
}

function Swatch({ index }: { index: number }) {
  return (
    <svg width="18" height="8" aria-hidden="true">
      <line x1="0" x2="18" y1="4" y2="4" stroke={`var(--s${index % 6})`} strokeWidth="2" strokeDasharray={DASHES[index % DASHES.length]?.join(" ")} />
    </svg>
  );
}

const TIME_STEPS = [0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 432000, 864000];

/** Not 2.5: figures are rounded, and between 10 and 15 seconds would be 13. */
const LEVEL_STEPS = Array.from({ length: 24 }, (_, power) => [1, 2, 5].map((digit) => Number(`${digit}e${power - 9}`))).flat();

/** Steps are whole numbers; times are shown as times of day. */
function xText(value: number, time: boolean, tick?: (value: number) => string): string {
  if (time) return timeOfDay(value);
  return Number.isInteger(value) ? (tick?.(value) ?? value.toLocaleString("en")) : "";
}

/** As wide as the widest text needs. */
function axisWidth(texts: string[] | null): number {
  return Math.max(54, 14 + 7 * Math.max(0, ...(texts ?? []).map((text) => text.length)));
}

type Latest = { current: { lines: Line[]; places: ReturnType<typeof joinColumns>["places"]; columns: (number | null)[][] } & Pick<Props, "level" | "tick" | "range" | "onRange"> };

function applyHidden(plot: uPlot, { lines, places }: Latest["current"], hidden: ReadonlySet<string>): void {
  lines.forEach((line, index) => {
    const place = places[index];
    if (!place) return;
    for (const column of [place.value, place.low, place.high]) {
      if (column !== undefined) plot.setSeries(column, { show: !hidden.has(line.name) });
    }
  });
}

function options(width: number, height: number, { time, elapsed, log, shape }: { time: boolean; elapsed: boolean; log: boolean; shape: string }, latest: Latest, setAt: (at: number | null) => void): uPlot.Options {
  const { lines, places } = latest.current;
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  lines.forEach((line, index) => {
    const color = cssColor(`--s${index % 6}`);
    const place = places[index];
    const drawn: uPlot.Series = {
      label: line.name, stroke: color, width: 1.75, dash: DASHES[index % DASHES.length] ?? [], spanGaps: true,
      // One value alone has no line.
      points: { show: (plot, index) => shape === "points" || Array.from(plot.data[index] ?? []).filter((value) => value !== null && value !== undefined).length === 1, size: 5, fill: color },
    };
    if (shape === "steps" && uPlot.paths.stepped) drawn.paths = uPlot.paths.stepped({ align: 1 });
    if (shape === "points") drawn.width = 1.25;
    series.push(drawn);
    if (place?.low === undefined || place.high === undefined) return;
    for (let side = 0; side < 2; side++) series.push({ stroke: "transparent", width: 0, spanGaps: true, points: { show: false } });
    bands.push({ series: [place.high, place.low], fill: `color-mix(in srgb, ${color} 14%, transparent)` });
  });
  const line = cssColor("--line");
  const axis = { stroke: cssColor("--muted"), font: `12px ${cssColor("--sans")}`, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return {
    width, height, series, bands,
    legend: { show: false },
    padding: [8, time || elapsed ? 30 : 22, 0, 0], // half of the widest text at the end of the x axis
    // A single value of x would have a range up to 100, which is 2 ** 100 simulations.
    scales: { x: { time, range: (_, low, high) => (low !== null && low === high ? [low - 0.5, low + 0.5] : [low, high]) }, y: log ? { distr: 3, range: (_, low, high) => [(low ?? 0.1) / 1.15, (high ?? 1) * 1.15] } : { range: (_, low, high) => padded(low, high, latest.current.range) } },
    axes: [
      { ...axis, grid: { show: false }, space: 64, size: 26, ...(time || elapsed ? { incrs: TIME_STEPS } : {}), values: (_, ticks) => ticks.map((tick) => xText(tick, time, latest.current.tick)) },
      { ...axis, size: (_, texts) => axisWidth(texts), space: 34, incrs: LEVEL_STEPS, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : (latest.current.level ?? roundLevel)(tick))) },
    ],
    cursor: { y: false, points: { size: 7 }, drag: { x: true, y: false, setScale: !latest.current.onRange } },
    hooks: {
      setCursor: [(plot) => setAt(plot.cursor.idx ?? null)],
      setSelect: [(plot) => {
        const { onRange } = latest.current;
        if (!onRange || plot.select.width < 4) return;
        onRange(plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x"));
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      }],
    },
  };
}
