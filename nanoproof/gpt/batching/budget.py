"""How much memory keys and values may take."""

import psutil
import torch

CPU_SHARE, CUDA_SHARE = 0.15, 0.6
"""Of the memory that is free. The rest is for others: Lean on a CPU; activations, recordings and training on a GPU."""


def cache_budget(device: torch.device, megabytes: float | None) -> tuple[int, str]:
    """Bytes, and the reason."""
    if megabytes is not None:
        return int(megabytes * 1e6), "asked for"
    if device.type == "cuda":
        free, share = torch.cuda.mem_get_info(device)[0], CUDA_SHARE
        # What torch holds without using it is there for us as well.
        free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    else:
        free, share = psutil.virtual_memory().available, CPU_SHARE
    return int(share * free), f"{share:.0%} of {free / 1e6:.0f} MB that were free"
