"""Servers over scripted REPL processes, in this process and on real sockets."""

import dataclasses
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.web.http_server import HttpServer, bind
from nanoproof.lean.client import ClientConfig, LeanServerClient
from nanoproof.lean.server.app import create_app
from nanoproof.lean.server.backend import Backend, ServerSettings
from nanoproof.lean.server.local import LocalServer
from nanoproof.lean.server.pool import Pool
from nanoproof.lean.types import Theorem
from tests.helpers import SCRIPTED_REPL

AND = "p q : Prop\nhp : p\nhq : q\n⊢ p ∧ q"
LEFT = "case left\np q : Prop\nhp : p\nhq : q\n⊢ p"
RIGHT = "case right\np q : Prop\nhp : p\nhq : q\n⊢ q"
EXISTS = "⊢ ∃ x, x = 2"
COUPLED = ["case h\n⊢ ?w = 2", "case w\n⊢ Nat"]
SCRIPT: dict[str, Any] = {
    "theorems": {": p ∧ q": AND, ": ∃ x": EXISTS},
    "commands": {": bad": {"answer": {"env": 1, "messages": [{"severity": "error", "data": "bad statement"}]}}},
    "tactics": {
        AND: {
            "constructor": [LEFT, RIGHT],
            "trivial": [],
            "mvar": ["⊢ ?m.12"],
            "hang": {"do": "hang"},
            "crash": {"do": "crash"},
            "garbage": {"do": "garbage"},
        },
        LEFT: {"exact hp": [], "all_goals assumption": {"all": []}},
        RIGHT: {"exact hq": [], "case right =>\n  exact hq": [], "clear hp": ["p q : Prop\nhq : q\n⊢ q"]},
        "p q : Prop\nhq : q\n⊢ q": {"exact hq": []},
        EXISTS: {"apply Exists.intro": COUPLED, "refine": ["⊢ True", *COUPLED]},
        COUPLED[0]: {"rfl": {"all": []}},
        "⊢ True": {"trivial": []},
    },
}
THEOREM = Theorem("theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  sorry", "test", "t")
EXISTS_THEOREM = Theorem("theorem e : ∃ x, x = 2 := by\n  sorry", "test", "e")


@dataclasses.dataclass
class Running:
    """A server in this process."""

    pool: Pool
    port: int
    log: Path
    local: LocalServer

    def client(self, tactic_seconds: float = 5.0, token: str | None = None) -> LeanServerClient:
        config = ClientConfig(tactic_seconds=tactic_seconds, slack_seconds=20.0)
        return LeanServerClient(f"127.0.0.1:{self.port}", token, config)

    def requests(self) -> list[dict[str, Any]]:
        """What the REPL processes were asked."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


Serve = Callable[..., Running]


def scripted_command(folder: Path, script: dict[str, Any]) -> tuple[str, ...]:
    """Command line of a scripted REPL that keeps script and requests in the folder."""
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    return (sys.executable, "-S", str(SCRIPTED_REPL), str(path), str(folder / "requests.jsonl"))


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[[dict[str, Any]], tuple[str, ...]]:
    """Command line of a scripted REPL."""
    return lambda script: scripted_command(tmp_path, script)


@contextmanager
def start_server(
    backend: Backend, token: str | None = None, log: Path = Path(os.devnull), local: bool = True, **options: Any
) -> Iterator[Running]:
    """A server in this process; it is stopped on the way out. Our clients use its `local` socket if it has one."""
    settings = ServerSettings(port=0, **options)
    pool = Pool(settings, backend)
    listener = bind(settings)
    pool.start()
    app = create_app(settings, pool, token)
    if local:
        app.extensions["local"].start()
    server = HttpServer(app, settings, listener)
    threading.Thread(target=server.run, daemon=True).start()
    try:
        yield Running(pool, listener.getsockname()[1], log, app.extensions["local"])
    finally:
        pool.close()
        app.extensions["local"].close()
        server.close()


@pytest.fixture
def serve(tmp_path: Path, scripted: Callable[[dict[str, Any]], tuple[str, ...]]) -> Iterator[Serve]:
    """Start servers over scripted processes; they are stopped after the test."""
    with ExitStack() as running:

        def start(
            script: dict[str, Any] = SCRIPT, token: str | None = None, imports: tuple[str, ...] = (), **options: Any
        ) -> Running:
            backend = Backend(
                scripted(script),
                imports=imports,
                start_seconds=20.0,
                can_prune=not imports,
                soft_limits="limits" in script,
                grace_seconds=0.1,
            )
            return running.enter_context(start_server(backend, token, tmp_path / "requests.jsonl", **options))

        yield start
