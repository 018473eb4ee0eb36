"""The text of a stage: what is for training, the validation text, and about how many tokens there are."""

from collections.abc import Iterator
from dataclasses import dataclass

from nanoproof.common.dist import DistInfo, broadcast_json
from nanoproof.common.errors import UserError
from nanoproof.data.documents import Corpus, Documents, Segment
from nanoproof.gpt.tokenizer import Tokenizer
from nanoproof.training.bits_per_byte import ValidationText

SAMPLE_BYTES = 4_000_000
SAMPLED_PLACES = 16


@dataclass(frozen=True)
class StageText:
    """A corpus, as a model with this tokenizer and row length reads it."""

    corpus: Corpus
    valid: ValidationText
    train_tokens: float
    """Tokens to train on in one epoch; counted where the corpus is small, else estimated from a sample."""

    @classmethod
    def read(
        cls, corpus: Corpus, tokenizer: Tokenizer, row_length: int, eval_tokens: int, dist: DistInfo
    ) -> "StageText":
        """Tokenize what validation and the estimate need. All ranks call it together."""
        valid = ValidationText.encode(tokenizer, texts(corpus.valid), row_length, eval_tokens)
        if valid.num_bytes == 0:
            raise UserError(f"--data {corpus.name}: there is no text to validate with")
        estimate = count_tokens(corpus.train, tokenizer) if dist.is_main else 0.0
        return cls(corpus, valid, float(broadcast_json(estimate)))


def texts(documents: Documents) -> Iterator[str]:
    """Every document that is not empty, in order."""
    for segment in documents.segments:
        yield from _read(segment)


def count_tokens(documents: Documents, tokenizer: Tokenizer) -> float:
    """About how many tokens the documents have, their BOS included; exact where they are no more than the sample.

    The sample is the first documents of places that are evenly spread.
    """
    segments = documents.segments
    if documents.num_bytes > SAMPLE_BYTES:
        stride = max(1, len(segments) // SAMPLED_PLACES)
        segments = segments[::stride][:SAMPLED_PLACES]
    share = min(1.0, SAMPLE_BYTES / max(1.0, sum(segment.num_bytes for segment in segments)))
    tokens, num_bytes = 0, 0.0
    for segment in segments:
        wanted = max(1, round(segment.count * share))
        encoded = tokenizer.encode_arrays(list(_read(segment, wanted)))
        tokens += sum(map(len, encoded)) + len(encoded)
        num_bytes += segment.num_bytes * wanted / segment.count
    return tokens * documents.num_bytes / max(1.0, num_bytes)


def _read(segment: Segment, count: int | None = None) -> Iterator[str]:
    for text in segment.read(count):
        if text and not text.isspace():
            yield text
