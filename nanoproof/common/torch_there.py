"""Torch where it is needed: it takes a second or two to import, and much of the product works without it."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.packages import how_to_get


def require_torch() -> None:
    """Raise UserError where torch is not installed; it is not imported."""
    if find_spec("torch") is None:
        raise UserError(how_to_get("torch"))


class Later:
    """A module that is imported when something of it is used first."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        """Return what the module has of this name. Raises ImportError where there is no such module."""
        return getattr(import_module(self._name), attribute)
