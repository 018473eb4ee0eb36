import { describe, expect, it } from "vitest";
import type { SearchTree } from "../api/types";
import { buildTree } from "./model";
import { nodeOf, replay, treeAt, whatHappened } from "./replay";

// A search of 12 simulations as `tree_to_json` wrote it, with a split in three: branches 16 and 18 were closed first.
const TREE = JSON.parse(`{"kind":"ooooooaoooocoaooocoooocoooo","solved":"111110111111000011110010000","parent":[-1,0,1,2,3,4,4,6,7,8,9,10,8,7,13,13,6,16,6,18,19,19,19,19,3,2,0],"tactic":[-1,0,1,2,3,4,5,-1,6,4,7,8,9,8,-1,-1,-1,8,-1,10,10,3,6,5,11,0,3],"prior":[1.0,0.886,1.986,0.947,1.956,0.904,0.935,0.333,0.94,1.757,0.897,0.917,0.95,0.87,0.5,0.5,0.333,1.892,0.333,0.906,0.861,0.912,0.944,0.967,0.933,0.882,0.882],"logprob":[0,-24.24,-1.36,-10.85,-4.46,-20.09,-13.54,0,-12.27,-25.92,-21.77,-17.37,-10.18,-27.9,0,0,0,-11.07,0,-19.69,-29.88,-18.37,-11.48,-6.8,-13.88,-25.22,-25.14],"visits":[12,11,10,9,8,0,7,4,3,2,1,0,0,0,0,0,1,0,2,1,0,0,0,0,0,0,0],"value_sum":[-185.3319,-171.4987,-141.8151,-119.9287,-109.2595,0,-87.3506,-42.6998,-26.7521,-20.7212,-7.8234,0,0,0,0,0,-19.9036,0,-14.7359,-10.2017,0,0,0,0,0,0,0],"expansions":[1,1,1,1,1,0,1,1,1,1,1,0,0,1,0,0,1,0,1,1,0,0,0,0,0,0,0],"state":[0,1,2,3,4,5,-1,6,5,7,8,-1,9,-1,10,9,8,-1,10,11,7,9,-1,8,11,4,2],"finisher":[],"dead":[],"spellings":{},"refused":{"0":[7,5],"1":[8,0,7,9],"2":[7,11,3,10],"3":[7,8],"4":[7,8,3],"7":[4,10,5,2],"8":[10,0,8],"9":[10,9,5,6],"10":[11,10],"16":[2],"18":[4,0,5,3],"19":[8]},"born":[0,1,2,3,4,5,5,5,6,9,11,12,9,6,6,6,5,7,5,8,10,10,10,10,4,3,1],"ends":[0,1,2,3,4,7,16,18,8,19,9,10],"values":[-2.8332,-19.6836,-12.8864,-2.6692,-14.909,-12.9477,-19.9036,-3.5341,-4.0309,-10.2017,-11.8978,-7.8234],"states":["⊢ S0","⊢ S10","⊢ S9","⊢ S6","⊢ S7","⊢ S5","⊢ S2","⊢ S3","⊢ S8","⊢ S11","⊢ S1","⊢ S4"],"tactics":["tt0","t0","tt3","t3","ttt1","ttt0","t1","ttt3","t2","tt1","tt2","ttt2"]}`) as SearchTree;

const tree = buildTree(TREE);

describe("a replay", () => {
  it("comes to the visits, values and expansions that the search had", () => {
    const { visits, sums, expansions } = replay(tree, tree.simulations);
    expect(visits).toEqual(TREE.visits);
    expect(expansions).toEqual(TREE.expansions.map((count, i) => (TREE.kind[i] === "a" ? 0 : count)));
    sums.forEach((sum, i) => expect(sum).toBeCloseTo(TREE.value_sum[i]!, 2));
  });

  it("shows at each moment what was there, and no more", () => {
    for (let moment = 0; moment < tree.simulations; moment++) {
      const now = treeAt(tree, moment);
      expect(now.nodes.filter((node) => !node.unborn).length).toBe(TREE.born!.filter((born) => born <= moment).length);
      expect(now.root.visits).toBe(moment);
      expect(now.nodes.every((node) => node.parent === null || now.nodes[node.parent.index] === node.parent)).toBe(true);
      expect(now.solved).toBe(false);
    }
    expect(treeAt(tree, tree.simulations)).toBe(tree);
  });

  it("marks the newest simulation of a search that goes on", () => {
    const now = treeAt(tree, tree.simulations, true);
    expect([...now.way!]).toEqual([10, 9, 8, 7, 6, 4, 3, 2, 1, 0]);
    expect(now.nodes.filter((node) => node.fresh).map((node) => node.index)).toEqual([11]);
    expect(now.nodes.map((node) => node.visits)).toEqual(TREE.visits);
  });

  it("knows when a node was solved: branches of a split one by one, the split with the last of them", () => {
    expect([16, 18, 7, 6, 0].map((index) => tree.nodes[index]!.solvedAt)).toEqual([7, 10, 12, 12, 12]);
    const now = treeAt(tree, 7);
    expect(now.nodes[16]!.solved).toBe(true);
    expect(now.nodes[18]!.solved).toBe(false);
    // The split is worth what its worst open branch is: first 7 (−12.9477), then 16 (−19.9036), which is closed at once.
    expect(now.nodes[6]!.toGo).toBeCloseTo((2 * 12.9477) / 2, 3);
    expect([...now.way!]).toEqual([16, 6, 4, 3, 2, 1, 0]);
  });

  it("says what a simulation did", () => {
    expect(whatHappened(tree, 0)).toBe("before the first simulation");
    expect(whatHappened(tree, 5)).toBe("2 new tactics");
    expect(whatHappened(tree, 7)).toBe("1 new tactic, 1 goal solved");
    expect(whatHappened(tree, 12)).toBe("1 new tactic, the theorem is proved");
    expect(nodeOf(tree, 0)).toBe(null);
  });

  it("is not there for trees of earlier versions", () => {
    const { born, ends, values, ...old } = TREE;
    expect(born && ends && values).toBeTruthy();
    expect(buildTree(old).simulations).toBe(0);
    expect(treeAt(buildTree(old), 0).root.visits).toBe(12);
  });
});
