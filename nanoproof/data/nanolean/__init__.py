"""The embedded data set: statements for RL, transitions for supervised finetuning, and the benchmark."""

from nanoproof.data.nanolean.made import (
    BENCHMARK,
    DATASET,
    benchmark_theorems,
    ensure_made,
    held_out_keys,
    level_of,
    list_theorems,
    made_directory,
    makers,
    transitions_file,
)

__all__ = [
    "BENCHMARK",
    "DATASET",
    "benchmark_theorems",
    "ensure_made",
    "held_out_keys",
    "level_of",
    "list_theorems",
    "made_directory",
    "makers",
    "transitions_file",
]
