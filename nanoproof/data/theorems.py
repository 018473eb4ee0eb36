"""Theorem sets by name."""

from collections.abc import Callable, Iterable
from typing import Literal

from nanoproof.common.errors import UserError
from nanoproof.data import nanolean
from nanoproof.lean.theorem import Theorem

Split = Literal["train", "valid", "test"]
DATASETS: dict[str, Callable[[str], list[Theorem]]] = {"nanolean": nanolean.list_theorems}


def split_names(values: Iterable[str]) -> list[str]:
    """Data set names given separated by spaces or commas, in order. Raises UserError for unknown ones."""
    names = [name for value in values for name in value.split(",") if name]
    unknown = [name for name in names if name not in DATASETS]
    if unknown or not names:
        raise UserError(f"unknown data set {', '.join(unknown) or '(none)'}; there are: {', '.join(DATASETS)}")
    return list(dict.fromkeys(names))


def list_theorems(name: str, split: Split) -> list[Theorem]:
    """The theorems of a data set's split, in a fixed order."""
    return DATASETS[name](split)
