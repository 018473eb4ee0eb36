"""Make the generated part of the data set `nanolean`: statements to be proved, and proofs that are shown.

Proofs are shown for easy problems only, in a plain style of one rule at a time; the harder levels are statements alone,
longer compositions of the same skills. The families are made in processes of their own.
"""

import json
import os
import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from nanolean.data.families import LEVELS, Named, family_problems, shown_problems
from nanolean.data.replay import (
    GoalReader,
    Node,
    ReplayError,
    closed_by,
    library,
    replay,
    start,
    strong_proof,
    theorem_record,
    trivial_filter,
)
from nanolean.data.statement_key import library_keys, library_proofs
from nanolean.env_state import EnvState
from nanolean.kernel.budget import allow_deep_recursion
from nanolean.system import atomic_write_text


@dataclass(frozen=True)
class Quota:
    """How many problems of each level, from level 1 up, a family is asked for; families differ in what they have."""

    shown: tuple[int, ...]
    """Problems that come with their proof."""
    stated: tuple[int, ...]
    """Statements alone."""


QUOTAS: dict[str, Quota] = {  # nothing is stated where grind proves nearly all there is
    "prop": Quota((100, 150, 40), ()),
    "pred": Quota((100, 150, 60), ()),
    "nat_identity": Quota((200, 250, 50), (10, 20, 20, 20, 15, 10)),
    "equation": Quota((200, 250, 50), ()),
    "cancel": Quota((200, 250, 60), (0, 100, 120, 80)),
    "order": Quota((200, 250, 60), (60, 110, 110, 80, 40)),
    "divides": Quota((150, 250, 60), (0, 120, 140, 120, 60)),
    "exists": Quota((150, 150, 30), (60, 20)),
    "induction": Quota((10, 100, 120), (0, 10, 60, 80, 30)),
    "lists": Quota((120, 180, 120), (60, 80, 60)),
    "mixed": Quota((100, 200, 60), (60, 110, 120, 120, 100, 60)),
}
STRONG_FRACTION = 0.01
"""Share of the shown proofs for which a strong one-line proof is tried instead."""
THEOREMS_PER_LINE = 16
"""Theorems per line of the transitions file; readers split by lines."""


@dataclass(frozen=True)
class Made:
    """What one family contributes; every row carries its `key`."""

    statements: list[dict[str, Any]]
    proofs: list[dict[str, Any]]


def make(
    directory: Path,
    held_out: frozenset[str],
    seed: int,
    read_goal: GoalReader,
    workers: int | None = None,
    quotas: dict[str, Quota] | None = None,
) -> None:
    """Generates `train.jsonl` and `transitions.jsonl` in `directory`, without the statements whose keys are held out.

    Statements that a finisher proves alone are not asked; among the shown proofs they may be. The manifest is written
    last, so a directory with one is whole. `read_goal` makes the records of printed goals; `quotas` are `QUOTAS` unless
    given.
    """
    quotas = quotas or QUOTAS
    excluded = held_out | library_keys()
    library()  # once, so that the workers find it in the cache
    # The most expensive families first, so that the workers end together.
    order = sorted(quotas, key=lambda name: (name != "mixed", name not in ("prop", "pred", "equation"), name))
    count = workers or min(len(order), os.cpu_count() or 1)
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        futures = {name: pool.submit(make_family, name, seed, quotas[name], excluded, read_goal) for name in order}
        parts = [futures[name].result() for name in quotas]
    shown_library = make_library(read_goal)
    statements, proofs = _merged(parts)
    records = [*shown_library, *proofs]
    random.Random(seed).shuffle(statements)
    random.Random(seed).shuffle(records)
    _write_jsonl(directory / "train.jsonl", statements)
    lines = [records[k : k + THEOREMS_PER_LINE] for k in range(0, len(records), THEOREMS_PER_LINE)]
    files = [{"path": f"nanolean/part_{k:04d}.lean", "imports": [], "theorems": line} for k, line in enumerate(lines)]
    _write_jsonl(directory / "transitions.jsonl", files)
    levels = Counter(row["id"].split("_l")[-1][0] for row in statements)
    manifest = {
        "seed": seed,
        "statements": len(statements),
        "by_level": dict(sorted(levels.items())),
        "library_proofs": len(shown_library),
        "generated_proofs": len(proofs),
        "transitions": sum(len(record["by_blocks"][0]["tree"]["nodes"]) for record in records),
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    atomic_write_text(directory / "manifest.json", text)


def make_family(family: str, seed: int, quota: Quota, excluded: frozenset[str], read_goal: GoalReader) -> Made:
    """Make one family's part, with none of the keys in `excluded`. Runs in a worker process."""
    allow_deep_recursion()
    state = library()
    proofs: list[dict[str, Any]] = []
    shown = shown_problems(family, seed, dict(zip(LEVELS, quota.shown, strict=False)), excluded)
    for named in shown:
        node = _replayed(state, named, random.Random(named.id))
        if node is not None:
            proofs.append({**theorem_record(named.id, named.source(), node, read_goal), "key": named.key})
    unknown = excluded | {named.key for named in shown}
    refused = trivial_filter(state)
    stated = family_problems(family, seed, dict(zip(LEVELS, quota.stated, strict=False)), unknown, refused)
    return Made([{"id": named.id, "source": named.source(), "key": named.key} for named in stated], proofs)


def _replayed(state: EnvState, named: Named, rng: random.Random) -> Node | None:
    """The proof as NanoLean runs it; rarely a strong proof where one works; None if it does not go through."""
    try:
        before = start(state, named.source())
        if rng.random() < STRONG_FRACTION:
            strong = strong_proof(named.problem, rng)
            if strong is not None and closed_by(before, [strong.tactic]):
                return replay(before, strong)
        return replay(before, named.problem.proof)
    except ReplayError:
        return None


def make_library(read_goal: GoalReader) -> list[dict[str, Any]]:
    """Return the library's tactic proofs as LeanTree theorems. Raises ReplayError, which is a bug: all were checked."""
    allow_deep_recursion()
    state = library()
    shown = ((p, replay(start(state, p.source), p.proof)) for p in library_proofs())
    return [theorem_record(p.name, p.source, node, read_goal) for p, node in shown]


def _merged(parts: list[Made]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All families together. What is shown is not asked, and a statement that two families made is asked once."""
    proofs = [row for made in parts for row in made.proofs]
    seen = {row["key"] for row in proofs}
    statements: list[dict[str, Any]] = []
    for row in (row for made in parts for row in made.statements):
        if row["key"] not in seen:
            seen.add(row["key"])
            statements.append(row)
    return _without_keys(statements), _without_keys(proofs)


def _without_keys(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "key"} for row in rows]


def _write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    atomic_write_text(path, "".join(lines))
