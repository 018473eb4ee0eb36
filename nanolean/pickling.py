"""Environments and proof states in files: the commands and tactics that lead to them.

A file says how to get there again, so loading one checks everything anew and can do nothing that its text could not do
when sent to the REPL. It is JSON; nothing in it is code.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

FORMAT = "nanolean-script-1"

GoalList = Literal["sorries", "roots", "steps"]


class PickleError(Exception):
    """A file cannot be written, or is not what `save` writes."""


@dataclass(frozen=True)
class Start:
    """The goal that a proof state began with: the number `index` of one of the lists that the last command gave."""

    list: GoalList
    index: int


@dataclass(frozen=True)
class Step:
    """A tactic, and which state followed: what it left open (`sorry` is None), or the goal of one of its `sorry`s."""

    tactic: str
    sorry: int | None = None


@dataclass(frozen=True)
class Script:
    """How to come to an environment (by `commands`) or from there to a proof state."""

    commands: tuple[str, ...] = ()
    start: Start | None = None
    steps: tuple[Step, ...] = ()

    def then(self, tactic: str, sorry: int | None = None) -> Script:
        """The way to a state one step further."""
        return Script(self.commands, self.start, (*self.steps, Step(tactic, sorry)))


def save(script: Script, path: Path) -> None:
    """Write a script; a file that is there is replaced at once or not at all. Raises `PickleError`."""
    text = json.dumps({"format": FORMAT, **asdict(script)}, ensure_ascii=False)
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)
    except (OSError, ValueError) as error:
        raise PickleError(f"cannot write {path}: {error}") from None


def load(path: Path) -> Script:
    """Read a script. Raises `PickleError`."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PickleError(f"cannot read {path}: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PickleError(f"cannot read {path}: it is not in the format {FORMAT}")
    try:
        return _script(data)
    except (KeyError, TypeError, ValueError) as error:
        raise PickleError(f"cannot read {path}: it is damaged ({error})") from None


def _script(data: dict[str, Any]) -> Script:
    start = data["start"]
    if start is not None:
        if start["list"] not in ("sorries", "roots", "steps"):
            raise ValueError("list")
        start = Start(start["list"], _number(start["index"]))
    steps = [Step(_text(s["tactic"]), None if s["sorry"] is None else _number(s["sorry"])) for s in data["steps"]]
    return Script(tuple(_text(command) for command in data["commands"]), start, tuple(steps))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise TypeError("a number is expected")
    return value
