"""ProofNet: exercises of undergraduate textbooks. A benchmark: never trained on, never filtered.

python -m nanoproof.data.bench.proofnet stats
python -m nanoproof.data.bench.proofnet show --split test --max 3
"""

from collections.abc import Sequence
from pathlib import Path

from nanoproof.common.errors import UserError, run_main
from nanoproof.data.manifest import open_file
from nanoproof.data.theorem_cli import run_command
from nanoproof.data.theorem_set import (
    BENCH_SPLITS,
    Parsed,
    TheoremSet,
    jsonl_rows,
    remove_lines,
    require_usable,
    text_field,
    with_sorry,
)
from nanoproof.lean.lexical import without_header
from nanoproof.lean.theorem import Theorem

NAME, FILE = "proofnet", "proofnet.jsonl"


def parse(path: Path) -> Parsed:
    """Header without imports, an empty line, statement, and `sorry` on a line of its own; the id is the name.

    Raises UserError, with the line, for what would change the number of theorems without notice: an unknown split, a
    name that occurs twice, a statement that cannot be worked with.
    """
    parsed = Parsed(NAME)
    names: set[str] = set()
    for place, row in jsonl_rows(path):
        name, split = text_field(row, "name", place), text_field(row, "split", place)
        header, statement = text_field(row, "header", place), text_field(row, "formal_statement", place).rstrip()
        if split not in BENCH_SPLITS:
            raise UserError(f"{place}: the field 'split' must be one of {', '.join(BENCH_SPLITS)}, got {split!r}")
        if name in names:
            raise UserError(f"{place}: the field 'name' must be unique, got {name!r} again")
        names.add(name)
        closed = with_sorry(statement, "\n  sorry", " by\n  sorry")
        if closed is None:
            raise UserError(f"{place}: the field 'formal_statement' must end in := or := by, got {statement[-40:]!r}")
        before = without_header(remove_lines(header, "import ")).strip()
        source = f"{before}\n\n{closed}" if before else closed
        require_usable(source, place)
        parsed.add(name, source, split)
    return parsed


SET = TheoremSet(NAME, BENCH_SPLITS, lambda: parse(open_file(NAME, FILE)))


def list_theorems(split: str, lean_version: str | None = None) -> list[Theorem]:
    """The theorems of `valid` or `test`, whatever the Lean version."""
    return SET.list_theorems(split, lean_version)


def main(argv: Sequence[str] | None = None) -> int:
    """`stats` or `show`."""
    return run_command(SET, "nanoproof.data.bench.proofnet", argv)


if __name__ == "__main__":
    run_main(main)
