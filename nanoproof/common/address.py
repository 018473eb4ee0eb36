"""Addresses of servers as users write them."""

import ipaddress
import re
from dataclasses import dataclass

_ADDRESS = re.compile(r"(?:http://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(?P<port>\d+))?/?")


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port of a server."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str, default_port: int) -> Address:
    """Read `host`, `host:port` or `http://host:port`. Raises ValueError with what would be accepted."""
    match = _ADDRESS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} (expected host, host:port or http://host:port)")
    port = int(match["port"]) if match["port"] else default_port
    if not 1 <= port <= 65535:
        raise ValueError(f"{text!r} (ports are 1 to 65535)")
    return Address(match["host"].strip("[]"), port)


def on_loopback(address: str) -> bool:
    """True if only programs on this machine can connect to a server that listens there."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
