"""Test-time learning from end to end, over a scripted Lean and a policy that knows more after training."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest
import torch

from nanoproof.actors.fleet import Fleet
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json, read_jsonl
from nanoproof.lean.types import Theorem, TheoremRejected
from nanoproof.model.checkpoint import load_model
from nanoproof.model.checkpoint_files import finished_steps
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.rl import __main__ as rl
from nanoproof.rl import learner
from nanoproof.rl.options import RLConfig, parse_args
from nanoproof.search.policy import Suggestion
from nanoproof.ttrl import __main__ as ttrl
from nanoproof.ttrl.learning import TargetExperience, TargetSource, budget_of
from nanoproof.ttrl.ttrl_options import TTRLOptions
from tests.fakes.lean import Outcome, ScriptedLean, branch
from tests.fakes.policy import suggestion
from tests.rl import scripted_rl
from tests.training.small import ALONE

pytestmark = pytest.mark.slow

TARGET = "theorem target (n : Nat) (h : 0 < n) : n + 0 = n := by sorry"
SCRIPT: dict[str, dict[str, Outcome]] = {
    **{"V": {"first": ("W",)}, "W": {"close": ()}},
    **{"T": {"hard": ("U",)}, "U": {"close": ()}},
}


class Session(ScriptedLean):
    """The target begins in T, variants in V; statements with `≤` are refused."""

    def start(self, theorem: Theorem) -> Any:
        if " ≤ " in theorem.source:
            raise TheoremRejected("scripted: ≤")
        return branch("V" if theorem.dataset == "variants" else "T")


class Slot:
    address = "scripted:1"

    def lease(self, timeout: float) -> Session:
        return Session(SCRIPT)


class Policy(scripted_rl.Policy):
    """Knows `hard` once it was trained `learns_after` times."""

    learns_after = 1

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        words = ["wrong", "first", "close"]
        if self.log.count("resume") >= self.learns_after:
            words.append("hard")
        return suggestion(words, 2.0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scripted_rl.make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def _scripts() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    fleet = Fleet([Slot(), Slot()], None, "scripted", None, is_real=True)  # type: ignore[list-item]
    with (
        mock.patch.object(rl, "open_fleet", lambda *_: fleet),
        mock.patch.object(learner, "model_policy", Policy),
    ):
        yield
    torch.set_num_threads(threads)


def run(model: Path, path: Path, *more: str, target: Sequence[str] = (TARGET,)) -> int:
    words = ["--sft-data", str(model / "data.jsonl"), "--row-length", "128", "--target-examples-per-step", "6"]
    words += ["--device-type", "cpu", "--log-level", "warning", "--collect-transitions", "6"]
    words += ["--target-simulations", "4", "--mm-base-simulations", "4", "--max-variants", "20"]
    return ttrl.main([*target, "--model-path", str(model), "--run-dir", str(path), *words, *more])


@pytest.mark.nightly
def test_a_theorem_is_proved_once_the_network_has_learned_from_its_variants(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run"
    assert run(model, path) == 0
    result = read_json(path / "result.json")
    tries = result["tries"]
    assert result["outcome"] == "proven" and [one["outcome"] for one in tries[:-1]] == ["unproven"] * (len(tries) - 1)
    assert [one["budget"] for one in tries] == [4 * 2**number for number in range(len(tries))] and len(tries) > 1
    counts = result["variants"]
    assert counts["weakened"]["refused"] == 2 and counts["weakened"]["kept"] == 0
    assert sum(each["kept"] for each in counts.values()) == len(list(read_jsonl(path / "variants.jsonl")))
    assert sum(each["proved"] for each in counts.values()) > 0
    proof = (path / "proof.lean").read_text()
    assert "hard" in proof and proof in capfd.readouterr().out
    assert finished_steps(path) == []  # the network's copy is gone, the checkpoint to start from is not
    assert finished_steps(model) == [0]


def test_what_search_proves_at_once_needs_no_variants(model: Path, tmp_path: Path) -> None:
    with mock.patch.object(Policy, "learns_after", 0):
        assert run(model, tmp_path / "run") == 0
    assert [one["outcome"] for one in read_json(tmp_path / "run" / "result.json")["tries"]] == ["proven"]
    assert not (tmp_path / "run" / "variants.jsonl").exists()


def test_a_run_whose_time_is_over_can_keep_its_network_and_be_resumed(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    with mock.patch.object(Policy, "learns_after", 10**6):
        assert run(model, path, "--minutes", "0.04", "--save") == 1
    before = read_json(path / "result.json")
    assert before["outcome"] == "unproven" and len(before["tries"]) > 1 and finished_steps(path)[-1] > 0
    assert load_model(path)[2]["extra"]["stage"] == "ttrl"
    # An attempt has the number of the step that learns from it, counted from 0, the first try that of the first step.
    logged = Counter(step for step, _ in logged_attempts(path))
    learned = {row["step"] - 1: row["attempts"] for row in read_jsonl(path / "metrics.jsonl")}
    assert logged[0] > learned.pop(0) and learned.items() <= logged.items()
    variants = list(read_jsonl(path / "variants.jsonl"))
    with mock.patch.object(Policy, "learns_after", 0):
        assert ttrl.main(["--resume-from", str(path), "--minutes", "5"]) == 0
    after = read_json(path / "result.json")
    assert after["tries"][: len(before["tries"])] == before["tries"]
    assert after["tries"][-1]["budget"] == budget_of(len(after["tries"]) - 1, TTRLOptions(target_simulations=4))
    assert list(read_jsonl(path / "variants.jsonl"))[: len(variants)] == variants
    assert after["variants"]["weakened"] == before["variants"]["weakened"]
    attempts = [attempt for _, attempt in logged_attempts(path)]
    assert attempts[-1].theorem.id == "user" or any(attempt.outcome == "proven" for attempt in attempts)


def test_theorems_of_a_file_are_proved_one_after_another_each_in_its_run(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "two.lean"
    file.write_text(f"{TARGET}\n\n{TARGET.replace('target', 'other')}\n\ntheorem done : True := trivial\n")
    with mock.patch.object(Policy, "learns_after", 0):
        assert run(model, tmp_path / "runs", target=[str(file)]) == 0
        assert run(model, tmp_path / "one", "--theorem", "other", target=[str(file)]) == 0
    assert sorted(each.name for each in (tmp_path / "runs").iterdir()) == ["other", "target"]
    assert "other" in (tmp_path / "one" / "proof.lean").read_text()


@pytest.mark.parametrize(
    ("target", "more"),
    [
        (["theorem t : 0 ≤ 1"], []),  # Lean refuses it
        (["theorem t (n : Nat"], []),
        (["missing.lean"], []),
        (["nanolean"], []),
        (["nanolean-hard"], ["--theorem", "no_such_theorem"]),
        ([TARGET], ["--resume-from", "x"]),
        ([TARGET], ["--target-share", "2"]),
    ],
)
def test_invalid_input_ends_with_exit_code_2(model: Path, tmp_path: Path, target: list[str], more: list[str]) -> None:
    with pytest.raises((UserError, SystemExit)) as stopped:
        run(model, tmp_path / "run", *more, target=target)
    assert not isinstance(stopped.value, SystemExit) or stopped.value.code == 2


def test_a_try_counts_between_the_end_of_its_collection_and_what_is_learned_from_it(tmp_path: Path) -> None:
    target, config = Theorem(TARGET, "user", "target"), RLConfig.from_args(parse_args(["--model-path", "x"]))
    experience = TargetExperience.of_target(config, target)
    source = TargetSource(experience, TTRLOptions(target_simulations=4), tmp_path, ALONE, 0, 0)
    source.target_only = True
    task = source.next()
    assert task is not None and task.num_simulations == 4
    source.finish(task, Attempt(target, "unproven", budget=4, counts={"simulations": 4}))
    source.ends_step = False  # as the first try, which the network does not learn from
    fresh = source.drain()
    budgets = [source.choose(Random(0))]
    experience.learn(*source.exchange(fresh))
    assert source.step == 0
    budgets.append(source.choose(Random(0)))
    assert [each.num_simulations for each in budgets if each is not None] == [8, 8]
    source.close()


def test_budgets_rise_up_to_the_largest() -> None:
    options = TTRLOptions(target_simulations=10, target_growth=3.0, target_max_simulations=100)
    assert [budget_of(number, options) for number in (0, 1, 2, 3, 10_000)] == [10, 30, 90, 100, 100]


def test_options_that_depend_on_the_network_are_those_of_its_run(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    with mock.patch.object(Policy, "learns_after", 10**6):
        assert run(model, path, "--minutes", "0.02", "--save") == 1
    parsed = ttrl.parse_args([TARGET, "--model-path", str(path)])
    assert (parsed.row_length, parsed.run_dir, parsed.minutes) == (128, None, 30.0)
    saved = read_json(path / "args.json")
    atomic_write_json(path / "args.json", {**saved, "search_algorithm": "ao-star", "search_c_base": 7.0})
    parsed = ttrl.parse_args([TARGET, "--model-path", str(path)])
    assert (parsed.search_algorithm, parsed.search_c_base) == ("mcts", 7.0), "a choice that is gone is not taken over"
