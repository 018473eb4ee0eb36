"""Check exported proofs in a process that sees nothing but the files.

    python -m scripts.check_with_lean DIR                        with the `lean` on the PATH
    python -m scripts.check_with_lean DIR --lean "lake env lean" --cwd PROJECT --header "import Mathlib"
    python -m scripts.check_with_lean DIR --lean nanolean        with the embedded prover
    python -m scripts.check_with_lean DIR --certificates --checker "nanoda_bin {config}"

Every `.lean` file of the folder must hold without an error, without `sorry`, without a word that no proof may hold, and
on the three axioms of Lean's library alone. A file does not say which statement was to be proved. With `--results
results.jsonl` (of the evaluation that made the proofs) each proof in it also goes up the whole ladder of the final
check, against the statement as it was given; see docs/checking.md.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, opt, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json, read_jsonl
from nanoproof.lean.banned import banned_word
from nanoproof.lean.errors import LeanError, ProtocolError
from nanoproof.lean.inquiry import Inquiry
from nanoproof.lean.source import EXPLICIT, negate
from nanoproof.lean.wire import CheckReport
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.check import Texts, check_proof, foreign_axioms


@dataclass(frozen=True)
class CheckOptions:
    """Check."""

    lean: str = opt("lean", "Command that checks a file, or `nanolean`.")
    cwd: str | None = opt(None, "Folder to run it in (a Lean project for `lake env lean`).")
    header: str = opt("", "Text to put before each file, such as `import Mathlib`.")
    results: str | None = opt(None, "`results.jsonl` whose proofs are checked against the statements as given.")
    timeout: float = opt(300.0, "Seconds for one file.", above=0)
    json: str | None = opt(None, "File to write the result to.")
    certificates: bool = opt(False, "Check the certificates beside the files, instead of the files.")
    checker: str | None = opt(None, "Command that checks one, with {file} or {config} in it; default NanoLean's own.")
    jobs: int = opt(os.cpu_count() or 1, "Certificates that are checked at once.", min=1)

    def __post_init__(self) -> None:
        validate(self, "check")


def main(argv: list[str] | None = None) -> int:
    """Entry point: exit code 0 if everything holds, 1 if not."""
    parser = Parser(prog="python -m scripts.check_with_lean", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dir", help="Folder with .lean files (searched recursively).")
    add_flags(parser, CheckOptions)
    args = parser.parse_args(argv)
    options = from_args(CheckOptions, args)
    if options.certificates:
        from scripts.check_certificates import report  # it runs commands as this module does

        return report(Path(args.dir), options.checker, options.timeout, options.jobs, options.json)
    files = sorted(Path(args.dir).rglob("*.lean"))
    if not files:
        raise UserError(f"{args.dir} holds no .lean file")
    attempts = [] if options.results is None else read_results(Path(options.results))
    refused, fakes = check_all(files, attempts, options)
    for file, reason in refused.items():
        print(f"refused: {file}: {reason}")
    for theorem, reason in fakes.items():
        print(f"refused: {theorem} in {options.results}: {reason}")
    print(f"{len(files) - len(refused)} of {len(files)} proofs hold ({options.lean})")
    if options.results is not None:
        print(f"{len(attempts) - len(fakes)} of {len(attempts)} results hold against the statements as given")
    if options.json is not None:
        result: dict[str, Any] = {"files": len(files), "accepted": len(files) - len(refused), "lean": options.lean}
        result["refused"] = {str(file): text for file, text in refused.items()}
        if options.results is not None:
            result["results"] = {"proofs": len(attempts), "accepted": len(attempts) - len(fakes), "refused": fakes}
        try:
            atomic_write_json(Path(options.json), result)
        except OSError as error:
            raise UserError(f"cannot write --json {options.json}: {error.strerror}") from error
    return 1 if refused or fakes else 0


def check_all(
    files: list[Path], attempts: list[Attempt], options: CheckOptions
) -> tuple[dict[Path, str], dict[str, str]]:
    """The files that do not hold and the theorems whose proofs do not, each with the reason."""
    sources = {file: read_source(file) for file in files}
    texts = [*sources.values()]
    for attempt in attempts:
        found = Texts.of(_target(attempt).source, attempt.proof)
        texts += [found.whole, found.enclosed, found.given]
    lean = LeanCommand(options)
    lean.read(texts)
    refused = {file: reason for file, source in sources.items() if (reason := judge(lean, source))}
    fakes = {attempt.theorem.id: reason for attempt in attempts if (reason := climb(lean, attempt))}
    return refused, fakes


def judge(lean: "LeanCommand", source: str) -> str:
    """Why the text of a file does not hold; empty if it does."""
    if reason := banned_word(source.replace(EXPLICIT, "")):
        return reason
    try:
        report = lean.check(source)
    except LeanError as error:
        return str(error)
    if report.errors:
        return report.errors[0]
    if report.sorries:
        return "it uses sorry"
    return foreign_axioms(report) if report.statements else "it holds no theorem"


def climb(lean: "LeanCommand", attempt: Attempt) -> str:
    """Why the proof of an attempt does not hold against the statement as given; empty if it does."""
    try:
        verdict = check_proof(lean, _target(attempt), attempt.proof)
    except LeanError as error:
        return str(error)
    same = verdict.source == attempt.source
    return verdict.reason if not verdict.accepted else "" if same else "the text that was exported is another one"


def _target(attempt: Attempt) -> Any:
    """The theorem that was proved: where an attempt disproves, the negation."""
    return negate(attempt.theorem) if attempt.outcome == "disproven" else attempt.theorem


def read_results(file: Path) -> list[Attempt]:
    """The attempts of a file that count as proofs; raises UserError if they cannot be read."""
    try:
        attempts = [Attempt.from_json(record) for record in read_jsonl(file)]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"--results {file}: {error}") from error
    return [attempt for attempt in attempts if attempt.outcome in ("proven", "disproven")]


def read_source(file: Path) -> str:
    """The text of a file; raises UserError if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {file}: {error}") from error


class LeanCommand:
    """A `Checker` that has a program read texts, each as a file of its own."""

    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._command = lean_command(options.lean)
        self._reports: dict[str, CheckReport | ProtocolError] = {}

    def check(self, source: str) -> CheckReport:
        """What the program said about a text; raises ProtocolError if that cannot be understood."""
        if source not in self._reports:
            self.read([source])
        report = self._reports[source]
        if isinstance(report, ProtocolError):
            raise report
        return report

    def read(self, sources: Iterable[str]) -> None:
        """Have the program read texts. NanoLean takes all of them at once, each in a fresh environment."""
        with tempfile.TemporaryDirectory() as folder:
            inquiries: dict[Path, tuple[str, Inquiry]] = {}
            for number, source in enumerate(dict.fromkeys(sources)):
                inquiry = Inquiry.about(source, self._options.header)
                path = Path(folder) / f"proof_{number}.lean"
                path.write_text(inquiry.command + "\n", encoding="utf-8")
                inquiries[path] = source, inquiry
            groups = [[path] for path in inquiries]
            if self._options.lean == "nanolean":
                groups = [[*inquiries]]
            for group in groups:
                said = self._messages(group)
                for path in group:
                    source, inquiry = inquiries[path]
                    try:
                        self._reports[source] = inquiry.read(said[path])
                    except ProtocolError as error:
                        self._reports[source] = error

    def _messages(self, paths: list[Path]) -> dict[Path, list[dict[str, Any]]]:
        """The messages about each file, trouble with the program among them as errors."""
        options = self._options
        try:
            code, output = run([*self._command, *map(str, paths)], options.cwd, options.timeout * len(paths))
        except subprocess.TimeoutExpired:
            return {path: [_trouble(f"no answer within {options.timeout:.0f} s")] for path in paths}
        except OSError as error:
            raise UserError(f"cannot run {options.lean} in {options.cwd or Path.cwd()}: {error.strerror}") from error
        messages = [message for line in output.splitlines() if (message := read_line(line))]
        by_file = {path: [m for m in messages if m.get("fileName") in (str(path), None)] for path in paths}
        told = any(m.get("severity") == "error" or "sorry" in str(m.get("data")) for m in messages)
        if code != 0 and not told:
            return {path: [_trouble(f"exit code {code}")] for path in paths}
        return by_file


def lean_command(lean: str) -> list[str]:
    """The words of the command; raises UserError if there is no such program."""
    if lean == "nanolean":
        return [sys.executable, "-m", "nanoproof.lean.nanolean", "check", "--messages"]
    words = shlex.split(lean)
    if not words or shutil.which(words[0]) is None:
        raise UserError(f"--lean {lean}: no such program on the PATH; `--lean nanolean` uses the embedded prover")
    return [*words, "--json"]


def read_line(line: str) -> dict[str, Any] | None:
    """The message on a line of the output; None for a line of `lake` or another tool that is no message."""
    if line.lstrip().startswith("{"):
        try:
            message = json.loads(line)
            if isinstance(message, dict):
                return {**message, "data": _shown(message)} if message.get("severity") == "error" else message
        except (ValueError, RecursionError):
            pass
        return _trouble(f"output that cannot be read: {line[:200]}")
    return _trouble(line.strip()) if line.startswith(("error:", "uncaught exception")) else None


def _shown(message: dict[str, Any]) -> str:
    """An error with its place, on one line."""
    place = message.get("pos") or {}
    first = str(message.get("data", "")).strip().split("\n")[0]
    return f"{place.get('line', 0)}:{place.get('column', 0)}: error: {first}"


def _trouble(text: str) -> dict[str, Any]:
    return {"severity": "error", "data": text}


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


if __name__ == "__main__":
    run_main(main)
