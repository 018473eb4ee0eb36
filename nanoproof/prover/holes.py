"""Tactics that leave holes a person would fill where they stand: alternatives, the proof of a `have`, named cases."""

import re
from collections.abc import Sequence

from nanoproof.lean.lexical import ATOM

_ALTERNATIVES = re.compile(
    r"(?P<head>(?:cases|induction)(?![\w.'!?])[^|]*?\swith)(?P<alternatives>(?:\s*\|[^|\n]*?=>[^|\n]*)+)"
)
_ALTERNATIVE = re.compile(r"\|\s*(?P<left>[^|\n]*?)\s*=>\s*(?P<right>[^|\n]*)")
_HAVE = re.compile(r"(?P<text>(?:have|obtain)(?![\w.'!?])(?:(?!:=|\?_).)*):=\s*\?_\s*")
_SUFFICES = re.compile(r"(?P<text>suffices(?![\w.'!?])(?:(?!:=|\?_).)*?)\s+from\s+\?_\s*")
_WITHOUT_NAMES = re.compile(r"(?:cases|induction)(?![\w.'!?])(?:(?!\bwith\b)[^;|{])*")
_RENAME = re.compile(rf"rename_i(?P<names>(?:\s+(?:{ATOM}|_))+)\s*")


def alternatives_of(tactic: str, tags: Sequence[str | None]) -> tuple[str, list[str]] | None:
    """`cases h with | inl a => ?_ | inr b => exact b` as its head and `| inl a =>`, `| inr b => exact b`.

    None for any other tactic, and where the tags of the goals do not say that they are its holes, in this order.
    """
    match = _ALTERNATIVES.fullmatch(tactic.strip())
    if match is None:
        return None
    openings: list[str] = []
    holes: list[str] = []
    for left, right in _ALTERNATIVE.findall(match["alternatives"]):
        if right.strip() == "?_":
            openings.append(f"| {left} =>")
            holes.append(left.split()[0].removeprefix("@") if left.split() else "")
        elif "?" in right or not right.strip():
            return None
        else:
            openings.append(f"| {left} => {right.strip()}")
    return (match["head"], openings) if holes == [_last(tag) for tag in tags] else None


def block_of(tactic: str) -> tuple[str, int] | None:
    """`have h : p := ?_` as the text that its proof follows, `have h : p := by`, and which of its two goals that is.

    Lean puts what is left to prove with the `have` before the hole of it; a `suffices` the other way round.
    """
    if match := _HAVE.fullmatch(tactic.strip()):
        return (match["text"].rstrip() + " := by", 1) if ":" in match["text"] else None
    if match := _SUFFICES.fullmatch(tactic.strip()):
        return match["text"].rstrip() + " by", 0
    return None


def reads_as_case(tactic: str, tags: Sequence[str | None]) -> bool:
    """Whether the goals are those of a plain `cases h` or `induction n`, each with a tag that can be said."""
    names = [_last(tag) for tag in tags]
    return (
        _WITHOUT_NAMES.fullmatch(tactic.strip()) is not None
        and all(re.fullmatch(ATOM, name) for name in names)
        and len(set(names)) == len(names) > 1
    )


def names_of_rename(tactic: str) -> str:
    """The names that a `rename_i` gives; "" for any other tactic."""
    match = _RENAME.fullmatch(tactic.strip())
    return " ".join(match["names"].split()) if match else ""


def _last(tag: str | None) -> str:
    return (tag or "").rpartition(".")[2]
