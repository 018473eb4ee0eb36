"""Whether a Lean file is plain: theorems and definitions, and nothing that runs code or changes how a text is read.

Lean runs what it reads: `#eval` and `initialize` do what they like, `macro`, `notation` and `elab` change what comes
behind them, an `instance` changes what a statement means. So a file of somebody else is read here first, and only if
each of its commands is one of a few does Lean see it. Commands are found wherever they stand, also behind a tactic on
its line, by the words that begin them (`block.COMMAND`); a declaration must begin its line, so that its name is known.
No list of words is complete for a language that libraries extend: see docs/checking.md for what is behind this.
"""

import re
from collections.abc import Collection, Sequence

from nanoproof.lean.gaps import IN_FRONT
from nanoproof.lean.source import NAME, declared_in
from nanoproof.prover.block import COMMAND, code_of

IMPORTS = ("Init", "Std", "Lean", "Batteries", "Mathlib")
"""What a file may import, unless somebody says otherwise: these modules, and those below them."""

_PLAIN = frozenset({"theorem", "lemma", "example", "def", "abbrev"})
_SCOPES = frozenset({"namespace", "section", "end", "variable", "universe", "include", "omit"})
_MODIFIERS = frozenset({"protected", "noncomputable", "nonrec"})
_ENDINGS = frozenset({"termination_by", "decreasing_by"})
_ATTRIBUTES = frozenset({"simp", "grind", "ext", "norm_cast", "push_cast", "reducible", "irreducible", "semireducible"})
_HEAD = re.compile(
    rf"^(?P<modifiers>[ \t]*(?:{IN_FRONT}\s+)*(?:@\[[^\]]*\]\s*|(?:{'|'.join(sorted(_MODIFIERS))})\s+)*)"
    rf"(?P<keyword>{'|'.join(sorted(_PLAIN))})(?![\w.'])(?:\s+(?P<name>{NAME})(?:\.\{{[^}}]*\}})?)?",
    re.MULTILINE,
)
_LISTED = re.compile(r"@\[(?P<names>[^\]]*)\]")
_IMPORT = re.compile(r"[ \t]*import[ \t]+(?P<module>[^\s]+)[ \t]*(?:\n|\Z)|[ \t]*\n")
_AT_THE_LINE = re.compile(r"^[ \t]*(?P<word>#\w+|(?:module|prelude|public|meta)(?![\w.'!?]))", re.MULTILINE)


def plain_reason(text: str, imports: Sequence[str] = IMPORTS, allowed: Collection[str] = ()) -> str | None:
    """Why the text of a file is not (or not surely) plain; None if it is.

    `imports` are the modules that it may import, with all below them; `allowed` further words that may begin commands.
    """
    code, hidden = code_of(text.replace("\r\n", "\n"), docs=True)
    if hidden:
        return hidden
    start, module = _after_imports(code, imports)
    if module:
        return f"it imports {module}, which is none of {', '.join(imports)}"
    if (word := _AT_THE_LINE.search(code, start)) and word["word"] not in allowed:
        return f"`{word['word']}` begins a command that is no plain declaration"
    return _foreign_command(code, start, allowed)


def declarations(text: str) -> list[tuple[str, str]]:
    """Keyword and full name of each theorem, lemma, def and abbrev of a plain text, in order."""
    return declared_in(text, _HEAD)


def _after_imports(code: str, imports: Sequence[str]) -> tuple[int, str]:
    """Where the imports at the top end, and the first of them that is not allowed."""
    position = 0
    while (line := _IMPORT.match(code, position)) and line.end() > position:
        position = line.end()
        module = line["module"]
        if module is not None and not any(module == root or module.startswith(f"{root}.") for root in imports):
            return position, module
    return position, ""


def _foreign_command(code: str, start: int, allowed: Collection[str]) -> str | None:
    """What begins a command and is no plain declaration, or stands where our rules do not see what it declares."""
    heads = list(_HEAD.finditer(code, start))
    keywords = {head.start("keyword") for head in heads}
    modifiers = [head.span("modifiers") for head in heads]
    for match in COMMAND.finditer(code, start):
        words, place = " ".join(match.group().split()), match.start()
        word = words.split()[0]
        before = code[code.rfind("\n", 0, place) + 1 : place].strip()
        first = not before or (word, before) == ("section", "noncomputable")
        in_front = any(begin <= place < end for begin, end in modifiers)
        if word in allowed or words in allowed or word in _ENDINGS or place in keywords:
            continue
        if word in _PLAIN or (word in _SCOPES and not first and not in_front):
            return f"`{word}` stands behind something else on its line, where it may hide what is declared"
        if word == "@[" and in_front:
            if name := _foreign_attribute(code, place):
                return f"the attribute `{name}` is none of {', '.join(sorted(_ATTRIBUTES))}"
        elif not (word in _SCOPES or (word in _MODIFIERS and (in_front or _opens_section(code, match.end())))):
            return f"`{words}` begins a command that is no plain declaration"
    return None


def _foreign_attribute(code: str, place: int) -> str:
    """The first of the attributes at a place that is not known to be harmless."""
    found = _LISTED.match(code, place)
    names = [name.split()[0] if name.split() else "" for name in found["names"].split(",")] if found else ["@["]
    return next((name for name in names if name not in _ATTRIBUTES), "")


def _opens_section(code: str, place: int) -> bool:
    return re.match(r"\s+section(?![\w.'!?])", code[place : place + 20]) is not None
