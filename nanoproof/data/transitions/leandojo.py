"""Transitions (state, tactic) from the export of a traced repository, as LeanDojo writes it.

`FOLDER/random/train.json` is a list of theorems with `traced_tactics`, each with `state_before`, `tactic` and
`state_after`; `val.json` beside it has those that are held out. Tactics that give up are left out and counted, and so
are those of states without goals; marks `<a>` around the names of premises are removed.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import HALF_CHARACTER, lone_surrogate, parse_json
from nanoproof.lean.types import Transition

SPLITS = "random"
TRAIN_FILE, VALID_FILE = "train.json", "val.json"
NO_GOALS = "no goals"
_MARK = re.compile(r"</?a>")
_GIVES_UP = re.compile(r"sorry|(?<![\w.'])admit(?![\w'])|\Astop(?![\w.'])")


def is_export(path: Path) -> bool:
    """Tell whether a path is a folder that holds such an export."""
    return (path / SPLITS / TRAIN_FILE).is_file()


def load_export(folder: Path) -> tuple[list[Transition], list[Transition], Counter[str]]:
    """Load what an export has to train on and to validate, and what was left out, by reason.

    Without `val.json` nothing is held out. Raises UserError naming the file, and the theorem of another shape.
    """
    left_out: Counter[str] = Counter()
    train = _read(folder / SPLITS / TRAIN_FILE, left_out)
    valid: list[Transition] = []
    if (folder / SPLITS / VALID_FILE).is_file():
        valid = _read(folder / SPLITS / VALID_FILE, left_out)
    return train, valid, left_out


def read_steps_after(folder: Path, valid: bool) -> Iterator[tuple[Transition, tuple[str, ...]]]:
    """Yield each step of an export's proofs with the tactics before it: of `train.json`, or of `val.json`."""
    file = VALID_FILE if valid else TRAIN_FILE
    for proof in _proofs(folder / SPLITS / file, Counter()):
        for index, step in enumerate(proof):
            yield step, tuple(before.tactic for before in proof[:index])


def _read(file: Path, left_out: Counter[str]) -> list[Transition]:
    return list(chain.from_iterable(_proofs(file, left_out)))


def _proofs(file: Path, left_out: Counter[str]) -> list[list[Transition]]:
    try:
        data = file.read_bytes()
        theorems = parse_json(data)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{file} is not JSON: {error}") from error
    if not isinstance(theorems, list):
        raise UserError(f"{file}: expected a list of theorems, got {type(theorems).__name__}")
    proofs: list[list[Transition]] = []
    # Of a file without such an escape no theorem need be walked through.
    may_have_halves = HALF_CHARACTER.search(data) is not None
    for number, theorem in enumerate(theorems):
        if may_have_halves and (field := lone_surrogate(theorem)) is not None:
            raise UserError(f"{file}: theorem {number}: `{field}` is not Unicode: it has a lone surrogate")
        try:
            proofs.append(_of_theorem(theorem["traced_tactics"], left_out))
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{file}: theorem {number} is of another shape: {type(error).__name__} {error}") from error
    return proofs


def _of_theorem(traced: list[dict[str, Any]], left_out: Counter[str]) -> list[Transition]:
    """Return the steps of one theorem; `depth` counts the tactics from a step to the last one."""
    # LeanDojo lists tactics in the order of the file, without the tree: where a proof has branches, the depth of a step
    # counts those of the later branches too.
    steps = []
    for index, step in enumerate(traced):
        state, tactic = step["state_before"].strip(), _MARK.sub("", step["tactic"]).strip()
        if _GIVES_UP.search(tactic):
            left_out["a tactic that gives up (sorry, admit)"] += 1
        elif not tactic or not state or state == NO_GOALS:
            left_out["an empty tactic, or a state without goals"] += 1
        else:
            steps.append(Transition(state, tactic, len(traced) - index))
    return steps
