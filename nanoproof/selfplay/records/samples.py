"""Samples: now and then a state that the model was asked about, what it said, and what became of that.

They are taken from attempts that have ended, for then it is known which tactics led anywhere, and, on the way of a
proof, how many tactics were needed. The form of a line is in `records/__init__.py`. Outcomes of tactics: `solved` (it
led to a proof), `applied`, `rejected`, `timeout`, `banned`, `cycle` (it led back to a state above), `untried`.
"""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nanoproof.lean.wire import TacticFailed
from nanoproof.prover.attempt import Attempt
from nanoproof.search.node import Kind, Node, walk
from nanoproof.search.policy import Suggestion
from nanoproof.selfplay.records.observer import Trace

MAX_MESSAGE = 300
MAX_STATE = 20_000


def samples_file(run_path: Path, rank: int) -> Path:
    """Where a rank writes its samples."""
    return run_path / f"samples_r{rank}.jsonl"


def train_samples_file(run_path: Path) -> Path:
    """Where rank 0 writes examples that were trained on."""
    return run_path / "train_samples.jsonl"


def samples_of(attempt: Attempt, trace: Trace, count: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    """At most `count` states of an attempt: those on the way of its proof first, others by chance."""
    if trace.root is None:
        return
    depths = {transition.state: transition.depth for transition in attempt.transitions}
    asked = dict(trace.suggestions)  # of a state that was asked about again, the newest
    on_the_way = [state for state in asked if state in depths]
    others = [state for state in asked if state not in depths]
    chosen = rng.sample(on_the_way, min(count, len(on_the_way)))
    chosen += rng.sample(others, min(count - len(chosen), len(others)))
    nodes = {node.state: node for node in walk(trace.root) if node.kind is Kind.OR and node.state in chosen}
    refused = _refusals(trace, chosen)
    theorem = attempt.theorem
    for state in chosen:
        suggestion = asked[state]
        yield {
            "time": round(time.time(), 3),
            "dataset": theorem.dataset,
            "id": theorem.id,
            "state": state[:MAX_STATE],
            "tactics": outcomes_of(suggestion, nodes.get(state), refused.get(state, {})),
            "dropped": suggestion.num_dropped,
            "value": round(suggestion.value, 4),
            "distribution": [round(p, 5) for p in suggestion.value_distribution],
            "depth": depths.get(state),
        }


def _refusals(trace: Trace, states: list[str]) -> dict[str, dict[str, TacticFailed]]:
    """What Lean said to the tactics of some states that it did not apply."""
    found: dict[str, dict[str, TacticFailed]] = {}
    for state, tactics, results in trace.results:
        if state in states:
            failed = {tactic: result for tactic, result in zip(tactics, results) if isinstance(result, TacticFailed)}
            found.setdefault(state, {}).update(failed)
    return found


def outcomes_of(suggestion: Suggestion, node: Node | None, refused: dict[str, TacticFailed]) -> list[dict[str, Any]]:
    """The tactics of a suggestion, most likely ones first, with what became of them."""
    entries = zip(suggestion.tactics, suggestion.logprobs, suggestion.counts, strict=True)
    known = node.known if node is not None else {}
    found = []
    for tactic, logprob, count in sorted(entries, key=lambda entry: -entry[1]):
        failed, child = refused.get(tactic), known.get(tactic)
        if child is not None:
            outcome = "solved" if child.solved else "applied"
        elif failed is not None:
            outcome = failed.kind
        else:
            outcome = "cycle" if tactic in known else "untried"
        found.append(
            {
                "tactic": tactic,
                "logprob": round(logprob, 4),
                "count": count,
                "outcome": outcome,
                "message": failed.message[:MAX_MESSAGE] if failed is not None else "",
            }
        )
    return found
