// Draws lanes of spans on a canvas. States differ by pattern as well as by colour.

import { cssColor } from "../app/theme";
import type { Lane } from "../api/types";
import { ticks, tickText, type Range } from "./scale";

export const AXIS = 22;

export interface Palette {
  fills: Record<string, string | CanvasPattern>;
  line: string;
  muted: string;
  text: string;
  wash: string;
  font: string;
}

const STATE_COLORS: Record<string, string> = {
  model: "--model", batch: "--v1", lean: "--lean", idle: "--idle", paused: "--idle", error: "--error",
  collect: "--s0", train: "--s2", evaluate: "--s3", exchange: "--s5", save: "--s5", starting: "--s5",
};

/** How each state is filled: the model plain, Lean striped, idle pale dots, errors crossed. */
export function makePalette(context: CanvasRenderingContext2D): Palette {
  const fills: Record<string, string | CanvasPattern> = {};
  for (const [state, name] of Object.entries(STATE_COLORS)) fills[state] = cssColor(name);
  fills["lean"] = striped(context, cssColor("--lean"), 1) ?? cssColor("--lean");
  fills["error"] = striped(context, cssColor("--error"), 2) ?? cssColor("--error");
  fills["paused"] = striped(context, cssColor("--idle"), 4) ?? cssColor("--idle");
  fills["idle"] = striped(context, cssColor("--idle"), 3) ?? cssColor("--idle");
  return {
    fills, line: cssColor("--line"), muted: cssColor("--muted"), text: cssColor("--text"), wash: cssColor("--wash"),
    font: `11.5px ${cssColor("--sans")}`,
  };
}

function striped(context: CanvasRenderingContext2D, color: string, kind: 1 | 2 | 3 | 4): CanvasPattern | null {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const brush = tile.getContext("2d");
  if (!brush) return null;
  brush.fillStyle = cssColor("--surface");
  brush.fillRect(0, 0, 8, 8);
  brush.fillStyle = brush.strokeStyle = color;
  brush.globalAlpha = kind >= 3 ? 0.25 : 0.55;
  brush.fillRect(0, 0, 8, 8);
  brush.globalAlpha = kind === 3 ? 0.5 : 1;
  brush.lineWidth = 2;
  const stroke = (points: number[]): void => {
    brush.beginPath();
    for (let index = 0; index < points.length; index += 4) {
      brush.moveTo(points[index] as number, points[index + 1] as number);
      brush.lineTo(points[index + 2] as number, points[index + 3] as number);
    }
    brush.stroke();
  };
  if (kind === 4) stroke([1, 0, 1, 8, 5, 0, 5, 8]);
  if (kind < 3) stroke([-2, 2, 2, -2, 0, 8, 8, 0, 6, 10, 10, 6]);
  if (kind === 2) stroke([-2, 6, 2, 10, 0, 0, 8, 8, 6, -2, 10, 2]);
  if (kind === 3) brush.fillRect(3, 3, 2, 2);
  return context.createPattern(tile, "repeat");
}

export interface Picture {
  width: number;
  range: Range;
  lanes: Lane[];
  laneHeight: number;
}

export function drawTimeline(context: CanvasRenderingContext2D, { width, range, lanes, laneHeight }: Picture, palette: Palette): void {
  const height = AXIS + lanes.length * laneHeight;
  const scale = width / (range.to - range.from || 1);
  const x = (time: number): number => (time - range.from) * scale;
  context.clearRect(0, 0, width, height);
  context.font = palette.font;
  context.textBaseline = "middle";
  for (const time of ticks(range, width)) {
    context.fillStyle = palette.line;
    context.fillRect(Math.round(x(time)), AXIS - 4, 1, height);
    context.fillStyle = palette.muted;
    const text = tickText(time, range);
    const half = context.measureText(text).width / 2;
    if (x(time) - half >= 0 && x(time) + half <= width) context.fillText(text, x(time) - half, 8);
  }
  const gap = laneHeight >= 10 ? 3 : 1;
  lanes.forEach((lane, row) => {
    const top = AXIS + row * laneHeight;
    for (const [start, end, state] of lane.spans) {
      if (end < range.from || start > range.to) continue;
      const left = Math.max(0, x(start));
      const size = Math.max(0.7, Math.min(width, x(end)) - left);
      context.fillStyle = palette.fills[state] ?? palette.muted;
      context.fillRect(left, top + 1, size > 3 ? size - 0.5 : size, laneHeight - gap);
      if (lane.kind === "phase" && laneHeight >= 14) label(context, state, left, size, top + laneHeight / 2 - 0.5);
    }
  });
}

function label(context: CanvasRenderingContext2D, text: string, left: number, size: number, middle: number): void {
  if (context.measureText(text).width + 10 > size) return;
  context.fillStyle = "#ffffff";
  if (document.documentElement.dataset["theme"] === "dark") context.fillStyle = "#0d1420";
  context.fillText(text, left + 5, middle);
}
