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
_OPENER = re.compile(r"(?<![\w.'])by(?![\w.'])|=>")
_FOCUS = re.compile(r"(?:case'?|next|focus|on_goal)(?![\w.'])")
_LAYOUT = re.compile(r"[\s;·.(){}]*\Z")


def split_goals(text: str) -> list[str]:
    """Split the goals of a state as Lean prints them, whether an empty line or none separates them."""
    goals: list[list[str]] = [[]]
    complete = False
    for line in "" if text.strip() == NO_GOALS else text.split("\n"):
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
    return "\n".join([first, *(line[min(column, len(line) - len(line.lstrip())) :] for line in rest)])


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
    stack: list[Ran] = []
    for each in sorted(tactics, key=lambda tactic: (tactic.start, -tactic.end)):
        while stack and not (each.end <= stack[-1].end and (each.start, each.end) != (stack[-1].start, stack[-1].end)):
            stack.pop()
        if stack:
            stack[-1].inside.append(each)
            each.is_inside = True
        stack.append(each)
    masked = mask(text)
    for each in tactics:
        if each.inside:
            _find_head(each, text, masked)


def _find_head(tactic: Ran, text: str, masked: str) -> None:
    """Put `?_` in place of the blocks of tactics inside; there is no head if some of them are in no block."""
    pieces: list[tuple[int, int]] = []
    position = tactic.start
    firsts: list[Ran] = []
    for each in tactic.inside:
        if each.start < position:  # it runs again on another goal
            continue
        openers = list(_OPENER.finditer(masked, position, each.start))
        if openers and _LAYOUT.match(masked[openers[-1].end() : each.start]):
            begins = openers[-1].start() if openers[-1].group() == "by" else openers[-1].end()
            pieces.append((begins, each.end))
            firsts.append(each)
        elif pieces and _LAYOUT.match(masked[position : each.start]):
            pieces[-1] = (pieces[-1][0], each.end)
        else:
            return
        position = each.end
    head, position = "", tactic.start
    for begins, ends in pieces:
        gap = " " if text[begins - 1 : begins] == ">" else ""
        head += text[position:begins] + gap + "?_"
        position = ends
    head += text[position : tactic.end]
    column = tactic.start - text.rfind("\n", 0, tactic.start) - 1
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
        roots = _link([each for each in sorted(tactics, key=lambda t: t.start) if not each.is_inside])
        return [_block(root, premises) for root in roots]
    except (NoTree, ProtocolError) as error:
        return [{"error": str(error)}]


def _link(tactics: Sequence[Ran]) -> list[_Node]:
    """Link each tactic to the one that left its goal; a tactic on a goal that nobody left begins a tree.

    A node has the goal as the tactic before it left it, so that it reads as in a search; tags may differ in the file.
    """
    roots: list[_Node] = []
    open_nodes: list[_Node] = []
    for each, text, left in _edges(tactics):
        goal, rest = each.before[0], each.before[1:]
        if left[len(left) - len(rest) :] != rest:
            raise NoTree(f"`{_brief(text)}` works on several goals at once")
        node = next((n for n in reversed(open_nodes) if _bare(n.goal) == _bare(goal)), None)
        if node is None:
            node = _Node(goal)
            roots.append(node)
        else:
            open_nodes.remove(node)
        node.tactic, node.ran = text, each
        node.children = [_Node(new) for new in left[: len(left) - len(rest)]]
        open_nodes += reversed(node.children)
    if open_nodes:
        raise NoTree("no tactic is known for a goal of it")
    return roots


def _edges(tactics: Sequence[Ran]) -> list[tuple[Ran, str, list[str]]]:
    """List the tactics of a tree, each with its text (or head), and the goals it leaves."""
    edges: list[tuple[Ran, str, list[str]]] = []
    for each in tactics:
        if not each.before or (each.after is None and not each.inside):
            if not each.before:
                continue
            raise NoTree(f"`{_brief(each.text)}` is refused on its own")
        if each.inside and _FOCUS.match(each.text):
            edges += _edges(each.inside)
        elif each.inside and _has_goals_of_blocks(each):
            edges.append((each, each.head, each.head_after or []))
            edges += _edges(each.inside)
        elif each.after is None:
            raise NoTree(f"`{_brief(each.text)}` is refused on its own")
        else:
            edges.append((each, each.text, each.after))
    return edges


def _has_goals_of_blocks(tactic: Ran) -> bool:
    """Tell whether the head leaves the goals of the blocks inside, beside those that the whole tactic leaves."""
    if not tactic.head or tactic.head_after is None or tactic.after is None:
        return False
    expected = sorted(_bare(goal) for goal in [*(b.before[0] for b in tactic.blocks if b.before), *tactic.after])
    return expected == sorted(map(_bare, tactic.head_after))


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
    while todo:
        node = todo.pop()
        nodes.append(node)
        todo += reversed(node.children)
    numbers = {id(node): number for number, node in enumerate(nodes)}
    sizes: dict[int, tuple[int, int]] = {}
    for node in reversed(nodes):  # children come behind their parents
        below = [sizes[id(child)] for child in node.children]
        sizes[id(node)] = 1 + sum(size for size, _ in below), 1 + max((depth for _, depth in below), default=0)
    rows = []
    for node in nodes:
        assert node.ran is not None, "a tree is complete"
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
    ran = [node.ran for node in nodes if node.ran is not None]
    span = {"start": min(each.start for each in ran), "finish": max(each.end for each in ran)}
    return {"tree": {"root_id": 0, "nodes": rows}, "span": span}
