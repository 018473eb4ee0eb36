"""GPT-2's vocabulary, shipped with the package: `merges.txt.gz` beside this file; NOTICE says where it is from.

The list of merges is all there is to it: token n is the n-th byte of `BYTE_OF_CHARACTER` for n < 256, else what merge
n - 256 makes. GPT-2's own `<|endoftext|>` (50256) is left out; the number belongs to our first symbol.
"""

import gzip
from functools import cache
from importlib import resources

from nanoproof.gpt.byte_bpe import BYTE_OF_CHARACTER, make_text_tokenizer
from nanoproof.gpt.tokenizer import SYMBOLS, Tokenizer


def gpt2_merges() -> list[tuple[str, str]]:
    """The 50,000 pairs in the order in which they were learned."""
    data = gzip.decompress((resources.files(__name__) / "merges.txt.gz").read_bytes()).decode("utf-8")
    pairs = [line.split(" ") for line in data.splitlines()[1:]]  # the first line is a version
    return [(left, right) for left, right in pairs]


@cache
def gpt2_tokenizer(symbols: tuple[str, ...] = SYMBOLS) -> Tokenizer:
    """GPT-2's vocabulary with `symbols` as single tokens, and the markers; without symbols, texts become just what
    they become with GPT-2.
    """
    merges = gpt2_merges()
    spellings = [*BYTE_OF_CHARACTER, *(left + right for left, right in merges)]
    vocab = {spelling: number for number, spelling in enumerate(spellings)}
    return Tokenizer(make_text_tokenizer(vocab, merges, "gpt2", symbols))
