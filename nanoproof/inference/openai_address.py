"""Addresses of OpenAI-compatible endpoints as people copy them, and the names of models behind them."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from nanoproof.common.errors import UserError
from nanoproof.inference.model_options import TOKEN_VARIABLE

_VERSION = re.compile(r"/v\d")
TO_HTTPS = re.compile(r"HTTP request (?:was sent )?to (?:an )?HTTPS", re.IGNORECASE)
"""Matches what servers of HTTPS answer to HTTP."""


def address_hint(base: str, where: str) -> str:
    """Say what an address lacks of which a server knows no such path, or answers there in another way."""
    if _VERSION.search(urlsplit(base).path):
        return ""
    follows = where.removeprefix(base) or "/completions"
    return f"; the address goes up to where {follows} follows, mostly /v1"


_PATH_OF_A_CALL = re.compile(r"/(?:chat/completions|completions|models)/*\Z")
"""Matches what follows the address in a call, which people copy with it."""


def checked_base(base: str) -> tuple[str, str]:
    """Return the address without a slash at its end, and its host. Raises UserError, which shows no password."""
    base = _PATH_OF_A_CALL.sub("", base.strip())
    try:
        parts = urlsplit(base)
        host, _ = parts.hostname, parts.port
        (host or "").encode("idna")  # as whoever connects does: no part of a name may be empty, or too long
        if re.search(r"[\s\\\x00-\x1f\x7f]", base):
            raise ValueError
    except ValueError:
        raise UserError("openai: not an address; expected http://host:port/v1#model") from None
    if "api-version=" in parts.query:
        raise UserError("openai: of Azure give https://HOST/openai/v1#DEPLOYMENT, without `?api-version=..`")
    if parts.username is not None or parts.password is not None or parts.query:
        raise UserError(f"openai: leave secrets out of the address, and give them in {TOKEN_VARIABLE}")
    if parts.scheme not in ("http", "https") or not host:
        raise UserError(f"openai:{base}: expected http://host:port/v1#model, or https")
    return base.rstrip("/"), host


def proxy_for(address: str) -> str:
    """Say which proxy of the environment requests to an address go through, without its password; "" for none."""
    parts = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return ""
    shown = re.sub(r"[^/]*@", "", proxy)
    return f" through the proxy {shown} (of {parts.scheme.upper()}_PROXY or ALL_PROXY)"


def among(listed: Sequence[str]) -> str:
    """Return the names of models behind a message that one of them is to be given; "" without any."""
    if not listed:
        return ""
    names = ", ".join(listed[:5])
    if len(listed) > 5:
        names += ", ..."
    return f" (it has {names})"


def may_serve(listed: Sequence[str], model: str) -> bool:
    """Tell whether an endpoint may serve a model that it does not list: LiteLLM lists `openai/*`, and OpenRouter and
    Hugging Face take `MODEL:nitro`, a way of asking for a MODEL that they list."""
    base, colon, _ = model.rpartition(":")
    return (colon != "" and base in listed) or any("*" in name and fnmatchcase(model, name) for name in listed)
