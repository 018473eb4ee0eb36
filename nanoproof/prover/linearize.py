"""From the steps of a proof to the text of a Lean 4 tactic block, in idiomatic layout."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nanoproof.lean.lexical import ATOM
from nanoproof.prover.proof import Proof, ends_of

# -- Tactics with a layout of their own ------------------------------------------------------------------------------

_ALTERNATIVES = re.compile(
    r"(?P<head>(?:cases|induction)(?![\w.'!?])[^|]*?\swith)(?P<alternatives>(?:\s*\|[^|\n]*?=>[^|\n]*)+)"
)
_ALTERNATIVE = re.compile(r"\|\s*(?P<left>[^|\n]*?)\s*=>\s*(?P<right>[^|\n]*)")
# Its one hole (`?_`) is all of the value, so that a block of tactics can stand in its place.
_HAVE = re.compile(r"(?P<text>(?:have|obtain)(?![\w.'!?])(?:(?!:=|\?_).)*):=\s*\?_\s*")
_SUFFICES = re.compile(r"(?P<text>suffices(?![\w.'!?])(?:(?!:=|\?_).)*?)\s+from\s+\?_\s*")
# One tactic (no `;`), with no alternatives of its own that would name the cases.
_WITHOUT_NAMES = re.compile(r"(?:cases|induction)(?![\w.'!?])(?:(?!\bwith\b)[^;|{])*")
_RENAME = re.compile(rf"rename_i(?P<names>(?:\s+(?:{ATOM}|_))+)\s*")


def alternatives_of(tactic: str, tags: Sequence[str | None]) -> tuple[str, list[str]] | None:
    """Split `cases h with | inl a => ?_ | inr b => exact b` into its head and `| inl a =>`, `| inr b => exact b`.

    None for any other tactic, and where the tags of the goals are not those of its holes, in this order.
    """
    match = _ALTERNATIVES.fullmatch(tactic.strip())
    if match is None:
        return None
    openings: list[str] = []
    holes: list[str] = []
    for left, right in _ALTERNATIVE.findall(match["alternatives"]):
        if right.strip() == "?_":
            openings.append(f"| {left} =>")
            constructor, *_ = left.split() or [""]
            holes.append(constructor.removeprefix("@"))  # `@cons x xs` names implicit arguments as well
        elif "?" in right or not right.strip():
            return None
        else:
            openings.append(f"| {left} => {right.strip()}")
    # Lean calls each goal by its constructor; where the order is another one, the proofs would be swapped.
    if holes != [_last(tag) for tag in tags]:
        return None
    return match["head"], openings


def block_of(tactic: str) -> tuple[str, int] | None:
    """Split `have h : p := ?_` into the text before its proof, `have h : p := by`, and the index of its goal of two.

    Lean puts what is left to prove with the `have` before the hole of it; a `suffices` the other way round.
    """
    if match := _HAVE.fullmatch(tactic.strip()):
        # Without a type, `by` would have nothing to elaborate against.
        if ":" not in match["text"]:
            return None
        return match["text"].rstrip() + " := by", 1
    if match := _SUFFICES.fullmatch(tactic.strip()):
        return match["text"].rstrip() + " by", 0
    return None


def reads_as_case(tactic: str, tags: Sequence[str | None]) -> bool:
    """Tell whether the goals are those of a plain `cases h` or `induction n`, each with a tag for `case`."""
    names = [_last(tag) for tag in tags]
    # `case` finds a goal by the last part of its tag, which two goals must not share.
    return (
        _WITHOUT_NAMES.fullmatch(tactic.strip()) is not None
        and all(re.fullmatch(ATOM, name) for name in names)
        and len(set(names)) == len(names) > 1
    )


def names_of_rename(tactic: str) -> str:
    """Return the names that a `rename_i` gives; "" for any other tactic."""
    match = _RENAME.fullmatch(tactic.strip())
    if match is None:
        return ""
    return " ".join(match["names"].split())


def _last(tag: str | None) -> str:
    return (tag or "").rpartition(".")[2]


# -- Layout ----------------------------------------------------------------------------------------------------------

LINE_WIDTH = 100


@dataclass(frozen=True, slots=True)
class _Block:
    """The place of the proof of a branch: the step it begins with, and the indentation of its tactics.

    `opening` ("· ", "| zero =>", "case inl h =>") comes before them, two columns further left. `crowded` means that
    other goals follow those of the branch, which its tactics can see.
    """

    start: int
    indent: str
    opening: str = ""
    crowded: bool = False


_Layout = tuple[str, list["_Block | str"]]
"""The text of a tactic, and the blocks (or finished lines) that follow it."""


def layouts(steps: Proof) -> list[str]:
    """Return texts of the proof to try, the nicest first; the last relies on nothing but the order of the goals."""
    return list(dict.fromkeys([linearize(steps), linearize(steps, plain=True)]))


def linearize(steps: Proof, plain: bool = False) -> str:
    """Write the proof, one tactic per line (more only where a tactic itself has more).

    Where a tactic leaves several branches, each gets a `·` block. A branch of several coupled goals cannot have one,
    since `·` focuses on a single goal: its tactics are not indented, and work on the first goals that are left.

    Unless `plain`, holes are filled in place: the alternatives of `cases` and `induction`, the proof of a
    `have`; and the goals that `cases h` leaves become `case inl h =>`, which also gives the names of a `rename_i`.
    """
    writer = _Writer(steps)
    lines: list[str] = []
    stack: list[_Block | str] = [_Block(0, "")]
    while stack:
        block = stack.pop()
        if isinstance(block, str):
            lines.append(block)
            continue
        layout = None
        if not plain:
            layout = writer.filled(block)
        text, below = layout or writer.bullets(block)
        lines += _opened(block, text, alone=not below)
        stack += reversed(below)
    return "\n".join(lines)


def _opened(block: _Block, text: str, alone: bool) -> Iterator[str]:
    """Yield the lines of a block's first tactic; on one line with the opening where it is `alone` in the block."""
    first, *rest = _at_the_margin(text)
    # An opening stands two columns to the left of what it opens.
    outer = block.indent[:-2]
    one_line = f"{outer}{block.opening} {first}"
    if not block.opening:
        yield block.indent + first
    elif block.opening == "·" or (alone and not rest and len(one_line) <= LINE_WIDTH):
        yield one_line
    else:
        yield outer + block.opening
        yield block.indent + first
    for line in rest:
        yield block.indent + line if line.strip() else ""  # no blanks at the end of an empty line


def _at_the_margin(text: str) -> list[str]:
    """Return the lines of a tactic, dedented by the indentation of the first."""
    lines = text.lstrip("\n").rstrip().split("\n")
    margin = len(lines[0]) - len(lines[0].lstrip(" "))
    return [line[min(margin, len(line) - len(line.lstrip(" "))) :] for line in lines]


class _Writer:
    """Decides how the branches that a tactic leaves are laid out."""

    def __init__(self, steps: Proof) -> None:
        self._steps = steps
        self._ends = ends_of(steps)

    def bullets(self, block: _Block) -> _Layout:
        """Lay out with a `·` for each of several branches, or one that other goals follow; none for coupled goals."""
        starts = self._starts(block.start)
        below: list[_Block | str] = []
        for number, start in enumerate(starts):
            crowded = block.crowded or number < len(starts) - 1
            if self._steps[start].goals == 1 and (crowded or len(starts) > 1):
                below.append(_Block(start, block.indent + "  ", "·"))
            else:
                below.append(_Block(start, block.indent, crowded=crowded))
        return self._steps[block.start].tactic, below

    def filled(self, block: _Block) -> _Layout | None:
        """Lay out without bullets, where the tactic allows it and every branch is a single goal; else None."""
        tactic = self._steps[block.start].tactic
        starts = self._starts(block.start)
        # Crowded: `case inl h` takes any goal of that tag, so perhaps one of those that follow.
        if not starts or block.crowded or any(self._steps[start].goals != 1 for start in starts):
            return None
        tags = [self._steps[start].tag for start in starts]
        if alternatives := alternatives_of(tactic, tags):
            head, openings = alternatives
            return head, self._alternatives(openings, starts, block.indent)
        nested = block_of(tactic)
        if len(starts) == 2 and nested is not None:
            text, position = nested
            return self._block(text, starts[position], starts[1 - position], block.indent)
        if reads_as_case(tactic, tags):
            cases = [self._case(start, tag or "", block.indent) for start, tag in zip(starts, tags, strict=True)]
            return tactic, [*cases]
        return None

    def _alternatives(self, openings: list[str], starts: list[int], indent: str) -> list[_Block | str]:
        lines: list[_Block | str] = []
        next_starts = iter(starts)
        for opening in openings:
            if opening.endswith("=>"):
                lines.append(_Block(next(next_starts), indent + "  ", opening))
            else:  # it has its proof on the line already
                lines.append(indent + opening)
        return lines

    def _block(self, text: str, inside: int, after: int, indent: str) -> _Layout:
        """Lay out `have h : p := by`, the proof, and what uses it."""
        only = self._steps[inside]
        one_line = f"{text} {only.tactic}"
        if not only.branches and "\n" not in one_line and len(indent + one_line) <= LINE_WIDTH:
            return one_line, [_Block(after, indent)]
        return text, [_Block(inside, indent + "  "), _Block(after, indent)]

    def _case(self, start: int, tag: str, indent: str) -> _Block:
        """Make the `case` block of a goal with a tag; a `rename_i` that it begins with goes into its opening."""
        opening = "case " + tag.rpartition(".")[2]
        step = self._steps[start]
        names = ""
        # Not where the `rename_i` is all that there is: `case inl h =>` alone would be no proof.
        if step.branches == 1:
            names = names_of_rename(step.tactic)
        if names and self._steps[start + 1].goals == 1:
            return _Block(start + 1, indent + "  ", f"{opening} {names} =>")
        return _Block(start, indent + "  ", f"{opening} =>")

    def _starts(self, start: int) -> list[int]:
        """Return the first steps of the proofs of the branches that step `start` leaves."""
        starts: list[int] = []
        position = start + 1
        for _ in range(self._steps[start].branches):
            starts.append(position)
            position = self._ends[position]
        return starts
