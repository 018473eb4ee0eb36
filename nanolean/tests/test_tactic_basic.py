"""Introducing, giving terms, restating: `intro exact refine have show change specialize revert rename_i sorry`."""

from nanolean.syntax import OmegaStx
from nanolean.tactics import core
from nanolean.tests.proving import goals, library, proves, refusal, status, targets

IMP = "(p q : Prop) : p → q → p"


def test_intro_names_hypotheses_in_order():
    assert goals(IMP, "intro hp hq") == ["p q : Prop\nhp : p\nhq : q\n⊢ p"]


def test_intro_without_a_name_is_inaccessible():
    assert goals(IMP, "intro") == ["p q : Prop\na✝ : p\n⊢ q → p"]
    assert goals("(P : Nat → Prop) : ∀ n, P n", "intro _") == ["P : Nat → Prop\nn✝ : Nat\n⊢ P n✝"]


def test_intro_unfolds_negation_and_inequality():
    assert goals("(p : Prop) (h : p) : ¬¬p", "intro hn") == ["p : Prop\nh : p\nhn : ¬p\n⊢ False"]
    assert targets("(a b : Nat) : a ≠ b", "intro h") == ["False"]


def test_intro_needs_a_binder():
    assert refusal("(a : Nat) : a = a", "intro h").startswith("Tactic `introN` failed: There are no additional binders")


def test_intros_takes_every_visible_binder():
    assert goals(IMP, "intros") == ["p q : Prop\na✝¹ : p\na✝ : q\n⊢ p"]
    assert goals(IMP, "intros x y") == ["p q : Prop\nx : p\ny : q\n⊢ p"]


def test_exact_closes_the_goal():
    assert proves(IMP, "exact fun hp _ => hp")


def test_exact_reports_a_type_mismatch():
    message = refusal("(p q : Prop) (hp : p) : q", "exact hp")
    assert message == "Type mismatch\n  hp\nhas type\n  p\nbut is expected to have type\n  q"


def test_exact_reports_an_unknown_name():
    assert refusal("(p : Prop) : p", "exact foo") == "Unknown identifier `foo`"


def test_exact_refuses_holes():
    assert refusal("(p : Prop) : p", "exact ?_").startswith("don't know how to synthesize")


def test_refine_turns_holes_into_goals():
    statement = "(p q : Prop) (hp : p) (hq : q) : p ∧ q"
    assert goals(statement, "refine ⟨hp, ?_⟩") == ["p q : Prop\nhp : p\nhq : q\n⊢ q"]
    context = "p q : Prop\nhp : p\nhq : q\n"
    assert goals(statement, "refine ⟨?_, ?_⟩") == [f"case refine_1\n{context}⊢ p", f"case refine_2\n{context}⊢ q"]
    assert goals(statement, "refine ⟨?a, ?b⟩") == [f"case a\n{context}⊢ p", f"case b\n{context}⊢ q"]
    assert proves(statement, "refine ⟨?_, ?_⟩", "exact hp", "exact hq")


def test_refine_refuses_unsolved_underscores():
    assert "don't know how to synthesize" in refusal("(p q : Prop) (h : p → q) : q", "refine h _")


def test_have_adds_a_hypothesis():
    statement = "(p q : Prop) (h : p ∧ q) : q"
    assert goals(statement, "have hq : q := h.2") == ["p q : Prop\nh : p ∧ q\nhq : q\n⊢ q"]
    assert goals(statement, "have := h.2") == ["p q : Prop\nh : p ∧ q\nthis : q\n⊢ q"]
    assert proves(statement, "have hq : q := by exact h.2", "exact hq")


def test_a_predicate_that_unification_finds_is_computed_in_types():
    # `Classical.choose_spec h : p (choose h)` for a predicate `p` that nobody wrote
    statement = "(f : Nat → Nat) (h : ∃ x, f x = 3) : f (Classical.choose h) = 3"
    context = "f : Nat → Nat\nh : ∃ x, f x = 3\n"
    goal = "⊢ f (Classical.choose h) = 3"
    spec = "Classical.choose_spec h"
    assert goals(statement, f"have k := {spec}") == [f"{context}k : f (Classical.choose h) = 3\n{goal}"]
    assert goals(statement, f"obtain k := {spec}") == [f"{context}k : f (Classical.choose h) = 3\n{goal}"]
    assert proves(statement, f"rw [{spec}]")
    assert proves(statement, f"simp [{spec}]")


def test_have_leaves_holes_after_the_main_goal():
    assert targets("(p q : Prop) (h : p → q) (hp : p) : q", "have h2 : p := ?_") == ["q", "p"]


def test_have_checks_its_type():
    assert refusal("(p q : Prop) (hp : p) : q", "have h : q := hp").startswith("Type mismatch")
    assert refusal("(p q : Prop) (hp : p) : q", "have h : q := by assumption").startswith("Tactic `assumption` failed")


def test_show_restates_the_goal():
    assert targets("(a b : Nat) : a + 0 = b", "show a = b") == ["a = b"]
    assert targets("(a b : Nat) : a + 0 = b", "show _ = b") == ["a + 0 = b"]


def test_show_selects_the_goal_that_fits():
    assert targets("(p q : Prop) : p ∧ q", "constructor", "show q") == ["q", "p"]


def test_show_refuses_other_statements():
    message = refusal("(a b : Nat) : a = b", "show b = a")
    assert message.startswith("Tactic `show` failed: pattern\n  b = a\nis not definitionally equal to target\n  a = b")


def test_change_restates_goal_or_hypothesis():
    assert targets("(a : Nat) : a + 0 = a", "change a = a") == ["a = a"]
    assert goals("(a b : Nat) (h : a + 0 = b) : a = b", "change a = b at h") == ["a b : Nat\nh : a = b\n⊢ a = b"]
    assert proves("(a b : Nat) (h : a + 0 = b) : a = b", "change a = b at h", "exact h")
    assert refusal("(a b : Nat) : a = b", "change b = a").startswith("'change' tactic failed, pattern\n  b = a")


def test_specialize_replaces_the_hypothesis_at_the_end():
    statement = "(P Q : Nat → Prop) (h : ∀ x, P x → Q x) (h2 : P 3) : Q 3"
    assert goals(statement, "specialize h 3 h2") == ["P Q : Nat → Prop\nh2 : P 3\nh : Q 3\n⊢ Q 3"]
    assert proves(statement, "specialize h 3 h2", "exact h")
    assert refusal(statement, "specialize Nat.add_comm 1").startswith("'specialize' requires a term of the form")


def test_revert_moves_dependents_too():
    statement = "(P : Nat → Prop) (n : Nat) (h : P n) : P n"
    assert goals(statement, "revert n") == ["P : Nat → Prop\n⊢ ∀ (n : Nat), P n → P n"]
    assert proves(statement, "revert n", "intro m hm", "exact hm")
    assert refusal(statement, "revert k") == "Unknown identifier `k`"


def test_rename_i_names_the_last_inaccessible_hypotheses():
    assert goals(IMP, "intro _ _", "rename_i hq") == ["p q : Prop\na✝ : p\nhq : q\n⊢ p"]
    assert refusal(IMP, "rename_i x") == "too many variable names provided"


def test_sorry_closes_the_goal_but_not_the_proof():
    assert goals("(p : Prop) : p", "sorry") == []
    assert status("(p : Prop) : p", "sorry") == "Incomplete: contains sorry"


def test_without_goals_every_tactic_is_refused():
    assert refusal("(p : Prop) (h : p) : p", "exact h", "exact h") == "No goals to be solved"


def test_unknown_finishers_are_named(monkeypatch):
    library()
    monkeypatch.delitem(core._REGISTRY, OmegaStx)
    assert refusal("(p : Prop) : p", "omega") == "tactic 'omega' is not available in NanoLean"


def test_have_numbers_its_goals_as_refine_does():
    statement = "(p q r : Prop) (h : p → q → r) : ¬r → False"
    assert [goal.split("\n")[0] for goal in goals(statement, "have hr : r := h ?_ ?_")] == [
        "case refine_3",
        "case refine_1",
        "case refine_2",
    ]
    assert goals("(p q : Prop) (h : p → q) : q", "have hq : q := h ?x")[0].startswith("p q : Prop")


def test_a_match_in_a_step_of_its_own_is_part_of_the_proof():
    statement = "(p q : Prop) : (p ∨ q → q ∨ p) ∧ (p ∨ q → q ∨ p)"
    step = "exact fun h => match h with | .inl hp => .inr hp | .inr hq => .inl hq"
    assert proves(statement, "constructor", step, step)
