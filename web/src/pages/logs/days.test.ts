import { expect, it } from "vitest";
import type { LogLine } from "../../api/types";
import { newDays } from "./days";

it("a day is named where it begins, and again by no line without a date", () => {
  const lines = ["", "2026-11-20", "2026-11-20", "", "2026-11-20", "2026-11-21"].map((date) => ({ date }) as LogLine);
  expect(newDays(lines)).toEqual(["", "2026-11-20", "", "", "", "2026-11-21"]);
});
