"""Which checkpoints an evaluation command takes, in which order, and where its results go."""

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import CheckpointsOption
from nanoproof.common.run_dir import team_of
from nanoproof.evaluation.plan import EvalOptions, bisected, plan
from nanoproof.evaluation.results import proof_names
from nanoproof.evaluation.summary import report, summarize, theorem_set_hash
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from tests.rl.small import theorems


@pytest.fixture
def run_dir(tmp_path):
    for step in (0, 5, 10, 20, 40):
        (tmp_path / f"model_{step}.json").write_text("{}")
        (tmp_path / f"model_{step}.pt").write_text("")
    (tmp_path / "model_50.pt").write_text("")
    return tmp_path


def steps(targets):
    return [int(target.model.stem.removeprefix("model_")) for target in targets]


def test_checkpoints_come_middle_first_then_ends_then_what_halves_the_gaps():
    assert bisected(9) == [4, 8, 0, 2, 6, 1, 3, 5, 7]
    assert bisected(1) == [0] and bisected(2) == [1, 0] and bisected(0) == []
    assert all(sorted(bisected(count)) == list(range(count)) for count in range(40))


def test_every_finished_checkpoint_of_a_run_is_a_target(run_dir):
    targets = plan(EvalOptions(run_dir=str(run_dir), datasets=("nanolean,minif2f",)))
    assert steps(targets) == [10, 10, 40, 40, 0, 0, 5, 5, 20, 20]
    assert [target.dataset for target in targets[:2]] == ["nanolean", "minif2f"]


def test_results_lie_beside_the_checkpoint_and_splits_do_not_collide(run_dir):
    for split, name in (("valid", "eval_40_nanolean"), ("test", "eval_40_nanolean_test")):
        (target,) = plan(EvalOptions(CheckpointsOption((str(run_dir),)), datasets=("nanolean",), split=split))
        assert target.path == run_dir / name


def test_several_models_may_be_named_and_one_that_is_named_twice_is_one(run_dir):
    paths = (str(run_dir / "model_5.pt"), str(run_dir), str(run_dir / "model_40.json"))
    assert steps(plan(EvalOptions(CheckpointsOption(paths), datasets=("nanolean",)))) == [5, 40]


def test_checkpoints_with_a_comma_share_the_simulations_of_one_evaluation(run_dir, tmp_path):
    both = f"{run_dir / 'model_5.pt'},{run_dir / 'model_40.json'}"
    (target,) = plan(EvalOptions(CheckpointsOption((both,)), datasets=("nanolean",), output_dir=str(tmp_path / "out")))
    assert target.model == f"{run_dir / 'model_5.json'},{run_dir / 'model_40.json'}"
    (tmp_path / "a,b").mkdir()
    assert team_of(str(tmp_path / "a,b")) == (str(tmp_path / "a,b"),), "a path that is there is one checkpoint"
    assert team_of("hf:a,b") == ("hf:a,b",) and team_of("sft/a, sft/b") == ("sft/a", "sft/b") and team_of(None) == ()


def test_a_run_without_checkpoints_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"--run-dir .*: no checkpoint"):
        plan(EvalOptions(run_dir=str(tmp_path), datasets=("nanolean",)))


def test_the_hash_of_a_set_of_theorems_knows_no_order_but_every_byte():
    one, two = Theorem("theorem a : True := by sorry", "d", "a"), Theorem("theorem b : True := by sorry", "d", "b")
    assert theorem_set_hash([one, two]) == theorem_set_hash([two, one]) != theorem_set_hash([one])
    assert theorem_set_hash([one]) != theorem_set_hash([Theorem("theorem a : True :=  by sorry", "d", "a")])


def test_proofs_have_files_of_their_own_whatever_the_ids_are():
    ids = ["plain", "Dir/../x", "a b", "T", "t", "", ".hidden", "ä₁'", "x" * 300, "定" * 120, "ℝ𝔸" * 60]
    names = proof_names([Theorem(f"theorem x : {number} = 0 := by sorry", "d", id) for number, id in enumerate(ids)])
    files = list(names.values())
    assert len({name.lower() for name in files}) == len(ids)
    assert all("/" not in name and not name.startswith(".") and len(name.encode()) < 140 for name in files)
    assert files[0] == "plain.lean" and files[7] == "ä₁'.lean"


def test_proofs_that_the_final_check_refused_are_counted():
    (theorem,) = theorems(1)
    checks = [("proven", {"accepted": True}), ("unproven", {"accepted": False}), ("unproven", None)]
    summary = summarize([Attempt(theorem, outcome, check=check) for outcome, check in checks], 8, 1.0)
    assert summary["refused_proofs"] == 1
    text = report({"dataset": "scripted", "split": "test", "seed": 0, **summary})
    assert "1 proofs were found and refused by the final check" in text
    assert "checked by" not in text


def test_a_score_says_whom_it_believes():
    summary = {"dataset": "scripted", "split": "test", "seed": 0, **summarize([], 8, 1.0)}
    here, there = "embedded NanoLean at 127.0.0.1:1", "Lean server h:8000, believed at its word (2 of 2 processes)"
    text = report({**summary, "parts": [{"lean": here}, {"lean": there}, {"lean": there}, {}]})
    assert f"\n  proofs checked by {here}; {there}" in text


def test_a_score_says_what_was_tried_beside_the_policy():
    summary = {"dataset": "scripted", "split": "test", "seed": 0, **summarize([], 8, 1.0)}
    assert "steps besides" not in report({**summary, "settings": {"search_finishers": ["simp"]}})
    text = report({**summary, "settings": {"search_finishers": ["simp"], "step_tactics": 12}})
    assert "besides the policy: simp\n  steps besides the policy: 12 that a state suggests" in text
