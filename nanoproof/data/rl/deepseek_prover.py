"""DeepSeek-Prover-V1: synthetic statements.

python -m nanoproof.data.rl.deepseek_prover stats
python -m nanoproof.data.rl.deepseek_prover show --split train --max 3 --json
"""

from collections.abc import Sequence
from pathlib import Path

from nanoproof.common.errors import run_main
from nanoproof.data.dataset_cli import run_command
from nanoproof.data.sources.manifest import open_file
from nanoproof.data.theorems.theorem_sets import RL_SPLITS, Parsed, TheoremSet, jsonl_rows, text_field, with_sorry
from nanoproof.lean.types import Theorem

NAME, FILE = "deepseek_prover", "deepseek_prover.jsonl"
PREFIX = "open BigOperators Real Nat Topology Rat\n\n"


def parse(path: Path) -> Parsed:
    """The statements that end in `:= by` or `:=`; the id is the name."""
    parsed = Parsed(NAME)
    for place, row in jsonl_rows(path):
        name, statement = text_field(row, "name", place), text_field(row, "formal_statement", place).strip()
        source = with_sorry(statement, " sorry", " by sorry")
        if source is None:
            parsed.leave_out("does not end in := by or :=")
        else:
            parsed.add(name, PREFIX + source)
    return parsed


SET = TheoremSet(NAME, RL_SPLITS, lambda: parse(open_file(NAME, FILE)))


def list_theorems(split: str, lean_version: str | None = None) -> list[Theorem]:
    """The theorems of `train` or `valid`; see `TheoremSet.list_theorems`."""
    return SET.list_theorems(split, lean_version)


def main(argv: Sequence[str] | None = None) -> int:
    """`stats` or `show`."""
    return run_command(SET, "nanoproof.data.rl.deepseek_prover", argv)


if __name__ == "__main__":
    run_main(main)
