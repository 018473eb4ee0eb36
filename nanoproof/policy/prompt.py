"""How a proof state becomes the tokens that the model reads: BOS, the state, a line break, and a marker.

Training and inference share this file, so they cannot differ.
"""

import re

from nanoproof.gpt.tokenizer import Tokenizer

_CHARACTERS_PER_TOKEN = 8
"""More than states have, so that the first try at the end of a long text holds as many tokens as are asked for."""
_LONGEST_TAIL = 1 << 16
_BREAK = re.compile(r"(?<=[!-~])[ \n]")
"""Where any text may be cut without changing the tokens behind: a word may begin with a space, but none holds one."""


def prefix_text(state_text: str) -> str:
    """What is encoded behind BOS."""
    return state_text + "\n"


def prompt_tokens(tokenizer: Tokenizer, state_text: str, max_tokens: int) -> list[int]:
    """The prefix cut so that it has `max_tokens` with the marker that follows: BOS and the end of the state stay.

    Of a long text only the end is encoded, in time that does not depend on the text's length; see `last_tokens`.
    """
    return [tokenizer.bos, *last_tokens(tokenizer, prefix_text(state_text), max_tokens - 2)]


def last_tokens(tokenizer: Tokenizer, text: str, count: int) -> list[int]:
    """The last `count` tokens of a text.

    They are exactly those of the whole text, unless its last 65,536 characters have no break between words that is
    followed by `count` tokens (no proof state is like that): then they are the tokens of these characters alone.
    """
    if count <= 0:
        return []
    size = _CHARACTERS_PER_TOKEN * count
    longest = max(_LONGEST_TAIL, size)
    while size < min(len(text), longest):
        found = _BREAK.search(text, len(text) - size)
        if found is not None:
            tokens = tokenizer.encode(text[found.start() :])
            if len(tokens) >= count:
                return tokens[-count:]
        size *= 2
    return tokenizer.encode(text[-longest:])[-count:]
