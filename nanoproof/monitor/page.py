"""The page: what was built in `web/dist` where that is, and otherwise a small one that needs no build."""

import base64
import gzip
import hashlib
import mimetypes
import re
from pathlib import Path

from flask import Response, request
from werkzeug.utils import safe_join

BUILT = Path(__file__).resolve().parents[2] / "web" / "dist"
SMALL = Path(__file__).parent / "static" / "index.html"
LOGIN = Path(__file__).parent / "static" / "login.html"
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HASHED = re.compile(r"assets/.+-[\w-]{8,}\.\w+")
_MAX_KEPT = 64
_MAX_NAME = 200


class Pages:
    """Files of the page, compressed once."""

    def __init__(self, built: Path | None = None) -> None:
        self._built = BUILT if built is None else built
        self._compressed: dict[tuple[str, int], bytes] = {}

    @property
    def policy(self) -> str:
        """What a browser may load: only what comes from here, and the scripts that stand in our own pages."""
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
        return built if built.is_file() else SMALL

    def index(self) -> Response:
        """The first page."""
        return self._send(self._index_file(), "no-cache")

    def login(self) -> Response:
        """Asks for the token."""
        return Response(LOGIN.read_bytes(), 401, mimetype="text/html")

    def file(self, name: str) -> Response | None:
        """A file of the built page; names with a hash in them never change."""
        place = safe_join(str(self._built), name) if "\0" not in name else None
        if place is None or len(name) > _MAX_NAME:
            return None
        file = Path(place)
        if not file.resolve().is_relative_to(self._built.resolve()) or not file.is_file():
            return None
        lasting = _HASHED.fullmatch(name) is not None
        return self._send(file, "public, max-age=31536000, immutable" if lasting else "no-cache")

    def _send(self, file: Path, keep: str) -> Response:
        content, stamp = file.read_bytes(), file.stat().st_mtime_ns
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        response = Response(content, mimetype=kind)
        response.headers["Cache-Control"] = keep
        response.set_etag(hashlib.sha256(content).hexdigest()[:20])
        if (
            "gzip" in request.headers.get("Accept-Encoding", "")
            and len(content) > 2000
            and not kind.startswith("image/p")
        ):
            key = (str(file), stamp)
            if key not in self._compressed:
                if len(self._compressed) >= _MAX_KEPT:
                    self._compressed.clear()
                self._compressed[key] = gzip.compress(content, compresslevel=9)
            response.set_data(self._compressed[key])
            response.headers["Content-Encoding"] = "gzip"
            response.vary.add("Accept-Encoding")
        response.make_conditional(request)
        return response


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
