"""What a model can reach: rates by tactics left, and steps that are out of reach."""

from pathlib import Path

import pytest

from nanoproof.common.files import read_json
from nanoproof.rl.start_states import read_reference_proofs
from scripts import reach
from tests.rl.test_start_states import BOTH, NAMED, P, goal, record, write
from tests.training import small

Q = ("q", "Prop")
SPLIT = [  # its first branch is what solvers prove, its second what nobody does
    (goal("(p → p) ∧ q", P, Q), "constructor", [1, 2]),
    (goal("p → p", P, Q), "intro h", [3]),
    (goal("q", P, Q), "exact a_lie", []),
    (goal("p", P, Q, NAMED), "exact h", []),
]


def test_rates_fall_with_the_tactics_that_are_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, file = write(tmp_path / "a.jsonl", record("a", SPLIT), record("both", BOTH)), tmp_path / "reach.json"
    words = ["--policy", "solver-only", "--data", data, "--lean-processes", "2", "--num-simulations", "4"]
    assert reach.main([*words, "--json", str(file)]) == 0
    found = read_json(file)
    outcomes = {state["id"]: state["outcome"] for state in found["states"]}
    assert outcomes["a@3"] == "unproven" and outcomes["a@0"] == "unproven"
    assert outcomes["both@3+given"] == outcomes["both@1"] == outcomes["a@2"] == "proven"
    rows = {rate["left"]: (rate["solved"], rate["states"]) for rate in found["rates"]}
    assert rows == {1: (3, 4), 2: (2, 2), 3: (1, 2), 4: (1, 1)} and found["errors"] == 0
    shown = capsys.readouterr().out
    assert "tactics left  states  proved  95% interval" in shown and "9 steps of 2 proofs" in shown


def test_states_are_chosen_evenly_over_the_tactics_that_are_left(tmp_path: Path) -> None:
    proofs = read_reference_proofs(write(tmp_path / "a.jsonl", *[record(f"t{n}", BOTH) for n in range(9)]))
    starts = reach.choose_starts(proofs, 8, 0, 4)
    left = [proofs[start.proof].depths[start.position] for start in starts]
    assert sorted(left) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert starts == reach.choose_starts(proofs, 8, 0, 4) != reach.choose_starts(proofs, 8, 1, 4)


def test_steps_out_of_reach_are_counted_by_kind(tmp_path: Path) -> None:
    steps = [
        (goal("p", P, NAMED), "have hq := Some.lemma h", [1]),
        (goal("p", P, NAMED), "exact h.of_no_matter", [2]),
        (goal("p", P, NAMED), "native_decide", []),
    ]
    proofs = read_reference_proofs(write(tmp_path / "a.jsonl", record("a", steps)))
    counted = reach.Steps(1)
    counted.add_all(proofs, small.tokenizer(), row_length=200, max_gen_tokens=12)
    counted.add_unseen(proofs, ["have : p := h", "exact Other.lemma"])
    assert counted.counts["banned"] == 1 and counted.counts["longer than --max-gen-tokens 12"] >= 1
    assert counted.counts["with a name or tactic that --seen never has"] == 2
    assert dict(counted.unseen) == {"Some.lemma": 1, "native_decide": 1}
    assert counted.total == 3 and counted.proofs_with["banned"] == 1
