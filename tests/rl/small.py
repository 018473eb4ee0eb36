"""A fleet of scripted Lean processes and a policy that knows their script."""

from nanoproof.lean.types import LeanError, ServerUnavailable, Theorem
from nanoproof.prover.check import RUNGS
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from tests.fakes.lean import ScriptedLean
from tests.fakes.policy import ScriptedPolicy, suggestion

CHECKED = {"environment": "fresh", "accepted": True, "rungs": dict.fromkeys(RUNGS, True)}
"""What is on record of a proof that passed the final check."""

SCRIPT = {"A": {"step": ("B",), "wrong": "reject"}, "B": {"close": ()}}


def policy() -> ScriptedPolicy:
    return ScriptedPolicy({"A": [suggestion(["wrong", "step"], 2.0)], "B": [suggestion(["close"])]})


def theorems(count: int) -> list[Theorem]:
    return [Theorem(f"theorem t{number} : True := by sorry", "scripted", f"t{number}") for number in range(count)]


def make_prover(purpose: str, watched: ScriptedPolicy) -> Prover:
    return Prover(watched, SearchConfig(), ProverOptions(keep_tree=False))


class ScriptedClient:
    """Leases scripted sessions; the first `refusals` leases fail, and each error of `crashes` ends one session."""

    address = "scripted:1"

    def __init__(self, refusals: int = 0, crashes: tuple[LeanError, ...] = ()) -> None:
        self.refusals, self.crashes = refusals, list(crashes)
        self.sessions: list[ScriptedLean] = []

    def lease(self, timeout: float) -> ScriptedLean:
        if self.refusals:
            self.refusals -= 1
            raise ServerUnavailable("scripted: nobody there")
        crash = {2: self.crashes.pop()} if self.crashes else None
        self.sessions.append(ScriptedLean(SCRIPT, crashes=crash))
        return self.sessions[-1]
