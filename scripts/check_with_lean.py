"""Check exported proofs in a process that sees nothing but the `.lean` files.

    python -m scripts.check_with_lean DIR                        with the `lean` on the PATH
    python -m scripts.check_with_lean DIR --lean "lake env lean" --cwd PROJECT
    python -m scripts.check_with_lean DIR --lean nanolean        with the embedded prover

Every file must hold without an error, without `sorry`, and on the three axioms of Lean's library alone.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, opt, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.lean.source import ALLOWED_AXIOMS, declared_names

REPORT = re.compile(r"'([^\n]+?)' (?:does not depend on any axioms|depends on axioms: \[([^\]]*)\])")
ERROR = re.compile(r"\berror(?:\([^)\n]*\))?:")
"""Lean says `error:`, and `error(lean.unknownIdentifier):` where the kind of error has a name."""


@dataclass(frozen=True)
class CheckOptions:
    """Check."""

    lean: str = opt("lean", "Command that checks a file, or `nanolean`.")
    cwd: str | None = opt(None, "Folder to run it in (a Lean project for `lake env lean`).")
    header: str = opt("", "Text to put before each file, such as `import Mathlib`.")
    timeout: float = opt(300.0, "Seconds for one file.", above=0)
    json: str | None = opt(None, "File to write the result to.")

    def __post_init__(self) -> None:
        validate(self, "check")


@dataclass(frozen=True)
class Copy:
    """A file with the axioms of its theorems asked for, and the names of these theorems."""

    path: Path
    names: frozenset[str]


def main(argv: list[str] | None = None) -> int:
    """Entry point: exit code 0 if every file holds, 1 if not."""
    parser = Parser(prog="python -m scripts.check_with_lean", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dir", help="Folder with .lean files (searched recursively).")
    add_flags(parser, CheckOptions)
    args = parser.parse_args(argv)
    options = from_args(CheckOptions, args)
    files = sorted(Path(args.dir).rglob("*.lean"))
    if not files:
        raise UserError(f"{args.dir} holds no .lean file")
    refused = check_files(files, options)
    for file, reason in refused.items():
        print(f"refused: {file}: {reason}")
    print(f"{len(files) - len(refused)} of {len(files)} proofs hold ({options.lean})")
    if options.json is not None:
        result: dict[str, Any] = {"files": len(files), "accepted": len(files) - len(refused), "lean": options.lean}
        result["refused"] = {str(file): text for file, text in refused.items()}
        try:
            atomic_write_json(Path(options.json), result)
        except OSError as error:
            raise UserError(f"cannot write --json {options.json}: {error.strerror}") from error
    return 1 if refused else 0


def check_files(files: list[Path], options: CheckOptions) -> dict[Path, str]:
    """The files that do not hold, each with the reason."""
    command = lean_command(options.lean)
    with tempfile.TemporaryDirectory() as folder:
        copies: dict[Path, Copy] = {}
        for number, file in enumerate(files):
            source = read_source(file)
            names = declared_names(source)
            text = "\n\n".join([options.header, source, *(f"#print axioms {name}" for name in names)])
            copies[file] = Copy(Path(folder) / f"proof_{number}.lean", frozenset(names))
            copies[file].path.write_text(text.lstrip() + "\n", encoding="utf-8")
        outputs = run_all(command, list(copies.values()), options)
        reasons = {file: judge(copy, outputs[copy.path]) for file, copy in copies.items()}
    return {file: reason for file, reason in reasons.items() if reason is not None}


def read_source(file: Path) -> str:
    """The text of a file; raises UserError if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {file}: {error}") from error


def lean_command(lean: str) -> list[str]:
    """The words of the command; raises UserError if there is no such program."""
    if lean == "nanolean":
        return [sys.executable, "-m", "nanoproof.lean.nanolean", "check"]
    words = shlex.split(lean)
    if not words or shutil.which(words[0]) is None:
        raise UserError(f"--lean {lean}: no such program on the PATH; `--lean nanolean` uses the embedded prover")
    return words


def run_all(command: list[str], copies: list[Copy], options: CheckOptions) -> dict[Path, str]:
    """What the command prints about each file. NanoLean takes all files at once, each in a fresh environment."""
    groups = [copies] if options.lean == "nanolean" else [[copy] for copy in copies]
    outputs = {copy.path: "" for copy in copies}
    for group in groups:
        paths = [str(copy.path) for copy in group]
        try:
            code, output = run(command + paths, options.cwd, options.timeout * len(group))
        except subprocess.TimeoutExpired:
            outputs.update({copy.path: f"error: no answer within {options.timeout:.0f} s" for copy in group})
            continue
        except OSError as error:
            raise UserError(f"cannot run {options.lean} in {options.cwd or Path.cwd()}: {error.strerror}") from error
        texts = split_by_file(output, paths)
        if code != 0 and not any(ERROR.search(text) or "declaration uses" in text for text in texts.values()):
            texts = dict.fromkeys(paths, f"error: exit code {code}")
        outputs.update({copy.path: texts[str(copy.path)] for copy in group})
    return outputs


def run(words: list[str], cwd: str | None, seconds: float) -> tuple[int, str]:
    """A command's exit code and output; when the time is over, the processes that it started end with it."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, cwd=cwd, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace", start_new_session=True
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, stdout + stderr


def split_by_file(output: str, paths: list[str]) -> dict[str, str]:
    """A compiler's output by the file that each message names; lines without a name belong to the message before."""
    texts = dict.fromkeys(paths, "")
    current = paths[0]
    for line in output.splitlines():
        current = next((path for path in paths if line.startswith(f"{path}:")), current)
        texts[current] += line.removeprefix(f"{current}:") + "\n"
    return texts


def judge(copy: Copy, output: str) -> str | None:
    """Why a file does not hold; None if it does."""
    if ERROR.search(output):
        return next(line for line in output.splitlines() if ERROR.search(line)).strip()
    if "declaration uses" in output:
        return "it uses sorry"
    reports = REPORT.findall(output)
    if not copy.names or not copy.names <= {name for name, _ in reports}:
        return "its axioms were not listed for every theorem"
    foreign = {axiom.strip() for _, axioms in reports for axiom in axioms.split(",")} - ALLOWED_AXIOMS - {""}
    return f"it rests on {', '.join(sorted(foreign))}" if foreign else None


if __name__ == "__main__":
    run_main(main)
