import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.lean.errors import (
    LeanError,
    ProcessLost,
    ProtocolError,
    ServerTimeout,
    ServerUnavailable,
    SourceError,
    TheoremRejected,
)
from nanoproof.lean.theorem import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.selfplay.buffers import Buffers
from nanoproof.selfplay.collect import Experience
from nanoproof.selfplay.matchmaker import FenwickTree, History, Matchmaker, MatchmakerConfig, budget, weight

CONFIG = MatchmakerConfig()
THEOREM = Theorem("theorem t : True := by sorry", "scripted", "t")
OUTCOMES = {"p": "proven", "d": "disproven", "u": "unproven", "e": "error", "r": "error"}


def told(outcomes: str, num_tactics: int = 2, config: MatchmakerConfig = CONFIG) -> Matchmaker:
    matchmaker = Matchmaker(1, config)
    for letter in outcomes:
        matchmaker.update(0, OUTCOMES[letter], num_tactics if letter == "p" else 0, refused=letter == "r")
    return matchmaker


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ("", 1.0),
        ("d", 0.0),
        ("ud", 0.0),
        ("e", 1.0),
        ("r", 1.0),
        ("rr", 0.0),
        ("uuuurr", 0.0),
        ("reer", 0.0),
        ("rru", 1.0),
        ("rur", 1.0),
        ("ee", 1.0),
        ("eee", 1.0),
        ("eeee", 0.1),
        ("peeeee", 0.1),
        ("eeeeeu", 1.0),
        ("uuu", 1.0),
        ("ueueu", 1.0),
        ("uuuu", 0.1),
        ("euuuu", 0.1),
        ("ppppp", 1.0),
        ("pppppp", 0.001),
        ("ppepppp", 0.001),
        ("upppppp", 0.001),
        ("pppppu", 1.0),
        ("ppppppu", 1.0),
        ("puuuuuuuu", 1.0),
    ],
)
def test_weight_follows_the_rules_in_their_order(outcomes: str, expected: float) -> None:
    assert told(outcomes).weight(0) == expected


@pytest.mark.parametrize("error", [ServerTimeout, ServerUnavailable, ProcessLost, ProtocolError])
def test_a_bad_hour_of_the_servers_retires_no_theorem(error: type[LeanError]) -> None:
    learned = Experience([THEOREM], Matchmaker(1, CONFIG), Buffers(9, 9))
    learned.learn(0, [Attempt(THEOREM, "error", stop_reason=error.__name__)] * 50)
    assert learned.matchmaker.weight(0) == CONFIG.undecided
    learned.learn(1, [Attempt(THEOREM, "unproven")])
    assert learned.matchmaker.weight(0) == 1.0


@pytest.mark.parametrize("error", [TheoremRejected, SourceError])
def test_a_theorem_that_lean_refuses_twice_is_retired(error: type[LeanError]) -> None:
    learned = Experience([THEOREM], Matchmaker(1, CONFIG), Buffers(9, 9))
    refused = Attempt(THEOREM, "error", stop_reason=error.__name__)
    learned.learn(0, [refused])
    assert learned.matchmaker.weight(0) == 1.0
    learned.learn(1, [refused])
    assert learned.matchmaker.weight(0) == 0.0


def test_a_negation_that_lean_refuses_says_nothing_about_the_theorem() -> None:
    learned = Experience([THEOREM], Matchmaker(1, CONFIG), Buffers(9, 9))
    learned.learn(0, [Attempt(THEOREM, "error", disproving=True, stop_reason="TheoremRejected")] * 3)
    assert learned.matchmaker.weight(0) == 1.0


def test_a_proof_of_one_tactic_makes_a_theorem_rare_for_good() -> None:
    assert told("p", num_tactics=1).weight(0) == 0.001
    assert told("puuuuuu", num_tactics=1).weight(0) == 0.001
    assert told("pd", num_tactics=1).weight(0) == 0.0


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [("", 64), ("p", 64), ("u", 96), ("ueu", 144), ("uuuu", 324), ("uuuuuuuu", 324), ("uuuup", 216), ("puuu", 216)],
)
def test_budget_grows_with_failures_among_the_last_trusted_attempts(outcomes: str, expected: int) -> None:
    assert budget(History(outcomes), CONFIG) == expected


def test_budget_of_the_published_system_counts_all_failures_since_the_last_proof_up_to_a_cap() -> None:
    config = MatchmakerConfig.preset("alphaproof")
    assert budget(History("uupuuu"), config) == round(250 * 1.17**3)
    assert budget(History("u" * 20), config) == round(250 * 1.17**20)
    assert budget(History("u" * 5000), config) == 16_000


def test_alphaproof_preset_trusts_later() -> None:
    config = MatchmakerConfig.preset("alphaproof")
    assert weight(History("u" * 7), config) == 1.0
    assert weight(History("u" * 8), config) == 0.1
    assert weight(History("p" * 11), config) == 1.0
    assert weight(History("p" * 12), config) == 0.001


def test_theorems_are_drawn_as_often_as_random_choices_draws_them() -> None:
    matchmaker = Matchmaker(7, CONFIG)
    for index, outcomes in enumerate(["", "uuuu", "rr", "pppppp", "u", "d", "puuuu"]):
        for letter in outcomes:
            matchmaker.update(index, OUTCOMES[letter], 2, refused=letter == "r")
    weights = [matchmaker.weight(i) for i in range(7)]
    assert weights == [1.0, 0.1, 0.0, 0.001, 1.0, 0.0, 1.0]
    draws = 40_000
    rng = random.Random(3)
    ours = Counter(matchmaker.assign(rng).index for _ in range(draws))
    theirs = Counter(random.Random(4).choices(range(7), weights, k=draws))
    for i in range(7):
        sigma = (draws * weights[i] / sum(weights)) ** 0.5
        assert abs(ours[i] - theirs[i]) <= 5 * (2**0.5) * sigma


def test_each_unit_of_weight_is_hit_by_exactly_one_draw() -> None:
    weights = [3, 0, 1, 4, 0, 0, 5]
    tree = FenwickTree(weights)
    assert Counter(tree.find(target) for target in range(tree.total)) == Counter(
        {i: weight for i, weight in enumerate(weights) if weight}
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=33), st.data())
def test_changed_weights_are_found_where_a_running_sum_puts_them(weights: list[int], data: st.DataObject) -> None:
    tree = FenwickTree(weights)
    for _ in range(5):
        index = data.draw(st.integers(0, len(weights) - 1))
        weights[index] = data.draw(st.integers(0, 9))
        tree.set(index, weights[index])
    assert tree.total == sum(weights)
    expected = [i for i, weight in enumerate(weights) for _ in range(weight)]
    assert [tree.find(target) for target in range(tree.total)] == expected


def test_nothing_is_assigned_when_every_theorem_is_disproved_or_refused() -> None:
    matchmaker = Matchmaker(2, CONFIG)
    matchmaker.update(0, "disproven")
    matchmaker.update(1, "error", refused=True)
    assert matchmaker.assign(random.Random(0)).index == 1
    matchmaker.update(1, "error", refused=True)
    assert matchmaker.assign(random.Random(0)) is None


def test_an_assignment_carries_the_budget_of_its_theorem() -> None:
    assert told("uu").assign(random.Random(0)).num_simulations == 144


def test_state_restores_the_same_draws_and_budgets() -> None:
    matchmaker = Matchmaker(20, CONFIG)
    rng = random.Random(1)
    for _ in range(200):
        outcome, refused = rng.choice(["proven", "unproven", "unproven", "error"]), rng.random() < 0.5
        matchmaker.update(rng.randrange(20), outcome, rng.randint(1, 9), refused and outcome == "error")
    again = Matchmaker.from_state(20, CONFIG, matchmaker.to_state())
    one, two = random.Random(5), random.Random(5)
    assert [matchmaker.assign(one) for _ in range(300)] == [again.assign(two) for _ in range(300)]
    assert again.to_state() == matchmaker.to_state()


def test_weights_that_cannot_be_added_exactly_are_refused() -> None:
    with pytest.raises(ValueError, match=r"matchmaker\.low must be a multiple"):
        MatchmakerConfig(low=0.00000012)
    with pytest.raises(ValueError, match="preset must be one of default, alphaproof"):
        MatchmakerConfig.preset("other")  # type: ignore[arg-type]
