"""How much memory keys and values may take."""

import os
from pathlib import Path

import psutil
import torch

CPU_SHARE, CUDA_SHARE = 0.15, 0.6
"""Of the memory that is free. The rest is for others: Lean on a CPU; activations, recordings and training on a GPU."""
GROUPS = Path("/sys/fs/cgroup")


def cache_budget(device: torch.device, megabytes: float | None) -> tuple[int, str]:
    """Bytes, and the reason."""
    if megabytes is not None:
        return int(megabytes * 1e6), "asked for"
    if device.type == "cuda":
        free, share = torch.cuda.mem_get_info(device)[0], CUDA_SHARE
        # What torch holds without using it is there for us as well.
        free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    else:
        free = min([psutil.virtual_memory().available, *group_free()])
        share = CPU_SHARE / int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    return int(share * free), f"{share:.0%} of {free / 1e6:.0f} MB that were free"


def group_free(groups: Path = GROUPS, of: Path = Path("/proc/self/cgroup")) -> list[int]:
    """Bytes that the control groups of this process (a container's, a job's) leave it; those without a limit say none.

    Pages of files that the kernel would give up count as free. Sources: cgroups(7), and the kernel's cgroup-v2 and
    cgroup-v1/memory documents.
    """
    found = []
    try:
        lines = [line.split(":", 2) for line in of.read_text().splitlines()]
    except OSError:
        return []
    for _, controllers, path in (line for line in lines if len(line) == 3):
        if controllers == "":
            root, names = groups, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root, names = groups / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        here = root / path.lstrip("/")
        for group in (here, *here.parents):
            if (free := _free(group, *names)) is not None:
                found.append(free)
            if group == root:
                break
    return found


def _free(group: Path, most: str, used: str, reclaimable: str) -> int | None:
    try:
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        bound = int((group / most).read_text())
        return max(0, bound - int((group / used).read_text()) + int(stat.get(reclaimable, 0)))
    except (OSError, ValueError):  # no such group here, or no bound ("max")
        return None
