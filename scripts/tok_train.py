"""Train the tokenizer: byte-level BPE over proof states and tactics, or over any text.

python -m scripts.tok_train --vocab-size 1024
python -m scripts.tok_train --input leantree_mathlib.jsonl notes.txt --vocab-size 32768 --out my_tokenizer
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nanoproof.common.config import Parser, add_flags, from_args, opt, to_dict, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.common.run_dir import home
from nanoproof.data.transitions import read_transitions
from nanoproof.gpt.tokenizer import TOKENIZER_FILE, train_tokenizer


@dataclass(frozen=True)
class TokenizerOptions:
    """Tokenizer training."""

    input: tuple[str, ...] = opt(
        ("nanolean",), "What to learn from: `nanolean`, LeanTree JSONL files (*.jsonl), or UTF-8 text files."
    )
    vocab_size: int = opt(1024, "Tokens in all: bytes, symbols, markers and merges.", min=1)
    out: str | None = opt(None, "Directory to write to; default $NANOPROOF_HOME/tokenizer.")

    def __post_init__(self) -> None:
        validate(self, "tokenizer")


class TextCounter:
    """Passes texts on and counts what went by."""

    def __init__(self) -> None:
        self.texts = 0
        self.characters = 0

    def count(self, texts: Iterator[str]) -> Iterator[str]:
        for text in texts:
            self.texts += 1
            self.characters += len(text)
            yield text


def read_texts(source: str) -> Iterator[str]:
    """States and tactics of a transitions file, or the lines of a text file. Raises UserError if it cannot be read."""
    path = Path(source)
    if source == "nanolean":
        from nanoproof.data.nanolean import transitions_file  # loads the embedded prover, which other inputs do without

        path = transitions_file()
    if path.suffix == ".jsonl":
        for transition in read_transitions(path):
            yield transition.state + "\n"
            yield transition.tactic
        return
    try:
        with open(path, encoding="utf-8") as file:
            yield from file
    except FileNotFoundError as error:
        raise UserError(f"--input {source}: no such file") from error
    except UnicodeDecodeError as error:
        raise UserError(f"--input {source}: not UTF-8 text (byte {error.start})") from error


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = Parser(prog="python -m scripts.tok_train", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, TokenizerOptions)
    options = from_args(TokenizerOptions, parser.parse_args(argv))
    out = Path(options.out) if options.out else home() / "tokenizer"
    counter = TextCounter()
    texts = counter.count(text for source in options.input for text in read_texts(source))
    tokenizer = train_tokenizer(texts, options.vocab_size)
    if counter.characters == 0:
        raise UserError(f"--input {' '.join(options.input)}: there is no text in it")
    tokenizer.save(out)
    meta = {**to_dict(options), "vocab_size": tokenizer.vocab_size}
    meta |= {"texts": counter.texts, "characters": counter.characters}
    atomic_write_json(out / "tokenizer_meta.json", meta)
    print(f"{tokenizer.vocab_size} tokens from {counter.texts:,} texts, written to {out / TOKENIZER_FILE}")
    return 0


if __name__ == "__main__":
    run_main(main)
