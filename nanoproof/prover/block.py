"""Whether a text is one block of tactics: nothing ends the block early, and nothing hides where it ends.

The final check puts a proof between parentheses, where Lean's parser takes no commands. What remains is that the proof
does not close these parentheses itself, and that is counted here. So nothing may stand in a proof that our few lexical
rules and Lean could read differently: it is refused, although it may be harmless.
"""

import re
import unicodedata

from nanoproof.lean.lexical import blank, mask, spans

_QUERIES = r"""
    aesop_rules aesop_stats allow_unused_tactic check\w* clear_deprecations click_suggestions conv
    count_heartbeats!? defeq_abuse discr_tree\w* dump_async_env_state eval!? exit explode find(?:_home|_syntax)?
    grind_lint guard\w* help html import\w* info_trees instances kerodon_tags leansearch lint list_linters
    lmfdb_tags long_instances long_names lookup loogle min_imports minimize_imports moogle norm_num parse
    print\w* pull push(?:_discr_tree)? redundant_imports reset_min_imports reduce rw\?\? sample search show_\w+
    simp stacks_tags string_diagram synth test time trans_imports unfold\?? version whats_new where whnfR?
    widget wikidata_tags with_exporting
"""
_WORDS = r"""
    theorem lemma example def abbrev instance axiom opaque inductive coinductive structure class
    (?:theorem|def|instance|proof)_wanted irreducible_def alias export import initialize(?:_simps_projections)?
    builtin_initialize init_quot private protected noncomputable nonrec partial unsafe deriving mutual namespace
    with_weak_namespace section end variables? variable\? universe include omit attribute seal unseal
    unset_option unlock_limits sudo macro macro_rules notation3? infix[lr]? prefix postfix syntax elab
    elab_rules elab_stx(?:_quot)? binder_predicate unif_hint declare_syntax_cat
    (?:builtin_)?(?:cbv_|d)?simproc(?:_decl|_pattern%)? (?:builtin_)?grind_propagator grind_pattern
    grind_annotated init_grind_norm reset_grind_attrs% run_cmd run_elab run_meta
    declare_(?:\w+_elab|\w+_elab_legacy|simp_like_tactic|aesop_rule_sets|\w+_simprocs|\w*int_theorems)
    register_(?:builtin_option|option|hint|tactic_tag|error_explanation|linter_set|\w+_attr|\w+_alias|sym_d?simp|try\?_tactic)
    def_eval_config_item docs_to_verso (?:un)?suppress_compilation compile_(?:inductive|def)%
    gen_injective_theorems% mk_iff_of_inductive_prop (?:add|erase)_aesop_rules
    assert_(?:no_sorry|exists|not_exists|imported|not_imported) add_decl_doc extend_docs library_note
    recommended_spelling tactic_extension norm_cast_add_elim show_panel_widgets deprecate deprecated_module
    deprecated_syntax guard_min_heartbeats insert_to_additive_translation lrat_proof name_(?:poly|power)_vars
    recall set_library_suggestions to_additive_name_hint to_dual_(?:insert_cast(?:_fun)?|name_hint) whatsnew
    termination_by decreasing_by
    (?:local|scoped(?:\[\S+\])?)\s+(?:instance|notation3?|macro|attribute|infix[lr]?|prefix|postfix|simproc|syntax|elab)
"""
"""What begins commands, or belongs to them, in Lean v4.34 with Mathlib (`#help command` lists them there). `#` alone is
an operator, too (`#univ`)."""
COMMAND = re.compile(
    rf"(?<![\w.'«])(?:#(?:{'|'.join(_QUERIES.split())})(?!\w)|@\[|(?:{'|'.join(_WORDS.split())})(?![\w.'!?]))"
)
"""Commands wherever they stand: one may follow a tactic on its line."""
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
