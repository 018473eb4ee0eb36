"""A stand-in of the hub and of a host of raw repository files, over real HTTP on the loopback address.

It answers as the hub does: commits and file lists under `/api/datasets`, `/resolve/` with the headers that clients
read, large files by a redirect to another origin (no token may arrive there) that honours `Range`, gated and missing
repositories with their error headers. Models are read and written too (`/api/models`): a repository is made, each file
is said to be plain or large, large ones are put apart, and a commit names them all. Mishaps happen on cue:
`server.mishaps[path] = ["truncate", "503", ...]`, one for each request of the file's content.
"""

import base64
import gzip
import hashlib
import json
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_right"
LFS_BYTES = 200
"""Files from this size on are stored apart, as large files are."""


def git_blob(content: bytes) -> str:
    """The name that git gives to a file's content."""
    return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Repository:
    """Files by commit, the newest last; branch names stand for the newest."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    gated: bool = False
    hidden: bool = False
    """Whether not even its files are listed without a token."""

    def publish(self, files: Mapping[str, bytes], name: str = "") -> str:
        """A new commit with these files in place of the older ones; returns its hash."""
        contents = "".join(f"{path}{sha256(content)}" for path, content in files.items())
        name = name or hashlib.sha1(f"{len(self.commits)}{contents}".encode()).hexdigest()
        self.commits[name] = dict(files)
        return name

    @property
    def newest(self) -> str:
        return list(self.commits)[-1]

    def find(self, revision: str) -> str | None:
        return self.newest if revision in ("main", "HEAD") else revision if revision in self.commits else None


@dataclass(frozen=True)
class Request:
    """What a client asked for."""

    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def range(self) -> str:
        return self.headers.get("Range", "")


class FakeHub:
    """Serves `hub` (data set repositories) at `endpoint` and `git` (raw files) at `raw_endpoint`."""

    def __init__(self) -> None:
        self.hub: dict[str, Repository] = {}
        self.git: dict[str, Repository] = {}
        self.mishaps: dict[str, list[str]] = {}
        self.requests: list[Request] = []
        self.large: dict[str, bytes] = {}
        """What was put apart, by its SHA-256."""
        self.kinds: dict[str, str] = {}
        self.ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        port = self._server.server_port
        self.endpoint = f"http://127.0.0.1:{port}"
        self.storage = f"http://localhost:{port}/storage"
        self.raw_endpoint = f"http://127.0.0.1:{port}/raw"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()

    def contents(self, path_end: str = "") -> list[Request]:
        """Requests of contents (rather than of lists) whose path ends so, redirects not counted twice."""
        marks = ("/resolve/", "/raw/")
        return [
            request
            for request in self.requests
            if request.method == "GET"
            and any(mark in request.path for mark in marks)
            and "/repos/" not in request.path
            and request.path.endswith(path_end)
        ]


def _handler(fake: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        server_state = fake

    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: FakeHub

    def do_HEAD(self) -> None:
        self._route()

    def do_GET(self) -> None:
        self._route()

    def log_message(self, *_: object) -> None:
        pass

    def _route(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server_state.requests.append(Request(self.command, path, dict(self.headers)))
        words = path.strip("/").split("/")
        if words[:2] in (["api", "datasets"], ["api", "models"]):
            self._api("/".join(words[2:4]), words[4:])
        elif words[0] == "datasets" and words[3:4] == ["resolve"]:
            self._resolve("/".join(words[1:3]), words[4], "/".join(words[5:]))
        elif words[2:3] == ["resolve"]:
            self._resolve("/".join(words[:2]), words[3], "/".join(words[4:]))
        elif words[0] == "storage":
            self._storage("/".join(words[1:3]), words[3], "/".join(words[4:]))
        elif words[:2] == ["raw", "repos"] and words[4:6] == ["git", "trees"]:
            self._raw_tree("/".join(words[2:4]), words[6])
        elif words[:2] == ["raw", "repos"]:
            self._raw_commit("/".join(words[2:4]), words[5])
        elif words[0] == "raw":
            self._raw("/".join(words[1:3]), words[3], "/".join(words[4:]))
        else:
            self._send(404, b"not found")

    # -- what is pushed ----------------------------------------------------------------------------------------------

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = unquote(urlsplit(self.path).path)
        self.server_state.requests.append(Request(self.command, path, dict(self.headers)))
        if self._token() != TOKEN:
            status = 403 if self._token() else 401
            self._refuse(status, "", "you may not write here")
            return
        words = path.strip("/").split("/")
        if words == ["api", "repos", "create"]:
            self._create(json.loads(body))
        elif words == ["api", "validate-yaml"]:  # of a card
            self._json({"errors": [], "warnings": []})
        elif path.endswith(".git/info/lfs/objects/batch"):
            self._batch(json.loads(body))
        elif words[4:5] == ["preupload"]:
            modes = []
            for file in json.loads(body)["files"]:
                mode = "lfs" if file["size"] >= LFS_BYTES else "regular"
                modes.append({"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": None})
            self._json({"files": modes})
        elif words[4:5] == ["commit"]:
            self._commit("/".join(words[2:4]), [json.loads(line) for line in body.splitlines()])
        else:
            self._send(404, b"not found")

    def do_PUT(self) -> None:
        self.server_state.large[self.path.rpartition("/")[2]] = self.rfile.read(int(self.headers["Content-Length"]))
        self._send(200, b"")

    def _create(self, wanted: dict[str, Any]) -> None:
        name = f"{wanted.get('organization') or 'me'}/{wanted['name']}"
        url = {"url": f"{self.server_state.endpoint}/{name}", "name": name, "id": name}
        if name in self.server_state.hub:
            self._json_as(409, url)
            return
        repository = self.server_state.hub[name] = Repository(hidden=wanted.get("visibility") == "private")
        repository.publish({})
        self.server_state.kinds[name] = wanted.get("type", "model")
        self._json(url)

    def _batch(self, wanted: dict[str, Any]) -> None:
        objects = []
        for large in wanted["objects"]:
            href = f"{self.server_state.endpoint}/put/{large['oid']}"
            objects.append({**large, "authenticated": True, "actions": {"upload": {"href": href}}})
        self._json({"transfer": "basic", "objects": objects})

    def _commit(self, name: str, records: list[dict[str, Any]]) -> None:
        repository = self.server_state.hub[name]
        files = dict(repository.commits[repository.newest])
        for record in records:
            value = record["value"]
            if record["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif record["key"] == "lfsFile":
                files[value["path"]] = self.server_state.large[value["oid"]]
        commit = repository.publish(files)
        url = f"{self.server_state.endpoint}/{name}/commit/{commit}"
        self._json({"success": True, "commitOid": commit, "commitUrl": url, "hookOutput": ""})

    def _json_as(self, status: int, value: Any) -> None:
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json"})

    # -- the hub -----------------------------------------------------------------------------------------------------

    def _api(self, name: str, rest: list[str]) -> None:
        found = self._repository(name)
        if found is None or self._mishap(f"api:{name}"):
            return
        revision = rest[1] if rest else "main"
        commit = found.find(revision)
        if commit is None:
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
            return
        files = found.commits[commit]
        if rest[:1] == ["tree"]:
            prefix = "/".join(rest[2:])
            entries = [_tree_entry(p, c) for p, c in files.items() if p.rpartition("/")[0] == prefix]
            self._json(entries)
            return
        blobs = "blobs" in parse_qs(urlsplit(self.path).query)
        siblings = [_sibling(path, content, blobs) for path, content in files.items()]
        gated = "auto" if found.gated else False
        self._json({"id": name, "sha": commit, "private": False, "gated": gated, "siblings": siblings})

    def _resolve(self, name: str, revision: str, path: str) -> None:
        found = self._repository(name)
        if found is None:
            return
        if found.gated and self._token() != TOKEN:
            status = 403 if self._token() else 401
            self._refuse(status, "GatedRepo", f"Access to dataset {name} is restricted.")
            return
        commit = found.find(revision)
        if commit is None:
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif path not in found.commits[commit]:
            self._refuse(404, "EntryNotFound", "Entry not found", {"X-Repo-Commit": commit})
        elif len(content := found.commits[commit][path]) < LFS_BYTES:
            self._content(path, content, {"X-Repo-Commit": commit, "ETag": f'"{git_blob(content)}"'})
        else:
            headers = {
                "X-Repo-Commit": commit,
                "X-Linked-Size": str(len(content)),
                "X-Linked-ETag": f'"{sha256(content)}"',
                "Location": f"{self.server_state.storage}/{name}/{commit}/{path}",
            }
            self._send(302, b"Found", headers)

    def _storage(self, name: str, commit: str, path: str) -> None:
        if "Authorization" in self.headers:
            self._send(400, b"a token does not belong here")
            return
        content = self.server_state.hub[name].commits[commit][path]
        self._content(path, content, {"ETag": f'"{sha256(content)}"'})

    def _repository(self, name: str) -> Repository | None:
        token = self._token()
        if token == "hf_expired":
            self._refuse(401, "", "Invalid credentials in Authorization header")
            return None
        found = self.server_state.hub.get(name)
        if found is None or (found.hidden and token != TOKEN):
            self._refuse(404 if token else 401, "RepoNotFound", "Repository not found")
            return None
        return found

    def _token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    # -- raw files ---------------------------------------------------------------------------------------------------

    def _raw_commit(self, name: str, revision: str) -> None:
        commit = self.server_state.git[name].find(revision) if name in self.server_state.git else None
        if self._mishap(f"api:{name}"):
            return
        self._send(200, commit.encode()) if commit else self._send(404, b"Not Found")

    def _raw_tree(self, name: str, revision: str) -> None:
        """The files of a commit, folders among them, as GitHub's API lists them."""
        commit = self.server_state.git[name].find(revision) if name in self.server_state.git else None
        kind = self._mishap(f"tree:{name}")
        if kind.isdigit() or kind == "page":
            return
        if commit is None:
            self._send(404, b'{"message": "Not Found"}')
            return
        files = self.server_state.git[name].commits[commit]
        folders = {path.rpartition("/")[0] for path in files if "/" in path}
        entries = [{"path": path, "mode": "040000", "type": "tree", "sha": git_blob(path.encode())} for path in folders]
        entries += [
            {"path": path, "mode": "100644", "type": "blob", "sha": git_blob(content), "size": len(content)}
            for path, content in files.items()
        ]
        self._json({"sha": commit, "tree": entries, "truncated": kind == "part"})

    def _raw(self, name: str, revision: str, path: str) -> None:
        found = self.server_state.git.get(name)
        commit = found.find(revision) if found else None
        if found is None or commit is None or path not in found.commits[commit]:
            self._send(404, b"404: Not Found")
        else:
            self._content(path, found.commits[commit][path], {"ETag": 'W/"x"'})

    # -- answers -----------------------------------------------------------------------------------------------------

    def _mishap(self, key: str) -> str:
        """Take the next mishap of a key; those that are whole answers are given here."""
        waiting = self.server_state.mishaps.get(key, [])
        kind = waiting.pop(0) if waiting and self.command == "GET" else ""
        if kind.isdigit():
            self._send(int(kind), b"try later", {"Retry-After": "0"} if kind == "429" else {})
        elif kind == "stall":
            self.server_state.ended.wait(20)
        elif kind == "reset":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif kind == "page":
            self._send(200, b"<html>Please log in to this network</html>", {"Content-Type": "text/html"})
        return kind

    def _content(self, path: str, content: bytes, headers: Mapping[str, str]) -> None:
        kind = self._mishap(path)
        if kind.isdigit() or kind in ("stall", "reset", "page"):
            return
        if kind == "damage":
            content = content[:-1] + bytes([content[-1] ^ 1])
        if kind == "bomb":
            packed = gzip.compress(content + bytes(1 << 24))
            self._send(200, packed, {**headers, "Content-Encoding": "gzip"})
            return
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        if start >= len(content) > 0:
            self._send(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        status = 200
        headers = {**headers, "Accept-Ranges": "bytes"}
        if start and kind != "no range":
            status, headers["Content-Range"] = 206, f"bytes {start}-{len(content) - 1}/{len(content)}"
            content = content[start:]
        cut = len(content) // 2 if kind == "truncate" else None
        self._send(status, content, headers, cut)

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _refuse(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        named = {"X-Error-Code": code} if code else {}
        body = json.dumps({"error": message}).encode()
        all_headers = {**named, "X-Error-Message": message, "Content-Type": "application/json", **(headers or {})}
        self._send(status, body, all_headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None, cut: int | None = None) -> None:
        """An answer; with `cut`, the connection ends after so many bytes of the body."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.wfile.flush()
            self.close_connection = True


def _lfs(content: bytes) -> dict[str, Any] | None:
    if len(content) < LFS_BYTES:
        return None
    return {"sha256": sha256(content), "size": len(content), "pointerSize": 134}


def _sibling(path: str, content: bytes, blobs: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"rfilename": path}
    if blobs:
        entry |= {"size": len(content), "blobId": git_blob(content)}
        if lfs := _lfs(content):
            entry["lfs"] = lfs
    return entry


def _tree_entry(path: str, content: bytes) -> dict[str, Any]:
    entry = {"type": "file", "path": path, "size": len(content), "oid": git_blob(content)}
    if lfs := _lfs(content):
        entry["lfs"] = {"oid": lfs["sha256"], "size": lfs["size"], "pointerSize": lfs["pointerSize"]}
    return entry
