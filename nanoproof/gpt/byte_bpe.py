"""One vocabulary for two libraries: `tokenizers` trains and stores it, `tiktoken` encodes several times faster.

A text is cut into words by a pattern, and the bytes of a word are merged pairwise, the earliest learned pair first.
Symbols such as `⊢` are words of their own, so no merge reaches across them. `ByteBPE.read` accepts only vocabularies
for which both libraries give the same tokens, and this is why they do:

- The patterns are ours, cover every text, and both regex engines read them alike (tests compare all of Unicode).
- `tokenizers` merges the pairs on its list; `tiktoken` merges any two neighbours that make up a token, ranked by that
  token's number. Numbers are checked to follow the order of the list, so the two differ only if the neighbours L' R'
  of a token T = L' R' could be other than the pair (L, R) on the list. No merge then crossed the borders of T, so what
  happened between them is what happens when T is encoded alone; and every token is checked to become itself when it
  is encoded alone, which it does through (L, R) only.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tiktoken
import tokenizers
from tokenizers import Regex, models, pre_tokenizers

from nanoproof.common.errors import UserError

NUM_BYTES = 256


def _without(symbols: str) -> str:
    """What takes the symbols out of a class of characters."""
    return f"&&[^{symbols}]" if symbols else ""


def _alone(symbols: str) -> str:
    return f"[{symbols}]|" if symbols else ""


def _gpt2_pattern(symbols: str) -> str:
    """GPT-2's words: an English ending, or a run of letters, digits or other characters with one leading space."""
    letters, digits = rf"[\p{{L}}{_without(symbols)}]", rf"[\p{{N}}{_without(symbols)}]"
    words = rf"'s|'t|'re|'ve|'m|'ll|'d| ?{letters}+| ?{digits}+| ?[^\s\p{{L}}\p{{N}}{symbols}]+"
    return rf"{_alone(symbols)}{words}|\s+(?![^\s{symbols}])|\s+"


def _lean_pattern(symbols: str) -> str:
    """Lean's words: a dotted name, a single digit, a run of other characters or of spaces."""
    letters, digit = rf"[\p{{L}}_{_without(symbols)}]", rf"[\p{{N}}{_without(symbols)}]"
    words = rf" ?{letters}+(?:[._']{letters}+)*'*| ?{digit}| ?[^\s\p{{L}}\p{{N}}_{symbols}]+"
    return rf"{_alone(symbols)}{words}|\s+(?![^\s{symbols}])|\s+"


PATTERNS: dict[str, Callable[[str], str]] = {"gpt2": _gpt2_pattern, "lean": _lean_pattern}
"""Ways to cut a text into words, given the symbols that stand alone."""


def _byte_of_character() -> dict[str, int]:
    """The byte that each character of a byte-level BPE vocabulary stands for: printable ones stand for themselves."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(NUM_BYTES) if byte not in printable]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(NUM_BYTES + index): byte for index, byte in enumerate(others)}


BYTE_OF_CHARACTER = _byte_of_character()
"""In the order of GPT-2's first 256 tokens."""
CHARACTER_OF_BYTE = {byte: character for character, byte in BYTE_OF_CHARACTER.items()}


def spell(token: bytes) -> str:
    """How the files of byte-level BPE write bytes: one visible character for each."""
    return "".join(CHARACTER_OF_BYTE[byte] for byte in token)


def make_text_tokenizer(
    vocab: dict[str, int], merges: list[tuple[str, str]], pattern: str, symbols: tuple[str, ...]
) -> tokenizers.Tokenizer:
    """A tokenizer of the `tokenizers` library from spelled tokens and merges; the symbols become the last tokens."""
    vocab = vocab | {spell(symbol.encode("utf-8")): len(vocab) + index for index, symbol in enumerate(symbols)}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=True))
    tokenizer.pre_tokenizer = word_splitter(pattern, symbols)
    return tokenizer


def word_splitter(pattern: str, symbols: tuple[str, ...]) -> pre_tokenizers.PreTokenizer:
    """What cuts a text into words, and these into bytes; `pattern` is a name from PATTERNS."""
    regex = Regex(PATTERNS[pattern]("".join(symbols)))
    bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(regex, behavior="isolated"), bytewise])


@dataclass(frozen=True)
class ByteBPE:
    """The content of a byte-level BPE vocabulary: what each token stands for, in order, and how words are cut."""

    tokens: tuple[bytes, ...]
    symbols: tuple[str, ...]
    pattern_name: str

    @cached_property
    def pattern(self) -> str:
        """The regular expression that matches one word."""
        return PATTERNS[self.pattern_name]("".join(self.symbols))

    @classmethod
    def read(cls, tokenizer: tokenizers.Tokenizer) -> "ByteBPE":
        """The content of a `tokenizers` tokenizer. Raises UserError where `tiktoken` might not give the same tokens."""
        data = json.loads(tokenizer.to_str())
        _check_settings(data)
        vocab: dict[str, int] = data["model"]["vocab"]
        merges = [tuple(merge) for merge in data["model"]["merges"]]
        spellings = sorted(vocab, key=vocab.__getitem__)
        if [vocab[spelling] for spelling in spellings] != list(range(len(vocab))):
            raise UserError("the numbers of its tokens have gaps")
        if not set("".join(spellings)) <= BYTE_OF_CHARACTER.keys():
            raise UserError("it has a token that does not spell bytes")
        tokens = tuple(bytes(BYTE_OF_CHARACTER[character] for character in spelling) for spelling in spellings)
        num_merged = _check_merges(vocab, merges)
        symbols = tuple(token.decode("utf-8", errors="replace") for token in tokens[num_merged:])
        if any(len(symbol) != 1 or symbol.isascii() for symbol in symbols):
            raise UserError("it has tokens that are neither bytes, nor made by merges, nor single symbols")
        _check_reachable(models.BPE(vocab=vocab, merges=merges), spellings[:num_merged])
        return cls(tokens, symbols, _pattern_name(data["pre_tokenizer"], symbols))

    def fingerprint(self, markers: Sequence[str]) -> str:
        """16 hex digits that two vocabularies share if they give the same tokens for every text."""
        parts = [self.pattern.encode("utf-8"), *self.tokens, b"", *(marker.encode("utf-8") for marker in markers)]
        return hashlib.sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).hexdigest()[:16]

    def encoding(self, name: str, markers: Sequence[str]) -> tiktoken.Encoding:
        """The same for `tiktoken`; the markers follow as its special tokens, which `encode_ordinary` never gives."""
        return tiktoken.Encoding(
            name,
            pat_str=self.pattern,
            mergeable_ranks={token: number for number, token in enumerate(self.tokens)},
            special_tokens={marker: len(self.tokens) + index for index, marker in enumerate(markers)},
        )


MODEL_SETTINGS = {
    "type": "BPE",
    "dropout": None,
    "unk_token": None,
    "byte_fallback": False,
    "ignore_merges": True,
}


def _check_settings(data: dict[str, Any]) -> None:
    """Nothing may change a text, or its tokens, besides the pattern and the merges."""
    for part in ("normalizer", "post_processor", "truncation", "padding", "added_tokens"):
        if data.get(part):
            raise UserError(f"its {part} is set, which texts of this project do without")
    for name, wanted in MODEL_SETTINGS.items():
        if data["model"].get(name) != wanted:
            raise UserError(f"its model has {name} = {data['model'].get(name)}, expected {wanted}")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if data["model"].get(name):
            raise UserError(f"its model has a {name}, which byte-level BPE does without")


def _check_merges(vocab: dict[str, int], merges: list[tuple[str, str]]) -> int:
    """Check that tokens are all bytes, then what the merges make, in their order; the number of these tokens."""
    if any(vocab.get(character, NUM_BYTES) >= NUM_BYTES for character in BYTE_OF_CHARACTER):
        raise UserError(f"its first {NUM_BYTES} tokens are not the bytes")
    made = list(dict.fromkeys(left + right for left, right in merges))
    if [vocab[spelling] for spelling in made] != list(range(NUM_BYTES, NUM_BYTES + len(made))):
        raise UserError("its tokens are not in the order of the merges that make them")
    return NUM_BYTES + len(made)


def _check_reachable(merging: models.BPE, spellings: Sequence[str]) -> None:
    """Check that merges alone turn the bytes of each token into that token."""
    for number, spelling in enumerate(spellings):
        if [token.id for token in merging.tokenize(spelling)] != [number]:
            raise UserError(f"its merges never make token {number}, {spelling!r}")


def _pattern_name(pre_tokenizer: dict[str, Any] | None, symbols: tuple[str, ...]) -> str:
    for name in PATTERNS:
        if json.loads(word_splitter(name, symbols).__getstate__()) == pre_tokenizer:
            return name
    raise UserError(f"it does not cut texts by one of the patterns {', '.join(PATTERNS)}")
