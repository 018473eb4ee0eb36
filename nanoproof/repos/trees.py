"""Traced tactics as LeanTree's records: trees of goals, one tactic at each, from which policies learn.

Lean's list of tactics is flat and holds a tactic together with those that run inside of it. A tree has one level: where
`induction n with | zero => simp | succ n ih => omega` runs others, its edge is its head, with `?_` for each of them
(`induction n with | zero => ?_ | succ n ih => ?_`), and they work on the goals which that leaves. A head counts only if
Lean accepts it and these goals are there; else the tactic stays whole, and those inside of it are no edges.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nanoproof.lean.lexical import mask
from nanoproof.lean.types import ProtocolError, parse_goal

NO_GOALS = "no goals"
_TAG = re.compile(r"\Acase [^\n:]*\n")
_METAVARIABLE = re.compile(r"\?([mu])\.\d+")
"""As Lean prints those without a name, of terms and of universes; their numbers differ from run to run."""
_OPENER = re.compile(r"(?<![\w.'])by(?![\w.'])|=>")
"""What a block of tactics may begin behind: `by`, and the arrow of an alternative of `induction`, `cases`, `match`."""
_FOCUS = re.compile(r"(?:case'?|next|focus|on_goal)(?![\w.'])")
"""Tactics that change no goal: those inside of them work on one that is there."""
_LAYOUT = re.compile(r"[\s;·.(){}]*\Z")


def split_goals(text: str) -> list[str]:
    """Split the goals of a state as Lean prints them, whether an empty line or none separates them."""
    if text.strip() == NO_GOALS:
        return []
    goals: list[list[str]] = [[]]
    complete = False
    for line in text.split("\n"):
        # Behind the line with `⊢` a target that takes several lines goes on, indented; what is not is the next goal.
        if complete and (not line.strip() or not line[0].isspace()):
            goals.append([])
            complete = False
        if line.strip():
            goals[-1].append(line)
            complete = complete or line.startswith("⊢")
    return ["\n".join(lines) for lines in goals if lines]


def join_goals(goals: Sequence[str]) -> str:
    """Write goals as a state: an empty line between them, `no goals` for none."""
    return "\n\n".join(goals) or NO_GOALS


def dedent(text: str, column: int) -> str:
    """Move the lines of a tactic to the left that began in this column of its file."""
    first, *rest = text.split("\n")
    lines = [first]
    for line in rest:
        indent = len(line) - len(line.lstrip())
        lines.append(line[min(column, indent) :])
    return "\n".join(lines)


@dataclass(eq=False)
class Ran:
    """A tactic that ran: its place in the file as offsets, and the goals before and after it.

    `after` is None where Lean refuses it on its own; `inside` are the tactics that ran as its parts.
    """

    start: int
    end: int
    text: str
    proof_state: int
    before: list[str]
    constants: tuple[str, ...] | None
    after: list[str] | None = None
    refusal: str = ""
    inside: list["Ran"] = field(default_factory=list)
    is_inside: bool = False
    head: str = ""
    """The tactic with `?_` in place of the blocks inside; empty if it has none."""
    head_after: list[str] | None = None
    """What the head leaves; None if Lean refuses it."""
    blocks: list["Ran"] = field(default_factory=list)
    """The first tactic of each block inside."""


def nest(tactics: Sequence[Ran], text: str) -> None:
    """Find which tactics are parts of others, and the heads of these; they are sorted by their places."""
    around: list[Ran] = []
    for tactic in sorted(tactics, key=lambda tactic: (tactic.start, -tactic.end)):
        # One at the very same place is the same tactic that ran again, on another goal, and no part of it.
        while around and (tactic.end > around[-1].end or _place(tactic) == _place(around[-1])):
            around.pop()
        if around:
            around[-1].inside.append(tactic)
            tactic.is_inside = True
        around.append(tactic)
    masked = mask(text)
    for tactic in tactics:
        if tactic.inside:
            _find_head(tactic, text, masked)


def _place(tactic: Ran) -> tuple[int, int]:
    return tactic.start, tactic.end


def _find_head(tactic: Ran, text: str, masked: str) -> None:
    """Put `?_` in place of the blocks of tactics inside; there is no head if some of them are in no block."""
    pieces: list[tuple[int, int]] = []
    position = tactic.start
    firsts: list[Ran] = []
    for part in tactic.inside:
        if part.start < position:  # it runs again on another goal
            continue
        openers = list(_OPENER.finditer(masked, position, part.start))
        if openers and _LAYOUT.match(masked[openers[-1].end() : part.start]):
            # `by` goes with its block, as `?_` is a term; the arrow stays, and `?_` behind it is one for a tactic too.
            begins = openers[-1].start() if openers[-1].group() == "by" else openers[-1].end()
            pieces.append((begins, part.end))
            firsts.append(part)
        elif pieces and _LAYOUT.match(masked[position : part.start]):
            pieces[-1] = (pieces[-1][0], part.end)  # the next tactic of the same block
        else:
            return
        position = part.end
    head, position = "", tactic.start
    for begins, ends in pieces:
        head += text[position:begins]
        if head.endswith(">"):
            head += " "
        head += "?_"
        position = ends
    head += text[position : tactic.end]
    column = tactic.start - text.rfind("\n", 0, tactic.start) - 1
    # `exact` fails where a goal is left; `refine` is the same and leaves those of `?_`.
    tactic.head = dedent(re.sub(r"\Aexact(?![\w.'?!])", "refine", head), column)
    tactic.blocks = firsts


# -- Trees -----------------------------------------------------------------------------------------------------------


class NoTree(Exception):
    """The tactics of a proof are no tree, for the reason in the message."""


@dataclass(eq=False)
class _Node:
    goal: str
    tactic: str = ""
    ran: Ran | None = None
    children: list["_Node"] = field(default_factory=list)


def proof_trees(tactics: Sequence[Ran], premises: Mapping[int, Sequence[str]]) -> list[dict[str, Any]]:
    """Make the `by_blocks` of a theorem of its tactics, in LeanTree's shape; one that is no tree is an `error`.

    `premises` are the names of those that each tactic names, by its `id`.
    """
    try:
        roots = _link([tactic for tactic in sorted(tactics, key=lambda t: t.start) if not tactic.is_inside])
        return [_block(root, premises) for root in roots]
    except (NoTree, ProtocolError) as error:
        return [{"error": str(error)}]


def _link(tactics: Sequence[Ran]) -> list[_Node]:
    """Link each tactic to the one that left its goal; a tactic on a goal that nobody left begins a tree.

    A node has the goal as the tactic before it left it, so that it reads as in a search; tags may differ in the file.
    """
    roots: list[_Node] = []
    open_nodes: list[_Node] = []
    for tactic, text, left in _edges(tactics):
        # Tactics work on the first goal, and put what they leave of it before the others.
        goal, rest = tactic.before[0], tactic.before[1:]
        count = len(left) - len(rest)
        if left[count:] != rest:
            raise NoTree(f"`{_brief(text)}` works on several goals at once")
        for node in reversed(open_nodes):
            if _bare(node.goal) == _bare(goal):
                open_nodes.remove(node)
                break
        else:
            node = _Node(goal)
            roots.append(node)
        node.tactic, node.ran = text, tactic
        node.children = list(map(_Node, left[:count]))
        open_nodes += reversed(node.children)
    if open_nodes:
        raise NoTree("no tactic is known for a goal of it")
    return roots


def _edges(tactics: Sequence[Ran]) -> list[tuple[Ran, str, list[str]]]:
    """List the tactics of a tree, each with its text (or head), and the goals it leaves."""
    edges: list[tuple[Ran, str, list[str]]] = []
    for tactic in tactics:
        if not tactic.before:
            continue
        if tactic.inside and _FOCUS.match(tactic.text):
            edges += _edges(tactic.inside)
        elif tactic.inside and _has_goals_of_blocks(tactic):
            edges.append((tactic, tactic.head, tactic.head_after or []))
            edges += _edges(tactic.inside)
        elif tactic.after is None:
            raise NoTree(f"`{_brief(tactic.text)}` is refused on its own")
        else:
            edges.append((tactic, tactic.text, tactic.after))
    return edges


def _has_goals_of_blocks(tactic: Ran) -> bool:
    """Tell whether the head leaves the goals of the blocks inside, beside those that the whole tactic leaves."""
    if not tactic.head or tactic.head_after is None or tactic.after is None:
        return False
    expected = list(tactic.after)
    for first in tactic.blocks:
        expected += first.before[:1]
    # In any order: Lean puts a goal that another one depends on behind it.
    return sorted(map(_bare, expected)) == sorted(map(_bare, tactic.head_after))


def _bare(goal: str) -> str:
    """Return a goal without its tag, with its metavariables numbered by first appearance."""
    numbers: dict[str, int] = {}
    text = _TAG.sub("", goal)
    return _METAVARIABLE.sub(lambda m: f"?{m[1]}.{numbers.setdefault(m[0], len(numbers))}", text)


def _brief(text: str) -> str:
    line = text.split("\n")[0]
    return line if len(line) <= 60 else line[:57] + "..."


def _block(root: _Node, premises: Mapping[int, Sequence[str]]) -> dict[str, Any]:
    nodes: list[_Node] = []
    todo = [root]
    # Without recursion: a proof may be a line of some thousand tactics.
    while todo:
        node = todo.pop()
        nodes.append(node)
        todo += reversed(node.children)
    numbers = {id(node): number for number, node in enumerate(nodes)}
    sizes: dict[int, tuple[int, int]] = {}
    for node in reversed(nodes):  # children come behind their parents
        size, depth = 1, 0
        for child in node.children:
            size_below, depth_below = sizes[id(child)]
            size, depth = size + size_below, max(depth, depth_below)
        sizes[id(node)] = size, depth + 1
    rows = []
    starts, ends = [], []
    for node in nodes:
        assert node.ran is not None, "a tree is complete"
        starts.append(node.ran.start)
        ends.append(node.ran.end)
        size, depth = sizes[id(node)]
        rows.append(
            {
                "id": numbers[id(node)],
                "state": {"goals": [parse_goal(node.goal).to_wire()]},
                "tactic": {
                    "tactic_string": node.tactic,
                    "span": {"start": node.ran.start, "finish": node.ran.end},
                    "parent": numbers[id(node)],
                    "children": [numbers[id(child)] for child in node.children],
                    "tactic_depends_on": list(premises[id(node.ran)]),
                },
                "proof_size": size,
                "proof_depth": depth,
            }
        )
    return {"tree": {"root_id": 0, "nodes": rows}, "span": {"start": min(starts), "finish": max(ends)}}
