"""A watchdog over the ranks of a run: one that dies, freezes or is stuck is named, and the others end soon after.

A collective reports a missing rank after half an hour at best, and while ranks collect or evaluate no collective is
pending at all. So a thread of each rank writes a heartbeat to the rendezvous store every second, with the position of
its main thread, and reads those of the others. It needs no help from the main thread, which may be busy for long.
"""

import json
import logging
import os
import platform
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Literal, Protocol

from nanoproof.common import distributed
from nanoproof.common.errors import UserError, report_error
from nanoproof.common.process import machine_id

log = logging.getLogger(__name__)

SILENT_SECONDS = 30.0
"""A rank without a heartbeat for so long is gone, or its machine, or the connection to it."""
STUCK_SECONDS = 1200.0
"""How long a rank may keep all others waiting in a collective. The collective itself gives up after half an hour."""
BEAT_SECONDS = 1.0
GRACE_SECONDS = 15.0
"""Time for the main thread to end in good order, before the process is ended for it."""
RANKS_PER_SECOND = 64
# The folder itself: a clone is called nanoproof too, and what is installed in its .venv is not ours.
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_COLLECTING = frozenset({"gather_json", "all_reduce_sum", "barrier"})
_COLLECTIVES = os.path.join("torch", "distributed", "")


class RankLost(UserError):
    """Another rank is gone, so that the run cannot continue."""


class Store(Protocol):
    """The methods of torch's key-value stores that are used here."""

    def set(self, key: str, value: str) -> object: ...

    def get(self, key: str) -> bytes: ...

    def check(self, keys: list[str]) -> bool: ...


@dataclass(frozen=True)
class Heartbeat:
    """What a rank writes to the store, every second and at its end; in the store it is JSON."""

    state: Literal["alive", "ended", "failed"]
    beat: int
    text: str
    """Where the main thread is, or the error that ended it."""
    waits: bool
    """Whether the main thread is in a collective."""
    seconds: float
    """How long `waits` has been so."""
    pid: int
    host: str
    machine: str


class RankWatch:
    """Watches from `with` to its end; alone it does nothing. `check` raises RankLost when another rank is gone.

    If the main thread does not get to end the run, because it is stuck itself, the watch ends the process. A launcher
    ends all other ranks with SIGTERM when one dies: that signal does not end a rank that has still to report this.
    """

    def __init__(
        self,
        info: distributed.DistInfo,
        store: Store | None,
        silent_seconds: float = SILENT_SECONDS,
        stuck_seconds: float = STUCK_SECONDS,
        beat_seconds: float = BEAT_SECONDS,
    ) -> None:
        """`store` is None for a rank that is alone."""
        self._info, self._store = info, store
        self._silent_seconds, self._stuck_seconds = silent_seconds, stuck_seconds
        self._pause = max(beat_seconds, info.world_size / RANKS_PER_SECOND)
        self._main = threading.main_thread()
        self._about: dict[str, Any] = {"pid": os.getpid(), "host": platform.node(), "machine": machine_id()}
        self._beats = 0
        self._since = time.monotonic()
        self._in_collective = False
        self._heard: dict[int, tuple[str, float]] = {}
        self._others: dict[int, Heartbeat] = {}
        self._lost: str | None = None
        self._before: Any = None
        """What SIGTERM did before, if the watch handles it."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rank-watch", daemon=True)
        self.hint: Callable[[], str] = str
        """Called when a rank is lost; returns how to resume the run, for the message, or "" if it cannot be resumed."""

    @classmethod
    def connect(cls, info: distributed.DistInfo) -> "RankWatch":
        """Connect to the store of torchrun, and construct the watch over the ranks that it started."""
        return cls(info, distributed.connect_store(seconds=20.0))

    def check(self) -> None:
        """Raise RankLost if a rank is gone."""
        if self._lost is not None:
            raise RankLost(self._message())

    def __enter__(self) -> "RankWatch":
        if self._store is not None:
            self._beat()
            self._thread.start()
            if threading.current_thread() is self._main:
                self._before = signal.signal(signal.SIGTERM, self._terminate)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Tell the others that this rank has ended; raises RankLost for a collective that failed as a rank is gone."""
        if self._store is None:
            return
        broken = isinstance(error, RuntimeError)
        if broken:
            self._find_lost()
        self._ended.set()
        self._thread.join(5.0)
        with suppress(RuntimeError):
            follows = isinstance(error, RankLost) or (broken and self._lost is not None)
            # A rank that ends because another is gone did not fail: the one to be named is the first.
            text = ""
            if error is not None:
                text = str(error)
            self._publish("ended" if error is None or follows else "failed", text)
        # The launcher ends all ranks by SIGTERM once one has died; this rank has still to say why the run ends.
        launched = self._lost is not None and "TORCHELASTIC_RUN_ID" in os.environ
        if self._before is not None:
            signal.signal(signal.SIGTERM, signal.SIG_IGN if launched else self._before)
        if broken and self._lost is not None:
            raise RankLost(self._message()) from error

    def _find_lost(self) -> None:
        """Wait until a rank is known to be gone, or until that would have shown."""
        deadline = time.monotonic() + 4 * self._pause
        while self._lost is None and time.monotonic() < deadline:
            time.sleep(self._pause / 10)

    def _terminate(self, number: int, _frame: object) -> None:
        # When a rank dies, the launcher's signal may come before this watch has seen the death: the run would
        # end well, or say that a signal stopped it.
        self._find_lost()
        if self._lost is None:
            signal.signal(number, self._before)
            os.kill(os.getpid(), number)

    def _message(self) -> str:
        hint = self.hint()
        if not hint:
            return f"{self._lost}; the run ends here"
        return f"{self._lost}; the run ends here, resume with {hint}"

    # -- the watching thread -----------------------------------------------------------------------------------------

    def _run(self) -> None:
        while self._lost is None and not self._ended.wait(self._pause):
            try:
                self._beat()
                self._lost = self._look()
            except RuntimeError as error:  # all that torch's stores raise
                reason = str(error).splitlines()[0][:200]
                self._lost = f"the rendezvous store, which torchrun runs for rank 0, cannot be reached ({reason})"
        if self._lost is None:
            return
        log.error("%s", self._lost)
        if not self._ended.wait(GRACE_SECONDS):
            report_error(self._message())
            logging.shutdown()
            sys.stderr.flush()
            # The main thread is in a kernel or a collective that no exception reaches.
            os._exit(2)

    def _beat(self) -> None:
        self._beats += 1
        where, in_collective = self._main_thread()
        if in_collective != self._in_collective:
            self._in_collective, self._since = in_collective, time.monotonic()
        self._publish("alive", where)

    def _publish(self, state: Literal["alive", "ended", "failed"], text: str) -> None:
        assert self._store is not None
        seconds = round(time.monotonic() - self._since, 1)
        beat = Heartbeat(state, self._beats, text, self._in_collective, seconds, **self._about)
        self._store.set(_key(self._info.rank), json.dumps(asdict(beat)))

    def _main_thread(self) -> tuple[str, bool]:
        """Return where the main thread is in our code, and whether it waits for other ranks there."""
        frame = sys._current_frames().get(self._main.ident or 0)
        in_collective = False
        while frame is not None:
            file = frame.f_code.co_filename
            ours = file == distributed.__file__
            # With nccl a collective returns at once, and the first read of its result waits.
            in_collective |= _COLLECTIVES in file or (ours and frame.f_code.co_name in _COLLECTING)
            if file.startswith(_PACKAGE) and not ours:
                return f"{file.removeprefix(_PACKAGE)}:{frame.f_lineno} in {frame.f_code.co_name}", in_collective
            frame = frame.f_back
        return "", in_collective

    def _look(self) -> str | None:
        """Read the heartbeats of the others: return which rank is gone and how that shows, None if none is."""
        assert self._store is not None
        now = time.monotonic()
        for rank in range(self._info.world_size):
            if rank == self._info.rank or not self._store.check([_key(rank)]):
                continue
            text = self._store.get(_key(rank)).decode()
            # When a heartbeat was read, by this machine's clock: those of two machines need not agree.
            if self._heard.get(rank, ("", 0.0))[0] != text:
                self._heard[rank] = text, now
                self._others[rank] = Heartbeat(**json.loads(text))
            if problem := self._gone(rank, now - self._heard[rank][1]):
                return problem
        return self._stuck()

    def _gone(self, rank: int, silent: float) -> str | None:
        beat = self._others[rank]
        name = f"rank {rank} (process {beat.pid} on {beat.host})"
        if beat.state == "ended":
            return None
        if beat.state == "failed":
            return f"rank {rank} failed: {beat.text}"
        # A process id means something on one machine and in one namespace only.
        if beat.machine == self._about["machine"] and not _exists(beat.pid):
            return f"{name} has died; it was at {beat.text}"
        if silent > self._silent_seconds:
            return f"{name} has given no sign of life for {silent:.0f} s; it was at {beat.text}"
        return None

    def _stuck(self) -> str | None:
        if not self._in_collective or time.monotonic() - self._since < self._stuck_seconds:
            return None
        for rank, beat in sorted(self._others.items()):
            if beat.state == "alive" and not beat.waits and beat.seconds > self._stuck_seconds:
                return (
                    f"rank {rank} (process {beat.pid} on {beat.host}) keeps the others waiting for "
                    f"{self._stuck_seconds:.0f} s; it is at {beat.text}"
                )
        return None


def _key(rank: int) -> str:
    return f"nanoproof/watch/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}/{rank}"


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is there, and another user's
        pass
    return True
