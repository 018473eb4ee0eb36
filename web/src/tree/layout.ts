// Where the nodes of a tree stand: depth to the right, one row per leaf, a parent in line with its first child, so that the
// proof (or else the line that was visited most) runs along the top.

import type { Tree, TreeNode } from "./model";

export const WIDTH = 236;
export const HEIGHT = 44;
export const ROW = 54;
export const COLUMN = 292;

/** What is shown of a tree. */
export interface Showing {
  folded: ReadonlySet<number>;
  /** Whether tactics that the search never followed are shown. */
  untried: boolean;
}

export interface Layout {
  /** The nodes that are shown, parents before children. */
  nodes: TreeNode[];
  /** By the node's index; NaN for hidden nodes. */
  x: Float64Array;
  y: Float64Array;
  /** How many children of a node are hidden. */
  hidden: Uint32Array;
  width: number;
  height: number;
}

/** The children of a node that are shown. */
export function shownChildren(node: TreeNode, showing: Showing): TreeNode[] {
  if (showing.folded.has(node.index)) return [];
  if (showing.untried || node.kind === "and") return node.children;
  return node.children.filter((child) => child.visits > 0 || child.solved);
}

export function layoutTree(tree: Tree, showing: Showing): Layout {
  const count = tree.nodes.length;
  const x = new Float64Array(count).fill(NaN);
  const y = new Float64Array(count).fill(NaN);
  const hidden = new Uint32Array(count);
  const nodes: TreeNode[] = [];
  const below = new Map<TreeNode, TreeNode[]>();
  const stack = [tree.root];
  let rows = 0;
  let deepest = 0;
  for (let node = stack.pop(); node; node = stack.pop()) {
    const children = shownChildren(node, showing);
    nodes.push(node);
    hidden[node.index] = node.children.length - children.length;
    x[node.index] = node.depth * COLUMN;
    deepest = Math.max(deepest, node.depth);
    if (children.length === 0) y[node.index] = ROW * rows++;
    else {
      below.set(node, children);
      for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]!);
    }
  }
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i]!;
    const children = below.get(node);
    if (children) y[node.index] = y[children[0]!.index]!;
  }
  return { nodes, x, y, hidden, width: deepest * COLUMN + WIDTH, height: (rows - 1) * ROW + HEIGHT };
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
