"""`python -m nanoproof.lean.server`: serve Lean processes over HTTP."""

import logging
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError, run_main
from nanoproof.lean.server.app import RequestLog, bind, create_app, make_http_server
from nanoproof.lean.server.backend import make_backend
from nanoproof.lean.server.errors import CannotStart
from nanoproof.lean.server.http import HttpServer
from nanoproof.lean.server.pool import Pool
from nanoproof.lean.server.settings import ServerSettings
from nanoproof.lean.transport import TOKEN_VARIABLE

log = logging.getLogger(__name__)

_PARENT_CHECK_SECONDS = 1.0
_LAST_ANSWERS_SECONDS = 2.0
_POLL_SECONDS = 0.05


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, bind, start the processes, serve until a signal comes."""
    parser = Parser(prog="python -m nanoproof.lean.server", description="Serve Lean processes over HTTP.")
    add_flags(parser, ServerSettings)
    settings = from_args(ServerSettings, parser.parse_args(argv))
    logging.basicConfig(level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    _allow_many_connections()

    listener = bind(settings)
    pool = Pool(settings, make_backend(settings))
    _on_signals(_interrupt)
    if settings.exit_with_parent:
        threading.Thread(target=_watch_parent, args=(pool, os.getppid()), name="parent-watch", daemon=True).start()
    try:
        pool.start()
        token = os.environ.get(TOKEN_VARIABLE)
        if not token and not settings.on_loopback:
            log.warning("anyone who reaches %s can run code here; set %s", settings.address, TOKEN_VARIABLE)
        app = create_app(settings, pool, token)
        server = make_http_server(app, settings, listener)
        _on_signals(_Shutdown(settings, pool, app.extensions["requests"], server))
        host = f"[{settings.address}]" if ":" in settings.address else settings.address
        print(f"listening on http://{host}:{listener.getsockname()[1]}", flush=True)
        server.run()
    except CannotStart as error:
        raise UserError(f"no Lean process can be started: {error}") from error
    finally:
        pool.close()
    return 0


class _Shutdown:
    """What the first signal starts: no new work, a while for the work under way, then the end. A second one ends all.

    The end comes from a thread of its own, while the main thread goes on to serve.
    """

    def __init__(self, settings: ServerSettings, pool: Pool, requests: RequestLog, server: HttpServer) -> None:
        self._seconds = settings.drain_seconds
        self._pool = pool
        self._requests = requests
        self._server = server
        self._begun = False

    def __call__(self, signal_number: int, frame: FrameType | None) -> None:
        if self._begun:
            _interrupt(signal_number, frame)
        self._begun = True
        threading.Thread(target=self._end, name="shutdown", daemon=True).start()

    def _end(self) -> None:
        self._pool.drain()
        self._wait_for_requests(self._seconds)
        self._pool.close()
        self._wait_for_requests(_LAST_ANSWERS_SECONDS)
        self._server.stop()

    def _wait_for_requests(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._requests.active() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


def _on_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _allow_many_connections() -> None:
    """Raise the limit of open files as far as we may: each connection and each process needs some."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _watch_parent(pool: Pool, parent: int) -> None:
    """End this process, and the Lean processes, once standard input closes or the parent is another one."""
    with suppress(OSError, ValueError):
        while os.getppid() == parent:
            readable, _, _ = select.select([sys.stdin], [], [], _PARENT_CHECK_SECONDS)
            if readable and not os.read(sys.stdin.fileno(), 1 << 12):
                break
    pool.close()
    os._exit(0)


if __name__ == "__main__":
    run_main(main)
