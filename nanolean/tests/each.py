"""Many small cases in one test: as items of pytest's each would cost ten milliseconds, as every worker collects all."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each(
    names: str | tuple[str, ...], cases: Iterable[Any], ids: Iterable[Any] | Callable[[Any], Any] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Do what `pytest.mark.parametrize` does, in one test that runs all cases and fails with all that failed, by name.

    Fixtures of the test are made once for all of its cases.
    """
    words = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    values = [(case,) if len(words) == 1 else tuple(case) for case in cases]
    if callable(ids):
        labels = [", ".join(str(ids(value)) for value in case) for case in values]
    else:
        shown = [", ".join(getattr(value, "__name__", repr(value)) for value in case) for case in values]
        labels = shown if ids is None else [str(label) for label in ids]

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def all_cases(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for label, case in zip(labels, values, strict=True):
                try:
                    test(**fixtures, **dict(zip(words, case, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in the case {label[:500]}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(values)} cases failed", failed)

        left = [parameter for name, parameter in signature.parameters.items() if name not in words]
        all_cases.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return all_cases

    return decorated
