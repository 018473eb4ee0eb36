"""Measure how well tokenizers compress texts of different kinds, against plain GPT-2.

python -m scripts.tok_eval
python -m scripts.tok_eval --tokenizer my_tokenizer other/tokenizer.json --input shards/ Mathlib/Algebra

The built-in samples are short texts of our own, one of each kind that a prover reads; every --input is one more kind.
Fewer tokens for the same text are better: a model sees more of it at the same cost. Decoding is checked on the way.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nanoproof.common.config import Parser, add_flags, from_args, opt, to_dict, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.common.terminal import Paint, print_lines, table
from nanoproof.model.tokenizer import Tokenizer, gpt2_tokenizer
from scripts.tok_build import BUILT, default_name, named_tokenizer
from scripts.tok_samples import SAMPLES
from scripts.tok_texts import read_texts

BASELINE = "gpt2"
AT_ONCE = 256
"""Texts that are encoded together."""


@validated("tok_eval")
class EvalOptions:
    """Comparison."""

    tokenizer: tuple[str, ...] = opt(
        (), "Tokenizer files or directories, or `built` (what tok_build writes); default: `built`, and yours if any."
    )
    input: tuple[str, ...] = opt((), "More texts: `nanolean`, or files and directories of JSONL, parquet or text.")
    max_chars: int = opt(2_000_000, "Characters to read of each input.", min=1)
    samples: bool = opt(True, "Compare on the built-in samples.")
    json: str | None = opt(None, "File to write the numbers to.")


@dataclass(frozen=True)
class Score:
    """Scores of one tokenizer on the texts of one kind."""

    kind: str
    tokenizer: str
    characters: int
    bytes: int
    tokens: int
    relative: float
    """Tokens divided by those of plain GPT-2."""

    @property
    def bytes_per_token(self) -> float:
        return self.bytes / self.tokens

    @property
    def tokens_per_character(self) -> float:
        return self.tokens / self.characters

    def to_json(self) -> dict[str, object]:
        """Return all figures as a JSON object, the derived ones too."""
        derived = {"bytes_per_token": self.bytes_per_token, "tokens_per_character": self.tokens_per_character}
        return {**to_dict(self), **derived}


def load_tokenizers(names: tuple[str, ...]) -> dict[str, Tokenizer]:
    """Load the tokenizers of --tokenizer by name, after plain GPT-2. Raises UserError if one is missing."""
    tokenizers = {BASELINE: gpt2_tokenizer(())}  # without Lean's symbols
    for name in names or (BUILT, default_name()):
        if name not in tokenizers:
            tokenizers[name] = named_tokenizer(name)
    return tokenizers


def count(kind: str, texts: Iterable[str], tokenizers: dict[str, Tokenizer]) -> list[Score]:
    """Score all tokenizers on one kind of text. Raises UserError if there is no text."""
    characters = num_bytes = 0
    tokens = dict.fromkeys(tokenizers, 0)
    for batch in _batches(texts):
        for text in batch:
            characters += len(text)
            num_bytes += len(text.encode("utf-8"))
        for name, tokenizer in tokenizers.items():
            for text, encoded in zip(batch, tokenizer.encode_batch(batch)):
                # Fewer tokens by losing something would be no merit.
                assert tokenizer.decode(encoded) == text, f"{name} does not give a text back"
                tokens[name] += len(encoded)
    if characters == 0:
        raise UserError(f"--input {kind}: there is no text in it")
    scores = []
    for name, count_of_name in tokens.items():
        scores.append(Score(kind, name, characters, num_bytes, count_of_name, count_of_name / tokens[BASELINE]))
    return scores


def _batches(texts: Iterable[str]) -> Iterable[list[str]]:
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    yield batch


def score_table(scores: list[Score]) -> list[str]:
    """Render the scores as a table, kind by kind."""
    rows: list[tuple[object, ...]] = []
    last_kind = None
    for score in scores:
        # A kind is named in its first row, with an empty line above.
        kind = None
        if score.kind != last_kind:
            kind = score.kind
            if rows:
                rows.append(())
        last_kind = score.kind
        change = None
        if score.tokenizer != BASELINE:
            change = f"{100 * (score.relative - 1):+.1f}%"
        rates = (f"{score.bytes_per_token:.2f}", f"{score.tokens_per_character:.3f}", change)
        rows.append((kind, score.tokenizer, score.tokens, *rates))
    headers = ("kind", "tokenizer", ">tokens", ">bytes/token", ">tokens/char", f">tokens vs {BASELINE}")
    return table(headers, rows, Paint())


def main(argv: list[str] | None = None) -> int:
    """Print the scores of the tokenizers."""
    parser = Parser(prog="python -m scripts.tok_eval", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, EvalOptions)
    options = from_args(EvalOptions, parser.parse_args(argv))
    if not options.samples and not options.input:
        raise UserError("--no-samples leaves nothing to compare on; give texts with --input")
    tokenizers = load_tokenizers(options.tokenizer)
    kinds: dict[str, Iterable[str]] = {}
    if options.samples:
        kinds |= {kind: [text] for kind, text in SAMPLES.items()}
    for source in options.input:
        kinds[source] = read_texts(source, options.max_chars)
    scores: list[Score] = []
    for kind, texts in kinds.items():
        scores += count(kind, texts, tokenizers)
    sizes = ", ".join(f"{name} {tokenizer.num_text_tokens:,}" for name, tokenizer in tokenizers.items())
    round_trip = "round trip: every text came back the same from every tokenizer"
    print_lines([*score_table(scores), "", f"text tokens: {sizes}", round_trip])
    if options.json:
        try:
            atomic_write_json(Path(options.json), [score.to_json() for score in scores])
        except OSError as error:
            raise UserError(f"--json {options.json}: cannot write there: {error.strerror}") from error
    return 0


if __name__ == "__main__":
    run_main(main)
