"""A run as one HTML file: the monitor's page, with the answers of its API that it needs inside.

The answers are those of the monitor itself, asked for here without a server. Lists of metrics, theorems and evaluations
are whole; theorems in full, evaluations in full and search trees are a choice. The page filters and sorts by itself
(`web/src/file/archive.ts`).
"""

import math
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, permutations, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from werkzeug.test import Client

from nanoproof.common.config import opt, validated
from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write_text
from nanoproof.common.terminal import counted
from nanoproof.monitor.app import create_app
from nanoproof.monitor.params import MAX_PAGE_SIZE
from nanoproof.monitor.record_schema import AttemptRow, TheoremRow
from nanoproof.monitor.routes import MAX_EVALUATIONS_AT_ONCE, CurrentRun
from nanoproof.monitor.runs import is_evaluation, is_run
from nanoproof.search.render import standalone_page

MAX_THEOREM_ROWS = 20_000
MAX_TREE_ROWS = 4000
MAX_SOLVED = 200
"""Proofs, and failures, of an evaluation that are in the file in full."""
MAX_RESULTS = 5000
MAX_COMPARED = 8
"""The newest evaluations, each two of which are in the file side by side."""
_READ_SECONDS = 300.0


@validated("export")
class ExportOptions:
    """Export."""

    out: str = opt("run.html", "export: the file to write.")
    trees: int = opt(12, "export: search trees to put in: long proofs, and long searches that failed.", min=0, max=500)
    tree: tuple[str, ...] = opt(
        (), "export: trees to put in besides, by their addresses: #/tree/RANK/STEP/SEQ.", metavar="RANK/STEP/SEQ"
    )
    theorems: int = opt(
        200, "export: theorems with proof and attempts, those first: proved last for the first time.", min=0, max=20_000
    )
    evaluations: int = opt(8, "export: evaluations with their results and proofs, the newest.", min=0, max=500)
    points: int = opt(1000, "export: points of a chart; more steps are put together.", min=2, max=5000)


def export_run(path: Path, options: ExportOptions) -> str:
    """Write the file of a run, and return a line that says what is in it. Raises UserError.

    It fails if `path` holds no run, a tree of `options.tree` is not kept, or the file cannot be written.
    """
    if not is_run(path) and not is_evaluation(path):
        raise UserError(f"{path} holds no run: `python -m nanoproof.runs list` names those that there are")
    return _write(path, options)


def export_evaluations(paths: Sequence[Path], options: ExportOptions) -> str:
    """Write the file of some evaluations, wherever they lie, and return a line that says what is in it.

    Raises UserError if the file cannot be written.
    """
    folders = [path.absolute() for path in paths]
    return _write(folders[0], replace(options, evaluations=len(paths)), folders)


def _write(path: Path, options: ExportOptions, evaluations: Sequence[Path] = ()) -> str:
    current = CurrentRun()
    # No thread: each question reads what is new.
    current.show(path, every_seconds=0, evaluations=evaluations)
    try:
        data = _Answers(current).collect(options)
    finally:
        current.close()
    overview = data["answers"]["overview"]
    if len(evaluations) > 1:
        overview["run"] = Path(os.path.commonpath(evaluations)).name
    page = standalone_page(f"{overview['title'] or overview['run']} · nanoproof", data)
    file = Path(options.out)
    with cannot(f"write {file}"):
        atomic_write_text(file, page)
    return f"{file}: {len(page) / 1e6:.1f} MB, {contents(data['answers'])}"


def contents(answers: dict[str, Any]) -> str:
    """Describe what is in a file in a few words, leaving out what a run of its stage has none of."""
    in_full, trees = Counter[str](), 0
    for name in answers:
        trees += name.endswith("/tree")
        in_full["theorem"] += name.startswith("theorem/")
        in_full["result"] += "/results/" in name and not name.endswith("/tree")
    evaluations = answers["evaluations"]
    theorems = answers["theorems"]["total"]
    results = sum(row["done"] for row in evaluations["items"])
    parts = []
    if answers["overview"]["stage"] != "evaluation":
        rounds = sum(one["over"] for one in answers["rounds"]["rounds"])
        parts.append(counted(rounds, "round") if rounds else counted(answers["series"]["total"], "step"))
    if theorems:
        parts.append(f"{counted(theorems, 'theorem')} ({in_full['theorem']} in full)")
    if evaluations["total"]:
        parts.append(f"{counted(evaluations['total'], 'evaluation')} of {counted(results, 'theorem')}")
        parts[-1] += f" ({in_full['result']} in full)"
    if trees:
        parts.append(counted(trees, "tree"))
    return ", ".join(parts)


class _Answers:
    """Asks the monitor of a run, without a server."""

    def __init__(self, current: CurrentRun) -> None:
        self._client: Client = create_app(current).test_client()
        self.answers: dict[str, Any] = {}
        # Each look at the reader reads for a bounded time. A run that goes on may always have more.
        deadline = time.monotonic() + _READ_SECONDS
        while current.reader.has_more and time.monotonic() < deadline:
            pass

    def _ask(self, path: str, **params: Any) -> Any:
        """Return an answer; None for something that does not exist, or for two that cannot be compared."""
        query = urlencode({name: value for name, value in params.items() if value is not None})
        response = self._client.get(f"/api/{path}?{query}")
        if response.status_code in (404, 409):
            return None
        if response.status_code != 200:
            raise UserError(f"the run cannot be read: /api/{path} has status {response.status_code}: {response.text}")
        return response.get_json()

    def _pages(self, path: str, most: int, within: str = "", **params: Any) -> tuple[dict[str, Any], list[Any]]:
        """Return the first of as many pages as hold `most` items, and the items of all of them.

        The list is the answer itself, or is in it under the name `within`.
        """
        items: list[Any] = []
        for page in range(1, -(-most // MAX_PAGE_SIZE) + 1):
            answer = self._ask(path, page=page, size=MAX_PAGE_SIZE, **params)
            if page == 1:
                first = answer
            part = answer[within] if within else answer
            items += part["items"]
            if page * MAX_PAGE_SIZE >= part["total"]:
                break
        return first, items

    def _whole(self, path: str, most: int, **params: Any) -> dict[str, Any]:
        """Return a list in one page."""
        first, items = self._pages(path, most, **params)
        return {**first, "items": items, "page": 1}

    def collect(self, options: ExportOptions) -> dict[str, Any]:
        """Return all that the page of a file needs."""
        answers = self.answers
        # Whatever it is when it is written: in a file nothing goes on.
        answers["overview"] = {**self._ask("overview"), "live": False, "ranks": [], "servers": [], "hosts": []}
        answers["run"] = {**self._ask("run"), "live": False}
        answers["note"] = self._ask("note")
        answers["searches"] = self._ask("searches")
        answers["rounds"] = self._ask("rounds")
        answers["series"] = self._ask("series", max_points=options.points)
        answers["theorems"] = self._whole("theorems", MAX_THEOREM_ROWS)
        kept: list[AttemptRow] = self._whole("attempts", MAX_TREE_ROWS, tree="true")["items"]
        chosen = [*self._named(kept, options.tree), *choose_trees(kept, options.trees)]
        self._add_trees(chosen)
        self._add_theorems(options.theorems, chosen)
        self._add_evaluations(options.evaluations, options.trees)
        return {"kind": "run", "made": time.time(), "answers": answers}

    def _named(self, kept: Sequence[AttemptRow], names: Sequence[str]) -> list[AttemptRow]:
        rows = {attempt_name(row): row for row in kept}
        for name in names:
            if name not in rows:
                raise UserError(f"--tree {name}: no such tree is kept; the page of a tree has its name in its address")
        return [rows[name] for name in dict.fromkeys(names)]

    def _add_trees(self, chosen: Sequence[AttemptRow]) -> None:
        rows = {}
        for row in chosen:
            name = attempt_name(row)
            tree = self._ask(f"attempts/{name}/tree")
            if tree is not None:  # a run that goes on removes old ones
                self.answers[f"attempts/{name}/tree"], rows[name] = tree, row
        items = sorted(rows.values(), key=lambda row: row["time"] or 0.0, reverse=True)
        self.answers["attempts"] = {"items": items, "total": len(items), "page": 1, "size": MAX_PAGE_SIZE}

    def _add_theorems(self, most: int, with_tree: Sequence[AttemptRow]) -> None:
        """Add theorems in full: those of the trees, and those whose first proof came last."""
        rows: list[TheoremRow] = self.answers["theorems"]["items"]
        proved = [row for row in rows if row["first_proven"] is not None]
        proved.sort(key=lambda row: row["first_proven"] or 0, reverse=True)
        for dataset, name in dict.fromkeys((row["dataset"], row["id"]) for row in (*with_tree, *proved[:most])):
            theorem = self._ask("theorem", dataset=dataset, id=name)
            if theorem is None:
                continue
            # A link to a tree that is not in the file would lead nowhere.
            for row in (*theorem["history"], *filter(None, [theorem["best"]])):
                row["tree"] = f"attempts/{attempt_name(row)}/tree" in self.answers
            self.answers[f"theorem/{dataset}/{name}"] = theorem
        for row in with_tree:
            name = attempt_name(row)
            self.answers[f"attempts/{name}"] = self._ask(f"attempts/{name}")

    def _add_evaluations(self, most: int, most_trees: int) -> None:
        whole = self._ask("evaluations", size=MAX_EVALUATIONS_AT_ONCE)
        self.answers["evaluations"] = whole
        rows = whole["items"][:most]
        self._add_comparisons(rows)
        for number, row in enumerate(rows):
            # Each has its share: the first of several would use up all.
            share = math.ceil(most_trees / (len(rows) - number))
            name = row["name"]
            first, results = self._pages(f"evaluations/{quote(name, safe='')}", MAX_RESULTS, "results")
            self.answers[f"evaluations/{name}"] = {**first, "results": {**first["results"], "items": results}}
            most_trees -= self._add_results(name, results, share)

    def _add_comparisons(self, rows: Sequence[dict[str, Any]]) -> None:
        """Add each two of the newest evaluations side by side, both ways round, where they are of the same theorems."""
        for a, b in permutations(rows[:MAX_COMPARED], 2):
            if (a["dataset"], a["split"]) != (b["dataset"], b["split"]):
                continue
            answer = self._ask("evaluations/diff", a=a["name"], b=b["name"])
            if answer is not None:
                self.answers[f"evaluations/diff/{a['name']}/{b['name']}"] = answer

    def _add_results(self, name: str, results: Sequence[dict[str, Any]], most_trees: int) -> int:
        """Add results in full, proofs and failures in turns, with their trees; return how many trees these are."""
        proved = [result for result in results if result["outcome"] == "proven"][:MAX_SOLVED]
        failed = [result for result in results if result["outcome"] != "proven"][:MAX_SOLVED]
        trees = 0
        for result in filter(None, chain.from_iterable(zip_longest(failed, proved))):
            path = f"results/{result['index']}"
            full = self._ask(f"evaluations/{quote(name, safe='')}/{path}")
            is_with_tree = "tree" in full["kept"] and trees < most_trees
            # A certificate is for a checker, and is not in the file.
            self.answers[f"evaluations/{name}/{path}"] = {**full, "kept": ["tree"] * is_with_tree}
            if is_with_tree:
                trees += 1
                tree = self._ask(f"evaluations/{quote(name, safe='')}/{path}/tree")
                self.answers[f"evaluations/{name}/{path}/tree"] = tree
        return trees


def attempt_name(row: AttemptRow) -> str:
    """Return the name of an attempt, as in the address of its tree."""
    return f"{row['rank']}/{row['step']}/{row['seq']}"


def choose_trees(kept: Sequence[AttemptRow], most: int) -> list[AttemptRow]:
    """Choose trees to show, at most one of a theorem: in turns the longest proof and the longest failed search."""
    proofs = sorted((row for row in kept if row["outcome"] == "proven"), key=lambda row: -row["tactics"])
    others = sorted((row for row in kept if row["outcome"] != "proven"), key=lambda row: -row["simulations"])
    chosen: dict[tuple[str, str], AttemptRow] = {}
    for row in filter(None, chain.from_iterable(zip_longest(proofs, others))):
        chosen.setdefault((row["dataset"], row["id"]), row)
    return list(chosen.values())[:most]
