"""The token of a monitor in a browser: given once in the address or in a form, then kept as a cookie."""

import hashlib
import hmac
from urllib.parse import urlencode

from flask import Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

_SECONDS = 30 * 24 * 3600


class Login:
    """The cookie holds a digest of the token, so that it does not tell the token itself."""

    def __init__(self, token: str | None) -> None:
        self._token = (token or "").encode()
        self._digest = hmac.new(self._token, b"nanoproof monitor", hashlib.sha256).hexdigest()

    def has_cookie(self) -> bool:
        """Whether the request brings the cookie, or the token in its address."""
        return hmac.compare_digest(request.cookies.get(self._name, "").encode(), self._digest.encode()) or self._given()

    def exchange(self) -> AnyResponse | None:
        """For `?token=`: the same address without it, and the cookie."""
        if not self._token or request.path.startswith("/api/") or not self._given():
            return None
        rest = [(name, value) for name, value in request.args.items(multi=True) if name != "token"]
        response: Response | AnyResponse = redirect(request.path + ("?" + urlencode(rest) if rest else ""), 303)
        response.set_cookie(self._name, self._digest, max_age=_SECONDS, httponly=True, samesite="Strict")
        return response

    def _given(self) -> bool:
        return bool(self._token) and hmac.compare_digest(request.args.get("token", "").encode(), self._token)

    @property
    def _name(self) -> str:
        return f"nanoproof_{request.environ.get('SERVER_PORT', '')}"  # cookies are not kept apart by ports
