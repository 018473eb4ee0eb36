// The part of the plane that is looked at: the tree's point (x, y) is drawn at (x * k + dx, y * k + dy).

import { HEIGHT, type Layout, WIDTH } from "./layout";

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
const MARGIN = 28;
const TOP = 90;

/** The view scaled by a factor, with the point under (x, y) staying there. */
export function zoomed(view: View, factor: number, x: number, y: number): View {
  const k = Math.min(MOST, Math.max(LEAST, view.k * factor));
  return { k, dx: x - ((x - view.dx) * k) / view.k, dy: y - ((y - view.dy) * k) / view.k };
}

/** A view of everything that is shown; `least` keeps it readable, and then the root is in sight. */
export function fitted(layout: Layout, size: Size, least = LEAST): View {
  const whole = Math.min((size.width - 2 * MARGIN) / (layout.width + 16), (size.height - 2 * MARGIN) / layout.height, 1.1);
  const k = Math.max(whole, least);
  const fits = layout.height * k <= size.height - 2 * MARGIN;
  return { k, dx: MARGIN, dy: fits ? Math.min((size.height - layout.height * k) / 2, TOP) : MARGIN - (layout.y[0] ?? 0) * k };
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
