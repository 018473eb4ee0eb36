"""NanoLean as processes that die or stall: `python -m benchmarks.faulty_lean FOLDER SHARE SEED [--forks]`.

It answers as `python -m nanolean repl --json` does, with `--forks` too, but for a share of the texts with one of the
statements of the file FOLDER/statements in them, which a hash picks. Half of these kill their process, as one that runs
out of memory is killed, three times in a row: so often the client has a text read, in another process each time, before
the text gets no verdict. The other half gets no answer, once, so that the server has to kill the process when the time
is up. What is read, and what becomes of it, is a line of FOLDER/readings.
"""

import hashlib
import json
import os
import re
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import IO, Any
from unittest import mock

from nanolean import forks
from nanolean.env_state import EnvState
from nanolean.library.loader import load_library
from nanolean.repl import Repl, read_requests
from nanolean.system import freeze_gc, with_deep_stack

STATEMENTS, READINGS = "statements", "readings"
"""Names of files: a JSON list of texts, from behind a theorem's name to its `:=`, and lines `WHAT KIND MARK NAME`.

They say what became of a text, which text it was, whose, and the name that the check gave the theorem, which two texts
of a proof have in common; `-` stands for none.
"""
CRASH, STALL, READ = "crash", "stall", "read"
STATEMENT, PROOF, RENAMED, PREMISES = "statement", "proof", "renamed", "premises"
"""Kinds of texts: without a proof, a proof under its theorem's name, under another name, and once more for premises."""
CRASHES = 3
MARK = re.compile(r"-- #([0-9a-f]{12})")
"""The comment by which a text that a model wrote is known again wherever it is read."""
_NAME = re.compile(r"\bnanoproof_[0-9a-f]+")


def kind_of(request: dict[str, Any]) -> str:
    """Return which of the texts that a whole proof needs a command is."""
    if not MARK.search(request["cmd"]):
        return STATEMENT
    if request.get("allTactics"):
        return PREMISES
    return RENAMED if _NAME.search(request["cmd"]) else PROOF


class Faults:
    """Decides what happens at a text, and remembers it for all processes in files of the folder."""

    def __init__(self, folder: Path, share: float, seed: int) -> None:
        self._folder, self._share, self._seed = folder, share, seed

    def note(self, what: str, request: dict[str, Any]) -> None:
        """Append a line, in one piece whichever processes write at the time."""
        mark, name = "-", "-"
        if match := MARK.search(request["cmd"]):
            mark = match[1]
        if match := _NAME.search(request["cmd"]):
            name = match[0]
        line = f"{what} {kind_of(request)} {mark} {name}\n"
        with (self._folder / READINGS).open("a", encoding="utf-8") as file:
            file.write(line)

    def next(self, request: dict[str, Any]) -> str:
        """Return what happens at a text now: CRASH, STALL or READ."""
        # By a hash: which process gets a text, and when, must not change what happens at it.
        text = f"{self._seed}\0{request.get('allTactics')}\0{request['cmd']}"
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
        drawn = int.from_bytes(digest.digest()[:6], "big") / 2**48
        if drawn >= self._share:
            return READ
        fault, most = STALL, 1
        if drawn < self._share / 2:
            fault, most = CRASH, CRASHES
        # A file for each time that the fault was met: a process that dies can remember nothing else.
        for number in range(most):
            try:
                (self._folder / f"{digest.hexdigest()[:24]}.{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            return fault
        return READ


def serve(base: EnvState, source: IO[str], sink: IO[str], folder: Path, share: float, seed: int) -> None:
    """Answer requests until the input ends, or a text ends the process."""
    repl, faults = Repl(base), Faults(folder, share, seed)
    statements = json.loads((folder / STATEMENTS).read_text(encoding="utf-8"))
    for text in read_requests(source):
        request = json.loads(text)
        command = request.get("cmd", "")
        counts = any(statement in command for statement in statements)
        if counts:
            fault = faults.next(request)
            if fault == CRASH:
                faults.note(CRASH, request)
                os.kill(os.getpid(), signal.SIGKILL)
            elif fault == STALL:
                faults.note(STALL, request)
                time.sleep(1e6)
        answer = repl.answer(request)
        if counts:
            faults.note(READ, request)
        sink.write(json.dumps(answer, ensure_ascii=False) + "\n\n")
        sink.flush()


def main(folder: str, share: str, seed: str, *more: str) -> None:
    """Answer on standard input and output, or have processes forked that do."""
    serve_with_faults = partial(serve, folder=Path(folder), share=float(share), seed=int(seed))
    base = load_library()
    if "--forks" in more:
        with mock.patch.object(forks, "serve", serve_with_faults):
            forks.serve_forks(base)
    else:
        freeze_gc()
        serve_with_faults(base, sys.stdin, sys.stdout)


if __name__ == "__main__":
    with_deep_stack(lambda: main(*sys.argv[1:]))
