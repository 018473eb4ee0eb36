"""Texts that both elaborators read: Lean's messages are written down, and asked for again where Lean is installed.

`lean_answers.lean` begins with the words that the texts are about, as a file that needs nothing of Lean's library
(`prelude`); what stands between `--L` and `--E` there is what Lean alone must have. The texts follow, each behind a
line `---`, with the messages of Lean 4.35.0 in a comment. `--- differs` marks those that NanoLean answers otherwise.

`python -m nanolean.tests.lean_answers LIBRARY [--write]` asks the Lean in the file `libleanshared` again: it prints how
many answers are the same to the letter, or writes Lean's down.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nanolean.commands.messages import LineMap
from nanolean.commands.runner import run_text
from nanolean.env_state import EnvState
from nanolean.kernel.env import Environment

FILE = Path(__file__).parent / "lean_answers.lean"
LEAN_ONLY = re.compile(r"--L\n.*?--E\n", re.DOTALL)
RUN_LEAN = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
args = [b"lean", b"--json", *map(str.encode, sys.argv[2:])]
sys.exit(library.lean_main(len(args), (ctypes.c_char_p * (len(args) + 1))(*args, None)))
"""
"""Lean's command line in a process of its own: it ends the process."""
SECONDS = 60


@dataclass(frozen=True)
class Case:
    """A text, what Lean says, and whether NanoLean is known to say something else."""

    text: str
    answer: str
    differs: bool


@cache
def words_and_cases() -> tuple[str, tuple[Case, ...]]:
    """Read the file: the words, as Lean has them, and the texts about them."""
    return cases_of(FILE.read_text(encoding="utf-8"))


def cases_of(text: str) -> tuple[str, tuple[Case, ...]]:
    """Split what stands before the first text from the texts with Lean's answers."""
    words, *parts = re.split(r"^---(.*)\n", text, flags=re.MULTILINE)
    cases: list[Case] = []
    for mark, part in zip(parts[::2], parts[1::2]):
        text, _, answer = part.partition("/-\n")
        cases.append(Case(text, answer.removesuffix("-/\n"), mark.strip() == "differs"))
    return words, tuple(cases)


@cache
def our_words() -> EnvState:
    """The environment in which NanoLean reads the texts."""
    kept: list[str] = []
    for line in LEAN_ONLY.sub("", words_and_cases()[0]).splitlines():
        if not line.startswith(("prelude", "set_option linter", "set_option bootstrap", "set_option genCtorIdx")):
            kept.append(line.removeprefix("noncomputable "))
    result = run_text(EnvState(Environment()), "\n".join(kept))
    assert not result.has_errors, result.messages
    return result.state


def our_answer(text: str) -> str:
    """What NanoLean says to a text, a line `line:column severity: message` for each message."""
    result, lines = run_text(our_words(), text), LineMap(text)
    shown: list[str] = []
    for message in result.messages:
        line, column = lines.place(message.pos)
        shown.append(f"{line}:{column} {message.severity}: {message.text}\n")
    return "".join(shown)


def run_lean(library: Path, folder: Path, *options: str) -> str:
    """What the Lean of a library prints, a line of JSON for each message. Raises TimeoutExpired."""
    command = [sys.executable, "-c", RUN_LEAN, str(library), *options]
    environment = {**os.environ, "LEAN_PATH": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.stdout


@cache
def leans_words(library: Path) -> tuple[tempfile.TemporaryDirectory[str], str]:
    """A folder with the words as a module of Lean, which reads them in a tenth of the time that it elaborates them in,
    and what a text about them begins with."""
    folder = tempfile.TemporaryDirectory()
    words, _ = words_and_cases()
    (Path(folder.name) / "Words.lean").write_text(words, encoding="utf-8")
    said = run_lean(library, Path(folder.name), "-o", "Words.olean", "Words.lean")
    assert (Path(folder.name) / "Words.olean").exists(), said
    for_texts = [line for line in words.splitlines() if re.match(r"universe|set_option (?!.* in$)", line)]
    return folder, "\n".join(["prelude", "import Words", *for_texts, ""])


def leans_answer(library: Path, text: str) -> str:
    """What the Lean of a library says to a text. Raises TimeoutExpired.

    But for what it says at the beginning of a command after an error further on in it, of a term with `sorry` in it
    (`f sorry : A`, or that no code can be made): the words have had `sorryAx` only since the answers were written.
    """
    words, beginning = leans_words(library)
    above = beginning.count("\n")
    with tempfile.NamedTemporaryFile("w", suffix=".lean", dir=words.name, encoding="utf-8") as file:
        file.write(beginning + text)
        file.flush()
        said = run_lean(library, Path(words.name), file.name)
    shown: list[str] = []
    last_error = (0, 0)
    for row in said.splitlines():
        message = json.loads(row)
        line, column = message["pos"]["line"] - above, message["pos"]["column"]
        severity = message["severity"].replace("information", "info")
        is_of_sorry = severity == "info" or message["data"].startswith("`sorryAx` not supported")
        if line <= 0 or (is_of_sorry and (line, column) < last_error):
            continue
        if severity == "error":
            last_error = (line, column)
        shown.append(f"{line}:{column} {severity}: {message['data'].rstrip()}\n")
    return "".join(shown)


def write(answers: list[str]) -> None:
    """Write Lean's answers down, and which of them NanoLean gives."""
    words, cases = words_and_cases()
    parts = [words]
    for case, answer in zip(cases, answers, strict=True):
        mark = "---" if our_answer(case.text) == answer else "--- differs"
        parts.append(f"{mark}\n{case.text}/-\n{answer}-/\n")
    FILE.write_text("".join(parts), encoding="utf-8")


def main(library: str, *options: str) -> None:
    """Ask again."""
    _, cases = words_and_cases()
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda case: leans_answer(Path(library), case.text), cases))
    same = sum(our_answer(case.text) == answer for case, answer in zip(cases, answers))
    changed = sum(case.answer != answer for case, answer in zip(cases, answers))
    print(
        f"{len(cases)} texts, {same} answered to the letter as Lean does; {changed} answers are not those written down"
    )
    if "--write" in options:
        write(answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
