import { expect, it } from "vitest";
import type { LogLine, Logs } from "../../api/types";
import { withNewer } from "./pages";

const page = (previous: string | null, count: number): Logs => ({ items: Array<LogLine>(count).fill({} as LogLine), next: "", previous });

it("a newer page is the last one, and none is kept that has no lines", () => {
  const [first, second] = [page(null, 3), page("0:9", 2)];
  expect(withNewer(withNewer([first], second, 100), page("0:12", 0), 100)).toEqual([first, second]);
  expect(withNewer([], page(null, 0), 100)).toHaveLength(1);
});

it("the oldest pages go when there are lines enough without them", () => {
  const pages = [page(null, 500), page("0:1", 500), page("0:2", 4)];
  expect(withNewer(pages, page("0:3", 4), 600)).toHaveLength(4);
  expect(withNewer(pages, page("0:3", 100), 600)[0]!.previous).toBe("0:1");
  expect(withNewer(pages, page("0:3", 900), 600).map((one) => one.previous)).toEqual(["0:3"]);
});
