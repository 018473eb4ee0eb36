"""The monitor's Flask app: login, static pages, routes, and the headers of every response."""

import base64
import gzip
import hashlib
import hmac
import mimetypes
import re
from pathlib import Path
from urllib.parse import urlencode

from flask import Flask, Response, redirect, request
from prometheus_client import CollectorRegistry, Counter
from werkzeug.utils import safe_join
from werkzeug.wrappers import Response as AnyResponse

from nanoproof.common.web.flask_app import guarded_app, metrics_response
from nanoproof.monitor import routes

# -- Login: the token is given once, in the address or in a form, then kept as a cookie ------------------------------

_COOKIE_SECONDS = 30 * 24 * 3600


class Login:
    """Checks the cookie of a browser, which holds a digest of the token rather than the token itself."""

    def __init__(self, token: str | None) -> None:
        self._token = (token or "").encode()
        self._digest = hmac.new(self._token, b"nanoproof monitor", hashlib.sha256).hexdigest()

    def has_cookie(self) -> bool:
        """Return whether the request brings the cookie, or the token in its address."""
        # compare_digest, here and below: how long `==` takes says how many letters of a guess are right.
        cookie = request.cookies.get(self._name, "")
        return hmac.compare_digest(cookie.encode(), self._digest.encode()) or self._has_token()

    def exchange(self) -> AnyResponse | None:
        """Exchange `?token=` for the cookie: redirect to the same address without it; None without a token."""
        # The token would stay in the history of the browser, and in what people copy from its address line.
        if not self._token or request.path.startswith("/api/") or not self._has_token():
            return None
        rest = [(name, value) for name, value in request.args.items(multi=True) if name != "token"]
        address = f"{request.path}?{urlencode(rest)}".removesuffix("?")
        response: Response | AnyResponse = redirect(address, 303)
        # Strict: a page of others that links or posts to here sends no cookie with it.
        response.set_cookie(self._name, self._digest, max_age=_COOKIE_SECONDS, httponly=True, samesite="Strict")
        return response

    def _has_token(self) -> bool:
        return bool(self._token) and hmac.compare_digest(request.args.get("token", "").encode(), self._token)

    @property
    def _name(self) -> str:
        return f"nanoproof_{request.environ.get('SERVER_PORT', '')}"  # cookies are not kept apart by ports


# -- Static pages: the page that is built of web/ and comes with the package; without it one that needs no build -----

BUILT_PAGE = Path(__file__).parent / "static" / "page"
FALLBACK_PAGE = Path(__file__).parent / "static" / "index.html"
LOGIN_PAGE = Path(__file__).parent / "static" / "login.html"
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HASHED_NAME = re.compile(r"assets/.+-[\w-]{8,}\.\w+")
_MAX_COMPRESSED = 64
_MAX_NAME = 200


class Pages:
    """Files of the page, compressed once."""

    def __init__(self, built: Path | None = None) -> None:
        self._built = BUILT_PAGE if built is None else built
        self._compressed: dict[tuple[str, int], bytes] = {}

    @property
    def policy(self) -> str:
        """The Content-Security-Policy: only files from here, and the inline scripts of our own pages."""
        hashes = [f"'sha256-{_digest(script)}'" for script in self._scripts()]
        return (
            f"default-src 'self'; script-src 'self' {' '.join(hashes)}; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        )

    def _scripts(self) -> list[str]:
        page = self._index_file()
        try:
            return _SCRIPT.findall(page.read_text(encoding="utf-8"))
        except OSError:
            return []

    def _index_file(self) -> Path:
        built = self._built / "index.html"
        return built if built.is_file() else FALLBACK_PAGE

    def index(self) -> Response:
        """Return the first page."""
        return self._send(self._index_file(), "no-cache")

    def login(self) -> Response:
        """Return the page that asks for the token."""
        return Response(LOGIN_PAGE.read_bytes(), 401, mimetype="text/html")

    def file(self, name: str) -> Response | None:
        """Return a file of the built page, or None; files with a hash in their names are cached for a year."""
        # Names that the system refuses are no files: its error would name a path of this machine.
        if "\0" in name or len(name) > _MAX_NAME:
            return None
        path = safe_join(str(self._built), name)
        if path is None:
            return None
        file = Path(path)
        if not file.resolve().is_relative_to(self._built.resolve()) or not file.is_file():
            return None
        never_changes = _HASHED_NAME.fullmatch(name)  # another content would have another name
        return self._send(file, "public, max-age=31536000, immutable" if never_changes else "no-cache")

    def _send(self, file: Path, cache_control: str) -> Response:
        content, stamp = file.read_bytes(), file.stat().st_mtime_ns
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        response = Response(content, mimetype=kind)
        response.headers["Cache-Control"] = cache_control
        response.set_etag(hashlib.sha256(content).hexdigest()[:20])
        if _takes_gzip() and len(content) > 2000 and not kind.startswith("image/p"):  # a PNG is compressed already
            key = (str(file), stamp)
            if key not in self._compressed:
                if len(self._compressed) >= _MAX_COMPRESSED:
                    self._compressed.clear()
                self._compressed[key] = gzip.compress(content, compresslevel=9)
            _set_gzip(response, self._compressed[key])
        response.make_conditional(request)
        return response


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


# -- The app -----------------------------------------------------------------------------------------------------------

_COMPRESS_FROM = 8192


def create_app(current: routes.CurrentRun, token: str | None = None, on_loopback: bool = True) -> Flask:
    """Make the app for whatever run `current` holds at the time of a request."""
    pages, login = Pages(), Login(token)
    registry = CollectorRegistry()
    answered = Counter("nanoproof_monitor_requests_total", "Requests answered.", ("path", "status"), registry=registry)
    app = guarded_app(__name__, token, on_loopback, answered, lambda: False, (), login.has_cookie)
    # Before the guard, which would ask a browser for the token that is in its address.
    app.before_request_funcs[None].insert(0, login.exchange)

    @app.get("/")
    def index() -> Response:
        return pages.index()

    @app.get("/metrics")
    def metrics() -> Response:
        return metrics_response(registry)

    @app.get("/<path:name>")
    def file(name: str) -> Response:
        return pages.file(name) or routes.json_response({"error": "no such page"}, 404)

    for make in (
        routes.run_routes,
        routes.theorem_routes,
        routes.round_routes,
        routes.model_routes,
        routes.evaluation_routes,
        routes.live_routes,
    ):
        app.register_blueprint(make(current))
    app.register_error_handler(404, lambda error: routes.json_response({"error": "no such page"}, 404))
    app.register_error_handler(routes.NoSuchRun, lambda error: routes.json_response({"error": str(error)}, 404))
    app.register_error_handler(routes.NoRun, lambda error: routes.json_response({"error": str(error)}, 503))

    @app.after_request
    def finish(response: Response) -> Response:
        # Browsers get a form to type the token into, programs the error as JSON.
        if token and response.status_code == 401 and "text/html" in request.headers.get("Accept", ""):
            response = pages.login()
        _set_security_headers(response, pages.policy)
        return _compress(response)

    return app


def _set_security_headers(response: Response, policy: str) -> None:
    """Set the headers that keep a browser from using a response for anything else."""
    # Statements and logs may hold anything: as text of this page they could else run as a script of it.
    headers = response.headers
    headers["Content-Security-Policy"] = policy
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers.setdefault("Cache-Control", "no-store")


def _compress(response: Response) -> Response:
    """Compress long texts for clients that accept gzip."""
    if response.is_streamed or response.direct_passthrough or response.status_code != 200:
        return response
    kind = response.mimetype or ""
    is_plain = _takes_gzip() and "Content-Encoding" not in response.headers
    if is_plain and (kind.startswith("text/") or kind.endswith(("json", "javascript", "svg+xml"))):
        body = response.get_data()
        if len(body) >= _COMPRESS_FROM:
            # The fastest level: an answer is made for one request, while a file of the page is compressed once.
            _set_gzip(response, gzip.compress(body, compresslevel=1))
    return response


def _takes_gzip() -> bool:
    return "gzip" in request.headers.get("Accept-Encoding", "")


def _set_gzip(response: Response, body: bytes) -> None:
    response.set_data(body)
    response.headers["Content-Encoding"] = "gzip"
    response.vary.add("Accept-Encoding")
