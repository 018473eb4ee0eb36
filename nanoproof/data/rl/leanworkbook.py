"""Lean Workbook: contest problems formalized in Lean. Those with a proof are kept; statements are not changed.

python -m nanoproof.data.rl.leanworkbook stats
python -m nanoproof.data.rl.leanworkbook show --split valid --max 3
"""

import re
from functools import partial
from pathlib import Path

from nanoproof.common.errors import UserError, run_main
from nanoproof.data.dataset_cli import run_command
from nanoproof.data.sources.manifest import file_path
from nanoproof.data.theorems.theorem_sets import RL_SPLITS, ParsedTheorems, TheoremSet, json_rows, text_field

NAME, FILE = "leanworkbook", "lean_workbook.json"
PREFIX = "open BigOperators\nopen Nat\nopen Real\nopen Rat\n\n"

_NAME = re.compile(r"(?:theorem|lemma)\s+([^\s:({\[⦃]+)")


def parse(path: Path) -> ParsedTheorems:
    """Parse the statements with a proof; the id is the theorem's name."""
    parsed = ParsedTheorems(NAME)
    for place, row in json_rows(path):
        statement = text_field(row, "formal_statement", place)
        if not _has_proof(row, place):
            parsed.leave_out("no proof")
        elif (name := _NAME.search(statement)) is None:
            parsed.leave_out("no theorem name")
        else:
            parsed.add(name[1], PREFIX + statement)
    return parsed


def _has_proof(row: dict[str, object], place: str) -> bool:
    """Return whether the field `proof`, a text or a list of texts, holds anything."""
    if "proof" not in row:
        raise UserError(f"{place}: the field 'proof' is missing")
    proof = row["proof"]
    if proof is not None and not isinstance(proof, (str, list)):
        raise UserError(f"{place}: the field 'proof' must be a text or a list of texts")
    return bool(proof)  # the list of a statement without one is empty


SET = TheoremSet(NAME, RL_SPLITS, lambda: parse(file_path(NAME, FILE)))
list_theorems = SET.list_theorems
main = partial(run_command, SET, "nanoproof.data.rl.leanworkbook")


if __name__ == "__main__":
    run_main(main)
