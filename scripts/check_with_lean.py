"""Check exported proofs in a process that sees nothing but the `.lean` files.

    python -m scripts.check_with_lean DIR                        with the `lean` on the PATH
    python -m scripts.check_with_lean DIR --lean "lake env lean" --cwd PROJECT
    python -m scripts.check_with_lean DIR --lean nanolean        with the embedded prover

Every file must hold without an error, without `sorry`, and on the three axioms of Lean's library alone.
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from nanoproof.common.config import Parser, add_flags, from_args, opt, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.lean.source import ALLOWED_AXIOMS, declared_names

AXIOMS = re.compile(r"'[^'\n]*' depends on axioms: \[([^\]]*)\]")
NO_AXIOMS = re.compile(r"'[^'\n]*' does not depend on any axioms")


@dataclass(frozen=True)
class CheckOptions:
    """Check."""

    lean: str = opt("lean", "Command that checks a file, or `nanolean`.")
    cwd: str | None = opt(None, "Folder to run it in (a Lean project for `lake env lean`).")
    header: str = opt("", "Text to put before each file, such as `import Mathlib`.")
    timeout: float = opt(300.0, "Seconds for one run of the command.", above=0)
    json: str | None = opt(None, "File to write the result to.")

    def __post_init__(self) -> None:
        validate(self, "check")


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
        result = {"files": len(files), "accepted": len(files) - len(refused), "lean": options.lean}
        atomic_write_json(
            Path(options.json), {**result, "refused": {str(file): text for file, text in refused.items()}}
        )
    return 1 if refused else 0


def check_files(files: list[Path], options: CheckOptions) -> dict[Path, str]:
    """The files that do not hold, each with the reason."""
    command = lean_command(options.lean)
    refused: dict[Path, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate(files):
            source = file.read_text(encoding="utf-8")
            names = declared_names(source)
            text = "\n\n".join([options.header, source, *(f"#print axioms {name}" for name in names)])
            copy = Path(folder) / f"proof_{number}.lean"
            copy.write_text(text.lstrip() + "\n", encoding="utf-8")
            reason = check_one([*command, str(copy)], len(names), options)
            if reason is not None:
                refused[file] = reason
    return refused


def lean_command(lean: str) -> list[str]:
    """The words of the command; raises UserError if there is no such program."""
    if lean == "nanolean":
        return [sys.executable, "-m", "nanoproof.lean.nanolean", "check"]
    words = shlex.split(lean)
    if not words or shutil.which(words[0]) is None:
        raise UserError(f"--lean {lean}: no such program on the PATH; `--lean nanolean` uses the embedded prover")
    return words


def check_one(command: list[str], num_names: int, options: CheckOptions) -> str | None:
    """Why a file does not hold; None if it does."""
    try:
        done = subprocess.run(command, cwd=options.cwd, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return f"no answer within {options.timeout:.0f} s"
    output = done.stdout + done.stderr
    if done.returncode != 0 or re.search(r"\berror:", output):
        return (output.strip() or f"exit code {done.returncode}").splitlines()[0]
    if "declaration uses" in output:
        return "it uses sorry"
    stated = AXIOMS.findall(output)
    if num_names == 0 or len(stated) + len(NO_AXIOMS.findall(output)) != num_names:
        return "its axioms were not listed for every theorem"
    foreign = {name.strip() for names in stated for name in names.split(",")} - ALLOWED_AXIOMS
    return f"it rests on {', '.join(sorted(foreign))}" if foreign else None


if __name__ == "__main__":
    run_main(main)
