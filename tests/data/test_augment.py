"""Augmented transitions say the same: by their texts here, and by running them through NanoLean (larger runs with
NANOPROOF_AUGMENT_PROOFS=1000)."""

import itertools
import os
import random
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolean.data.families import FAMILIES
from nanolean.data.problem import Step, chain
from nanolean.data.replay import start
from nanolean.data.statement_key import library_proofs
from nanolean.kernel.budget import allow_deep_recursion
from nanolean.tests.each import each
from nanoproof.data.transitions.augment import Probabilities, augment, augment_transition
from nanoproof.data.transitions.renaming import kind_of, rename_words, words_of
from nanoproof.lean.types import Hypothesis, ProofState, Transition, parse_state
from tests.data.tricky import tricky_proofs
from tests.data.twins import Replayed, name_map, outcome, replayed, twin
from tests.helpers import NIGHTLY

NAMES_ONLY = Probabilities(rename=1, rename_tags=0, shuffle=0)
TAGS_ONLY = Probabilities(rename=0, rename_tags=1, shuffle=0)
ORDER_ONLY = Probabilities(rename=0, rename_tags=0, shuffle=1)
EVERYTHING = Probabilities(rename=1, rename_tags=1, shuffle=1)
TRIES = 60


def augmented(state: str, tactic: str, config: Probabilities = EVERYTHING) -> Iterator[tuple[ProofState, str]]:
    """The same transition augmented in many ways."""
    for seed in range(TRIES):
        yield augment(parse_state(state), tactic, random.Random(seed), config)


def names_of(state: ProofState) -> list[str]:
    return [item.user_name for goal in state.goals for item in goal.hypotheses]


# ---------------------------------------------------------------------------------------------------------------------
# Words


@each(
    ("text", "renamed"),
    [
        ("exact h.1", "exact k.1"),
        ("exact h.left.trans (foo.h h)", "exact k.left.trans (foo.h k)"),
        ("rw [h', h₁, hx, ← h]", "rw [h', h₁, hx, ← k]"),
        ("refine ⟨?h, .h, (x).h, h⟩", "refine ⟨?h, .h, (x).h, k⟩"),
        ("h✝ = h ∧ h✝¹ = h", "h✝ = k ∧ h✝¹ = k"),
        ("@h.foo 1 h -- h", "@k.foo 1 k -- h"),
        ("f '' h ∪ g ⁻¹' h", "f '' k ∪ g ⁻¹' k"),
        ("h = 'h'", "k = 'h'"),
        ("hᶜ ∪ h⁻¹", "kᶜ ∪ k⁻¹"),
        ("∫ x in h..h, f x = foo h ..", "∫ x in k..k, f x = foo k .."),
    ],
)
def test_words_are_renamed_where_they_are_the_local_name(text: str, renamed: str) -> None:
    assert rename_words(text, {"h": "k"}) == renamed


def test_names_are_exchanged_at_once() -> None:
    assert rename_words("a + b = b", {"a": "b", "b": "a"}) == "b + a = a"


# ---------------------------------------------------------------------------------------------------------------------
# Names

STATE = """case inl
α : Type u
inst✝ : Group α
x✝ n m : Nat
xs : List α
f : Nat → Nat
h : ∀ (n : Nat), f n = n
hn : n < x✝ ∧ xs.length = Nat.succ m
⊢ f m < n + xs.length"""
TACTIC = "obtain ⟨h', k⟩ : n < m ∧ f n = m := ⟨Nat.lt_trans hn.1 (h m ▸ Nat.lt_succ_self m), h (x := m)⟩"


def test_names_change_in_state_and_tactic_alike() -> None:
    seen: set[str] = set()
    for state, tactic in augmented(STATE, TACTIC, NAMES_ONLY):
        names = name_map(names_of(parse_state(STATE)), names_of(state))
        seen |= names.keys()
        assert len(set(names.values())) == len(names)
        assert not words_of(STATE + TACTIC) & set(names.values()), "a new name is used for something else already"
        back = {new: old for old, new in names.items()}
        assert rename_words(tactic, back) == TACTIC
        assert rename_words(state.text, back) == STATE
    assert {"n", "m", "xs", "f", "h", "hn"} <= seen


def test_inaccessible_and_library_names_stay() -> None:
    for state, tactic in augmented(STATE, TACTIC):
        for word in ("inst✝ : Group", "x✝", "Nat.succ", ".length", "Type u"):
            assert word in state.text
        for word in ("Nat.lt_trans", "Nat.lt_succ_self", "(x := ", "⟨h', k⟩"):
            assert word in tactic


@each(
    ("line", "tactic", "name"),
    [
        ("n : Nat", "exact foo (n := 3) n", "n"),
        ("x : Nat", "exact { x := 3, y := x }", "x"),
        ("x : Nat", "exact { x, y }", "x"),
        ("val : Nat\nh : p = { val := 3 }", "exact foo h", "val"),
        ("u : Nat\nα : Type u", "exact foo u", "u"),
        ("v : Nat\nα : Type (max u v)", "exact foo v", "v"),
        ("v : Nat", "exact foo.{v} v", "v"),
        ("X : Nat\np : R[X]", "exact foo X p", "X"),
        ("X : Nat\np : R⟦X⟧", "exact foo X p", "X"),
        ("h : p\nq : Prop", "case h => exact h", "h"),
        ("zero : p", "induction k with | zero => exact zero | succ k ih => exact foo", "zero"),
        ("left : p", "left", "left"),
        ("left : p", "constructor <;> left", "left"),
        ("simp : p", "(simp)", "simp"),
        ("a : p\nh : ∃ a_1, foo a a_1", "exact h", "a"),
        ("this : p", "exact this", "this"),
        ("_h : p", "exact _h", "_h"),
        ("x.y : p", "exact foo", "x.y"),
        ("«h k» : p", "exact foo", "«h k»"),
        ("h : p", 'exact foo "h" h', "h"),
        ("h : p", "exact foo `h h", "h"),
        ("h : p", "open h in exact h", "h"),
    ],
)
def test_a_name_that_is_also_something_else_stays(line: str, tactic: str, name: str) -> None:
    for state, after in augmented(f"{line}\n⊢ goal", tactic, NAMES_ONLY):
        assert name in names_of(state)
        word = re.compile(rf"(?<![\w']){re.escape(name)}(?![\w'])")
        assert len(word.findall(after)) == len(word.findall(tactic))


def test_names_of_one_kind_replace_each_other() -> None:
    sorts = {"p": "Prop", "α": "Type", "a": "α"}
    kinds = {
        ("α", "Type u_1"): "greek_type",
        ("R", "Type u_1"): "type",
        ("p", "Prop"): "proposition",
        ("P", "ℕ → Prop"): "predicate",
        ("k", "ℕ"): "natural",
        ("x", "ℝ"): "number",
        ("xs", "List α"): "list",
        ("s", "Finset ℕ"): "set",
        ("f", "ℕ → ℕ"): "function",
        ("a", "α"): "element",
        ("G", "SimpleGraph V"): "structure",
        ("hp", "p"): "hypothesis",
        ("h", "p → p"): "hypothesis",
        ("hf", "Continuous f"): "hypothesis",
        ("eq", "a = b"): "hypothesis",
        ("ih", "p"): "induction",
    }
    assert {key: kind_of(Hypothesis(*key), sorts) for key in kinds} == kinds


# ---------------------------------------------------------------------------------------------------------------------
# Tags

COUPLED = """case h
n : Nat
⊢ foo ?w n

case w
n : Nat
⊢ Nat

case inl
n : Nat
⊢ n = n"""


def test_tags_change_in_goals_holes_and_the_tactic_that_names_them() -> None:
    tactic = "case w => exact n"
    changed = 0
    for state, after in augmented(COUPLED, tactic, TAGS_ONLY):
        first, second, third = (goal.tag for goal in state.goals)
        assert after == f"case {second} => exact n"
        assert state.goals[0].type == f"foo ?{second} n"
        assert len({first, second, third}) == 3 and third in (
            "inl",
            "inr",
            "left",
            "right",
            "pos",
            "neg",
            "mp",
            "mpr",
            "h₁",
            "h₂",
        )
        changed += second != "w"
    assert changed > TRIES / 4


@pytest.mark.parametrize(
    ("tag", "tactic"),
    [("succ", "rfl"), ("h✝", "exact h"), ("a.inl", "case inl => rfl"), ("h", "refine ⟨?h, ?_⟩"), ("foo", "rfl")],
)
def test_tags_that_say_something_or_are_not_fully_known_stay(tag: str, tactic: str) -> None:
    for state, after in augmented(f"case {tag}\nn : Nat\n⊢ n = n", tactic, TAGS_ONLY):
        assert (state.goals[0].tag, after) == (tag, tactic)


def test_tags_of_the_goals_left_begin_with_the_new_tag() -> None:
    item = Transition("case inl\np q : Prop\n⊢ p ∧ q", "constructor", 2, "case inl.left\np q : Prop\n⊢ p")
    for seed in range(TRIES):
        after = augment_transition(item, random.Random(seed), TAGS_ONLY)
        tag = after.state.split("\n")[0]
        assert after.state_after is not None and after.state_after.split("\n")[0] == tag + ".left"


# ---------------------------------------------------------------------------------------------------------------------
# Orders


def test_hypotheses_come_behind_what_they_mention_and_between_the_same_inaccessible_ones() -> None:
    orders = set()
    for state, tactic in augmented(STATE, "exact foo", ORDER_ONLY):
        order = names_of(state)
        orders.add(tuple(order))
        assert tactic == "exact foo" and sorted(order) == sorted(names_of(parse_state(STATE)))
        assert order[:3] == ["α", "inst✝", "x✝"]
        for before, behind in (("f", "h"), ("n", "hn"), ("m", "hn"), ("xs", "hn")):
            assert order.index(before) < order.index(behind)
    assert len(orders) > TRIES / 2


@pytest.mark.parametrize(
    "tactic", ["revert n m", "induction n generalizing m", "wlog h : n ≤ m", "simp [Nat.add_comm]"]
)
def test_the_order_stays_where_a_tactic_depends_on_it(tactic: str) -> None:
    for state, _ in augmented(STATE, tactic, ORDER_ONLY):
        assert state.text == STATE


def test_goals_behind_the_first_change_places_unless_the_tactic_looks_at_them() -> None:
    first = [goal.tag for goal in parse_state(COUPLED).goals]
    orders = {tuple(goal.tag for goal in state.goals) for state, _ in augmented(COUPLED, "exact foo", ORDER_ONLY)}
    assert orders == {tuple(first), (first[0], first[2], first[1])}
    for tactic in ("rotate_left", "all_goals simp", "case inl => rfl", "exact foo; exact bar"):
        assert {state.text for state, _ in augmented(COUPLED, tactic, ORDER_ONLY)} == {COUPLED}


# ---------------------------------------------------------------------------------------------------------------------
# The whole


def test_the_same_seed_gives_the_same() -> None:
    runs = [[(state.text, tactic) for state, tactic in augmented(STATE, TACTIC)] for _ in range(2)]
    assert runs[0] == runs[1] and len(set(runs[0])) > TRIES / 2


def test_nothing_changes_at_probability_zero() -> None:
    assert set(augmented(STATE, TACTIC, Probabilities(0, 0, 0))) == {(parse_state(STATE), TACTIC)}


@pytest.mark.parametrize("text", ["no goal at all", "h : p\n\n\n⊢ p", "⊢ p\n", "h:p\n⊢ p"])
def test_a_text_that_is_not_as_lean_prints_it_comes_back_as_it_is(text: str) -> None:
    item = Transition(text, "exact h", 1)
    assert all(augment_transition(item, random.Random(seed), EVERYTHING) == item for seed in range(TRIES))


PIECES = st.sampled_from([*"hxnα⊢:,=∀∃()[]{}⟨⟩|?.'✝;3 \n", ":=", "=>", " case ", "by", "Type ", "\n⊢ "])


@settings(max_examples=100 * NIGHTLY, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join), st.lists(PIECES, max_size=15).map(" ".join), st.integers())
def test_no_text_makes_it_fail(state: str, tactic: str, seed: int) -> None:
    augment_transition(Transition(state, tactic, 1, state), random.Random(seed), EVERYTHING)


# ---------------------------------------------------------------------------------------------------------------------
# NanoLean


def proofs() -> Iterator[tuple[str, Step]]:
    """Statements and proofs: of the library and of the generator."""
    count = int(os.environ.get("NANOPROOF_AUGMENT_PROOFS", "120"))
    entries = list(library_proofs())
    random.Random(0).shuffle(entries)
    yield from ((entry.source, entry.proof) for entry in entries[:count])
    for family, level in itertools.product(FAMILIES, (1, 2, 3)):
        for number in range(-(-count // 30)):
            problem = FAMILIES[family](random.Random(f"{family} {level} {number}"), level)
            if problem is not None:
                yield problem.source("t"), problem.proof


def verdict(item: Replayed, rng: random.Random) -> str:
    """How NanoLean finds the augmented transition: `unchanged`, `works`, or what is wrong."""
    shuffled = augment_transition(item.transition, rng, ORDER_ONLY)
    changed = augment_transition(shuffled, rng, Probabilities(rename=1, rename_tags=1, shuffle=0))
    if changed == item.transition:
        return "unchanged"
    before, wanted = (parse_state(each.state).goals[0] for each in (shuffled, changed))
    names = name_map([h.user_name for h in before.hypotheses], [h.user_name for h in wanted.hypotheses])
    state = twin(item.state, wanted, names)
    if state.goal_texts()[0].split() != changed.state.split():
        return f"prints otherwise:\n{changed.state}\n{state.goal_texts()[0]}"
    left = outcome(state, changed.tactic)
    assert changed.state_after is not None
    expected = [str(goal) for goal in parse_state(changed.state_after).goals]
    if isinstance(left, str) or len(left) != len(expected):
        return f"fails:\n{changed.state}\n{changed.tactic}\n{left}"
    return "works" if [goal.split() for goal in left] == [goal.split() for goal in expected] else "leaves other texts"


@pytest.mark.nightly
def test_tricky_tactics_do_the_same_in_nanolean() -> None:
    allow_deep_recursion()
    rng = random.Random(2)
    counts: Counter[str] = Counter()
    for source, tactics in tricky_proofs():
        items = list(replayed(start(source), chain(tactics), rest=True))
        assert len(items) == len(tactics), f"{source}: {tactics}"
        counts.update(verdict(item, rng) for item in items for _ in range(12))
    print(dict(counts))
    assert counts.keys() <= {"works", "unchanged", "leaves other texts"}, "\n\n".join(counts)
    assert counts["works"] > 0.75 * counts.total() and counts["leaves other texts"] < 0.06 * counts.total()


def test_augmented_tactics_do_the_same_in_nanolean() -> None:
    allow_deep_recursion()
    rng = random.Random(1)
    counts: Counter[str] = Counter()
    for source, proof in proofs():
        for item in replayed(start(source), proof):
            assert str(parse_state(item.transition.state)) == item.transition.state
            counts[verdict(item, rng)] += 1
    print(dict(counts))
    assert counts.keys() <= {"works", "unchanged", "leaves other texts"}, "\n\n".join(counts)
    assert counts["works"] > 500 and counts["unchanged"] < 0.15 * counts.total()
    # Where a hypothesis takes the place of another, and bound variables that are called as in a library statement.
    assert counts["leaves other texts"] < 0.02 * counts.total()
