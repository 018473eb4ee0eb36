import { describe, expect, it } from "vitest";
import { editorHref, fileName, leanFile } from "./share";

const SOURCE = "theorem t : 1 + 1 = 2 := by\n  rfl";

describe("a proof outside of the page", () => {
  it("is sent whole to the web editor, with Mathlib where its data set needs that", () => {
    const code = (dataset: string): string => decodeURIComponent(editorHref(SOURCE, dataset).split("#code=")[1]!);
    expect(code("nanolean-hard")).toBe(`${SOURCE}\n`);
    expect(code("minif2f")).toBe(`import Mathlib\n\n${SOURCE}\n`);
    expect(editorHref("a & b # c + d", "x")).toBe("https://live.lean-lang.org/#code=a%20%26%20b%20%23%20c%20%2B%20d%0A");
  });

  it("is a file that Lean reads: imports first, then notes as comments of one line", () => {
    expect(leanFile(SOURCE, "minif2f", ["t of minif2f", "axioms:\nnone"])).toBe(`import Mathlib\n\n-- t of minif2f\n-- axioms: none\n\n${SOURCE}\n`);
    expect(leanFile(SOURCE, "nanolean", ["t"])).toMatch(/^-- t\n-- A certificate .*ndjson\n\ntheorem t/);
    expect(fileName("a/b c")).toBe("a_b_c.lean");
  });
});
