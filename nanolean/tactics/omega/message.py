"""What `omega` says when it finds no proof: the constraints that remain, as Lean lists them."""

from __future__ import annotations

from collections.abc import Iterable

from nanolean.meta.lctx import LocalContext
from nanolean.tactics.core import TacticContext
from nanolean.tactics.omega.search import Interval, Key, Problem

NOTHING = (
    "No usable constraints found. You may need to unfold definitions so `omega` can see linear arithmetic facts "
    "about `Nat` and `Int`, which may also involve multiplication, division, and modular remainder by constants."
)


def describe(ctx: TacticContext, problem: Problem) -> str:
    """The constraints of a problem as they were given, with a letter for each atom."""
    given = Problem(problem.atoms, ctx.mctx.budget)
    for leaf in problem.given:
        given.add(leaf)
    if not given.intervals:
        return NOTHING
    mentioned = sorted({i for key in given.intervals for i, _ in key})
    names = dict(zip(mentioned, _letters(ctx.lctx)))
    lines = ["a possible counterexample may satisfy the constraints"]
    lines += [f"  {_show_interval(names, key, interval)}" for key, interval in given.intervals.items()]
    lines.append("where")
    lines += [f" {names[i]} := ↑{_argument(ctx.show(problem.atoms.terms[i]))}" for i in mentioned]
    return "\n".join(lines)


def _letters(lctx: LocalContext) -> Iterable[str]:
    """Names for atoms that no hypothesis has."""
    taken = {decl.user_name for decl in lctx}
    i = 0
    while True:
        name = chr(ord("a") + i) if i < 26 else f"x{i - 25}"
        if name not in taken:
            yield name
        i += 1


def _argument(text: str) -> str:
    return f"({text})" if " " in text else text


def _show_interval(names: dict[int, str], key: Key, interval: Interval) -> str:
    text = ""
    for i, a in key:
        sign = (" + " if a > 0 else " - ") if text else ("" if a > 0 else "- ")
        text += sign + (names[i] if abs(a) == 1 else f"{abs(a)}*{names[i]}")
    if interval.low is None:
        assert interval.high is not None, "an interval has a bound"
        return f"{text} ≤ {interval.high.value}"
    if interval.high is None:
        return f"{text} ≥ {interval.low.value}"
    return f"{interval.low.value} ≤ {text} ≤ {interval.high.value}"
