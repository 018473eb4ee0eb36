"""NuminaMath-LEAN: contest problems formalized in Lean, without their imports, options and checks.

python -m nanoproof.data.rl.numinamath stats
python -m nanoproof.data.rl.numinamath show --id UUID
"""

import re
from functools import partial
from pathlib import Path

from nanoproof.common.errors import run_main
from nanoproof.data.dataset_cli import run_command
from nanoproof.data.sources.manifest import file_path
from nanoproof.data.theorems import theorem_sets
from nanoproof.lean.lexical import without_header

NAME, FILE = "numinamath", "numinamath.parquet"
# Limits such as `maxHeartbeats` are their authors'; the server has its own, and its own imports.
REMOVED_LINES = ("import ", "set_option ", "#check ")
_BY = re.compile(r":=\s*by\Z")
"""The end of most statements: also `:=by`, and `by` on a line of its own."""


def parse(path: Path) -> theorem_sets.ParsedTheorems:
    """Parse the statements that end in `:= by` or `:=` and have no other `sorry`; the id is the uuid.

    Of a uuid that occurs twice the first row counts, whatever is in it.
    """
    parsed = theorem_sets.ParsedTheorems(NAME)
    seen: set[str] = set()
    for place, row in theorem_sets.parquet_rows(path, ("uuid", "formal_statement")):
        uuid = theorem_sets.text_field(row, "uuid", place)
        statement = theorem_sets.text_field(row, "formal_statement", place)
        statement = without_header(theorem_sets.remove_lines(statement.strip(), *REMOVED_LINES)).strip()
        if _BY.search(statement):
            source: str | None = statement + " sorry"
        else:
            source = theorem_sets.with_sorry(statement, " sorry", " by sorry")
        if uuid in seen:
            parsed.leave_out(theorem_sets.DUPLICATE)
        elif source is None:
            parsed.leave_out("does not end in := by or :=")
        elif "sorry" in statement:  # a definition left open: the final check would refuse every proof
            parsed.leave_out("another sorry")
        else:
            parsed.add(uuid, source)
        seen.add(uuid)
    return parsed


SET = theorem_sets.TheoremSet(NAME, theorem_sets.RL_SPLITS, lambda: parse(file_path(NAME, FILE)))
list_theorems = SET.list_theorems
main = partial(run_command, SET, "nanoproof.data.rl.numinamath")


if __name__ == "__main__":
    run_main(main)
