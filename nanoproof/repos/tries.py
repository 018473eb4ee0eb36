"""What is tried at the `sorry`s of a project: the log of all tries, and the tasks.

Every try is a line in the log of the project, written at once. It is known by a digest of what Lean reads for it
without comments and without the proofs of earlier theorems, so that a later run knows what was tried before, a proof
that was filled in elsewhere invalidates nothing, and a statement that was changed whatever comes after it. The log is a
memory and no witness: a proof that it holds passes the whole final check again, or counts as nothing.
"""

import hashlib
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nanoproof.common.files import JsonlWriter, read_jsonl
from nanoproof.lean.lean_file import AXIOM, PLACEHOLDER, STAND_IN, Gap
from nanoproof.lean.lexical import blank, find_top_level, mask, spans
from nanoproof.lean.source import COMMAND
from nanoproof.prover.prover import Prover
from nanoproof.prover.resting import Rest
from nanoproof.repos.traced_files import TracedTheorem

Outcome = Literal["proved", "conditional", "not proved", "refused", "left alone", "not tried"]
"""`conditional` is proved if something holds that is open: a `sorry` of another theorem or definition."""
PROVED = ("proved", "conditional")
LOG = "attempts.jsonl"
_AXIOM_LINES = re.compile(rf"^axiom {STAND_IN.pattern}{re.escape(AXIOM)}\n", re.MULTILINE)


# -- What is known from earlier runs ---------------------------------------------------------------------------------


def gap_key(source: str, lean: str) -> str:
    """Compute the digest of a gap's context: of what Lean reads for it, and the Lean that reads it.

    Comments, empty lines and the proofs of theorems before its own are left out: no later proof depends on them. The
    axioms that stand for `sorry`s are numbered, since their names tell lines, and those of proofs are not counted.
    """
    for kind, start, end in reversed(list(spans(source))):
        if kind in ("line", "block"):
            source = source[:start] + blank(source[start:end]) + source[end:]
    masked = mask(source)
    commands = list(COMMAND.finditer(masked))
    starts = [*(command.start() for command in commands), len(source)]
    pieces = [source[: starts[0]]]
    for command, start, end in zip(commands, starts, starts[1:]):
        # The last command is the gap's own theorem: what stands before its `sorry` decides what is left to prove.
        if command["declaration"] in ("theorem", "lemma") and end < len(source):
            assign = find_top_level(masked[:end], ":=", command.end())
            if assign >= 0:
                end = assign
        pieces.append(source[start:end] + "\n")
    text = _AXIOM_LINES.sub("", "".join(pieces))
    # As `LeanFile` names them: the first without a number.
    numbers: dict[str, str] = {}
    for name in STAND_IN.findall(text):
        if not numbers:
            numbers[name] = PLACEHOLDER
        numbers.setdefault(name, f"{PLACEHOLDER}_{len(numbers) + 1}")
    text = f"axiom {PLACEHOLDER}{AXIOM}\n" + STAND_IN.sub(lambda match: numbers[match.group()], text)
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    return hashlib.sha256("\n".join([lean, *lines]).encode("utf-8", "surrogatepass")).hexdigest()[:24]


@dataclass
class Known:
    """What earlier tries at one gap have given: proofs, whether Lean refuses its statement, and the budgets tried."""

    claims: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """Proofs, the last one last, each with method and budget of the tries that gave it."""
    refused: str = ""
    spent: dict[str, int] = field(default_factory=dict)
    """The largest budget of each method that gave no proof, or one that something was found against."""
    tries: list[dict[str, Any]] = field(default_factory=list)

    @property
    def proof(self) -> str:
        """The proof that was found last, of those that nothing was found against; empty if there is none."""
        return next(reversed(self.claims), "")

    @property
    def budgets(self) -> dict[str, int]:
        """The largest budget that was tried, by method; what gave a proof counts as long as that proof does."""
        budgets = dict(self.spent)
        for tries in self.claims.values():
            for method, budget in tries:
                budgets[method] = max(budgets.get(method, 0), budget)
        return budgets

    def add(self, record: Mapping[str, Any]) -> None:
        """Take a record of the log into account."""
        outcome, proof, budget = record.get("outcome"), record.get("proof"), record.get("budget")
        tried = (str(record.get("method", "")), budget if isinstance(budget, int) else 0)
        if outcome == "proved" and isinstance(proof, str) and proof:
            # Popped and put in again, so that the proof that was found last is the last of the dictionary.
            self.claims[proof] = [*self.claims.pop(proof, []), tried]
        elif outcome == "does not fit" and isinstance(proof, str):
            self._spend(*self.claims.pop(proof, []), tried)
        elif outcome == "not believed" and isinstance(proof, str):
            self.claims.pop(proof, None)  # nor is it believed that anything was spent on it
        elif outcome == "refused":
            self.refused = str(record.get("message", ""))
        elif outcome == "not proved":
            self._spend(tried)
        if "simulations" in record:
            self.tries.append({name: _of_kind(record.get(name), kind) for name, kind in _OF_A_TRY.items()})

    def _spend(self, *tries: tuple[str, int]) -> None:
        for method, budget in tries:
            self.spent[method] = max(self.spent.get(method, 0), budget)


_OF_A_TRY: Mapping[str, type | tuple[type, ...]] = {
    "method": str,
    "budget": int,
    "outcome": str,
    "message": str,
    "simulations": int,
    "seconds": (int, float),
    "tactics_left": (int, float),
    "line": str,
    "stopped": str,
}
"""What the report tells of a try, each with its kind: the log may have been written by somebody else."""


def _of_kind(value: Any, kind: type | tuple[type, ...]) -> Any:
    return value if isinstance(value, kind) else None


class Ledger:
    """The log of a project's tries, in a folder; a killed run loses at most what it had not finished."""

    def __init__(self, folder: Path) -> None:
        """Read the log, and open it to go on. Raises UserError if it is damaged."""
        self.folder = folder
        self._known: dict[str, Known] = {}
        path = folder / LOG
        if path.exists():
            for record in read_jsonl(path):
                if isinstance(record, dict) and isinstance(record.get("key"), str):
                    self.known(record["key"]).add(record)
        self._writer = JsonlWriter(path)
        self._lock = threading.Lock()

    def known(self, key: str) -> Known:
        """Return what is known about a gap."""
        return self._known.setdefault(key, Known())

    def write(self, record: dict[str, Any]) -> None:
        """Append a record; it is on its way to the disk when this returns."""
        with self._lock:
            self._writer.write(record)
            self.known(record["key"]).add(record)

    def tree_path(self, key: str) -> Path:
        """Return the page with the tree of the last search for a gap."""
        return self.folder / "trees" / f"{key}.html"

    def close(self) -> None:
        """Close the log."""
        self._writer.close()


# -- What there is to do ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rung:
    """One way to try a gap: `method` says what decides the outcome besides the budget (policy, weights, options)."""

    name: str
    method: str
    budget: int
    prover: Prover


@dataclass
class Task:
    """A gap that is worked on, and what came of it."""

    path: str
    gap: Gap
    key: str
    number: int
    outcome: Outcome = "not tried"
    message: str = ""
    proof: str = ""
    rest: Rest = Rest()
    """What the proof rests on."""
    axioms: tuple[str, ...] = ()
    """Those that its final check has found, where every other `sorry` is one."""
    from_before: bool = False
    """Whether the proof is one of an earlier run."""
    tactics_left: float = float("inf")
    """How many tactics the root of the last search seemed to need."""
    effort: str = ""
    """What the last search took, in words."""
    rung: int = 0
    failures: int = 0

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.path}:{self.gap.line}"

    @property
    def theorem_id(self) -> str:
        """What the theorem of a search for it is called; retrieval reads path and line."""
        return f"{self.path}, line {self.gap.line}"

    def is_in(self, theorem: TracedTheorem) -> bool:
        """Tell whether it is a `sorry` of a theorem that a trace found, where it was then."""
        inside = theorem.path == self.path and theorem.start.line <= self.gap.line <= theorem.end.line
        # A gap has its theorem's name as the file writes it, without the namespaces around.
        return inside and theorem.full_name.endswith(self.gap.name)
