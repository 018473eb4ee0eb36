"""Trackers, which the metrics of a run go to beside its `metrics.jsonl`: the same names, at the same steps.

`tracker.json` of a run directory holds the id under which it is tracked, so that a resumed run continues its curves.
"""

import secrets
from collections.abc import Sequence
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
    """Ignores the metrics."""

    def log(self, metrics: dict[str, Any], step: int) -> None:
        pass

    def close(self) -> None:
        pass


class WandbTracker:
    """Sends metrics to Weights & Biases (environment variables such as WANDB_MODE apply)."""

    def __init__(self, project: str, name: str, config: dict[str, Any], run_id: str | None = None) -> None:
        """Start a run, or resume the one with this `run_id`. Raises UserError if that is not possible here."""
        try:
            import wandb
        except ImportError as error:
            raise UserError("--loggers wandb needs the package wandb: pip install wandb") from error
        try:
            self._run = wandb.init(project=project, name=name, config=config, id=run_id, resume="allow")
        except Exception as error:  # a key that is missing, a server out of reach: wandb has no common class for these
            reason = " ".join(str(error).split())[:200]
            raise UserError(
                f"--loggers wandb: {reason} (run `wandb login`, or set WANDB_MODE=offline, or leave --loggers out)"
            ) from error

    def log(self, metrics: dict[str, Any], step: int) -> None:
        self._run.log(metrics, step=step)

    def close(self) -> None:
        self._run.finish()


class TrackioTracker:
    """Keeps metrics with trackio: on this machine, or where its variables such as TRACKIO_SPACE_ID say."""

    def __init__(self, project: str, name: str, config: dict[str, Any]) -> None:
        """Start a run, or resume the one of this name. Raises UserError if that is not possible here."""
        try:
            import trackio
        except ImportError as error:
            raise UserError("--loggers trackio needs the package trackio: pip install trackio") from error
        try:
            # No dashboard inside of a notebook, and no figures of its own beside the run's.
            self._run = trackio.init(
                project, name=name, config=config, resume="allow", embed=False, auto_log_gpu=False, auto_log_cpu=False
            )
        except Exception as error:  # a space that is refused, a server out of reach, a disk that is full
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"--loggers trackio: {reason} (leave --loggers out to go on without it)") from error

    def log(self, metrics: dict[str, Any], step: int) -> None:
        self._run.log(metrics, step=step)

    def close(self) -> None:
        self._run.finish()


class SeveralTrackers:
    """Sends the metrics to each of several trackers."""

    def __init__(self, trackers: Sequence[Tracker]) -> None:
        self._trackers = trackers

    def log(self, metrics: dict[str, Any], step: int) -> None:
        for tracker in self._trackers:
            tracker.log(metrics, step)

    def close(self) -> None:
        for tracker in self._trackers:
            tracker.close()


TRACKERS = ("wandb", "trackio")


def make_tracker(
    loggers: tuple[str, ...], stage: str, name: str, config: dict[str, Any], rank: int = 0, path: Path | None = None
) -> Tracker:
    """Construct the tracker of a run: null on other ranks than 0 and without loggers.

    With the `path` of the run's directory, a run that was tracked before is resumed; one without a name of its own
    (`dummy`) has that of its directory.
    """
    if rank != 0 or not loggers:
        return NullTracker()
    if name == "dummy" and path is not None:
        name = path.name
    unknown = [logger for logger in loggers if logger not in TRACKERS]
    if unknown:
        raise UserError(f"--loggers knows {', '.join(TRACKERS)}; got {', '.join(unknown)}")
    project = f"nanoproof-{stage}"
    run_id = None
    if path is not None:
        run_id = _run_id(path)
    trackers: list[Tracker] = []
    if "wandb" in loggers:
        trackers.append(WandbTracker(project, name, config, run_id))
    if "trackio" in loggers:
        # It knows runs by name alone: two of one name in different folders are not to be one.
        of_this_run = " ".join(filter(None, (name, run_id)))
        trackers.append(TrackioTracker(project, of_this_run, config))
    return SeveralTrackers(trackers)


def _run_id(path: Path) -> str:
    """Return the tracker's id of the run in a directory; a new one is written if it has none."""
    file = path / ID_FILE
    if not file.exists():
        atomic_write_json(file, {"wandb": secrets.token_hex(4)})
    return read_json(file)["wandb"]
