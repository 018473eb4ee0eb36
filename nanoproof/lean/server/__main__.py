"""`python -m nanoproof.lean.server`: serve Lean processes over HTTP."""

import argparse
import logging
import os
import select
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.web import http_server
from nanoproof.lean.project.setup import REPL_EXE
from nanoproof.lean.server.app import create_app
from nanoproof.lean.server.backend import ServerSettings, make_backend
from nanoproof.lean.server.pool import CannotStart, Pool
from nanoproof.lean.transport import TOKEN_VARIABLE

log = logging.getLogger(__name__)

_PARENT_CHECK_SECONDS = 1.0


def main(argv: Sequence[str] | None = None, open_to_all: bool = False) -> int:
    """Start the processes and serve until a signal; for `open_to_all` see `token_of`. Return the exit code."""
    settings = settings_of(argv)
    logging.basicConfig(level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    http_server.allow_many_connections()

    # The port before the processes: that it is taken should not be learned after minutes of imports.
    token = token_of(settings, open_to_all)
    listener = http_server.bind(settings)
    pool = Pool(settings, make_backend(settings))
    http_server.on_signals(http_server.interrupt)  # until there are requests that could be waited for
    if settings.exit_with_parent:
        threading.Thread(target=_watch_parent, args=(pool, os.getppid()), name="parent-watch", daemon=True).start()
    try:
        pool.start()
        app = create_app(settings, pool, token)
        app.extensions["local"].start()
        server = http_server.HttpServer(app, settings, listener)
        http_server.on_signals(
            http_server.Shutdown(pool.drain, pool.close, settings.drain_seconds, app.extensions["requests"], server)
        )
        if warning := exposure(settings, token):
            log.warning("%s", warning)
        http_server.print_address(listener)
        server.run()
    except CannotStart as error:
        raise UserError(f"no Lean process can be started: {error}") from error
    finally:
        pool.close()
    return 0


def settings_of(argv: Sequence[str] | None) -> ServerSettings:
    """Read the settings from the command line, and project and REPL that it does not name from the environment.

    Where neither names any, a line on stderr tells that the embedded prover is served.
    """
    parser = Parser(prog="python -m nanoproof.lean.server", description="Serve Lean processes over HTTP.")
    add_flags(parser, ServerSettings)
    args: argparse.Namespace = parser.parse_args(argv)
    if args.backend != "nanolean":
        args.project_path = args.project_path or os.environ.get("LEAN_PROJECT_PATH", "")
        args.repl_exe = args.repl_exe or os.environ.get("LEAN_REPL_EXE", "")
        built = Path(args.project_path).expanduser() / REPL_EXE
        if args.project_path and not args.repl_exe and built.is_file():
            args.repl_exe = REPL_EXE
    settings = from_args(ServerSettings, args)
    if (args.backend, settings.backend) == ("auto", "nanolean"):
        print("NanoLean is served, the embedded prover; for Lean give --project-path", file=sys.stderr)
    return settings


def token_of(settings: ServerSettings, open_to_all: bool) -> str | None:
    """Return the token that callers have to send, None for none.

    Raises UserError if there is none where other machines reach the address, unless the user asked for that
    (`--no-token`) or the command is `open_to_all`.
    """
    if not settings.token:
        return None
    token = os.environ.get(TOKEN_VARIABLE) or None  # an empty one would be a token that everybody knows
    if token is None and not settings.on_loopback and not open_to_all:
        raise UserError(exposure(settings, token))
    return token


def exposure(settings: ServerSettings, token: str | None) -> str:
    """Describe who else may run code on this server, and the remedy; empty if nobody, or with `--no-token`.

    Every user of the machine can connect to loopback. NanoLean runs no code of its callers, Lean does.
    """
    if token is not None or not settings.token:
        return ""
    what_to_do = f"set {TOKEN_VARIABLE} for the server and its clients, or give --no-token"
    if not settings.on_loopback:
        return f"--address {settings.address}: anyone who reaches it can run code here; {what_to_do}"
    if settings.backend == "repl":
        return f"every user of this machine can run code as you through this server; {what_to_do}"
    return ""


def _watch_parent(pool: Pool, parent: int) -> None:
    """End this process, and the Lean processes, once standard input closes or the parent process ends."""
    with suppress(OSError, ValueError):
        while os.getppid() == parent:
            readable, _, _ = select.select([sys.stdin], [], [], _PARENT_CHECK_SECONDS)
            if readable and not os.read(sys.stdin.fileno(), 1 << 12):
                break
    pool.close()
    os._exit(0)  # `sys.exit` would end this thread alone


def command() -> None:
    """Run the console script `leanserver` of LeanTree, whose clients send no token."""
    run_main(lambda: main(open_to_all=True))


if __name__ == "__main__":
    run_main(main)
