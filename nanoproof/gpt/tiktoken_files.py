"""A tokenizer as files for `tiktoken`: `tokenizer.tiktoken` (its usual format) and `tokenizer.tiktoken.json`.

    encoding = load_tiktoken(directory)
    encoding.encode_ordinary("⊢ a ≤ b")                                         # text; what Tokenizer.encode gives
    encoding.encode("<|endoftext|>⊢ a ≤ b\\n<|tactic|>", allowed_special="all")   # markers too

`encode_ordinary` never gives a marker. `tiktoken` itself breaks off at runs of about a million spaces, and reads a
lone surrogate as U+FFFD; `Tokenizer` encodes the former and refuses the latter.
"""

import base64
import hashlib
from pathlib import Path

import tiktoken

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, atomic_write_json, read_json
from nanoproof.gpt.tokenizer import MARKERS, Tokenizer

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
    """The encoding that `save_tiktoken` wrote. Raises UserError when it is missing or damaged."""
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
