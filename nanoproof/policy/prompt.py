"""How a proof state becomes the tokens that the model reads: BOS, the state, a line break, and a marker.

Training and inference share this file, so they cannot differ.
"""

from nanoproof.gpt.tokenizer import Tokenizer


def prefix_text(state_text: str) -> str:
    """What is encoded behind BOS."""
    return state_text + "\n"


def prefix_tokens(tokenizer: Tokenizer, state_text: str) -> list[int]:
    """What the tactic and the value of a state both continue: BOS state `\\n`."""
    return [tokenizer.bos, *tokenizer.encode(prefix_text(state_text))]


def prompt_tokens(tokenizer: Tokenizer, state_text: str, max_tokens: int) -> list[int]:
    """The prefix cut so that it has `max_tokens` with the marker that follows: BOS and the end of the state stay."""
    prefix = prefix_tokens(tokenizer, state_text)
    surplus = len(prefix) + 1 - max_tokens
    return prefix if surplus <= 0 else [prefix[0], *prefix[1 + surplus :]]
