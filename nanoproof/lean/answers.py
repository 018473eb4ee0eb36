"""What a language model answered: its thoughts left out, the code block that is meant, and the tactic or proof in it.

One reader for all who ask models: policies, served candidates, rewards, and evaluations by whole proofs. No proof is
sound because it read well: a tactic is run by Lean, and of a whole text only the tactics are taken and put into the
theorem as it was given. Reading wrongly costs a proof that the model had found.
"""

import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nanoproof.lean.declarations import outline
from nanoproof.lean.lexical import (
    ASCII_SYMBOLS,
    blank_comments,
    find_arms,
    find_top_level,
    is_quoted,
    mask,
    spans,
    without_header,
)
from nanoproof.lean.source import NAME, parse_declaration, sorries
from nanoproof.lean.thoughts import SENTENCE, without_thoughts
from nanoproof.lean.types import Theorem

LONGEST_TEXT = 100_000
"""Characters of the longest text that Lean is asked about; the longest proofs of Mathlib have a tenth of that."""

MOST_SEARCHED = 20 * LONGEST_TEXT
"""Characters of the longest answer in which code blocks are looked for."""
MOST_COPIES = 8
"""Times that a text may state the theorem, from its end, to be looked at."""
LONGEST_COMMENT = 3_000
"""Characters of the longest comment in a code block that may hold fences of its own."""

# -- Code blocks -----------------------------------------------------------------------------------------------------

_FENCE = re.compile(r"(?P<mark>(?<!`)`{3,}|^[ \t>]*~{3,})(?P<info>[^\n`]*)", re.MULTILINE)
_NO_SPAN = (sys.maxsize, sys.maxsize)
_LEAN_TAGS = frozenset({"lean", "lean4", "lean3", "tactic", "tactics", "proof"})
_TEXT_OF_BLOCKS = frozenset({"markdown", "md"})
_TEXT_TAGS = frozenset({"", "text", "txt", "plain", "plaintext", "code"})
_QUOTED = re.compile(r"[ \t]*>[ \t]?")
_TAG = re.compile(r"\s*(?P<tag>[\w+#.-]*)[ \t]*(?P<rest>.*)")
_ATTRIBUTES = re.compile(r"(?:[34]?:|[34]|[({\[].*[)}\]]|\w+=\S+(?:\s+\w+=\S+)*)\s*\Z")
"""What may follow a tag that is none of the code: `lean (name := x)`, `lean title="x"`, `lean 4`, `lean4:`."""
_INLINE_CODE = re.compile(r"(?<![`\w])`([^`\s](?:[^`\n]*[^`\s])?)`(?![`\w])")
_LABEL = re.compile(
    r"\A(?:(?:the[ \t]+)?(?:next[ \t]+)?tactic(?:[ \t]+is)?|(?:final[ \t]+)?answer|assistant)[ \t]*:\s*", re.IGNORECASE
)
_LIST_MARK = re.compile(r"\A(?:[-*+]|\d+[.)])[ \t]+(?=\S)")


@dataclass(frozen=True)
class _Block:
    """A fenced block: the tag in lower case, the code, where its opening fence begins, and whether it was closed."""

    tag: str
    code: str
    start: int
    closed: bool = True

    @property
    def is_lean(self) -> bool:
        return self.tag in _LEAN_TAGS


def _blocks(text: str) -> list[_Block]:
    """Find the fenced blocks of a text, in order."""
    blocks: list[_Block] = []
    if _FENCE.search(text) is None or len(text) > MOST_SEARCHED:
        return blocks
    comments = [(start, end) for kind, start, end in spans(text) if kind == "block"]
    # Closed ones only: to a comment that never ends would belong all that follows.
    following = iter([(start, end) for start, end in comments if text.endswith("-/", start, end)])
    start, end = next(following, _NO_SPAN)
    position = 0
    while fence := _FENCE.search(text, position):
        while end <= fence.start():
            start, end = next(following, _NO_SPAN)
        if start < fence.start():  # an example in a doc comment of a file that no fence surrounds
            position = end
            continue
        block, position = _block(text, fence)
        inner: list[_Block] = []
        if block.tag in _TEXT_OF_BLOCKS:  # an answer that is in a block as a whole
            inner = _blocks(block.code)
        blocks += inner or [block]
    return blocks


def _block(text: str, fence: re.Match[str]) -> tuple[_Block, int]:
    """Read the block that a fence opens; also returns where the text goes on."""
    mark = fence["mark"].strip(" \t>")
    same_line = text.find(mark, fence.end("mark"), _line_end(text, fence.end("mark")))
    if same_line >= 0:  # ```exact h```
        tag, code = _tag_and_code(text[fence.end("mark") : same_line], "")
        return _Block(tag, code, fence.start()), same_line + len(mark)
    # Markup may follow on its line: `</final_answer>`, an end token that is none of those above.
    closing = re.compile(rf"(?<!{mark[0]}){mark[0]}{{{len(mark)},}}[ \t]*(?:$|(?=[<\[]))", re.MULTILINE)
    last_fence = _outside_comments(text, fence.end(), closing)
    body_end = end = len(text)
    if last_fence is not None:
        body_end, end = last_fence.span()
    lines = text[fence.end() : body_end].removeprefix("\n").split("\n")
    before = text[text.rfind("\n", 0, fence.start()) + 1 : fence.start()]
    margin = len(before) - len(before.lstrip(" \t"))
    if _QUOTED.fullmatch(before):  # the whole block is quoted: `> theorem ..`
        lines = [_QUOTED.sub("", line, count=1) for line in lines]
    body = "\n".join(_unindented(line, margin) for line in lines)
    tag, code = _tag_and_code(fence["info"], body)
    return _Block(tag, code, fence.start(), last_fence is not None), end


def _tag_and_code(info: str, body: str) -> tuple[str, str]:
    """Tell the tag on the line of a fence (`info`) from code that begins on it; `body` stands on the lines below."""
    parts = _TAG.match(info)
    assert parts is not None, "it matches the empty text"
    tag, rest = parts["tag"].lower(), parts["rest"].strip()
    has_body = body.strip() != ""
    # What looks like attributes is the code where no other follows.
    code = "" if has_body and _ATTRIBUTES.match(rest) else rest
    if tag not in _LEAN_TAGS and tag not in _TEXT_TAGS and (code or not has_body):
        tag, code = "", info.strip()  # the first word is none that tags blocks, but of the code: ```exact h```
    return tag, "\n".join(filter(None, [code, body]))


def _outside_comments(text: str, begin: int, closing: re.Pattern[str]) -> re.Match[str] | None:
    """Find the first closing fence outside of comments, as doc comments hold fences of their own; else the first."""
    first = closing.search(text, begin)
    fence, position = first, begin
    while fence is not None:
        last = ("", 0, 0)
        for span in spans(text[position : fence.start()]):
            last = span
        kind, start, end = last
        is_closed = position + end < fence.start() or text.endswith("-/", position, fence.start())
        if kind != "block" or is_closed:
            return fence
        comment = position + start
        _, _, length = next(spans(text[comment : comment + LONGEST_COMMENT]))
        position = comment + length
        if not text.endswith("-/", comment, position):  # it never ends
            return first
        fence = closing.search(text, position)
    return first


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _unindented(line: str, margin: int) -> str:
    return line[min(margin, len(line) - len(line.lstrip(" \t"))) :]


def _may_be_meant(block: _Block) -> bool:
    """Tell whether a block may be an answer: a state, commands that only ask Lean, and their output are none."""
    code = mask(block.code)
    lines = [line.strip() for line in code.split("\n") if line.strip()]
    return bool(lines) and "⊢" not in code and not all(line.startswith("#") for line in lines)


def _chosen(blocks: list[_Block]) -> list[_Block]:
    """Return the blocks that may be meant: those tagged as Lean, else those without a telling tag, else all others."""
    usable = [block for block in blocks if _may_be_meant(block)]
    lean = [block for block in usable if block.is_lean]
    return lean or [block for block in usable if block.tag in _TEXT_TAGS] or usable


# -- One tactic ------------------------------------------------------------------------------------------------------


def read_tactic(text: str) -> str:
    """Return the tactic of an answer: what is in the first code block that may be meant, or all of it.

    The first, and not the last: several blocks are the steps of a proof, and the first is for the state that was asked
    about. Without a block, code between single backticks in a sentence, or what follows a label or a list mark. A `by`
    before it is that of the statement: no tactic begins so.
    """
    tactic = _written_tactic(text)
    begun = _BEGUN.match(tactic)
    if begun is None or not mask(tactic[begun.end() :]).strip():
        return tactic
    return _layouts(tactic[begun.end() :], behind_by=True)[0].strip()


def _written_tactic(text: str) -> str:
    text = without_thoughts(text.replace("\r\n", "\n")).strip()
    if "```" in text or "~~~" in text:
        blocks = _blocks(text)
        if blocks and _ends_a_block(text, blocks) and SENTENCE.match(text) is None:  # one that the prompt had opened
            return text[: blocks[0].start].strip()
        if blocks:
            chosen = _chosen(blocks)
            return textwrap.dedent(chosen[0].code.strip("\n")).strip() if chosen else ""
    inline = _INLINE_CODE.findall(mask(text))
    if len(inline) == 1:
        return str(inline[0]).strip()
    return _LIST_MARK.sub("", _LABEL.sub("", text)).strip()


# -- A whole proof: from the answer to the text that is Lean ---------------------------------------------------------


class Unreadable(Exception):
    """No proof of the given theorem can be taken from a text; the message says why."""


def written_proof(theorem: Theorem, text: str) -> str:
    """Cut what a model wrote down to the part that is Lean: the last part that states the theorem, if any does.

    A text that begins in Lean, after a prompt that ended within a fenced block, ends at the first fence. Else the last
    of its blocks that may be meant counts; a text without blocks is taken whole.
    """
    text = without_thoughts(text.replace("\r\n", "\n"))
    blocks = _blocks(text)
    if not blocks:
        inline = _INLINE_CODE.findall(mask(text))
        in_words = SENTENCE.match(text.lstrip()) is not None and not _states(theorem, text)
        if len(inline) == 1 and (in_words or text.strip() == f"`{inline[0]}`"):
            return str(inline[0])
        return _without_sentences_before(theorem, text)
    before = text[: blocks[0].start].rstrip()
    parts = [_Block("", before, 0), *blocks]
    begun = _ends_a_block(text, blocks)
    if begun:  # its first fence is a closing one, so the others pair up otherwise
        parts += _blocks(text[_line_end(text, blocks[0].start) :])
    stated = [part for part in parts if _states(theorem, part.code)]
    proofs = [part for part in stated if not sorries(mask(part.code))]
    if proofs:
        of_lean = [part for part in proofs if part.is_lean or not part.tag]  # not one that is shown as mere text
        return (of_lean or proofs)[-1].code.strip("\n")
    if begun:
        return before
    chosen = _chosen([block for block in blocks if block not in stated])  # those only repeat the question
    return (chosen or stated or blocks)[-1].code.strip("\n")


def _without_sentences_before(theorem: Theorem, text: str) -> str:
    """Remove sentences of a text without blocks that come before its first command, if it states the theorem."""
    if _begins_like_a_file(blank_comments(text)) or not _states(theorem, text):
        return text
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _COMMAND_LINE.match(line):
            return "\n".join(lines[number:])
    return text


def _ends_a_block(text: str, blocks: list[_Block]) -> bool:
    """Tell whether the first fence of a text ends a block that the prompt had opened."""
    first = blocks[0]
    fence = _FENCE.match(text, first.start)
    before = text[: first.start].rstrip()
    if fence is None or fence["info"].strip() or not before or before.endswith(":"):
        return False
    # Taken for an opening one, it leaves a block without an end or has a tagged fence inside: or Lean came before it.
    nested = any(inner["info"].strip() for inner in _FENCE.finditer(first.code))
    indented = before.lstrip("\n")[:1].isspace()
    return nested or not blocks[-1].closed or indented


_KEYWORD = re.compile(r"(?<![\w.'«])(?:theorem|lemma|example|def|instance|abbrev)(?![\w.'»])")
_HEADER_LINE = re.compile(
    r"(?:import|universe|set_option|open)[ \t][^\n]*|"
    r"(?:(?:noncomputable|public|meta)[ \t]+)*section"
)
_COMMAND_LINE = re.compile(
    r"(?:import|public|open|set_option|universe|namespace|section|noncomputable|variable|theorem|lemma|example|def|"
    r"abbrev|instance|axiom|local|macro|notation|end|private|protected|nonrec|structure|inductive|class|attribute|"
    r"include|omit|mutual|syntax|scoped|infixl?|infixr|prefix|postfix)(?![\w.'])|@\[|#\w"
)
_NO_TACTIC = re.compile(rf"(?!open|set_option)(?:{_COMMAND_LINE.pattern})")
_VALUE = re.compile(r"\s*:=")
_BY = re.compile(r"\s*by(?![\w.'!?])")
_BEGUN = re.compile(rf":=(?:{_BY.pattern})?|{_BY.pattern}")
_WHERE = re.compile(r"(?<![\w.'«])where(?![\w.'»])")
_SCOPE = re.compile(r"(?<![\w.'])(?:namespace|section|mutual)(?![\w.'])")
_NAMESPACE_OF_TWO = re.compile(r"^[ \t]*namespace[ \t]+[^\s«»]*\.[^\s«»]+", re.MULTILINE)
_MODIFIERS = re.compile(r"(?:(?<![\w.'])(?:private|protected|public|noncomputable|nonrec)\s+)+\Z")
_END = re.compile(r"end(?![\w.'])[^\n]*")


@dataclass(frozen=True)
class _Head:
    """A declaration in a text: its keyword's offset, its statement without blanks, and where its value begins.

    That is behind `:=`, behind `where`, or (`arms`) the line break before the arms of equations, `| 0 => ..`.
    """

    start: int
    statement: str
    value: int
    form: Literal["term", "arms", "where"] = "term"

    def term(self, value: str) -> str:
        """Write what stands at the value as a term."""
        if self.form == "where":
            return f"{{\n{value}\n}}"
        return f"fun{value}" if self.form == "arms" else value


# The proof is put into the theorem as it was given: to read two forms as one accepts nothing that is not proved.
_ONE_WAY = {**ASCII_SYMBOLS, "λ": "fun", "=>": "↦", "ℕ": "Nat", "ℤ": "Int", "ℚ": "Rat", "ℝ": "Real", "ℂ": "Complex"}
_IN_OF_SUM = re.compile(r"([∑∏][^,]*?)\sin(?=\s)")
"""Matches how Mathlib wrote `∑ i ∈ s` until 2024."""
# They may be left out: Lean names universes by itself.
_UNIVERSES_OF_NAME = re.compile(rf"(\A\s*{NAME})\.\{{[^}}]*\}}")


def _heads(text: str) -> Iterator[_Head]:
    """Yield the declarations of a text, the last first."""
    code, masked = blank_comments(text), mask(text)
    end = len(text)
    for keyword in reversed([word for word in _KEYWORD.finditer(masked) if not is_quoted(masked, word.start())]):
        assign = find_top_level(masked[:end], ":=", keyword.end())
        arms = find_arms(masked, keyword.end(), assign if assign >= 0 else end)
        fields = _WHERE.search(masked, keyword.end(), assign if assign >= 0 else end)
        end = keyword.start()
        if arms >= 0:
            yield _Head(end, _statement_of(code[keyword.end() : arms]), arms, "arms")
        elif fields is not None:  # the first `:=` is that of a field
            yield _Head(end, _statement_of(code[keyword.end() : fields.start()]), fields.end(), "where")
        elif assign >= 0:
            yield _Head(end, _statement_of(code[keyword.end() : assign]), assign + 2)


@dataclass(frozen=True)
class _Given:
    """What a source holds before the keyword of its theorem, its statement without blanks, and what follows.

    There are several statements where namespaces are open: with the name as it is written, up to the full one.
    """

    before: str
    statements: tuple[str, ...]
    after: str


def _given(theorem: Theorem) -> _Given | None:
    """Return the parts of a theorem's source, without comments; None where its `sorry` is not the whole proof."""
    given = parse_declaration(theorem.source, whole=False)
    if not given.whole:
        return None
    code = blank_comments(theorem.source)
    statement = _statement_of(re.sub(r"^\w+", "", code[given.keyword : given.assign]))
    statements = [statement]
    for declared in outline(theorem.source).declarations:
        if declared.head == given.keyword:
            own = declared.name.removeprefix("_root_.")
            spaces = declared.full_name.removesuffix(own).split(".")[:-1]
            rest = statement.removeprefix(_compact(declared.name))
            for count in range(len(spaces) + 1):
                statements.append(_compact(".".join([*spaces[count:], own])) + rest)
    return _Given(code[: given.keyword], tuple(statements), code[given.sorry_end :])


def _statement_of(code: str) -> str:
    """Return name and statement of a theorem without blanks, and without the universes behind its name."""
    return _compact(_UNIVERSES_OF_NAME.sub(r"\1", code))


def _states(theorem: Theorem, text: str) -> bool:
    """Tell whether a text states the theorem."""
    if len(text) > LONGEST_TEXT or _KEYWORD.search(text) is None:
        return False
    given = _given(theorem)
    return given is not None and any(head.statement in given.statements for head in _heads(text))


# -- A whole proof: from the text to the tactics ---------------------------------------------------------------------


def read_proofs(theorem: Theorem, text: str) -> list[str]:
    """Return the blocks of tactics that a text may stand for, likeliest first; `text` is that of `written_proof`.

    There are two where the first line began on the line of the prompt, and so does not show how far it is indented.
    Raises Unreadable where there is none: the text is empty or too long, or states another theorem or several.
    """
    if len(text) > LONGEST_TEXT:
        raise Unreadable(f"the text has {len(text):,} characters; a proof may have {LONGEST_TEXT:,}")
    if not mask(text).strip():
        raise Unreadable("the text is empty")
    value = _restated(theorem, text)
    is_value = value is not None  # what stands behind a `:=`, where tactics stand behind `by` only
    if value is None:
        value = _without_commands_behind(text)
        begun = _VALUE.match(value)
        if begun is not None:
            value, is_value = value[begun.end() :], True
    block = _BY.match(blank_comments(value))
    if block is None and is_value:
        return [f"exact ({textwrap.dedent(value).strip()}\n)"]
    proof = value if block is None else value[block.end() :]
    if not mask(proof).strip():
        raise Unreadable("the proof is empty")
    return _layouts(proof, behind_by=block is not None)


def _layouts(proof: str, behind_by: bool) -> list[str]:
    """Return the ways in which the lines of a proof may belong together; `behind_by` if it began behind that word."""
    first, newline, rest = proof.rstrip().partition("\n")
    if not mask(first).strip():
        return [textwrap.dedent(rest)]
    if not newline:
        return [first.strip()]
    lines = [line for line in mask(rest).split("\n") if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    inner = len(first) - len(first.lstrip())
    # One tactic over several lines, whose first is whole: before it is more than the blank behind a prompt's `by`.
    if not behind_by and 1 < inner < margin:
        return [textwrap.dedent(proof.rstrip())]
    if margin == 0 or (inner == margin and proof[:1] == " " and margin > 1):
        return [textwrap.dedent(f"{' ' * margin}{first.strip()}\n{rest}")]
    aligned, nested = f"{' ' * margin}{first.strip()}\n{rest}", f"{first.strip()}\n{rest}"
    return [textwrap.dedent(aligned), nested]


def _restated(theorem: Theorem, text: str) -> str | None:
    """Return what stands after the `:=` of a text that states the theorem again; None if it states none.

    Raises Unreadable if it states another one, and if it does more than the source does before it.
    """
    text = without_header(text)  # what a text imports is no matter: nothing but its proof is taken over
    code = blank_comments(text)
    if _KEYWORD.search(mask(text)) is None:
        return None
    given, is_file = _given(theorem), _begins_like_a_file(code)
    if given is None:
        if is_file:
            raise Unreadable("the text states a theorem, and was to fill a gap within a proof")
        return None
    heads = list(_heads(text))
    same = [head for head in heads if head.statement in given.statements]
    # The last one whose context is the source's: a statement may occur twice, as a first try or as an `example`.
    extra = ""
    for head in same[:MOST_COPIES]:
        before = code[: head.start]
        extra = _more_than(before, given.before)
        if not extra:
            return head.term(_without_end(text[head.value :], given.after, before))
    if not is_file:
        return None
    if extra:
        raise Unreadable(f"the text holds more than the theorem and its proof: `{extra[:100]}`")
    if not heads:
        raise Unreadable("the text states a theorem and has no proof of it")
    words = " ".join(code[heads[0].start : heads[0].value - 2].split())
    raise Unreadable(f"the text states another theorem than the given one: {words[:200]}")


def _begins_like_a_file(code: str) -> bool:
    """Tell whether a text begins with a command: tactics begin otherwise."""
    first = next((line.strip() for line in code.split("\n") if line.strip()), "")
    return _COMMAND_LINE.match(first) is not None


def _more_than(before: str, given: str) -> str:
    """Return the first line before a theorem that neither its source has there nor a usual header; else "".

    A model may leave out some of what the source holds, or break its lines elsewhere: none of this is taken over.
    """
    ours, own = _lines(_MODIFIERS.sub("", given)), _lines(_MODIFIERS.sub("", before))
    whole = _compact("\n".join(ours))
    if whole.endswith(_compact("\n".join(own))):
        return ""
    rest = iter(ours)
    for line in own:
        if line not in rest:  # takes lines up to this one: what follows must come after it in the source as well
            return next((other for other in own if other not in ours), line)
    return ""


def _lines(code: str) -> list[str]:
    """List the lines of code that are not blank and no header, with single blanks; `namespace A.B` is two."""
    code = _NAMESPACE_OF_TWO.sub(lambda line: "\nnamespace ".join(line.group().split(".")), code)
    lines = [" ".join(line.split()) for line in code.split("\n") if line.strip()]
    return [line for line in lines if not _HEADER_LINE.fullmatch(line)]


def _without_end(value: str, after_source: str, before: str) -> str:
    """Remove from a proof what comes after the theorem: commands, sentences, and what the source has there.

    No line of a proof that is indented begins a command at the margin: there Lean ends the proof.
    """
    margin = _indent(before.rpartition("\n")[2])
    has_begun = False
    for number, line in enumerate(mask(value).split("\n")):
        code = line.strip()
        at_the_margin = _indent(line) <= margin
        if has_begun and at_the_margin and (_COMMAND_LINE.match(code) or SENTENCE.match(code)):
            value = _up_to_code("\n".join(value.split("\n")[:number]))
            break
        if code and not has_begun and code != "by":
            has_begun = True
            # Tactics at the margin may look like commands; those behind a `by` at the margin are not there.
            if number > 0 and at_the_margin and not code.startswith("by "):
                break
    # From the last line up: what the source has after the theorem, and an `end` for each scope opened before it.
    after = _lines(after_source)
    has_scopes = _SCOPE.search(before) is not None
    if not has_scopes and not after:
        return value
    lines = value.rstrip().split("\n")
    while len(lines) > 1:
        code = mask("\n".join(lines)).rsplit("\n", 1)[-1].strip()
        if after and " ".join(code.split()) == after[-1]:
            after.pop()
        elif code and not (has_scopes and _END.fullmatch(code)):
            break
        lines.pop()
    return "\n".join(lines)


def _without_commands_behind(proof: str) -> str:
    """Remove from a proof without its statement the commands behind it: a model may go on with the next theorem."""
    lines = proof.split("\n")
    following: re.Pattern[str] | None = None
    for number, line in enumerate(mask(proof).split("\n")):
        if following is not None and following.match(line):
            return _up_to_code("\n".join(lines[:number]))
        if following is None and line.strip():
            # At the margin tactics begin with some of these words, too: `open Nat in simp`.
            following = _COMMAND_LINE if _indent(line) else _NO_TACTIC
    return proof


def _up_to_code(proof: str) -> str:
    """Remove what follows the last code: comments there may be the documentation of what came next."""
    return proof[: len(blank_comments(proof).rstrip())]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _compact(code: str) -> str:
    """Remove blanks, and write symbols one way: models write `→` for a `->` of the question, or in turn."""
    code = "".join(_IN_OF_SUM.sub(r"\1∈", code).split())
    for form, symbol in _ONE_WAY.items():
        code = code.replace(form, symbol)
    return code
