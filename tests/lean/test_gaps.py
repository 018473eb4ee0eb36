"""A `sorry` inside of a proof: is it a tactic or a term, and what does the text look like with a proof in its place?"""

from nanolean.tests.each import each
from nanoproof.lean.source import is_tactic, parse_declaration, rename_theorem, splice

TWO = "intro h\nexact h"
TACTICS = [
    (
        "theorem t : p := by\n  have h : q := by sorry\n  exact h",
        "  have h : q := by \n    intro h\n    exact h\n",
    ),
    ("theorem t : p := by\n  have h : q := by\n    sorry\n  exact h", "    intro h\n    exact h\n  exact h"),
    ("theorem t : p ∧ q := by\n  constructor\n  · sorry\n  · rfl", "  · intro h\n    exact h\n  · rfl"),
    (
        "theorem t : p := by\n  induction n with\n  | zero => sorry\n  | succ n ih => rfl",
        "  | zero => \n    intro h\n    exact h\n",
    ),
    ("theorem t : p := by\n  match n with\n  | 0 => sorry\n  | n + 1 => rfl", "  | 0 => \n    intro h\n    exact h\n"),
    ("theorem t : p := by\n  constructor <;> sorry", "constructor <;> (intro h\n                   exact h)"),
    ("theorem t : p := by\n  simp\n  sorry", "  simp\n  intro h\n  exact h"),
    ("theorem t : p := by\n  constructor\n  all_goals sorry", "  all_goals intro h\n            exact h"),
    ("theorem t : p := by\n  constructor\n  { sorry }\n  · rfl", "  { intro h\n    exact h }\n  · rfl"),
    ("theorem t : p := by\n  case a => sorry", "case a => \n    intro h\n    exact h"),
    ("theorem t : p := by\n  first | rfl | sorry", "  first | rfl | (intro h\n                 exact h)"),
    ("theorem t : p := by\n  if a then sorry else rfl", "  if a then (intro h\n             exact h) else rfl"),
    (
        "theorem t : p := by\n  cases n with | a => sorry | b => rfl",
        "a => (intro h\n                       exact h) | b",
    ),
]
TERMS = [
    ("theorem t : p := ⟨sorry, rfl⟩", "theorem t : p := ⟨(by\n  intro h\n  exact h), rfl⟩"),
    ("theorem t : p := by\n  exact foo sorry", "  exact foo (by\n    intro h\n    exact h)"),
    ("theorem t : p := by\n  have h : q := sorry\n  exact h", "have h : q := by\n    intro h\n    exact h\n  exact h"),
    ("theorem t : p := fun x => sorry", "fun x => by\n  intro h\n  exact h"),
    ("theorem t : p := by\n  exact fun x =>\n    sorry", "exact fun x =>\n    by\n      intro h\n      exact h"),
    ("theorem t : p :=\n  match n with\n  | 0 => sorry\n  | n + 1 => rfl", "  | 0 => by\n"),
    ("theorem t : p :=\n  have h : q :=\n    sorry\n  foo h", "    by\n      intro h\n      exact h\n  foo h"),
]


@each(("source", "expected"), [*TACTICS, *TERMS])
def test_a_proof_takes_the_place_of_a_sorry_inside_of_a_proof(source: str, expected: str) -> None:
    assert expected in splice(source, TWO)


@each(
    "text",
    [
        "by { sorry",
        "by\n  constructor\n  · (sorry",
        "by\n  · { sorry",
        "by\n  . sorry",
        "by\n  first\n  | rfl\n  | sorry",
        "by\n  first\n    | rfl\n    | (sorry",
        "by\n  if h : a then rfl else if b then rfl else sorry",
        "by\n  if h : a then\n    sorry",
        "by\n  if h : a then\n    simp\n  else\n    simp\n    sorry",
        "by\n  intro x; sorry",
        "by\n  · simp\n    sorry",
        "by\n  exact foo\n    a\n  sorry",
        "by\n  match n with\n  | 0 =>\n    match m with\n    | 0 => sorry",
        "by\n  cases n with | zero => rfl | succ n => sorry",
        "foo n\ndecreasing_by sorry",
    ],
)
def test_a_tactic_is_expected(text: str) -> None:
    text = f"theorem s : p := by\n  rfl\n\ntheorem t : p := {text}"
    assert is_tactic(text, text.rindex("sorry"))


@each(
    "text",
    [
        "theorem t : p := (sorry",
        "theorem t : p := if a then sorry",
        "theorem t : p := if a then by rfl else sorry",
        "theorem t : p := by\n  exact if a then sorry",
        "theorem t : p := by\n  exact foo\n    sorry",
        "theorem t : p := by\n  exact foo\n    (sorry",
        "theorem t : p := by\n  exact ⟨rfl,\n  sorry",
        "theorem t : p := by\n  induction n with\n  | zero => exact match m with\n    | 0 => sorry",
        "def f : Nat → Nat\n  | 0 => sorry",
        "def f (n : Nat) : Nat :=\n  match n with\n  | 0 => sorry",
        "protected def f (n : Nat) : Nat :=\n  foo\n  sorry",
        "@[simp] abbrev f (n : Nat) : Nat := match n with\n  | 0 => sorry",
        "instance : Inhabited Nat := Inhabited.mk <|\n  sorry",
        "noncomputable def f : Nat :=\n  foo; sorry",
    ],
)
def test_a_term_is_expected_whatever_the_command_before_was(text: str) -> None:
    text = f"theorem s : p := by\n  rfl\n\n{text}"
    assert not is_tactic(text, text.rindex("sorry"))


def test_a_proof_of_one_line_stays_on_the_line() -> None:
    assert splice("theorem t : p := ⟨sorry, rfl⟩", "simp") == "theorem t : p := ⟨(by simp), rfl⟩"
    assert splice("theorem t : p := by\n  exact foo sorry", "simp") == "theorem t : p := by\n  exact foo (by simp)"


def test_the_sorry_of_a_proof_is_told_from_one_inside() -> None:
    inside = "theorem t : p := by\n  have h : q := by sorry\n  exact h"
    assert not parse_declaration(inside, whole=False).whole and parse_declaration("theorem t : p := by sorry").whole
    assert rename_theorem(inside, "u") == "theorem u : p := by\n  have h : q := by sorry\n  exact h"
