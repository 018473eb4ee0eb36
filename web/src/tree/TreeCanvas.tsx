// The tree on a canvas: drag and pinch to pan and zoom, click to select, the keyboard for all of it.

import { useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent, type Ref } from "react";
import { useTheme } from "../app/theme";
import { draw, readPalette, type Scene } from "./draw";
import { handleAt, HEIGHT, type Layout, layoutTree, NARROW, nodeAt, WIDTH } from "./layout";
import { fateOf, FATE_WORD, goalOf, nameOf, type Tree } from "./model";
import type { Direction, TreeAction, TreeState } from "./state";
import { fitted, inSight, ONE_LINE, opened, sameView, type Size, type View, zoomed } from "./view";

const GLIDE = 140;

export interface CanvasHandle {
  zoom: (factor: number) => void;
  fit: () => void;
  focus: () => void;
}

interface Props {
  tree: Tree;
  /** The tree as it was at the moment of a replay that is shown; else the same. */
  now: Tree;
  /** Whether it grows. */
  live: boolean;
  state: TreeState;
  act: (action: TreeAction) => void;
  onFind: () => void;
  handle: Ref<CanvasHandle>;
}

export function TreeCanvas({ tree, now, live, state, act, onFind, handle }: Props) {
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [down, setDown] = useState(false);
  const layout = useMemo(() => layoutTree(tree, state, down), [tree, state.folded, state.untried, down]);
  const palette = useMemo(readPalette, [theme]);
  const scene = useRef<Scene>({ tree: now, layout, state, palette, hover: -1 });
  scene.current = { tree: now, layout, state, palette, hover: scene.current.hover };
  const painter = useRef<Painter | null>(null);
  const shown = useRef({ selected: state.selected, layout });

  useLayoutEffect(() => {
    const box = canvas.current!;
    const observer = new ResizeObserver(() => setDown(box.clientWidth < NARROW));
    setDown(box.clientWidth < NARROW);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const made = new Painter(canvas.current!, scene);
    painter.current = made;
    return () => {
      made.stop();
      painter.current = null;
    };
  }, []);

  useEffect(() => {
    const { selected, layout: before } = shown.current;
    const grown = before.own !== layout.own; // nodes have other numbers then
    shown.current = { selected: state.selected, layout };
    if (before.down !== layout.down) return painter.current?.open();
    // What was under the eye stays there when something is folded: the selected node does not move.
    if (before !== layout) painter.current?.hold(state.selected, before.y[grown ? selected : state.selected] ?? NaN);
    if (selected !== state.selected && !grown) painter.current?.reveal(state.selected);
    painter.current?.paint();
  }, [state, layout, palette]);

  useEffect(() => {
    const leaf = now.way ? lastShown(layout, now) : -1;
    if (leaf >= 0 && !(live && painter.current?.moved)) painter.current?.reveal(leaf);
    painter.current?.paint();
  }, [now]);

  useImperativeHandle(handle, () => ({
    zoom: (factor) => painter.current?.zoomSelected(factor),
    fit: () => painter.current?.fit(),
    focus: () => canvas.current?.focus(),
  }), []);

  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = (direction: Direction) => () => act({ type: "move", direction, layout });
    const toggle = (): void => act({ type: "toggle", index: state.selected });
    const keys: Record<string, () => void> = {
      ArrowLeft: move("left"), ArrowRight: move("right"), ArrowUp: move("up"), ArrowDown: move("down"), Home: move("home"),
      Enter: toggle, " ": toggle,
      "+": () => painter.current?.zoomSelected(1.25), "=": () => painter.current?.zoomSelected(1.25), "-": () => painter.current?.zoomSelected(0.8),
      f: () => painter.current?.fit(), u: () => act({ type: "untried" }), p: () => act({ type: "proof" }), "/": onFind,
      n: () => act({ type: "next hit", back: false }), N: () => act({ type: "next hit", back: true }),
    };
    const key = keys[event.key];
    if (!key) return;
    event.preventDefault();
    key();
  };

  const clicked = (x: number, y: number, twice: boolean): void => {
    const point = painter.current!.pointAt(x, y);
    const folding = handleAt(layout, point.x, point.y);
    const node = folding ?? nodeAt(layout, point.x, point.y);
    if (!node || now.nodes[node.index]?.unborn || (folding && twice)) return;
    if (folding || twice) act({ type: "toggle", index: node.index });
    else act({ type: "select", index: node.index });
  };
  const pointers = usePointers(painter, clicked);
  const node = now.nodes[state.selected] ?? now.root;
  return (
    <>
      <canvas ref={canvas} className="tree-canvas" tabIndex={0} role="application" aria-roledescription="search tree"
        aria-label={`Search tree with ${tree.nodes.length} nodes. Arrow keys move between nodes, Enter folds, plus and minus zoom, F fits, slash searches.`}
        aria-describedby="tree-selected" onKeyDown={onKey} {...pointers}
        onDoubleClick={(event) => clicked(event.nativeEvent.offsetX, event.nativeEvent.offsetY, true)} />
      <p id="tree-selected" className="sr-only" aria-live={live ? "off" : "polite"}>
        {`${nameOf(node)}, ${FATE_WORD[fateOf(node)]}, level ${node.depth + 1}, ${node.visits} visits, ${goalOf(node)}`}
      </p>
    </>
  );
}

/** The last node on the way of a simulation that is not folded away. */
function lastShown(layout: Layout, now: Tree): number {
  return Math.max(-1, ...[...(now.way ?? [])].filter((index) => !Number.isNaN(layout.x[index]!)));
}

/** Owns the view and the frames. React does not draw anew while one pans or zooms. */
class Painter {
  private view: View = { dx: 0, dy: 0, k: 1 };
  private size: Size = { width: 0, height: 0 };
  /** Whether the reader has chosen what is in sight; a tree that grows is followed until then. */
  moved = false;
  private frame = 0;
  private glide = 0;
  private readonly observer: ResizeObserver;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly scene: { current: Scene }) {
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    canvas.addEventListener("wheel", this.wheel, { passive: false });
  }

  stop(): void {
    this.observer.disconnect();
    this.canvas.removeEventListener("wheel", this.wheel);
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.glide);
  }

  paint(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.now());
  }

  pointAt(x: number, y: number): { x: number; y: number } {
    return { x: (x - this.view.dx) / this.view.k, y: (y - this.view.dy) / this.view.k };
  }

  pan(dx: number, dy: number): void {
    this.moved = true;
    this.set({ ...this.view, dx: this.view.dx + dx, dy: this.view.dy + dy });
  }

  zoom(factor: number, x: number, y: number): void {
    this.moved = true;
    this.set(zoomed(this.view, factor, x, y));
  }

  /** Zooms around the selected node, or around the middle if that is out of sight. */
  zoomSelected(factor: number): void {
    const { layout, state } = this.scene.current;
    const { dx, dy, k } = this.view;
    const x = dx + (layout.x[state.selected]! + WIDTH / 2) * k;
    const y = dy + (layout.y[state.selected]! + HEIGHT / 2) * k;
    const { width, height } = this.size;
    const seen = x > 0 && x < width && y > 0 && y < height;
    this.zoom(factor, seen ? x : width / 2, seen ? y : height / 2);
  }

  /** Shows all of it, however small; a second time, from its root on with texts that can be read. */
  fit(): void {
    this.moved = false;
    const { layout } = this.scene.current;
    const whole = fitted(layout, this.size);
    this.glideTo(sameView(whole, this.view) ? fitted(layout, this.size, ONE_LINE * 1.25) : whole);
  }

  /** The first view: all of it where it can be read, else from its root on. */
  open(): void {
    if (this.size.width) this.set(opened(this.scene.current.layout, this.size));
  }

  hover(x: number, y: number): void {
    const point = this.pointAt(x, y);
    const { layout } = this.scene.current;
    const handle = handleAt(layout, point.x, point.y);
    const index = (handle ?? nodeAt(layout, point.x, point.y))?.index ?? -1;
    this.canvas.style.cursor = index < 0 ? "grab" : "pointer";
    if (index === this.scene.current.hover) return;
    this.scene.current.hover = index;
    this.paint();
  }

  hold(index: number, before: number): void {
    const moved = this.scene.current.layout.y[index]! - before;
    if (moved) this.set({ ...this.view, dy: this.view.dy - moved * this.view.k });
  }

  reveal(index: number): void {
    const { layout } = this.scene.current;
    this.glideTo(inSight(this.view, layout.x[index]!, layout.y[index]!, this.size));
  }

  private set(view: View): void {
    cancelAnimationFrame(this.glide);
    this.view = view;
    this.paint();
  }

  private glideTo(target: View): void {
    cancelAnimationFrame(this.glide);
    const from = this.view;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.set(target);
    const began = performance.now();
    const step = (): void => {
      const part = Math.min(1, (performance.now() - began) / GLIDE);
      const eased = 1 - (1 - part) ** 3;
      const between = (a: number, b: number): number => a + (b - a) * eased;
      this.view = part === 1 ? target : { dx: between(from.dx, target.dx), dy: between(from.dy, target.dy), k: between(from.k, target.k) };
      this.paint();
      if (part < 1) this.glide = requestAnimationFrame(step);
    };
    step();
  }

  private resize(): void {
    const first = this.size.width === 0;
    const ratio = window.devicePixelRatio || 1;
    this.size = { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
    this.canvas.width = Math.round(this.size.width * ratio);
    this.canvas.height = Math.round(this.size.height * ratio);
    if (first) this.open();
    this.now();
  }

  private now(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const context = this.canvas.getContext("2d");
    if (context && this.size.width) draw(context, this.scene.current, this.view, this.size, window.devicePixelRatio || 1);
  }

  private readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    if (event.shiftKey) this.pan(-event.deltaY - event.deltaX, 0);
    else this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
  };
}

/** Dragging with one pointer, pinching with two, and clicks that were neither. */
function usePointers(painter: { current: Painter | null }, clicked: (x: number, y: number, twice: boolean) => void) {
  const held = useRef(new Map<number, { x: number; y: number }>());
  const moved = useRef(false);
  const place = (event: PointerEvent) => ({ x: event.nativeEvent.offsetX, y: event.nativeEvent.offsetY });
  const release = (event: PointerEvent): void => {
    held.current.delete(event.pointerId);
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      if (held.current.size === 0) moved.current = false;
      held.current.set(event.pointerId, place(event));
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent) => {
      const last = held.current.get(event.pointerId);
      const here = place(event);
      if (!last) return painter.current?.hover(here.x, here.y);
      if (!moved.current && Math.hypot(here.x - last.x, here.y - last.y) < 4) return;
      moved.current = true;
      const other = [...held.current].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const span = (point: { x: number; y: number }): number => Math.hypot(point.x - other.x, point.y - other.y) || 1;
        painter.current?.zoom(span(here) / span(last), other.x, other.y);
      } else painter.current?.pan(here.x - last.x, here.y - last.y);
      held.current.set(event.pointerId, here);
    },
    onPointerUp: (event: PointerEvent) => {
      if (held.current.has(event.pointerId) && !moved.current) clicked(place(event).x, place(event).y, false);
      release(event);
    },
    onPointerCancel: release,
  };
}
