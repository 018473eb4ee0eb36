"""`python -m nanoproof.lean.nanolean`: `repl` speaks the Lean REPL protocol, `check` runs files."""

from __future__ import annotations

import argparse
import io
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from nanoproof.common.errors import UserError, run_main
from nanoproof.lean.nanolean.commands.messages import LineMap
from nanoproof.lean.nanolean.commands.runner import run_text
from nanoproof.lean.nanolean.kernel.errors import allow_deep_recursion
from nanoproof.lean.nanolean.loader import load_library
from nanoproof.lean.nanolean.repl import serve

STACK_BYTES = 512 * 1024 * 1024
"""Address space for deeply nested terms; only what is used becomes memory."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit code is 1 when a checked file has errors."""
    parser = argparse.ArgumentParser(prog="python -m nanoproof.lean.nanolean", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    repl = commands.add_parser("repl", help="Answer JSON requests on standard input, as the Lean REPL does.")
    repl.add_argument("--json", action="store_true", help="Speak JSON (the only form there is).")
    check = commands.add_parser("check", help="Check .lean files and print their messages.")
    check.add_argument("files", nargs="+", metavar="FILE", help="Files over the library's environment.")
    args = parser.parse_args(argv)
    if args.command == "repl":
        return with_deep_stack(run_repl)
    return with_deep_stack(lambda: check_files([Path(name) for name in args.files]))


def with_deep_stack(work: Callable[[], int]) -> int:
    """Run something in a thread whose stack is large enough for deep recursion."""
    allow_deep_recursion()
    results: list[int] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    threading.stack_size(0)
    if errors:
        raise errors[0]
    return results[0]


def run_repl() -> int:
    """Answer requests until standard input ends."""
    source = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    sink = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", errors="replace", newline="\n")
    serve(load_library(), source, sink)
    return 0


def check_files(files: Sequence[Path]) -> int:
    """Run files, each over the library alone, and print what they have to say."""
    base = load_library(distrust=True)
    failed = False
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read {file}: {error}") from None
        result = run_text(base, text)
        lines = LineMap(text)
        for message in result.messages:
            line, column = lines.place(message.pos)
            print(f"{file}:{line}:{column}: {message.severity}: {message.text}")
        failed = failed or result.has_errors
    return 1 if failed else 0


if __name__ == "__main__":
    run_main(main)
