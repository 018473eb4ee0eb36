// A search tree as nodes with children, made of the columns that the server sends.

import type { SearchTree } from "../api/types";
import { goalsOf, oneLine } from "../lean/highlight";

export type Kind = "or" | "and" | "closed";

export interface TreeNode {
  index: number;
  kind: Kind;
  parent: TreeNode | null;
  /** Tactics in the order of their worth: the proof, other solved ones, the most visited, the likeliest. */
  children: TreeNode[];
  depth: number;
  /** The edge that leads here; none at the root and below an AND node. */
  tactic: string | null;
  spellings: string[];
  state: string;
  prior: number;
  /** Its part of the prior mass of its siblings. */
  share: number | null;
  logprob: number;
  visits: number;
  /** Expected number of tactics still needed; unknown without visits. */
  toGo: number | null;
  expansions: number;
  solved: boolean;
  dead: boolean;
  finisher: boolean;
  /** Part of the proof: below a tactic's node the solved child that needs the fewest tactics, below a split all. */
  proof: boolean;
  /** Tactics that led nowhere from here. */
  refused: string[];
  /** The simulation that added it; 0 where the tree has no replay. */
  born: number;
  /** The simulation with which it was solved, Infinity if it is not; with which it was shown to be a dead end. */
  solvedAt: number;
  deadAt: number;
  /** At a moment of a replay: whether it was not there yet, whether it came with this simulation. */
  unborn: boolean;
  fresh: boolean;
}

export interface Tree {
  root: TreeNode;
  nodes: TreeNode[];
  /** The largest value there is: the end of the colour scale. */
  farthest: number;
  solved: boolean;
  /** How many simulations can be replayed; 0: none is known. */
  simulations: number;
  /** The node that each of them expanded, -1 for none, and what it backed up from there. */
  ends: number[];
  values: number[];
  /** At a moment of a replay: the nodes on the way of the simulation. */
  way: ReadonlySet<number> | null;
}

const KINDS: Record<string, Kind> = { o: "or", a: "and", c: "closed" };

/** The tree; parents stand before their children. */
export function buildTree(data: SearchTree): Tree {
  const nodes: TreeNode[] = [];
  const finishers = new Set(data.finisher);
  const dead = new Set(data.dead);
  const texts = (numbers: number[] | undefined): string[] => (numbers ?? []).map((n) => data.tactics[n] ?? "");
  for (let i = 0; i < data.kind.length; i++) {
    const parent = nodes[data.parent[i] ?? -1] ?? null;
    const visits = data.visits[i] ?? 0;
    const kind = KINDS[data.kind[i]!] ?? "or";
    const node: TreeNode = {
      index: i,
      kind,
      parent,
      children: [],
      depth: parent ? parent.depth + 1 : 0,
      tactic: data.tactics[data.tactic[i] ?? -1] ?? null,
      spellings: texts(data.spellings?.[i]),
      state: data.states[data.state[i] ?? -1] ?? "",
      prior: data.prior[i] ?? 0,
      share: null,
      logprob: data.logprob[i] ?? 0,
      visits,
      toGo: kind === "closed" ? 0 : visits ? Math.max(0, -(data.value_sum[i] ?? 0) / visits) : null,
      expansions: data.expansions[i] ?? 0,
      solved: data.solved[i] === "1",
      dead: dead.has(i),
      finisher: finishers.has(i),
      proof: false,
      refused: texts(data.refused?.[i]),
      born: data.born?.[i] ?? 0,
      solvedAt: Infinity,
      deadAt: 0,
      unborn: false,
      fresh: false,
    };
    nodes.push(node);
    parent?.children.push(node);
  }
  const root = nodes[0];
  if (!root) throw new Error("a search tree without nodes");
  const ends = data.born && data.values ? (data.ends ?? []) : [];
  setShares(nodes);
  setTimes(nodes, ends);
  markProof(root, nodes);
  for (const node of nodes) if (node.kind === "or") node.children.sort(byWorth);
  const farthest = nodes.reduce((most, node) => Math.max(most, node.toGo ?? 0), 5);
  return { root, nodes, farthest, solved: root.solved, simulations: ends.length, ends, values: data.values ?? [], way: null };
}

/** When nodes were solved: closed ones as they came, others with the first of their tactics or the last of their branches.
 *  A node is found dead by the last simulation that passes it. */
function setTimes(nodes: TreeNode[], ends: number[]): void {
  for (const node of [...nodes].reverse()) {
    const below = node.children.map((child) => child.solvedAt);
    if (node.solved) node.solvedAt = node.kind === "closed" ? node.born : node.kind === "and" ? Math.max(...below) : Math.min(...below);
  }
  ends.forEach((end, i) => {
    for (let node = nodes[end] ?? null; node; node = node.parent) node.deadAt = i + 1;
  });
}

function setShares(nodes: TreeNode[]): void {
  for (const node of nodes) {
    if (node.kind !== "or") continue;
    const mass = node.children.reduce((sum, child) => sum + child.prior, 0);
    if (mass > 0) for (const child of node.children) child.share = child.prior / mass;
  }
}

function markProof(root: TreeNode, nodes: TreeNode[]): void {
  const cost = new Map<TreeNode, number>();
  const best = new Map<TreeNode, TreeNode>();
  for (const node of [...nodes].reverse()) {
    if (!node.solved) continue;
    if (node.kind === "closed") cost.set(node, 0);
    else if (node.kind === "and") cost.set(node, Math.max(0, ...node.children.map((child) => cost.get(child) ?? 0)));
    else {
      let chosen: TreeNode | null = null;
      for (const child of node.children) {
        if (child.solved && (!chosen || (cost.get(child) ?? 0) < (cost.get(chosen) ?? 0))) chosen = child;
      }
      if (chosen) best.set(node, chosen);
      cost.set(node, 1 + (chosen ? (cost.get(chosen) ?? 0) : 0));
    }
  }
  const open = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    if (!node.solved) continue;
    node.proof = true;
    if (node.kind === "and") open.push(...node.children);
    const next = best.get(node);
    if (next) open.push(next);
  }
}

/** Where the nodes of a tree stand in the tree that it has grown into: children come after those that were there. */
export function placesIn(from: Tree, tree: Tree): (number | undefined)[] {
  const places = new Array<number | undefined>(from.nodes.length);
  places[0] = 0;
  for (const node of from.nodes) {
    const place = places[node.index];
    if (place === undefined) continue;
    const now = inOrder(tree.nodes[place]!);
    inOrder(node).forEach((child, i) => {
      const same = (other: TreeNode | undefined): boolean => other !== undefined && other.kind === child.kind && other.state === child.state;
      places[child.index] = (same(now[i]) ? now[i] : now.find(same))?.index; // of a large tree only a part is sent
    });
  }
  return places;
}

const inOrder = (node: TreeNode): TreeNode[] => [...node.children].sort((a, b) => a.index - b.index);

/** What stands on a node: the tactic that led here, or its place below a split. */
export function nameOf(node: TreeNode): string {
  if (node.tactic !== null) return oneLine(node.tactic);
  return node.parent ? `branch ${node.parent.children.indexOf(node) + 1}` : "the theorem";
}

/** What is to be proved at a node, in one line. */
export function goalOf(node: TreeNode): string {
  if (node.kind === "closed") return "nothing left to prove";
  if (node.kind === "and") return `all of ${node.children.length} branches`;
  return goalsOf(node.state);
}

export type Fate = "solved" | "dead" | "open" | "untried";

export function fateOf(node: TreeNode): Fate {
  if (node.solved) return "solved";
  if (node.dead) return "dead";
  return node.visits ? "open" : "untried";
}

export const FATE_WORD: Record<Fate, string> = {
  solved: "✓ solved",
  dead: "✗ dead end",
  open: "open",
  untried: "untried",
};

/** The nodes from below the root to this one. */
export function pathTo(node: TreeNode): TreeNode[] {
  const path: TreeNode[] = [];
  for (let at = node; at.parent; at = at.parent) path.unshift(at);
  return path;
}

/** The order of tactics: that of the proof, other solved ones, then the most visited, then the likeliest. */
function byWorth(a: TreeNode, b: TreeNode): number {
  const yes = (left: boolean, right: boolean): number => Number(right) - Number(left);
  return yes(a.proof, b.proof) || yes(a.solved, b.solved) || b.visits - a.visits || b.prior - a.prior || a.index - b.index;
}

const haystacks = new WeakMap<TreeNode, string>();

function haystack(node: TreeNode): string {
  let text = haystacks.get(node);
  if (text === undefined) {
    text = [node.tactic ?? "", node.state, ...node.spellings].join("\n").toLowerCase();
    haystacks.set(node, text);
  }
  return text;
}

/** The nodes in whose tactic or state the words stand, in the tree's order. */
export function find(tree: Tree, words: string): TreeNode[] {
  const needle = words.trim().toLowerCase();
  return needle ? tree.nodes.filter((node) => haystack(node).includes(needle)) : [];
}
