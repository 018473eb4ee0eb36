"""Theorem sets by name, or by the file that holds one.

    list_theorems("leanworkbook", "train", "v4.27.0")
    list_theorems("mine.lean", "valid")

The module of a set is imported when it is asked for.
"""

import importlib
from collections.abc import Iterable
from typing import Literal, Protocol

from nanoproof.common.errors import UserError
from nanoproof.data.catalog import CATALOG
from nanoproof.data.theorem_file import is_file, read_theorems, set_name
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
    """Whether theorems are there to measure provers: they are never filtered, nor trained on (but for a file's)."""
    if is_file(name):
        return True
    stages = CATALOG[name].stages if name in CATALOG else ()
    return "bench" in stages and split != "train"


def splits_of(name: str) -> tuple[Split, ...]:
    """The splits of a data set; a file has none, and goes by that of the default."""
    if is_file(name):
        return ("valid",)
    stages = CATALOG[name].stages if name in CATALOG else ("rl", "bench")
    wanted = {"valid", *(("train",) if "rl" in stages else ()), *(("test",) if "bench" in stages else ())}
    return tuple(split for split in SPLITS if split in wanted)


def split_names(values: Iterable[str]) -> list[str]:
    """Names of data sets and files of theorems given separated by spaces or commas, in order.

    Raises UserError for unknown ones, and for two that would go by the same name.
    """
    names = [name for value in values for name in value.replace(",", " ").split()]
    unknown = [name for name in names if name not in DATASETS and not is_file(name)]
    if unknown or not names:
        there = f"{', '.join(DATASETS)}, and files of theorems (.lean, .jsonl)"
        raise UserError(f"unknown data set {', '.join(unknown) or '(none)'}; there are: {there}")
    distinct = list(dict.fromkeys(names))
    known: dict[str, str] = {}
    for name in distinct:
        if (other := known.setdefault(set_name(name), name)) != name:
            raise UserError(f"{other} and {name} would both be called {set_name(name)}: rename one of them")
    return distinct


def list_theorems(name: str, split: Split, lean_version: str | None = None) -> list[Theorem]:
    """The theorems of a data set's split, in a fixed order.

    With a Lean version, those that its whitelist calls failing are left out (never of a benchmark). Raises UserError
    for an unknown name or split, for data that is missing or misshapen, and for a missing whitelist.
    """
    if is_file(name):
        return read_theorems(name)
    split_names([name])
    return DATASETS[name](split, lean_version)
