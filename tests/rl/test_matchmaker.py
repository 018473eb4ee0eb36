import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolean.tests.each import each
from nanoproof.lean.types import (
    LeanError,
    ProcessLost,
    ProtocolError,
    ServerTimeout,
    ServerUnavailable,
    SourceError,
    Theorem,
    TheoremRejected,
)
from nanoproof.prover.attempt import Attempt
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import Experience
from nanoproof.rl.matchmaker import FenwickTree, Matchmaker, MatchmakerConfig, budget, is_settled, weight
from tests.helpers import NIGHTLY

CONFIG = MatchmakerConfig()
THEOREM = Theorem("theorem t : True := by sorry", "scripted", "t")
EVENTS = {"p": "proven", "1": "one tactic", "d": "disproven", "u": "unproven"}
EVENTS |= {"n": "not disproven", "e": "error", "r": "refused"}


def told(events: str, config: MatchmakerConfig = CONFIG) -> Matchmaker:
    """A matchmaker of one theorem that was told of events by their letters."""
    matchmaker = Matchmaker(1, config)
    for letter in events:
        matchmaker.update(0, EVENTS[letter])
    return matchmaker


def num_simulations(events: str, config: MatchmakerConfig = CONFIG) -> int:
    return told(events, config).assign(random.Random(0)).num_simulations


@each(
    ("outcomes", "expected"),
    [
        ("", 1.0),
        ("d", 0.0),
        ("ud", 0.0),
        ("e", 1.0),
        ("r", 1.0),
        ("rr", 0.001),
        ("uuuurr", 0.001),
        ("reer", 0.001),
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
        ("1", 0.001),
        ("1uuuuuu", 0.001),
        ("1d", 0.0),
        ("nununu", 0.1),
        ("npnpnpnpnpnp", 0.001),
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
def test_a_theorem_that_lean_refuses_twice_becomes_rare_until_it_is_accepted(error: type[LeanError]) -> None:
    learned = Experience([THEOREM], Matchmaker(1, CONFIG), Buffers(9, 9))
    refused = Attempt(THEOREM, "error", stop_reason=error.__name__)
    learned.learn(0, [refused])
    assert learned.matchmaker.weight(0) == 1.0
    learned.learn(1, [refused])
    assert learned.matchmaker.weight(0) == CONFIG.low
    learned.learn(2, [Attempt(THEOREM, "unproven")])
    assert learned.matchmaker.weight(0) == 1.0


def test_a_negation_that_lean_refuses_says_nothing_about_the_theorem() -> None:
    learned = Experience([THEOREM], Matchmaker(1, CONFIG), Buffers(9, 9))
    learned.learn(0, [Attempt(THEOREM, "error", disproving=True, stop_reason="TheoremRejected")] * 3)
    assert learned.matchmaker.weight(0) == 1.0


@each(
    ("outcomes", "expected"),
    [
        ("", 64),
        ("p", 64),
        ("u", 96),
        ("ueu", 144),
        ("uuuu", 324),
        ("uuuuuuuu", 324),
        ("uuuup", 216),
        ("puuu", 216),
        ("pnnn", 64),
    ],
)
def test_budget_grows_with_failures_among_the_last_trusted_attempts(outcomes: str, expected: int) -> None:
    assert num_simulations(outcomes) == expected


def test_budget_of_the_published_system_counts_all_failures_since_the_last_proof_up_to_a_cap() -> None:
    config = MatchmakerConfig.preset("alphaproof")
    assert num_simulations("uupuuu", config) == round(250 * 1.17**3)
    assert num_simulations("u" * 20, config) == round(250 * 1.17**20)
    assert num_simulations("u" * 300, config) == 16_000


def test_a_proof_can_be_enough_whatever_the_attempts_before() -> None:
    config = MatchmakerConfig(trust=3, trust_proved=1)
    matchmaker = Matchmaker(1, config)
    matchmaker.update(0, "proven")
    assert matchmaker.weight(0) == config.low


def test_alphaproof_preset_trusts_later() -> None:
    config = MatchmakerConfig.preset("alphaproof")
    assert [told(events, config).weight(0) for events in ("u" * 7, "u" * 8)] == [1.0, 0.1]
    assert [told(events, config).weight(0) for events in ("p" * 11, "p" * 12)] == [1.0, 0.001]


def weight_by_the_pseudocode(events: str) -> float:
    """Weigh a list of attempts as the pseudocode does: proofs (p, 1), disproofs (d), failures of either (u, n)."""
    attempts = [(event in "dn", event in "pd1") for event in events]
    if any(disproving and successful for disproving, successful in attempts):
        return 0.0
    if len(attempts) < 8:
        return 1.0
    if not any(successful for _, successful in attempts):
        return 0.1
    return 0.001 if all(successful for _, successful in attempts[-12:]) else 1.0


def test_eight_to_eleven_proofs_in_a_row_settle_a_theorem_in_the_pseudocode() -> None:
    config = MatchmakerConfig.preset("alphaproof-pseudocode")
    weights = [told(events, config).weight(0) for events in ("p" * 7, "p" * 8, "p" * 11, "u" + "p" * 11, "p" * 12)]
    assert weights == [1.0, 0.001, 0.001, 1.0, 0.001]
    assert num_simulations("uuuuuuuuuuuu", config) == 1000


@settings(max_examples=100 * NIGHTLY, deadline=None)
@given(st.one_of(st.text("pppppppu1nd", max_size=30), st.text("p1", max_size=14), st.text("un", max_size=12)))
def test_the_pseudocode_preset_weighs_as_the_pseudocode_does(events: str) -> None:
    config = MatchmakerConfig.preset("alphaproof-pseudocode")
    standing = told(events, config).standing(0)
    assert weight(standing, config) == weight_by_the_pseudocode(events)


def plain_weight_and_budget(events: str, config: MatchmakerConfig) -> tuple[float, int]:
    """The rules as they are told, over the whole history."""
    shown = [e for i, e in enumerate(events) if not (e == "n" and ("p" in events[:i] or "1" in events[:i]))]
    decided = "".join(shown).replace("e", "").replace("r", "").replace("1", "p").replace("n", "u")
    if config.recent_failures == "trailing":
        failures = len(decided) - len(decided.rstrip("u"))
    else:
        failures = decided[-config.trust :].count("u")
    simulations = min(config.max_simulations, round(config.base_simulations * config.simulations_mult**failures))
    if "d" in decided:
        return 0.0, simulations
    if "1" in events or events.replace("e", "").endswith("rr"):
        return config.low, simulations
    if events.endswith("e" * config.trust):
        return config.undecided, simulations
    if decided.endswith("p" * config.trust_proved):
        return config.low, simulations
    if len(decided) < config.trust or "p" in decided:
        return 1.0, simulations
    return config.undecided, simulations


CONFIGS = [
    CONFIG,
    MatchmakerConfig.preset("alphaproof"),
    MatchmakerConfig(trust=1, trust_proved=1),
    MatchmakerConfig(trust=5, trust_proved=2, simulations_mult=1.0, recent_failures="trailing"),
]


@settings(max_examples=70 * NIGHTLY, deadline=None)
@given(st.text("ppuuun1erd", max_size=40), st.sampled_from(CONFIGS))
def test_a_standing_knows_all_that_matters_of_a_history(events: str, config: MatchmakerConfig) -> None:
    expected_weight, expected_budget = plain_weight_and_budget(events, config)
    standing = told(events, config).standing(0)
    assert weight(standing, config) == expected_weight
    assert expected_weight == 0 or budget(standing, config) == expected_budget


@pytest.mark.parametrize("config", CONFIGS)
def test_there_are_few_standings_however_long_the_histories_are(config: MatchmakerConfig) -> None:
    matchmaker, rng = Matchmaker(50, config), random.Random(2)
    sizes = []
    for _ in range(3):
        for _ in range(6000):
            matchmaker.update(rng.randrange(50), EVENTS[rng.choice("ppuuue")])
        sizes.append(len(matchmaker.distinct_standings()))
    assert sizes[2] < 2 * sizes[0] < 8000


def test_theorems_are_drawn_as_often_as_random_choices_draws_them() -> None:
    matchmaker = Matchmaker(7, CONFIG)
    for index, outcomes in enumerate(["", "uuuu", "rr", "pppppp", "u", "d", "puuuu"]):
        for letter in outcomes:
            matchmaker.update(index, EVENTS[letter])
    weights = [matchmaker.weight(i) for i in range(7)]
    assert weights == [1.0, 0.1, 0.001, 0.001, 1.0, 0.0, 1.0]
    draws = 40_000
    rng = random.Random(3)
    ours = Counter(matchmaker.assign(rng).index for _ in range(draws))
    theirs = Counter(random.Random(4).choices(range(7), weights, k=draws))
    for i in range(7):
        sigma = (draws * weights[i] / sum(weights)) ** 0.5
        assert abs(ours[i] - theirs[i]) <= 5 * (2**0.5) * sigma


def tree_of(weights: list[int]) -> FenwickTree:
    tree = FenwickTree(len(weights), 2)
    for index, number in enumerate(weights):
        tree.add(index, number - 2)
    return tree


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8])
def test_weights_at_the_end_are_drawn_like_those_that_were_there(count: int) -> None:
    grown, weights = tree_of(list(range(count))), list(range(count))
    for number in (3, 0, 7, 1, 2):
        grown.append(number)
        weights.append(number)
        same = tree_of(weights)
        assert [grown.find(target) for target in range(grown.total)] == [same.find(n) for n in range(same.total)]


def test_theorems_can_be_added_and_one_can_be_withheld() -> None:
    matchmaker = Matchmaker(1, CONFIG)
    matchmaker.withhold(0)
    assert matchmaker.exhausted and matchmaker.assign(random.Random(0)) is None
    matchmaker.extend(2)
    matchmaker.update(0, "proven")
    matchmaker.update(2, "disproven")
    assert {matchmaker.assign(random.Random(seed)).index for seed in range(20)} == {1}
    assert matchmaker.standing(0).proven and matchmaker.weight(0) == 0


@each(("events", "settled"), [("", 0), ("uuuuu", 0), ("ppppp", 0), ("pppppp", 1), ("1u", 1), ("d", 1)])
def test_a_theorem_is_settled_when_it_has_nothing_more_to_teach(events: str, settled: int) -> None:
    assert is_settled(told(events).standing(0), CONFIG) == bool(settled)


def test_each_unit_of_weight_is_hit_by_exactly_one_draw() -> None:
    weights = [3, 0, 1, 4, 0, 0, 5]
    tree = tree_of(weights)
    assert Counter(tree.find(target) for target in range(tree.total)) == Counter(
        {i: weight for i, weight in enumerate(weights) if weight}
    )


@settings(max_examples=30 * NIGHTLY, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=33), st.data())
def test_changed_weights_are_found_where_a_running_sum_puts_them(weights: list[int], data: st.DataObject) -> None:
    tree = tree_of(weights)
    for _ in range(5):
        index = data.draw(st.integers(0, len(weights) - 1))
        before, weights[index] = weights[index], data.draw(st.integers(0, 9))
        tree.add(index, weights[index] - before)
    assert tree.total == sum(weights)
    expected = [i for i, weight in enumerate(weights) for _ in range(weight)]
    assert [tree.find(target) for target in range(tree.total)] == expected


def test_nothing_is_assigned_when_every_theorem_is_disproved() -> None:
    matchmaker = Matchmaker(2, CONFIG)
    matchmaker.update(0, "disproven")
    assert matchmaker.assign(random.Random(0)).index == 1 and not matchmaker.exhausted
    matchmaker.update(1, "disproven")
    assert matchmaker.assign(random.Random(0)) is None and matchmaker.exhausted


def test_an_assignment_carries_the_budget_of_its_theorem() -> None:
    assert num_simulations("uu") == 144


def test_matchmakers_told_the_same_draw_the_same() -> None:
    rng = random.Random(1)
    events = [(rng.randrange(20), EVENTS[rng.choice("pu1er")]) for _ in range(200)]
    ours, theirs = Matchmaker(20, CONFIG), Matchmaker(20, CONFIG)
    for matchmaker in (ours, theirs):
        for index, event in events:
            matchmaker.update(index, event)
    one, two = random.Random(5), random.Random(5)
    assert [ours.assign(one) for _ in range(300)] == [theirs.assign(two) for _ in range(300)]
    assert ours.standings() == theirs.standings()


def test_weights_that_cannot_be_added_exactly_are_refused() -> None:
    with pytest.raises(ValueError, match=r"matchmaker\.low must be a multiple"):
        MatchmakerConfig(low=0.00000012)
    with pytest.raises(ValueError, match="preset must be one of default, alphaproof"):
        MatchmakerConfig.preset("other")  # type: ignore[arg-type]
