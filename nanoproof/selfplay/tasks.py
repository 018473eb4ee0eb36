"""What actors work on, and where it comes from."""

from dataclasses import dataclass
from typing import Literal, Protocol

from nanoproof.common.errors import UserError
from nanoproof.lean.theorem import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.meter import NOBODY, AttemptObserver
from nanoproof.prover.second_try import SecondTry


@dataclass(frozen=True, slots=True)
class Task:
    """One theorem to try. `index` is the source's own number for it; `seed` decides the attempt's random choices.

    `returns` is how often it was begun and left to another actor, as the server was gone. `may_disprove`: the negation
    may be what is tried, if the prover's options ask for that. `trace` is told how the attempt goes. With `again` there
    is an attempt already, and only some tactics of it are tried once more.
    """

    theorem: Theorem
    num_simulations: int
    index: int
    seed: int
    returns: int = 0
    may_disprove: bool = True
    trace: AttemptObserver = NOBODY
    again: tuple[Attempt, tuple[SecondTry, ...]] | None = None


class TaskSource(Protocol):
    """Hands out tasks and takes the attempts back. Its methods are called under the pool's lock."""

    purpose: Literal["collect", "evaluate"]

    def next(self) -> Task | None:
        """The next task; None if there is none at present."""
        ...

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Take the attempt at a task that `next` gave."""
        ...

    def hand_over(self, task: Task) -> bool:
        """Leave a task that `next` gave to whichever rank is next to ask; False if it has to stay with this rank."""
        ...


class Interrupted(Exception):
    """Somebody asked the run to end; raised in the main thread where it waits for actors."""


class ProofsLost(UserError):
    """The Lean servers lose the proofs that are found; raised in the main thread where it waits for actors."""


class Stopped(Exception):
    """The pool is closing; the attempt at hand is given up."""
