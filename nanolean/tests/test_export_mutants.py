"""Mutated export files: one that is accepted declares what the original does, or what a second checker affirms.

`NANOPROOF_NIGHTLY=1 pytest ...` takes the full number, 20 twenty times as many; `NANOPROOF_SEED` draws others.
"""

from collections import Counter
from functools import cache
from random import Random

import pytest

from nanolean.kernel.declaration import ConstantInfo, Constants, ValueInfo
from nanolean.ndjson.export_ndjson import export_lines
from nanolean.ndjson.import_ndjson import Checked, check_export
from nanolean.tests.export_mutants import ExportMutator, differences, verdicts
from nanolean.tests.library import SEED, base, sized
from nanolean.tests.reference import OutOfFuel, Reference

COUNT = sized(2_000)
FUEL = 100_000
ORIGINALS = ("Classical.em", "Nat.mod_lt", "List.reverse_reverse", "funext")
"""With axioms, quotients, structures, numerals, recursive types with parameters and indices."""
CHANGES = ("_number", "_swap", "_list")
"""Rules that change something in a line; of an inductive type all is derived again, and compared."""


@cache
def original(name: str) -> list[str]:
    return list(export_lines(base().env, [name]))


def affirmed(env: Constants, info: ConstantInfo) -> bool:
    """Whether a second checker finds that the value of a constant has its type, or cannot tell in its time."""
    try:
        return isinstance(info, ValueInfo) and Reference(env, FUEL).has_type(info.value, info.type)
    except OutOfFuel:
        return True


@pytest.mark.parametrize("name", ORIGINALS)
def test_mutants_are_refused_or_say_the_same(name):
    lines = original(name)
    env = check_export(lines).env
    mutator = ExportMutator(lines, Random(f"{SEED} {name}"))
    drawn = (mutator.draw() for _ in range(4 * COUNT))
    mutants = [mutant for mutant in drawn if mutant is not None][: COUNT // len(ORIGINALS)]
    outcomes: Counter[str] = Counter()
    for mutant, verdict in verdicts(lines, mutants):
        outcomes[verdict.outcome] += 1
        assert verdict.reason or verdict.outcome == "accepted"
        if verdict.outcome == "accepted":
            assert mutant.rule not in CHANGES or '"inductive"' not in mutant.lines[0], mutant
            others = [info for info in differences(verdict.env, env) if not affirmed(verdict.env, info)]
            assert not others, (mutant, [lines[at] for at in range(mutant.at, mutant.end)])
    assert outcomes["refused"] > 0.8 * len(mutants) and outcomes["accepted"] > 0


@pytest.mark.parametrize("name", ["Nat.mod_lt", "List.reverse_reverse"])
def test_what_other_files_had_checked_changes_no_verdict(name):
    lines, checked = original(name), Checked()
    assert check_export(lines, checked=checked).outcome == "accepted"
    known = len(checked.declared)
    mutator = ExportMutator(lines, Random(f"{SEED} {name} again"))
    drawn = (mutator.draw() for _ in range(sized(40)))
    for mutant in [mutant for mutant in drawn if mutant is not None]:
        changed = [*lines[: mutant.at], *mutant.lines, *lines[mutant.end :]]
        alone = check_export(changed)
        assert check_export(changed, checked=checked).outcome == alone.outcome, mutant
        if alone.outcome != "accepted":
            assert len(checked.declared) == known
    assert check_export(lines, checked=checked).outcome == "accepted"


def test_what_is_known_counts_only_with_all_that_it_needs():
    lines, checked = original("Nat.mod_lt"), Checked()
    assert check_export(lines, checked=checked).outcome == "accepted"
    theorem = next(at for at, line in enumerate(lines) if line.startswith('{"thm"'))
    without = [*lines[:theorem], *lines[theorem + 1 :]]
    assert "unknown constant" in check_export(without, checked=checked).reason
