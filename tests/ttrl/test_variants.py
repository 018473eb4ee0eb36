"""Variants of theorems: statements read from text, the rules, what search trees leave open, and each of them once."""

import pytest

from nanolean.tests.each import each
from nanoproof.data.nanolean import statement_key, statement_variants
from nanoproof.lean.types import Branch, Goal, Hypothesis, ProofState, SourceError, Theorem
from nanoproof.search.node import Kind, Node, and_node, or_node
from nanoproof.ttrl.statements import goal_statement, parse_statement, split, substitute
from nanoproof.ttrl.variants import (
    LEMMA,
    OPEN_GOAL,
    SEVERAL_CHANGES,
    WITH_LEMMA,
    VariantMaker,
    open_in_trees,
    text_variants,
)


def theorem(statement: str) -> str:
    return f"theorem foo {statement} := by sorry"


def made(statement: str, rule: str) -> list[str]:
    """What a rule makes of the text of a statement."""
    return [one.text for name, one in text_variants(parse_statement(theorem(statement))) if name == rule]


@each(
    ("statement", "text"),
    [
        ("(a b : Nat) : a = b → b = a", "(a b : Nat) (h : a = b) : b = a"),
        (": ∀ n : ℕ, 0 < n → ∃ k, n = k + 1", "(n : ℕ) (h : 0 < n) : ∃ k, n = k + 1"),
        (": ∀ (n : Nat) {p : Prop}, (p ∧ p → n = n)", "(n : Nat) {p : Prop} (h : p ∧ p) : n = n"),
        ("{α : Type*} [Group α] (x : α) : x = x", "{α : Type*} [Group α] (x : α) : x = x"),
        ("x (y : Nat) : ∀ z < 3, z < y", "(x) (y : Nat) : ∀ z < 3, z < y"),
        ("(f : Nat → Nat) : (∀ n, f n = n) → f 0 = 0", "(f : Nat → Nat) (h : ∀ n, f n = n) : f 0 = 0"),
    ],
)
def test_a_statement_is_its_binders_and_its_claim(statement: str, text: str) -> None:
    assert parse_statement(theorem(statement)).text == text


@each(
    ("formula", "parts"),
    [
        ("a = b ∧ c < d", ("∧", "a = b", "c < d")),
        ("p ∨ q ∧ r ↔ s", ("↔", "p ∨ q ∧ r", "s")),
        ("p ∧ q ∧ r", ("∧", "p", "q ∧ r")),
        ("(a = b ∧ c)", None),
        ("∃ x, p x ∧ q x", None),
        ("p ∧ ∃ x, q x ∨ r", ("∧", "p", "∃ x, q x ∨ r")),
        ("¬a = b", None),
        ("¬p ∨ q", ("∨", "¬p", "q")),
        ("a <= b", ("≤", "a", "b")),
    ],
)
def test_a_formula_is_split_where_it_is_loosest(formula: str, parts: tuple[str, str, str] | None) -> None:
    assert split(formula) == parts


def test_only_whole_local_names_are_substituted() -> None:
    assert substitute("n + m.n + n' + n.succ = ?n + f n", {"n": "(k + 1)"}) == (
        "(k + 1) + m.n + n' + (k + 1).succ = ?n + f (k + 1)"
    )


@each(
    ("statement", "rule", "variant"),
    [
        ("(n m : Nat) : n + m = m + n", "specialized", "(m : Nat) : 0 + m = m + 0"),
        ("(n m : Nat) : n + m = m + n", "specialized", "(n m : Nat) : (n + 1) + m = m + (n + 1)"),
        ("(n m : Nat) : n + m = m + n", "specialized", "(n : Nat) : n + n = n + n"),
        ("(n : ℕ) : 8 ∣ n * 8", "smaller number", "(n : ℕ) : 4 ∣ n * 4"),
        ("(n : ℕ) : 8 ∣ n * 8", "generalized", "(m : ℕ) (n : ℕ) : m ∣ n * m"),
        ("(n m : Nat) : (n + m) * 1 = (n + m)", "generalized", "(n m : Nat) (t : Nat) : t * 1 = t"),
        ("(p q : Prop) : p ↔ q", "one direction", "(p q : Prop) (h : q) : p"),
        ("(p q : Prop) (h : q) : p ∧ q", "one side", "(p q : Prop) (h : q) : q"),
        ("(a b : Nat) : a + 0 = b", "swapped", "(a b : Nat) : b = a + 0"),
        ("(a b : Nat) : a < b", "weakened", "(a b : Nat) : a ≤ b"),
        ("(a b : Nat) (h : a < b) : a ≤ b", "hypothesis dropped", "(a b : Nat) : a ≤ b"),
        ("(p : Prop) (h : p) : p", "hypothesis dropped", "(p : Prop) : p"),
        ("(a b : Nat) : a ≤ b", "hypothesis added", "(a b : Nat) (h : b ≤ a) : a ≤ b"),
        ("(n : Nat) : 0 ≤ n", "induction step", "(n : Nat) (ih : 0 ≤ n) : 0 ≤ (n + 1)"),
    ],
)
def test_each_rule_makes_its_variants_of_text(statement: str, rule: str, variant: str) -> None:
    assert variant in made(statement, rule)


def test_a_variable_that_is_bound_anew_inside_is_left_alone() -> None:
    assert made("(n : Nat) (h : n = 3) : ∃ n, n < 2", "specialized") == []


@each(
    ("statement", "rule", "variant"),
    [
        ("(n m : Nat) : n + m = m + n", "specialized", "(m : Nat) : 0 + m = m + 0"),
        (": ∀ n : Nat, n ∣ 6 → n ≤ 6", "smaller number", "(n : Nat) (h : n ∣ 3) : n ≤ 3"),
        ("(n m : Nat) : (n + m) * 1 = n + m", "generalized", "(n m t : Nat) : t * 1 = t"),
        ("(p q : Prop) : p ↔ q", "one direction", "(p q : Prop) (h : q) : p"),
        ("(a b : Nat) : ∃ n : Nat, a = n ∧ n ≤ b", "one side", "(a b : Nat) : ∃ n, n ≤ b"),
        ("(a b : Nat) (h : a = b) : a ≤ b", "swapped", "(a b : Nat) (h : b = a) : a ≤ b"),
        ("(a b : Nat) (h : a < b) : a ≤ b", "hypothesis dropped", "(a b : Nat) : a ≤ b"),
        (
            "{α : Type} (l : List α) : l ++ [] = l",
            "induction step",
            "{α : Type} (l : List α) (x : α) (ih : l ++ [] = l) : x :: l ++ [] = x :: l",
        ),
    ],
)
def test_each_rule_makes_its_variants_of_elaborated_statements(statement: str, rule: str, variant: str) -> None:
    wanted = f"theorem variant {variant} := by\n  sorry"
    assert (rule, wanted) in statement_variants(theorem(statement))
    assert statement_key(wanted)


def test_elaborated_variants_need_a_statement_that_elaborates_and_keep_the_text_before_it() -> None:
    with pytest.raises(SourceError):
        statement_variants(theorem("(n : Nat) : n = true"))
    before = "def double (n : Nat) : Nat := n + n\n\n"
    found = statement_variants(before + theorem("(n : Nat) : double n = n + n"))
    assert all(source.startswith(before) and statement_key(source) for _, source in found)


# -- What search trees leave open --------------------------------------------------------------------------------


def branch(target: str, *hypotheses: tuple[str, str]) -> Branch:
    return Branch(ProofState((Goal(target, tuple(Hypothesis(*each) for each in hypotheses)),)))


def tree() -> Node:
    """A root whose tactic left two goals, one of them solved, and to which `have` tactics were proposed."""
    number = ("n✝", "Nat")
    root = or_node(branch("P", ("n", "Nat")))
    both = and_node((branch("n✝ = 0", number, ("h", "n✝ < 1")), branch("Q", number)), ("a", "b"), 1.0)
    both.tactic, both.children[1].solved = "cases n", True
    root.children, root.known = (both,), {"cases n": both, "have h2 : 0 < n := by omega": None, "simp": None}
    return root


def test_open_goals_and_proposed_lemmas_of_a_tree_are_stated() -> None:
    found = open_in_trees([tree()], "", 10)
    assert [(rule, parse_statement(source).text) for rule, source in found] == [
        (OPEN_GOAL, "(n_1 : Nat) (h : n_1 < 1) : n_1 = 0"),
        (LEMMA, "(n : Nat) : 0 < n"),
        (WITH_LEMMA, "(n : Nat) (h2 : 0 < n) : P"),
    ]
    assert len(open_in_trees([tree(), tree()], "", 4)) == 4


@pytest.mark.parametrize(
    "goal",
    [
        Goal("?a = 0"),
        Goal("x = 0", (Hypothesis("x", "Nat", "0"),)),
        Goal("x = 0", (Hypothesis("x", "Nat"), Hypothesis("x", "Nat"))),
    ],
)
def test_a_goal_that_cannot_stand_alone_is_not_stated(goal: Goal) -> None:
    with pytest.raises(SourceError):
        goal_statement(goal)


def test_a_dead_or_closed_node_is_no_open_goal() -> None:
    root = tree()
    root.children[0].children[0].dead = True
    assert [rule for rule, _ in open_in_trees([root], "", 10)] == [LEMMA, WITH_LEMMA]
    assert open_in_trees([Node(Kind.CLOSED, "", (), None, 1.0)], "", 10) == []


# -- All variants of a theorem -----------------------------------------------------------------------------------

TARGET = Theorem(theorem("(a b : Nat) (h : a = b) : b = a"), "user", "t")


@pytest.mark.parametrize("embedded", [True, False])
def test_variants_are_made_once_and_never_the_theorem_itself(embedded: bool) -> None:
    key = statement_key if embedded else None
    maker = VariantMaker(TARGET, key, statement_variants if embedded else None)
    found = maker.by_rules(60, seed=0)
    keys = [key(variant.source) if key else parse_statement(variant.source).text for variant in found]
    own = statement_key(TARGET.source) if embedded else parse_statement(TARGET.source).text
    assert len(set(keys)) == len(keys) == len({variant.id for variant in found}) and own not in keys
    assert found[-1].rule == SEVERAL_CHANGES and maker.counts[SEVERAL_CHANGES].duplicates > 0
    assert maker.take([("again", variant.source) for variant in found] + [("again", TARGET.source)], 99) == []
    twin = VariantMaker(TARGET, key, maker.elaborated)
    assert found == twin.by_rules(60, seed=0)
    assert {variant.rule for variant in twin.by_rules(10, seed=0)} == {SEVERAL_CHANGES}


def test_rules_take_turns_and_what_lean_refuses_is_counted() -> None:
    def key(source: str) -> str:
        if "≤" in source:
            raise SourceError("refused")
        return source

    maker = VariantMaker(TARGET, key)
    found = maker.by_rules(5, seed=0)
    assert len({variant.rule for variant in found}) == 4
    assert maker.counts["weakened"].refused > 0 and "weakened" not in {variant.rule for variant in found}


def test_a_maker_that_knows_earlier_variants_makes_others_with_new_ids() -> None:
    first = VariantMaker(TARGET).by_rules(20, seed=0)
    later = VariantMaker(TARGET)
    later.know(first)
    assert not {variant.id for variant in later.by_rules(20, seed=0)} & {variant.id for variant in first}
