"""Source text of theorems: the parts of a declaration, whether its `sorry` is a tactic, how a proof replaces it.

This is decided from the text, without a parser of Lean. The result is checked by Lean afterwards, so a wrong guess
costs a proof and never lets a wrong one through.
"""

import hashlib
import re
import textwrap
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from nanoproof.lean.lexical import find_top_level, is_library_end, is_quoted, mask, misplaced_header
from nanoproof.lean.types import SourceError, Theorem

# `h.sorry`, `sorry'` and `«not sorry»` are other names. A dot with nothing before it is a bullet: `.sorry`.
_NEW_WORD = r"(?<![\w'«])(?<!\S\.)"
_SORRY = re.compile(r"«[^«»\n]*»|" + _NEW_WORD + r"(?P<sorry>sorry)(?![\w.'])")
_ADMIT = re.compile(
    _NEW_WORD + r"admit(?=[ \t\r]*(?:$|[,:;)}|\]⟩@]|<;>|<\|>|·|(?:then|else|in|end|theorem|lemma|example|def|namespace|"
    r"section|private|protected|open|variable|termination_by|decreasing_by)\b))",
    re.MULTILINE,
)
"""Matches the tactic `admit`, a `sorry` by another name (of the same length), where more tactics or nothing follows.

It is no keyword: a hypothesis or constant may have this name, so `sorries` looks at what stands before it.
"""
_IN = r"(?:[^\n]|\n[ \t]+(?=[(\[{⦃]))*?\sin(?![\w.'!?])"
# Atomic: up to the first `in`, once and for all. Else a line of thirty `open a in` could be read in 2^30 ways.
_BEFORE_IN = r"set_option|open|variable|universe|include|omit|attribute|unseal|seal"
PLAIN_IN_FRONT = rf"(?>(?:{_BEFORE_IN})\s{_IN})"
"""Matches what may precede a declaration as part of it, such as `open Nat in`; binders may continue below it."""
IN_FRONT = rf"(?>(?:(?:{_BEFORE_IN})(?=\s)|#[a-z]\w*!?(?=\s)|(?:count_heartbeats|whatsnew)!?(?=\s)){_IN})"
"""The same with commands that only look at the declaration: `#guard_msgs in`, `count_heartbeats in`."""
ATTRIBUTES = r"@\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]"
"""Matches attributes with their arguments, which may hold brackets: `@[simp, to_additive (reorder := [1, 2]) foo]`."""
_MODIFIER_WORD = r"(?:private|protected|public|meta|noncomputable|nonrec|unsafe|partial|scoped|local)\s+"
MODIFIERS = rf"(?:{ATTRIBUTES}\s*|{_MODIFIER_WORD})*"
DECLARING = (
    r"theorem|lemma|example|def|abbrev|instance|structure|class|inductive|coinductive|axiom|opaque|irreducible_def"
)
"""Matches the keyword of a declaration."""
# Lines of tactics and terms begin with some of these words too: with `open Classical in`, `set_option .. in`.
_ALSO_IN_PROOFS = "open|set_option|attribute|variable|universe|include|omit"
_COMMAND_WORDS = (
    r"namespace|section|end|mutual|(?:(?:public|meta|noncomputable)[ \t]+)+section|notation3?|infix[lr]?|prefix|"
    r"postfix|macro|macro_rules|syntax|declare_syntax_cat|elab|elab_rules|local|scoped|export|run_cmd|run_meta|run_elab"
)
_AT_THE_MARGIN = (
    rf"{_ALSO_IN_PROOFS}|simproc|alias|initialize|deriving|seal|unseal|add_decl_doc|(?:proof|theorem|def|instance)_wanted|"
    r"library_note|assert_not_exists|suppress_compilation|unsuppress_compilation|initialize_simps_projections|"
    r"register_\w+|declare_\w+|grind_pattern|binder_predicate"
)
_WITH_MODIFIERS = r"alias|initialize|builtin_initialize|syntax|macro|elab|notation3?|infix[lr]?|prefix|postfix|simproc"
COMMAND = re.compile(
    rf"^[ \t]*(?:{IN_FRONT}[ \t]+)*{MODIFIERS}(?:class\s+(?=(?:inductive|abbrev)\s))?"
    rf"(?P<declaration>{DECLARING})(?![\w.'])"
    rf"|^[ \t]*(?:@\[|(?P<scope>{_COMMAND_WORDS})(?![\w.'])"
    rf"|(?:{_ALSO_IN_PROOFS})(?![\w.'])(?![^\n]*[ \t]in(?![\w.'])))"
    rf"|^(?:#[a-z]|[ \t]+#exit(?![\w.'!?])|(?:{_AT_THE_MARGIN}|(?:{_MODIFIER_WORD})+(?:{_WITH_MODIFIERS}))(?![\w.']))",
    re.MULTILINE,
)
"""Matches the begin of a command in a masked text, with the keyword of a `declaration`."""
ALLOWED_AXIOMS = frozenset({"propext", "Classical.choice", "Quot.sound"})
EXPLICIT = "set_option autoImplicit false in\n"
"""Put before a theorem by `negate`: names that the statement does not bind are no variables."""
NAME = r"(?:«[^»\n]*»|[^\s:({\[⦃⟨.«$]+)(?:\.(?:«[^»\n]*»|[^\s:({\[⦃⟨.«$]+))*"
"""Matches the name of a declaration; `def $name`, in a quotation, has none."""

# `lemma` is a word of Mathlib alone: elsewhere it may be a name, as in `for lemma in lemmas`. What could precede a
# keyword is read once, whether one follows or not, so that the time grows with the length only.
_LATER_COMMAND = re.compile(
    rf"(?<=[^\s|(])[ \t]+(?P<command>(?:{IN_FRONT}[ \t]+)*+(?>{MODIFIERS})(?:(?P<keyword>"
    rf"theorem|lemma(?=\s+{NAME}\s*[:({{\[⦃])|example|def|namespace|section|end|variable|universe|\#exit)(?![\w.'])|))"
)
_PART_OF_COMMAND = re.compile(rf"[ \t]*(?:{IN_FRONT}\s*)*{MODIFIERS}\s*")


@lru_cache(maxsize=32)
def mask_for_commands(text: str) -> str:
    """Mask a text, and begin a line with each command that follows another on its line; offsets stay the same.

    The last few texts are remembered: the final check of one proof asks for its texts some twenty times.
    """
    masked = mask(text)
    pieces: list[str] = []
    position = 0
    for match in _LATER_COMMAND.finditer(masked):
        start = match.start("command")
        if match["keyword"] is None or is_quoted(masked, match.start()) or is_library_end(masked, start):
            continue
        line_start = masked.rfind("\n", 0, start) + 1
        # What stands before it may be a part of it: `open Nat in`, `@[simp] private`.
        if not _PART_OF_COMMAND.fullmatch(masked, max(line_start, position), start):
            pieces += [masked[position : start - 1], "\n"]
            position = start
    return "".join([*pieces, masked[position:]])


# -- Whether a `sorry` is a tactic or a term, and how a proof is put in its place ------------------------------------

_TACTICS_FOLLOW = re.compile(
    r"(?:(?<![\w.'])(?:by|decreasing_by|all_goals|any_goals|try|repeat1?'?|iterate(?:[ \t]+\d+)?|focus|classical|"
    r"fail_if_success|(?:pick|work_on)_goal[ \t]+\d+|with_(?:reducible(?:_and_instances)?|unfolding_all))"
    r"|·|<;>(?:[ \t]*\[)?|<\|>)\Z"
)
"""Matches the end of a text behind which Lean's grammar has a tactic: `by`, a combinator, a bullet, `t <;> [`."""
_TERM_FOLLOWS = re.compile(r"(?::=|<\||[,⟨$▸←↦]|(?<![\w.'])(?:from|exact))\Z")
"""Matches the end of a line that a term goes on from on the next one: `:=`, `<|`, an opened `⟨`, `exact`."""
_BY = re.compile(r"(?<![\w.'])by(?![\w.'])")
# An arm of `match` or `induction` that begins its line, up to its tactic or term: `| 0 => `.
_ARM = re.compile(r"[ \t]*\|[^\n]*?=>\s*")
_ARMS_OF = re.compile(r"(?<![\w.'])(match|induction|cases|rcases|fun|λ|next|case'?|on_goal)(?![\w.'])")
"""Matches the words that a `=>` may belong to: behind that of a `fun` stands a term, behind most others a tactic."""
_CHOICE = re.compile(r"(?<![\w.'])(?:first|solve)(?![\w.'])")
_IF = re.compile(r"(?<![\w.'])(?:if|else)(?![\w.'])")
_BRANCH = re.compile(r"(?<![\w.'])(?:then|else)\Z")
_BULLETS = re.compile(r"[ \t]*(?:[·.][ \t]*)*")
_SETS_COLUMN = re.compile(
    r"\{[^{}]*:=[^{}]*\Z|=>|·|(?<![\w.'])(?:(?:with|fun|λ|first)[ \t]*\||"
    r"(?:by|calc|suffices|all_goals|any_goals|try|repeat'?|focus|then|else)(?![\w.']))"
)
"""Matches what a block on the lines below has to stand to the right of: a step of `calc`, a field, a tactic's begin."""
_OPENS = re.compile(r"(?:=>|(?<![\w.'])by)\Z")
_INLINE = re.compile(r"(?:[;|]|<;>|(?<![\w.'])(?:then|else))\Z")
"""Matches the end of text that a tactic follows on its line, where several need parentheses."""


def sorries(masked: str) -> list[re.Match[str]]:
    """Find each `sorry` of a masked text, in order, and each tactic `admit`, which means the same."""
    gaps = [match for match in _SORRY.finditer(masked) if match["sorry"]]
    admits = list(_ADMIT.finditer(masked))
    if not admits:
        return gaps
    starts = [0, *(command.start() for command in COMMAND.finditer(masked))]
    for admit in admits:
        command_start = starts[bisect_right(starts, admit.start()) - 1]
        if expects_tactic(masked[command_start : admit.start()]):
            gaps.append(admit)
    gaps.sort(key=lambda match: match.start())
    return gaps


def blank_sorries(masked: str) -> str:
    """Replace each `sorry` of a masked text by a name; offsets stay the same."""
    for match in sorries(masked):
        masked = masked[: match.start()] + "_" * len("sorry") + masked[match.end() :]
    return masked


def is_tactic(masked: str, start: int) -> bool:
    """Tell whether the `sorry` at `start` of a masked text stands where a tactic is expected; else it is a term."""
    return expects_tactic(masked[_declaration_start(masked, start) : start])


def expects_tactic(text: str) -> bool:
    """Tell whether a tactic is expected behind the text of a declaration.

    Often that is so if one is expected somewhere before: at the parenthesis that was opened, at the line above.
    """
    while True:
        before = text.rstrip()
        if _TACTICS_FOLLOW.search(before):
            return True
        if before.endswith(";"):
            # In a term, `;` ends a `let` or `have`: what follows is a term if there was no `by`.
            return _BY.search(before) is not None
        if before.endswith(("{", "(")):
            text = before[:-1]
        elif before.endswith("|"):
            return _is_choice(before)
        elif _BRANCH.search(before):
            text = before[: _condition(before)]
        elif before.endswith("=>"):
            opener = _opener_of_arm(before)
            if opener is None:
                return False
            if opener.word != "match":
                return opener.word not in ("fun", "λ")
            text = before[: opener.start]  # `match` is a tactic and a term, by where it stands itself
        else:
            line = text[text.rfind("\n") + 1 :]
            if line.strip():
                # Only bullets may stand in front of a tactic on its line; `f sorry` is a term.
                return _BULLETS.sub("", line, count=1) == "" and _BY.search(before) is not None
            above = None if _TERM_FOLLOWS.search(before) else _above(before, len(line))
            if above is None:
                return False
            text = before[:above]


def _above(before: str, column: int) -> int | None:
    """Find the line above whose code begins in this column, so that a line that begins there too follows it."""
    end = len(before)
    while end >= 0:
        start = before.rfind("\n", 0, end) + 1
        line = before[start:end]
        if line.strip() and len(line) - len(line.lstrip()) <= column:
            begins = column < len(line) and not line[column].isspace()
            # Not in the middle of a name: the column has to be that of an item behind a bullet, say.
            if not begins or re.search(r"[\w.'!?]\Z", line[:column]):
                return None
            return start + column
        end = start - 1
    return None


def _is_choice(before: str) -> bool:
    """Tell whether the `|` at the end precedes one of the alternatives of `first` or `solve`."""
    for line in reversed(before.split("\n")):
        if _CHOICE.search(line):
            return _BY.search(before) is not None
        if not line.lstrip().startswith("|"):
            return False
    return False


def _condition(before: str) -> int:
    """Find the `if` whose `then` or `else` ends the text; 0 if there is none."""
    # Backwards: each `else` on the way belongs to an `if` of its own, further to the left.
    missing = 1
    for word in reversed(list(_IF.finditer(before, 0, len(before) - len("then")))):
        if word.group() == "else":
            missing += 1
        else:
            missing -= 1
        if not missing:
            return word.start()
    return 0


class _Opener(NamedTuple):
    """A word that arms belong to, and its offset."""

    start: int
    word: str


def _opener_of_arm(before: str) -> _Opener | None:
    """Find the word to which the `=>` at the end belongs, as `induction`, `match` or `fun`."""
    line_start = before.rfind("\n") + 1
    arm = _ARM.match(before, line_start)
    if arm is None or arm.end() < len(before):  # not the arrow of an arm at the beginning of the line
        return _last_opener(before, line_start, len(before))
    # Up to the line that the arms of this column hang from: it is less indented, or as much and no arm itself.
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


def _last_opener(before: str, start: int, end: int) -> _Opener | None:
    openers = list(_ARMS_OF.finditer(before, start, end))
    if not openers:
        return None
    return _Opener(openers[-1].start(), openers[-1].group())


def _fill_gap(source: str, masked: str, start: int, end: int, proof: str) -> str:
    """Replace the `sorry` at `[start, end)` by a tactic proof, indented to fit where it stands."""
    lines = proof.strip("\n").split("\n")
    line_start = source.rfind("\n", 0, start) + 1
    column = start - line_start
    before = masked[line_start:start].rstrip()
    behind = masked[end:].lstrip(" ")
    indent = _margin(masked[line_start:start])
    new_line = "\n" + " " * (indent + 2)
    # Then a line below that is indented by the usual two columns would end an outer block.
    needs_column = _SETS_COLUMN.search(_OPENS.sub("", before[indent:])) is not None
    if is_tactic(masked, start):
        opens_block = _OPENS.search(before) is not None
        shares_line = _INLINE.search(masked[:start].rstrip(" ")) is not None or behind.startswith("|")
        if len(lines) > 1 and (shares_line or (needs_column and opens_block)):
            lines = [f"({lines[0]}", *(f" {line}" for line in lines[1:-1]), f" {lines[-1]})"]
        elif len(lines) > 1 and opens_block:
            # Below the `by` or `=>`: further tactics in the column of the first may be far to the right.
            return source[:start] + new_line + new_line.join(lines) + source[end:]
        body = ("\n" + " " * column).join(lines)
    else:
        # An argument needs parentheses: `f by simp` takes what follows for a part of the `by`, also `;` and `|`.
        head, tail = "(by", ")"
        if masked[:start].rstrip().endswith((":=", "=>")) and not behind.startswith((";", "|")):
            head, tail = "by", ""
        separator = new_line
        if needs_column or len(lines) == 1:
            separator = " "
        if needs_column:
            new_line = "\n" + " " * (column + len(f"{head} "))
        body = head + separator + new_line.join(lines) + tail
    return source[:start] + re.sub(r"[ \t]+$", "", body, flags=re.MULTILINE) + source[end:]


def _margin(line: str) -> int:
    """Return the column where the tactic or term of a line begins, behind bullets."""
    match = _BULLETS.match(line)
    assert match is not None, "it matches the empty text"
    return match.end()


def _declaration_start(masked: str, start: int) -> int:
    """Find the begin of the command that `start` is part of."""
    return max((command.start() for command in COMMAND.finditer(masked, 0, start)), default=0)


# -- The declaration with the `sorry` --------------------------------------------------------------------------------

_DECLARATION = re.compile(
    rf"^(?P<before>[ \t]*(?:{IN_FRONT}[ \t]+)*)"
    rf"(?P<modifiers>{MODIFIERS})"
    r"(?P<keyword>theorem|lemma|example|def)(?![\w.'])"
    rf"(?:\s+(?P<name>{NAME})(?:\.\{{[^}}]*\}})?)?",
    re.MULTILINE,
)
_CONTEXT = re.compile(r"^[ \t]*(?:variable|include)(?![\w.'])", re.MULTILINE)
_WHERE = re.compile(r"(?<![\w.'«])where(?![\w.'»])")
# `show P from`, `show P by`: up to the first `from` or `by`, in a `P` without proofs of its own.
_SHOW = re.compile(
    r"(?<![\w.'])show\s(?:(?!:=|;|(?<![\w.'])(?:by|show)(?![\w.'])).)*(?<![\w.'])(?:from|by)(?![\w.'])", re.DOTALL
)
_ADDS_NOTHING = re.compile(rf"(?:\s|[({{·]|(?<![\w.'])(?:by|exact|refine)(?![\w.'])|{_SHOW.pattern})*", re.DOTALL)
"""Matches what may stand between `:=` and a `sorry` that is the whole proof."""
_UNIVERSES = re.compile(r"\.\{(?P<names>[^}]*)\}$")
_NEXT_COMMAND = re.compile(r"^(?!(?:where|termination_by|decreasing_by)\b)[a-zA-Z@#]", re.MULTILINE)
_LAST_PART = re.compile(r"(?:«[^»\n]*»|(?<![^.«»])[^.«»]+)\Z")
IN_FRONT_OF = re.compile(rf"^[ \t]*(?:{IN_FRONT}\s*)+\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declaration with the `sorry`, as offsets into a source: it is `[start, sorry_end)`.

    `keyword` is the offset of its keyword, `head_end` that of the end of its name, `assign` that of its `:=`. `whole`
    is true if the `sorry` is the whole proof, and not one inside of it; then `(by sorry)` is a `sorry`, too.
    """

    start: int
    keyword: int
    head_end: int
    assign: int
    sorry_start: int
    sorry_end: int
    indent: str
    name: str | None
    whole: bool


def parse_declaration(source: str, whole: bool = True) -> Declaration:
    """Find the declaration with the `sorry` in a theorem's source, and its parts.

    The `sorry` has to be the whole proof, perhaps in parentheses, behind `exact` or `show P by`; or with `whole` false
    to stand somewhere in it, and then only a bare one is the whole. Raises `SourceError`.
    """
    masked = mask_for_commands(source)
    if header := misplaced_header(masked):
        raise SourceError(f"a theorem's source holds no imports, got {header!r}")
    gaps = sorries(masked)
    if len(gaps) != 1:
        raise SourceError(f"a theorem's source needs exactly one sorry, got {len(gaps)} in {_shown(source)}")
    gap = gaps[0]
    declaration = None
    for match in _DECLARATION.finditer(masked, 0, gap.start()):
        declaration = match
    if declaration is None:
        raise SourceError(f"no theorem, lemma, example or def comes before the sorry in {_shown(source)}")
    is_example = declaration["keyword"] == "example"
    if not is_example and declaration["name"] is None:
        raise SourceError(f"the {declaration['keyword']} has no name in {_shown(source)}")
    head_end = declaration.end("keyword") if is_example else declaration.end()
    assign = find_top_level(masked, ":=", head_end)
    start, end = gap.span()
    is_in_value = 0 <= assign < start
    is_whole = False
    # A field below `where` has a `:=` of its own, behind which is no proof of the declaration.
    if is_in_value and not _WHERE.search(masked, head_end, assign) and not _goes_on(masked, start, end):
        value = assign + len(":=")
        enclosed = _nothing_but_a_sorry(masked, value, start, end) if whole else None
        if masked[value:start].strip() in ("", "by"):
            is_whole = True
        elif enclosed is not None:
            start, end = enclosed
            is_whole = True
    if not is_in_value or (whole and not is_whole):
        raise SourceError(f"the sorry is not the whole proof (`:= sorry` or `:= by sorry`) in {_shown(source)}")
    return Declaration(
        start=declaration.end("before"),
        keyword=declaration.start("keyword"),
        head_end=head_end,
        assign=assign,
        sorry_start=start,
        sorry_end=end,
        indent=_indentation(source, declaration.start("keyword")),
        name=None if is_example else declaration["name"],
        whole=is_whole,
    )


def _goes_on(masked: str, start: int, end: int) -> bool:
    """Tell whether more tactics of its block follow the `sorry` at `[start, end)`, on its line or on the next one."""
    if re.compile(r"[ \t]*(?:;|<;>)").match(masked, end):
        return True
    column = start - (masked.rfind("\n", 0, start) + 1)
    below = re.compile(r"(?:[ \t\r]*\n)+(?P<line>[ \t]*)(?=\S)").match(masked, end)
    if below is None or column == 0:  # at the margin commands begin
        return False
    return len(below["line"]) == column and COMMAND.match(masked, below.start("line")) is None


def _nothing_but_a_sorry(masked: str, value: int, start: int, end: int) -> tuple[int, int] | None:
    """Return the span of a proof from `value` on that adds nothing to its `sorry` at `[start, end)`; None if it does.

    People write `(by sorry)`, `by { sorry }`, `by exact sorry`, `show P by sorry` where they have no proof.
    """
    before = masked[value:start]
    if _ADDS_NOTHING.fullmatch(before) is None:
        return None
    for opener in reversed(re.findall(r"[({]", _SHOW.sub("", before))):
        closer = re.compile(r"\s*" + re.escape({"(": ")", "{": "}"}[opener])).match(masked, end)
        if closer is None:
            return None
        end = closer.end()
    return value + len(before) - len(before.lstrip()), end


def theorem_name(source: str) -> str | None:
    """Return the name as written in the declaration; None for an `example`."""
    return parse_declaration(source).name


def unforeseeable_name(*texts: str) -> str:
    """Derive a name from a hash of the texts, so that none of them can contain it; the same texts give the same."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"nanoproof_{digest[:24]}"


def rename_theorem(source: str, name: str) -> str:
    """Replace the last component of the theorem's name, and drop its attributes and what follows the theorem.

    An `example` becomes a theorem. What follows may refer to the theorem by its old name.
    """
    declaration = parse_declaration(source, whole=False)
    end = len(source)
    next_command = _NEXT_COMMAND.search(mask_for_commands(source), declaration.sorry_end)
    if next_command is not None:
        end = next_command.start()
    # `sorry` for an `admit`: a server lists the positions of the word that it knows.
    before_sorry = source[declaration.head_end : declaration.sorry_start]
    behind_sorry = source[declaration.sorry_end : end]
    head = source[: declaration.start] + _head(source, declaration, name)
    return head + (before_sorry + "sorry" + behind_sorry).rstrip()


def last_part(name: str) -> str:
    """Return the last component of a name, which may be a quoted one."""
    last = _LAST_PART.search(name)
    return name if last is None else last.group()


def _head(source: str, declaration: Declaration, name: str) -> str:
    if declaration.name is None:
        return f"theorem {name}"
    declared = source[declaration.keyword : declaration.head_end]
    universes = _UNIVERSES.search(declared)
    # The one modifier that Lean may insist on; the namespace stays, as its names are open in the statement.
    noncomputable = ""
    if "noncomputable" in source[declaration.start : declaration.keyword]:
        noncomputable = "noncomputable "
    head = f"{noncomputable}{declared.split()[0]} {_LAST_PART.sub(name, declaration.name)}"
    if universes is not None:
        head += universes.group()
    return head


def splice(theorem: Theorem | str, proof: str) -> str:
    """Put a tactic proof in place of the `sorry`: `:= by`, then the lines of `proof` indented below the declaration.

    Inside of a longer proof its lines stand where the `sorry` stood.
    """
    source = theorem.source if isinstance(theorem, Theorem) else theorem
    return insert_proof(source, parse_declaration(source, whole=False), proof)


def insert_proof(source: str, declaration: Declaration, proof: str) -> str:
    """Put a tactic proof in place of the `sorry` of a parsed declaration; raises `SourceError` for an empty one."""
    proof = textwrap.dedent(proof.strip("\n").expandtabs(2)).rstrip()  # Lean refuses tabs
    if not proof:
        raise SourceError(f"an empty proof cannot be spliced into {_shown(source)}")
    if not declaration.whole:
        return _fill_gap(source, mask(source), declaration.sorry_start, declaration.sorry_end, proof)
    body = textwrap.indent(proof, declaration.indent + "  ")
    return f"{up_to_value(source, declaration)}by\n{body}{source[declaration.sorry_end :]}"


def up_to_value(source: str, declaration: Declaration) -> str:
    """Return the source up to and including `:= `, which goes below the statement where a comment ends that."""
    head = source[: declaration.assign].rstrip()
    code_end = len(mask(source)[: declaration.assign].rstrip())
    last_line_of_comments = source[code_end : len(head)].rpartition("\n")[2]
    if "--" in last_line_of_comments:
        return f"{head}\n{declaration.indent}  := "
    return f"{head} := "


def before_declaration(source: str) -> str:
    """Return the source before the declaration with the `sorry`, and before what belongs to it, such as `open Nat in`.

    The rest of the source is one command. Raises `SourceError` where `parse_declaration` does.
    """
    masked = mask_for_commands(source)
    end = masked.rfind("\n", 0, parse_declaration(source, whole=False).start) + 1
    while match := IN_FRONT_OF.search(masked, 0, end):
        end = match.start()
    return source[: len(masked[:end].rstrip())]


def negate(theorem: Theorem) -> Theorem:
    """Return the theorem that the statement is false: `¬ (∀ binders, claim)`, its name with `_negated` appended.

    Names that Lean would bind by itself are errors in it: they would stand outside the negation, which would then say
    more than that the statement is false. Raises `SourceError` where the text has no negation: where `variable` lines
    take part in the statement, for a `def`, and where no type is stated.
    """
    source = theorem.source
    declaration = parse_declaration(source)
    masked = mask(source)
    # Which variables Lean takes into a statement, it decides when it has elaborated that.
    if _CONTEXT.search(masked, 0, declaration.start):
        raise SourceError(f"cannot negate a statement that depends on `variable` lines: {_shown(source)}")
    if masked.startswith("def", declaration.keyword):
        raise SourceError(f"cannot negate a definition: {_shown(source)}")
    colon = find_top_level(masked, ":", declaration.head_end)
    if colon < 0 or colon > declaration.assign:
        raise SourceError(f"cannot negate a declaration without a stated type: {_shown(source)}")
    binders = _before_closing(source[declaration.head_end : colon])
    claim = _before_closing(source[colon + 1 : declaration.assign])
    negated = f"¬ ({claim})"
    if binders:
        negated = f"¬ (∀ {binders}, {claim})"
    head = "example"
    if declaration.name is not None:
        quote = "»" if declaration.name.endswith("»") else ""
        head = f"theorem {declaration.name.removesuffix(quote)}_negated{quote}"
        universes = _UNIVERSES.search(source, declaration.keyword, declaration.head_end)
        if universes is not None:
            head += universes.group()
    before = without_documentation(source[: declaration.start], masked)
    indent = declaration.indent
    text = f"{before}{EXPLICIT}{indent}{head} : {negated} := by\n{indent}  sorry"
    return Theorem(text + source[declaration.sorry_end :], theorem.dataset, f"{theorem.id}#negated")


def _before_closing(text: str) -> str:
    """Strip a part of a statement that more follows, on a new line if a comment ends it."""
    text = text.strip()
    if "--" in text.rpartition("\n")[2]:
        return text + "\n "
    return text


def without_documentation(before: str, masked: str) -> str:
    """Remove a declaration's doc comment from what precedes it: Lean lets nothing come between the two."""
    code = len(masked[: len(before)].rstrip())
    documented = before.find("/--", code)
    if documented < 0:
        return before
    return before[:documented]


def name_examples(source: str, prefix: str = "_nanoproof_check") -> str:
    """Give each `example` of the text a theorem name, so that its axioms can be printed."""
    masked = mask_for_commands(source)
    pieces: list[str] = []
    position = 0
    for number, match in enumerate(_DECLARATION.finditer(masked)):
        if match["keyword"] == "example":
            pieces += [source[position : match.start("keyword")], f"theorem {prefix}_{number}"]
            position = match.end("keyword")
    return "".join([*pieces, source[position:]])


def _indentation(source: str, position: int) -> str:
    line = source[source.rfind("\n", 0, position) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _shown(source: str) -> str:
    text = " ".join(source.split())
    if len(text) > 120:
        text = text[:117] + "..."
    return repr(text)
