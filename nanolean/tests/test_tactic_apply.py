"""`apply`, `constructor`, `left`, `right`, `exists`: new goals, their order and their tags."""

from nanolean.tests.proving import goals, proves, refusal, targets

AND = "(p q : Prop) (hp : p) (hq : q) : p ∧ q"
CONTEXT = "p q : Prop\nhp : p\nhq : q\n"


def test_apply_tags_goals_by_the_names_of_arguments():
    assert goals(AND, "apply And.intro") == [f"case left\n{CONTEXT}⊢ p", f"case right\n{CONTEXT}⊢ q"]


def test_a_single_argument_inherits_the_tag():
    statement = "(p q r : Prop) (h1 : p ∧ q) (h2 : q → r) : p ∧ r"
    context = "p q r : Prop\nh1 : p ∧ q\nh2 : q → r\n"
    assert goals(statement, "apply And.intro", "exact h1.left", "apply h2") == [f"case right\n{context}⊢ q"]
    assert proves(statement, "apply And.intro", "exact h1.left", "apply h2", "exact h1.right")


def test_apply_uses_as_few_arguments_as_possible():
    assert targets("(p q r : Prop) (h : p → q → r) : q → r", "apply h") == ["p"]
    assert proves("(p q r : Prop) (h : p → q → r) : p → q → r", "apply h")


def test_apply_unfolds_the_goal():
    assert targets("(a b : Nat) : a < b + 1", "apply Nat.succ_le_succ") == ["a ≤ b"]
    assert targets("(p : Prop) (h : p → False) : ¬p", "apply h") == []


def test_apply_solves_numbers_by_offsets():
    statement = "(P : Nat → Prop) (h : ∀ x, P x → P (x + 1)) : P 3"
    assert targets(statement, "apply h") == ["P 2"]


def test_independent_goals_come_before_those_they_mention():
    assert targets("(a b c : Nat) : a ≤ c", "apply Nat.le_trans") == ["a ≤ ?m", "?m ≤ c", "Nat"]
    assert proves("(a b c : Nat) (h : a ≤ b) (k : b ≤ c) : a ≤ c", "apply Nat.le_trans", "exact h", "exact k")


def test_apply_reports_conclusion_and_goal():
    assert refusal("(p q : Prop) (h : p) : q", "apply h") == (
        "Tactic `apply` failed: could not unify the type of `h`\n  p\nwith the goal\n  q\n\np q : Prop\nh : p\n⊢ q"
    )
    message = refusal("(p q : Prop) (h : p → p) : q", "apply h")
    assert message.startswith("Tactic `apply` failed: could not unify the conclusion of `h`\n  p\nwith the goal\n  q")
    assert "Note: The full type of `h` is\n  p → p" in message


def test_constructor_of_and_iff_exists():
    assert goals(AND, "constructor") == [f"case left\n{CONTEXT}⊢ p", f"case right\n{CONTEXT}⊢ q"]
    assert goals("(p q : Prop) : p ↔ q", "constructor") == [
        "case mp\np q : Prop\n⊢ p → q",
        "case mpr\np q : Prop\n⊢ q → p",
    ]
    assert goals("(P : Nat → Prop) : ∃ x, P x", "constructor") == [
        "case h\nP : Nat → Prop\n⊢ P ?w",
        "case w\nP : Nat → Prop\n⊢ Nat",
    ]


def test_solving_one_goal_assigns_the_other():
    assert proves("(P : Nat → Prop) (h : P 3) : ∃ x, P x", "constructor", "exact h")


def test_constructor_needs_an_inductive_goal():
    message = refusal("(p : Prop) : p", "constructor")
    assert message == "Tactic `constructor` failed: target is not an inductive datatype\n\np : Prop\n⊢ p"
    assert "no applicable constructors found" in refusal("(a b : Nat) : a = b", "constructor")


def test_left_and_right():
    statement = "(p q : Prop) (hq : q) : p ∨ q"
    assert goals(statement, "left") == ["case h\np q : Prop\nhq : q\n⊢ p"]
    assert proves(statement, "right", "exact hq")
    assert "exactly 2 constructors" in refusal(AND, "left")


def test_exists_gives_the_witness_and_tries_trivial():
    assert proves(": ∃ x, x + 3 = 5", "exists 2")
    assert targets("(P : Nat → Prop) : ∃ x, P x", "exists 2") == ["P 2"]
    assert proves("(P : Nat → Nat → Prop) (h : P 1 2) : ∃ x y, P x y", "exists 1, 2")
    assert refusal("(p : Prop) : p ∧ p", "exists 2").startswith("Application type mismatch")


def test_a_function_into_any_proposition_takes_all_its_arguments():
    assert targets("(p q : Prop) : ¬p → p → q", "apply absurd") == ["?a", "¬?a", "Prop"]
    assert targets("(p q : Prop) (h : p) : ¬p → q", "apply False.elim") == ["False"]
