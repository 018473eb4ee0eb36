"""Two evaluations of the same theorems, side by side: which theorems changed, and whether that could be chance."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.evaluation.results import RESULTS, SUMMARY, with_search_defaults
from nanoproof.evaluation.summary import by_theorem, mcnemar_exact, paired_difference, sign_flip_test, wilson
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
        """Simulations allowed and used, tactic samples and seconds."""
        names = ("simulations", "simulations_used", "tactic_samples", "seconds")
        return {name: self.summary.get(name) for name in names}


def read_evaluation(path: Path) -> Evaluated:
    """Read the directory of an evaluation. Raises UserError if it is none, or not over."""
    if not (path / SUMMARY).exists():
        over = f"is not over (no {SUMMARY})" if (path / RESULTS).exists() else f"holds no evaluation (no {SUMMARY})"
        raise UserError(f"{path} {over}")
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
    found = {str(file.parent.relative_to(path)): read_evaluation(file.parent) for file in sorted(path.rglob(RESULTS))}
    if not found:
        raise UserError(f"{path} holds no evaluation ({RESULTS} with {SUMMARY})")
    return found


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
        solved = before.outcome == "proven", after.outcome == "proven"
        names = {(1, 1): "both", (1, 0): "only_first", (0, 1): "only_second", (0, 0): "neither"}
        cells[names[solved]] += 1
        if solved == (False, True):
            gained.append(after.theorem.id)
        elif solved == (True, False):
            lost.append(after.theorem.id)
        if "error" in (before.outcome, after.outcome):
            errors.append(after.theorem.id)
    total = len(first.attempts)
    difference, low, high = paired_difference(cells["only_first"], cells["only_second"], total)
    return {
        "total": total,
        "cells": cells,
        "scores": [_score(cells["both"] + cells[which], total) for which in ("only_first", "only_second")],
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
        "accepted": [accepted_by(each.summary.get("verdicts")) for each in (first, second)],
    }


def compare_rates(first: Mapping[str, Evaluated], second: Mapping[str, Evaluated]) -> dict[str, Any]:
    """Compare repeated evaluations of the same theorems: mean difference of the solve rates, and its permutation test.

    Runs on one theorem are no independent evidence, so each theorem counts once, with its rate.
    """
    ones, others = list(first.values()), list(second.values())
    for each in [*ones[1:], *others]:
        _check_theorems(ones[0], each)
    rates = [
        {key: sum(run.attempts[key].outcome == "proven" for run in runs) / len(runs) for key in ones[0].attempts}
        for runs in (ones, others)
    ]
    differences = [rates[1][key] - rates[0][key] for key in rates[0]]
    return {
        "total": len(differences),
        "runs": [len(ones), len(others)],
        "means": [sum(each.values()) / max(1, len(each)) for each in rates],
        "difference": sum(differences) / max(1, len(differences)),
        "p": sign_flip_test(differences),
    }


def _check_theorems(first: Evaluated, second: Evaluated) -> None:
    only_first = [a.theorem.id for key, a in first.attempts.items() if key not in second.attempts]
    only_second = [a.theorem.id for key, a in second.attempts.items() if key not in first.attempts]
    if only_first or only_second:
        texts = [
            f"{len(names)} only in {each.path} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})"
            for names, each in ((only_first, first), (only_second, second))
            if names
        ]
        raise UserError(f"the evaluations are not of the same theorems: {'; '.join(texts)}")


def _score(solved: int, total: int) -> dict[str, float]:
    low, high = wilson(solved, total)
    return {"solved": solved, "low": low, "high": high}


def _differences(first: Evaluated, second: Evaluated) -> dict[str, list[Any]]:
    """The settings that are not equal, but for those that are compared on purpose."""
    before, after = (with_search_defaults(each.summary.get("settings") or {}) for each in (first, second))
    names = [name for name in {**before, **after} if name not in EXPECTED and before.get(name) != after.get(name)]
    return {name: [before.get(name), after.get(name)] for name in names}
