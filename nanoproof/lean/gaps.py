"""A `sorry` inside of a proof: whether it stands for a tactic or for a term, and how a proof takes its place.

Both are decided by the text around it, as a reader would: there is no parser of Lean here. What is put in is checked by
Lean afterwards, so a wrong guess costs a proof and never lets a wrong one through.
"""

import re
import textwrap

SORRY = re.compile(r"(?<![\w.'«])sorry(?![\w.'])")
_BEFORE_TACTICS = ("by", "all_goals", "any_goals", "try", "repeat")
_BY = re.compile(r"(?<![\w.'])by(?![\w.'])")
_ARM = re.compile(r"[ \t]*\|[^\n]*?=>\s*")
_ARMS_OF = re.compile(r"(?<![\w.'])(match|induction|cases|rcases|fun|λ|next|case)(?![\w.'])")
_BULLETS = re.compile(r"[ \t]*(?:[·.][ \t]*)*")


def is_tactic(masked: str, start: int) -> bool:
    """Whether the `sorry` at `start` of a masked text stands where a tactic is expected (else a term is)."""
    before = masked[:start].rstrip()
    if before.endswith(("·", ";", "<;>")) or any(_ends_with_word(before, word) for word in _BEFORE_TACTICS):
        return True
    inside_by = _BY.search(masked, max(0, _declaration_start(masked, start)), start) is not None
    if before.endswith("=>"):
        return _is_tactic_arm(masked, before, inside_by)
    if inside_by and _BULLETS.sub("", before[before.rfind("\n") + 1 :], count=1) == "{":
        return True
    on_its_own_line = masked[len(before) : start].count("\n") > 0
    continues = before.endswith((":=", ",", "(", "⟨", "<|", "$", "▸", "←")) or _ends_with_word(before, "from")
    return inside_by and on_its_own_line and not continues


def fill(source: str, masked: str, start: int, end: int, proof: str) -> str:
    """The source with a tactic proof in place of the `sorry` at `[start, end)`, indented to fit where it stands."""
    lines = textwrap.dedent(proof.strip("\n").expandtabs(2)).rstrip().split("\n")
    line_start = source.rfind("\n", 0, start) + 1
    column = start - line_start
    if is_tactic(masked, start):
        if len(lines) > 1 and masked[:start].rstrip(" ").endswith((";", "<;>")):
            lines = [f"({lines[0]}", *(f" {line}" for line in lines[1:-1]), f" {lines[-1]})"]
        opener = masked[line_start:start].rstrip()
        if len(lines) > 1 and (opener.endswith("=>") or _ends_with_word(opener, "by")):
            margin = "\n" + " " * (_margin(masked[line_start:start]) + 2)
            return source[:start] + "".join(margin + line for line in lines) + source[end:]
        body = ("\n" + " " * column).join(lines)
    else:
        bare = masked[:start].rstrip().endswith((":=", "=>"))
        head, tail = ("by", "") if bare else ("(by", ")")
        margin = "\n" + " " * (_margin(masked[line_start:start]) + 2)
        body = f"{head} {lines[0]}{tail}" if len(lines) == 1 else head + "".join(margin + x for x in lines) + tail
    return source[:start] + re.sub(r"[ \t]+$", "", body, flags=re.MULTILINE) + source[end:]


def _margin(line: str) -> int:
    """Where the tactic or term of a line begins, behind bullets."""
    match = _BULLETS.match(line)
    assert match is not None, "it matches the empty text"
    return match.end()


def _declaration_start(masked: str, start: int) -> int:
    """Where the `:=` may stand at the earliest: the last line without indentation before `start`."""
    return max(masked.rfind("\n" + first, 0, start) for first in ("theorem", "lemma", "example", "@[", "private"))


def _is_tactic_arm(masked: str, before: str, inside_by: bool) -> bool:
    """Behind `=>`: arms of `induction` and `cases` are tactics, those of `fun` terms, of `match` as it is itself."""
    line_start = before.rfind("\n") + 1
    arm = _ARM.match(masked, line_start)
    if arm is None or arm.end() < len(before):  # not the arrow of an arm at the beginning of the line
        openers = _ARMS_OF.findall(masked, line_start, len(before))
        return bool(openers) and openers[-1] not in ("fun", "λ", "match") and inside_by
    indent = masked.index("|", line_start) - line_start
    for line in reversed(masked[:line_start].split("\n")[:-1]):
        text = line.strip()
        if not text or text.startswith("|") or len(line) - len(line.lstrip()) > indent:
            continue
        openers = _ARMS_OF.findall(line)
        if "match" in openers:
            return inside_by and line[_margin(line) :].startswith("match")
        return bool(openers) and inside_by
    return False


def _ends_with_word(text: str, word: str) -> bool:
    return text.endswith(word) and not re.search(r"[\w.']", text[-len(word) - 1 : -len(word)])
