// Where the nodes of a tree stand: a column for each depth, filled from the top without gaps. A node is never above its
// parent, and edges do not cross; the proof (or else the line that was visited most) runs along the top. In a narrow
// window a row takes the place of each column: the proof runs down the left edge, with each text at its full width.

import type { Tree, TreeNode } from "./model";

export const WIDTH = 236;
export const HEIGHT = 44;
export const ROW = 54;
export const COLUMN = 292;
/** The same in a tree that grows downwards. */
export const ROW_DOWN = 74;
export const COLUMN_DOWN = 252;
/** Narrower windows show trees that grow downwards. */
export const NARROW = 620;

/** What is shown of a tree. */
export interface Showing {
  folded: ReadonlySet<number>;
  /** Whether tactics that the search never followed are shown. */
  untried: boolean;
}

export interface Layout {
  /** The nodes that are shown, parents before children. */
  nodes: TreeNode[];
  /** All nodes of the tree, by index. */
  own: TreeNode[];
  /** By the node's index; NaN for hidden nodes. */
  x: Float64Array;
  y: Float64Array;
  /** How many children of a node are hidden. */
  hidden: Uint32Array;
  width: number;
  height: number;
  /** Whether the tree grows downwards, and not to the right. */
  down: boolean;
}

/** The children of a node that are shown. */
export function shownChildren(node: TreeNode, showing: Showing): TreeNode[] {
  if (showing.folded.has(node.index)) return [];
  if (showing.untried || node.kind === "and") return node.children;
  return node.children.filter((child) => child.visits > 0 || child.solved);
}

export function layoutTree(tree: Tree, showing: Showing, down = false): Layout {
  const count = tree.nodes.length;
  const x = new Float64Array(count).fill(NaN);
  const y = new Float64Array(count).fill(NaN);
  const hidden = new Uint32Array(count);
  const nodes: TreeNode[] = [];
  const free: number[] = [];
  const rowOf = new Float64Array(count);
  const stack = [tree.root];
  for (let node = stack.pop(); node; node = stack.pop()) {
    const children = shownChildren(node, showing);
    nodes.push(node);
    hidden[node.index] = node.children.length - children.length;
    const above = node.parent ? rowOf[node.parent.index]! : 0;
    const row = Math.max(above, free[node.depth] ?? 0);
    free[node.depth] = row + 1;
    rowOf[node.index] = row;
    x[node.index] = down ? row * COLUMN_DOWN : node.depth * COLUMN;
    y[node.index] = down ? node.depth * ROW_DOWN : row * ROW;
    for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]!);
  }
  const rows = free.reduce((most, next) => Math.max(most, next), 1);
  const [wide, high] = down ? [(rows - 1) * COLUMN_DOWN, (free.length - 1) * ROW_DOWN] : [(free.length - 1) * COLUMN, (rows - 1) * ROW];
  return { nodes, own: tree.nodes, x, y, hidden, width: wide + WIDTH, height: high + HEIGHT, down };
}

/** The node whose box holds the point. */
export function nodeAt(layout: Layout, px: number, py: number): TreeNode | null {
  for (const node of layout.nodes) {
    const dx = px - layout.x[node.index]!;
    const dy = py - layout.y[node.index]!;
    if (dx >= 0 && dx <= WIDTH && dy >= 0 && dy <= HEIGHT) return node;
  }
  return null;
}

/** The node whose fold handle, right of its box, holds the point. */
export function handleAt(layout: Layout, px: number, py: number): TreeNode | null {
  for (const node of layout.nodes) {
    if (!node.children.length) continue;
    const dx = px - layout.x[node.index]! - WIDTH;
    const dy = py - layout.y[node.index]! - HEIGHT / 2;
    if (dx * dx + dy * dy <= 13 * 13) return node;
  }
  return null;
}
