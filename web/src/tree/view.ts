// The part of the plane that is looked at: the tree's point (x, y) is drawn at (x * k + dx, y * k + dy).

import { HEIGHT, type Layout, NARROW, WIDTH } from "./layout";

export interface View {
  dx: number;
  dy: number;
  k: number;
}

export interface Size {
  width: number;
  height: number;
}

export const LEAST = 0.02;
export const MOST = 2.5;
/** From this scale on boxes have at least one line of text. */
export const ONE_LINE = 0.24;
/** On the screen, letters of a single line are that high if they fit. */
const ONE_LINE_PIXELS = 11;
const MARGIN = 28;

/** The view scaled by a factor, with the point under (x, y) staying there. */
export function zoomed(view: View, factor: number, x: number, y: number): View {
  const k = Math.min(MOST, Math.max(LEAST, view.k * factor));
  return { k, dx: x - ((x - view.dx) * k) / view.k, dy: y - ((y - view.dy) * k) / view.k };
}

/** The scale at which everything that is shown is in sight. */
export function wholeScale(layout: Layout, size: Size): number {
  const margin = marginOf(size);
  return Math.min((size.width - 2 * margin) / (layout.width + 16), (size.height - 2 * margin) / layout.height, 1.1);
}

/** A view of everything that is shown; `least` keeps it readable, and then it begins at the root. */
export function fitted(layout: Layout, size: Size, least = LEAST): View {
  const margin = marginOf(size);
  const k = Math.max(wholeScale(layout, size), least);
  const place = (room: number, length: number, root: number): number =>
    length * k <= room - 2 * margin ? (room - length * k) / 2 : margin - root * k;
  return {
    k,
    dx: layout.down ? margin : place(size.width, layout.width, layout.x[0] ?? 0),
    dy: layout.down ? margin : place(size.height, layout.height, layout.y[0] ?? 0),
  };
}

/** All of it is shown at once from this scale on. */
const AT_ONCE = 0.5;
/** Else it is shown at one of these: with both lines of text if it is low enough for that, else with one. */
const READABLE = [0.62, 0.72] as const;

const PHONE = 0.85;

/** The first view: all of it if it can be read like that, else from its root on. */
export function opened(layout: Layout, size: Size): View {
  const whole = wholeScale(layout, size);
  if (whole >= AT_ONCE) return fitted(layout, size);
  const low = layout.height * READABLE[1] <= size.height - 2 * marginOf(size);
  return fitted(layout, size, layout.down ? PHONE : low ? READABLE[1] : READABLE[0]);
}

const marginOf = (size: Size): number => (size.width < NARROW ? 12 : MARGIN);

/** The letters' height of a single line in the tree's own units: as on the screen, while the box is high enough. */
export function oneLineSize(k: number): number {
  return Math.min(ONE_LINE_PIXELS / k, 0.82 * HEIGHT);
}

/** Whether two views look the same. */
export function sameView(a: View, b: View): boolean {
  return Math.abs(a.k / b.k - 1) < 0.002 && Math.abs(a.dx - b.dx) < 1 && Math.abs(a.dy - b.dy) < 1;
}

/** The view moved just so far that the box of a node is in sight. */
export function inSight(view: View, x: number, y: number, size: Size): View {
  return {
    k: view.k,
    dx: view.dx + shift(view.dx + x * view.k, WIDTH * view.k, size.width),
    dy: view.dy + shift(view.dy + y * view.k, HEIGHT * view.k, size.height),
  };
}

function shift(start: number, length: number, room: number): number {
  if (start < MARGIN || length > room - 2 * MARGIN) return MARGIN - start;
  return Math.min(0, room - MARGIN - (start + length));
}
