"""The words of Lean text: which names it mentions, and renaming them.

A word is a dotted name such as `h`, `h.left` or `Nat.add_comm`; only its first component can be a local name. Numbers,
comments and character literals are passed over. `?x` is a hole, `.foo` a field or a constructor, `x✝` inaccessible:
none of them is a word of the local names.
"""

import re
from collections.abc import Mapping

from nanoproof.lean.lexical import ATOM

_PART = f"(?:{ATOM}|[0-9]+|«[^»]*»)"

_WORD = re.compile(
    rf"([.?]?)({ATOM})(✝[⁰¹²³⁴⁵⁶⁷⁸⁹]*)?((?:\.{_PART})*)"
    r"|\.\.+|--[^\n]*|/-(?s:.*?)-/|[0-9]\w*|⁻¹'|''|'(?:[^\\']|\\.[^']*)'"
)
_OPAQUE = re.compile(r'["`«]')
_NAME = re.compile(ATOM)
_INACCESSIBLE = re.compile(f"({ATOM})✝")


def is_opaque(text: str) -> bool:
    """Whether the text has strings, quotations or quoted names, in which words cannot be told apart so simply."""
    return _OPAQUE.search(text) is not None


def is_plain_name(text: str) -> bool:
    """Whether the text is one name without dots, quotes or marks."""
    return _NAME.fullmatch(text) is not None


def words_of(text: str) -> set[str]:
    """Every name and part of a dotted name in the text, whatever its place: fields, holes and the `x` of `x✝` too."""
    return set(_NAME.findall(text))


def inaccessible_words(text: str) -> set[str]:
    """What is hidden by a mark: `x` for `x✝` and `x✝¹`."""
    return set(_INACCESSIBLE.findall(text)) if "✝" in text else set()


def rename_words(text: str, names: Mapping[str, str], holes: Mapping[str, str] | None = None) -> str:
    """The text with local names (and, without their `?`, holes) replaced all at once."""

    def replacement(match: re.Match[str]) -> str:
        mark, head, dagger, tail = match.groups()
        if head is None or dagger is not None:
            return match.group()
        if not mark:
            return names[head] + tail if head in names else match.group()
        hole = holes.get(head + tail) if holes and mark == "?" else None
        return match.group() if hole is None else f"?{hole}"

    return _WORD.sub(replacement, text)
