"""Distributed helpers that work alone, under torchrun on CPU (gloo) and on GPUs (nccl)."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from nanoproof.common.errors import UserError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class DistInfo:
    """Where this process runs, and why there."""

    rank: int
    local_rank: int
    world_size: int
    device: torch.device
    device_reason: str
    dtype: torch.dtype
    dtype_reason: str

    @property
    def is_main(self) -> bool:
        return self.rank == 0

    def decisions(self) -> dict[str, str]:
        """For `meta.json` and the log: each choice with its reason."""
        return {
            "device": f"{self.device} ({self.device_reason})",
            "dtype": f"{str(self.dtype).removeprefix('torch.')} ({self.dtype_reason})",
            "ranks": f"{self.world_size} ({'torchrun' if dist.is_initialized() else 'started alone'})",
        }


def choose_device(device_type: str = "", local_rank: int = 0) -> tuple[torch.device, str]:
    """The device for `--device-type` (empty: the best there is) and the reason. Raises UserError if it is not there."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if device_type and device_type not in available:
        raise UserError(f"--device-type must be cuda, cpu or mps; got {device_type}")
    if device_type and not available[device_type]:
        raise UserError(f"--device-type {device_type}: this machine has no such device")
    chosen = device_type or next(kind for kind, there in available.items() if there)
    reason = "asked for" if device_type else f"the first available of {', '.join(available)}"
    return torch.device(chosen, local_rank) if chosen == "cuda" else torch.device(chosen), reason


def choose_dtype(device: torch.device) -> tuple[torch.dtype, str]:
    """The compute dtype and the reason; `NANOPROOF_DTYPE` decides where it is set."""
    asked = os.environ.get("NANOPROOF_DTYPE")
    if asked:
        if asked not in DTYPES:
            raise UserError(f"NANOPROOF_DTYPE must be one of {', '.join(DTYPES)}; got {asked}")
        return DTYPES[asked], "NANOPROOF_DTYPE"
    if device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0):
        return torch.bfloat16, "CUDA device of capability 8.0 or more"
    return torch.float32, f"{device.type} device"


def init_distributed(device_type: str = "", timeout_minutes: float = 30.0) -> DistInfo:
    """Join the process group if torchrun started us, and choose device and dtype."""
    rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    device, device_reason = choose_device(device_type, local_rank)
    dtype, dtype_reason = choose_dtype(device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if "RANK" in os.environ and world_size > 1 and not dist.is_initialized():
        backend = "nccl" if device.type == "cuda" else "gloo"
        dist.init_process_group(backend, timeout=timedelta(minutes=timeout_minutes))
    return DistInfo(rank, local_rank, world_size, device, device_reason, dtype, dtype_reason)


def cleanup() -> None:
    """Leave the process group."""
    if dist.is_initialized():
        dist.destroy_process_group()


def barrier() -> None:
    """Wait for all ranks."""
    if dist.is_initialized():
        dist.barrier()


def broadcast_json(value: Any) -> Any:
    """Rank 0's JSON value, on every rank."""
    return gather_json(value)[0]


def gather_json(value: Any) -> list[Any]:
    """The JSON values of all ranks in rank order, on every rank. They travel as text: nothing is unpickled."""
    if not dist.is_initialized():
        return [value]
    device = torch.device("cuda") if dist.get_backend() == "nccl" else torch.device("cpu")
    data = torch.frombuffer(bytearray(json.dumps(value).encode("utf-8")), dtype=torch.uint8).to(device)
    size = torch.tensor([data.numel()], device=device)
    sizes = [torch.zeros_like(size) for _ in range(dist.get_world_size())]
    dist.all_gather(sizes, size)
    longest = int(max(int(other) for other in sizes))
    parts = [torch.zeros(longest, dtype=torch.uint8, device=device) for _ in sizes]
    dist.all_gather(parts, torch.nn.functional.pad(data, (0, longest - data.numel())))
    return [json.loads(bytes(part[: int(count)].cpu().numpy())) for part, count in zip(parts, sizes)]


def all_reduce_sum(values: Sequence[float], device: torch.device) -> list[float]:
    """Element-wise sums over all ranks (double precision where the device has it)."""
    if not dist.is_initialized():
        return list(values)
    dtype = torch.float32 if device.type == "mps" else torch.float64
    tensor = torch.tensor(list(values), dtype=dtype, device=device)
    dist.all_reduce(tensor)
    return tensor.tolist()


class SharedCounter:
    """A counter that all ranks add to without a collective (it lives in the rendezvous store)."""

    def __init__(self, name: str) -> None:
        self._name = f"nanoproof/{name}"
        self._store = dist.distributed_c10d._get_default_store() if dist.is_initialized() else None
        self._alone = 0

    def add(self, amount: int) -> int:
        """Add `amount` (may be 0 to read) and return the new total over all ranks."""
        if self._store is not None:
            return int(self._store.add(self._name, amount))
        self._alone += amount
        return self._alone
