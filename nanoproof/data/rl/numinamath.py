"""NuminaMath-LEAN: contest problems put into Lean, without their imports, options and checks.

python -m nanoproof.data.rl.numinamath stats
python -m nanoproof.data.rl.numinamath show --id UUID
"""

from collections.abc import Sequence
from pathlib import Path

from nanoproof.common.errors import run_main
from nanoproof.data.manifest import open_file
from nanoproof.data.theorem_cli import run_command
from nanoproof.data.theorem_set import (
    RL_SPLITS,
    Parsed,
    TheoremSet,
    parquet_rows,
    remove_lines,
    text_field,
    with_sorry,
)
from nanoproof.lean.theorem import Theorem

NAME, FILE = "numinamath", "numinamath.parquet"
REMOVED_LINES = ("import ", "set_option ", "#check ")


def parse(path: Path) -> Parsed:
    """The statements that end in `:= by` or `:=` and have no other `sorry`; the id is the uuid."""
    parsed = Parsed(NAME)
    for place, row in parquet_rows(path, ("uuid", "formal_statement")):
        uuid, statement = text_field(row, "uuid", place), text_field(row, "formal_statement", place)
        statement = remove_lines(statement.strip(), *REMOVED_LINES).strip()
        source = with_sorry(statement, " sorry", " by sorry")
        if source is None:
            parsed.leave_out("does not end in := by or :=")
        elif "sorry" in statement:
            parsed.leave_out("another sorry")
        else:
            parsed.add(uuid, source)
    return parsed


SET = TheoremSet(NAME, RL_SPLITS, lambda: parse(open_file(NAME, FILE)))


def list_theorems(split: str, lean_version: str | None = None) -> list[Theorem]:
    """The theorems of `train` or `valid`; see `TheoremSet.list_theorems`."""
    return SET.list_theorems(split, lean_version)


def main(argv: Sequence[str] | None = None) -> int:
    """`stats` or `show`."""
    return run_command(SET, "nanoproof.data.rl.numinamath", argv)


if __name__ == "__main__":
    run_main(main)
