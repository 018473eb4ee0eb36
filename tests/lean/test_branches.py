"""How the goals of a REPL state become branches."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanoproof.lean.repl_goals import Refused, ReplBranch, ReplGoal, coupled_ranges, own_goals, split_branches


def goals(*texts: str) -> tuple[ReplGoal, ...]:
    return tuple(map(ReplGoal, texts))


def ranges(*texts: str) -> list[tuple[int, int]]:
    return coupled_ranges(goals(*texts))


def test_goals_without_metavariables_are_independent() -> None:
    assert ranges("case a\n⊢ p", "case b\n⊢ q", "⊢ xs[0]? = y?") == [(0, 1), (1, 2), (2, 3)]


def test_goals_that_mention_one_metavariable_stay_together() -> None:
    assert ranges("⊢ p ?x", "⊢ q", "⊢ r ?x", "⊢ s") == [(0, 3), (3, 4)]
    assert ranges("h : p ?«a b»\n⊢ p", "⊢ r ?«a b»") == [(0, 2)]
    assert ranges("α : Sort ?u.3\n⊢ p", "β : Sort ?u.3\n⊢ q") == [(0, 2)]


def test_a_goal_stays_with_those_that_mention_it_by_its_tag() -> None:
    assert ranges("⊢ True", "case h\n⊢ ?w = 2", "case w\n⊢ Nat") == [(0, 1), (1, 3)]
    assert ranges("case w\n⊢ Nat", "⊢ True", "case h\n⊢ ?w = 2") == [(0, 3)]


def test_a_goal_without_a_tag_may_be_what_a_number_stands_for() -> None:
    assert ranges("case a\n⊢ ?m.7 = 2", "case b\n⊢ q", "⊢ Nat") == [(0, 3)]
    assert ranges("case a\n⊢ ?m.7 = 2", "case b\n⊢ q") == [(0, 1), (1, 2)]


def test_each_independent_goal_gets_the_others_as_siblings() -> None:
    a, b, c = goals("a", "b", "c")
    branches = split_branches(5, [a, b], [c])
    assert [(x.goals, x.siblings, x.rotation) for x in branches] == [((a,), (b, c), 0), ((b,), (c, a), 1)]


def test_no_goals_is_no_branch() -> None:
    assert split_branches(5, [], goals("c")) == []


def test_touched_siblings_are_noticed() -> None:
    branch = ReplBranch(0, goals("a"), goals("b", "c"))
    assert own_goals(branch, goals("b", "c")) == ()
    assert own_goals(branch, goals("x", "y", "b", "c")) == goals("x", "y")
    assert own_goals(branch, goals("x", "b", "changed")) is None
    assert own_goals(branch, goals("x", "c", "b")) is None
    assert own_goals(branch, goals("c")) is None


def test_a_lone_goal_takes_the_tactic_as_it_is() -> None:
    assert ReplBranch(0, goals("a")).request_for("rfl") == "rfl"


def test_coupled_goals_take_the_tactic_as_it_is() -> None:
    assert ReplBranch(0, goals("a ?x", "b ?x"), goals("c")).request_for("rfl") == "rfl"


def test_a_goal_among_others_is_focused_with_its_layout_kept() -> None:
    branch = ReplBranch(0, goals("a"), goals("b"))
    assert branch.request_for("cases h with\n| inl h => rfl") == "focus (cases h with\n       | inl h => rfl)"
    assert branch.request_for("rfl -- done") == "focus (rfl -- done\n)"
    assert branch.request_for("exact f '(' /- ) -/") == "focus (exact f '(' /- ) -/)"


@pytest.mark.parametrize("tactic", ["exact hp) <;> (skip", "rfl) -- (", "exact f ')' x)"])
def test_a_tactic_cannot_leave_its_focus(tactic: str) -> None:
    assert isinstance(ReplBranch(0, goals("a"), goals("b")).request_for(tactic), Refused)


def test_a_tactic_cannot_prove_a_goal_by_itself() -> None:
    branch = ReplBranch(0, goals("case succ\n⊢ p"), goals("b"))
    assert isinstance(branch.request_for("apply ?succ"), Refused)
    assert branch.request_for("refine f ?x") == "focus (refine f ?x)"


_TEXTS = st.lists(
    st.builds(
        lambda tag, names: (f"case {tag}\n" if tag else "") + "⊢ p" + "".join(f" ?{name}" for name in names),
        st.sampled_from(["", "a", "b", "c"]),
        st.lists(st.sampled_from(["a", "b", "c", "d", "m.1"]), max_size=2),
    ),
    max_size=7,
)


@given(_TEXTS)
def test_ranges_cover_all_goals_and_no_metavariable_is_in_two(texts: list[str]) -> None:
    found = ranges(*texts)
    assert [position for start, stop in found for position in range(start, stop)] == list(range(len(texts)))
    mentioned = [frozenset().union(*(goal.mentions for goal in goals(*texts[start:stop]))) for start, stop in found]
    assert all(left.isdisjoint(right) for left, right in itertools.combinations(mentioned, 2))


@given(_TEXTS, _TEXTS)
def test_rotating_brings_the_goals_of_each_branch_to_the_front(own: list[str], others: list[str]) -> None:
    for branch in split_branches(0, goals(*own), goals(*others)):
        rotated = [*own, *others][branch.rotation :] + [*own, *others][: branch.rotation]
        assert goals(*rotated) == branch.goals + branch.siblings
