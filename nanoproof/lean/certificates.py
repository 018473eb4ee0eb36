"""The certificates of exported proofs, each given to a checker in a process of its own.

A certificate is a file `NAME.ndjson` (or `.ndjson.gz`) beside `NAME.lean`: the proof with all that it rests on, in the
format that Lean's external checkers read. Two questions are asked of it: does the checker accept it, and is what it
proves what the `.lean` file says? The second needs NanoLean, which reads both. `scripts.check_with_lean` asks them.
"""

import gzip
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.commands import run
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json
from nanoproof.lean import lean_kernel
from nanoproof.lean.lean_kernel import Answer, Outcome
from nanoproof.lean.source import ALLOWED_AXIOMS

NANOLEAN = (sys.executable, "-m", "nanolean")
SUFFIXES = (".ndjson", ".ndjson.gz")
REASON_LETTERS = 300
SHOWN_REFUSALS = 5
START_SECONDS = 300.0
"""Time for NanoLean to build its library, which it does once."""
TRIAL_SECONDS = 60.0


@dataclass(frozen=True)
class CertificateResult:
    """The outcomes of all certificates, by their files; a file without one is refused."""

    checker: str
    answers: dict[Path, Answer]

    @property
    def ok(self) -> bool:
        """Whether all are accepted."""
        return all(answer.outcome == "accepted" for answer in self.answers.values())

    def count(self, outcome: Outcome) -> int:
        """Count the certificates with an outcome."""
        return sum(answer.outcome == outcome for answer in self.answers.values())

    def as_json(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        reasons = {
            outcome: {str(file): answer.reason for file, answer in self.answers.items() if answer.outcome == outcome}
            for outcome in ("refused", "declined")
        }
        return {
            "checker": self.checker,
            "certificates": len(self.answers),
            "accepted": self.count("accepted"),
            **reasons,
        }

    def __str__(self) -> str:
        lines = [f"{a.outcome}: {file}: {a.reason}" for file, a in self.answers.items() if a.outcome != "accepted"]
        counts = f"{self.count('accepted')} of {len(self.answers)} certificates accepted"
        others = f"{self.count('refused')} refused, {self.count('declined')} declined"
        return "\n".join([*lines, f"{counts}, {others} ({self.checker})"])


def check_certificates(folder: Path, checker: str | None, seconds: float, jobs: int) -> CertificateResult:
    """Check the certificates of the `.lean` files in a folder, `jobs` at once, each for so many seconds at most.

    `lean-kernel`, or `lean-kernel:PATH`, is Lean's own kernel, which one process asks for all of them. Raises UserError
    if there is no `.lean` file, or no such checker.
    """
    files = sorted(folder.rglob("*.lean"))
    if not files:
        raise UserError(f"{folder} holds no .lean file")
    certificates = {file: certificate for file in files if (certificate := certificate_of(file)) is not None}
    name, checked, different = _ask(checker, folder, certificates, seconds, jobs)
    answers: dict[Path, Answer] = {}
    for file in files:
        answers[file] = checked.get(file, Answer("refused", "it has no certificate"))
    for named, reason in different.items():
        file = Path(named)
        if answers.get(file, Answer("accepted")).outcome == "accepted":
            answers[file] = Answer("refused", reason)
    return CertificateResult(name, answers)


def _ask(
    checker: str | None, folder: Path, certificates: dict[Path, Path], seconds: float, jobs: int
) -> tuple[str, dict[Path, Answer], dict[str, str]]:
    """Return a checker's name, what it says of the files with certificates, and what `compare` says of the folder."""
    if checker is not None and lean_kernel.is_meant(checker):
        judged = lean_kernel.judge(list(certificates), lean_kernel.find_library(checker), seconds)
        different = {str(file): reason for file, reason in judged.different.items()}
        return judged.name, judged.answers, {**different, **_strays(folder)}
    command = Checker(checker)
    with ThreadPoolExecutor(1) as compare_pool, ThreadPoolExecutor(jobs) as pool:
        differences = compare_pool.submit(compare, folder, START_SECONDS + seconds * len(certificates))
        checks = {file: pool.submit(command.check, certificate, seconds) for file, certificate in certificates.items()}
        answers = {file: check.result() for file, check in checks.items()}
        return checker or "nanolean", answers, differences.result()


def _strays(folder: Path) -> dict[str, str]:
    """Return the certificates that belong to no file, with the reason."""
    paths = sorted(folder.rglob("*.ndjson*"))
    named = {path: path.with_name(path.name.removesuffix(".gz")).with_suffix(".lean") for path in paths}
    return {str(path): "there is no .lean file beside it" for path, file in named.items() if not file.exists()}


def require_checker(checker: str) -> None:
    """Raise UserError now, and not after hours, if there is no such checker of certificates."""
    if lean_kernel.is_meant(checker):
        lean_kernel.judge([], lean_kernel.find_library(checker), TRIAL_SECONDS)
    elif checker not in ("auto", "none"):
        Checker(checker)


def verdicts(folder: Path, checker: str, seconds: float, proofs_in: Mapping[Path, int] | None = None) -> dict[str, Any]:
    """Return how many of the proofs in a folder are accepted by NanoLean's checker, and by which other one.

    `checker` is `auto` (Lean's own kernel where its library is installed), `none`, or what `check_certificates` takes.
    `proofs_in` says how many proofs files hold, where it is not one each. Raises UserError if there is no such checker.
    """
    weights = proofs_in or {}
    files = sorted(folder.rglob("*.lean"))
    certificates = {file: certificate for file in files if (certificate := certificate_of(file)) is not None}
    if checker == "auto":
        checker = lean_kernel.NAME if lean_kernel.installed() is not None else "none"
    if not files:
        return {"proofs": 0, "nanolean": 0, "outside": {}, "refused": {}}
    name, answers = "", dict[Path, Answer]()
    if checker == "none":
        refused = compare(folder, START_SECONDS + seconds * len(files))
    else:
        name, answers, refused = _ask(checker, folder, certificates, seconds, 1)
    by_us = 0
    if str(folder) not in refused:
        by_us = sum(weights.get(file, 1) for file in certificates if str(file) not in refused)
    outside: dict[str, int] = {}
    if checker != "none":
        outside[name] = sum(weights.get(file, 1) for file in answers if answers[file].outcome == "accepted")
        for file, answer in answers.items():
            if answer.outcome != "accepted":
                refused[str(file)] = f"{answer.outcome} by {name}: {answer.reason}"
    total = sum(weights.get(file, 1) for file in files)
    return {"proofs": total, "nanolean": by_us, "outside": outside, "refused": refused}


def accepted_by(judged: dict[str, Any] | None) -> str:
    """Say how many proofs which checkers accept, by what `verdicts` returned; empty where nobody was asked."""
    if not judged or not judged["proofs"]:
        return ""
    counts = [
        f"{judged['nanolean']} by NanoLean's checker",
        *(f"{n} by {name}" for name, n in judged["outside"].items()),
    ]
    return ", ".join(counts) + ("" if judged["outside"] else ", not checked outside")


def verdict_line(judged: dict[str, Any]) -> str:
    """Say in a line what `verdicts` returned."""
    counts = [f"{judged['nanolean']} accepted by NanoLean's checker"]
    counts += [f"{count} by {name}" for name, count in judged["outside"].items()]
    if not judged["outside"]:
        counts.append("not checked outside (pip install 'nanoproof[lean-kernel]')")
    refused = [f"  refused: {file}: {reason}" for file, reason in list(judged["refused"].items())[:SHOWN_REFUSALS]]
    return "\n".join([f"  verdicts on {judged['proofs']} proofs: {', '.join(counts)}", *refused])


def certificate_of(file: Path) -> Path | None:
    """Return the path of the certificate of a `.lean` file; None if there is none."""
    return next((path for suffix in SUFFIXES if (path := file.with_suffix(suffix)).is_file()), None)


class Checker:
    """A program that checks certificates; None is NanoLean's own command.

    The words of a command may hold `{file}`, the certificate unpacked, or `{config}`, a JSON file that names it, the
    permitted axioms and the extensions; without either, the file is the last word.
    """

    def __init__(self, command: str | None) -> None:
        """Raises UserError if there is no such program."""
        self._own = command is None
        self._words = [*NANOLEAN, "check", "--format", "ndjson"] if command is None else shlex.split(command)
        if not self._words or shutil.which(self._words[0]) is None:
            raise UserError(f"--checker {command}: no such program on the PATH; without it NanoLean checks")
        if not any("{file}" in word or "{config}" in word for word in self._words):
            self._words.append("{file}")

    def check(self, certificate: Path, seconds: float) -> Answer:
        """Check a certificate; raises UserError if the program cannot be run."""
        with tempfile.TemporaryDirectory() as folder:
            file, config = certificate.resolve(), Path(folder) / "config.json"
            if certificate.suffix == ".gz" and not self._own:
                file = Path(folder) / certificate.stem
                try:
                    with gzip.open(certificate) as packed, file.open("wb") as plain:
                        shutil.copyfileobj(packed, plain)
                except (OSError, EOFError, zlib.error) as error:
                    return Answer("refused", f"{certificate.name} cannot be unpacked: {error}")
            atomic_write_json(config, configuration(file))
            words = [word.replace("{file}", str(file)).replace("{config}", str(config)) for word in self._words]
            try:
                code, said = run(words, None, seconds)
            except subprocess.TimeoutExpired:
                return Answer("refused", f"no answer within {seconds:.0f} s")
            except OSError as error:
                raise UserError(f"cannot run {words[0]}: {error.strerror}") from error
        return self._answer(code, said)

    def _answer(self, code: int, said: str) -> Answer:
        """Read an exit code: 0 accepts; to decline is 3 for NanoLean, else 2, as the Lean Kernel Arena has it."""
        if code == 0:
            return Answer("accepted")
        outcome: Outcome = "declined" if code == (3 if self._own else 2) else "refused"
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        return Answer(outcome, " ".join(lines)[:REASON_LETTERS] or f"exit code {code}")


def configuration(file: Path) -> dict[str, Any]:
    """Return the configuration for a checker that reads a JSON file."""
    return {
        "export_file_path": str(file),
        "permitted_axioms": sorted(ALLOWED_AXIOMS),
        "unpermitted_axiom_hard_error": True,
        "nat_extension": True,
        "string_extension": True,
    }


def compare(folder: Path, seconds: float) -> dict[str, str]:
    """Return the files whose certificates prove something else than they state, each with NanoLean's reason."""
    try:
        code, said = run([*NANOLEAN, "compare", str(folder), "--json"], None, seconds)
        different: dict[str, str] = json.loads(said)["different"]
    except subprocess.TimeoutExpired:
        return {str(folder): f"no answer within {seconds:.0f} s"}
    except (ValueError, KeyError):
        return {str(folder): f"exit code {code}: {said.strip()[-REASON_LETTERS:]}"}
    return different
