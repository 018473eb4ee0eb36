"""The current process: garbage collector, memory and that of its GPU, signals, the machine that it runs on."""

import faulthandler
import gc
import os
import platform
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import torch


class Closing:
    """What is closed at the end of a `with`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what it holds."""
        raise NotImplementedError


def freeze_gc() -> None:
    """Exclude the objects that exist now (a model, its data) from garbage collection.

    Otherwise each full collection visits all of them, and is put off until new objects are a quarter of the old ones.
    """
    gc.collect()
    gc.freeze()


def dump_stacks_on_usr1() -> None:
    """Write the stacks of all threads to the program's own stderr, where it has one, on SIGUSR1."""
    if hasattr(signal, "SIGUSR1") and sys.__stderr__ is not None:  # that of a notebook has no file
        faulthandler.register(signal.SIGUSR1, file=sys.__stderr__, all_threads=True)


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes."""
    import psutil  # here, as the doctor has to start without it

    return psutil.Process().memory_info().rss


def peak_memory_bytes(device: "torch.device") -> int:
    """Return the peak of the memory that was allocated on a GPU, or of the resident memory of this process."""
    if device.type == "cuda":
        import torch  # other users of this module need not have it

        return torch.cuda.max_memory_allocated(device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if sys.platform == "darwin":
        return peak  # bytes there, kilobytes elsewhere
    return peak * 1024


def gpu_status(device: "torch.device") -> dict[str, Any] | None:
    """Return name, memory in bytes, and utilization (0 to 1; None if unknown) of a CUDA device; None for others."""
    if device.type != "cuda":
        return None
    import torch  # other users of this module need not have it

    free, total = torch.cuda.mem_get_info(device)
    try:
        busy = torch.cuda.utilization(device) / 100
    except (ModuleNotFoundError, RuntimeError):  # without NVIDIA's management library
        busy = None
    return {
        "name": torch.cuda.get_device_name(device),
        "utilization": busy,
        "memory": total - free,
        "memory_total": total,
        "allocated": torch.cuda.memory_allocated(device),
    }


def machine_id() -> str:
    """Identify the machine and the process namespace, in which a process id has a meaning."""
    # Machines of a cluster may share a host name, and containers of one machine a host name and a boot.
    parts = [platform.node()]
    with suppress(OSError):
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            parts.append(file.read().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


@contextmanager
def interrupts(stop: Callable[[], None]) -> Iterator[list[int]]:
    """Let Ctrl-C and SIGTERM end the searches, so that what there is gets written; the list has the signals so far."""
    signals: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        if len(signals) > 1:  # whoever asks twice does not wait for what is being written
            raise KeyboardInterrupt
        stop()

    previous = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
