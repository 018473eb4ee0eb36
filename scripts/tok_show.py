"""Show how a text is split into tokens: in colours on a terminal, between bars elsewhere, with the numbers below.

python -m scripts.tok_show "theorem t (n : ℕ) : n ≤ n + 1"
python -m scripts.tok_show $'n : ℕ\\n⊢ n ≤ n + 1' --tactic "exact Nat.le_succ n"
python -m scripts.tok_show --file Foo.lean --list
python -m scripts.tok_show --ids 50373 38 50374

With --tactic or --depth the text is a proof state, and what is shown is the sample that training makes of it, with the
markers by their names. NO_COLOR switches colours off.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.terminal import use_color
from nanoproof.lean.types import Transition
from nanoproof.model.tokenizer import Tokenizer
from scripts.tok_build import default_name, named_tokenizer

BACKGROUNDS = (24, 58, 53, 22, 94)
"""Dark colours of the 256-colour palette that take turns."""
BAR = "│"
MARKER_STYLE = "\x1b[1;7m"
RESET = "\x1b[0m"


@validated("tok_show")
class ShowOptions:
    """Text and form of the output."""

    file: str | None = opt(None, "UTF-8 file to read the text from; `-` is standard input.")
    ids: tuple[int, ...] = opt((), "Numbers of tokens to show instead of a text.")
    tactic: str | None = opt(None, "Show the tactic sample of the text and this tactic.")
    depth: int | None = opt(None, "Show the value sample of the text at this proof depth.", min=1)
    tokenizer: str | None = opt(
        None, "Tokenizer file or directory, or `built`; default $NANOPROOF_HOME/tokenizer if there, else `built`."
    )
    list: bool = opt(False, "One token per line, with its number and its bytes.")

    def __post_init__(self) -> None:
        check(self.tactic is None or self.depth is None, "--tactic and --depth are two samples; give one of them")
        sample = self.tactic is not None or self.depth is not None
        check(not (self.ids and sample), "--ids are shown as they are, without --tactic or --depth")


def read_text(text: str | None, file: str | None) -> str:
    """Read the text of the command line or of a file. Raises UserError unless there is exactly one, readable."""
    if (text is None) == (file is None):
        raise UserError("give one text: TEXT, --file or --ids")
    if file is None:
        return text or ""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).expanduser().read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise UserError(f"--file {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"--file {file}: not UTF-8 text (byte {error.start})") from error


def sample_tokens(tokenizer: Tokenizer, text: str, options: ShowOptions) -> list[int]:
    """Return the tokens of the text, or of the sample that --tactic or --depth asks for."""
    if options.tactic is None and options.depth is None:
        return tokenizer.encode(text)
    from nanoproof.data.transitions.packing import ExampleLimits, encode_transition  # imports torch

    limits = ExampleLimits(*[sys.maxsize] * 3)  # what training would leave out is shown too
    example = encode_transition(tokenizer, Transition(text, options.tactic or "", options.depth or 1), limits)
    assert example is not None
    # Both follow the same state: training encodes it once for them.
    tactic, value = example.continuations
    if options.tactic is None:
        return [*example.prefix, *value.tokens]
    return [*example.prefix, *tactic.tokens]


def visible(tokenizer: Tokenizer, token: int) -> str:
    """Render a token: halves of characters as bytes, spaces and line breaks visibly."""
    if token >= tokenizer.num_text_tokens:
        return tokenizer.describe(token)
    data = tokenizer.bpe.tokens[token]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return f"<{data.hex(' ')}>"
    return "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character in "\n\t\r":
        return {"\n": "⏎\n", "\t": "⇥", "\r": "␍"}[character]
    if not character.isprintable():
        return f"<U+{ord(character):04X}>"
    return character


def render(tokenizer: Tokenizer, tokens: Sequence[int], color: bool) -> str:
    """Render the tokens in a row: in alternating colours, or with bars between them."""
    if not color:
        return BAR.join(visible(tokenizer, token) for token in tokens)
    colored = ""
    for index, token in enumerate(tokens):
        style = f"\x1b[97;48;5;{BACKGROUNDS[index % len(BACKGROUNDS)]}m"
        if token >= tokenizer.num_text_tokens:
            style = MARKER_STYLE
        text = visible(tokenizer, token)
        # The colour ends with the line: a terminal would fill the next one with it to its right edge.
        colored += re.sub(r"[^\n]+", rf"{style}\g<0>{RESET}", text)
    return colored


def listing(tokenizer: Tokenizer, tokens: Sequence[int]) -> str:
    """Render one token per line: number, bytes, text."""
    sizes = tokenizer.token_bytes()
    lines = []
    for token in tokens:
        text = visible(tokenizer, token).replace("\n", "")
        lines.append(f"{token:>6}  {sizes[token]:>3}  {text}")
    return "\n".join(lines)


def summary(tokenizer: Tokenizer, tokens: Sequence[int]) -> str:
    """Return counts of tokens, characters and bytes."""
    sizes = tokenizer.token_bytes()
    num_bytes = markers = 0
    for token in tokens:
        num_bytes += int(sizes[token])
        markers += token >= tokenizer.num_text_tokens
    counts = [f"{len(tokens)} tokens", f"{len(tokenizer.decode(tokens))} characters", f"{num_bytes} bytes"]
    # With markers, which have no bytes, the rate would be none of the text's.
    if markers:
        counts.append(f"{markers} of the tokens are markers")
    elif tokens:
        counts.append(f"{num_bytes / len(tokens):.2f} bytes per token")
    return ", ".join(counts)


def main(argv: list[str] | None = None) -> int:
    """Print the tokens."""
    parser = Parser(prog="python -m scripts.tok_show", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", nargs="?", help="Text to split.")
    add_flags(parser, ShowOptions)
    args = parser.parse_args(argv)
    options = from_args(ShowOptions, args)
    tokenizer = named_tokenizer(options.tokenizer or default_name())
    if options.ids:
        if args.text is not None or options.file is not None:
            raise UserError("--ids and a text (TEXT or --file) cannot be shown at once")
        tokens = list(options.ids)
        wrong = [token for token in tokens if not 0 <= token < tokenizer.vocab_size]
        if wrong:
            raise UserError(f"--ids must be >= 0 and < {tokenizer.vocab_size}, got {wrong[0]}")
    else:
        tokens = sample_tokens(tokenizer, read_text(args.text, options.file), options)
    if options.list:
        print(listing(tokenizer, tokens))
    else:
        print(render(tokenizer, tokens, use_color()))
        print(" ".join(map(str, tokens)))
    print(summary(tokenizer, tokens))
    return 0


if __name__ == "__main__":
    run_main(main)
