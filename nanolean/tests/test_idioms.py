"""What people write every day around proofs: `open Classical`, local attributes, options, `intro |`, `rfl` patterns."""

from nanolean.commands.runner import run_text
from nanolean.tests.each import each
from nanolean.tests.proving import goals, library, proves, refusal, targets, with_commands

CASES = "theorem t (p : Prop) : (if p then 1 else 2) ≤ 2 := by\n  split <;> decide\n"
UNDECIDED = "failed to synthesize instance of type class\n  Decidable p"
OTHER = CASES.replace("theorem t ", "theorem u ")
CHOICE = "if h : p then .inl h else .inr h"
TWICE = "def twice (n : Nat) : Nat := n + n\ntheorem twice_eq (n : Nat) : twice n = n + n := rfl\n"
SHOWN = "example (n : Nat) : twice n = n + n := by simp\n"


def errors(text: str) -> list[str]:
    return [message.text for message in run_text(library(), text).messages if message.severity == "error"]


@each(
    ("text", "expected"),
    [
        (CASES, [UNDECIDED]),
        (f"open Classical in\n{CASES}", []),
        (f"open Classical in\n{CASES}{OTHER}", [UNDECIDED]),
        (f"open scoped Classical in\n{CASES}", []),
        (f"section\nopen Classical\n{CASES}end\n{OTHER}", [UNDECIDED]),
        (f"namespace Classical\n{CASES}end Classical\n{OTHER}", [UNDECIDED]),
        (f"section\nattribute [local instance 10] Classical.propDecidable\n{CASES}end\n{OTHER}", [UNDECIDED]),
        # The usual instances come first: comparisons still compute.
        ("open Classical in\nexample : (if 1 < 2 then 1 else 2) = 1 := by decide", []),
        ("open Classical in\nexample : (if 1 < 2 then 1 else 2) = 1 := rfl", []),
        ("open Classical in\nnoncomputable def f (p : Nat → Prop) (n : Nat) : Nat := if p n then 1 else 0\n"
         "example (p : Nat → Prop) (n : Nat) (h : p n) : f p n = 1 := by simp [f, h]", []),
        ("example (p : Nat → Prop) : ∃ f : Nat → Nat, ∀ n, p n → f n = 1 := by\n  classical\n"
         "  refine ⟨fun n => if p n then 1 else 0, ?_⟩\n  intro n h\n  simp [h]", []),
        ("example (p : Prop) : p ∨ ¬p := by\n  constructor; classical", [None]),
        ("example (p : Prop) : p ∨ ¬p := by classical exact " + CHOICE, []),
        ("example (p : Prop) : p ∨ ¬p := by\n  have h : True := by\n    classical\n    trivial\n"
         "  exact " + CHOICE, [UNDECIDED]),
        # It takes lines and not what comes behind a semicolon, where its scope has ended.
        ("example (p : Prop) : p ∨ ¬p := by classical; exact " + CHOICE, [UNDECIDED]),
        ("attribute [instance] Nat.decLe", ["type classes are not supported: `Nat.decLe` cannot be an instance"]),
    ],
)  # fmt: skip
def test_every_proposition_is_decidable_where_classical_is_open(text: str, expected: list[str | None]) -> None:
    assert [given if wanted else wanted for given, wanted in zip(errors(text), expected, strict=True)] == expected


def test_axioms_tell_of_a_classical_instance() -> None:
    messages = run_text(library(), f"open Classical in\n{CASES}#print axioms t").messages
    assert "Classical.choice" in messages[-1].text
    # With an ordinary instance there is no such axiom.
    messages = run_text(library(), f"open Classical in\n{CASES.replace('if p', 'if 3 < 4')}#print axioms t").messages
    assert "Classical.choice" not in messages[-1].text


NO_PROGRESS = "`simp` made no progress"


@each(
    ("text", "expected"),
    [
        (f"section\nattribute [local simp] twice\n{SHOWN}end\n{SHOWN}", [NO_PROGRESS]),
        (f"section\nattribute [local simp] twice_eq\n{SHOWN}end\n{SHOWN}", [NO_PROGRESS]),
        (f"attribute [local simp] twice in\n{SHOWN}{SHOWN}", [NO_PROGRESS]),
        # Not local: `in` opens a scope, and what is given to a constant for good stays.
        (f"attribute [simp] twice_eq in\n{SHOWN}{SHOWN}", []),
        (f"@[simp] theorem own (n : Nat) : twice n = n + n := rfl\n{SHOWN}"
         f"section\nattribute [-simp] own\n{SHOWN}end\n{SHOWN}attribute [-simp] own in\n{SHOWN}{SHOWN}",
         [NO_PROGRESS] * 2),
        (f"section\n@[local simp] theorem own (n : Nat) : twice n = n + n := rfl\n{SHOWN}end\n{SHOWN}", [NO_PROGRESS]),
        ("attribute [-simp] twice", ["`twice` does not have the `[simp]` attribute"]),
        ("attribute [-irreducible] twice", ["attribute cannot be erased"]),
        ("attribute [local irreducible] twice", ["`local` of `irreducible` is not supported"]),
    ],
)  # fmt: skip
def test_attributes_hold_until_their_scope_ends(text: str, expected: list[str]) -> None:
    assert errors(TWICE + text) == expected


FIX = "(f : Nat → Nat) (h : ∀ n, 2 ≤ n → f n = n) (a : Nat) (ha : 5 ≤ a)"


@each(
    ("statement", "tactic"),
    [
        (": ∀ n, n < 5 → n * n < 20", "decide +kernel"),
        ("(n m : Nat) (h : n < 5) (k : m < 3) : n * n < 20", "decide +revert"),
        ("(b c : Bool) (h : (b && c) = true) : b = true", "decide +revert -kernel"),
        # A condition may speak of what a binder around it binds.
        (f"{FIX} : f a = a", "simp (disch := omega) only [h]"),
        ("(f : Nat → Nat) (h : ∀ n, 2 ≤ n → f n = n) : (fun n => f (n + 2)) = fun n => n + 2",
         "simp (disch := omega) only [h]"),
    ],
)  # fmt: skip
def test_options_of_tactics(statement: str, tactic: str) -> None:
    assert proves(statement, tactic)


@each(
    ("tactic", "message"),
    [
        ("simp (disch := assumption) only [h]", NO_PROGRESS),
        ("simp (disch := skip) only [h]", NO_PROGRESS),
        ("decide +native", "the option `native` of `decide` is not supported"),
        ("simp +arith", "the option `arith` of `simp` is not supported"),
        ("simp_all +zetaDelta", "the option `zetaDelta` of `simp_all` is not supported"),
        ("exacts [h]", "`exacts` is one of Mathlib, which NanoLean lacks"),
    ],
)
def test_what_options_do_not_do(tactic: str, message: str) -> None:
    assert message in refusal(f"{FIX} : f a = a", tactic)


SUM = "(∃ k, b = a + k) → a ≤ b"


@each(
    ("statement", "tactic"),
    [
        ("(p q : Prop) : p ∨ q → q ∨ p", "intro\n| .inl h => exact Or.inr h\n| .inr h => exact Or.inl h"),
        ("(p q : Prop) : p ∨ q → q ∨ p", "intro | .inl h => exact Or.inr h\n      | .inr h => exact Or.inl h"),
        ("(p q : Prop) : p ∨ q → p → q ∨ p", "intro\n  | .inl h, _ => exact Or.inr h\n  | .inr h, _ => exact Or.inl h"),
        (f"(a b : Nat) : {SUM}", "intro | ⟨k, rfl⟩ => exact Nat.le_add_right a k"),
        (f"(a b : Nat) : {SUM}", "(intro ⟨k, rfl⟩; exact Nat.le_add_right a k)"),
        (f"(a b : Nat) : {SUM}", "(intro h; have ⟨k, rfl⟩ := h; exact Nat.le_add_right a k)"),
        (f"(a b : Nat) : {SUM}", "(intro h; match h with | ⟨k, rfl⟩ => exact Nat.le_add_right a k)"),
        (f"(a b : Nat) : {SUM}", "exact fun ⟨k, rfl⟩ => Nat.le_add_right a k"),
        ("(a b c : Nat) (h : a = b) (k : b = c) : a = c", "exact match h, k with | rfl, rfl => rfl"),
        ("(P : Nat → Type) (a b : Nat) (h : a = b) (x : P a) (Q : ∀ n, P n → Prop) (k : ∀ y, Q b y) : Q a x",
         "exact match h with | rfl => k x"),
    ],
)  # fmt: skip
def test_alternatives_behind_intro_and_rfl_patterns(statement: str, tactic: str) -> None:
    assert proves(statement, tactic)


def test_theorems_by_equations_take_rfl() -> None:
    assert errors(f"theorem t (a b : Nat) : {SUM}\n  | ⟨k, rfl⟩ => Nat.le_add_right a k") == []
    assert errors("example (a b c : Nat) : a = b → b = c → a = c\n  | rfl, rfl => rfl") == []


def test_the_goal_behind_a_rfl_pattern_has_no_equation() -> None:
    assert goals(f"(a b : Nat) : {SUM}", "intro ⟨k, rfl⟩") == ["a k : Nat\n⊢ a ≤ a + k"]
    assert "supported for equations only" in refusal("(p : Prop) (h : p) : p", "exact match h with | rfl => h")
    assert "Missing cases" in refusal("(p q : Prop) : p ∨ q → q ∨ p", "intro | .inl h => exact Or.inr h")


@each(
    ("statement", "tactic"),
    [
        ("(p : Nat → Prop) (h : ∃ n, p n) : p h.choose", "exact h.choose_spec"),
        ("(p : Nat → Nat → Prop) (h : ∀ x, ∃ n, p x n) : ∃ f : Nat → Nat, ∀ x, p x (f x)",
         "exact ⟨fun x => (h x).choose, fun x => (h x).choose_spec⟩"),
        ("(α : Type) (h : Nonempty α) (p : Prop) (k : α → p) : p", "exact h.elim k"),
        (": Function.Injective fun n : Nat => n + 1", "(intro a b h; exact Nat.succ.inj h)"),
        (": Function.Surjective fun n : Nat => n - 1", "(intro b; exact ⟨b + 1, rfl⟩)"),
        ("(o : Option Nat) : o.map id = o", "simp"),
        (": Nonempty (Decidable (1 < 2))", "(refine ⟨?_⟩; infer_instance)"),
        (": Nonempty (Decidable (1 < 2))", "exact ⟨inferInstance⟩"),
    ],
)  # fmt: skip
def test_names_of_the_core_that_proofs_use(statement: str, tactic: str) -> None:
    assert proves(statement, tactic)


def test_case_prime_may_leave_goals_open() -> None:
    assert targets("(p q : Prop) : p ∧ q", "constructor", "case' right => skip") == ["q", "p"]


def test_an_instance_that_a_hypothesis_gives_comes_before_the_classical_one() -> None:
    base = with_commands("open Classical")
    assert goals("(p : Prop) [d : Decidable p] : decide p = true", base=base) == [
        "p : Prop\nd : Decidable p\n⊢ decide p = true"
    ]
