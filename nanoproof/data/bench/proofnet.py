"""ProofNet: exercises of undergraduate textbooks. A benchmark: never trained on, never filtered.

python -m nanoproof.data.bench.proofnet stats
python -m nanoproof.data.bench.proofnet show --split test --max 3
"""

from functools import partial
from pathlib import Path

from nanoproof.common.errors import UserError, run_main
from nanoproof.data.dataset_cli import run_command
from nanoproof.data.sources.manifest import file_path
from nanoproof.data.theorems import theorem_sets
from nanoproof.lean.lexical import without_header

NAME, FILE = "proofnet", "proofnet.jsonl"


def parse(path: Path) -> theorem_sets.ParsedTheorems:
    """Parse each line: header without imports, statement, and `sorry` on a line of its own; the id is the name.

    Raises UserError, with the line, for what would change the number of theorems without notice: an unknown split, a
    name that occurs twice, a statement that cannot be worked with.
    """
    parsed = theorem_sets.ParsedTheorems(NAME)
    names: set[str] = set()
    for place, row in theorem_sets.jsonl_rows(path):
        name, split = theorem_sets.text_field(row, "name", place), theorem_sets.text_field(row, "split", place)
        header = theorem_sets.text_field(row, "header", place)
        statement = theorem_sets.text_field(row, "formal_statement", place).rstrip()
        if split not in theorem_sets.BENCH_SPLITS:
            raise UserError(
                f"{place}: the field 'split' must be one of {', '.join(theorem_sets.BENCH_SPLITS)}, got {split!r}"
            )
        if name in names:
            raise UserError(f"{place}: the field 'name' must be unique, got {name!r} again")
        names.add(name)
        closed = theorem_sets.with_sorry(statement, "\n  sorry", " by\n  sorry")
        if closed is None:
            raise UserError(f"{place}: the field 'formal_statement' must end in := or := by, got {statement[-40:]!r}")
        # The server has its imports already, and Lean takes none behind the first command.
        before = without_header(theorem_sets.remove_lines(header, "import ")).strip()
        source = f"{before}\n\n{closed}" if before else closed
        theorem_sets.require_usable(source, place)
        parsed.add(name, source, split)
    return parsed


SET = theorem_sets.TheoremSet(NAME, theorem_sets.BENCH_SPLITS, lambda: parse(file_path(NAME, FILE)))
list_theorems = SET.list_theorems
main = partial(run_command, SET, "nanoproof.data.bench.proofnet")


if __name__ == "__main__":
    run_main(main)
