import { expect, it } from "vitest";
import { checkFacts } from "./check";

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
