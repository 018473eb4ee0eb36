// A search seen again: the tree as it was after any of its simulations, from which node each ended in and what it backed up.

import type { Tree, TreeNode } from "./model";

/** The tree after so many simulations, with the statistics of that moment. Nodes keep their numbers and their order;
 *  those that came later are `unborn`. After the last simulation it is the tree itself, unless that one is to be
 *  `marked` too. */
export function treeAt(tree: Tree, simulation: number, marked = false): Tree {
  if (simulation >= tree.simulations && !(marked && tree.simulations)) return tree;
  const { visits, sums, expansions } = replay(tree, simulation);
  const nodes = tree.nodes.map((node): TreeNode => {
    const i = node.index;
    const solved = node.solvedAt <= simulation;
    return {
      ...node,
      unborn: node.born > simulation,
      fresh: simulation > 0 && node.born === simulation,
      visits: visits[i]!,
      toGo: node.kind === "closed" ? 0 : visits[i] ? Math.max(0, -sums[i]! / visits[i]!) : null,
      expansions: node.kind === "and" ? 1 : expansions[i]!,
      solved,
      dead: node.dead && node.deadAt <= simulation,
      proof: node.proof && solved,
      refused: expansions[i] ? node.refused : [],
    };
  });
  for (const node of nodes) {
    node.parent = node.parent && nodes[node.parent.index]!;
    node.children = node.children.map((child) => nodes[child.index]!);
  }
  const way = new Set<number>();
  for (let at = nodeOf(tree, simulation); at; at = at.parent) way.add(at.index);
  const root = nodes[0]!;
  return { ...tree, root, nodes, solved: root.solved, way };
}

/** Where a simulation ended; null before the first one, and where it went to a disproof. */
export function nodeOf(tree: Tree, simulation: number): TreeNode | null {
  return tree.nodes[tree.ends[simulation - 1] ?? -1] ?? null;
}

/** Backs up the first simulations anew: as the search did (`back_up` in nanoproof/search/search.py). */
export function replay(tree: Tree, simulations: number): { visits: number[]; sums: number[]; expansions: number[] } {
  const visits: number[] = new Array(tree.nodes.length).fill(0);
  const sums = [...visits];
  const expansions = [...visits];
  for (let simulation = 1; simulation <= simulations; simulation++) {
    const leaf = nodeOf(tree, simulation);
    if (!leaf) continue;
    let value = tree.values[simulation - 1]!;
    expansions[leaf.index]!++;
    for (let node: TreeNode | null = leaf; node; node = node.parent) {
      if (node.kind === "and") value = worstOf(node, simulation, visits, sums);
      else if (node !== leaf) value -= 1;
      visits[node.index]!++;
      sums[node.index]! += value;
    }
  }
  return { visits, sums, expansions };
}

/** Below a split: the smallest value of the visited branches that are open; of all visited ones if none is open. */
function worstOf(node: TreeNode, simulation: number, visits: number[], sums: number[]): number {
  const visited = node.children.filter((child) => visits[child.index]! > 0);
  const open = visited.filter((child) => child.solvedAt > simulation);
  return Math.min(...(open.length ? open : visited).map((child) => sums[child.index]! / visits[child.index]!));
}

/** What a simulation did, in words. */
export function whatHappened(tree: Tree, simulation: number): string {
  if (simulation === 0) return "before the first simulation";
  const leaf = nodeOf(tree, simulation);
  if (!leaf) return "tried to disprove a state";
  const added = tree.nodes.filter((node) => node.born === simulation && node.tactic !== null).length;
  const solved = tree.nodes.filter((node) => node.solvedAt === simulation && node.kind !== "closed").length;
  const words = [added === 0 ? "nothing new" : added === 1 ? "1 new tactic" : `${added} new tactics`];
  if (tree.root.solvedAt === simulation) words.push("the theorem is proved");
  else if (solved) words.push(solved === 1 ? "1 goal solved" : `${solved} goals solved`);
  return words.join(", ");
}
