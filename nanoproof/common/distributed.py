"""Device, compute dtype, process group and collectives (one process, gloo or nccl), and signals that end a run."""

import itertools
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanoproof.common.errors import UserError
from nanoproof.common.host_memory import keep_freed_memory
from nanoproof.common.launch import end_with_parent
from nanoproof.common.torch_there import Later, require_torch

if TYPE_CHECKING:
    import torch
    import torch.distributed as dist
else:  # commands that turn out to need no network are not to wait for it
    torch, dist = Later("torch"), Later("torch.distributed")

NVIDIA_GPUS = Path("/proc/driver/nvidia/gpus")
ALLOCATOR = "PYTORCH_ALLOC_CONF"
"""Settings of torch's allocator; segments that grow leave fewer gaps where sizes of batches differ."""
DTYPES = ("float32", "bfloat16", "float16", "float64")
"""The last is slow: for inference that is to be the same to the last bit in whichever batch."""


# -- Device, compute dtype and process group -------------------------------------------------------------------------


@dataclass(frozen=True)
class DistInfo:
    """Rank, device and compute dtype of this process, with the reasons for the choice."""

    rank: int
    local_rank: int
    world_size: int
    device: "torch.device"
    device_reason: str
    dtype: "torch.dtype"
    dtype_reason: str
    allocator: str = ""
    """What the C library does with freed memory, on a CPU."""

    @property
    def is_main(self) -> bool:
        return self.rank == 0

    def decisions(self) -> dict[str, str]:
        """Describe each choice with its reason, for `meta.json` and the log."""
        chosen = {
            "device": f"{self.device} ({self.device_reason})",
            "dtype": f"{str(self.dtype).removeprefix('torch.')} ({self.dtype_reason})",
            "ranks": f"{self.world_size} ({'torchrun' if joined() else 'started alone'})",
        }
        if self.device.type == "cpu":
            chosen["allocator"] = self.allocator
            chosen["threads"] = f"{torch.get_num_threads()} of {os.cpu_count()} cores ({self._threads_reason()})"
        return chosen

    def _threads_reason(self) -> str:
        threads = os.environ.get("OMP_NUM_THREADS")
        if threads is None:
            return "torch's choice"
        hint = ""
        if self.world_size > 1 and threads == "1":
            hint = "; torchrun sets 1 where none is given"
        return f"for each rank, OMP_NUM_THREADS={threads}{hint}"


def choose_device(device_type: str = "", local_rank: int = 0) -> "tuple[torch.device, str]":
    """Choose the device for `--device-type` (empty: the best there is), and give the reason.

    Raises UserError if this machine has no such device, or none for the local rank.
    """
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if device_type and device_type not in available:
        raise UserError(f"--device-type must be cuda, cpu or mps; got {device_type}")
    if device_type and not available[device_type]:
        raise UserError(f"--device-type {device_type}: this machine has no such device")
    chosen = device_type or next(kind for kind, there in available.items() if there)
    if chosen == "cuda" and local_rank >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise UserError(f"--nproc_per_node must be at most {count}, the CUDA devices of this machine")
    reason = "asked for" if device_type else f"the first available of {', '.join(available)}"
    if chosen == "cpu" and not device_type and NVIDIA_GPUS.exists():
        reason += "; this machine has NVIDIA GPUs, but torch cannot use them: is their driver too old?"
    if chosen == "cuda":
        return torch.device(chosen, local_rank), reason
    return torch.device(chosen), reason


def choose_dtype(device: "torch.device") -> "tuple[torch.dtype, str]":
    """Choose the compute dtype, and give the reason; `NANOPROOF_DTYPE` decides where it is set.

    Otherwise it is bfloat16 on CUDA devices of capability 8.0 or more, and float32. Raises UserError.
    """
    asked = os.environ.get("NANOPROOF_DTYPE")
    if asked:
        if asked not in DTYPES:
            raise UserError(f"NANOPROOF_DTYPE must be one of {', '.join(DTYPES)}; got {asked}")
        return getattr(torch, asked), "NANOPROOF_DTYPE"
    if device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0):
        return torch.bfloat16, "CUDA device of capability 8.0 or more"
    return torch.float32, f"{device.type} device"


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether memory of a GPU or of this machine did not suffice."""
    # Of a CPU's memory torch says so in words alone.
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


_PLACE = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
_BY_TORCHRUN = "several ranks are started with torchrun, which sets all of it (docs/scaling.md); else unset RANK"


def _place_of_environment() -> tuple[int, int, int]:
    """Return rank, number of ranks, and rank on this machine. Raises UserError for others than torchrun sets."""
    texts = {name: os.environ.get(name, default) for name, default in _PLACE.items()}
    rank, world_size, local_rank = (int(text) if text.isdecimal() else -1 for text in texts.values())
    # A rank beyond the last would wait half an hour for a place.
    if min(rank, local_rank) < 0 or rank >= world_size:
        found = ", ".join(f"{name}={text}" for name, text in texts.items())
        raise UserError(f"{found} in the environment; {_BY_TORCHRUN}")
    return rank, world_size, local_rank


def init_distributed(device_type: str = "", timeout_minutes: float = 30.0) -> DistInfo:
    """Join the process group if torchrun started us, and choose device and dtype. Raises UserError without torch."""
    require_torch()
    rank, world_size, local_rank = _place_of_environment()
    device, device_reason = choose_device(device_type, local_rank)
    if device.type == "mps" and world_size > 1:
        raise UserError("--device-type mps works with one rank only; start without torchrun, or take --device-type cpu")
    dtype, dtype_reason = choose_dtype(device)
    allocator = ""
    if device.type == "cpu":
        allocator = keep_freed_memory()
    if device.type == "cuda":
        os.environ.setdefault(ALLOCATOR, "expandable_segments:True")  # before the first tensor is there
        torch.cuda.set_device(device)
    if "RANK" in os.environ and world_size > 1 and not joined():
        if "TORCHELASTIC_RUN_ID" in os.environ:
            # A torchrun that is killed takes the store with it, without which ranks cannot agree on how to end.
            end_with_parent(signal.SIGKILL)
        own, backends = None, "gloo"
        if device.type == "cuda":
            # With a device of its own a rank connects at once, so that a failure shows here.
            own, backends = device, "cpu:gloo,cuda:nccl"
        try:
            dist.init_process_group(backends, timeout=timedelta(minutes=timeout_minutes), device_id=own)
        except ValueError as error:  # of the environment, before anything is connected
            raise UserError(f"{error}; {_BY_TORCHRUN}") from error
    return DistInfo(rank, local_rank, world_size, device, device_reason, dtype, dtype_reason, allocator)


def cleanup() -> None:
    """Leave the process group; to be called in a `finally`.

    With nccl the ranks may wait for each other in this, so a rank that an exception ends goes without it (this has not
    been run on GPUs).
    """
    if joined() and not (uses_nccl() and sys.exc_info()[0] is not None):
        dist.destroy_process_group()


# -- Collectives -----------------------------------------------------------------------------------------------------
# What the ranks tell each other goes over gloo, also beside nccl: it needs no GPU, and no stream that the thread of an
# engine computes on meanwhile. Gradients and weights go over nccl.


_group: "dist.ProcessGroup | None" = None
"""The ranks that collectives are among; None for all."""


@contextmanager
def among(group: "dist.ProcessGroup | None") -> Iterator[None]:
    """Hold the collectives of the main thread that are called inside among the ranks of `group`, which has rank 0.

    `None` is all ranks. That is true of this module's, and of the optimizer's.
    """
    global _group
    before, _group = _group, group
    try:
        yield
    finally:
        _group = before


def group_now() -> "dist.ProcessGroup | None":
    """Return the ranks that collectives are among, as torch wants it."""
    return _group


def joined() -> bool:
    """Return whether this process is one of several ranks; without torch, or before it is imported, it is not."""
    return "torch.distributed" in sys.modules and dist.is_available() and dist.is_initialized()


def place_now() -> tuple[int, int]:
    """Return this process' rank among those that collectives are among, and how many these are."""
    if not joined():
        return 0, 1
    return dist.get_rank(_group), dist.get_world_size(_group)


def first_ranks(count: int) -> "dist.ProcessGroup | None":
    """Make a group of the first `count` ranks (a collective of all ranks); None, which is all, without a launcher."""
    if not joined():
        return None
    return dist.new_group(list(range(count)))


def uses_nccl() -> bool:
    """Tell whether tensors on GPUs go over nccl."""
    return "nccl" in str(dist.get_backend_config())


def barrier() -> None:
    """Wait for all ranks."""
    if joined():
        # Not `dist.barrier`, which takes nccl beside it: this tensor is on the CPU, so gloo carries it.
        dist.all_reduce(torch.zeros(1), group=_group)


def broadcast_json(value: Any) -> Any:
    """Return rank 0's JSON value on every rank."""
    return gather_json(value)[0]


def gather_json(value: Any) -> list[Any]:
    """Return the JSON values of all ranks, in rank order, on every rank. They travel as text: nothing is unpickled."""
    if not joined():
        return [value]
    data = torch.frombuffer(bytearray(json.dumps(value).encode("utf-8")), dtype=torch.uint8)
    size = torch.tensor([data.numel()])
    # `all_gather` takes tensors of one size: the lengths first, then texts that are filled up to the longest.
    sizes = [torch.zeros_like(size) for _ in range(dist.get_world_size(_group))]
    dist.all_gather(sizes, size, group=_group)
    longest = int(max(int(other) for other in sizes))
    padded = [torch.zeros(longest, dtype=torch.uint8) for _ in sizes]
    dist.all_gather(padded, torch.nn.functional.pad(data, (0, longest - data.numel())), group=_group)
    return [json.loads(bytes(text[: int(count)].numpy())) for text, count in zip(padded, sizes)]


def on_all_ranks(action: Callable[[], None]) -> None:
    """Run `action` on all ranks. If it fails on one, it fails on all, so that none waits for a rank that is gone."""
    problem: Exception | None = None
    try:
        action()
    except Exception as error:
        problem = error
    problems = gather_json(None if problem is None else f"{type(problem).__name__}: {problem}")
    # The rank that failed keeps its own exception with its traceback; the others name it.
    if problem is not None:
        raise problem
    for rank, text in enumerate(problems):
        if text is not None:
            raise UserError(f"rank {rank} failed: {text}")


def on_main(action: Callable[[], Any]) -> Any:
    """Run `action` on rank 0 alone; all ranks return its JSON result, or raise its UserError."""
    answer: dict[str, Any] = {}
    if not joined() or dist.get_rank() == 0:
        try:
            answer = {"result": action()}
        except UserError as error:
            answer = {"error": str(error)}
    answer = broadcast_json(answer)
    if "error" in answer:
        raise UserError(answer["error"])
    return answer["result"]


def connect_store(seconds: float) -> "dist.TCPStore | None":
    """Open another connection to torchrun's store, with a timeout in seconds; None without a process group.

    A connection serves one request at a time, so a thread with its own never waits for the others.
    """
    if not joined():
        return None
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    return dist.TCPStore(*address, is_master=False, timeout=timedelta(seconds=seconds), wait_for_workers=False)


def all_reduce_sum(values: Sequence[float]) -> list[float]:
    """Return element-wise sums over all ranks, in double precision."""
    if not joined():
        return list(values)
    tensor = torch.tensor(list(values), dtype=torch.float64)
    dist.all_reduce(tensor, group=_group)
    return tensor.tolist()


def broadcast_tensors(tensors: "Iterable[torch.Tensor]") -> None:
    """Overwrite tensors on all other ranks by those of rank 0 (over nccl where they are on GPUs)."""
    if not joined():
        return
    # All are under way before the first is waited for: a network has hundreds of small tensors.
    for work in [dist.broadcast(tensor, 0, group=_group, async_op=True) for tensor in tensors]:
        work.wait()


class SharedCounter:
    """A counter that all ranks add to without a collective (it lives in the rendezvous store)."""

    def __init__(self, name: str) -> None:
        self._name = f"nanoproof/{name}"
        self._store = dist.distributed_c10d._get_default_store() if joined() else None
        self._alone = 0

    def add(self, amount: int) -> int:
        """Add `amount` (may be 0 to read) and return the new total over all ranks."""
        if self._store is not None:
            return int(self._store.add(self._name, amount))
        self._alone += amount
        return self._alone


class SharedQueue:
    """A queue of numbers that all ranks put into and take from without a collective; each number is taken once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._written, self._taken = SharedCounter(f"{name}/written"), SharedCounter(f"{name}/taken")
        self._slots: dict[int, SharedCounter] = {}
        self._claimed: int | None = None

    def put(self, number: int) -> None:
        """Append a number (0 or more)."""
        # A counter that nobody has added to reads 0, so 0 is "not written yet" and numbers are one more.
        self._slot(self._written.add(1) - 1).add(number + 1)

    def take(self) -> int | None:
        """Take the next number; None if there is none. One thread of a rank at a time may call this."""
        if self._claimed is None and self._taken.add(0) < self._written.add(0):
            # A slot that was claimed stays so until its number is there: given up, its number would never be taken.
            self._claimed = self._taken.add(1) - 1
        if self._claimed is None or (number := self._slot(self._claimed).add(0)) == 0:
            return None  # of two that claimed the last number the second has the next slot, which is not written yet
        self._claimed = None
        return number - 1

    def _slot(self, index: int) -> SharedCounter:
        return self._slots.setdefault(index, SharedCounter(f"{self._name}/{index}"))


# -- Signals that end a run ------------------------------------------------------------------------------------------

REPEAT_SECONDS = 1.0
"""A signal that comes so soon after the first is the same one: launchers pass on what the whole group has got."""


class StopSignal:
    """Notes SIGINT and SIGTERM, so that the run can end after a step. A second signal ends the process at once.

    A thread reads the second one, so that it counts even while the main thread waits inside a kernel or for another
    rank.
    """

    _numbers = itertools.count()

    def __init__(self) -> None:
        """Construct it on all ranks alike, after they have joined the process group."""
        self.received = False
        self._ranks, self._announced = SharedCounter(f"stop/{next(self._numbers)}"), False
        self._undo: list[Callable[[], object]] = []

    def __enter__(self) -> "StopSignal":
        """Handle both signals from now on (main thread only)."""
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        # Python runs handlers on the main thread between two of its instructions; the bytes of a wakeup
        # socket are written by the C handler, whatever that thread is in.
        previous = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        self._undo = [lambda: signal.set_wakeup_fd(previous), theirs.close]
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.signal(number, self._receive)
            self._undo.insert(0, partial(signal.signal, number, handler))
        threading.Thread(target=self._listen, args=(ours,), name="signals", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the handlers of both signals."""
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
        """Tell whether a signal asked some rank to end, as far as this one knows (no collective: ranks may differ)."""
        if self.received and not self._announced:
            self._ranks.add(1)
            self._announced = True
        return self._announced or self._ranks.add(0) > 0

    def agreed(self) -> bool:
        """Tell whether a signal asked any rank to end (a collective), so that all end after the same step."""
        return all_reduce_sum([float(self.received)])[0] > 0
