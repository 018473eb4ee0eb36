"""What the REPL's `allTactics` asks for: every tactic that ran in a text, its goals before, and what it used."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nanolean.kernel.expr import Const, Expr, Lit, MVar, subterms
from nanolean.syntax import AndThenStx, BraceStx, BulletStx, ParenStx, Tactic
from nanolean.tactic_state import StepRecord, TacticState, close_state
from nanolean.tactics.core import TacticContext

GROUPING = (AndThenStx, BraceStx, BulletStx, ParenStx)
"""Tactics that Lean does not count as steps of their own."""

NUMERAL = ("OfNat.ofNat", "Nat", "instOfNatNat")
SORRY_PLACE = ("Lean.Name", "Lean.Name.anonymous", "Lean.Name.num", "Lean.Name.str", *NUMERAL)
"""In Lean a `sorry` carries the place where it was written, as a name."""
OPERATORS = {
    "Nat.add": ("HAdd.hAdd", "instHAdd", "instAddNat", "Nat"),
    "Nat.mul": ("HMul.hMul", "instHMul", "instMulNat", "Nat"),
    "Nat.sub": ("HSub.hSub", "instHSub", "instSubNat", "Nat"),
    "Nat.div": ("HDiv.hDiv", "instHDiv", "Nat.instDivNat", "Nat"),
    "Nat.mod": ("HMod.hMod", "instHMod", "Nat.instModNat", "Nat"),
    "Nat.le": ("LE.le", "instLENat", "Nat"),
    "Nat.lt": ("LT.lt", "instLTNat", "Nat"),
    "Nat.dvd": ("Dvd.dvd", "Nat.instDvdNat", "Nat"),
    "List.append": ("HAppend.hAppend", "instHAppendOfAppend", "List.instAppend"),
}
"""What stands in Lean for the functions that operators mean here directly."""


class Recorder:
    """Watches the tactics of one declaration."""

    def __init__(self) -> None:
        self.steps: list[StepRecord] = []

    def __call__(self, ctx: TacticContext, node: Tactic, work: Callable[[], None]) -> None:
        """Run a tactic and put it on record, before the tactics that run inside of it."""
        if isinstance(node, GROUPING) or not ctx.goals:
            work()
            return
        before = list(ctx.goals)
        record = StepRecord(node.pos, node.end, _snapshot(ctx))
        self.steps.append(record)
        work()
        record.constants = used_constants(ctx.mctx.instantiate(MVar(goal)) for goal in before)


def _snapshot(ctx: TacticContext) -> TacticState:
    root = ctx.session.blocks[0]
    start = TacticState(
        ctx.session.state, root, (root,), {root: ctx.mctx.decl(root)}, level_names=ctx.session.level_names
    )
    return close_state(ctx.mctx, start, ctx.goals, has_sorry=False)


def used_constants(terms: Iterable[Expr]) -> tuple[str, ...]:
    """The constants of terms, under the names and in the order in which Lean lists them."""
    found: set[str] = set()
    for e in terms:
        for node in subterms(e, lambda _: True):
            if isinstance(node, Lit):
                found.update(NUMERAL)
            elif isinstance(node, Const):
                found.update(OPERATORS.get(node.name, (node.name,)))
                if node.name == "sorryAx":
                    found.update(SORRY_PLACE)
    return tuple(sorted(found, key=name_hash))


# -- the order of names ------------------------------------------------------------------------------------------------

_MASK = (1 << 64) - 1
_MURMUR = 0xC6A4A7935BD1E995
_ANONYMOUS = 1723


def name_hash(name: str) -> int:
    """The hash by which Lean orders the names of a set."""
    value = _ANONYMOUS
    for part in name.split("."):
        value = _mix(value, _string_hash(part.encode()))
    return value


def _mix(value: int, part: int) -> int:
    part = part * _MURMUR & _MASK
    part = (part ^ (part >> 47)) ^ _MURMUR
    return (value ^ part) * _MURMUR & _MASK


def _string_hash(data: bytes, seed: int = 11) -> int:
    """MurmurHash64A."""
    value = seed ^ ((len(data) * _MURMUR) & _MASK)
    whole = len(data) - len(data) % 8
    for start in range(0, whole, 8):
        block = int.from_bytes(data[start : start + 8], "little") * _MURMUR & _MASK
        block = (block ^ (block >> 47)) * _MURMUR & _MASK
        value = (value ^ block) * _MURMUR & _MASK
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * _MURMUR & _MASK
    value = (value ^ (value >> 47)) * _MURMUR & _MASK
    return value ^ (value >> 47)
