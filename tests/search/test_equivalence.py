"""Which states are the same to a person, and what the search makes of them."""

import pytest

from nanoproof.lean.types import parse_state
from nanoproof.search.config import SearchConfig
from nanoproof.search.equivalence import equivalence_key, only_adds_facts
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, or_node, walk
from nanoproof.search.search import search
from tests.fakes.world import RandomLean, RandomPolicy, state

SAME = {
    "a hypothesis is repeated": ("x : Nat\nh : x < 3\n⊢ x < 4", "x : Nat\nh h2 h3 : x < 3\n⊢ x < 4"),
    "names": ("x : Nat\nh : x < 3\n⊢ x < 4", "y : Nat\nthis : y < 3\n⊢ y < 4"),
    "order": ("p q : Prop\nh : p\nk : q\n⊢ p ∧ q", "q p : Prop\na : q\nb : p\n⊢ p ∧ q"),
    "a case": ("case inl\np : Prop\n⊢ p", "p : Prop\n⊢ p"),
    "an unused variable of a type that another has": ("n m : Nat\n⊢ n = 0", "n : Nat\n⊢ n = 0"),
    "a trivial fact": ("n : Nat\nh : n + 1 = n + 1\n⊢ n = 0", "n : Nat\n⊢ n = 0"),
    "an unused definition": ("n : Nat\nk : Nat := n + 1\n⊢ n = 0", "n : Nat\n⊢ n = 0"),
    "a copy that only a copy mentions": (
        "p : Prop\nh k : p\ne : h = k\n⊢ h = k",
        "p : Prop\nh k : p\nf : h = k\n⊢ h = k",
    ),
    "a copy of an inaccessible fact": ("p : Prop\na✝ : p\nh : p\n⊢ p", "p : Prop\nh : p\n⊢ p"),
    "a name that is bound": (
        "f : Nat → Nat\nh : ∀ x, f x = x\n⊢ f 2 = 2",
        "g : Nat → Nat\nh : ∀ x, g x = x\n⊢ g 2 = 2",
    ),
}
DIFFERENT = {
    "target": ("n : Nat\n⊢ n = 0", "n : Nat\n⊢ n = 1"),
    "a fact more": ("n : Nat\n⊢ n = 0", "n : Nat\nh : n < 1\n⊢ n = 0"),
    "which variable": ("x y : Nat\nh : x < y\n⊢ x = y", "x y : Nat\nh : y < x\n⊢ x = y"),
    "two variables or one": ("n m : Nat\n⊢ n = m", "n m : Nat\n⊢ n = n"),
    "a name that a tactic can say": ("p : Prop\na✝ : p\n⊢ p", "p : Prop\na : p\n⊢ p"),
    "the only inhabitant": ("α : Type\nx : α\n⊢ ∃ y : α, y = y", "α : Type\n⊢ ∃ y : α, y = y"),
    "another instance": ("α : Type\ninst✝¹ inst✝ : Foo α\n⊢ P α", "α : Type\ninst✝ : Foo α\n⊢ P α"),
    "a metavariable": ("n m : Nat\n⊢ n = ?x", "n : Nat\n⊢ n = ?x"),
    "what looks trivial and is not": ("p q : Prop\nh : p = q ∧ p = q\n⊢ p", "p q : Prop\n⊢ p"),
    "another inequality": ("n : Nat\nh : n ≤ n\n⊢ n = 0", "n : Nat\n⊢ n = 0"),
    "two goals or one": ("n m : Nat\n⊢ n = 0\n\nn : Nat\n⊢ n = 0", "n : Nat\n⊢ n = 0\n\nn : Nat\n⊢ n = 0"),
}


@pytest.mark.parametrize("name", SAME)
def test_states_that_are_the_same_have_one_key(name: str) -> None:
    first, second = (equivalence_key(parse_state(text)) for text in SAME[name])
    assert first == second


@pytest.mark.parametrize("name", DIFFERENT)
def test_states_that_differ_have_two_keys(name: str) -> None:
    first, second = (equivalence_key(parse_state(text)) for text in DIFFERENT[name])
    assert first != second


def test_a_state_adds_facts_if_all_else_stays() -> None:
    before = parse_state("n : Nat\nh : n < 3\n⊢ n < 4")
    assert only_adds_facts(before, parse_state("n : Nat\nh : n < 3\nk : n < 5\n⊢ n < 4"))
    for other in ("n : Nat\nh : n < 3\n⊢ n < 4", "n : Nat\nk : n < 5\n⊢ n < 4", "n : Nat\nh k : n < 3\n⊢ n < 3"):
        assert not only_adds_facts(before, parse_state(other))


def test_no_equivalent_state_comes_twice_on_a_path_or_among_siblings() -> None:
    config = SearchConfig(merge_states="equivalent")
    merged = 0
    for seed in range(5):
        root, log = or_node(state(0)), SearchLog()
        search(root, RandomPolicy(seed), RandomLean(seed, 12, 0.0, copies=True), config, 60, log)
        merged += log.counts.merged
        for node in walk(root):
            below = [child.identity for child in node.children]
            assert node.kind is Kind.AND or len(set(below)) == len(below)
    assert merged > 20


def test_the_text_of_a_merged_tactic_is_kept_only_if_it_leads_to_the_same_text() -> None:
    root = or_node(state(0))
    lean = RandomLean(1, 6, 0.0, copies=True)
    search(root, RandomPolicy(1), lean, SearchConfig(merge_states="equivalent"), 40, SearchLog())
    checked = 0
    for node in walk(root):
        for child in node.children:
            for tactic in (child.tactic, *child.spellings):
                if node.branch is not None and child.branch is not None and tactic is not None:
                    (result,) = lean.apply(node.branch, [tactic])
                    assert getattr(result, "branches", None) == (child.branch,)
                    checked += 1
    assert checked > 20
