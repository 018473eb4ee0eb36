import { describe, expect, it } from "vitest";
import { href, parseRoute } from "./router";

describe("addresses", () => {
  it("come back as they were written", () => {
    const address = href(`theorem/${encodeURIComponent("a/b ⊢")}`, { dataset: "lean & co", id: "x=1?", page: 2, q: "", gone: null });
    const route = parseRoute(address);
    expect(route.page).toBe("theorem");
    expect(route.parts).toEqual(["a/b ⊢"]);
    expect(Object.fromEntries(route.query)).toEqual({ dataset: "lean & co", id: "x=1?", page: "2" });
  });

  it("that nobody wrote are read without harm", () => {
    expect(parseRoute("").page).toBe("");
    expect(parseRoute("#//%E0%A4%A/x").page).toBe("%E0%A4%A");
    expect(parseRoute("#/logs?").query.size).toBe(0);
  });
});
