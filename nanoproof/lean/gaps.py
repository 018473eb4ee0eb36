"""A `sorry` inside of a proof: whether it stands for a tactic or for a term, and how a proof takes its place.

Both are decided by the text around it, as a reader would: there is no parser of Lean here. What is put in is checked by
Lean afterwards, so a wrong guess costs a proof and never lets a wrong one through.
"""

import re
import textwrap

SORRY = re.compile(r"(?<![\w.'«])sorry(?![\w.'])")
IN_FRONT = (
    r"(?:set_option|open|variable|universe|include|omit|attribute|unseal|seal)\s"
    r"(?:[^\n]|\n[ \t]+(?=[(\[{⦃]))*?\sin(?![\w.'!?])"
)
"""Matches what may stand before a declaration and belongs to it, as `open Nat in` does; binders may go on below it."""
_MODIFIERS = (
    r"(?:@\[[^\]]*\]\s*|(?:private|protected|public|meta|noncomputable|nonrec|unsafe|partial|scoped|local)\s+)*"
)
_DATA = r"def|abbrev|instance|structure|class|inductive|axiom|opaque"
COMMAND = re.compile(
    rf"^[ \t]*(?:{IN_FRONT}[ \t]+)*{_MODIFIERS}(?P<declaration>theorem|lemma|example|{_DATA})(?![\w.'])"
    r"|^(?:@\[|#[a-z]|(?P<scope>namespace|section|end|mutual|(?:(?:public|meta|noncomputable)[ \t]+)+section|"
    r"open|variable|universe|set_option|attribute|macro|macro_rules|syntax|declare_syntax_cat|notation3?|infix[lr]?|"
    r"prefix|postfix|local|scoped|elab|elab_rules|simproc|export|alias|include|omit|initialize|run_cmd|run_meta|"
    r"deriving)(?![\w.']))",
    re.MULTILINE,
)
"""Where a command begins, with the keyword of a `declaration`, in a masked text."""

_TACTICS_FOLLOW = re.compile(r"(?:(?<![\w.'])(?:by|decreasing_by|all_goals|any_goals|try|repeat'?|focus)|·|<;>)\Z")
_TERM_FOLLOWS = re.compile(r"(?::=|<\||[,⟨$▸←↦]|(?<![\w.'])(?:from|exact))\Z")
_BY = re.compile(r"(?<![\w.'])by(?![\w.'])")
_ARM = re.compile(r"[ \t]*\|[^\n]*?=>\s*")
_ARMS_OF = re.compile(r"(?<![\w.'])(match|induction|cases|rcases|fun|λ|next|case'?|on_goal)(?![\w.'])")
_CHOICE = re.compile(r"(?<![\w.'])(?:first|solve)(?![\w.'])")
_IF = re.compile(r"(?<![\w.'])(?:if|else)(?![\w.'])")
_BRANCH = re.compile(r"(?<![\w.'])(?:then|else)\Z")
_BULLETS = re.compile(r"[ \t]*(?:[·.][ \t]*)*")
_INLINE = re.compile(r"(?:[;|]|<;>|(?<![\w.'])(?:then|else))\Z")
"""Ends what a tactic follows on its line, and parentheses hold several together."""


def is_tactic(masked: str, start: int) -> bool:
    """Whether the `sorry` at `start` of a masked text stands where a tactic is expected (else a term is)."""
    text = masked[_declaration_start(masked, start) : start]
    return _expects_tactic(text)


def _expects_tactic(text: str) -> bool:
    """Whether a tactic is expected behind the text of a declaration.

    Often that is so if one is expected somewhere before: at the parenthesis that was opened, at the line above.
    """
    while True:
        before = text.rstrip()
        if _TACTICS_FOLLOW.search(before):
            return True
        if before.endswith(";"):
            return _BY.search(before) is not None
        if before.endswith(("{", "(")):
            text = before[:-1]
        elif before.endswith("|"):
            return _is_choice(before)
        elif _BRANCH.search(before):
            text = before[: _condition(before)]
        elif before.endswith("=>"):
            arms = _opener_of_arm(before)
            if arms is None or arms[1] != "match":
                return arms is not None and arms[1] not in ("fun", "λ")
            text = before[: arms[0]]
        else:
            line = text[text.rfind("\n") + 1 :]
            if line.strip():
                return _BULLETS.sub("", line, count=1) == "" and _BY.search(before) is not None
            above = None if _TERM_FOLLOWS.search(before) else _above(before, len(line))
            if above is None:
                return False
            text = before[:above]


def _above(before: str, column: int) -> int | None:
    """Where in the lines above something begins in this column, of which a line that begins there is the next."""
    end = len(before)
    while end >= 0:
        start = before.rfind("\n", 0, end) + 1
        line = before[start:end]
        if line.strip() and len(line) - len(line.lstrip()) <= column:
            begins = column < len(line) and not line[column].isspace()
            return start + column if begins and not re.search(r"[\w.'!?]\Z", line[:column]) else None
        end = start - 1
    return None


def _is_choice(before: str) -> bool:
    """Whether the `|` at the end stands before one of the tactics of `first`."""
    for line in reversed(before.split("\n")):
        if _CHOICE.search(line):
            return _BY.search(before) is not None
        if not line.lstrip().startswith("|"):
            return False
    return False


def _condition(before: str) -> int:
    """Where the `if` stands whose `then` or `else` ends the text; 0 if there is none."""
    missing = 1
    for word in reversed(list(_IF.finditer(before, 0, len(before) - len("then")))):
        missing += 1 if word.group() == "else" else -1
        if not missing:
            return word.start()
    return 0


def _opener_of_arm(before: str) -> tuple[int, str] | None:
    """The word to which the `=>` at the end belongs, and where it stands: `induction`, `match`, `fun`, ..."""
    line_start = before.rfind("\n") + 1
    arm = _ARM.match(before, line_start)
    if arm is None or arm.end() < len(before):  # not the arrow of an arm at the beginning of the line
        return _last_opener(before, line_start, len(before))
    indent = before.index("|", line_start) - line_start
    end = line_start - 1
    while end >= 0:
        start = before.rfind("\n", 0, end) + 1
        line = before[start:end]
        margin = len(line) - len(line.lstrip())
        if line.strip() and (margin < indent or (margin == indent and not line.startswith("|", margin))):
            return _last_opener(before, start, end)
        end = start - 1
    return None


def _last_opener(before: str, start: int, end: int) -> tuple[int, str] | None:
    found = list(_ARMS_OF.finditer(before, start, end))
    return (found[-1].start(), found[-1].group()) if found else None


def fill(source: str, masked: str, start: int, end: int, proof: str) -> str:
    """The source with a tactic proof in place of the `sorry` at `[start, end)`, indented to fit where it stands."""
    lines = textwrap.dedent(proof.strip("\n").expandtabs(2)).rstrip().split("\n")
    line_start = source.rfind("\n", 0, start) + 1
    column = start - line_start
    if is_tactic(masked, start):
        inline = _INLINE.search(masked[:start].rstrip(" ")) or masked[end:].lstrip(" ").startswith("|")
        if len(lines) > 1 and inline:
            lines = [f"({lines[0]}", *(f" {line}" for line in lines[1:-1]), f" {lines[-1]})"]
        opener = masked[line_start:start].rstrip()
        if len(lines) > 1 and not inline and (opener.endswith("=>") or _ends_with_word(opener, "by")):
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
    """Where the command begins that `start` is part of."""
    return max((command.start() for command in COMMAND.finditer(masked, 0, start)), default=0)


def _ends_with_word(text: str, word: str) -> bool:
    return text.endswith(word) and not re.search(r"[\w.']", text[-len(word) - 1 : -len(word)])
