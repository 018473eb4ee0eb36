"""What all syntax has in common, and the four families of nodes: levels, terms, tactics and commands."""

from dataclasses import dataclass, field
from typing import Literal

BinderInfo = Literal["default", "implicit", "inst", "strict"]
SortKind = Literal["Prop", "Type", "Sort"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place in the source."""

    pos: int = field(default=0, compare=False, repr=False)
    end: int = field(default=0, compare=False, repr=False)


class Term(Node):
    """What denotes: a piece of a statement or a proof term."""

    __slots__ = ()


class Tactic(Node):
    """A step of a proof."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TacticSeq(Node):
    """Tactics that run one after another; empty only for a `by` that stands before nothing."""

    tactics: tuple[Tactic, ...]


class Command(Node):
    """What stands at the top of a file."""

    __slots__ = ()
