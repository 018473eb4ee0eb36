"""The signals that end a run in good order."""

import itertools
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from functools import partial

import torch

from nanoproof.common.dist import SharedCounter, all_reduce_sum

REPEAT_SECONDS = 1.0
"""A signal that comes so soon after the first is the same one: launchers pass on what the whole group has got."""


class StopSignal:
    """Whether SIGINT or SIGTERM asked this run to end. A second one ends the process at once.

    The second one is a thread's to read, so that it counts even while the main thread waits inside a kernel or for
    another rank.
    """

    _numbers = itertools.count()

    def __init__(self) -> None:
        """All ranks make theirs together, after they have joined."""
        self.received = False
        self._ranks, self._told = SharedCounter(f"stop/{next(self._numbers)}"), False
        self._undo: list[Callable[[], object]] = []

    def __enter__(self) -> "StopSignal":
        """Handle both signals from now on (main thread only)."""
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        previous = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        self._undo = [lambda: signal.set_wakeup_fd(previous), theirs.close]
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.signal(number, self._receive)
            self._undo.insert(0, partial(signal.signal, number, handler))
        threading.Thread(target=self._listen, args=(ours,), name="signals", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Give both signals back."""
        for undo in self._undo:
            undo()

    def _receive(self, *_: object) -> None:
        self.received = True

    def _listen(self, ours: socket.socket) -> None:
        first: float | None = None
        with ours:
            while data := ours.recv(64):
                numbers = [number for number in data if number in (signal.SIGINT, signal.SIGTERM)]
                now = time.monotonic()
                if numbers and first is not None and now - first > REPEAT_SECONDS:
                    os._exit(128 + numbers[-1])
                if numbers and first is None:
                    first = now

    def asked(self) -> bool:
        """Whether this rank was asked to end, or knows by now of another one (no collective, so ranks may differ)."""
        if self.received and not self._told:
            self._ranks.add(1)
            self._told = True
        return self._told or self._ranks.add(0) > 0

    def agreed(self, device: torch.device) -> bool:
        """Whether any rank was asked to end (a collective), so that all end after the same step."""
        return all_reduce_sum([float(self.received)], device)[0] > 0
