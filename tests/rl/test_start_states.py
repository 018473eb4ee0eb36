"""Attempts that begin inside of reference proofs: which states, in which form, and how they move back."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.data.theorems.held_out import HELD_OUT, HeldOut
from nanoproof.lean.types import Theorem, TheoremRejected, Transition
from nanoproof.prover.attempt import Attempt, fault_of
from nanoproof.prover.proof import Given, Step
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.rl import __main__ as rl
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import CollectSource, Experience, relearn
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from nanoproof.rl.start_states import DATASET, REFUSALS, StartStates, read_reference_proofs
from nanoproof.search.config import SearchConfig
from tests.fakes.lean import ScriptedLean
from tests.fakes.leantree_server import LeanTreeServer
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.helpers import FORK_REPL
from tests.rl import tiny
from tests.rl.small import CHECKED, theorems
from tests.rl.test_collect import ALONE

# -- Recorded proofs -------------------------------------------------------------------------------------------------


def goal(target: str, *hypotheses: tuple[str, str]) -> dict[str, object]:
    return {"type": target, "hypotheses": [{"user_name": name, "type": kind} for name, kind in hypotheses]}


P, NAMED, UNNAMED = ("p", "Prop"), ("h", "p"), ("a✝", "p")
BOTH = [  # a split whose first branch needs two tactics, the second one of which works on a name nobody can write
    (goal("p → (p → p) ∧ p", P), "intro h", [1]),
    (goal("(p → p) ∧ p", P, NAMED), "constructor", [2, 4]),
    ({**goal("p → p", P, NAMED), "tag": "left"}, "intro", [3]),
    (goal("p", P, NAMED, UNNAMED), "exact h", [5]),
    ({**goal("p", P, NAMED), "tag": "right"}, "exact h", []),
    (None, "", []),  # a tracer may record where a branch ends
]


def record(name: str, steps: list[tuple[object, str, list[int]]], context: tuple[str, ...] = ()) -> dict[str, object]:
    nodes = []
    for number, (state, tactic, children) in enumerate(steps):
        node: dict[str, object] = {"id": number, "state": {"goals": [] if state is None else [state]}}
        if tactic:
            node |= {"tactic": {"tactic_string": tactic, "children": children}, "proof_depth": 1, "proof_size": 1}
        nodes.append(node)
    blocks = [{"tree": {"root_id": 0, "nodes": nodes}}]
    return {"name": name, "context": list(context), "by_blocks": blocks}


def write(file: Path, *records: dict[str, object]) -> str:
    file.write_text(json.dumps({"path": "A.lean", "imports": [], "theorems": list(records)}) + "\n")
    return str(file)


@pytest.fixture
def both(tmp_path: Path) -> str:
    return write(tmp_path / "proofs.jsonl", record("both", BOTH))


def starts(data: str, **refused: str) -> StartStates:
    return StartStates(read_reference_proofs(data), MatchmakerConfig(), 1.0, refused)


def ended(states: StartStates, outcome: str, tactics: int = 2, seed: int = 0) -> Attempt:
    """Let an attempt where the states say end like that."""
    start = states.choose(random.Random(seed))
    assert start is not None
    stop = "TheoremRejected" if outcome == "error" else ""
    attempt = Attempt(start.theorem, outcome, num_tactics=tactics, stop_reason=stop)  # type: ignore[arg-type]
    states.learn(attempt)
    return attempt


# -- Which states, and in which form -----------------------------------------------------------------------------------


def test_states_are_levelled_by_the_tactics_that_are_left(both: str) -> None:
    (proof,) = read_reference_proofs(both)
    assert proof.levels == {4: [0], 3: [1], 2: [2], 1: [3, 4]}
    assert [step.branches for step in proof.steps] == [1, 2, 1, 0, 0]


def test_a_state_is_stated_with_its_context_or_else_reached_by_the_other_steps(tmp_path: Path) -> None:
    data = write(tmp_path / "proofs.jsonl", record("N.both", BOTH, ("namespace N", "open Nat")))
    states = starts(data)
    (proof,) = states.proofs
    stated = proof.statement(4)
    assert stated is not None and stated.id == "N.both@4" and stated.dataset == DATASET
    assert stated.source.startswith("namespace N\nopen Nat\n") and "(p : Prop) (h : p) : p := by" in stated.source
    assert proof.statement(3) is None  # its text has a name that cannot be written
    seen = {states.choose(random.Random(seed)) for seed in range(20)}
    assert {(start.theorem.id, start.given) for start in seen if start} == {
        ("N.both@4", None),
        ("N.both@3+given", Given(proof.steps, 3)),
    }
    assert states.describe() == "1 proofs with 4 states as statements, 1 after given tactics, 0 as neither, 0 held out"


def test_a_statement_that_lean_refuses_twice_is_reached_by_the_other_steps_and_then_left_out(both: str) -> None:
    states = starts(both)
    for position in ("3+given", "4", "4+given"):
        for _ in range(REFUSALS):
            states.learn(Attempt(Theorem("", DATASET, f"both@{position}"), "error", stop_reason="TheoremRejected"))
            assert states.level("both") == 1 or position == "4+given"
    assert states.level("both") == 2


def test_what_a_benchmark_has_is_never_attempted(tmp_path: Path, both: str) -> None:
    benchmark = tmp_path / "mine.lean"
    benchmark.write_text("theorem mine (a : Prop) (ha : a) : (a → a) ∧ a := by\n  sorry\n")
    states = starts(both)
    held_out = HeldOut([str(benchmark)], embedded=False)
    reasons = [held_out.reason(proof.source) for proof in map(states.proofs[0].statement, (1, 2)) if proof]
    assert reasons == [HELD_OUT, None]
    states = starts(both, **{"both@1": HELD_OUT})
    while states.level("both") < 3:
        ended(states, "proven")
    assert states.level("both") == 4  # of level 3 nothing is left
    assert starts(both, **{"both@0": HELD_OUT}).proofs == []


@pytest.mark.parametrize(
    "steps",
    [
        [(goal("p", P), "exact h", [])],
        [(goal("p", P), "have h : p := ?_", [1]), (goal("p", P), "sorry", [])],
        [(goal("p", P), "skip", [0])],
        [(goal("p", P), "skip", [7])],
    ],
    ids=["one tactic", "sorry", "a circle", "no such node"],
)
def test_data_without_a_proof_to_begin_in_are_one_line(
    tmp_path: Path, steps: list[tuple[object, str, list[int]]]
) -> None:
    data = write(tmp_path / "proofs.jsonl", record("none", steps))
    with pytest.raises(UserError, match="holds no whole proof of two tactics or more"):
        read_reference_proofs(data)


def test_of_many_proofs_some_are_read_from_all_over_the_file(tmp_path: Path) -> None:
    data = write(tmp_path / "proofs.jsonl", *[record(f"t{n}", BOTH) for n in range(50)])
    names = [int(proof.name[1:]) for proof in read_reference_proofs(data, most=10)]
    assert 5 <= len(names) <= 10 and min(names) < 10 and max(names) >= 40


# -- How they move back ------------------------------------------------------------------------------------------------


def test_a_level_is_done_when_two_of_its_last_three_attempts_were_solved_or_one_by_one_tactic(both: str) -> None:
    states = starts(both)
    for outcome in ("proven", "unproven", "unproven", "proven"):
        ended(states, outcome)
        assert states.level("both") == 1
    ended(states, "proven")
    assert states.level("both") == 2 and states.position == 0.25
    ended(states, "proven", tactics=1)
    assert states.level("both") == 3
    late = Attempt(Theorem("", DATASET, "both@3+given"), "proven", num_tactics=2)
    for _ in range(3):
        states.learn(late)  # they began before the level went up
    assert states.level("both") == 3
    ended(states, "proven", tactics=1)
    ended(states, "proven", tactics=1)
    assert (states.level("both"), states.position, states.choose(random.Random(0))) == (5, 1.0, None)


@for_all(st.lists(st.tuples(st.sampled_from(["proven", "unproven", "error"]), st.integers(1, 3), st.integers(0, 9))))
def test_levels_depend_on_the_attempts_in_their_order_alone(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[str, int, int]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "levels.jsonl"
    data = write(file, record("one", BOTH), record("two", BOTH[:1] + BOTH[1:]))
    states, attempts = starts(data), []
    levels = [1, 1]
    for outcome, tactics, seed in events:
        if states.choose(random.Random(seed)) is None:
            break
        attempts.append(ended(states, outcome, tactics, seed))
        now = [states.level("one"), states.level("two")]
        assert all(before <= level <= 5 for before, level in zip(levels, now))
        levels = now
    again = starts(data)
    for attempt in attempts:
        again.learn(Attempt.from_json(attempt.to_json()))
    assert [again.level("one"), again.level("two")] == levels and again.solved == states.solved
    assert again.matchmaker.standings() == states.matchmaker.standings()


# -- Collection, and its log -------------------------------------------------------------------------------------------


def test_proofs_at_start_states_are_learned_from_and_are_no_theorems_of_the_set(tmp_path: Path, both: str) -> None:
    def experience() -> Experience:
        return Experience(theorems(2), Matchmaker(2, MatchmakerConfig()), Buffers(9, 9), starts(both))

    learned = experience()
    source = CollectSource(learned, tmp_path, ALONE, seed=0, first_step=0)
    task = source.next()
    assert task is not None and task.theorem.dataset == DATASET and not task.may_disprove
    attempt = Attempt(task.theorem, "proven", proof="step", source="the whole text", num_tactics=1, check=CHECKED)
    source.finish(task, replace(attempt, transitions=(Transition("A", "step", 1),)))
    learned.learn(*source.exchange(source.drain()))
    assert (learned.proofs, learned.ever_proven, learned.matchmaker.standings()) == (1, set(), {})
    assert learned.starts is not None and learned.starts.solved == {task.theorem.id}
    assert [item.tactic for item in learned.buffers.replay.items()] == ["step"]
    again = experience()
    relearn(again, tmp_path)
    assert again.starts is not None and again.starts.attempts == 1
    source.close()


def test_an_attempt_in_a_longer_proof_of_other_data_is_passed_over(both: str) -> None:
    states = starts(both)
    states.learn(Attempt(Theorem("", DATASET, "both@99"), "proven", num_tactics=1))
    assert (states.attempts, states.solved) == (0, set())


def test_an_attempt_inside_of_a_proof_stores_the_whole_proof_and_the_steps_that_it_found() -> None:
    script = {"A": {"split": ("B", "C")}, "B": {"first": ("D",)}, "D": {"old": (), "new": ()}, "C": {"last": ()}}
    steps = (
        Step("split", 2, "⊢ A", 1),
        Step("first", 1, "⊢ B", 1),
        Step("old", 0, "⊢ D", 1),
        Step("last", 0, "⊢ C", 1),
    )
    policy = ScriptedPolicy({"D": [suggestion(["new"])]})
    prover = Prover(policy, SearchConfig(), ProverOptions(keep_tree=False))
    theorem = Theorem("theorem t : A := by\n  sorry", DATASET, "t@2+given")
    found = prover.prove(ScriptedLean(script), theorem, 8, random.Random(0), given=Given(steps, 2))
    assert found.outcome == "proven" and found.counts["given_tactics"] == 3
    assert found.proof.split("\n") == ["split", "· first", "  new", "· last"]
    assert [(step.state, step.tactic, step.depth) for step in found.transitions] == [("⊢ D", "new", 1)]
    assert (found.num_tactics, fault_of(found)) == (1, "")
    elsewhere = ScriptedLean({**script, "B": {"first": ("E",)}, "E": {"old": ()}})
    refused = prover.prove(elsewhere, theorem, 8, random.Random(0), given=Given(steps, 2))
    assert refused.refused and refused.stop_reason == TheoremRejected.__name__
    assert "lead to another state" in refused.message


def test_a_run_begins_at_states_of_a_file_on_a_server_like_real_leans(folder: Path, tmp_path: Path) -> None:
    data = write(
        tmp_path / "proofs.jsonl",
        record(
            "named",
            [
                (goal("p → p → p", P), "intro h1", [1]),
                (goal("p → p", P, ("h1", "p")), "intro h", [2]),
                (goal("p", P, ("h1", "p"), NAMED), "exact h", []),
            ],
        ),
        record(
            "unnamed",
            [
                (goal("p → p → p", P), "intro", [1]),
                (goal("p → p", P, UNNAMED), "intro h", [2]),
                (goal("p", P, UNNAMED, NAMED), "exact h", []),
            ],
        ),
    )
    server = LeanTreeServer(FORK_REPL, tmp_path / "bomb")
    words = ["--model-path", str(folder / "sft"), *tiny.rl_words(folder, tmp_path / "rl", 2)]
    words += ["--lean-servers", server.address, "--start-states", data, "--start-fraction", "0.5"]
    try:
        assert rl.main([*words, "--collect-transitions", "12", "--no-eval-start"]) == 0
    finally:
        server.close()
    attempts = [
        one for one in read_jsonl(tmp_path / "rl" / "attempts_r0.jsonl") if one["theorem"]["dataset"] == DATASET
    ]
    proved = {one["theorem"]["id"] for one in attempts if one["outcome"] == "proven"}
    assert {"named@2", "unnamed@2+given"} <= proved
    assert [one["message"] for one in attempts if one["outcome"] == "error"] == []
    metrics = list(read_jsonl(tmp_path / "rl" / "metrics.jsonl"))[-1]
    # What actors proved after the last step was learned is in the attempts, not yet in the numbers.
    assert metrics["start_states_proved"] >= 1 and metrics["start_position"] > 0
    assert metrics["theorems_proven"] <= 6
