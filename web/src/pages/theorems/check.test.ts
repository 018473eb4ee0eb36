import { describe, expect, it } from "vitest";
import { checkFacts, whyNot } from "./check";

it("a check says whether the proof was accepted, why not, and what it rests on", () => {
  const check = { environment: "fresh", accepted: true, reason: "", axioms: ["propext", "Quot.sound"], rungs: {}, statement: "" };
  expect(checkFacts(check)).toEqual(["check: accepted", "axioms: propext, Quot.sound"]);
  expect(checkFacts({ ...check, axioms: [] })).toEqual(["check: accepted", "axioms: none"]);
  expect(checkFacts({ ...check, accepted: false, reason: "a sorry", axioms: [] })).toEqual(["check: refused, a sorry"]);
  expect(checkFacts({ ...check, accepted: false, axioms: ["sorryAx"] })).toEqual(["check: refused", "axioms: sorryAx"]);
  const lost = { ...check, accepted: false, reason: "no axioms are reported", lost: "ProtocolError" };
  expect(checkFacts(lost)).toEqual(["found proof lost: ProtocolError, no axioms are reported"]);
  expect([checkFacts(null), checkFacts({})]).toEqual([[], []]);
});

describe("why an attempt has no proof", () => {
  const failed = { outcome: "unproven", stop_reason: "simulations", simulations: 12, budget: 12, counts: { tactics_run: 30, rejected: 27, timeouts: 1, nodes: 3 } } as const;

  it("is said in sentences", () => {
    expect(whyNot(failed)).toEqual([
      "The search made all of its 12 simulations without a proof: a larger budget, or better tactics, may find one.",
      "Of 30 tactics that were tried, 27 were refused by Lean, 1 ran out of time; the tree has 3 nodes.",
    ]);
    expect(whyNot({ ...failed, stop_reason: "hopeless", counts: {} })).toEqual([expect.stringMatching(/gave up after 12 simulations/)]);
    expect(whyNot({ ...failed, stop_reason: "?", counts: { tactics_run: 2 } })).toEqual(["Of 2 tactics that were tried, all could be applied."]);
  });

  it("is not said of a proof or an error", () => {
    expect(whyNot({ ...failed, outcome: "proven" })).toEqual([]);
    expect(whyNot({ ...failed, outcome: "error" })).toEqual([]);
  });
});
