"""Theorem sets by name.

    list_theorems("leanworkbook", "train", "v4.27.0")

The module of a set is imported when it is asked for.
"""

import importlib
from collections.abc import Iterable
from typing import Literal, Protocol

from nanoproof.common.errors import UserError
from nanoproof.data.catalog import CATALOG
from nanoproof.data.whitelist import filter_theorems, load_whitelist
from nanoproof.lean.theorem import Theorem

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")


class ListTheorems(Protocol):
    """What a theorem set offers: a split's theorems, without those that do not work under a Lean version."""

    def __call__(self, split: str, lean_version: str | None = None) -> list[Theorem]: ...


def _of_module(module: str) -> ListTheorems:
    def read(split: str, lean_version: str | None = None) -> list[Theorem]:
        theorems: list[Theorem] = importlib.import_module(module).list_theorems(split, lean_version)
        return theorems

    return read


def _nanolean(split: str, lean_version: str | None = None) -> list[Theorem]:
    """The embedded set; its valid and test are a benchmark, which is never filtered."""
    theorems: list[Theorem] = importlib.import_module("nanoproof.data.nanolean").list_theorems(split)
    if split != "train" or lean_version is None:
        return theorems
    return filter_theorems(theorems, load_whitelist("nanolean", lean_version), "nanolean train").theorems


DATASETS: dict[str, ListTheorems] = {
    **{
        name: _of_module(data_set.reader)
        for name, data_set in CATALOG.items()
        if {"rl", "bench"} & set(data_set.stages)
    },
    "nanolean": _nanolean,
}


def is_benchmark(name: str, split: str) -> bool:
    """Whether theorems are there to measure provers: they are never trained on and never filtered."""
    stages = CATALOG[name].stages if name in CATALOG else ()
    return "bench" in stages and split != "train"


def splits_of(name: str) -> tuple[Split, ...]:
    """The splits of a data set."""
    stages = CATALOG[name].stages if name in CATALOG else ("rl", "bench")
    wanted = {"valid", *(("train",) if "rl" in stages else ()), *(("test",) if "bench" in stages else ())}
    return tuple(split for split in SPLITS if split in wanted)


def split_names(values: Iterable[str]) -> list[str]:
    """Data set names given separated by spaces or commas, in order. Raises UserError for unknown ones."""
    names = [name for value in values for name in value.replace(",", " ").split()]
    unknown = [name for name in names if name not in DATASETS]
    if unknown or not names:
        raise UserError(f"unknown data set {', '.join(unknown) or '(none)'}; there are: {', '.join(DATASETS)}")
    return list(dict.fromkeys(names))


def list_theorems(name: str, split: Split, lean_version: str | None = None) -> list[Theorem]:
    """The theorems of a data set's split, in a fixed order.

    With a Lean version, those that its whitelist calls failing are left out (never of a benchmark). Raises UserError
    for an unknown name or split, for data that is missing or misshapen, and for a missing whitelist.
    """
    split_names([name])
    return DATASETS[name](split, lean_version)
