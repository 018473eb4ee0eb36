import { expect, it } from "vitest";
import type { Overview, Searches } from "../../api/types";
import { problemsOf } from "./problems";

const calm = { live: true, servers: [], ranks: [], attempts: 100, errors: 0, lost_proofs: 0, last_loss: null, remote: null } as unknown as Overview;
const texts = (overview: Partial<Overview>, searches: Searches | null = null): string[] => problemsOf({ ...calm, ...overview }, searches).map((one) => one.text);

it("a run that is well has none", () => {
  expect(texts({})).toEqual([]);
});

it("names a sick server before what is less urgent", () => {
  const server = (address: string, state: string) => ({ address, state, actors: 1, errors: 0 });
  expect(texts({ errors: 30, servers: [server("a:1", "up"), server("b:1", "down")] })).toEqual([
    "1 Lean server of 2 out of reach: b:1.", "30% of the attempts ended in errors.",
  ]);
  expect(texts({ live: false, servers: [server("b:1", "down")] })).toEqual([]);
});

it("says when the network's tactics seldom apply, and when its value tells nothing", () => {
  const searches: Searches = {
    attempts: 120, total: 120, counts: { tactics_run: 100, rejected: 95 }, steps: [], told_apart: 0.5,
    values: { proven: { count: 60, mean: 4, by_value: {} }, unproven: { count: 60, mean: 4, by_value: {} } },
  };
  expect(texts({}, searches)).toEqual(["Lean refused 95% of the tactics: the network seldom says something that applies.", "The value of a theorem says nearly nothing of whether it was proved."]);
});
