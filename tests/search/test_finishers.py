"""Where finishers are tried, what is kept of them, and steps that only add facts."""

from typing import Any

import pytest

from nanoproof.lean.types import Branch, Goal, Hypothesis, ProofState, TacticApplied, TacticFailed
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node, walk
from nanoproof.search.search import search
from tests.fakes.lean import Outcome, ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, saying, suggestion

CHAIN: dict[str, dict[str, Outcome]] = {
    "A": {"a": ["B"], "simp": ["S"]},
    "B": {"b": ["C"], "omega": "reject"},
    "C": {"omega": [], "simp": []},
}
CANDIDATE: dict[str, Any] = {"finisher_use": "candidate", "finishers": ("simp", "omega")}


def prove(config: SearchConfig, simulations: int = 8) -> tuple[Node, SearchLog, ScriptedLean, ScriptedPolicy]:
    values = {"A": 9.0, "B": 4.0, "C": 1.0}
    policy = ScriptedPolicy({name: [suggestion([name.lower()], value=value)] for name, value in values.items()})
    root, log, lean = or_node(branch("A")), SearchLog(), ScriptedLean(CHAIN)
    search(root, policy, lean, config, simulations, log)
    return root, log, lean, policy


def tried_at(lean: ScriptedLean, tactic: str) -> list[str]:
    return [state for state, run in lean.applied if run == tactic]


@pytest.mark.parametrize("use", ["leaf", "candidate"])
def test_finishers_first_stop_at_the_first_that_closes_and_the_policy_is_not_asked(use: str) -> None:
    config = SearchConfig(finishers=("simp", "omega"), finishers_first=True, finisher_use=use)  # type: ignore[arg-type]
    root, _, lean, policy = prove(config)
    assert root.solved and not policy.asked["C"]
    assert "C" in tried_at(lean, "simp") and "C" not in tried_at(lean, "omega")
    assert all(lean.applied.count(one) == 1 for one in lean.applied)
    assert [child.tactic for child in root.children] == (["a"] if use == "leaf" else ["a", "simp"])


def test_finishers_are_tried_where_the_value_says_that_little_is_left() -> None:
    config = SearchConfig(**CANDIDATE, finisher_where="value", finisher_value=2.0)
    root, _, lean, _ = prove(config)
    assert root.solved and tried_at(lean, "omega") == ["C"]


def test_before_the_policy_is_asked_it_is_the_value_of_the_state_above_that_counts() -> None:
    config = SearchConfig(finishers=("omega",), finisher_where="value", finisher_value=3.0)
    root, _, lean, _ = prove(config)
    assert root.solved and tried_at(lean, "omega") == [
        "A",
        "C",
    ]  # nothing is above A; one less than 9 at B, than 4 at C


def test_finishers_at_new_nodes_only_add_no_mass_later() -> None:
    masses = []
    for where in ("every", "new"):
        config = SearchConfig(**{**CANDIDATE, "finishers": ("simp",)}, finisher_where=where)
        lean = ScriptedLean({"A": {"simp": ["S"]}})
        root = or_node(branch("A"))
        search(root, ScriptedPolicy({}), lean, config, 60, SearchLog())
        assert root.expansions > 1
        masses.append(root.children[0].prior)
    assert masses[0] > masses[1] == 1.0


def test_of_finishers_proofs_only_can_be_kept() -> None:
    root, _, lean, _ = prove(SearchConfig(**CANDIDATE, finisher_keep="closing"))
    assert root.solved and [child.tactic for child in root.children] == ["a"]
    assert all(lean.applied.count(one) == 1 for one in lean.applied)


def test_a_finisher_has_the_log_probability_that_it_is_given() -> None:
    root, *_ = prove(SearchConfig(**CANDIDATE, finisher_logprob=-3.0, prior_temperature=1.0), simulations=1)
    (simp,) = [child for child in root.children if child.finisher]
    assert simp.logprob == -3.0 and simp.prior == pytest.approx(0.0498, abs=1e-4)


class FactLean:
    """`have` adds a hypothesis, `go` changes the target."""

    def apply(self, branch: Branch, tactics: list[str]) -> list[TacticApplied | TacticFailed]:
        (goal,) = branch.state.goals
        more = (*goal.hypotheses, Hypothesis(f"h{len(goal.hypotheses)}", f"fact {len(goal.hypotheses)}"))
        results = {"have": Goal(goal.type, more), "go": Goal(goal.type + "'", goal.hypotheses)}
        return [TacticApplied((Branch(ProofState((results[tactic],))),)) for tactic in tactics]


@pytest.mark.parametrize("most", [0, 1, 2])
def test_so_many_tactics_in_a_row_may_only_add_facts(most: int) -> None:
    root, log = or_node(branch("A")), SearchLog()
    search(root, saying("have", "go"), FactLean(), SearchConfig(max_facts=most), 40, log)  # type: ignore[arg-type]
    longest, stack = 0, [(root, 0)]
    while stack:
        node, run = stack.pop()
        longest = max(longest, run)
        stack += [(child, run + 1 if child.tactic == "have" else 0) for child in node.children]
    assert longest == most and log.counts.facts > 0
    assert any(node.tactic == "have" for node in walk(root)) == (most > 0)
