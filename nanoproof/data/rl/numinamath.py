"""NuminaMath-LEAN: contest problems put into Lean, without their imports, options and checks.

python -m nanoproof.data.rl.numinamath stats
python -m nanoproof.data.rl.numinamath show --id UUID
"""

import re
from collections.abc import Sequence
from pathlib import Path

from nanoproof.common.errors import run_main
from nanoproof.data.dataset_cli import run_command
from nanoproof.data.sources.manifest import open_file
from nanoproof.data.theorems import theorem_sets
from nanoproof.lean.lexical import without_header
from nanoproof.lean.types import Theorem

NAME, FILE = "numinamath", "numinamath.parquet"
REMOVED_LINES = ("import ", "set_option ", "#check ")
_BY = re.compile(r":=\s*by\Z")
"""The end of most statements: also `:=by`, and `by` on a line of its own."""


def parse(path: Path) -> theorem_sets.Parsed:
    """The statements that end in `:= by` or `:=` and have no other `sorry`; the id is the uuid.

    Of a uuid that occurs twice the first row counts, whatever is in it.
    """
    parsed = theorem_sets.Parsed(NAME)
    seen: set[str] = set()
    for place, row in theorem_sets.parquet_rows(path, ("uuid", "formal_statement")):
        uuid, statement = (
            theorem_sets.text_field(row, "uuid", place),
            theorem_sets.text_field(row, "formal_statement", place),
        )
        statement = without_header(theorem_sets.remove_lines(statement.strip(), *REMOVED_LINES)).strip()
        source = (
            statement + " sorry" if _BY.search(statement) else theorem_sets.with_sorry(statement, " sorry", " by sorry")
        )
        if uuid in seen:
            parsed.leave_out(theorem_sets.DUPLICATE)
        elif source is None:
            parsed.leave_out("does not end in := by or :=")
        elif "sorry" in statement:
            parsed.leave_out("another sorry")
        else:
            parsed.add(uuid, source)
        seen.add(uuid)
    return parsed


SET = theorem_sets.TheoremSet(NAME, theorem_sets.RL_SPLITS, lambda: parse(open_file(NAME, FILE)))


def list_theorems(split: str, lean_version: str | None = None) -> list[Theorem]:
    """The theorems of `train` or `valid`; see `TheoremSet.list_theorems`."""
    return SET.list_theorems(split, lean_version)


def main(argv: Sequence[str] | None = None) -> int:
    """`stats` or `show`."""
    return run_command(SET, "nanoproof.data.rl.numinamath", argv)


if __name__ == "__main__":
    run_main(main)
