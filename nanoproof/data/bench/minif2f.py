"""miniF2F: school and olympiad problems. A benchmark: never trained on, never filtered.

python -m nanoproof.data.bench.minif2f stats
python -m nanoproof.data.bench.minif2f show --id mathd_algebra_302
"""

from functools import partial
from pathlib import Path

from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_text
from nanoproof.data.dataset_cli import run_command
from nanoproof.data.sources.manifest import file_path
from nanoproof.data.theorems import theorem_sets
from nanoproof.lean.declarations import declarations
from nanoproof.lean.file_theorems import unusable_because
from nanoproof.lean.lexical import find_top_level, mask

NAME = "minif2f"
FILES = {"valid": "Valid.lean", "test": "Test.lean"}
PREFIX = "open scoped Real\nopen scoped Nat\nopen scoped Topology\nopen scoped Polynomial\n\n"


def parse(paths: dict[str, Path]) -> theorem_sets.ParsedTheorems:
    """Parse the theorems of each split's file, unchanged up to their `sorry`; the id is the name.

    Where a proof is shipped (in Test.lean those of mathd_numbertheory_66 and mathd_algebra_302) it becomes `sorry`.
    Raises UserError, with file and line, for what would change the number of theorems without notice: a name that
    occurs twice, a statement that cannot be worked with.
    """
    parsed = theorem_sets.ParsedTheorems(NAME)
    names: set[str] = set()
    for split, path in paths.items():
        text = read_text(path)
        for theorem in declarations(text):
            if theorem.keyword != "theorem":
                continue
            name, line = theorem.full_name, text.count("\n", 0, theorem.head) + 1
            place = f"{path}, line {line}, theorem {name}"
            if name in names:
                raise UserError(f"{place}: the name occurs twice")
            names.add(name)
            block = text[theorem.start : theorem.end]
            source = PREFIX + block
            if unusable_because(source) is not None:
                source = PREFIX + without_proof(block)
            theorem_sets.require_usable(source, place)
            parsed.add(name, source, split)
    return parsed


def without_proof(block: str) -> str:
    """Replace the proof of a theorem by `sorry`."""
    assign = find_top_level(mask(block), ":=")
    return block if assign < 0 else block[:assign] + ":= by\n  sorry"


def _read() -> theorem_sets.ParsedTheorems:
    return parse({split: file_path(NAME, filename) for split, filename in FILES.items()})


SET = theorem_sets.TheoremSet(NAME, theorem_sets.BENCH_SPLITS, _read)
list_theorems = SET.list_theorems
main = partial(run_command, SET, "nanoproof.data.bench.minif2f")


if __name__ == "__main__":
    run_main(main)
