"""Reading of a REPL's answers: the result of a tactic or a statement, goals, and the independent branches they form.

Goals come as the text that Lean printed. The official REPL prints goals and nothing more. Forks add `goalInfos` (type
and hypotheses of each goal, and its metavariable) and `mctxAfter.decls` (which metavariables occur in the type of
each). They are used where they agree with the text, and ignored where they do not: none of these fields is needed.

A REPL proof state is a list of goals. Goals that share a metavariable must be worked on together; all others are
independent and become branches of their own. A branch keeps its own goals first in its REPL state and the goals of the
other branches behind them as siblings, which no tactic of this branch may touch. The server does this, and so does a
session whose server leaves all goals in one proof state.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nanoproof.lean.lexical import mask
from nanoproof.lean.types import Goal, Hypothesis, parse_goal

# Not the `?` of `xs[i]?` or `get?`, which belongs to what is in front of it.
_METAVARIABLE = re.compile(r"(?<![\w\])}?!'.])\?(«[^»\n]*»|[^\W\d][\w.'✝]*)")
_ANONYMOUS_TAGS = ("", "[anonymous]")
# A parenthesis may stand in a character: `'('` opens nothing.
_PARENTHESIS = re.compile(r"'[()]'|[()]")
# Lean prints a metavariable without a name of its own as `?m.123`.
_NUMBERED = re.compile(r"m\.\d+")
# Words of the REPL's forks, of Lean's cancellation (tactics, kernel), of its limit of memory (`-M`) and of our own
# tactic, but not a name such as `Foo.timeout`.
_OUT_OF_TIME = re.compile(
    r"(?<![\w`'.])(?:timed out|timeout|(?:elaboration|execution|\(kernel\)) interrupted)(?![\w`'.])"
    r"|excessive memory consumption detected",
    re.IGNORECASE,
)
_SHOWN = 300


# -- Goals -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GoalInfo:
    """Information of a fork on a goal: its structured form, its metavariable, and those that its type mentions."""

    goal: Goal
    metavariable: str | None
    mentions: frozenset[str]


@dataclass(frozen=True)
class ReplGoal:
    """One goal of a REPL proof state. Two are equal if their texts are: that is how siblings are compared."""

    text: str
    info: GoalInfo | None = field(default=None, compare=False, repr=False)

    @cached_property
    def mentions(self) -> frozenset[str]:
        """The metavariables that the goal mentions (`w` for `?w`), also by the fork's ids."""
        mentioned = metavariables(self.text)
        if self.info is not None:
            mentioned |= self.info.mentions
        return mentioned

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the metavariable that the goal is to assign: its tag, and the fork's id."""
        names = set()
        first_line = self.text.split("\n", 1)[0]
        if first_line.startswith("case "):
            names.add(first_line.removeprefix("case ").strip())
        if self.info is not None and self.info.metavariable is not None:
            names.add(self.info.metavariable)
        return frozenset(names - {""})

    def parsed(self) -> Goal:
        """Parse the goal into its structured form; raises `ProtocolError` if it is not as Lean prints it."""
        return self._parsed

    @cached_property
    def _parsed(self) -> Goal:
        if self.info is not None:
            return self.info.goal
        return parse_goal(self.text)


def metavariables(text: str) -> frozenset[str]:
    """Find the names of the metavariables in a text: `w` for `?w`."""
    return frozenset(_METAVARIABLE.findall(text))


def read_goals(answer: Mapping[str, Any]) -> tuple[ReplGoal, ...]:
    """Read the goals of an answer, in its order; raises ValueError if they are no list of texts."""
    texts = answer.get("goals")
    if texts is None:
        texts = []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"`goals` is no list of texts: {str(texts)[:300]}")
    infos = answer.get("goalInfos")
    if not isinstance(infos, list) or len(infos) != len(texts):
        return tuple(map(ReplGoal, texts))
    occurring = _occurring(answer.get("mctxAfter"))
    return tuple(ReplGoal(text, _read_info(info, text, occurring)) for text, info in zip(texts, infos))


def _read_info(info: Any, text: str, occurring: Mapping[str, frozenset[str]]) -> GoalInfo | None:
    """Read the information on a goal; None if its form is unknown or it does not agree with the goal's text."""
    if not isinstance(info, Mapping) or not isinstance(info.get("type"), str):
        return None
    # Forks spell these fields in two ways.
    hypotheses = _read_hypotheses(_first(info, "hyps", "hypotheses"))
    if hypotheses is None:
        return None
    # Siblings are compared by the text, so that it decides where the two differ. Lines may be broken elsewhere, since
    # the type alone begins in another column.
    shown_type, type_of_info = text.rpartition("⊢")[2], info["type"].rpartition("⊢")[2]
    if shown_type.split() != type_of_info.split():
        return None
    tag, metavariable = _first(info, "username", "userName"), _first(info, "mvarId", "id")
    if not isinstance(tag, str) or tag in _ANONYMOUS_TAGS:
        tag = None
    if not isinstance(metavariable, str):
        metavariable = None
    mentions = occurring.get(metavariable or "", frozenset())
    return GoalInfo(Goal(info["type"], hypotheses, tag), metavariable, mentions)


def _read_hypotheses(entries: Any) -> tuple[Hypothesis, ...] | None:
    if not isinstance(entries, list):
        return None
    hypotheses = []
    for entry in entries:
        if not isinstance(entry, Mapping):
            return None
        name, kind, value = _first(entry, "username", "userName"), entry.get("type"), entry.get("value")
        if not isinstance(name, str) or not isinstance(kind, str) or not isinstance(value, str | None):
            return None
        hypotheses.append(Hypothesis(name, kind, value))
    return tuple(hypotheses)


def _occurring(context: Any) -> dict[str, frozenset[str]]:
    """Map each metavariable to those that its type mentions, directly or through the types of others."""
    decls = context.get("decls") if isinstance(context, Mapping) else None
    if not isinstance(decls, list):
        return {}
    direct: dict[str, list[str]] = {}
    for decl in decls:
        name = _first(decl, "mvarId", "id") if isinstance(decl, Mapping) else None
        if not isinstance(name, str):
            continue
        direct[name] = []
        mentioned = decl.get("mvarsInType")
        if isinstance(mentioned, list):
            direct[name] = [other for other in mentioned if isinstance(other, str)]
    return {name: _closure(direct, name) for name in direct}


def _closure(direct: Mapping[str, Iterable[str]], name: str) -> frozenset[str]:
    seen: set[str] = set()
    pending = list(direct[name])
    while pending:
        other = pending.pop()
        if other not in seen:
            seen.add(other)
            pending.extend(direct.get(other, ()))
    return frozenset(seen)


def _first(entry: Mapping[str, Any], *keys: str) -> Any:
    for key in keys:
        if key in entry:
            return entry[key]
    return None


# -- Answers to tactics and statements -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """The proof state after a tactic or a statement, and its goals in the REPL's order."""

    proof_state: int
    goals: tuple[ReplGoal, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """Lean refused the tactic or the statement, with its message."""

    message: str


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """Lean or the REPL stopped at its limit of time or memory; its proof states are still there."""

    message: str = field(default="", compare=False)


Outcome = Step | Refused | OutOfTime


def read_tactic_answer(answer: dict[str, Any]) -> Outcome:
    """Read the answer to a tactic.

    No goals does not mean success, see `proofStatus` in the REPL's protocol. Raises ValueError if the answer has
    no outcome.
    """
    if "proofState" not in answer:
        return _failure(answer)
    # Lean recovers from errors inside of a tactic (a failing bullet, an unknown term) and answers a proof state beside
    # its messages: such a step proves nothing.
    if errors := error_messages(answer):
        return Refused("\n".join(errors))
    proof_state = _number(answer["proofState"])
    goals = read_goals(answer)
    verification = answer.get("stepVerification")
    if isinstance(verification, str) and verification.startswith("Error"):
        return Refused(f"Step verification error: {verification}")
    status = str(answer.get("proofStatus", ""))
    if status.startswith("Error"):
        return Refused(status)
    if answer.get("sorries") or "contains sorry" in status:
        return Refused("the tactic leaves a sorry")
    # `exact ?g` assigns a goal to itself: no goal is left, and no proof was made.
    if not goals and "contains metavariable" in status:
        return Refused("the tactic leaves a metavariable without a goal")
    return Step(proof_state, goals)


def read_statement_answer(answer: dict[str, Any]) -> Outcome:
    """Read the answer to a statement with one `sorry`: a `Step` is the start of its proof.

    Raises ValueError if the answer has no outcome.
    """
    if "env" not in answer:
        return _failure(answer)
    if errors := error_messages(answer):
        return Refused("\n".join(errors))
    sorries = answer.get("sorries") or []
    if not isinstance(sorries, list) or not all(isinstance(entry, dict) for entry in sorries):
        raise ValueError(f"`sorries` is no list of objects: {_shown(sorries)}")
    if len(sorries) != 1:
        reason = f"expected exactly one sorry, Lean found {len(sorries)}"
        # The source has one word: behind `all_goals` or `<;>` it stands for several goals.
        if sorries:
            reason += ": write one for each goal"
        return Refused(reason)
    (gap,) = sorries
    return Step(_number(gap.get("proofState")), read_goals({"goals": [gap.get("goal")]}))


def error_messages(answer: dict[str, Any]) -> list[str]:
    """Read the texts of the error messages of an answer; raises ValueError if its messages have another form."""
    messages = answer.get("messages") or []
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ValueError(f"`messages` is no list of objects: {_shown(messages)}")
    return [str(message.get("data", "")) for message in messages if message.get("severity") == "error"]


def ran_out(message: str) -> bool:
    """Tell whether Lean was stopped by how fast or large the machine is, which is no verdict on the text."""
    # The first line only, as what follows may quote the tactic. A `(deterministic) timeout` counts heartbeats: it
    # comes whatever the time limit is, and is Lean's verdict on the tactic.
    first_line = message.strip().removeprefix("Lean error:").strip().split("\n", 1)[0]
    return _OUT_OF_TIME.search(first_line) is not None and "deterministic" not in first_line


def _failure(answer: dict[str, Any]) -> Refused | OutOfTime:
    message = answer.get("message")
    if isinstance(message, str):
        if ran_out(message):
            return OutOfTime(message)
        if message.startswith("Lean error"):
            return Refused(message)
    raise ValueError(f"neither a proof state nor a Lean error: {_shown(answer)}")


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"not the number of a proof state: {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    return str(value)[:_SHOWN]


# -- Branches --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ReplBranch:
    """Goals of one branch in a REPL proof state.

    `rotation` is how many goals still have to be rotated to the back before the branch's own goals are in front;
    `siblings` are the other goals in the order they have after that.
    """

    proof_state: int
    goals: tuple[ReplGoal, ...]
    siblings: tuple[ReplGoal, ...] = ()
    rotation: int = 0

    def parsed_goals(self) -> list[Goal]:
        """Parse the branch's own goals; raises `ProtocolError` if they are not as Lean prints them."""
        return [goal.parsed() for goal in self.goals]

    def request_for(self, tactic: str) -> str | Refused:
        """Build the tactic to send, which runs `tactic` on this branch, once its goals have been rotated to the front.

        A single goal among siblings is focused. Coupled goals are not: solving one may assign what another is about.
        A tactic that would close the parenthesis of its focus is refused, and so is one that names the goal itself: it
        can leave the goal without a proof, which the REPL tells only of a state without goals.
        """
        if not self.siblings or len(self.goals) > 1:
            return tactic
        if _closes_too_much(tactic):
            return Refused("unexpected `)`")
        if own := metavariables(mask(tactic)) & self.goals[0].names:
            return Refused(f"`?{min(own)}` is the goal itself")
        # Further lines move by the width of `focus (`, as Lean's layout goes by columns; a comment at the end would
        # swallow the closing parenthesis.
        indented = tactic.replace("\n", "\n       ")
        closing = "\n)" if "--" in tactic else ")"
        return f"focus ({indented}{closing}"


def own_goals(branch: ReplBranch, goals: Sequence[ReplGoal]) -> tuple[ReplGoal, ...] | None:
    """Return the branch's own goals after a step; None if the step changed, removed or reordered a sibling."""
    num_own = len(goals) - len(branch.siblings)
    if num_own < 0 or tuple(goals[num_own:]) != branch.siblings:
        return None
    return tuple(goals[:num_own])


def split_branches(proof_state: int, own: Sequence[ReplGoal], siblings: Sequence[ReplGoal]) -> list[ReplBranch]:
    """Split goals into a branch for each group of coupled ones; `siblings` follow `own` in the REPL's proof state."""
    branches = []
    for start, stop in coupled_ranges(own):
        # The order after `rotate_left start`: what stood in front of the branch's goals is then at the very end.
        others = (*own[stop:], *siblings, *own[:start])
        branches.append(ReplBranch(proof_state, tuple(own[start:stop]), others, rotation=start))
    return branches


def coupled_ranges(goals: Sequence[ReplGoal]) -> list[tuple[int, int]]:
    """Split positions into the smallest contiguous ranges such that no two ranges share a metavariable.

    Two goals are coupled if both mention a metavariable, or if one mentions the other. Ranges are contiguous, because
    goals can be rotated but not sorted.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}

    def use(name: str, position: int) -> None:
        first[name] = min(first.get(name, position), position)
        last[name] = max(last.get(name, position), position)

    for position, goal in enumerate(goals):
        for name in goal.mentions:
            use(name, position)
    # A goal's own names count only where another goal mentions them, and it may be called by a number that its text
    # does not tell, unless it has a tag.
    numbered = None
    for name in first:
        if _NUMBERED.fullmatch(name):
            numbered = name
            break
    for position, goal in enumerate(goals):
        for name in goal.names & first.keys():
            use(name, position)
        if numbered and not goal.names:
            use(numbered, position)
    reach: dict[int, int] = {}
    for name, start in first.items():
        reach[start] = max(reach.get(start, start), last[name])
    return _ranges(len(goals), reach)


def _ranges(length: int, reach: dict[int, int]) -> list[tuple[int, int]]:
    """Return the finest ranges such that each position is in one range with the position that it reaches."""
    ranges: list[tuple[int, int]] = []
    start = 0
    while start < length:
        end = position = start
        while position <= end:
            end = max(end, reach.get(position, position))
            position += 1
        ranges.append((start, end + 1))
        start = end + 1
    return ranges


def _closes_too_much(tactic: str) -> bool:
    depth = 0
    for parenthesis in _PARENTHESIS.findall(mask(tactic)):
        if parenthesis == "(":
            depth += 1
        elif parenthesis == ")":
            depth -= 1
        if depth < 0:
            return True
    return False
