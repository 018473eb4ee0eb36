r"""The tokenizer: byte-level BPE, with mathematical symbols and the markers of the token format as tokens of their own.

A text is cut into words by a pattern, and the bytes of a word are merged pairwise, the earliest learned pair first.
Symbols such as `⊢` or `ℕ` are words and tokens of their own, so no merge reaches across them. There are two kinds of
vocabulary: GPT-2's (`gpt2_tokenizer`, 50,441 tokens with ours) for models of natural language and Lean, and those
learned from texts (`train_tokenizer`), where digits stand alone and dotted names (`Nat.add_comm`) are one word, so that
frequent lemmas become single tokens.

Token ids: 256 bytes, the merges in their order (GPT-2's own ids), the 117 symbols, then the markers, of which
`<|endoftext|>` is the first. A text can never contain a marker: `<|tactic|>` in a text is encoded like any other text.
"""

import base64
import gzip
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken
import tokenizers
from tokenizers import Regex, models, pre_tokenizers, trainers

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, atomic_write_json, atomic_write_text, read_json
from nanoproof.common.run_dir import SCRIPTS

# -- How texts are cut into words ------------------------------------------------------------------------------------

NUM_BYTES = 256


def _without(symbols: str) -> str:
    """Write what takes the symbols out of a class of characters."""
    return f"&&[^{symbols}]" if symbols else ""


def _alone(symbols: str) -> str:
    return f"[{symbols}]|" if symbols else ""


def _gpt2_pattern(symbols: str) -> str:
    """Match GPT-2's words: an English ending, or a run of letters, digits or others with one leading space."""
    letters, digits = rf"[\p{{L}}{_without(symbols)}]", rf"[\p{{N}}{_without(symbols)}]"
    words = rf"'s|'t|'re|'ve|'m|'ll|'d| ?{letters}+| ?{digits}+| ?[^\s\p{{L}}\p{{N}}{symbols}]+"
    return rf"{_alone(symbols)}{words}|\s+(?![^\s{symbols}])|\s+"


def _lean_pattern(symbols: str) -> str:
    """Match Lean's words: a dotted name, a single digit, a run of other characters or of spaces."""
    letters, digit = rf"[\p{{L}}_{_without(symbols)}]", rf"[\p{{N}}{_without(symbols)}]"
    words = rf" ?{letters}+(?:[._']{letters}+)*'*| ?{digit}| ?[^\s\p{{L}}\p{{N}}_{symbols}]+"
    return rf"{_alone(symbols)}{words}|\s+(?![^\s{symbols}])|\s+"


PATTERNS: dict[str, Callable[[str], str]] = {"gpt2": _gpt2_pattern, "lean": _lean_pattern}
"""Ways to cut a text into words, given the symbols that stand alone."""


def _byte_of_character() -> dict[str, int]:
    """Return the byte that each character of a byte-level BPE vocabulary stands for; printable ones for themselves."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(NUM_BYTES) if byte not in printable]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(NUM_BYTES + index): byte for index, byte in enumerate(others)}


BYTE_OF_CHARACTER = _byte_of_character()
"""In the order of GPT-2's first 256 tokens."""
CHARACTER_OF_BYTE = {byte: character for character, byte in BYTE_OF_CHARACTER.items()}


def spell(token: bytes) -> str:
    """Write bytes as the files of byte-level BPE do: one visible character for each."""
    return "".join(CHARACTER_OF_BYTE[byte] for byte in token)


def make_text_tokenizer(
    vocab: dict[str, int], merges: list[tuple[str, str]], pattern: str, symbols: tuple[str, ...]
) -> tokenizers.Tokenizer:
    """Make a tokenizer of the `tokenizers` library from spelled tokens and merges; symbols become the last tokens."""
    vocab = vocab | {spell(symbol.encode("utf-8")): len(vocab) + index for index, symbol in enumerate(symbols)}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=True))
    tokenizer.pre_tokenizer = word_splitter(pattern, symbols)
    return tokenizer


def word_splitter(pattern: str, symbols: tuple[str, ...], longest: int = 0) -> pre_tokenizers.PreTokenizer:
    """Make the pre-tokenizer that cuts a text into words, and these into bytes; `pattern` is a key of `PATTERNS`.

    Words of more than `longest` characters are cut into such parts, unless it is 0.
    """
    cuts = [PATTERNS[pattern]("".join(symbols)), *[f"(?m:.{{{longest}}})"] * (longest > 0)]
    splits = [pre_tokenizers.Split(Regex(cut), behavior="isolated") for cut in cuts]
    return pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


# -- One vocabulary for two libraries --------------------------------------------------------------------------------
# Files are those of `tokenizers`, and texts are encoded by the faster `tiktoken`. `ByteBPE.read` accepts only
# vocabularies for which both give the same tokens, and this is why they do:
#
# - The patterns are ours, cover every text, and both regex engines read them alike (tests compare all of Unicode).
# - `tokenizers` merges the pairs on its list; `tiktoken` merges any two neighbours that make up a token, ranked by that
#   token's id. Ids are checked to follow the order of the list, so the two differ only if the neighbours L' R' of a
#   token T = L' R' could be other than the pair (L, R) on the list. No merge then crossed the borders of T, so what
#   happened between them is what happens when T is encoded alone; and every token is checked to become itself when it
#   is encoded alone, which it does through (L, R) only.


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
        """Read a `tokenizers` tokenizer. Raises UserError where `tiktoken` might not give the same tokens."""
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
        """Return 16 hex digits that two vocabularies share if they give the same tokens for every text."""
        digest = hashlib.sha256()
        # Each with its length before it, or the tokens `ab`, `c` would be hashed as `a`, `bc` are.
        for part in (self.pattern.encode(), *self.tokens, b"", *map(str.encode, markers)):
            digest.update(len(part).to_bytes(4, "big") + part)
        return digest.hexdigest()[:16]

    def encoding(self, name: str, markers: Sequence[str]) -> tiktoken.Encoding:
        """Make a `tiktoken` encoding; the markers follow as its special tokens, which `encode_ordinary` never gives."""
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
    """Raise UserError where anything changes a text, or its tokens, besides the pattern and the merges."""
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
    """Check that tokens are all bytes, then what the merges make, in their order; returns the number of these."""
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


# -- The tokenizer ---------------------------------------------------------------------------------------------------

TOKENIZER_FILE = "tokenizer.json"
NUM_VALUE_BINS = 64
"""A value is a number of tactics still needed, 1 to so many; each has a token."""

# Symbols that occur often in Mathlib; each is one token whatever the training text was.
SYMBOLS = tuple(
    "ˢˣΓΔΛΠΣΦΩδζηθφχψϕᵈᵐᵒᵖᵢᵣᵥᶜᶠ‖‹›⁅⁆⁰⁻₀₁₂₃₄₊ₐₑₗₘₙₚₛₜℂℕℚℝℤℱ←↔↦↪⇑∀∂∃∅∈∉∏∑∘∞∣∧∨∩∪∫≃≅≠≡≤≥≪≫⊆⊓⊔⊕⊗⊢⊤⊥⋂⋃⋆⋙▷▸◁"
    "⟦⟧⟨⟩⟪⟫⟶⥤⦃⦄⧸⨅⨆𝒜𝒰𝓘𝓝𝔖𝕜𝟙"
)
MARKERS = (
    "<|endoftext|>",
    "<|pad|>",
    "<|tactic|>",
    "<|value|>",
    *(f"<|bin_{k:02d}|>" for k in range(1, NUM_VALUE_BINS + 1)),
)
RESERVED = ("<|conjecture|>", "<|proof|>")
"""Markers behind the vocabulary, in the spare places that models have there: they begin texts and are never predicted,
so that vocabularies and checkpoints from before them stay as they are."""
MIN_CHUNK = 20_000
"""Characters below which a thread of its own costs more than it saves."""


class Tokenizer:
    """A vocabulary. Text tokens come first, then the markers: BOS/EOS, pad, tactic, value and 64 value bins.

    `conjecture` and `proof` are the numbers of markers behind it: only models whose `config.whole_proofs` is true know
    them, and `vocab_size` does not count them.

    Texts are encoded by `tiktoken`; the file is that of `tokenizers` (see `ByteBPE`).
    """

    def __init__(self, text_tokenizer: tokenizers.Tokenizer) -> None:
        self._text = text_tokenizer
        self.bpe = ByteBPE.read(text_tokenizer)
        self._encoding = self.bpe.encoding("nanoproof", MARKERS)
        self.num_text_tokens = len(self.bpe.tokens)
        self.vocab_size = self.num_text_tokens + len(MARKERS)
        first = self.num_text_tokens
        self.bos, self.pad, self.tactic, self.value = first, first + 1, first + 2, first + 3
        self.bins = tuple(range(first + 4, first + 4 + NUM_VALUE_BINS))
        self.conjecture, self.proof = self.vocab_size, self.vocab_size + 1

    @property
    def eos(self) -> int:
        """The document delimiter ends a text as well as it begins one."""
        return self.bos

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that say which vocabulary this is: equal ones give the same tokens for the same text."""
        return self.bpe.fingerprint(MARKERS)

    def encode(self, text: str) -> list[int]:
        """Encode a text as text tokens, never markers. Raises UserError for lone surrogates, which are not Unicode."""
        return self._encode_array(text).tolist()

    def encode_batch(self, texts: Sequence[str], threads: int | None = None) -> list[list[int]]:
        """Encode many texts, on several threads; see `encode_arrays`."""
        return [array.tolist() for array in self.encode_arrays(texts, threads)]

    def encode_arrays(self, texts: Sequence[str], threads: int | None = None) -> list[np.ndarray]:
        """Encode many texts as read-only uint32 arrays, on `threads` threads (default: the cores we may use).

        The work is done outside of Python's lock, so other threads run meanwhile.
        """
        threads = available_cores() if threads is None else threads
        chunks = _even_chunks(texts, threads)
        if len(chunks) <= 1:
            return [self._encode_array(text) for text in texts]
        with ThreadPoolExecutor(len(chunks)) as pool:
            done = pool.map(lambda chunk: [self._encode_array(text) for text in chunk], chunks)
            return [array for arrays in done for array in arrays]

    def _encode_array(self, text: str) -> np.ndarray:
        try:
            return self._encoding.encode_to_numpy(text, disallowed_special=())
        except UnicodeEncodeError as error:
            raise UserError(f"the text is not Unicode: lone surrogate at character {error.start}") from error
        except ValueError:  # the regex engine of tiktoken gives up on runs of about a million spaces
            return np.array(self._text.encode(text).ids, dtype=np.uint32)

    def decode(self, tokens: Iterable[int]) -> str:
        """Decode text tokens; markers are left out, and bytes that are no UTF-8 become U+FFFD."""
        pieces = [self.bpe.tokens[token] for token in tokens if 0 <= token < self.num_text_tokens]
        return b"".join(pieces).decode("utf-8", errors="replace")

    def describe(self, token: int) -> str:
        """Describe a token for people: the marker's name, or the text."""
        if token >= self.num_text_tokens:
            return (*MARKERS, *RESERVED)[token - self.num_text_tokens]
        return self.bpe.tokens[token].decode("utf-8", errors="replace")

    def token_bytes(self) -> np.ndarray:
        """Count the bytes of text that each token stands for, int32 (vocab_size,); markers stand for none."""
        return np.array([*map(len, self.bpe.tokens), *[0] * len(MARKERS)], dtype=np.int32)

    def save(self, path: Path) -> None:
        """Write one JSON file, atomically; `path` is the file, or the directory for `tokenizer.json`."""
        atomic_write_text(_file_of(path), self._text.to_str())

    @classmethod
    def load(cls, path: Path | str) -> "Tokenizer":
        """Read a saved tokenizer (file or directory). Raises UserError when it is missing or damaged."""
        file = _file_of(Path(path))
        try:
            return cls(tokenizers.Tokenizer.from_str(file.read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            raise UserError(
                f"no tokenizer at {file}; make one with: {SCRIPTS}tok_build (GPT-2's vocabulary), "
                f"or {SCRIPTS}tok_train (learned from your texts)"
            ) from error
        except OSError as error:
            raise UserError(f"cannot read the tokenizer {file}: {error.strerror}") from error
        except Exception as error:  # the tokenizers library raises nothing narrower
            raise UserError(f"{file} is not a tokenizer of this project: {error}") from error


_SYMBOL_SPLIT = re.compile("|".join(map(re.escape, SYMBOLS)))


def _file_of(path: Path) -> Path:
    return path if path.suffix == ".json" else path / TOKENIZER_FILE


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _even_chunks(texts: Sequence[str], count: int) -> list[Sequence[str]]:
    """Split the texts into at most `count` chunks of about equally many characters, none of them tiny."""
    total = sum(map(len, texts))
    size = max(total / count, MIN_CHUNK)
    chunks: list[Sequence[str]] = []
    start = characters = 0
    for index, text in enumerate(texts):
        characters += len(text)
        if characters >= size * (len(chunks) + 1) or index == len(texts) - 1:
            chunks.append(texts[start : index + 1])
            start = index + 1
    return chunks


# -- Learning a vocabulary -------------------------------------------------------------------------------------------


LONGEST_WORD = 4000
"""Characters of a word that is learned from whole. The trainer goes through a word for each merge in it: one of 80,000
equal letters took 13 s, four times as much as half of it. Words of ordinary text are shorter and stay whole."""


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """Yield the stretches of text between symbols: what merges may be learned from."""
    for text in texts:
        yield from (piece for piece in _SYMBOL_SPLIT.split(text) if piece)


def train_tokenizer(texts: Iterable[str], vocab_size: int, pattern: str = "lean") -> Tokenizer:
    """Learn merges until there are `vocab_size` tokens in all (bytes, symbols and markers included).

    `pattern` says how texts are cut into words, which merges never leave: a key of `PATTERNS`.
    Texts that are too small to give as many merges make a smaller vocabulary. Raises UserError when `vocab_size` is
    less than bytes, symbols and markers need.
    """
    smallest = NUM_BYTES + len(SYMBOLS) + len(MARKERS)
    if vocab_size < smallest:
        raise UserError(f"--vocab-size must be >= {smallest} (bytes, symbols and markers), got {vocab_size}")
    learner = tokenizers.Tokenizer(models.BPE())
    learner.pre_tokenizer = word_splitter(pattern, SYMBOLS, LONGEST_WORD)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(SYMBOLS) - len(MARKERS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learner.train_from_iterator(_pieces(texts), trainer)
    learned = json.loads(learner.to_str())["model"]
    merges = [tuple(merge) for merge in learned["merges"]]
    return Tokenizer(make_text_tokenizer(learned["vocab"], merges, pattern, SYMBOLS))


# -- Files for `tiktoken` --------------------------------------------------------------------------------------------
#     encoding = load_tiktoken(directory)
#     encoding.encode_ordinary("⊢ a ≤ b")                                         # text; what Tokenizer.encode gives
#     encoding.encode("<|endoftext|>⊢ a ≤ b\n<|tactic|>", allowed_special="all")   # markers too
#
# `tiktoken` itself breaks off at runs of about a million spaces, and reads a lone surrogate as U+FFFD; `Tokenizer`
# encodes the former and refuses the latter.

RANKS_FILE = "tokenizer.tiktoken"
SETTINGS_FILE = "tokenizer.tiktoken.json"


def save_tiktoken(tokenizer: Tokenizer, directory: Path) -> None:
    """Write both files into `directory`; the JSON comes last and says which tokens belong to it."""
    lines = [b"%s %d\n" % (base64.b64encode(token), number) for number, token in enumerate(tokenizer.bpe.tokens)]
    ranks = b"".join(lines)
    atomic_write(directory / RANKS_FILE, lambda file: file.write(ranks))
    settings = {
        "name": f"nanoproof-{tokenizer.fingerprint}",
        "pat_str": tokenizer.bpe.pattern,
        "special_tokens": {marker: tokenizer.num_text_tokens + index for index, marker in enumerate(MARKERS)},
        "ranks": RANKS_FILE,
        "ranks_sha256": hashlib.sha256(ranks).hexdigest(),
    }
    atomic_write_json(directory / SETTINGS_FILE, settings)


def load_tiktoken(directory: Path | str) -> tiktoken.Encoding:
    """Load the encoding that `save_tiktoken` wrote. Raises UserError when it is missing or damaged."""
    file = Path(directory) / SETTINGS_FILE
    settings = read_json(file)
    try:
        data = (file.parent / settings["ranks"]).read_bytes()
        if hashlib.sha256(data).hexdigest() != settings["ranks_sha256"]:
            raise UserError(f"{file.parent / settings['ranks']} is damaged, or belongs to another tokenizer")
        ranks = {base64.b64decode(token): int(number) for token, number in map(bytes.split, data.splitlines())}
        return tiktoken.Encoding(
            settings["name"],
            pat_str=settings["pat_str"],
            mergeable_ranks=ranks,
            special_tokens=settings["special_tokens"],
            explicit_n_vocab=len(ranks) + len(settings["special_tokens"]),
        )
    except FileNotFoundError as error:
        raise UserError(f"no such file: {error.filename}") from error
    except (KeyError, TypeError) as error:
        raise UserError(f"{file} does not describe an encoding: {type(error).__name__} {error}") from error


# -- GPT-2's vocabulary ----------------------------------------------------------------------------------------------
# The list of merges is all there is to it: token n is the n-th byte of `BYTE_OF_CHARACTER` for n < 256, else what merge
# n - 256 makes. GPT-2's own `<|endoftext|>` (50256) is left out; the id belongs to our first symbol.


def gpt2_merges() -> list[tuple[str, str]]:
    """Read the 50,000 merges of GPT-2 in the order in which they were learned."""
    data = gzip.decompress((resources.files("nanoproof.model") / "gpt2" / "merges.txt.gz").read_bytes()).decode("utf-8")
    pairs = [line.split(" ") for line in data.splitlines()[1:]]  # the first line is a version
    return [(left, right) for left, right in pairs]


@cache
def gpt2_tokenizer(symbols: tuple[str, ...] = SYMBOLS) -> Tokenizer:
    """Make a tokenizer with GPT-2's vocabulary, `symbols` as single tokens, and the markers.

    Without symbols, texts are encoded exactly as by GPT-2.
    """
    merges = gpt2_merges()
    spellings = [*BYTE_OF_CHARACTER, *(left + right for left, right in merges)]
    vocab = {spelling: number for number, spelling in enumerate(spellings)}
    return Tokenizer(make_text_tokenizer(vocab, merges, "gpt2", symbols))
