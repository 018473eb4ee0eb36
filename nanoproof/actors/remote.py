"""Attempts that are made on another machine: what is told, and both ends of it.

`RemotePool` is the end of the rank that numbers and logs attempts. It hands tasks to `Link`s and takes the attempts
back; a task whose link is lost is handed out again, with the seed that it had. `RelayPool` is the other end: actors
that work on what was handed to them. How both are connected is the matter of `cluster`. All that is told is JSON.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeVar

from nanoproof.actors.actor import MAX_RETURNS, ActorPool, ProverFactory
from nanoproof.actors.pool import AttemptPool
from nanoproof.actors.tasks import NULL_OBSERVER, Observer, Task, TaskSource, Worker
from nanoproof.common.errors import UserError
from nanoproof.lean.client import FleetServer
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.proof import Given
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.policy import Policy

log = logging.getLogger(__name__)

T = TypeVar("T")
Purpose = Literal["collect", "evaluate"]
PURPOSES: tuple[Purpose, ...] = ("collect", "evaluate")

# -- What is told ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProverSpec:
    """How to prove for a purpose: what a `Prover` is made of, but for its policy."""

    search: SearchConfig
    options: ProverOptions

    def make(self, policy: Policy, revision: Callable[[], str] = str) -> Prover:
        """Make the prover; `revision` tells which weights the policy has."""
        return Prover(policy, self.search, self.options, revision)

    def to_json(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        return cls(from_plain(SearchConfig, data["search"]), from_plain(ProverOptions, data["options"]))


def from_plain(cls: type[T], data: Mapping[str, Any]) -> T:
    """Make a flat options class of its fields as JSON has them: its tuples are lists there."""
    values = {}
    for option in fields(cls):  # type: ignore[arg-type]
        if option.name in data:  # the sender's version may have others
            value = data[option.name]
            if isinstance(value, list):
                value = tuple(value)
            values[option.name] = value
    return cls(**values)


def task_to_json(number: int, purpose: str, task: Task) -> dict[str, Any]:
    """Convert a task to plain JSON data, under the number that its attempt will have on the way back."""
    theorem = task.theorem
    data = {
        "id": number,
        "purpose": purpose,
        "theorem": [theorem.source, theorem.dataset, theorem.id],
        "simulations": task.num_simulations,
        "seed": task.seed,
        "returns": task.returns,
        "may_disprove": task.may_disprove,
    }
    if task.work is not None:
        data["work"] = task.work.to_json()
    if task.given is not None:
        data["given"] = task.given.to_json()
    return data


def task_from_json(data: Mapping[str, Any], worker: Worker | None = None) -> Task:
    """Read what `task_to_json` wrote; `index` is the number. Work in place of a search, `worker` makes."""
    theorem, work, given = Theorem(*data["theorem"]), None, None
    if "given" in data:
        given = Given.from_json(data["given"])
    if "work" in data:
        assert worker is not None, "work was sent to a link that has no worker"
        work = worker.work(theorem, data["work"])
    return Task(
        theorem,
        data["simulations"],
        data["id"],
        data["seed"],
        returns=data["returns"],
        may_disprove=data["may_disprove"],
        work=work,
        given=given,
    )


# -- The end that works ----------------------------------------------------------------------------------------------


class _Relay:
    """The source that relayed tasks of a purpose seem to come from; they come one by one, by `RelayPool.give`."""

    def __init__(self, purpose: Purpose, returned: Callable[[Task], None]) -> None:
        self.purpose, self._returned = purpose, returned

    def next(self) -> Task | None:
        return None

    def finish(self, task: Task, attempt: Attempt) -> None:
        raise AssertionError("attempts are sent to the other end, not kept")

    def hand_over(self, task: Task) -> bool:
        self._returned(task)
        return True


class RelayPool(ActorPool):
    """Actors that work on tasks given to them one by one, and send back what became of each."""

    def __init__(
        self,
        slots: Sequence[FleetServer],
        policy: Policy,
        make_prover: ProverFactory,
        tell: Callable[[dict[str, Any]], None],
        lost_proofs: int = 0,
        worker: Worker | None = None,
    ) -> None:
        """`tell` is called by many threads: with `done`, an attempt and the address of its Lean server, with
        `returned`, a task that no server here can serve, and with `server`, a change of what can be reached. `worker`
        makes what is to be done in place of searches.
        """
        self._tell, self._worker = tell, worker
        self._relays = {purpose: _Relay(purpose, self._return) for purpose in PURPOSES}
        super().__init__(
            slots,
            policy,
            make_prover,
            report_server=lambda *change: tell({"server": list(change)}),
            lost_proofs=lost_proofs,
        )

    def give(self, task: Mapping[str, Any]) -> None:
        """Have a task done by whichever actor is free next."""
        self.put_back(self._relays[task["purpose"]], task_from_json(task, self._worker))

    def finish(self, source: TaskSource, task: Task, attempt: Attempt, address: str) -> bool:
        """Send an attempt back; the other end decides whether it is too old."""
        if attempt.outcome != "error":
            with self.locked():
                self._defects = 0
        self.proofs.note(address, attempt)  # at this end, too: it is here that actors leave a server alone
        done = {"id": task.index, "attempt": attempt.to_json(), "address": address}
        if task.work is not None:
            done["found"] = task.work.found()
        self._tell({"done": done})
        return True

    def _return(self, task: Task) -> None:
        self._tell({"returned": {"id": task.index, "returns": task.returns}})

    def status(self) -> dict[str, Any]:
        """Return what the other end shows of this one."""
        seconds, reason = self.out_of_reach()
        return {**self.snapshot(), "gone_seconds": round(seconds, 2), "reason": reason}


# -- The end that numbers and logs -----------------------------------------------------------------------------------


@dataclass
class Link:
    """Who works for the pool: a host of a cluster."""

    name: str
    size: int
    """How many attempts it works on at a time."""
    given: dict[int, tuple[TaskSource, Task]] = field(default_factory=dict)
    """By number, the tasks that it has."""
    status: dict[str, Any] = field(default_factory=dict)
    """What its `RelayPool.status` returned last."""
    attempts: int = 0
    lost: int = 0
    """Tasks that went to others, as it was gone."""
    since: float = field(default_factory=time.monotonic)

    def to_json(self) -> dict[str, Any]:
        """Describe it for the monitor."""
        seconds = max(1e-3, time.monotonic() - self.since)
        return {
            "host": self.name,
            "size": self.size,
            "under_way": len(self.given),
            "attempts": self.attempts,
            "attempts_per_minute": round(60 * self.attempts / seconds, 2),
            "given_again": self.lost,
        }


class RemoteActor:
    """An actor elsewhere, as its end told of it last."""

    def __init__(self, number: int) -> None:
        self.number, self.state, self.since, self.paused = number, "idle", time.monotonic(), False


class RemotePool(AttemptPool):
    """Hands tasks to links, and takes each attempt once.

    Tasks are numbered as they are handed out. What a link has is lost with it and handed to others, a few times: a
    theorem that ends every link it meets is an error. Safe for many threads.
    """

    def __init__(
        self,
        addresses: Iterable[str] = (),
        check: Callable[[], None] = lambda: None,
        patience_seconds: float = float("inf"),
        asked_to_end: Callable[[], bool] = lambda: False,
        observer: Observer = NULL_OBSERVER,
        lost_proofs: int = 0,
        max_staleness: int | None = None,
        works: bool = False,
    ) -> None:
        """The arguments are those of `AttemptPool`; `works`: links have a `Worker`."""
        super().__init__(addresses, check, patience_seconds, asked_to_end, observer, lost_proofs, max_staleness)
        self._works = works
        self.links: list[Link] = []
        self.attempts = self.unknown = self.given_again = 0
        self._number = 0
        self._alone_since = time.monotonic()
        self._actors: list[RemoteActor] = []

    @property
    def size(self) -> int:
        """How many attempts it works on at a time."""
        return sum(link.size for link in self.links)

    def connect(self, link: Link) -> None:
        """Add a link."""
        with self.locked():
            # Sorted, so that the monitor's actors keep their numbers when a link comes back.
            self.links = sorted([*self.links, link], key=lambda link: link.name)

    def grant(self, link: Link, most: int) -> list[dict[str, Any]]:
        """Hand at most so many tasks to a link, in the form of `task_to_json`; fewer if there are no more now."""
        granted: list[dict[str, Any]] = []
        with self.locked():
            while len(granted) < most and not self.closing:
                taken = self.take_now()
                if taken is None:
                    break
                source, task = taken
                if (task.work is not None and not self._works) or task.again is not None:
                    self._put_back.append(taken)
                    self.fail(UserError("whole proofs, and tactics that are tried again, are not for these processes"))
                    break
                self._number += 1
                link.given[self._number] = (source, task)
                granted.append(task_to_json(self._number, source.purpose, task))
        return granted

    def accept(self, link: Link, done: Mapping[str, Any]) -> None:
        """Take an attempt that a link sends (`RelayPool.finish`), if it is one that the link was given."""
        with self.locked():
            if self.closing:
                return
            given = link.given.pop(done["id"], None)
            # Of a link that was thought to be lost: its task went to others, and each attempt is taken once.
            if given is None:
                self.unknown += 1
                return
            source, task = given
            if task.work is not None:
                task.work.take(done["found"])
        if self.finish(source, task, Attempt.from_json(done["attempt"]), done["address"]):
            with self.locked():
                link.attempts += 1
                self.attempts += 1

    def take_back(self, link: Link, returned: Mapping[str, Any]) -> None:
        """Take back a task that a link cannot do at present, and leave it to others."""
        with self.locked():
            given = link.given.pop(returned["id"], None)
            if given is not None:
                source, task = given
                self.put_back(source, replace(task, returns=returned["returns"]))

    def disconnect(self, link: Link, reason: str) -> None:
        """Note that a link is gone: what it was given goes to others."""
        with self.locked():
            self.links = [other for other in self.links if other is not link]
            self._alone_since = time.monotonic()
            given, link.given = link.given, {}
            if self.closing:
                return
            self.given_again += len(given)
            link.lost += len(given)
        for source, task in given.values():
            if task.returns < MAX_RETURNS:  # with its seed: the attempt is the one that it would have been
                self.put_back(source, replace(task, returns=task.returns + 1))
            else:
                attempt = Attempt(task.theorem, "error", reason, budget=task.num_simulations, seed=task.seed)
                self.finish(source, task, replace(attempt, stop_reason="LinkLost"), link.name)

    def out_of_reach(self) -> tuple[float, str]:
        """Return for how many seconds no Lean process has been within reach of any link, and why."""
        links = self.links
        if not links:
            return time.monotonic() - self._alone_since, "nobody works for this run"
        # The least: one link that reaches a server is enough to go on.
        seconds, reason = min((link.status.get("gone_seconds", 0.0), link.status.get("reason", "")) for link in links)
        return seconds, reason

    def watched(self) -> Sequence[RemoteActor]:
        """Return the actors of the links that there are now, whose states follow what is told."""
        while len(self._actors) < self.size:
            self._actors.append(RemoteActor(len(self._actors)))
        return self._actors

    def snapshot(self) -> dict[str, Any]:
        """Return the state of the servers, the actors and the links, for the monitor."""
        servers: list[dict[str, Any]] = []
        actors: list[dict[str, Any]] = []
        # Each link numbers its actors from 0; here they follow each other.
        for link in self.links:
            for server in link.status.get("servers", ()):
                servers.append({**server, "host": link.name})
            for actor in link.status.get("actors", ()):
                actors.append({**actor, "actor": len(actors), "host": link.name})
        for watched, actor in zip(self.watched(), actors):
            watched.paused = actor["state"] == "paused"
            watched.state = actor["state"]
            if watched.paused:
                watched.state = "idle"
            watched.since = time.monotonic() - actor["state_seconds"]
        counts = {"attempts": self.attempts, "stale": self.stale, "given_again": self.given_again}
        return {
            "servers": servers,
            "actors": actors,
            "hosts": [link.to_json() for link in self.links],
            "remote": {**counts, "revision": self.revision},
        }
