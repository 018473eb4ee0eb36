"""Checks of tactics, proofs and files before Lean sees them: banned words, one block of tactics, plain declarations.

The final check puts a proof between parentheses, where Lean's parser accepts no commands. It remains to check that the
proof does not close these parentheses itself. So a proof may contain nothing that our few lexical rules and Lean could
read differently: it is refused, although it may be harmless.

Lean executes code in what it reads: `#eval` and `initialize` do anything, `macro`, `notation` and `elab` change the
meaning of what follows, an `instance` that of a statement. So a file of unknown origin is read here first, and given to
Lean only if each of its commands is one of a few. Commands are found wherever they are, also behind a tactic on its
line, by the words that begin them (`COMMAND`); a declaration must begin its line, so that its name is known. No list of
words is complete for a language that libraries extend: see docs/checking.md for the further checks.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence

from nanoproof.lean import declarations as reader
from nanoproof.lean.lexical import blank, mask, spans
from nanoproof.lean.source import ATTRIBUTES, NAME, PLAIN_IN_FRONT

# -- Banned words ----------------------------------------------------------------------------------------------------

_GAPS = ("sorry", "admit", "sorryAx", "include_str", "unsafe")
# `native_decide` and its like trust the compiler (the axiom `Lean.ofReduceBool`); the others run any code of a proof.
_KEYWORDS = (
    "native_decide", "bv_decide", "run_tac", "run_conv", "by_elab", "run_cmd", "run_elab", "run_meta",
)  # fmt: skip
"""Banned wherever they end a word: Lean takes them for keywords behind a dot or a numeral too."""
# Names by which compiled code, or an attribute that exchanges it, stands in for what the kernel would check.
_NAMES = (
    "sorryAx", "ofReduceBool", "ofReduceNat", "reduceBool", "reduceNat", "trustCompiler", "implemented_by", "extern",
    "csimp", "unsafeCast", "unsafeIO", "unsafeBaseIO", "unsafeEIO", "unsafePerformIO", "lcProof", "lcUnreachable",
)  # fmt: skip
_OPTIONS = r"(?:maxHeartbeats|maxRecDepth|synthInstance\.max\w+|exponentiation\.threshold|linter\.[\w.]+)(?![\w.'])"
"""Options that a proof may set: limits and warnings. Others change what is checked (`debug.*`) or shown (`pp.*`)."""
# They may search for seconds, and what they find is in a message, for the user to write down.
_SEARCH = (
    "apply?", "rw?", "rw??", "rw_search", "rewrite?", "exact?", "try?", "simp?", "simp!?", "simp_all?", "simp_all!?",
    "simpa?", "simpa!?", "dsimp?", "dsimp!?", "norm_num?", "grind?", "aesop?", "show_term", "observe?", "have?", "hint",
    "polyrith", "plausible", "slim_check",
)  # fmt: skip
_BANNED = re.compile(
    # A dot with nothing before it is a bullet: `.sorry`.
    r"(?:(?<![\w'«])(?<!\S\.)|(?<=_root_\.))(?:(?P<gap>" + "|".join(map(re.escape, _GAPS)) + r")(?![\w.'?!])"
    r"|(?P<search>" + "|".join(map(re.escape, _SEARCH)) + r")(?![\w.'])"
    r"|native\s*:=)"
    r"|(?:\+native|" + "|".join(_KEYWORDS) + r")(?![\w.'?!])"
    r"|(?<![\w'])(?P<name>" + "|".join(map(re.escape, _NAMES)) + r")(?![\w'?!])"
    # `stop` is `repeat sorry`, and a name too: it is a tactic for certain where a text begins with it.
    r"|\A\s*stop(?=\s)"
    r"|set_option(?![\w.'?!])\s*(?!\s|" + _OPTIONS + r")\S*"
)
# `«sorryAx»` is the name `sorryAx`: quotes must hide nothing.
_QUOTED_WORD = re.compile(r"(\.?)«([\w.'?!]+)»(?=(\.?))")
_INTERPOLATED = re.compile(r'[a-z]!"(?:[^"\\]|\\.)*"')
_HAVE = re.compile(r"(?<![\w.'«])have(?:I|')?(?![\w.'?!])")


def banned_word(text: str) -> str | None:
    """Find a word that no text with proofs may contain, and return why; None if there is none.

    Comments do not count, nor do strings, but for the terms in interpolated ones.
    """
    holes = " ".join(_INTERPOLATED.findall(text))  # such strings hold terms between braces
    if found := _BANNED.search(_unquoted(mask(text))) or _BANNED.search(_unquoted(holes)):
        if found["search"]:
            return f"`{found['search']}` searches instead of proving"
        return f"`{found.group()}` is not allowed in a proof"
    return None


def _unquoted(text: str) -> str:
    """Remove the quotes of names, and separate a name from its surroundings: a quote ends a keyword."""
    return _QUOTED_WORD.sub(lambda m: (m[1] or " ") + m[2] + ("" if m[3] else " "), text)


def banned_reason(tactic: str) -> str | None:
    """Return why a tactic (or a whole proof) is refused before Lean sees it; None if it is not."""
    if reason := banned_word(tactic):
        return reason
    masked = mask(tactic)
    # A `have` with no `:` after it, neither of a type nor of `:=`, claims nothing: a REPL takes `have h` in the middle
    # of a proof and makes a goal of a bare metavariable, which any term that Lean's search hits on closes; Lean
    # refuses the finished file. `have h := e` and `have ⟨x, h⟩ := e` have the type of `e`: every server takes them.
    for have in _HAVE.finditer(masked):
        if ":" not in masked[have.end() :]:
            return "`have` without a type or value"
    return None


# -- Proofs as one block of tactics ----------------------------------------------------------------------------------

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
"""Words that begin commands, or belong to them, in Lean v4.34 with Mathlib (as listed by `#help command`). `#` alone is
an operator, too (`#univ`)."""
COMMAND = re.compile(
    rf"(?<![\w.'«])(?:#(?:{'|'.join(_QUERIES.split())})(?!\w)|@\[|(?:{'|'.join(_WORDS.split())})(?![\w.'!?]))"
)
"""Matches the first word of a command, wherever it is: one may follow a tactic on its line."""
# What may hide a quote, a bracket or the end of a comment from rules as few as ours.
_RAW = re.compile(r'r#*"')
_CHARACTER = re.compile(r"""'\\?[]()[{}⟨⟩⦃⦄«»"]'""")
# No token of Lean or Mathlib has an opening bracket and then `-` or `/`.
_BEFORE_COMMENT = re.compile(r"[\w\s()\[\]{}⟨⟩,;'\"»]")
# Control, format, surrogate and line-separating characters: a reader of the proof would not see them.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def block_reason(proof: str) -> str | None:
    """Return why a proof is not (or not certainly) one block of tactics; None if it is."""
    code, hidden = code_of(proof)
    if code and (command := COMMAND.search(code)):
        return f"`{' '.join(command.group().split())}` begins a command, which a proof may not hold"
    return hidden or _unbalanced(code)


def code_of(text: str, docs: bool = False) -> tuple[str, str | None]:
    """Replace comments, literals and quoted names by spaces, and return why Lean might find other ones, or None.

    Offsets stay the same. The code is empty if a character is invisible. `docs` allows documentation comments.
    """
    for char in text:
        if char != "\n" and unicodedata.category(char) in _UNSEEN:
            return "", f"U+{ord(char):04X} is a character that cannot be seen"
    code, uncommented, reason = list(text), list(text), ""
    for kind, start, end in spans(text):
        part = text[start:end]
        code[start:end] = blank(part)
        # Strings stay in the second text: that they begin where we think they do is what the tests below are about.
        if kind in ("line", "block"):
            uncommented[start:end] = blank(part)
        reason = reason or _suspicion(kind, part, text[max(0, start - 1) : start], docs)
    return "".join(code), reason or _hidden("".join(code), "".join(uncommented))


def _hidden(code: str, uncommented: str) -> str | None:
    """Return what in the text may hide the end of a block; None if nothing does."""
    if _RAW.search(uncommented):
        return "a raw string hides where it ends"
    if _CHARACTER.search(uncommented):
        return "a character literal hides where a block ends"
    if "«" in code or "»" in code:
        return "a quoted name has no end"
    return "`-/` ends a comment that was not begun" if "-/" in code else None


def _suspicion(kind: str, text: str, before: str, docs: bool) -> str:
    """Return why Lean might see another end of a comment or literal, or ""; `before` is the character before it."""
    if kind in ("line", "block") and before and not _BEFORE_COMMENT.match(before):
        return "a comment begins within an operator"
    if kind == "string" and "{" in text:
        return "a string may hold a term between `{` and `}`"
    # Whatever follows one that is closed is code.
    if kind in ("block", "string") and mask(text + ".")[-1] != ".":
        return f"a {'comment' if kind == 'block' else kind} has no end"
    if kind == "block" and text[2] in "-!/" and not docs:
        return "a documentation comment is no tactic"
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


# -- Files of plain declarations -------------------------------------------------------------------------------------

IMPORTS = ("Init", "Std", "Lean", "Batteries", "Mathlib")
"""Modules that a file may import by default, with those below them."""

_PLAIN = frozenset({"theorem", "lemma", "example", "def", "abbrev"})
_SCOPES = frozenset({"namespace", "section", "end", "variable", "universe", "include", "omit"})
_MODIFIERS = frozenset({"protected", "noncomputable", "nonrec"})
_ENDINGS = frozenset({"termination_by", "decreasing_by"})
_ATTRIBUTES = frozenset({"simp", "grind", "ext", "norm_cast", "push_cast", "reducible", "irreducible", "semireducible"})
_HEAD = re.compile(
    rf"^(?P<modifiers>[ \t]*(?:{PLAIN_IN_FRONT}\s+)*(?:{ATTRIBUTES}\s*|(?:{'|'.join(sorted(_MODIFIERS))})\s+)*)"
    rf"(?P<keyword>{'|'.join(sorted(_PLAIN))})(?![\w.'])(?:\s+(?P<name>{NAME})(?:\.\{{[^}}]*\}})?)?",
    re.MULTILINE,
)
_LISTED = re.compile(ATTRIBUTES)
_IMPORT = re.compile(r"[ \t]*import[ \t]+(?P<module>[^\s]+)[ \t]*(?:\n|\Z)|[ \t]*\n")
_AT_THE_LINE = re.compile(r"^[ \t]*(?P<word>#\w+|(?:module|prelude|public|meta)(?![\w.'!?]))", re.MULTILINE)


def plain_reason(text: str, imports: Sequence[str] = IMPORTS, allowed: Collection[str] = ()) -> str | None:
    """Return why a file is not (or not certainly) made of plain declarations; None if it is.

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
    """List keyword and full name of each theorem, lemma, def and abbrev of a plain text, in order."""
    found = reader.declarations(text)
    return [(declaration.keyword, declaration.full_name) for declaration in found if declaration.keyword in _PLAIN]


def _after_imports(code: str, imports: Sequence[str]) -> tuple[int, str]:
    """Return where the imports at the top end, and the first of them that is not allowed."""
    position = 0
    while (line := _IMPORT.match(code, position)) and line.end() > position:
        position = line.end()
        module = line["module"]
        if module is not None and not any(module == root or module.startswith(f"{root}.") for root in imports):
            return position, module
    return position, ""


def _foreign_command(code: str, start: int, allowed: Collection[str]) -> str | None:
    """Return why a command is no plain declaration, or may declare what our rules do not see; None if all are."""
    heads = list(_HEAD.finditer(code, start))
    keywords = {head.start("keyword") for head in heads}
    modifiers = [head.span("modifiers") for head in heads]
    for match in COMMAND.finditer(code, start):
        command, position = " ".join(match.group().split()), match.start()
        word = command.split()[0]
        if word in allowed or command in allowed or word in _ENDINGS or position in keywords:
            continue
        before = code[code.rfind("\n", 0, position) + 1 : position].strip()
        is_first = not before or (word, before) == ("section", "noncomputable")
        is_modifier = any(begin <= position < end for begin, end in modifiers)  # of a declaration that is plain
        if word in _PLAIN or (word in _SCOPES and not is_first and not is_modifier):
            return f"`{word}` stands behind something else on its line, where it may hide what is declared"
        if word in _SCOPES or (word in _MODIFIERS and (is_modifier or _opens_section(code, match.end()))):
            continue
        if word != "@[" or not is_modifier:
            return f"`{command}` begins a command that is no plain declaration"
        if name := _foreign_attribute(code, position):
            return f"the attribute `{name}` is none of {', '.join(sorted(_ATTRIBUTES))}"
    return None


def _foreign_attribute(code: str, position: int) -> str:
    """Return the first of the attributes at an offset that is not known to be harmless, or ""."""
    attributes = _LISTED.match(code, position)
    if attributes is None:
        return "@["
    for attribute in attributes.group()[len("@[") : -1].split(","):
        words = attribute.split()
        name = words[0] if words else ""
        if name not in _ATTRIBUTES:
            return name
    return ""


def _opens_section(code: str, position: int) -> bool:
    return re.match(r"\s+section(?![\w.'!?])", code[position : position + 20]) is not None
