import { describe, expect, it } from "vitest";
import { goalsOf, highlight, highlightState, type TokenKind } from "./highlight";

const SOURCE = `import Mathlib
/-- A doc comment /- nested -/ still one. -/
theorem Nat.add_foo' (n : ℕ) (h : n ≠ 0) : ∃ m, n = m + 1 := by
  obtain ⟨m, rfl⟩ := Nat.exists_eq_succ_of_ne_zero h -- why
  exact ⟨m, by norm_num [«odd name».bar, h.2, "a -- string"]⟩
`;

const kindsOf = (source: string, text: string): TokenKind[] =>
  highlight(source)
    .filter((token) => token.text === text)
    .map((token) => token.kind);

describe("highlight", () => {
  it("loses nothing", () => {
    const texts = [SOURCE, "", "/- never closed", '"never closed', "𝒜 ⟨·⟩ λx, Σ i ∈ s", "x₁' a.1.2 3.14 0xff\r\n\t"];
    for (const text of texts) {
      const together = highlight(text).map((token) => token.text);
      expect(together.join("")).toBe(text);
    }
  });
  it("tells commands, names, keywords, tactics and sorts apart", () => {
    expect(kindsOf(SOURCE, "theorem")).toEqual(["command"]);
    expect(kindsOf(SOURCE, "Nat.add_foo'")).toEqual(["name"]);
    expect(kindsOf(SOURCE, "by")).toEqual(["keyword", "keyword"]);
    expect(kindsOf(SOURCE, "exact")).toEqual(["tactic"]);
    expect(kindsOf("(p : Prop)", "Prop")).toEqual(["sort"]);
    expect(kindsOf("  sorry", "sorry")).toEqual(["sorry"]);
  });
  it("does not take a tactic's name inside a longer name for one", () => {
    expect(highlight("foo.exact").map((token) => token.kind)).toEqual(["plain"]);
    expect(kindsOf("exact' h", "exact")).toEqual([]);
  });
  it("nests block comments, and ends line comments with their line", () => {
    expect(kindsOf(SOURCE, "/-- A doc comment /- nested -/ still one. -/")).toEqual(["comment"]);
    expect(kindsOf(SOURCE, "-- why")).toEqual(["comment"]);
  });
  it("sees no comment in a string", () => {
    expect(kindsOf(SOURCE, '"a -- string"')).toEqual(["string"]);
  });
  it("reads λ and Σ as signs, not as letters of a name", () => {
    expect(kindsOf("λx", "λ")).toEqual(["operator"]);
  });
  it("gives an example no name", () => {
    expect(kindsOf("example (a : ℕ) : a = a", "a")).toEqual([]);
  });
  it("is quick on a long text without any end of comment", () => {
    const text = "/- ".repeat(20_000);
    expect(highlight(text)).toEqual([{ kind: "comment", text }]);
  });
});

const STATE = "case h.left\nx y : ℝ\nh₁ : x = 3 ∧\n  y = 4\n⊢ x * y = 12\n\ncase h.right\n⊢ 0 < y";

describe("highlightState", () => {
  it("loses nothing and marks cases, hypotheses and goals", () => {
    const tokens = highlightState(STATE);
    expect(tokens.map((token) => token.text).join("")).toBe(STATE);
    const of = (kind: TokenKind) => tokens.filter((token) => token.kind === kind).map((token) => token.text.trim());
    expect(of("label")).toEqual(["case h.left", "case h.right"]);
    expect(of("hypothesis")).toEqual(["x y", "h₁"]);
    expect(of("goal")).toEqual(["⊢", "⊢"]);
  });
});

describe("goalsOf", () => {
  it("leaves the hypotheses away", () => {
    expect(goalsOf(STATE)).toBe("⊢ x * y = 12   ⊢ 0 < y");
  });
  it("shows a text that is no goal as it is", () => {
    expect(goalsOf("no goal\nhere")).toBe("no goal here");
  });
});
