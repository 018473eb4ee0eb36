"""miniF2F: school and olympiad problems. A benchmark: never trained on, never filtered.

python -m nanoproof.data.bench.minif2f stats
python -m nanoproof.data.bench.minif2f show --id mathd_algebra_302
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from nanoproof.common.errors import UserError, run_main
from nanoproof.data.manifest import open_file
from nanoproof.data.theorem_cli import run_command
from nanoproof.data.theorem_set import BENCH_SPLITS, Parsed, TheoremSet, require_usable, unusable_because
from nanoproof.lean.lexical import find_top_level, mask
from nanoproof.lean.theorem import Theorem

NAME = "minif2f"
FILES = {"valid": "Valid.lean", "test": "Test.lean"}
PREFIX = "open scoped Real\nopen scoped Nat\nopen scoped Topology\nopen scoped Polynomial\n\n"

_THEOREM = re.compile(r"^theorem[ \t\n]+(?P<name>[^\s:({\[⦃]+)", re.MULTILINE)
_COMMAND = re.compile(
    r"^(?:@\[|#|(?:theorem|lemma|example|def|abbrev|instance|noncomputable|private|protected|local|scoped|open|namespace"
    r"|section|end|set_option|variable|universe|attribute|notation|macro|syntax|import)(?![\w.']))",
    re.MULTILINE,
)


def parse(paths: dict[str, Path]) -> Parsed:
    """The theorems of each split's file as they stand there, up to their `sorry`; the id is the name.

    Where a proof is shipped (in Test.lean those of mathd_numbertheory_66 and mathd_algebra_302) it becomes `sorry`.
    Raises UserError, with file and line, for what would change the number of theorems without notice: a name that
    occurs twice, a statement that cannot be worked with.
    """
    parsed = Parsed(NAME)
    names: set[str] = set()
    for split, path in paths.items():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"{path} is not UTF-8 text: {error}") from error
        for line, name, block in blocks(text):
            place = f"{path}, line {line}, theorem {name}"
            if name in names:
                raise UserError(f"{place}: the name occurs twice")
            names.add(name)
            if unusable_because(PREFIX + block) is not None:
                block = without_proof(block)
            require_usable(PREFIX + block, place)
            parsed.add(name, PREFIX + block, split)
    return parsed


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, name and text of each theorem that begins a line; comments behind the last word are not part of it."""
    masked = mask(text)
    for match in _THEOREM.finditer(masked):
        following = _COMMAND.search(masked, match.end())
        end = following.start() if following else len(masked)
        end = match.start() + len(masked[match.start() : end].rstrip())
        yield text.count("\n", 0, match.start()) + 1, match["name"], text[match.start() : end]


def without_proof(block: str) -> str:
    """A theorem with `sorry` in place of its proof."""
    assign = find_top_level(mask(block), ":=")
    return block if assign < 0 else block[:assign] + ":= by\n  sorry"


def _read() -> Parsed:
    return parse({split: open_file(NAME, filename) for split, filename in FILES.items()})


SET = TheoremSet(NAME, BENCH_SPLITS, _read)


def list_theorems(split: str, lean_version: str | None = None) -> list[Theorem]:
    """The theorems of `valid` or `test`, whatever the Lean version."""
    return SET.list_theorems(split, lean_version)


def main(argv: Sequence[str] | None = None) -> int:
    """`stats` or `show`."""
    return run_command(SET, "nanoproof.data.bench.minif2f", argv)


if __name__ == "__main__":
    run_main(main)
