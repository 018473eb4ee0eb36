"""Text to tokens and back: byte-level BPE, with mathematical symbols and the markers of the token format as own tokens.

A text can never contain a marker: markers are numbers above the text tokens, they have no spelling. Symbols such as
`⊢` or `ℕ` are single tokens that no merge reaches across; digits stand alone; dotted names (`Nat.add_comm`) are one
word, so that frequent lemmas become single tokens.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, models, pre_tokenizers, trainers

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text
from nanoproof.common.suggestion import NUM_VALUE_BINS

TOKENIZER_FILE = "tokenizer.json"

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
NUM_BYTES = 256

# A word is a dotted name, a digit, a run of punctuation or a run of whitespace; one space may lead a name or a run.
WORD_PATTERN = r" ?[\p{L}_]+(?:[._'][\p{L}_]+)*'*| ?\p{N}| ?[^\s\p{L}\p{N}_]+|\s+(?!\S)|\s+"


def _byte_of_character() -> dict[str, int]:
    """The byte that each character of a byte-level BPE vocabulary stands for: printable ones stand for themselves."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(NUM_BYTES) if byte not in printable]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(NUM_BYTES + index): byte for index, byte in enumerate(others)}


class Tokenizer:
    """A trained vocabulary. Text tokens come first, then the markers: BOS/EOS, pad, tactic, value and 64 value bins."""

    def __init__(self, text_tokenizer: tokenizers.Tokenizer) -> None:
        self._text = text_tokenizer
        self.num_text_tokens: int = text_tokenizer.get_vocab_size(with_added_tokens=True)
        self.vocab_size = self.num_text_tokens + len(MARKERS)
        first = self.num_text_tokens
        self.bos, self.pad, self.tactic, self.value = first, first + 1, first + 2, first + 3
        self.bins = tuple(range(first + 4, first + 4 + NUM_VALUE_BINS))
        self._bytes = [self._bytes_of(token) for token in range(self.num_text_tokens)]

    @property
    def eos(self) -> int:
        """The document delimiter ends a text as well as it begins one."""
        return self.bos

    def _bytes_of(self, token: int) -> bytes:
        spelling = self._text.id_to_token(token) or ""
        if spelling in SYMBOLS:
            return spelling.encode("utf-8")
        return bytes(_BYTE_OF_CHARACTER[character] for character in spelling)

    def encode(self, text: str) -> list[int]:
        """Text tokens of `text`; never markers."""
        return list(self._text.encode(text).ids)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` of many texts, on several threads."""
        return [list(encoding.ids) for encoding in self._text.encode_batch(list(texts))]

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of text tokens; markers say nothing, and bytes that are no UTF-8 become U+FFFD."""
        pieces = [self._bytes[token] for token in tokens if 0 <= token < self.num_text_tokens]
        return b"".join(pieces).decode("utf-8", errors="replace")

    def describe(self, token: int) -> str:
        """How a token is shown to people: the marker's name, or the text."""
        if token >= self.num_text_tokens:
            return MARKERS[token - self.num_text_tokens]
        return self._bytes[token].decode("utf-8", errors="replace")

    def save(self, path: Path) -> None:
        """Write one JSON file, atomically; `path` is the file, or the directory for `tokenizer.json`."""
        atomic_write_text(_file_of(path), self._text.to_str(pretty=True))

    @classmethod
    def load(cls, path: Path | str) -> "Tokenizer":
        """Read a saved tokenizer (file or directory). Raises UserError when it is missing or damaged."""
        file = _file_of(Path(path))
        try:
            return cls(tokenizers.Tokenizer.from_str(file.read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            raise UserError(f"no tokenizer at {file}; make one with: python -m scripts.tok_train") from error
        except Exception as error:  # the tokenizers library raises nothing narrower
            raise UserError(f"{file} is not a tokenizer: {error}") from error


_BYTE_OF_CHARACTER = _byte_of_character()
_SYMBOL_SPLIT = re.compile("|".join(map(re.escape, SYMBOLS)))


def _file_of(path: Path) -> Path:
    return path if path.suffix == ".json" else path / TOKENIZER_FILE


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """The stretches of text between symbols: what merges may be learned from."""
    for text in texts:
        yield from (piece for piece in _SYMBOL_SPLIT.split(text) if piece)


def train_tokenizer(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """Learn merges until there are `vocab_size` tokens in all (bytes, symbols and markers included).

    Texts that are too small to give as many merges make a smaller vocabulary. Raises UserError when `vocab_size` leaves
    no room for bytes, symbols and markers.
    """
    smallest = NUM_BYTES + len(SYMBOLS) + len(MARKERS)
    if vocab_size < smallest:
        raise UserError(f"--vocab-size must be >= {smallest} (bytes, symbols and markers), got {vocab_size}")
    text_tokenizer = tokenizers.Tokenizer(models.BPE())
    text_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORD_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(SYMBOLS) - len(MARKERS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    text_tokenizer.train_from_iterator(_pieces(texts), trainer)
    text_tokenizer.add_tokens([AddedToken(symbol, normalized=False) for symbol in SYMBOLS])
    return Tokenizer(text_tokenizer)
