import { describe, expect, it } from "vitest";
import { present, sums } from "./tally";

const rank = (number: number, live: boolean) => ({ rank: number, live });

describe("the ranks that count", () => {
  it("are those that are live", () => {
    expect(present([rank(0, true), rank(1, false), rank(2, true)]).map((one) => one.rank)).toEqual([0, 2]);
  });
  it("are all of a run that is over", () => expect(present([rank(0, false), rank(1, false)])).toHaveLength(2));
});

it("numbers of ranks are added up by name", () => {
  expect(sums([{ model: 3, lean: 1 }, { model: 2, idle: 4 }])).toEqual({ model: 5, lean: 1, idle: 4 });
  expect(sums([])).toEqual({});
});
