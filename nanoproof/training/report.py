"""How numbers of a run are told to people: clocks, rounded counts, peak memory, names of run directories."""

import resource
import sys
from pathlib import Path

import torch

from nanoproof.common.run_dir import home
from nanoproof.gpt.model import GPT

UNITS = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def clock(seconds: float) -> str:
    """`H:MM:SS`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def short(number: float) -> str:
    """Three digits and a unit: 1234567 is `1.23M`."""
    for size, unit in UNITS:
        if abs(number) >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


def peak_memory_bytes(device: torch.device) -> int:
    """The most memory that was allocated on a GPU so far, or that this process had."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def describe_model(model: GPT) -> str:
    """Parameters and shape."""
    config = model.config
    heads = f"{config.num_heads} heads of {config.head_dim}"
    if config.kv_heads != config.num_heads:
        heads += f" on {config.kv_heads} keys and values"
    return (
        f"{model.num_parameters():,} parameters: depth {config.depth}, width {config.width}, {heads}, "
        f"windows {config.window_pattern}, sequence {config.sequence_len}, vocabulary {config.vocab_size:,}"
    )


def run_name(path: Path) -> str:
    """A run directory as `--model-path` and `--resume-from` take it: relative to `$NANOPROOF_HOME` if it is in it."""
    return str(path.relative_to(home())) if path.is_relative_to(home()) else str(path)
