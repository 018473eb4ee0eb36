"""Build the large tokenizer: GPT-2's merges, Lean's symbols as single tokens, and the markers of the token format.

python -m scripts.tok_build
python -m scripts.tok_build --out my_tokenizer

Nothing is downloaded: the merges come with the package. Two forms of the same encoding are written: `tokenizer.json`
for the `tokenizers` library, which every stage of training reads and every checkpoint carries, and
`tokenizer.tiktoken` with `tokenizer.tiktoken.json` for `tiktoken` (nanoproof.model.tokenizer.load_tiktoken). Both
are read back and compared on sample texts before the command says that it is done.

For models of natural language and real Lean. A model of the embedded prover alone is better off with a small
vocabulary of its own: python -m scripts.tok_train.
"""

from dataclasses import dataclass
from pathlib import Path

import tokenizers

from nanoproof.common.config import Parser, add_flags, from_args, opt
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.common.run_dir import home
from nanoproof.model.tokenizer import (
    MARKERS,
    RANKS_FILE,
    TOKENIZER_FILE,
    Tokenizer,
    gpt2_tokenizer,
    load_tiktoken,
    save_tiktoken,
)
from scripts.tok_samples import SAMPLES

META_FILE = "tokenizer_meta.json"
BUILT = "built"
"""The name by which the other commands know what this one writes, whether it was written or not."""


def default_name() -> str:
    """Return the tokenizer in $NANOPROOF_HOME if there is one, else `built`."""
    own = home() / "tokenizer"
    if (own / TOKENIZER_FILE).exists():
        return str(own)
    return BUILT


def named_tokenizer(name: str) -> Tokenizer:
    """Open `built`, or a tokenizer file or directory. Raises UserError if it is missing."""
    if name == BUILT:
        return gpt2_tokenizer()
    return Tokenizer.load(Path(name).expanduser())


@dataclass(frozen=True)
class BuildOptions:
    """Building."""

    out: str | None = opt(None, "Directory to write to; default $NANOPROOF_HOME/tokenizer.")


def write_tokenizer(tokenizer: Tokenizer, out: Path, made_from: dict[str, object]) -> None:
    """Write both forms and how they were made, and read them back and compare. Raises UserError if it cannot."""
    meta = {**made_from, "vocab_size": tokenizer.vocab_size, "fingerprint": tokenizer.fingerprint}
    try:
        tokenizer.save(out)
        save_tiktoken(tokenizer, out)
        atomic_write_json(out / META_FILE, meta)
    except OSError as error:
        raise UserError(f"--out {out}: cannot write there: {error.strerror}") from error
    # Markers in a text are text, whoever wrote it, and never the tokens that bound a state.
    check_same(out, [*SAMPLES.values(), " ".join(MARKERS)])


def check_same(directory: Path, texts: list[str]) -> None:
    """Assert that both forms in `directory` encode these texts alike, and that decoding gives the texts back."""
    loaded, of_tiktoken = Tokenizer.load(directory), load_tiktoken(directory)
    of_library = tokenizers.Tokenizer.from_file(str(directory / TOKENIZER_FILE))  # without what our class adds to it
    for text in texts:
        tokens = loaded.encode(text)
        assert tokens == of_tiktoken.encode_ordinary(text) == of_library.encode(text).ids, "the two forms differ"
        assert loaded.decode(tokens) == text, "decoding does not give the text back"


def main(argv: list[str] | None = None) -> int:
    """Build, write and check the tokenizer."""
    parser = Parser(prog="python -m scripts.tok_build", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, BuildOptions)
    options = from_args(BuildOptions, parser.parse_args(argv))
    out = Path(options.out or home() / "tokenizer").expanduser()
    tokenizer = gpt2_tokenizer()
    write_tokenizer(tokenizer, out, {"merges": "gpt2", "pattern": "gpt2"})
    print(f"{tokenizer.vocab_size:,} tokens (fingerprint {tokenizer.fingerprint}), written to {out / TOKENIZER_FILE}")
    print(f"the same for tiktoken: {out / RANKS_FILE}")
    return 0


if __name__ == "__main__":
    run_main(main)
