"""A host whose Lean and policy are scripted, and take a moment for each theorem; the rest of it is real."""

import time
from collections.abc import Mapping
from typing import Any

from nanoproof.cluster import host
from nanoproof.cluster.nodes import RayNodes
from nanoproof.lean.types import Branch, Theorem
from nanoproof.search.policy import Suggestion
from tests.fakes.lean import ScriptedLean
from tests.rl import small

SECONDS = 0.2


class Session(ScriptedLean):
    def start(self, theorem: Theorem) -> Branch:
        time.sleep(SECONDS)
        return super().start(theorem)


class Client(small.ScriptedClient):
    def lease(self, timeout: float) -> Session:
        return Session(small.SCRIPT)


class Policy(host.ReplicatedPolicy):
    """Knows the script; no server is asked."""

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        return small.policy().suggest(state_text, seed)


class ScriptedHost(host.ProverHost):
    """Proves every theorem."""

    policy_class = Policy

    def _open_slots(self, config: Mapping[str, Any]) -> list[Any]:
        return [Client() for _ in range(config["slots"])]


class ScriptedNodes(RayNodes):
    host_class = ScriptedHost
