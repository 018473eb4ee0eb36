"""What is kept of searches: the log of tries, a record and a page for each, and why one found nothing.

Each server for agents works in a slot, a folder of its own below the project's: a log has one writer. A slot that is
free is taken up again with all that is in it, so nothing is tried twice after a restart. Lists show all slots.
"""

import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text, read_object
from nanoproof.common.run_dir import RunLock
from nanoproof.lean.types import TacticApplied, TacticFailed
from nanoproof.mcp.results import Explanation, OpenState, RefusedKind, SearchEntry
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.cli_input import lean_words
from nanoproof.repos.tries import Ledger
from nanoproof.search.node import Kind, Node
from nanoproof.search.tree_json import tree_from_json

TREE_ADDRESS = "nanoproof://trees/"
KEPT = 500
"""Records and pages of searches that a slot keeps."""
_SLOTS = 64
_STATES, _EXAMPLES, _MESSAGE = 5, 3, 300
_ID = re.compile(r"[0-9a-f]{8,64}")
_QUOTED = re.compile(r"[`'‘“\"].*|\n.*", re.DOTALL)
"""What follows in a message of Lean is about one tactic and not the kind of refusal."""


class Refusals:
    """Tactics that Lean refused during a search, by kind. For one thread at a time."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = defaultdict(list)

    def note(self, tactics: Sequence[str], results: Iterable[TacticApplied | TacticFailed]) -> None:
        """Count those of the tactics that were refused."""
        for tactic, result in zip(tactics, results):
            if isinstance(result, TacticFailed):
                kind = kind_of(result)
                self._counts[kind] += 1
                examples = self._examples[kind]
                if len(examples) < _EXAMPLES:
                    examples.append(f"{' '.join(tactic.split())}: {shortened(lean_words(result.message))}")

    def to_json(self) -> list[dict[str, Any]]:
        """Convert to JSON data, the most frequent kind first."""
        kinds = []
        for kind, count in self._counts.most_common():
            kinds.append({"kind": kind, "count": count, "examples": self._examples[kind]})
        return kinds


def kind_of(failure: TacticFailed) -> str:
    """Return the kind of a refusal: how Lean's message begins, up to the first thing that it quotes."""
    if failure.kind != "rejected":
        return failure.kind
    beginning = _QUOTED.sub("", lean_words(failure.message)).strip(" :,")
    return beginning[:80] or "rejected"


def shortened(message: str) -> str:
    """Put a message on one line of some length."""
    line = " ".join(message.split())
    if len(line) > _MESSAGE:
        line = line[: _MESSAGE - 1] + "…"
    return line


def closest_states(tree: dict[str, Any] | None, count: int = _STATES) -> list[OpenState]:
    """Return the states of a search tree that were left open, those with the fewest tactics to go first."""
    if tree is None:
        return []
    root = tree_from_json(tree)
    states: dict[str, tuple[bool, float, OpenState]] = {}
    stack: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        if node.solved or node.kind is Kind.CLOSED:
            continue
        for child in node.children:
            below = path
            if child.tactic is not None:
                below = (*path, child.tactic)
            stack.append((child, below))
        # A state where something was tried stands for itself: what is below it is nearer only if it was worked on.
        if node.kind is Kind.OR and node.state not in states:
            tactics_left = None
            if node.visits:
                # A value is minus the number of tactics that are left.
                tactics_left = round(-node.value, 2)
            reached = OpenState(state=node.state, tactics=list(path), tactics_left=tactics_left, visits=node.visits)
            states[node.state] = (tactics_left is None, tactics_left or 0.0, reached)
    ranked = sorted(states.values(), key=lambda entry: (entry[0], entry[1], -entry[2].visits))
    return [entry[2] for entry in ranked[:count]]


class Searches:
    """The searches of a project, in a slot of its folder."""

    def __init__(self, folder: Path) -> None:
        """Take a free slot. Raises UserError if none can be taken."""
        self._folder = folder
        self.slot, self._lock = self._take()
        self.ledger = Ledger(self.slot)
        self._records = self.slot / "searches"
        self._records.mkdir(exist_ok=True)

    def _take(self) -> tuple[Path, RunLock]:
        problem = ""
        for number in range(1, _SLOTS + 1):
            slot = self._folder / str(number)
            try:
                slot.mkdir(parents=True, exist_ok=True)
                # The lock of another server is a UserError, and the next slot is tried. A folder that cannot be
                # written is the same for all slots.
                return slot, RunLock(slot)
            except UserError as error:
                problem = str(error)
            except OSError as error:
                raise UserError(f"cannot write to {slot}: {error.strerror}") from error
        raise UserError(f"{_SLOTS} servers work on this project already; the last one: {problem}")

    def close(self) -> None:
        """Give the slot back."""
        self.ledger.close()
        self._lock.release()

    # -- records -----------------------------------------------------------------------------------------------------

    def keep(self, key: str, place: str, attempt: Attempt, refusals: Refusals) -> None:
        """Keep what is known of a search; a later one at the same place takes its place."""
        record = {
            "place": place,
            "time": time.strftime("%Y-%m-%d %H:%M:%S"),
            "outcome": attempt.outcome,
            "why": shortened(attempt.message),
            "stopped": attempt.stop_reason,
            "simulations": attempt.simulations,
            "tactics_run": attempt.counts.get("tactics_run", 0),
            "refused": refusals.to_json(),
            "tree": attempt.tree,
        }
        with suppress(OSError):  # a full disk loses an explanation, and no proof
            atomic_write_text(self._records / f"{key}.json", json.dumps(record, ensure_ascii=False))
            self._drop_old()

    def _drop_old(self) -> None:
        # Of this slot alone: the records of others are theirs to drop.
        files = sorted(self._records.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in files[:-KEPT]:
            file.unlink(missing_ok=True)
            self.ledger.tree_path(file.stem).unlink(missing_ok=True)

    def entries(self) -> list[SearchEntry]:
        """List the searches of all slots, the newest first."""
        files = list(self._folder.glob("*/searches/*.json"))
        entries = []
        for file in sorted(files, key=_changed_at, reverse=True)[:KEPT]:
            record = read_object(file)
            if record is not None:
                entries.append(
                    SearchEntry(
                        search=file.stem,
                        time=str(record.get("time", "")),
                        place=str(record.get("place", "")),
                        outcome=_outcome(record),
                        simulations=int(record.get("simulations", 0)),
                        tree=self.tree_address(file.stem),
                    )
                )
        return entries

    def explain(self, search: str | None = None) -> Explanation | None:
        """Say why a search found nothing, the newest without proof by default; None if there is none of that id."""
        files = self._files("searches", search, "json")
        for file in sorted(files, key=_changed_at, reverse=True):
            record = read_object(file)
            if record is None or (search is None and record.get("outcome") == "proven"):
                continue
            refused = [RefusedKind(**kind) for kind in record.get("refused", ())]
            return Explanation(
                search=file.stem,
                place=str(record["place"]),
                outcome=_outcome(record),
                why=str(record["why"]),
                simulations=int(record["simulations"]),
                tactics_run=int(record["tactics_run"]),
                closest=closest_states(record.get("tree")),
                refused=refused,
                tree=self.tree_address(file.stem),
            )
        return None

    def states_of(self, key: str) -> list[OpenState]:
        """Return the open states of a search, the best first; none if it is not known."""
        record = read_object(self._records / f"{key}.json")
        return [] if record is None else closest_states(record.get("tree"))

    def tree_address(self, key: str) -> str | None:
        """Return the address of the page of a search; None if there is none."""
        return f"{TREE_ADDRESS}{key}" if self._files("trees", key, "html") else None

    def tree_page(self, key: str) -> str | None:
        """Return the page of a search; None if there is none."""
        for file in sorted(self._files("trees", key, "html"), key=_changed_at, reverse=True):
            with suppress(OSError):
                return file.read_text(encoding="utf-8")
        return None

    def _files(self, kind: str, key: str | None, ending: str) -> list[Path]:
        if key is not None and not _ID.fullmatch(key):  # it becomes part of a path
            return []
        return list(self._folder.glob(f"*/{kind}/{key or '*'}.{ending}"))


def _outcome(record: dict[str, Any]) -> str:
    return "proof found" if record.get("outcome") == "proven" else "no proof found"


def _changed_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    # The server of its slot dropped it between our listing and this.
    except OSError:
        return 0.0
