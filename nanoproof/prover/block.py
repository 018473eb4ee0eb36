"""Whether a text is one block of tactics: nothing ends the block early, and nothing hides where it ends.

The final check puts a proof between parentheses, where Lean's parser takes no commands. What remains is that the proof
does not close these parentheses itself, and that is counted here. So nothing may stand in a proof that our few lexical
rules and Lean could read differently: it is refused, although it may be harmless.
"""

import re
import unicodedata

from nanoproof.lean.lexical import blank, mask, spans

_QUERIES = (
    r"#(?:eval!?|check\w*|print\w*|reduce|exit|synth|guard\w*|help|where|version|find|lint|time|widget|html|simp|"
    r"norm_num|conv|unfold|instances|lookup|minimize_imports|redundant_imports|count_heartbeats|explode|long_names|"
    r"string_diagram|import\w*|with_exporting|dump_async_env_state|discr_tree_key|show_deprecated\w*|search|loogle|"
    r"moogle|leansearch|min_imports|sample|test|parse|trans_imports|grind_lint)(?!\w)"
)
"""Commands that begin with `#`, which is an operator too (`#univ`)."""
COMMAND = re.compile(
    rf"(?<![\w.'«])(?:{_QUERIES}|@\[|(?:"
    r"theorem|lemma|example|def|abbrev|instance|axiom|opaque|inductive|coinductive|structure|class|macro|"
    r"macro_rules|notation3?|infix[lr]?|prefix|postfix|syntax|elab|elab_rules|elab_stx|attribute|namespace|"
    r"with_weak_namespace|section|end|mutual|variable\??|universe|import|export|initialize(?:_simps_projections)?|"
    r"builtin_(?:initialize|d?simproc(?:_decl)?|grind_propagator)|"
    r"declare_\w+(?:_cat|_elab|_tactic|_sets|_simprocs)|"
    r"register_(?:builtin_option|option|hint|tactic_tag|\w+_attr|\w+_alias)|deriving|d?simproc(?:_decl)?|"
    r"unif_hint|binder_predicate|grind_pattern|grind_propagator|alias|unsafe|partial|noncomputable|private|"
    r"protected|nonrec|run_cmd|run_elab|run_meta|add_decl_doc|extend_docs|library_note|tactic_extension|"
    r"recommended_spelling|init_quot|proof_wanted|irreducible_def|mk_iff_of_inductive_prop|"
    r"compile_(?:inductive|def)%|gen_injective_theorems%|(?:un)?suppress_compilation|(?:add|erase)_aesop_rules|"
    r"assert_(?:not_)?(?:exists|imported)|norm_cast_add_elim|show_panel_widgets|termination_by|decreasing_by|omit|"
    r"include|(?:local|scoped(?:\[\S+\])?)\s+(?:instance|notation3?|macro|attribute|infix[lr]?|prefix|postfix|"
    r"simproc|syntax|elab))(?![\w.'!?]))"
)
"""Words that begin commands (or belong to them), wherever they stand: a command may follow a tactic on its line."""
_RAW = re.compile(r'r#*"')
_CHARACTER = re.compile(r"""'\\?[]()[{}⟨⟩⦃⦄«»"]'""")
_BEFORE_COMMENT = re.compile(r"[\w\s)\]}⟩,;'\"»]")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def block_reason(proof: str) -> str | None:
    """Why the text is not (or not surely) one block of tactics; None if it is."""
    code, hidden = code_of(proof)
    if code and (command := COMMAND.search(code)):
        return f"`{' '.join(command.group().split())}` begins a command, which a proof may not hold"
    return hidden or _unbalanced(code)


def code_of(text: str, docs: bool = False) -> tuple[str, str | None]:
    """The text without comments, literals and quoted names, and why Lean might see other ones; offsets stay the same.

    The code is empty where a character cannot be seen. `docs` says that documentation may stand in it.
    """
    for char in text:
        if char != "\n" and unicodedata.category(char) in _UNSEEN:
            return "", f"U+{ord(char):04X} is a character that cannot be seen"
    code, uncommented, reason = list(text), list(text), ""
    for kind, start, end in spans(text):
        part = text[start:end]
        code[start:end] = blank(part)
        if kind in ("line", "block"):
            uncommented[start:end] = blank(part)
        reason = reason or _suspicion(kind, part, text[max(0, start - 1) : start], docs)
    return "".join(code), reason or _hidden("".join(code), "".join(uncommented))


def _hidden(code: str, uncommented: str) -> str | None:
    """What in the text hides where a block ends."""
    if _RAW.search(uncommented):
        return "a raw string hides where it ends"
    if _CHARACTER.search(uncommented):
        return "a character literal hides where a block ends"
    if "«" in code or "»" in code:
        return "a quoted name has no end"
    return "`-/` ends a comment that was not begun" if "-/" in code else None


def _suspicion(kind: str, text: str, before: str, docs: bool) -> str:
    """Why Lean might see another end of a comment or literal than we do; `before` is the character before it."""
    if kind in ("line", "block") and before and not _BEFORE_COMMENT.match(before):
        return "a comment begins within an operator"
    if kind in ("block", "string") and mask(text + ".")[-1] != ".":
        return f"a {'comment' if kind == 'block' else kind} has no end"
    if kind == "block" and text[2] in "-!/" and not docs:
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
