"""Text to tokens and back: byte-level BPE, with mathematical symbols and the markers of the token format as own tokens.

There are two kinds: GPT-2's vocabulary (`gpt2_tokenizer`, 50,441 tokens with ours) for models of natural language and
Lean, and vocabularies learned from texts (`train_tokenizer`), where digits stand alone and dotted names
(`Nat.add_comm`) are one word, so that frequent lemmas become single tokens.

The numbers: 256 bytes, the merges in their order (GPT-2's own numbers), the 117 symbols, then the markers, of which
`<|endoftext|>` is the first. A text can never contain a marker: `<|tactic|>` in a text is encoded like any other text.
Symbols such as `⊢` or `ℕ` are single tokens that no merge reaches across.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np
import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text
from nanoproof.gpt.byte_bpe import NUM_BYTES, ByteBPE, make_text_tokenizer, word_splitter

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
MIN_PART = 20_000
"""Characters below which a thread of its own costs more than it saves."""


class Tokenizer:
    """A vocabulary. Text tokens come first, then the markers: BOS/EOS, pad, tactic, value and 64 value bins.

    Texts are encoded by `tiktoken`; the file is that of `tokenizers` (see byte_bpe.py for why both give the same
    tokens).
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

    @property
    def eos(self) -> int:
        """The document delimiter ends a text as well as it begins one."""
        return self.bos

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that say which vocabulary this is: equal ones give the same tokens for the same text."""
        return self.bpe.fingerprint(MARKERS)

    def encode(self, text: str) -> list[int]:
        """Text tokens of `text`; never markers. Raises UserError for a text that is not Unicode (lone surrogates)."""
        tokens: list[int] = self._encode_array(text).tolist()
        return tokens

    def encode_batch(self, texts: Sequence[str], threads: int | None = None) -> list[list[int]]:
        """`encode` of many texts, on several threads."""
        return [array.tolist() for array in self.encode_arrays(texts, threads)]

    def encode_arrays(self, texts: Sequence[str], threads: int | None = None) -> list[np.ndarray]:
        """`encode` of many texts as read-only uint32 arrays, on `threads` threads (default: the cores we may use).

        The work is done outside of Python's lock, so other threads go on meanwhile.
        """
        threads = available_cores() if threads is None else threads
        parts = _even_parts(texts, threads)
        if len(parts) <= 1:
            return [self._encode_array(text) for text in texts]
        with ThreadPoolExecutor(len(parts)) as pool:
            done = pool.map(lambda part: [self._encode_array(text) for text in part], parts)
            return [array for arrays in done for array in arrays]

    def _encode_array(self, text: str) -> np.ndarray:
        try:
            return self._encoding.encode_to_numpy(text, disallowed_special=())
        except UnicodeEncodeError as error:
            raise UserError(f"the text is not Unicode: lone surrogate at character {error.start}") from error
        except ValueError:  # the regex engine of tiktoken gives up on runs of about a million spaces
            return np.array(self._text.encode(text).ids, dtype=np.uint32)

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of text tokens; markers say nothing, and bytes that are no UTF-8 become U+FFFD."""
        pieces = [self.bpe.tokens[token] for token in tokens if 0 <= token < self.num_text_tokens]
        return b"".join(pieces).decode("utf-8", errors="replace")

    def describe(self, token: int) -> str:
        """How a token is shown to people: the marker's name, or the text."""
        if token >= self.num_text_tokens:
            return MARKERS[token - self.num_text_tokens]
        return self.bpe.tokens[token].decode("utf-8", errors="replace")

    def token_bytes(self) -> np.ndarray:
        """How many bytes of text each token stands for (int32, `vocab_size` of them); markers stand for none."""
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
                f"no tokenizer at {file}; make one with: python -m scripts.tok_build (GPT-2's vocabulary), "
                "or python -m scripts.tok_train (learned from your texts)"
            ) from error
        except OSError as error:
            raise UserError(f"cannot read the tokenizer {file}: {error.strerror}") from error
        except Exception as error:  # the tokenizers library raises nothing narrower
            raise UserError(f"{file} is not a tokenizer of this project: {error}") from error


_SYMBOL_SPLIT = re.compile("|".join(map(re.escape, SYMBOLS)))


def _file_of(path: Path) -> Path:
    return path if path.suffix == ".json" else path / TOKENIZER_FILE


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _even_parts(texts: Sequence[str], count: int) -> list[Sequence[str]]:
    """The texts in at most `count` parts of about equally many characters, none of them tiny."""
    total = sum(map(len, texts))
    size = max(total / count, MIN_PART)
    parts: list[Sequence[str]] = []
    start = characters = 0
    for index, text in enumerate(texts):
        characters += len(text)
        if characters >= size * (len(parts) + 1) or index == len(texts) - 1:
            parts.append(texts[start : index + 1])
            start = index + 1
    return parts


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """The stretches of text between symbols: what merges may be learned from."""
    for text in texts:
        yield from (piece for piece in _SYMBOL_SPLIT.split(text) if piece)


def train_tokenizer(texts: Iterable[str], vocab_size: int, pattern: str = "lean") -> Tokenizer:
    """Learn merges until there are `vocab_size` tokens in all (bytes, symbols and markers included).

    `pattern` says how texts are cut into words, which merges never leave: a name from byte_bpe.PATTERNS.
    Texts that are too small to give as many merges make a smaller vocabulary. Raises UserError when `vocab_size` leaves
    no room for bytes, symbols and markers.
    """
    smallest = NUM_BYTES + len(SYMBOLS) + len(MARKERS)
    if vocab_size < smallest:
        raise UserError(f"--vocab-size must be >= {smallest} (bytes, symbols and markers), got {vocab_size}")
    learner = tokenizers.Tokenizer(models.BPE())
    learner.pre_tokenizer = word_splitter(pattern, SYMBOLS)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(SYMBOLS) - len(MARKERS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learner.train_from_iterator(_pieces(texts), trainer)
    learned = json.loads(learner.to_str())["model"]
    merges = [tuple(merge) for merge in learned["merges"]]
    return Tokenizer(make_text_tokenizer(learned["vocab"], merges, pattern, SYMBOLS))
