"""Out of memory in a step: a snapshot of the memory for whoever looks into it, and smaller pieces from then on."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch

from nanoproof.common.dist import DistInfo
from nanoproof.common.errors import UserError

log = logging.getLogger(__name__)

T = TypeVar("T")
HISTORY_ENTRIES = 100_000
"""How many of the last allocations a memory snapshot tells of, with the lines of code that made them."""


class Pieces:
    """How many rows of a batch go through the network at once: as many as asked for, and fewer once they do not fit."""

    def __init__(self, rows: int, snapshot: Callable[[], None] | None = None) -> None:
        """`snapshot` is called the first time that the memory does not suffice, before anything is freed."""
        self.rows = rows
        self._snapshot = snapshot

    def run(self, compute: Callable[[int], T]) -> T:
        """`compute(rows)`, again with half as many rows whenever it is out of memory; it must start from scratch.

        Raises torch.OutOfMemoryError if a single row does not fit.
        """
        while True:
            try:
                return compute(self.rows)
            except torch.OutOfMemoryError:
                snapshot, self._snapshot = self._snapshot, None
                if snapshot is not None:
                    snapshot()
                if self.rows == 1:
                    raise
            # Only here is the exception gone, and with it what its traceback held of the failed attempt.
            log.warning("out of memory with %d rows at once; from now on %d", self.rows, self.rows // 2)
            self.rows //= 2
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def memory_snapshots(directory: str | None, dist: DistInfo) -> Callable[[], None] | None:
    """Record allocations from now on; returns what writes them to `directory` (None without one).

    Raises UserError if the device cannot do that.
    """
    if directory is None:
        return None
    if dist.device.type != "cuda":
        raise UserError(f"--memory-profile {directory}: this needs a CUDA device, not {dist.device}; leave it out")
    path = Path(directory).expanduser() / f"out_of_memory_r{dist.rank}.pickle"
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.cuda.memory._record_memory_history(max_entries=HISTORY_ENTRIES)

    def write() -> None:
        torch.cuda.memory._dump_snapshot(str(path))
        log.warning("memory snapshot: %s (https://pytorch.org/memory_viz shows it)", path)

    return write
