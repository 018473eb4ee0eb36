"""What the last lines of a run say."""

from dataclasses import replace
from pathlib import Path

import pytest

from nanoproof.rl.learner import RLState
from nanoproof.rl.loop import what_next
from nanoproof.rl.options import RLConfig, parse_args


@pytest.mark.parametrize(
    ("benchmarks", "servers", "words"),
    [
        (["nanolean"], [], "--datasets nanolean --split test"),
        (["minif2f,proofnet"], ["a:8000", "b"], "--datasets minif2f proofnet --split test --lean-servers a:8000 b"),
        (["minif2f", "leanworkbook"], [], "--datasets minif2f leanworkbook"),
    ],
)
def test_the_next_command_scores_the_best_checkpoint_on_what_the_run_was_evaluated_on(
    tmp_path: Path, benchmarks: list[str], servers: list[str], words: str
) -> None:
    lean = ["--lean-servers", *servers] if servers else []
    args = parse_args(["--model-path", "sft/RUN", "--eval-datasets", *benchmarks, *lean], "")
    config, state = RLConfig.from_args(args), replace(RLState(), step=7, best_step=5)
    assert what_next(tmp_path, state, config)[1].startswith("to resume: python -m nanoproof.rl --resume-from ")
    (tmp_path / "finished").touch()
    last, following = what_next(tmp_path, state, config)
    assert last == f"checkpoint: {tmp_path / 'model_7.pt'}"
    assert following.startswith("next: python -m scripts.prover_eval --model-path ")
    assert following.endswith(f"/model_5.pt {words}")
