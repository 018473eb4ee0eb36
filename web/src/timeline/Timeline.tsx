// Lanes of what happened when. Drag to look closer, arrow keys move, plus and minus zoom, Escape goes back.

import { useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import type { Lane } from "../api/types";
import { useTheme } from "../app/theme";
import { duration } from "../lib/format";
import { AXIS, drawTimeline, makePalette } from "./draw";
import { pan, spanAt, tickText, zoom, type Range } from "./scale";
import "./timeline.css";

interface Props {
  label: string;
  lanes: Lane[];
  range: Range;
  /** All that there is to see. */
  limits: Range;
  onRange: (range: Range | null) => void;
}

interface Hover {
  x: number;
  y: number;
  text: string;
}

export function Timeline({ label, lanes, range, limits, onRange }: Props) {
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [hover, setHover] = useState<Hover | null>(null);
  const [drag, setDrag] = useState<[from: number, to: number] | null>(null);
  const laneHeight = lanes.length <= 24 ? 18 : lanes.length <= 70 ? 10 : 6;
  const height = AXIS + lanes.length * laneHeight;

  useEffect(() => {
    if (!canvas.current?.parentElement) return;
    const box = canvas.current.parentElement;
    const observer = new ResizeObserver(() => setWidth(box.clientWidth));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);

  const palette = useMemo(() => {
    const context = document.createElement("canvas").getContext("2d");
    return context && makePalette(context);
  }, [theme]);

  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!canvas.current || !context || !palette || width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.current.width = width * ratio;
    canvas.current.height = height * ratio;
    context.scale(ratio, ratio);
    drawTimeline(context, { width, range, lanes, laneHeight }, palette);
  }, [width, height, lanes, range.from, range.to, palette, laneHeight]);

  const timeAt = (x: number): number => range.from + (x / width) * (range.to - range.from);
  const place = (event: PointerEvent): [number, number] => {
    const box = event.currentTarget.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const onMove = (event: PointerEvent): void => {
    const [x, y] = place(event);
    if (drag) setDrag([drag[0], x]);
    const lane = lanes[Math.floor((y - AXIS) / laneHeight)];
    const span = lane && spanAt(lane, timeAt(x));
    setHover(lane && span ? { x, y, text: `${laneName(lane)}: ${stateName(span[2])}, ${duration(span[1] - span[0])} from ${tickText(span[0], range)}` } : null);
  };
  const onUp = (): void => {
    if (drag && Math.abs(drag[1] - drag[0]) > 5) onRange({ from: timeAt(Math.min(...drag)), to: timeAt(Math.max(...drag)) });
    setDrag(null);
  };
  const onKey = (event: KeyboardEvent): void => {
    const middle = (range.from + range.to) / 2;
    const acts: Record<string, () => Range | null> = {
      ArrowLeft: () => pan(range, -0.25, limits), ArrowRight: () => pan(range, 0.25, limits),
      "+": () => zoom(range, 0.5, middle, limits), "=": () => zoom(range, 0.5, middle, limits),
      "-": () => zoom(range, 2, middle, limits), Escape: () => null,
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onRange(act());
  };

  return (
    <>
    <div className="timeline">
      <div className="lanes small muted" aria-hidden="true" style={{ paddingTop: AXIS }}>
        {lanes.map((lane, at) => <div key={`${lane.rank} ${lane.kind} ${lane.name}`} style={{ height: laneHeight }} className="clip"><span>{laneHeight >= 14 ? laneName(lane) : groupName(lanes, at, laneHeight)}</span></div>)}
      </div>
      <div className="drawing" tabIndex={0} role="img" onKeyDown={onKey}
        aria-label={`${label}: ${lanes.length} lanes, ${duration(range.to - range.from)}. Arrow keys move, plus and minus zoom.`}>
        <canvas ref={canvas} style={{ height }} onPointerMove={onMove} onPointerLeave={() => setHover(null)}
          onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); setDrag([place(event)[0], place(event)[0]]); }}
          onPointerUp={onUp} onPointerCancel={() => setDrag(null)} onDoubleClick={() => onRange(null)} />
        {drag && <div className="picked" style={{ left: Math.min(...drag), width: Math.abs(drag[1] - drag[0]) }} />}
        {hover && !drag && <div className="tip small num" style={{ left: Math.min(hover.x + 12, Math.max(0, width - 300)), top: hover.y + 16 }}>{hover.text}</div>}
      </div>
    </div>
    <TimelineLegend lanes={lanes} />
    </>
  );
}

/** What the colours and patterns mean, of those that are drawn. */
function TimelineLegend({ lanes }: { lanes: Lane[] }) {
  const states = useMemo(() => new Set(lanes.flatMap((lane) => lane.spans.map((span) => span[2]))), [lanes]);
  const shown = STATES.filter((state) => states.has(state));
  return (
    <ul className="lane-legend small muted" aria-label="Colours of the timeline">
      {shown.map((state) => <li key={state}><span className={`swatch fill-${state}`} aria-hidden="true" />{stateName(state)}</li>)}
      {lanes.some((lane) => lane.kind === "actor") && <li><span className="swatch fill-none" aria-hidden="true" />idle</li>}
    </ul>
  );
}

const LINE = 14;

/** Where lanes are too low for names of their own: "rank 0" beside its first lane, "16 actors" where they begin and there is room. */
function groupName(lanes: Lane[], at: number, laneHeight: number): string {
  const lane = lanes[at]!;
  const [before, own] = [lanes[at - 1], lanes.filter((one) => one.rank === lane.rank)];
  if (before?.rank !== lane.rank) return `rank ${lane.rank}`;
  const actors = own.filter((one) => one.kind === "actor");
  const first = lanes.indexOf(actors[0]!);
  const line = lanes.indexOf(own[0]!) + Math.ceil(LINE / laneHeight); // below the name of the rank
  return at === Math.max(first, line) ? `${actors.length} actors` : "";
}

function laneName(lane: Lane): string {
  if (lane.kind === "actor") return `actor ${lane.rank}.${lane.name.replace("actor ", "")}`;
  return lane.kind === "model" ? `model ${lane.rank}` : `phase ${lane.rank}`;
}

const STATES = ["collect", "train", "evaluate", "exchange", "save", "starting", "batch", "model", "lean", "paused", "error"];

export function stateName(state: string): string {
  return { collect: "phase: collect", train: "phase: train", evaluate: "phase: evaluate", exchange: "phase: exchange", save: "phase: save", starting: "phase: starting", model: "waits for the model", lean: "waits for Lean", idle: "idle", paused: "paused for training", error: "server out of reach", batch: "computes" }[state] ?? state;
}
