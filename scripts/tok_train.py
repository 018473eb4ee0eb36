"""Train a tokenizer: byte-level BPE over proof states and tactics, or over any text.

python -m scripts.tok_train --vocab-size 1024
python -m scripts.tok_train --input leantree_mathlib.jsonl notes.txt shards/ --vocab-size 32768 --out my_tokenizer

Inputs are `nanolean`, LeanTree JSONL, parquet or JSON lines with a field `text`, UTF-8 text, or directories of these.
What is written is what tok_build writes, both for `tokenizers` and for `tiktoken`. For large models of natural
language and Lean, GPT-2's vocabulary needs no training: python -m scripts.tok_build.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from nanoproof.common.config import Parser, add_flags, from_args, opt, to_dict, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.run_dir import home
from nanoproof.model.tokenizer import TOKENIZER_FILE, train_tokenizer
from scripts.tok_build import write_tokenizer
from scripts.tok_texts import read_texts


@validated("tokenizer")
class TrainOptions:
    """Tokenizer training."""

    input: tuple[str, ...] = opt(
        ("nanolean",), "What to learn from: `nanolean`, or files and directories of JSONL, parquet or text."
    )
    max_chars: int | None = opt(None, "Characters to read of each input; default: all of it.", min=1)
    vocab_size: int = opt(1024, "Tokens in all: bytes, symbols, markers and merges.", min=1, max=1 << 20)
    pattern: Literal["lean", "gpt2"] = opt(
        "lean",
        "What merges stay within: `lean` keeps dotted names together and digits apart, `gpt2` does as GPT-2 does.",
    )
    out: str | None = opt(None, "Directory to write to; default $NANOPROOF_HOME/tokenizer.")


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


def main(argv: list[str] | None = None) -> int:
    """Train and write the tokenizer."""
    parser = Parser(prog="python -m scripts.tok_train", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, TrainOptions)
    options = from_args(TrainOptions, parser.parse_args(argv))
    out = Path(options.out or home() / "tokenizer").expanduser()
    counter = TextCounter()
    # One after the other, as they are read: all inputs together may be larger than the memory.
    inputs = (read_texts(source, options.max_chars) for source in options.input)
    texts = counter.count(itertools.chain.from_iterable(inputs))
    tokenizer = train_tokenizer(texts, options.vocab_size, options.pattern)
    if counter.characters == 0:
        raise UserError(f"--input {' '.join(options.input)}: there is no text in it")
    write_tokenizer(tokenizer, out, {**to_dict(options), "texts": counter.texts, "characters": counter.characters})
    read = f"{counter.characters:,} characters of text"
    print(f"{tokenizer.vocab_size:,} tokens from {read}, written to {out / TOKENIZER_FILE}")
    if tokenizer.vocab_size < options.vocab_size:
        print(f"fewer than --vocab-size {options.vocab_size:,}: there was nothing more to learn from these texts")
    return 0


if __name__ == "__main__":
    run_main(main)
