// Draws a tree on a canvas: what is in sight only, with less detail the smaller it is shown.

import { cssColor } from "../app/theme";
import { COLUMN, HEIGHT, type Layout, ROW_DOWN, WIDTH } from "./layout";
import { fateOf, goalOf, nameOf, type Tree, type TreeNode } from "./model";
import type { TreeState } from "./state";
import { ONE_LINE, oneLineSize, type Size, type View } from "./view";

/** From this scale on boxes have two lines of text, and from that one on outlines and marks. */
const TEXTS = 0.72;
const OUTLINES = 0.16;
const LETTER = 0.604;
/** What a search did not find is covered that much. */
const FADED = 0.72;
const BEND = (COLUMN - WIDTH) * 0.55;
const BEND_DOWN = (ROW_DOWN - HEIGHT) * 0.8;
/** Where edges leave and reach the boxes of a tree that grows downwards. */
const DOWN_AT = 40;
const STEPS = 64;
const MONO = '"SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

export interface Palette {
  surface: string;
  wash: string;
  text: string;
  muted: string;
  line: string;
  edge: string;
  accent: string;
  good: string;
  bad: string;
  match: string;
  /** Colours of values from 0 to the farthest. */
  ramp: string[];
}

export function readPalette(): Palette {
  const stops = [0, 1, 2, 3, 4].map((i) => rgb(cssColor(`--v${i}`)));
  const ramp = Array.from({ length: STEPS + 1 }, (_, step) => {
    const t = (step / STEPS) * 4;
    const i = Math.min(3, Math.floor(t));
    const mixed = stops[i]!.map((low, c) => Math.round(low + (stops[i + 1]![c]! - low) * (t - i)));
    return `rgb(${mixed.join(" ")})`;
  });
  return {
    surface: cssColor("--surface"),
    wash: cssColor("--wash"),
    text: cssColor("--text"),
    muted: cssColor("--muted"),
    line: cssColor("--line-strong"),
    edge: cssColor("--faint"),
    accent: cssColor("--accent"),
    good: cssColor("--good"),
    bad: cssColor("--bad"),
    match: cssColor("--accent-wash"),
    ramp,
  };
}

function rgb(hex: string): number[] {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) || 0);
}

/** The colour of so many tactics still to go; null without visits. */
export function rampIndex(toGo: number | null, farthest: number): number | null {
  return toGo === null ? null : Math.round(STEPS * Math.min(1, toGo / farthest));
}

export function edgeWidth(node: TreeNode, root: TreeNode): number {
  const visits = node.visits || (node.proof ? 1 : 0);
  return 1 + 7 * Math.sqrt(root.visits ? visits / root.visits : 0);
}

const labels = new WeakMap<TreeNode, [name: string, goal: string]>();

/** By the node of the whole tree: those of a replay's moments are others each time. */
function labelsOf({ layout }: Scene, node: TreeNode): [string, string] {
  const own = layout.own[node.index] ?? node;
  let known = labels.get(own);
  if (!known) {
    known = [nameOf(own), goalOf(own)];
    labels.set(own, known);
  }
  return known;
}

export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const letters = [...text];
  return letters.length <= length ? text : `${letters.slice(0, length - 1).join("")}…`;
}

/** What the canvas shows. */
export interface Scene {
  tree: Tree;
  layout: Layout;
  state: TreeState;
  palette: Palette;
  /** Where the pointer is over. */
  hover: number;
}

export function draw(context: CanvasRenderingContext2D, scene: Scene, view: View, size: Size, ratio: number): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  context.setTransform(ratio * view.k, 0, 0, ratio * view.k, ratio * view.dx, ratio * view.dy);
  const left = -view.dx / view.k;
  const top = -view.dy / view.k;
  const right = left + size.width / view.k;
  const bottom = top + size.height / view.k;
  drawEdges(context, scene, view, { left, top, right, bottom });
  const { x, y, nodes } = scene.layout;
  const searching = scene.state.hits.size > 0;
  context.textBaseline = "middle";
  for (const placed of nodes) {
    const node = scene.tree.nodes[placed.index]!; // as it is at the moment of a replay
    if (node.unborn) continue;
    const nx = x[node.index]!;
    const ny = y[node.index]!;
    if (nx > right || nx + WIDTH + 20 < left || ny > bottom || ny + HEIGHT < top) continue;
    if (view.k < OUTLINES) drawDot(context, scene, node, nx, ny, view.k);
    else drawNode(context, scene, node, nx, ny, view.k);
    if (searching && !scene.state.hits.has(node.index)) {
      context.globalAlpha = FADED;
      context.fillStyle = scene.palette.surface;
      context.fillRect(nx - 2, ny - 2, WIDTH + 4, HEIGHT + 4);
      context.globalAlpha = 1;
    }
  }
}

interface Frame {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Edges of one look are drawn as one path. */
function drawEdges(context: CanvasRenderingContext2D, { tree, layout, palette, state }: Scene, view: View, frame: Frame): void {
  const far = view.k < OUTLINES;
  const ways = new Set<TreeNode>();
  if (tree.way) for (const index of tree.way) ways.add(tree.nodes[index]!);
  else for (let at = tree.nodes[state.selected] ?? null; at; at = at.parent) ways.add(at);
  const paths = new Map<string, { path: Path2D; width: number; node: TreeNode }>();
  const { x, y } = layout;
  for (const placed of layout.nodes) {
    const node = tree.nodes[placed.index]!;
    const parent = node.parent;
    if (!parent || node.unborn) continue;
    const x0 = x[parent.index]! + (layout.down ? DOWN_AT : WIDTH);
    const y0 = y[parent.index]! + (layout.down ? HEIGHT : HEIGHT / 2);
    const x1 = x[node.index]! + (layout.down ? DOWN_AT : 0);
    const y1 = y[node.index]! + (layout.down ? 0 : HEIGHT / 2);
    if (Math.min(x0, x1) > frame.right || Math.max(x0, x1) < frame.left || Math.min(y0, y1) > frame.bottom || Math.max(y0, y1) < frame.top) continue;
    const width = Math.max(Math.round(2 * edgeWidth(node, tree.root)) / 2, 0.6 / view.k);
    const near = ways.has(node) || (!tree.way && parent.index === state.selected);
    const look = near && (!node.proof || tree.way) ? "near" : node.proof ? "proof" : node.dead ? "dead" : node.visits || node.solved ? "open" : "untried";
    const key = `${look} ${node.visits > 0} ${width}`;
    let entry = paths.get(key);
    if (!entry) paths.set(key, (entry = { path: new Path2D(), width, node }));
    entry.path.moveTo(x0, y0);
    if (far) entry.path.lineTo(x1, y1);
    else if (layout.down) entry.path.bezierCurveTo(x0, y0 + BEND_DOWN, x1, y1 - BEND_DOWN, x1, y1);
    else entry.path.bezierCurveTo(x0 + BEND, y0, x0 + BEND, y1, x1, y1);
  }
  for (const rank of [0, 1, 2]) {
    for (const [key, { path, width, node }] of paths) {
      const near = key.startsWith("near");
      if (rank !== (near ? (tree.way ? 2 : 1) : node.proof ? (tree.way ? 1 : 2) : 0)) continue;
      const quiet = !node.visits && !node.solved;
      context.strokeStyle = near ? palette.accent : node.proof ? palette.good : palette.edge;
      context.globalAlpha = node.proof || (near && tree.way) ? 1 : near ? 0.75 : quiet || node.dead || far ? 0.25 : 0.5;
      context.lineWidth = node.proof || (near && tree.way) ? Math.max(width, 2.5) : width;
      context.setLineDash(quiet ? [3, 4] : []);
      context.stroke(path);
    }
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function fill(scene: Scene, node: TreeNode): string {
  const step = rampIndex(node.toGo, scene.tree.farthest);
  return step === null ? scene.palette.line : scene.palette.ramp[step]!;
}

/** From afar: a box of its value's colour, with a wide border where it matters. */
function drawDot(context: CanvasRenderingContext2D, scene: Scene, node: TreeNode, x: number, y: number, k: number): void {
  const { palette, state } = scene;
  const grown = Math.max(0, (2.2 / k - HEIGHT) / 2);
  const lit = node.fresh || (scene.tree.way?.has(node.index) ?? false);
  const mark = node.index === state.selected || lit ? palette.accent : node.proof ? palette.good : null;
  if (mark) {
    const border = 2 / k;
    context.fillStyle = mark;
    context.fillRect(x - border, y - grown - border, WIDTH + 2 * border, HEIGHT + 2 * (grown + border));
  }
  context.fillStyle = fill(scene, node);
  context.globalAlpha = node.visits || node.solved ? 1 : 0.5;
  context.fillRect(x, y - grown, WIDTH, HEIGHT + 2 * grown);
  context.globalAlpha = 1;
}

function drawNode(context: CanvasRenderingContext2D, scene: Scene, node: TreeNode, x: number, y: number, k: number): void {
  const { palette, state } = scene;
  const selected = node.index === state.selected;
  const quiet = !node.visits && !node.solved && node.kind === "or";
  const box = new Path2D();
  box.roundRect(x, y, WIDTH, HEIGHT, node.kind === "and" ? 2 : 8);
  const lit = node.fresh || (scene.tree.way?.has(node.index) ?? false);
  context.fillStyle = state.hits.has(node.index) || node.fresh ? palette.match : node.index === scene.hover ? palette.wash : palette.surface;
  context.fill(box);
  context.fillStyle = fill(scene, node);
  if (k < ONE_LINE) {
    context.globalAlpha = quiet ? 0.3 : 0.85;
    context.fill(box);
    context.globalAlpha = 1;
  } else {
    context.beginPath();
    context.roundRect(x + 5, y + 6, 6, HEIGHT - 12, 3);
    context.fill();
  }
  context.strokeStyle = selected || lit ? palette.accent : node.proof ? palette.good : state.hits.has(node.index) ? palette.accent : palette.line;
  context.lineWidth = selected ? 3.5 : node.proof || lit ? 2.5 : 1.25;
  context.setLineDash(node.kind === "and" ? [7, 4] : []);
  context.globalAlpha = quiet && !selected ? 0.6 : 1;
  context.stroke(box);
  context.globalAlpha = 1;
  context.setLineDash([]);
  if (k >= TEXTS) drawTexts(context, scene, node, x, y, quiet);
  else if (k >= ONE_LINE) drawOneLine(context, scene, node, x, y, k, quiet);
  else drawMark(context, scene, node, x, y);
  if (node.children.some((child) => !child.unborn)) drawHandle(context, scene, node, x + WIDTH, y + HEIGHT / 2);
}

const MARK = { solved: "✓", dead: "✗", open: "", untried: "" } as const;

function drawTexts(context: CanvasRenderingContext2D, scene: Scene, node: TreeNode, x: number, y: number, quiet: boolean): void {
  const { palette } = scene;
  const [name, goal] = labelsOf(scene, node);
  const fate = fateOf(node);
  const count = node.kind === "closed" ? "" : fate === "untried" ? "untried" : `${node.visits}×  ${(node.toGo ?? 0).toFixed(1)}`;
  context.font = `11.5px ${MONO}`;
  context.textAlign = "right";
  context.fillStyle = palette.muted;
  context.fillText(count, x + WIDTH - 14, y + 31);
  const room = WIDTH - 18 - 14 - (count ? count.length + 1 : 0) * 6.95;
  context.textAlign = "left";
  context.fillText(cut((node.kind === "and" ? "∧ " : "") + goal, Math.floor(room / 6.95)), x + 18, y + 31, room);
  context.font = `${node.proof ? "600 " : ""}12.5px ${MONO}`;
  let at = x + 18;
  if (MARK[fate]) {
    context.fillStyle = fate === "solved" ? palette.good : palette.bad;
    context.fillText(MARK[fate], at, y + 14.5);
    at += 14;
  }
  context.fillStyle = quiet || node.dead ? palette.muted : palette.text;
  const width = x + WIDTH - 14 - at;
  context.fillText(cut(name, Math.floor(width / 7.55)), at, y + 14.5, width);
}

/** From some way off: what the node is, in letters that are as large as they can be. */
function drawOneLine(context: CanvasRenderingContext2D, scene: Scene, node: TreeNode, x: number, y: number, k: number, quiet: boolean): void {
  const { palette } = scene;
  const size = oneLineSize(k);
  const mark = MARK[fateOf(node)];
  context.font = `${node.proof ? "600 " : ""}${size}px ${MONO}`;
  context.textAlign = "left";
  let at = x + 18;
  if (mark) {
    context.fillStyle = mark === "✓" ? palette.good : palette.bad;
    context.fillText(mark, at, y + HEIGHT / 2 + 1);
    at += size;
  }
  context.fillStyle = quiet || node.dead ? palette.muted : palette.text;
  const room = x + WIDTH - 8 - at;
  context.fillText(cut(labelsOf(scene, node)[0], Math.max(1, Math.floor(room / (LETTER * size)))), at, y + HEIGHT / 2 + 1, room);
}

/** Between far and near: one large sign, so that colour is not all there is. */
function drawMark(context: CanvasRenderingContext2D, { palette }: Scene, node: TreeNode, x: number, y: number): void {
  const mark = node.kind === "and" && !node.dead ? "∧" : MARK[fateOf(node)];
  if (!mark) return;
  context.fillStyle = palette.surface;
  context.beginPath();
  context.arc(x + 22, y + HEIGHT / 2, 15, 0, 7);
  context.fill();
  context.fillStyle = mark === "✗" ? palette.bad : mark === "✓" ? palette.good : palette.text;
  context.font = `700 22px ${MONO}`;
  context.textAlign = "center";
  context.fillText(mark, x + 22, y + HEIGHT / 2 + 1);
  context.textAlign = "left";
}

function drawHandle(context: CanvasRenderingContext2D, { layout, palette }: Scene, node: TreeNode, x: number, y: number): void {
  const hidden = layout.hidden[node.index]!;
  context.beginPath();
  context.arc(x, y, 9, 0, 7);
  context.fillStyle = palette.surface;
  context.fill();
  context.strokeStyle = palette.line;
  context.lineWidth = 1.25;
  context.stroke();
  context.fillStyle = palette.muted;
  context.font = `600 10px ${MONO}`;
  context.textAlign = "center";
  context.fillText(hidden ? (hidden > 99 ? "…" : `+${hidden}`) : "−", x, y + 0.5);
  context.textAlign = "left";
}
