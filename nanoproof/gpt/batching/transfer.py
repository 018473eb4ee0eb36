"""Between host and device without waiting: a copy that waits would wait for all that was launched before it."""

from collections.abc import Sequence

import numpy as np
import torch


def to_device(
    numbers: np.ndarray | Sequence[int] | Sequence[Sequence[Sequence[int]]], device: torch.device
) -> torch.Tensor:
    """Integers on the device."""
    return torch.from_numpy(np.asarray(numbers, dtype=np.int64)).to(device, non_blocking=True)


class OnItsWay:
    """A tensor that is being copied to the host."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor.to("cpu", non_blocking=tensor.is_cuda)  # only CUDA's events say when it is there
        self._event = torch.cuda.Event() if tensor.is_cuda else None
        if self._event is not None:
            self._event.record()

    def read(self) -> np.ndarray:
        """Its values; waits until they are there."""
        if self._event is not None:
            self._event.synchronize()
        return self._tensor.numpy()
