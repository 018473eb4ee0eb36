"""A process that lives for long: Python's garbage collector, its memory and that of its GPU."""

import gc
from typing import TYPE_CHECKING, Any

import psutil

# -- Python's garbage collector in processes that live for long ------------------------------------------------------


def freeze_gc() -> None:
    """Tell the collector that what is there (a library, a model, its data) stays, so that it looks at new objects only.

    Otherwise it looks at all of them each time, and takes its time about it: it waits until new objects are a quarter
    of the old ones.
    """
    gc.collect()
    gc.freeze()


# -- What a rank takes of its machine: memory of the process and of its GPU ------------------------------------------

if TYPE_CHECKING:
    import torch


def resident_bytes() -> int:
    """Memory of this process that is in RAM."""
    found: int = psutil.Process().memory_info().rss
    return found


def gpu_status(device: "torch.device") -> dict[str, Any] | None:
    """Name, memory in bytes, and how busy it is (0 to 1; None where that cannot be asked); None if it is no GPU."""
    if device.type != "cuda":
        return None
    import torch  # whoever reads records need not have it

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
