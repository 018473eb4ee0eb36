"""Reads a proof text as Lean would and runs it on a scripted Lean: blocks by their columns, goals in their order.

It is stricter than Lean in one point: where several branches are open, a tactic for a single goal has to be focused on
it, since a tactic may see the goals behind.
"""

import re
from collections.abc import Sequence

from nanoproof.lean.types import Branch, TacticApplied
from nanoproof.search.expand import TacticRunner

_CASE = re.compile(r"case (?P<tag>\S+)(?P<names>[^=]*)=>(?P<rest>.*)")
_ARM = re.compile(r"\| (?P<left>[^=]*?) =>(?P<rest>.*)")

Line = tuple[int, str]


class Refused(Exception):
    """The text does not prove the goal."""


class TextRunner:
    """Runs texts on branches; `ran` holds the tactics as the scripted Lean knows them."""

    def __init__(self, lean: TacticRunner) -> None:
        self._lean = lean
        self.ran: list[str] = []

    def prove(self, branch: Branch, text: str) -> None:
        """Nothing if the text closes the branch, else `Refused`."""
        lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.split("\n")]
        self._close(branch, lines)

    def _close(self, branch: Branch, lines: Sequence[Line]) -> None:
        open_branches = [branch]
        lines = list(lines)
        while lines:
            item, lines = _first_item(lines)
            if not open_branches:
                raise Refused(f"no goals left for {item[0][1]}")
            self._item(open_branches, item)
        if open_branches:
            raise Refused(f"unsolved: {open_branches}")

    def _item(self, branches: list[Branch], item: list[Line]) -> None:
        column, text = item[0]
        if text.startswith("· "):
            self._close(_single(branches.pop(0)), [(column + 2, text[2:]), *item[1:]])
        elif match := _CASE.fullmatch(text):
            tags = [branch.state.goals[0].tag for branch in branches]
            branch = _single(branches.pop(tags.index(match["tag"])))
            rename = [(column + 2, "rename_i" + match["names"].rstrip())] if match["names"].strip() else []
            self._close(branch, [*rename, *_rest(column, match["rest"]), *item[1:]])
        elif text.endswith(" with") and len(item) > 1:
            self._alternatives(branches, item)
        elif text.startswith("have ") and ":= by" in text:
            head, _, rest = text.partition(" := by")
            main, claim = self._apply(branches.pop(0), f"{head} := ?_")
            self._close(_single(claim), [*_rest(column, rest), *item[1:]])
            branches.insert(0, main)
        else:
            branch = branches.pop(0)
            if branches and len(branch.state.goals) == 1:
                raise Refused(f"{text} is not focused")
            margin = [text, *(" " * (c - column) + line for c, line in item[1:])]
            branches[:0] = self._apply(branch, "\n".join(margin))

    def _alternatives(self, branches: list[Branch], item: list[Line]) -> None:
        column, head = item[0]
        arms: list[tuple[str, list[Line]]] = []
        for line_column, line in item[1:]:
            if line_column == column:
                match = _ARM.fullmatch(line)
                assert match is not None, line
                arms.append((match["left"], _rest(column, match["rest"])))
            else:
                arms[-1][1].append((line_column, line))
        tactic = " ".join([head, *(f"| {left} => ?_" for left, _ in arms)])
        results = self._apply(branches.pop(0), tactic)
        for branch, (_, lines) in zip(results, arms, strict=True):
            self._close(_single(branch), lines)

    def _apply(self, branch: Branch, tactic: str) -> tuple[Branch, ...]:
        self.ran.append(tactic)
        result = self._lean.apply(branch, [tactic])[0]
        if not isinstance(result, TacticApplied):
            raise Refused(f"{tactic}: {result}")
        return result.branches


def _first_item(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """A line with those that continue it: further right, or an alternative."""
    column = lines[0][0]
    end = 1
    while end < len(lines) and (lines[end][0] > column or lines[end][1].startswith("| ")):
        end += 1
    if end < len(lines) and lines[end][0] != column:
        raise Refused(f"{lines[end][1]} stands in no block")
    return lines[:end], lines[end:]


def _rest(column: int, text: str) -> list[Line]:
    return [(column + 2, text.strip())] if text.strip() else []


def _single(branch: Branch) -> Branch:
    if len(branch.state.goals) != 1:
        raise Refused("several goals cannot be focused")
    return branch
