"""What the tools for agents answer: typed, so that a client has a schema of each.

Lines count from 1 and columns from 0, as Lean counts them. Paths are relative to the project's folder.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Outcome = Literal["proved", "conditional", "not proved", "refused", "left alone", "not tried"]
ErrorKind = Literal["bad argument", "outside the project", "too large", "Lean refuses", "Lean unavailable", "timed out"]


class ToolProblem(Exception):
    """A call that cannot be answered; `kind` is for programs, the message for whoever reads it."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True)


class OpenSorry(_Result):
    """An open `sorry` that a proof rests on; `file` and `line` are null where Lean names no place for it."""

    name: str
    file: str | None
    line: int | None


class OpenState(_Result):
    """A proof state that a search reached and did not prove."""

    state: str
    tactics: list[str] = Field(description="Tactics that lead to it from the start.")
    tactics_left: float | None = Field(
        description="How many tactics seemed to be left there; null without an estimate."
    )
    visits: int


class ProofResult(_Result):
    """What came of one `sorry`.

    `proved`: Lean accepts the file with the proof, and it rests on nothing open. `conditional`: the same, but it holds
    only if the sorries in `rests_on` do. `refused`: Lean refuses the statement. `left alone`: not in a theorem.
    `not tried`: the time was up before.
    """

    file: str
    line: int
    column: int
    name: str
    outcome: Outcome
    said: str = Field(description="The outcome in words, with what the proof rests on.")
    proof: str = Field(description="Lean tactics, as they stand in place of the sorry; empty without a proof.")
    checked: str = Field(description="How the proof was checked; empty without one.")
    rests_on: list[OpenSorry]
    axioms: list[str] = Field(description="Axioms of the project's own files that the proof uses.")
    message: str = Field(description="Why there is no proof.")
    open_goals: list[OpenState] = Field(description="The most promising states that were left, best first.")
    search: str | None = Field(description="Id of the last search, for explain_failure.")
    tree: str | None = Field(description="Address of the resource with the search tree, a page for a browser.")
    simulations: int = Field(description="Simulations of the searches of this call.")


class StatementResult(ProofResult):
    """What came of a statement."""

    theorem: str = Field(description="The theorem with its proof as Lean checked it; empty without one.")


class SorriesResult(_Result):
    """What came of the sorries of a file.

    `patch` is a unified diff for `git apply`; proofs that rest on something open are in `conditional_patch` alone,
    because with them in place nothing would say any more that their theorem is open. No file was changed.
    """

    results: list[ProofResult]
    proved: int
    total: int
    patch: str
    conditional_patch: str
    problems: list[str] = Field(description="What could not be read, withdrawn proofs, and errors of the file.")


class TriedTactic(_Result):
    """What Lean made of one tactic."""

    tactic: str
    outcome: Literal["closes", "applied", "rejected", "timeout", "banned"]
    goals: list[str] = Field(description="The states that are left, each to be proved; empty if it closes the goal.")
    message: str = Field(description="Lean's words where the tactic was refused.")


class TriedTactics(_Result):
    """What Lean made of several tactics, each tried on its own in one state."""

    state: str
    results: list[TriedTactic]


class SuggestedTactic(_Result):
    """A tactic that the policy suggests."""

    tactic: str
    logprob: float
    count: int = Field(description="How often it was sampled.")


class Suggestions(_Result):
    """What the policy says at a state. Nothing of it was run: try_tactics does that."""

    state: str
    policy: str
    tactics: list[SuggestedTactic]
    tactics_left: float | None = Field(description="How many tactics the policy expects to be left; null if it cannot.")


class PremiseFound(_Result):
    """A declaration that may help."""

    name: str
    statement: str
    file: str
    line: int


class PremisesFound(_Result):
    """Declarations that may help at a state, the best first."""

    state: str
    premises: list[PremiseFound]


class LeanMessage(_Result):
    """An error of Lean; `line` is 0 where it is in no line of what was given, as in an imported file."""

    line: int
    column: int
    message: str


class CheckResult(_Result):
    """The verdict of the final check.

    `accepted` means: no error, no `sorry`, and nothing open that it rests on. `said` has the verdict in words.
    """

    accepted: bool
    said: str
    errors: list[LeanMessage]
    sorries: int
    axioms: list[str] = Field(description="Axioms that it rests on; those that stand for an open sorry are not here.")
    rests_on: list[OpenSorry]


class RefusedKind(_Result):
    """Tactics that Lean refused for reasons of one kind."""

    kind: str
    count: int
    examples: list[str] = Field(description="`tactic: Lean's message`, a few of them.")


class Explanation(_Result):
    """Why a search found no proof."""

    search: str
    place: str
    outcome: str
    why: str
    simulations: int
    tactics_run: int
    closest: list[OpenState]
    refused: list[RefusedKind]
    tree: str | None


class SearchEntry(_Result):
    """A search of the list of searches."""

    search: str
    time: str
    place: str
    outcome: str
    simulations: int
    tree: str | None
