// What a reader has done to a tree: which node is selected, what is folded away, what is searched for.

import { type Layout, layoutTree, ROW, type Showing, shownChildren } from "./layout";
import { find, placesIn, type Tree, type TreeNode } from "./model";

/** Trees with more nodes start without untried tactics. */
export const MANY = 40;
/** Trees with more rows start with what was little visited folded away: the least part of these that leaves so few. */
export const MOST_ROWS = 22;
const LITTLE = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4];

export interface TreeState extends Showing {
  selected: number;
  words: string;
  hits: ReadonlySet<number>;
  /** Whether the reader has chosen what is shown. */
  own: boolean;
}

export type Direction = "up" | "down" | "left" | "right" | "home";

export type TreeAction =
  | { type: "select"; index: number }
  | { type: "toggle"; index: number }
  | { type: "move"; direction: Direction; layout: Layout }
  | { type: "unfold" }
  | { type: "proof" }
  | { type: "untried" }
  | { type: "search"; words: string }
  | { type: "next hit"; back: boolean }
  /** The search went on: the tree was `from` before. */
  | { type: "grown"; from: Tree };

export function initialState(tree: Tree): TreeState {
  let folded = new Set<number>();
  const untried = tree.nodes.length <= MANY;
  for (const part of LITTLE) {
    if (layoutTree(tree, { folded, untried }).height <= MOST_ROWS * ROW) break;
    const least = part * tree.root.visits;
    folded = new Set(tree.nodes.filter((node) => !node.proof && node.parent && node.children.length && node.visits < least).map((node) => node.index));
  }
  return { selected: 0, folded, untried, words: "", hits: new Set(), own: false };
}

export function treeReducer(tree: Tree, state: TreeState, action: TreeAction): TreeState {
  switch (action.type) {
    case "select":
      return select(tree, state, action.index);
    case "toggle":
      return toggle(tree, state, action.index);
    case "move": {
      const target = neighbour(tree, state, action.direction, action.layout);
      return target ? select(tree, state, target.index) : state;
    }
    case "unfold":
      return { ...state, folded: new Set(), own: true };
    case "proof": {
      const side = tree.nodes.filter((node) => !node.proof && node.children.length);
      const folded = new Set(side.map((node) => node.index));
      return select(tree, { ...state, folded, untried: false, own: true }, tree.nodes[state.selected]?.proof ? state.selected : 0);
    }
    case "untried":
      return reveal(tree, { ...state, untried: !state.untried, own: true });
    case "search":
      return { ...state, words: action.words, hits: new Set(find(tree, action.words).map((node) => node.index)) };
    case "next hit": {
      const hits = [...state.hits].sort((a, b) => (action.back ? b - a : a - b));
      const next = hits.find((hit) => (action.back ? hit < state.selected : hit > state.selected)) ?? hits[0];
      return next === undefined ? state : select(tree, state, next);
    }
    case "grown":
      return grown(tree, state, action.from);
  }
}

/** The same node stays selected. What is shown follows the tree until the reader chooses it. */
function grown(tree: Tree, state: TreeState, from: Tree): TreeState {
  const places = placesIn(from, tree);
  const fresh = initialState(tree);
  const folded = new Set([...state.folded].map((index) => places[index]).filter((index) => index !== undefined));
  const hits = new Set(find(tree, state.words).map((node) => node.index));
  const shown = state.own ? { folded, untried: state.untried } : { folded: fresh.folded, untried: fresh.untried };
  return select(tree, { ...state, ...shown, hits }, places[state.selected] ?? 0);
}

function select(tree: Tree, state: TreeState, index: number): TreeState {
  const node = tree.nodes[index];
  if (!node) return state;
  const folded = new Set(state.folded);
  let untried = state.untried;
  for (let at: TreeNode = node; at.parent; at = at.parent) {
    folded.delete(at.parent.index);
    if (!untried && !shownChildren(at.parent, { folded, untried }).includes(at)) untried = true;
  }
  return { ...state, selected: index, folded: folded.size === state.folded.size ? state.folded : folded, untried };
}

/** Selects the nearest ancestor that is shown, where the selected node was hidden. */
function reveal(tree: Tree, state: TreeState): TreeState {
  let seen = tree.nodes[state.selected]!;
  for (let at = seen; at.parent; at = at.parent) {
    if (!shownChildren(at.parent, state).includes(at)) seen = at.parent;
  }
  return seen.index === state.selected ? state : { ...state, selected: seen.index };
}

function toggle(tree: Tree, state: TreeState, index: number): TreeState {
  const node = tree.nodes[index];
  if (!node?.children.length) return state;
  const chosen = { ...state, selected: index, own: true };
  const folded = new Set(state.folded);
  if (folded.delete(index)) {
    // Opening something that has nothing but untried tactics would otherwise show nothing.
    const untried = state.untried || shownChildren(node, { folded, untried: false }).length === 0;
    return { ...chosen, folded, untried };
  }
  if (shownChildren(node, state).length === 0) return { ...chosen, untried: true };
  folded.add(index);
  return { ...chosen, folded };
}

/** In a tree that grows downwards, down is what right is in one that grows to the right. */
const TURNED = { up: "left", down: "right", left: "up", right: "down" } as const;

function neighbour(tree: Tree, state: TreeState, direction: Direction, layout: Layout): TreeNode | null {
  const node = tree.nodes[state.selected];
  if (!node) return null;
  if (direction === "home") return tree.root;
  if (layout.down) direction = TURNED[direction];
  if (direction === "left") return node.parent;
  if (direction === "right") {
    const open = { folded: new Set<number>(), untried: state.untried };
    const children = shownChildren(node, open);
    return children[0] ?? null;
  }
  const sign = direction === "up" ? -1 : 1;
  const across = layout.down ? layout.x : layout.y;
  const here = across[node.index]!;
  let best: TreeNode | null = null;
  for (const other of layout.nodes) {
    const distance = (across[other.index]! - here) * sign;
    if (other.depth !== node.depth || distance <= 0) continue;
    if (!best || distance < (across[best.index]! - here) * sign) best = other;
  }
  return best;
}
