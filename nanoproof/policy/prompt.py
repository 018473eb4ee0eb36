"""Prompts: proof states as tokens, the same in training and inference; and statements for whole proofs."""

import re
from collections.abc import Sequence

from nanoproof.lean.lexical import blank_comments, without_noted_imports
from nanoproof.lean.source import parse_declaration, up_to_value
from nanoproof.lean.types import Theorem
from nanoproof.model.tokenizer import RESERVED, Tokenizer

_CHARACTERS_PER_TOKEN = 8
"""More than states have, so that the first try at the end of a long text holds as many tokens as are asked for."""
_LONGEST_TAIL = 1 << 16
_BREAK = re.compile(r"(?<=[!-~])[ \n]")
"""Where any text may be cut without changing the tokens after: a word may begin with a space, but none holds one."""


def prefix_text(state_text: str) -> str:
    """Return the text of a state that is encoded after BOS."""
    return state_text + "\n"


def before_state(premises: Sequence[str], state_text: str) -> str:
    """Write premises (the best first) before a state: the best one last, blank lines between."""
    return "\n\n".join([*reversed(premises), state_text])


def prompt_tokens(tokenizer: Tokenizer, state_text: str, max_tokens: int) -> list[int]:
    """Encode a state, cut so that it has `max_tokens` with the marker that follows: BOS and the end of the state stay.

    Of a long text only the end is encoded, in time that does not depend on the text's length; see `last_tokens`.
    """
    return [tokenizer.bos, *last_tokens(tokenizer, prefix_text(state_text), max_tokens - 2)]


def last_tokens(tokenizer: Tokenizer, text: str, count: int) -> list[int]:
    """Encode the last `count` tokens of a text.

    They are exactly those of the whole text, unless its last 65,536 characters have no break between words that is
    followed by `count` tokens (no proof state is like that): then they are the tokens of these characters alone.
    """
    if count <= 0:
        return []
    size = _CHARACTERS_PER_TOKEN * count
    longest = max(_LONGEST_TAIL, size)
    while size < min(len(text), longest):
        cut = _BREAK.search(text, len(text) - size)
        if cut is not None:
            tokens = tokenizer.encode(text[cut.start() :])
            # Too few: the guess of characters per token was too low, so that tokens of the text before are missing.
            if len(tokens) >= count:
                return tokens[-count:]
        size *= 2
    return tokenizer.encode(text[-longest:])[-count:]


# -- Whole proofs ----------------------------------------------------------------------------------------------------

PROOF_MARKER = RESERVED[1]
"""A prompt that ends so asks a network of ours for a whole proof, if it was finetuned on them."""


def proof_prompt(theorem: Theorem) -> str:
    """Write the prompt for a whole proof by a network of ours: the statement without its name, and the marker."""
    declaration = parse_declaration(theorem.source)
    # As in training (`sft --continuations proof`), where names, comments and line breaks are left out.
    statement = " ".join(blank_comments(theorem.source[declaration.head_end : declaration.assign]).split())
    return f"theorem {statement} := by\n{PROOF_MARKER}"


def statement_to_prove(theorem: Theorem) -> str:
    """Return the text of a theorem, with what stands before it, up to `:= by` and a line break."""
    declaration = parse_declaration(theorem.source)
    return f"{without_noted_imports(up_to_value(theorem.source, declaration))}by\n"


def refusal(text: str, errors: Sequence[str]) -> str:
    """Write a comment that quotes a proof that Lean refused, and what it said."""
    # A `-/` in either would end the comment, and the rest of it be read as Lean.
    quoted_proof = text.replace("-/", "- /")
    quoted_errors = "\n".join(errors).replace("-/", "- /")
    return f"/- This proof is refused:\n{quoted_proof}\nLean says:\n{quoted_errors} -/\n"


def repair_prompt(theorem: Theorem, text: str, errors: Sequence[str]) -> str:
    """Write the prompt for another whole proof by a network of ours after one that Lean refused."""
    return refusal(text, errors) + proof_prompt(theorem)
