"""`python -m nanolean`: the Lean REPL protocol, a terminal session, tools for files and the library."""

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from nanolean.forks import serve_forks
from nanolean.library.loader import load_library
from nanolean.ndjson.import_ndjson import PERMITTED
from nanolean.repl import serve
from nanolean.system import Parser, UserError, freeze_gc, run_main, with_deep_stack
from nanolean.tools.certificates import check_exports, compare, export_ndjson
from nanolean.tools.check import build, check_files
from nanolean.tools.export import export
from nanolean.tools.judge import serve as serve_judge
from nanolean.tools.terminal import run_terminal


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit code is 1 when something is not proved."""
    args = make_parser().parse_args(argv)
    if args.command == "check":
        files = [Path(name) for name in args.files]
        if args.format == "ndjson":
            permitted = None if args.permit_axioms == ["all"] else [*PERMITTED, *args.permit_axioms]
            return with_deep_stack(lambda: check_exports(files, permitted, args.json))
        return with_deep_stack(lambda: check_files(files, args.axioms, args.json, args.messages, args.recheck))
    if args.command == "export":
        return with_deep_stack(lambda: run_export(args))
    if args.command == "compare":
        return with_deep_stack(lambda: compare(Path(args.folder), args.json))
    if args.command == "judge":
        return with_deep_stack(lambda: serve_judge(Path(args.library)))
    if args.command == "build":
        return with_deep_stack(lambda: build(record=args.record))
    if args.json or args.forks:
        return with_deep_stack(lambda: run_repl(args.forks))
    return run_terminal()


def make_parser() -> Parser:
    """Make the parser of the commands and their options."""
    parser = Parser(prog="python -m nanolean", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    repl = commands.add_parser("repl", help="Prove theorems at the terminal, or answer JSON as the Lean REPL does.")
    repl.add_argument("--json", action="store_true", help="Answer JSON requests on standard input.")
    repl.add_argument("--forks", action="store_true", help="Fork such processes on request (nanolean/forks.py).")
    check = commands.add_parser("check", help="Check .lean files: exit code 0 if everything in them is proved.")
    check.add_argument("files", nargs="+", metavar="FILE", help="Files over the library's environment.")
    check.add_argument("--axioms", action="store_true", help="List the axioms that each theorem rests on.")
    check.add_argument("--json", action="store_true", help="Print one JSON object instead of lines.")
    check.add_argument(
        "--messages", action="store_true", help="Print messages as lines of JSON, as `lean --json` does."
    )
    check.add_argument(
        "--recheck", action="store_true", help="Have the kernel check the library's proofs again, too (a second more)."
    )
    check.add_argument(
        "--format", choices=("lean", "ndjson"), default="lean", help="ndjson: export files of Lean's external checkers."
    )
    check.add_argument(
        "--permit-axioms", nargs="+", default=[], metavar="NAME", help="Further axioms of an export file, or `all`."
    )
    export_ = commands.add_parser("export", help="Write proofs to a file for stock Lean, or for external checkers.")
    export_.add_argument("sources", nargs="*", metavar="NAME|FILE|DIR", help="Library theorems, .lean files, a folder.")
    export_.add_argument("-o", "--output", metavar="OUT", help="File to write; for a folder, where to write.")
    export_.add_argument(
        "--format", choices=("lean", "ndjson"), default="lean", help="ndjson: with all that they rest on, as terms."
    )
    export_.add_argument("--library", action="store_true", help="The whole library (ndjson).")
    export_.add_argument("--seconds", type=float, help="Time for a folder, after which no certificate is begun.")
    compare_ = commands.add_parser("compare", help="Check the certificates in a folder against the .lean files there.")
    compare_.add_argument("folder", metavar="DIR", help="Folder with .lean files and certificates.")
    compare_.add_argument("--json", action="store_true", help="Print one JSON object instead of lines.")
    judge = commands.add_parser(
        "judge", help="Have Lean's own kernel check the certificates that standard input names."
    )
    judge.add_argument("library", metavar="LIBRARY", help="The file libleanshared of an installed Lean.")
    build_ = commands.add_parser("build", help="Build the library from text, every proof checked, and cache it.")
    build_.add_argument(
        "--record", action="store_true", help="Write down that this is the library, after a change of its text."
    )
    return parser


def run_export(args: argparse.Namespace) -> int:
    """Export in the format that was asked for. Raises UserError for words that do not go together."""
    output = None if args.output is None else Path(args.output)
    if args.format == "ndjson":
        return export_ndjson(args.sources, args.library, output, args.seconds)
    if args.library or args.seconds is not None:
        raise UserError("--library and --seconds go with --format ndjson")
    if output is None or not args.sources:
        raise UserError("export NAME|FILE ... -o OUT.lean: what to export, and the file to write")
    return export(args.sources, output)


def run_repl(forks: bool) -> int:
    """Answer requests until standard input ends, or fork processes that do."""
    library = load_library()
    if forks:
        serve_forks(library)
        return 0
    source = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    sink = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", errors="replace", newline="\n")
    freeze_gc()
    serve(library, source, sink)
    return 0


def command() -> None:
    """Run the console script `nanolean`."""
    run_main(main)


if __name__ == "__main__":
    command()
