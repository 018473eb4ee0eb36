"""Experiment trackers. `metrics.jsonl` is always written; a tracker sends the same numbers to a service."""

from typing import Any, Protocol

from nanoproof.common.errors import UserError


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

    def __init__(self, project: str, name: str, config: dict[str, Any]) -> None:
        try:
            import wandb
        except ImportError as error:
            raise UserError("--loggers wandb needs the package wandb: pip install wandb") from error
        self._run = wandb.init(project=project, name=name, config=config)

    def log(self, metrics: dict[str, Any], step: int) -> None:
        self._run.log(metrics, step=step)

    def close(self) -> None:
        self._run.finish()


def make_tracker(loggers: tuple[str, ...], stage: str, name: str, config: dict[str, Any], rank: int = 0) -> Tracker:
    """The tracker for a run: null on other ranks than 0, without loggers, and for a run named `dummy`."""
    if rank != 0 or not loggers or name == "dummy":
        return NullTracker()
    unknown = [logger for logger in loggers if logger != "wandb"]
    if unknown:
        raise UserError(f"--loggers knows wandb; got {', '.join(unknown)}")
    return WandbTracker(f"nanoproof-{stage}", name, config)
