"""Prove, try and check on a Lean project for agents, over the Model Context Protocol.

    python -m nanoproof.mcp PROJECT --model-path sft/RUN
    python -m nanoproof.mcp PROJECT --transport http --port 8100

Over stdio a client starts it and ends it; over HTTP it listens on loopback and asks for a token. Servers of one project
share one Lean. `docs/agents.md` has what to write into a client's configuration.
"""

import argparse
import hashlib
import os
import secrets
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from nanoproof.actors.fleet import FleetOptions, follow_lean
from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.run_dir import home
from nanoproof.lean.solvers import AUTO
from nanoproof.mcp.opening import Opening
from nanoproof.mcp.searches import Searches
from nanoproof.mcp.shared_lean import SharedLean, project_folder
from nanoproof.mcp.workbench import Workbench
from nanoproof.policy.policy_options import PolicyOptions
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.prover import ProverOptions
from nanoproof.repos.premise_data import folder_files
from nanoproof.repos.project_premises import ProjectPremises
from nanoproof.repos.prove import PREMISE_TACTICS
from nanoproof.repos.ways import open_ways
from nanoproof.retrieval.folders import WORDS
from nanoproof.search.config import ALGORITHM, NOT_FLAGS, SearchConfig

TOKEN_VARIABLE = "NANOPROOF_MCP_TOKEN"
MISSING = "the SDK of the Model Context Protocol is not installed: pip install 'nanoproof[mcp]' (or: pip install mcp)"


@validated("mcp")
class McpOptions:
    """Server for agents."""

    transport: str = opt("stdio", "stdio, or http: streamable HTTP on loopback.", choices=("stdio", "http"))
    port: int = opt(0, "Port of HTTP; 0: any free one, which is printed.", min=0, max=65535)
    max_seconds: float = opt(600.0, "No call may ask for more seconds.", above=0)
    seed: int = opt(0, "Seed of all random choices.")
    suggesting: PolicyOptions = group(PolicyOptions)
    lean: FleetOptions = group(FleetOptions, without=("lean_lost_proofs",), lean_processes=change(default=2))


def parse_args(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse a command line."""
    parser = Parser(prog="python -m nanoproof.mcp", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("project", metavar="DIR", help="folder of the Lean project; nothing out of it is read")
    for prefix, options in (
        ("", McpOptions),
        ("", SamplingConfig),
        ("search-", SearchConfig),
        ("", ProverOptions),
    ):
        skip = ("keep_tree", "disprove_fraction", *NOT_FLAGS)
        add_flags(parser, options, prefix, skip=skip)
    parser.set_defaults(search_finishers=(AUTO,), search_algorithm=ALGORITHM)
    parser.set_defaults(premise_tactics=PREMISE_TACTICS, retriever=WORDS)
    return parser.parse_args(argv)


def project_root(text: str) -> Path:
    """Return the resolved folder of a project. Raises UserError if it is none."""
    # Resolved once: paths that calls name are resolved too, and must lie below it (`path_inside`).
    root = Path(os.path.realpath(Path(text).expanduser()))
    if not root.is_dir():
        raise UserError(f"{text} is no folder: give that of a Lean project")
    return root


def open_workbench(
    args: argparse.Namespace, options: McpOptions, root: Path, folder: Path, searches: Searches, stack: ExitStack
) -> Workbench:
    """Open policy and Lean, until the stack is closed."""
    follow_lean(args)
    lean = SharedLean(folder, options.lean)
    stack.callback(lean.close)
    # What the project declares changes as the agent works: its premises are read anew, and not once with the policy.
    retrieving = options.suggesting.retrieving
    suggesting = options.suggesting
    premises = ProjectPremises(root, retrieving, suggesting.device.device_type, lean.is_embedded)
    if retrieving.retrieve == 0:
        suggesting = replace(suggesting, retrieving=replace(retrieving, premise_tactics=0, retriever=None))
    settings = retrieving.settings()
    ways = open_ways(args, suggesting, options.seed, stack, lambda: folder_files(root), settings).around(
        premises.around
    )
    lean.servers()  # the first call of a tool waits for neither
    premises.retriever()
    return Workbench(root, lean, ways, premises.retriever, searches, options.seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until the client ends, or until a signal."""
    args = parse_args(argv)
    options = from_args(McpOptions, args)
    # An extra of the package: this module is imported, for its flags, where the SDK is not installed.
    try:
        from nanoproof.mcp import tools
    except ModuleNotFoundError as error:
        # Only the SDK may be missing: any other module is a fault of this program, and to be seen as one.
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise UserError(MISSING) from error
    root = project_root(args.project)
    folder = project_folder(home(), root, hashlib.sha256(os.fsencode(root)).hexdigest())
    with ExitStack() as stack:
        searches = Searches(folder)
        stack.callback(searches.close)
        opening = Opening(root, lambda: open_workbench(args, options, root, folder, searches, stack))
        stack.callback(opening.close)
        mcp_server = tools.make_server(opening, searches, options.max_seconds)
        if options.transport == "http":
            application = mcp_server.streamable_http_app(host="127.0.0.1")
            serve_http(lambda token: tools.with_token(application, token), options.port, root)
        else:
            # To stderr: over stdio, stdout belongs to the protocol.
            print(f"nanoproof serves {root} over stdio", file=sys.stderr)
            mcp_server.run("stdio")
    return 0


def serve_http(guarded: Callable[[str], Any], port: int, root: Path) -> None:
    """Serve an application over HTTP on loopback until a signal; `guarded` makes it for a token."""
    import uvicorn

    token = os.environ.get(TOKEN_VARIABLE) or secrets.token_hex(32)
    with socket.socket() as listener:
        # A server that ended a moment ago leaves its port in TIME_WAIT: the next one takes it all the same.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise UserError(f"--port {port}: {error.strerror}") from error
        # Bound here and not by uvicorn, so that the port is known, which for --port 0 the system chooses.
        print(f"nanoproof serves {root} at http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr)
        if not os.environ.get(TOKEN_VARIABLE):
            print(f"token (or set {TOKEN_VARIABLE}): {token}", file=sys.stderr)
        uvicorn.Server(uvicorn.Config(guarded(token), log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    run_main(main)
