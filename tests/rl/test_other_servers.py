"""Evaluations and files of theorems on a LeanTree server, which keeps environments: as with the embedded prover."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.files import read_jsonl
from scripts import prove, prover_eval
from tests.fakes.leantree_server import LeanTreeServer
from tests.helpers import FORK_REPL

THEOREMS = """
def twice (n : Nat) : Nat := n + n

theorem twice_zero : twice 0 = 0 := rfl

open Nat

theorem opened : succ 1 = 2 := by
  sorry

theorem of_twice (n : Nat) (h : 0 < n) : n < twice n := by
  unfold twice
  sorry

variable (p q r : Prop)

theorem both (hp : p) (hq : q) : p ∧ q := by
  sorry

theorem distrib : p ∧ (q ∨ r) ↔ (p ∧ q) ∨ (p ∧ r) := by
  constructor
  · sorry
  · sorry

theorem wrong (n : Nat) : twice n = n := by
  sorry
"""
BENCHMARK = (
    "".join(
        f"theorem and_{n} (p q : Prop) (hp : p) (hq : q) : p ∧ (q ∧ p) := by\n  sorry\n\n"
        f"theorem le_{n} (a b c : Nat) (h : a ≤ b) : a * {n} ≤ (b + c) * {n} := by\n  sorry\n\n"
        for n in range(2, 5)
    )
    + "theorem mul_comm' (a b : Nat) (h : 0 < a) : a * b = b * (a + a) := by\n  sorry\n"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = LeanTreeServer(FORK_REPL, tmp_path_factory.mktemp("bomb") / "bomb")
    yield server.address
    server.close()


def records(words: list[str], folder: Path) -> list[dict[str, Any]]:
    """What an evaluation with solver tactics says of each theorem, but for times."""
    mine = folder / "mine.lean"
    mine.write_text(BENCHMARK, encoding="utf-8")
    fixed = ["--policy", "solver-only", "--datasets", str(mine), "--num-simulations", "8", "--device-type", "cpu"]
    out = folder / f"out_{len(words)}"
    assert prover_eval.main([*fixed, *words, "--output-dir", str(out), "--log-level", "warning"]) == 0
    kept = [row | {"seconds": 0, "tree": None} for row in read_jsonl(out / "results.jsonl")]
    return sorted(kept, key=lambda row: str(row["theorem"]["id"]))


@pytest.mark.nightly
def test_an_evaluation_has_the_same_records(address: str, tmp_path: Path) -> None:
    embedded = records(["--lean-processes", "2"], tmp_path)
    there = records(["--lean-servers", address, "--lean-tactic-seconds", "60"], tmp_path)
    outcomes = [row["outcome"] for row in there]
    assert outcomes.count("proven") >= 6 and "unproven" in outcomes and "error" not in outcomes
    assert there == embedded


def test_a_file_is_proved_as_far(address: str, tmp_path: Path) -> None:
    texts = []
    for words in ([], ["--lean-servers", address]):
        file, out = tmp_path / "mine.lean", tmp_path / f"proved_{len(words)}.lean"
        file.write_text(THEOREMS, encoding="utf-8")
        prove.main([str(file), "--policy", "solver-only", "--num-simulations", "8", "--out", str(out), *words])
        texts.append(out.read_text(encoding="utf-8"))
    assert texts[0] == texts[1] and texts[0].count("sorry") == 1


NEEDS_STEPS = """
theorem constant (f : Nat → Nat) (h0 : f 0 = 7) (hs : ∀ n, f (n + 1) = f n) (n : Nat) : f n = 7 := by
  sorry
"""


@pytest.mark.nightly
def test_steps_that_a_state_suggests_need_no_server_of_ours(address: str, tmp_path: Path) -> None:
    file, out = tmp_path / "mine.lean", tmp_path / "proved.lean"
    file.write_text(NEEDS_STEPS, encoding="utf-8")
    words = [str(file), "--policy", "uniform", "--num-simulations", "32", "--out", str(out), "--lean-servers", address]
    prove.main(words)
    assert "sorry" in out.read_text(encoding="utf-8"), "general tactics alone make no induction"
    prove.main([*words, "--step-tactics", "12"])
    proof = out.read_text(encoding="utf-8")
    assert "sorry" not in proof and "induction n" in proof
