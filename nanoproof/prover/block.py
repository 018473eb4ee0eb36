"""Whether a text is one block of tactics: nothing ends the block early, and nothing hides where it ends.

The final check puts a proof between parentheses, where Lean's parser takes no commands. What remains is that the proof
does not close these parentheses itself, and that is counted here. So nothing may stand in a proof that our few lexical
rules and Lean could read differently: it is refused, although it may be harmless.
"""

import re
import unicodedata

from nanoproof.lean.lexical import blank, mask, spans

_QUERIES = (
    r"#(?:eval|check\w*|print\w*|reduce|exit|synth|guard\w*|help|where|version|find|lint|time|widget|html|simp|norm_num|"
    r"conv|unfold|instances|lookup|minimize_imports|redundant_imports|count_heartbeats|explode|long_names|"
    r"string_diagram)(?!\w)"
)
"""Commands that begin with `#`, which is an operator too (`#univ`)."""
_COMMAND = re.compile(
    rf"(?<![\w.'«])(?:{_QUERIES}|@\[|(?:theorem|lemma|example|def|abbrev|instance|axiom|opaque|inductive|structure|"
    r"class|macro|macro_rules|notation3?|infix[lr]?|prefix|postfix|syntax|elab|elab_rules|attribute|namespace|section|"
    r"end|mutual|variable|universe|import|export|initialize|builtin_initialize|declare_syntax_cat|deriving|simproc|"
    r"alias|unsafe|partial|noncomputable|private|protected|nonrec|run_cmd|add_decl_doc|proof_wanted|irreducible_def|"
    r"termination_by|decreasing_by|omit|include|local\s+(?:instance|notation|macro|attribute|infix[lr]?|prefix|postfix|"
    r"simproc|syntax|elab))(?![\w.'!?]))"
)
"""Words that begin commands (or belong to them), wherever they stand: a command may follow a tactic on its line."""
_RAW = re.compile(r'r#*"')
_CHARACTER = re.compile(r"""'\\?[]()[{}⟨⟩⦃⦄«»"]'""")
_BEFORE_COMMENT = re.compile(r"[\w\s)\]}⟩,;'\"»]")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def block_reason(proof: str) -> str | None:
    """Why the text is not (or not surely) one block of tactics; None if it is."""
    for char in proof:
        if char != "\n" and unicodedata.category(char) in _UNSEEN:
            return f"U+{ord(char):04X} is a character that cannot be seen"
    code, uncommented, reason = _code(proof)
    if command := _COMMAND.search(code):
        return f"`{' '.join(command.group().split())}` begins a command, which a proof may not hold"
    if reason:
        return reason
    if _RAW.search(uncommented):
        return "a raw string hides where it ends"
    if _CHARACTER.search(uncommented):
        return "a character literal hides where a block ends"
    if "«" in code or "»" in code:
        return "a quoted name has no end"
    if "-/" in code:
        return "`-/` ends a comment that was not begun"
    return _unbalanced(code)


def _code(proof: str) -> tuple[str, str, str]:
    """The proof without comments, literals and quoted names; without comments only; what is wrong with these."""
    code, uncommented, reason = list(proof), list(proof), ""
    for kind, start, end in spans(proof):
        text = proof[start:end]
        code[start:end] = blank(text)
        if kind in ("line", "block"):
            uncommented[start:end] = blank(text)
        reason = reason or _suspicion(kind, text, proof[:start])
    return "".join(code), "".join(uncommented), reason


def _suspicion(kind: str, text: str, before: str) -> str:
    """Why Lean might see another end of a comment or literal than we do."""
    if kind in ("line", "block") and before and not _BEFORE_COMMENT.match(before[-1]):
        return "a comment begins within an operator"
    if kind in ("block", "string") and mask(text + ".")[-1] != ".":
        return f"a {'comment' if kind == 'block' else kind} has no end"
    if kind == "block" and text[2] in "-!/":
        return "a documentation comment is no tactic"
    if kind == "string" and "{" in text:
        return "a string may hold a term between `{` and `}`"
    if kind in ("raw", "char"):
        return "a literal hides where it ends"
    return ""


def _unbalanced(code: str) -> str | None:
    depth = 0
    for char in code:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return "`)` closes a parenthesis that the proof did not open"
    return "`(` is not closed" if depth else None
