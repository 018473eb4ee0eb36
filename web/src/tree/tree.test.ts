import { describe, expect, it } from "vitest";
import type { SearchTree } from "../api/types";
import { COLUMN, COLUMN_DOWN, handleAt, HEIGHT, layoutTree, nodeAt, ROW, ROW_DOWN, WIDTH } from "./layout";
import { buildTree, fateOf, find, goalOf, nameOf, pathTo, placesIn } from "./model";
import { initialState, treeReducer, type TreeAction, type TreeState } from "./state";
import { fitted, inSight, oneLineSize, zoomed } from "./view";

type Row = [kind: string, parent: number, tactic: string | null, visits: number, solved?: boolean];

function treeOf(rows: Row[], more: Partial<SearchTree> = {}): SearchTree {
  const tactics = [...new Set(rows.map((row) => row[2]).filter((text) => text !== null))];
  return {
    kind: rows.map((row) => row[0]).join(""),
    solved: rows.map((row) => (row[4] ? "1" : "0")).join(""),
    parent: rows.map((row) => row[1]),
    tactic: rows.map((row) => (row[2] === null ? -1 : tactics.indexOf(row[2]))),
    prior: rows.map((_, i) => (i % 3) + 1),
    logprob: rows.map(() => -1),
    visits: rows.map((row) => row[3]),
    value_sum: rows.map((row) => -3 * row[3]),
    expansions: rows.map(() => 1),
    state: rows.map((row, i) => (row[0] === "o" ? i : -1)),
    finisher: [],
    dead: [],
    states: rows.map((_, i) => `h : goal ${i}\n⊢ P ${i}`),
    tactics,
    ...more,
  };
}

// The theorem; `simp` closes nothing, `constructor` splits in two, both closed: by `rfl`, and the long or the short way.
const SPLIT: Row[] = [
  ["o", -1, null, 20, true],
  ["o", 0, "simp", 5],
  ["a", 0, "constructor", 14, true],
  ["o", 2, null, 6, true],
  ["o", 2, null, 7, true],
  ["c", 3, "rfl", 0, true],
  ["o", 4, "intro x", 3, true],
  ["c", 4, "omega", 0, true],
  ["c", 6, "exact h", 0, true],
  ["o", 1, "ring", 0],
];

const tree = buildTree(treeOf(SPLIT, { dead: [1], refused: { "0": [0] } }));
const act = (state: TreeState, action: TreeAction): TreeState => treeReducer(tree, state, action);
const walk = (state: TreeState, ...directions: ("up" | "down" | "left" | "right" | "home")[]): number =>
  directions.reduce((at, direction) => act(at, { type: "move", direction, layout: layoutTree(tree, at) }), state).selected;

describe("buildTree", () => {
  it("marks the shortest proof: one child of a tactic's node, all branches of a split", () => {
    expect(tree.nodes.filter((node) => node.proof).map((node) => node.index)).toEqual([0, 2, 3, 4, 5, 7]);
  });
  it("turns values into tactics to go, none where nothing was visited, zero where nothing is left", () => {
    expect([tree.nodes[1]!.toGo, tree.nodes[9]!.toGo, tree.nodes[5]!.toGo]).toEqual([3, null, 0]);
  });
  it("gives a child its share of the prior mass", () => {
    expect(tree.nodes[1]!.share).toBeCloseTo(2 / 5);
    expect(tree.nodes[3]!.share).toBeNull();
  });
  it("tells solved, dead, open and untried nodes apart", () => {
    expect([2, 1, 9].map((i) => fateOf(tree.nodes[i]!))).toEqual(["solved", "dead", "untried"]);
  });
  it("names nodes by their tactic, their branch, or the theorem", () => {
    expect([0, 4, 5].map((i) => nameOf(tree.nodes[i]!))).toEqual(["the theorem", "branch 2", "rfl"]);
    expect([0, 2, 5].map((i) => goalOf(tree.nodes[i]!))).toEqual(["⊢ P 0", "all of 2 branches", "nothing left to prove"]);
  });
  it("lists the path from the root and what was refused", () => {
    expect(pathTo(tree.nodes[7]!).map((node) => node.index)).toEqual([2, 4, 7]);
    expect(tree.root.refused).toEqual(["simp"]);
  });
  it("puts the proof's tactic first, and leaves branches in their order", () => {
    expect(tree.root.children.map((node) => node.index)).toEqual([2, 1]);
    expect(tree.nodes[4]!.children.map((node) => node.index)).toEqual([7, 6]);
    expect(tree.nodes[2]!.children.map((node) => node.index)).toEqual([3, 4]);
  });
  it("finds words in tactics and in states, whatever their case", () => {
    expect(find(tree, "INTRO").map((node) => node.index)).toEqual([6]);
    expect(find(tree, "p 4").map((node) => node.index)).toEqual([4]);
    expect(find(tree, "  ")).toEqual([]);
  });
  it("reads a very deep tree", () => {
    const deep = buildTree(treeOf(Array.from({ length: 6000 }, (_, i): Row => ["o", i - 1, i ? "t" : null, 1])));
    expect(layoutTree(deep, { folded: new Set(), untried: true }).nodes).toHaveLength(6000);
  });
});

describe("layoutTree", () => {
  const all = layoutTree(tree, { folded: new Set(), untried: true });
  it("puts nodes by depth, the proof in the first row, and fills columns without gaps", () => {
    expect(all.x[5]).toBe(3 * COLUMN);
    expect([0, 2, 3, 5].map((i) => all.y[i])).toEqual([0, 0, 0, 0]);
    expect([1, 4, 9].map((i) => all.y[i]! / ROW)).toEqual([1, 1, 2]);
  });
  it("puts no node above its parent, and the children of later nodes below those of earlier ones", () => {
    for (const node of all.nodes) expect(all.y[node.index]).toBeGreaterThanOrEqual(node.parent ? all.y[node.parent.index]! : 0);
    for (const depth of [1, 2, 3, 4]) {
      const column = all.nodes.filter((node) => node.depth === depth).sort((a, b) => all.y[a.index]! - all.y[b.index]!);
      const parents = column.map((node) => all.y[node.parent!.index]!);
      expect(parents).toEqual([...parents].sort((a, b) => a - b));
    }
  });
  it("lets no two boxes meet", () => {
    const places = all.nodes.map((node) => [all.x[node.index]!, all.y[node.index]!] as const);
    for (const [i, a] of places.entries()) {
      for (const b of places.slice(i + 1)) expect(Math.abs(a[0] - b[0]) >= COLUMN || Math.abs(a[1] - b[1]) >= HEIGHT).toBe(true);
    }
  });
  it("hides what is folded or untried, and counts it", () => {
    const some = layoutTree(tree, { folded: new Set([2]), untried: false });
    expect(some.nodes.map((node) => node.index)).toEqual([0, 2, 1]);
    expect([some.hidden[0], some.hidden[1], some.hidden[2]]).toEqual([0, 1, 2]);
  });
  it("finds the box and the handle under a point", () => {
    expect(nodeAt(all, all.x[4]! + 5, all.y[4]! + 5)?.index).toBe(4);
    expect(nodeAt(all, all.x[4]! - 5, all.y[4]!)).toBeNull();
    expect(handleAt(all, all.x[4]! + WIDTH + 6, all.y[4]! + HEIGHT / 2)?.index).toBe(4);
    expect(handleAt(all, all.x[5]! + WIDTH, all.y[5]! + HEIGHT / 2)).toBeNull();
  });
});

describe("a tree that grows downwards", () => {
  const down = layoutTree(tree, { folded: new Set(), untried: true }, true);
  it("has the proof along the left edge, a row for each depth, and no two boxes that meet", () => {
    expect([0, 2, 3, 5].map((i) => [down.x[i], down.y[i]! / ROW_DOWN])).toEqual([[0, 0], [0, 1], [0, 2], [0, 3]]);
    expect(down.x[1]).toBe(COLUMN_DOWN);
    const places = down.nodes.map((node) => [down.x[node.index]!, down.y[node.index]!] as const);
    for (const [i, a] of places.entries()) {
      for (const b of places.slice(i + 1)) expect(Math.abs(a[0] - b[0]) >= WIDTH || Math.abs(a[1] - b[1]) >= HEIGHT).toBe(true);
    }
  });
  it("is moved through as it is seen", () => {
    const move = (selected: number, direction: "up" | "down" | "left" | "right"): number =>
      treeReducer(tree, { ...initialState(tree), selected }, { type: "move", direction, layout: down }).selected;
    expect(move(0, "down")).toBe(2);
    expect(move(2, "right")).toBe(1);
    expect(move(1, "left")).toBe(2);
    expect(move(2, "up")).toBe(0);
  });
  it("fits a phone from the root on, at a scale at which its texts can be read", () => {
    const view = fitted(down, { width: 360, height: 400 }, 0.78);
    expect(view.k).toBeGreaterThanOrEqual(0.78);
    expect(view.dx + WIDTH * view.k).toBeLessThanOrEqual(360);
    expect(view.dy).toBe(12);
  });
});

it("letters of a single line are 11 pixels high on the screen, and never higher than their box", () => {
  expect(oneLineSize(0.5)).toBe(22);
  expect(oneLineSize(0.25)).toBeCloseTo(36.08);
  expect(0.25 * oneLineSize(0.25)).toBeGreaterThan(9);
});

describe("treeReducer", () => {
  const start = initialState(tree);
  it("goes to the parent, along the proof, and to neighbours of the same depth", () => {
    expect(walk(start, "right")).toBe(2);
    expect(walk(start, "right", "down")).toBe(1);
    expect(walk(start, "right", "down", "up")).toBe(2);
    expect(walk(start, "right", "right", "down")).toBe(4);
    expect(walk(start, "right", "right", "down", "left")).toBe(2);
    expect(walk(start, "right", "right", "home")).toBe(0);
    expect(walk(start, "left")).toBe(0);
  });
  it("folds and unfolds", () => {
    const folded = act(start, { type: "toggle", index: 2 });
    expect(layoutTree(tree, folded).nodes).toHaveLength(4);
    expect(act(folded, { type: "toggle", index: 2 }).folded.size).toBe(0);
    expect(act(start, { type: "toggle", index: 5 })).toBe(start);
  });
  it("selects what stays in sight when the selected node is folded away", () => {
    const deep = act(start, { type: "select", index: 7 });
    expect(act(deep, { type: "toggle", index: 2 }).selected).toBe(2);
  });
  it("opens everything above a node that is selected, and shows it if it was never tried", () => {
    const hidden = { ...act(start, { type: "toggle", index: 0 }), untried: false };
    const shown = act(hidden, { type: "select", index: 9 });
    expect(layoutTree(tree, shown).nodes.map((node) => node.index)).toContain(9);
  });
  it("shows the proof alone", () => {
    const proof = act(start, { type: "proof" });
    expect(layoutTree(tree, proof).nodes.map((node) => node.index)).toEqual([0, 2, 3, 5, 4, 7, 6, 1]);
  });
  it("goes from hit to hit and round", () => {
    const searched = act(start, { type: "search", words: "goal" });
    const next = (state: TreeState, back = false): TreeState => act(state, { type: "next hit", back });
    expect(next(searched).selected).toBe(1);
    expect(next({ ...searched, selected: 9 }).selected).toBe(0);
    expect(next(searched, true).selected).toBe(9);
    expect(next(start)).toBe(start);
  });
  it("starts a large tree with its little visited parts folded, the proof open", () => {
    const rows: Row[] = [...SPLIT];
    rows[0] = ["o", -1, null, 5000, true];
    for (let i = 0; i < 600; i++) rows.push(["o", i < 300 ? 1 : 9, `t${i}`, 1]);
    const large = buildTree(treeOf(rows));
    const state = initialState(large);
    const shown = layoutTree(large, state).nodes;
    expect(shown.length).toBeLessThan(20);
    expect(shown.filter((node) => node.proof)).toHaveLength(6);
  });
});

describe("views", () => {
  const size = { width: 800, height: 600 };
  it("zoom around the pointer", () => {
    const view = { dx: 10, dy: 20, k: 0.5 };
    const nearer = zoomed(view, 2, 100, 200);
    expect(nearer.k).toBe(1);
    expect((100 - nearer.dx) / nearer.k).toBeCloseTo((100 - view.dx) / view.k);
    expect(zoomed(view, 1e9, 0, 0).k).toBeLessThan(5);
  });
  it("fit everything, or stay readable with the root in sight", () => {
    const layout = layoutTree(tree, initialState(tree));
    const whole = fitted(layout, size);
    expect(whole.dx + layout.width * whole.k).toBeLessThanOrEqual(size.width);
    const near = fitted({ ...layout, height: 1e6 }, size, 0.6);
    expect(near.k).toBe(0.6);
    expect(near.dy + layout.y[0]! * near.k).toBeGreaterThan(0);
    expect(near.dy + layout.y[0]! * near.k).toBeLessThan(size.height);
  });
  it("move just so far that a node is in sight", () => {
    const view = { dx: 0, dy: 0, k: 1 };
    expect(inSight(view, 100, 100, size)).toEqual(view);
    const moved = inSight(view, 2000, -500, size);
    expect(2000 + moved.dx + WIDTH).toBeLessThanOrEqual(size.width);
    expect(-500 + moved.dy).toBeGreaterThanOrEqual(0);
  });
});

describe("a tree that grows", () => {
  // A tactic more at the theorem, below it a goal; one below `simp`, which moves all numbers behind it.
  const before = buildTree(treeOf([["o", -1, null, 4], ["o", 0, "simp", 2], ["o", 1, "ring", 1], ["o", 0, "intro x", 1]],
    { state: [0, 1, 2, 3], states: ["⊢ A", "⊢ B", "⊢ C", "⊢ D"] }));
  const after = buildTree(treeOf([["o", -1, null, 7], ["o", 0, "simp", 3], ["o", 1, "ring", 1], ["o", 1, "omega", 1], ["o", 0, "intro x", 3], ["c", 4, "rfl", 0, true], ["o", 0, "cases h", 0]],
    { state: [0, 1, 2, 4, 3, -1, 5], states: ["⊢ A", "⊢ B", "⊢ C", "⊢ D", "⊢ E", "⊢ F"] }));
  const grow = (state: TreeState): TreeState => treeReducer(after, state, { type: "grown", from: before });

  it("keeps its nodes, whatever their numbers are now", () => expect(placesIn(before, after)).toEqual([0, 1, 2, 4]));

  it("keeps what is selected, folded and found", () => {
    const reader = (state: TreeState, action: TreeAction): TreeState => treeReducer(before, state, action);
    const folded = reader(reader(initialState(before), { type: "toggle", index: 1 }), { type: "select", index: 3 });
    const now = grow(reader(folded, { type: "search", words: "⊢ D" }));
    expect([now.selected, [...now.folded], [...now.hits], now.own]).toEqual([4, [1], [4], true]);
  });

  it("is shown as a new one would be until the reader chooses", () => {
    expect(grow(initialState(before))).toEqual(initialState(after));
  });
});
