"""DeepSeek-Prover-V1: synthetic statements.

python -m nanoproof.data.rl.deepseek_prover stats
python -m nanoproof.data.rl.deepseek_prover show --split train --max 3 --json
"""

from functools import partial
from pathlib import Path

from nanoproof.common.errors import run_main
from nanoproof.data.dataset_cli import run_command
from nanoproof.data.sources.manifest import file_path
from nanoproof.data.theorems import theorem_sets

NAME, FILE = "deepseek_prover", "deepseek_prover.jsonl"
PREFIX = "open BigOperators Real Nat Topology Rat\n\n"


def parse(path: Path) -> theorem_sets.ParsedTheorems:
    """Parse the statements that end in `:= by` or `:=`; the id is the name."""
    parsed = theorem_sets.ParsedTheorems(NAME)
    for place, row in theorem_sets.jsonl_rows(path):
        name = theorem_sets.text_field(row, "name", place)
        statement = theorem_sets.text_field(row, "formal_statement", place).strip()
        source = theorem_sets.with_sorry(statement, " sorry", " by sorry")
        if source is None:
            parsed.leave_out("does not end in := by or :=")
        else:
            parsed.add(name, PREFIX + source)
    return parsed


SET = theorem_sets.TheoremSet(NAME, theorem_sets.RL_SPLITS, lambda: parse(file_path(NAME, FILE)))
list_theorems = SET.list_theorems
main = partial(run_command, SET, "nanoproof.data.rl.deepseek_prover")


if __name__ == "__main__":
    run_main(main)
