"""Check, without running them, that commands give modules flags that exist, with values that can be read.

DRY_RUN=1 bash runs/speedrun.sh          # does so with all commands of the pipeline
python -m scripts.check_flags < FILE     # one command on a line: python -m MODULE .., torchrun .. -m MODULE -- ..
"""

import argparse
import contextlib
import importlib
import importlib.util
import io
import re
import shlex
import sys
from collections.abc import Iterable, Sequence

from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError, run_main


def module_and_words(command: str) -> tuple[str, list[str]]:
    """Split a command into the module that it runs and its arguments. Raises UserError if it runs none."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"not a command, {str(error).lower()}: {command}") from error
    if words[:1] not in (["python"], ["torchrun"]) or "-m" not in words[:-1]:
        raise UserError(f"no command of a module: {command}")
    start = words.index("-m") + 1
    rest = words[start + 1 :]
    return words[start], rest[1:] if words[0] == "torchrun" and rest[:1] == ["--"] else rest


def help_of(module: str, words: Sequence[str]) -> str:
    """Return a module's output for its arguments and `--help-all`; raises UserError for a value that it cannot read."""
    found = importlib.util.find_spec(module)
    if found is None:
        raise UserError(f"there is no module {module}")
    program = importlib.import_module(f"{module}.__main__" if found.submodule_search_locations else module)
    pages = []
    for flag in ("--help", "--help-all"):
        said, complaint = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint):
                program.main([*words, flag])
        except SystemExit as stopped:
            if stopped.code not in (0, None):
                raise UserError(f"{module}: {complaint.getvalue().strip().splitlines()[-1]}") from stopped
        pages.append(said.getvalue())
        if "--help-all" not in pages[0]:  # a command with a parser of its own, that shows everything
            break
    return pages[-1]


def check_command(command: str) -> None:
    """Raises UserError if a command cannot be right."""
    module, words = module_and_words(command)
    known = help_of(module, words)
    for flag in (word.split("=")[0] for word in words if word.startswith("--")):
        if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", known):
            raise UserError(f"{module} has no flag {flag}")


def check_commands(lines: Iterable[str]) -> int:
    """Check every line that is not empty; returns how many there were."""
    commands = [line.strip() for line in lines if line.strip()]
    for command in commands:
        check_command(command)
    return len(commands)


def main(argv: Sequence[str] | None = None) -> int:
    """Check the commands on standard input."""
    raw = argparse.RawDescriptionHelpFormatter
    Parser(prog="python -m scripts.check_flags", description=__doc__, formatter_class=raw).parse_args(argv)
    print(f"{check_commands(sys.stdin)} commands, all flags exist")
    return 0


if __name__ == "__main__":
    run_main(main)
