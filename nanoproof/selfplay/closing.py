"""How a run ends: what its last lines say, and what to do when the disk is full."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nanoproof.common.errors import UserError, is_full_disk
from nanoproof.common.run_dir import FINISHED
from nanoproof.data.theorems import split_names, splits_of
from nanoproof.gpt.checkpoint import finished_steps
from nanoproof.selfplay.config import RLConfig
from nanoproof.selfplay.learner import LoopState
from nanoproof.training.report import run_name


def what_next(run_path: Path, state: LoopState, config: RLConfig) -> list[str]:
    """The last checkpoint, and the command that comes next: to go on, or to score the best one on what is held out."""
    run = run_name(run_path)
    lines = [f"checkpoint: {run_path / f'model_{state.step}.pt'}"]
    if not (run_path / FINISHED).exists():
        return [*lines, f"to go on: python -m nanoproof.rl --resume-from {run}"]
    best = f"{run}/model_{state.best_step}.pt" if state.best_step >= 0 else run
    datasets = split_names(config.rl.eval_datasets)
    words = ["--model-path", best, "--datasets", *datasets]
    if all("test" in splits_of(name) for name in datasets):
        words += ["--split", "test"]
    if config.fleet.lean.servers:
        words += ["--lean-servers", *config.fleet.lean.servers]
    return [*lines, f"next: python -m scripts.prover_eval {shlex.join(words)}"]


@contextmanager
def told_how_to_go_on(run_path: Path) -> Iterator[None]:
    """A full disk ends the run with one line that says what to do; what is written so far is whole."""
    try:
        yield
    except (OSError, UserError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if not is_full_disk(cause):
            raise
        room, flags = f"make room on the disk of {run_path}", resume_flags(run_path)
        if flags:
            what_to_do = f"nothing that was written is damaged: {room}, then go on with {flags}"
        else:
            what_to_do = f"no checkpoint was saved yet: {room}, delete that and start again"
        raise UserError(f"{error}; {what_to_do}") from error


def resume_flags(run_path: Path) -> str:
    """The flags that go on with a run; empty if it has no checkpoint."""
    return f"--resume-from {run_name(run_path)}" if run_path.is_dir() and finished_steps(run_path) else ""
