"""Reinforcement learning and evaluation on a data set of the real shape, with whitelists, on embedded servers."""

import json
import shutil

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.data.rl import numinamath
from nanoproof.data.theorems.whitelists import choose_lean, theorem_hash
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.rl import __main__ as rl
from scripts import prover_eval
from tests.data.installed import install_numinamath
from tests.rl import tiny

VERSION = "v4.27.0"
FAILING_TRAIN = 4


@pytest.fixture
def numina():
    """506 theorems, six of which are for training, four of these failing; of the validation ones the first fails."""
    names = [f"u{number}" for number in range(506)]
    props = [tiny.PROPS[number % len(tiny.PROPS)] for number in range(506)]
    statements = [f"import Mathlib\n\ntheorem {name} ({p} : Prop) : {p} → {p} := by" for name, p in zip(names, props)]
    directory = install_numinamath({"uuid": names, "formal_statement": statements})
    train, valid = (numinamath.list_theorems(split) for split in ("train", "valid"))
    hashes = [theorem_hash(theorem.source) for theorem in (*train, *valid)]
    failing = [*hashes[:FAILING_TRAIN], hashes[len(train)]]
    whitelist = {"lean_version": VERSION, "passing": [key for key in hashes if key not in failing], "failing": failing}
    (directory / f"numinamath.parquet.whitelist.{VERSION}.json").write_text(json.dumps(whitelist))
    yield train, valid
    shutil.rmtree(directory)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "lean-toolchain").write_text(f"leanprover/lean4:{VERSION}\n")
    return tmp_path


def test_a_step_trains_on_a_downloaded_set_without_what_its_whitelist_refuses(folder, numina, project, tmp_path):
    run_path = tmp_path / "run"
    words = ["--model-path", str(folder / "sft"), *tiny.rl_words(folder, run_path, 1), "--no-eval-start"]
    words += ["--datasets", "numinamath", "--lean-project", str(project), "--max-eval-theorems", "1"]
    assert rl.main(words) == 0
    (record,) = read_jsonl(run_path / "metrics.jsonl")
    assert record["step"] == 1 and record["transitions"] >= 8
    tried = {attempt.theorem.id for _, attempt in logged_attempts(run_path)}
    assert tried <= {theorem.id for theorem in numina[0][FAILING_TRAIN:]} and tried
    decisions = read_json(run_path / "meta.json")["decisions"]
    assert decisions["whitelists"] == f"whitelists of Lean {VERSION} (--lean-project {project})"
    assert decisions["theorems"].startswith("2 to train on")


def test_training_on_a_set_without_the_whitelist_that_is_asked_for_names_the_command(folder, numina, project, tmp_path):
    (project / "lean-toolchain").write_text("leanprover/lean4:v4.28.0\n")
    words = ["--model-path", str(folder / "sft"), *tiny.rl_words(folder, tmp_path / "run", 1)]
    with pytest.raises(UserError, match=r"no whitelist of numinamath for Lean v4\.28\.0 .* check-init numinamath"):
        rl.main([*words, "--datasets", "numinamath", "--lean-project", str(project)])
    assert not (tmp_path / "run").exists()


def test_a_set_that_leaves_nothing_to_train_on_is_one_line(folder, tmp_path):
    directory = install_numinamath({"uuid": ["a"], "formal_statement": ["theorem a : True := by"]})
    words = ["--model-path", str(folder / "sft"), *tiny.rl_words(folder, tmp_path / "run", 1)]
    try:
        with pytest.raises(UserError, match="--datasets numinamath: no theorem is left to train on"):
            rl.main([*words, "--datasets", "numinamath"])
    finally:
        shutil.rmtree(directory)


def test_evaluation_leaves_out_what_the_whitelist_refuses(numina, project, tmp_path, monkeypatch):
    monkeypatch.setenv("LEAN_PROJECT_PATH", "/nowhere")  # it does not count where the embedded prover is at work
    words = ["--policy", "solver-only", "--datasets", "numinamath", "--max-theorems", "2", "--lean-processes", "1"]
    words += ["--output-dir", str(tmp_path / "out"), "--device-type", "cpu", "--num-simulations", "4"]
    assert prover_eval.main([*words, "--lean-project", str(project)]) == 0
    tried = [record["theorem"]["id"] for record in read_jsonl(tmp_path / "out" / "results.jsonl")]
    assert tried == [theorem.id for theorem in numina[1][1:3]]


def test_the_environment_names_the_project_where_real_servers_are_at_work(project, monkeypatch):
    monkeypatch.setenv("LEAN_PROJECT_PATH", str(project))
    assert choose_lean(None).version == VERSION and choose_lean(None, embedded=True).version == "nanolean"
    monkeypatch.delenv("LEAN_PROJECT_PATH")
    assert choose_lean(None).version_for("numinamath") is None


def test_a_project_without_a_lean_version_is_one_line(tmp_path):
    with pytest.raises(UserError, match="not a Lean project: cannot read"):
        choose_lean(str(tmp_path))
