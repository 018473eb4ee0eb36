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


def module_and_arguments(command: str) -> tuple[str, list[str]]:
    """Split a command into the module that it runs and its arguments. Raises UserError if it runs none."""
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise UserError(f"not a command, {str(error).lower()}: {command}") from error
    if parts[:1] not in (["python"], ["torchrun"]) or "-m" not in parts[:-1]:
        raise UserError(f"no command of a module: {command}")
    start = parts.index("-m") + 1
    module, arguments = parts[start], parts[start + 1 :]
    # The `--` that keeps torchrun from reading the module's flags is none of the module's arguments.
    if parts[0] == "torchrun" and arguments[:1] == ["--"]:
        arguments = arguments[1:]
    return module, arguments


def help_of(module: str, arguments: Sequence[str]) -> str:
    """Return a module's output for its arguments and `--help-all`; raises UserError for a value that it cannot read."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        raise UserError(f"there is no module {module}")
    if spec.submodule_search_locations:  # a package
        module_to_run = f"{module}.__main__"
    else:
        module_to_run = module
    program = importlib.import_module(module_to_run)
    page = ""
    for flag in ("--help", "--help-all"):
        output, complaint = io.StringIO(), io.StringIO()
        try:
            # Values before the flag are read and checked first: `--num-steps many` is refused.
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(complaint):
                program.main([*arguments, flag])
        except SystemExit as stopped:
            if stopped.code not in (0, None):
                raise UserError(f"{module}: {complaint.getvalue().strip().splitlines()[-1]}") from stopped
        page = output.getvalue()
        if "--help-all" not in page:  # a command with a parser of its own, that shows everything
            break
    return page


def check_command(command: str) -> None:
    """Raise UserError if a command cannot be right."""
    module, arguments = module_and_arguments(command)
    page = help_of(module, arguments)
    for argument in arguments:
        flag = argument.split("=")[0]
        # argparse prints the help without a look at the flags that it does not know.
        if flag.startswith("--") and not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", page):
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
