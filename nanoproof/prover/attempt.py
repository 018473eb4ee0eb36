"""What became of one try to prove one theorem: the record that everything downstream stores and reads."""

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal, NamedTuple

from nanoproof.lean.errors import SourceError, TheoremRejected
from nanoproof.lean.theorem import Theorem

Outcome = Literal["proven", "disproven", "unproven", "error"]
REFUSED, NOT_REPLAYED = "refused", "not replayed"
"""How a proof is lost about which Lean has spoken; all other ways have the name of an exception."""

ON_RETRY = "retry"
"""Why a search ended that found no proof, but lacked only a tactic that had run out of time, and worked later."""


class Transition(NamedTuple):
    """One step of a proof to learn from; `depth` is the number of tactics still needed, this one counted (>= 1)."""

    state: str
    tactic: str
    depth: int


class FailedTactic(NamedTuple):
    """A tactic of the policy that Lean refused in a state (never one that ran out of time)."""

    state: str
    tactic: str


@dataclass(frozen=True)
class Attempt:
    """One attempt; JSON in both directions.

    `proven` and `disproven` are only ever set after the final check of `source`, the whole Lean text; `proof` is the
    tactic block in it and `num_tactics` its number of steps. `message` says why there is no proof, or what failed;
    `stop_reason` why the search ended (the name of the exception if it was one). `disproving` if the negation was what
    was to be proved: not where the statement has none that Lean accepts, which is tried as it stands.

    `check` is what became of the final check; where it `lost` a proof that the search had found, the reason is in it.

    `budget` is the number of simulations allowed and `seed` what the policy's samples came from; `policy` says which
    weights it had in the end. `counts` are those of the search, and for a proof that was found `replay_tactics` and
    `simplification_tactics` run afterwards, and `tactics_found`, its number of steps before it was simplified. Where
    tactics that ran out of time were tried once more, `retried` says how many, `passed_on_retry` how many worked then.
    `seconds` is the time of each phase, and in it that spent in Lean and in the policy.
    """

    theorem: Theorem
    outcome: Outcome
    message: str = ""
    disproving: bool = False
    proof: str = ""
    source: str = ""
    num_tactics: int = 0
    transitions: tuple[Transition, ...] = ()
    failed_tactics: tuple[FailedTactic, ...] = ()
    budget: int = 0
    seed: int = 0
    policy: str = ""
    stop_reason: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    check: dict[str, Any] | None = None
    tree: dict[str, Any] | None = None

    @property
    def refused(self) -> bool:
        """Whether Lean refused the statement of the theorem itself (not of its negation)."""
        refusals = (TheoremRejected.__name__, SourceError.__name__)
        return self.outcome == "error" and not self.disproving and self.stop_reason in refusals

    @property
    def lost(self) -> str:
        """How a proof that the search had found came to nothing; empty if none did.

        `refused` by the final check, `not replayed` step by step before it, or else the name of the exception by which
        the server did neither accept nor refuse it.
        """
        return lost_in(self.check)

    @property
    def lost_by_server(self) -> bool:
        """Whether a proof was lost that Lean did not refuse."""
        return self.lost not in ("", REFUSED, NOT_REPLAYED)

    @property
    def simulations(self) -> int:
        """Simulations that the search ran, at most `budget`."""
        return self.counts.get("simulations", 0)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; empty fields are left out.

        Failed tactics that follow each other in one state are written with it once: [state, tactic, tactic, ...]. They
        are nearly all that there is to say of a long search.
        """
        theorem = {"source": self.theorem.source, "dataset": self.theorem.dataset, "id": self.theorem.id}
        data = {name: value for name, value in vars(self).items() if value or name == "outcome"}
        if self.failed_tactics:
            runs = groupby(self.failed_tactics, key=lambda entry: entry.state)
            data["failed_tactics"] = [[state, *(entry.tactic for entry in run)] for state, run in runs]
        return {**data, "theorem": theorem}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Attempt":
        """The attempt that `to_json` wrote."""
        return cls(
            **{
                **data,
                "theorem": Theorem(**data["theorem"]),
                "transitions": tuple(Transition(*entry) for entry in data.get("transitions", ())),
                "failed_tactics": tuple(
                    FailedTactic(state, tactic) for state, *run in data.get("failed_tactics", ()) for tactic in run
                ),
            }
        )


def lost_in(check: dict[str, Any] | None) -> str:
    """How a proof was lost, by the record of its check; older records tell only of what was refused."""
    if check is None or check.get("accepted", True):
        return ""
    return str(check.get("lost", REFUSED))
