"""Addresses of Lean servers as users write them."""

import re
from dataclasses import dataclass

from nanoproof.lean.errors import LeanError

DEFAULT_PORT = 8000
_ADDRESS = re.compile(r"(?:http://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(?P<port>\d+))?/?")


class AddressError(LeanError):
    """The text is no address of a Lean server."""


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port of a Lean server."""

    host: str
    port: int = DEFAULT_PORT

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Read `host`, `host:port` or `http://host:port`; the port is 8000 if left out. Raises `AddressError`."""
    match = _ADDRESS.fullmatch(text.strip())
    if match is None:
        raise AddressError(f"not the address of a Lean server: {text!r} (expected host, host:port or http://host:port)")
    port = int(match["port"]) if match["port"] else DEFAULT_PORT
    if not 1 <= port <= 65535:
        raise AddressError(f"not the address of a Lean server: {text!r} (ports are 1 to 65535)")
    return Address(match["host"].strip("[]"), port)
