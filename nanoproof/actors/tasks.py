"""Tasks of actors, the sources that hand them out, and observers of what actors do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from nanoproof.common.errors import UserError
from nanoproof.lean.types import LeanSession, TacticApplied, TacticFailed, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import Number
from nanoproof.prover.proof import Given
from nanoproof.prover.prover import NULL_ATTEMPT_OBSERVER, AttemptObserver
from nanoproof.prover.replay import SecondTry
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node
from nanoproof.search.policy import Suggestion

MAX_STATES = 200
"""So many states of an attempt are remembered with what the model made of them."""


class Observer(Protocol):
    """Observes what actors do. Its methods are called while others wait: they only take note."""

    def trace(self) -> AttemptObserver:
        """Return the observer of an attempt that is about to begin."""
        ...

    def finished(self, number: Number, attempt: Attempt, trace: AttemptObserver) -> bool:
        """Note that an attempt has ended, logged under this number; returns whether its tree is to be kept."""
        ...

    def span(self, actor: int, state: str, began: float, ended: float) -> None:
        """Note that an actor was in a state between two readings of `time.monotonic`."""
        ...


class Trace(AttemptObserver):
    """Keeps the tree of an attempt, and what model and Lean answered in its first `MAX_STATES` states."""

    __slots__ = ("results", "root", "suggestions")

    def __init__(self) -> None:
        self.root: Node | None = None
        self.suggestions: list[tuple[str, Suggestion]] = []
        self.results: list[tuple[str, Sequence[str], Sequence[TacticApplied | TacticFailed]]] = []

    def begin(self, root: Node, log: SearchLog) -> None:
        # Anew: a task that was given back to others begins once more with the same trace.
        self.root, self.suggestions, self.results = root, [], []

    def suggested(self, state: str, suggestion: Suggestion) -> None:
        if len(self.suggestions) < MAX_STATES:
            self.suggestions.append((state, suggestion))

    def applied(self, state: str, tactics: Sequence[str], results: Sequence[TacticApplied | TacticFailed]) -> None:
        if len(self.results) < MAX_STATES:
            self.results.append((state, tactics, results))


class NullObserver:
    """Takes note of nothing."""

    def trace(self) -> AttemptObserver:
        return NULL_ATTEMPT_OBSERVER

    def finished(self, number: Number, attempt: Attempt, trace: AttemptObserver) -> bool:
        return False

    def span(self, actor: int, state: str, began: float, ended: float) -> None:
        pass


NULL_OBSERVER = NullObserver()


# -- Tasks and their sources -----------------------------------------------------------------------------------------


class Work(Protocol):
    """What is done with a theorem in place of a search: by `run`, or by another process that is told what it is."""

    def run(self, session: LeanSession, observer: AttemptObserver) -> Attempt:
        """Do it."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return what a `Worker` elsewhere needs to make it again, besides the theorem."""
        ...

    def found(self) -> Any:
        """Return what came of it besides the attempt, as plain JSON data."""
        ...

    def take(self, result: Any) -> None:
        """Take what `found` returned where it was done."""
        ...


class Worker(Protocol):
    """Makes `Work` of the JSON data that another process sent. Safe for many threads."""

    def work(self, theorem: Theorem, data: Mapping[str, Any]) -> Work:
        """Make the work on a theorem of what its `to_json` wrote."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """One theorem to try. `index` is the source's own number for it; `seed` decides the attempt's random choices.

    `returns` is how often it was begun and left to another actor, as the server was gone. `may_disprove`: the negation
    may be what is tried, if the prover's options ask for that. `trace` observes the attempt. `given` is the known proof
    that the attempt begins in, if it does not begin at the statement. With `again` there
    is an attempt already, and only some tactics of it are tried once more. With `work` that is done instead.
    `revision` is that of the weights when it was taken (see `AttemptPool.weights_changed`).
    """

    theorem: Theorem
    num_simulations: int
    index: int
    seed: int
    returns: int = 0
    may_disprove: bool = True
    trace: AttemptObserver = NULL_ATTEMPT_OBSERVER
    again: tuple[Attempt, tuple[SecondTry, ...]] | None = None
    work: Work | None = None
    given: Given | None = None
    revision: int = 0


class TaskSource(Protocol):
    """Hands out tasks and takes the attempts back. Its methods are called under the pool's lock."""

    purpose: Literal["collect", "evaluate"]

    def next(self) -> Task | None:
        """Return the next task; None if there is none at present."""
        ...

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Take the attempt at a task that `next` gave."""
        ...

    def hand_over(self, task: Task) -> bool:
        """Leave a task that `next` gave to whichever rank is next to ask; False if it has to stay with this rank."""
        ...


# -- How waiting for actors, and their work, ends ----------------------------------------------------------------------


class Interrupted(Exception):
    """The run was asked to end; raised in the main thread where it waits for actors."""


class ProofsLost(UserError):
    """The Lean servers lose the proofs that are found; raised in the main thread where it waits for actors."""


class Stopped(Exception):
    """The pool is closing; the attempt at hand is given up."""
