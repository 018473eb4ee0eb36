"""Going on with a run: the options it was started with, and the signals that end it in good order."""

import argparse
import logging
import signal
from pathlib import Path
from types import FrameType

import torch

from nanoproof.common.config import Parser
from nanoproof.common.dist import all_reduce_sum
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.common.run_dir import resolve_run_dir

log = logging.getLogger(__name__)


def parse_resumable(parser: Parser, argv: list[str] | None) -> argparse.Namespace:
    """Parse a command line; with `--resume-from`, options that are not given are those of the resumed run."""
    args = parser.parse_args(argv)
    if args.resume_from is None or args.model_path is not None:
        return args
    run_path = resolve_run_dir(args.resume_from, "--resume-from")
    saved = read_json(run_path / "args.json")
    own = ("model_path", "resume_from", "resume_fresh_optimizer", "run_dir")
    parser.set_defaults(**{name: value for name, value in saved.items() if name in vars(args) and name not in own})
    args = parser.parse_args(argv)
    args.run_dir = str(run_path)
    return args


def check_stage(manifest: dict[str, object], stage: str, path: Path) -> None:
    """Raise UserError unless a checkpoint's manifest was written by `stage`."""
    extra = manifest.get("extra")
    found = extra.get("stage") if isinstance(extra, dict) else None
    if found != stage:
        raise UserError(f"--resume-from {path} is a run of {found or 'another kind'}, not of {stage}")


class StopSignal:
    """Whether SIGINT or SIGTERM asked this run to end. The second one ends the process at once."""

    def __init__(self) -> None:
        self.received = False

    def install(self) -> None:
        """Handle both signals from now on (main thread only)."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = True
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)

    def agreed(self, device: torch.device) -> bool:
        """Whether any rank was asked to end (a collective), so that all end after the same step."""
        return all_reduce_sum([float(self.received)], device)[0] > 0
