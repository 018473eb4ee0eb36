"""Trace one's own Lean repositories, keep them, and prove their `sorry`s: `python -m nanoproof.repos prove DIR`."""

from collections.abc import Sequence

from nanoproof.common.config import Parser
from nanoproof.common.errors import run_main
from nanoproof.repos import manage, prove, sorrydb, trace


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = Parser(prog="python -m nanoproof.repos", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    trace.add_parser(commands)
    manage.add_parser(commands)
    prove.add_parser(commands)
    sorrydb.add_parser(commands)
    args = parser.parse_args(argv)
    return int(args.run(args))


if __name__ == "__main__":
    run_main(main)
