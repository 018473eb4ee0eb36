"""Experiment trackers. `metrics.jsonl` is always written; a tracker sends the same numbers to a service.

A run directory remembers under which id (`tracker.json`), so that a resumed run goes on in the same curves.
"""

import secrets
from pathlib import Path
from typing import Any, Protocol

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json

ID_FILE = "tracker.json"


class Tracker(Protocol):
    """Receives the metrics of a run."""

    def log(self, metrics: dict[str, Any], step: int) -> None: ...

    def close(self) -> None: ...


class NullTracker:
    """Sends nothing anywhere."""

    def log(self, metrics: dict[str, Any], step: int) -> None:
        pass

    def close(self) -> None:
        pass


class WandbTracker:
    """Sends metrics to Weights & Biases (environment variables such as WANDB_MODE apply)."""

    def __init__(self, project: str, name: str, config: dict[str, Any], run_id: str | None = None) -> None:
        """`run_id` is that of a new run or of one to go on with. Raises UserError if the package is missing."""
        try:
            import wandb
        except ImportError as error:
            raise UserError("--loggers wandb needs the package wandb: pip install wandb") from error
        self._run = wandb.init(project=project, name=name, config=config, id=run_id, resume="allow")

    def log(self, metrics: dict[str, Any], step: int) -> None:
        self._run.log(metrics, step=step)

    def close(self) -> None:
        self._run.finish()


def make_tracker(
    loggers: tuple[str, ...], stage: str, name: str, config: dict[str, Any], rank: int = 0, path: Path | None = None
) -> Tracker:
    """The tracker for a run: null on other ranks than 0, without loggers, and for a run named `dummy`.

    With the run's directory, one that was tracked before goes on where it was.
    """
    if rank != 0 or not loggers or name == "dummy":
        return NullTracker()
    unknown = [logger for logger in loggers if logger != "wandb"]
    if unknown:
        raise UserError(f"--loggers knows wandb; got {', '.join(unknown)}")
    return WandbTracker(f"nanoproof-{stage}", name, config, _run_id(path) if path is not None else None)


def _run_id(path: Path) -> str:
    """The id of the run in a directory, a new one if it has none."""
    file = path / ID_FILE
    if not file.exists():
        atomic_write_json(file, {"wandb": secrets.token_hex(4)})
    run_id: str = read_json(file)["wandb"]
    return run_id
