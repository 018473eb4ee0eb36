"""Addresses of Lean servers as users write them."""

from nanoproof.common.address import Address, read_address
from nanoproof.lean.errors import LeanError

DEFAULT_PORT = 8000

__all__ = ["Address", "AddressError", "parse_address"]


class AddressError(LeanError):
    """The text is no address of a Lean server."""


def parse_address(text: str) -> Address:
    """Read `host`, `host:port` or `http://host:port`; the port is 8000 if left out. Raises `AddressError`."""
    try:
        return read_address(text, DEFAULT_PORT)
    except ValueError as error:
        raise AddressError(f"not the address of a Lean server: {error}") from error
