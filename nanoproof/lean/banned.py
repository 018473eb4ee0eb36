"""What a tactic of ours may not contain, whoever suggests it: gaps, compiled code, and tactics that only search."""

import re

from nanoproof.lean.lexical import CLOSING, OPENING, mask

_GAPS = ("sorry", "admit", "sorryAx", "include_str", "unsafe")
_KEYWORDS = (
    "native_decide", "bv_decide", "run_tac", "run_conv", "by_elab", "run_cmd", "run_elab", "run_meta",
)  # fmt: skip
"""Banned wherever they end a word: Lean reads them as keywords behind a dot or a numeral too."""
_NAMES = (
    "sorryAx", "ofReduceBool", "ofReduceNat", "reduceBool", "reduceNat", "trustCompiler", "implemented_by", "extern",
    "csimp", "unsafeCast", "unsafeIO", "unsafeBaseIO", "unsafeEIO", "unsafePerformIO", "lcProof", "lcUnreachable",
)  # fmt: skip
_OPTIONS = r"(?:maxHeartbeats|maxRecDepth|synthInstance\.max\w+|exponentiation\.threshold|linter\.[\w.]+)(?![\w.'])"
"""What a proof may set: limits and warnings. Others change what is checked (`debug.*`) or shown (`pp.*`)."""
_SEARCH = (
    "apply?", "rw?", "rw??", "rw_search", "rewrite?", "exact?", "try?", "simp?", "simp!?", "simp_all?", "simp_all!?",
    "simpa?", "simpa!?", "dsimp?", "dsimp!?", "norm_num?", "grind?", "aesop?", "show_term", "observe?", "have?", "hint",
    "polyrith", "plausible", "slim_check",
)  # fmt: skip
_BANNED = re.compile(
    r"(?:(?<![\w.'«])|(?<=_root_\.))(?:(?P<gap>" + "|".join(map(re.escape, _GAPS)) + r")(?![\w.'?!])"
    r"|(?P<search>" + "|".join(map(re.escape, _SEARCH)) + r")(?![\w.'])"
    r"|native\s*:=)"
    r"|(?:\+native|" + "|".join(_KEYWORDS) + r")(?![\w.'?!])"
    r"|(?<![\w'])(?P<name>" + "|".join(map(re.escape, _NAMES)) + r")(?![\w'?!])"
    r"|set_option(?![\w.'?!])\s*(?!\s|" + _OPTIONS + r")\S*"
)
_QUOTED_WORD = re.compile(r"(\.?)«([\w.'?!]+)»(?=(\.?))")
_INTERPOLATED = re.compile(r'[a-z]!"(?:[^"\\]|\\.)*"')
_HAVE = re.compile(r"(?<![\w.'«])have(?:I|')?(?![\w.'?!])")
_HAVE_STOPS = re.compile(r":=|::|:|;|<;>|=>|\||(?<![\w.'])(?:by|from|with)(?![\w.'])")


def banned_word(text: str) -> str | None:
    """Which word no text with proofs may hold, and why; None if there is none. Comments and strings do not count."""
    holes = " ".join(_INTERPOLATED.findall(text))  # such strings hold terms between braces
    if found := _BANNED.search(_unquoted(mask(text))) or _BANNED.search(_unquoted(holes)):
        if found["search"]:
            return f"`{found['search']}` searches instead of proving"
        return f"`{found.group()}` is not allowed in a proof"
    return None


def _unquoted(text: str) -> str:
    """Quoted names without their quotes, and apart from what is no part of the name: a quote ends a keyword."""
    return _QUOTED_WORD.sub(lambda m: (m[1] or " ") + m[2] + ("" if m[3] else " "), text)


def banned_reason(tactic: str) -> str | None:
    """Why the tactic (or a whole proof) is refused before Lean sees it; None if it is not."""
    if reason := banned_word(tactic):
        return reason
    masked = mask(tactic)
    for have in _HAVE.finditer(masked):
        if not _states_type(masked, have.end()):
            return "`have` without a stated type"
    return None


def _states_type(masked: str, position: int) -> bool:
    """True if a `:` comes before the value (or the end) of the `have` whose keyword ends at `position`."""
    depth = 0
    while position < len(masked):
        char = masked[position]
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
            if depth < 0:
                return False
        elif depth == 0 and (stop := _HAVE_STOPS.match(masked, position)):
            return stop.group() == ":"
        position += 1
    return False
