"""A simulated cluster: nodes that come and go, and hosts that end attempts as fast as they are asked."""

import random
from collections.abc import Sequence
from typing import Any

from nanoproof.cluster.nodes import Lost, Node
from tests.fakes.simulated_lean import invent_attempt, invent_theorem

ATTEMPTS = 256


def made_attempts(seed: int = 0) -> list[dict[str, Any]]:
    """Attempts as hosts tell of them, of believable sizes."""
    rng = random.Random(seed)
    made = [invent_attempt(invent_theorem(number), rng, 0.5, 64, 0) for number in range(ATTEMPTS)]
    return [attempt.to_json() for attempt in made]


class Host:
    """Has tasks, and ends so many of them at each call."""

    def __init__(self, node: Node, config: dict[str, Any]) -> None:
        self.node, self.config, self.tasks = node, config, []
        self.alive, self.stopped, self.calls = True, False, 0


class SimulatedNodes:
    """The `Nodes` of a cluster that is not there. `each` attempts end in a call; -1: none, until it is set."""

    def __init__(self, nodes: Sequence[Node], each: int = 1) -> None:
        self.nodes, self.each = list(nodes), each
        self.hosts: list[Host] = []
        self.ended: list[Host] = []
        self._made = made_attempts()
        self._told = 0

    def alive(self) -> list[Node]:
        return list(self.nodes)

    def start_host(self, node: Node, cpus: int, config: dict[str, Any]) -> Host:
        self.hosts.append(Host(node, {**config, "cpus": cpus}))
        return self.hosts[-1]

    def exchange(self, host: Host, given: dict[str, Any]) -> Any:
        host.tasks += given["tasks"]
        host.calls += 1
        return (host, host.calls)

    def ready(self, promises: Sequence[Any], seconds: float) -> list[Any]:
        return [promise for promise in promises if not promise[0].stopped]  # Ray says nothing of a stopped process

    def result(self, promise: Any, seconds: float | None = None) -> Any:
        host = promise[0]
        if not host.alive or host.node not in self.nodes:
            raise Lost("the actor died")
        ended, host.tasks = host.tasks[: max(0, self.each)], host.tasks[max(0, self.each) :]
        told = []
        for task in ended:
            self._told += 1
            attempt = self._made[self._told % ATTEMPTS]
            source, dataset, name = task["theorem"]
            theorem = {"source": source, "dataset": dataset, "id": name}
            told.append({"done": {"id": task["id"], "attempt": {**attempt, "theorem": theorem}, "address": "lean:1"}})
        return {"told": told, "status": {"gone_seconds": 0.0, "reason": "", "actors": [], "servers": []}}

    def end(self, host: Host) -> None:
        host.alive = False
        self.ended.append(host)


def nodes_of(count: int, cpus: int) -> list[Node]:
    """As many nodes, alike."""
    return [Node(f"{number:08x}node", f"10.0.{number // 250}.{number % 250}", cpus, {}) for number in range(count)]
