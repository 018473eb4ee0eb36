"""Two evaluations of the same theorems, side by side: which theorems changed, and whether that could be chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import sub
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.evaluation.results import RESULTS, SUMMARY, with_search_defaults
from nanoproof.evaluation.summary import (
    by_theorem,
    count_outcome,
    mcnemar_exact,
    paired_difference,
    sign_flip_test,
    wilson,
)
from nanoproof.lean.certificates import accepted_by
from nanoproof.prover.attempt import Attempt

EXPECTED = ("seed", "model_sha256", "served_model", "text_model", "theorems", "theorem_set", "num_simulations")
"""Settings that are not listed as differences: what is compared on purpose, cannot differ, or is part of the budget."""


@dataclass(frozen=True)
class Evaluated:
    """An evaluation that is over: its summary, and its attempts by the keys of their theorems."""

    path: Path
    summary: dict[str, Any]
    attempts: dict[str, Attempt]

    @property
    def budget(self) -> dict[str, Any]:
        """Return simulations allowed and used, tactic samples and seconds."""
        names = ("simulations", "simulations_used", "tactic_samples", "seconds")
        return {name: self.summary.get(name) for name in names}


def read_evaluation(path: Path) -> Evaluated:
    """Read the directory of an evaluation. Raises UserError if it is none, or not over."""
    # The summary is written last.
    if not (path / SUMMARY).exists():
        if (path / RESULTS).exists():
            raise UserError(f"{path} is not over (no {SUMMARY})")
        raise UserError(f"{path} holds no evaluation (no {SUMMARY})")
    try:
        attempts = by_theorem(map(Attempt.from_json, read_jsonl(path / RESULTS)))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path / RESULTS} holds something that is no attempt: {error}") from error
    return Evaluated(path, read_json(path / SUMMARY), attempts)


def evaluations_in(path: Path) -> dict[str, Evaluated]:
    """Read the evaluations at or below a directory, by their relative paths ("." for the directory itself).

    Raises UserError if there is none.
    """
    if not path.is_dir():
        raise UserError(f"{path} is no directory")
    if (path / SUMMARY).exists() and (path / RESULTS).exists():
        return {".": read_evaluation(path)}
    evaluations = {}
    for file in sorted(path.rglob(RESULTS)):
        evaluations[str(file.parent.relative_to(path))] = read_evaluation(file.parent)
    if not evaluations:
        raise UserError(f"{path} holds no evaluation ({RESULTS} with {SUMMARY})")
    return evaluations


def compare(first: Evaluated, second: Evaluated) -> dict[str, Any]:
    """Compare two evaluations: their paired table, McNemar's exact test, and what else differs.

    Raises UserError if they are not of the same theorems. What ended in an error counts as not solved; such theorems
    are listed, since the comparison is fair only without them.
    """
    _check_theorems(first, second)
    cells = {"both": 0, "only_first": 0, "only_second": 0, "neither": 0}
    gained, lost, errors = [], [], []
    for key, before in first.attempts.items():
        after = second.attempts[key]
        match before.outcome == "proven", after.outcome == "proven":
            case True, True:
                cells["both"] += 1
            case False, False:
                cells["neither"] += 1
            case False, True:
                cells["only_second"] += 1
                gained.append(after.theorem.id)
            case True, False:
                cells["only_first"] += 1
                lost.append(after.theorem.id)
        if "error" in (before.outcome, after.outcome):
            errors.append(after.theorem.id)
    total = len(first.attempts)
    difference, low, high = paired_difference(cells["only_first"], cells["only_second"], total)
    return {
        "total": total,
        "cells": cells,
        "scores": [
            _score(cells["both"] + cells["only_first"], total),
            _score(cells["both"] + cells["only_second"], total),
        ],
        "p": mcnemar_exact(cells["only_first"], cells["only_second"]),
        "difference": difference,
        "low": low,
        "high": high,
        "gained": gained,
        "lost": lost,
        "errors": errors,
        "budgets": [first.budget, second.budget],
        "settings": _differences(first, second),
        "paths": [str(first.path), str(second.path)],
        "accepted": [accepted_by(first.summary.get("verdicts")), accepted_by(second.summary.get("verdicts"))],
    }


def compare_rates(first: Mapping[str, Evaluated], second: Mapping[str, Evaluated]) -> dict[str, Any]:
    """Compare repeated evaluations of the same theorems: mean difference of the solve rates, and its permutation test.

    Runs on one theorem are no independent evidence, so each theorem counts once, with its rate.
    """
    runs, others = list(first.values()), list(second.values())
    for run in [*runs[1:], *others]:
        _check_theorems(runs[0], run)
    keys = list(runs[0].attempts)
    before, after = _solve_rates(runs, keys), _solve_rates(others, keys)
    differences = list(map(sub, after, before))
    total = max(1, len(keys))
    return {
        "total": len(keys),
        "runs": [len(runs), len(others)],
        "means": [sum(before) / total, sum(after) / total],
        "difference": sum(differences) / total,
        "p": sign_flip_test(differences),
    }


def _solve_rates(runs: Sequence[Evaluated], keys: Sequence[str]) -> list[float]:
    """Return in which part of the runs each theorem was solved."""
    return [count_outcome((run.attempts[key] for run in runs), "proven") / len(runs) for key in keys]


def _check_theorems(first: Evaluated, second: Evaluated) -> None:
    differences = []
    for run, other in ((first, second), (second, first)):
        names = [attempt.theorem.id for key, attempt in run.attempts.items() if key not in other.attempts]
        if names:
            examples = ", ".join(names[:3])
            if len(names) > 3:
                examples += ", ..."
            differences.append(f"{len(names)} only in {run.path} ({examples})")
    if differences:
        raise UserError(f"the evaluations are not of the same theorems: {'; '.join(differences)}")


def _score(solved: int, total: int) -> dict[str, float]:
    low, high = wilson(solved, total)
    return {"solved": solved, "low": low, "high": high}


def _differences(first: Evaluated, second: Evaluated) -> dict[str, list[Any]]:
    """Return the settings that are not equal, but for those that are compared on purpose."""
    # Options that came later than one of the two evaluations had their defaults in it: no difference.
    before = with_search_defaults(first.summary.get("settings") or {})
    after = with_search_defaults(second.summary.get("settings") or {})
    differences = {}
    for name in {**before, **after}:
        values = [before.get(name), after.get(name)]
        if name not in EXPECTED and values[0] != values[1]:
            differences[name] = values
    return differences
