"""`python -m nanoproof.lean.project create|setup|check DIR`: a Lean project for the servers."""

import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError, run_main
from nanoproof.lean.project.layout import DEFAULT_LEAN, LIBRARIES, REPLS, create, parse_version
from nanoproof.lean.project.setup import check, set_up

_REPL_HELP = f"The REPL that the servers run ({', '.join(REPLS)})."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the commands; exit code 1 if `check` finds something missing."""
    args = make_parser().parse_args(argv)
    folder = Path(args.dir).expanduser()
    if args.command == "create":
        for path in create(folder, parse_version(args.lean), args.libraries, args.repl):
            print(f"wrote {path}")
        print(f"next: python -m nanoproof.lean.project setup {args.dir}")
        return 0
    if not folder.is_dir():
        raise UserError(f"no directory {folder}; make it with `python -m nanoproof.lean.project create {args.dir}`")
    if args.command == "check":
        return 0 if check(folder) else 1
    if not args.step_hours > 0:
        raise UserError(f"--step-hours must be > 0, got {args.step_hours}")
    for number in (signal.SIGTERM, signal.SIGINT):  # the shell has jobs in the background ignore the second
        signal.signal(number, _interrupt)
    set_up(folder, args.install_elan, args.step_hours, args.dry_run, args.repl)
    if not args.dry_run:
        check(folder)
    return 0


def make_parser() -> Parser:
    """Create the parser of the commands and their options."""
    parser = Parser(prog="python -m nanoproof.lean.project", description="A Lean project for the servers.")
    commands = parser.add_subparsers(dest="command", required=True)
    new = commands.add_parser("create", help="Write a Lake project.")
    new.add_argument("dir", metavar="DIR", help="New or empty folder.")
    new.add_argument("--lean", default=DEFAULT_LEAN, metavar="VERSION", help="Version of Lean.")
    new.add_argument(
        "--libraries",
        nargs="*",
        default=["mathlib"],
        metavar="NAME[@REVISION]",
        help=f"Libraries ({', '.join(LIBRARIES)}); none after the flag for Lean's own library alone.",
    )
    new.add_argument("--repl", default="official", metavar="NAME[@BRANCH]", help=_REPL_HELP)
    setup = commands.add_parser("setup", help="Get Lean, the libraries and the REPL; continues where it stopped.")
    setup.add_argument("dir", metavar="DIR", help="Folder made by `create`.")
    setup.add_argument("--repl", metavar="NAME[@BRANCH]", help=f"{_REPL_HELP} Default: as the project has it.")
    setup.add_argument("--dry-run", action="store_true", help="Print the commands and run none.")
    setup.add_argument("--install-elan", action="store_true", help="Install elan if it is not there.")
    setup.add_argument("--step-hours", type=float, default=6.0, metavar="HOURS", help="How long one step may take.")
    test = commands.add_parser("check", help="Print what is there, and how to start a server.")
    test.add_argument("dir", metavar="DIR", help="Folder made by `create`.")
    return parser


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    run_main(main)
