"""Evaluations that are under way, by one rank or several: read as they grow, each theorem once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanoproof.evaluation.results import MAX_TREE_NODES, MAX_TREES, ResultWriter
from nanoproof.evaluation.summary import theorem_key
from nanoproof.lean.types import Theorem
from nanoproof.monitor import tail
from nanoproof.monitor.baselines import SolverBaselines
from nanoproof.monitor.evaluations import Results
from nanoproof.monitor.tail import parse_object
from nanoproof.prover.attempt import Attempt
from tests.monitor.conftest import Asker, attempt, lines

Look = Callable[..., Asker]
NAME = "7_demo_valid"


@pytest.fixture
def under_way(tmp_path: Path) -> Path:
    """The directory of an evaluation that has begun."""
    path = tmp_path / "evals" / NAME
    path.mkdir(parents=True)
    settings = {"dataset": "demo", "split": "valid", "num_simulations": 8, "theorems": 5}
    (path / "settings.json").write_text(json.dumps({"settings": settings, "parts": [{"started": 5.0}]}))
    return path


def append(file: Path, *records: Any) -> None:
    with open(file, "a") as out:
        out.write(lines(*records))


def counts(asker: Asker) -> tuple[int, int, int]:
    """How many theorems are done, solved, and ended in an error."""
    row = asker.get("/api/evaluations")["items"][0]
    assert asker.get(f"/api/evaluations/{NAME}")["results"]["total"] == row["done"]
    return row["done"], row["solved"], row["errors"]


def test_an_evaluation_that_is_under_way_counts_what_there_is(look: Look, tmp_path: Path, under_way: Path) -> None:
    (under_way / "results.jsonl").write_text(lines(attempt(0), attempt(1, "u", "unproven")) + '{"torn')
    asker = look(tmp_path)
    row = asker.get("/api/evaluations")["items"][0]
    assert (row["over"], row["done"], row["total"], row["solved"], row["step"]) == (False, 2, 5, 1, 7)
    (under_way / "new").write_text(lines(attempt(0), attempt(1, "u"), attempt(2, "v")))
    (under_way / "new").replace(under_way / "results.jsonl")
    assert counts(asker) == (3, 3, 0)


def test_each_result_of_an_evaluation_is_read_once(
    look: Look, tmp_path: Path, under_way: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []
    monkeypatch.setattr(tail, "parse_object", lambda text: parsed.append(text) or parse_object(text))
    asker = look(tmp_path)
    for number in range(8):
        append(under_way / "results.jsonl", attempt(number, f"t{number}"))
        assert counts(asker) == (number + 1, number + 1, 0)
    assert sum(b'"settings"' not in text for text in parsed) == 8


def test_many_results_are_read_a_little_at_a_time(under_way: Path) -> None:
    long = {"message": "x" * 50_000}
    append(under_way / "results.jsonl", *(attempt(number, f"t{number}") | long for number in range(40)))
    results = Results(under_way)
    assert results.poll() and 0 < len(results.items) < 20
    while results.poll():
        pass
    assert [one["id"] for one in results.items] == [f"t{number}" for number in range(40)]


def test_the_results_of_all_ranks_count_and_stay_when_they_are_put_together(
    look: Look, tmp_path: Path, under_way: Path
) -> None:
    asker = look(tmp_path)
    append(under_way / "results.jsonl", attempt(0, "a"))
    append(under_way / "results_r1.jsonl", attempt(0, "b", "unproven"))
    assert counts(asker) == (2, 1, 0)
    append(under_way / "results_r1.jsonl", attempt(1, "c"))
    assert counts(asker) == (3, 2, 0)
    found = asker.get(f"/api/evaluations/{NAME}")["results"]["items"]
    index = next(one["index"] for one in found if one["id"] == "c")
    assert asker.get(f"/api/evaluations/{NAME}/results/{index}")["statement"].startswith("theorem c")
    (under_way / "new").write_text(lines(attempt(0, "a"), attempt(0, "b", "unproven"), attempt(1, "c")))
    (under_way / "new").replace(under_way / "results.jsonl")
    assert counts(asker) == (3, 2, 0)
    (under_way / "results_r1.jsonl").unlink()
    assert counts(asker) == (3, 2, 0)


def test_a_theorem_that_is_tried_again_after_an_error_counts_once(look: Look, tmp_path: Path, under_way: Path) -> None:
    append(under_way / "results.jsonl", attempt(0, "a", "error"), attempt(1, "b"))
    asker = look(tmp_path)
    assert counts(asker) == (2, 1, 1)
    append(under_way / "results.jsonl", attempt(2, "a"))
    append(under_way / "results_r1.jsonl", attempt(3, "b", "error"))
    assert counts(asker) == (2, 2, 0)
    assert asker.get(f"/api/evaluations/{NAME}/results/0")["proof"] == "trivial"


def finished(path: Path, name: str, simulations: int, total: int = 2) -> None:
    """An evaluation that is over, with one theorem of `total` solved."""
    place = path / "evals" / name
    place.mkdir(parents=True)
    settings = {"dataset": "demo", "split": "valid", "num_simulations": simulations, "theorems": total, "depth": 4}
    summary = {"solved": 1, "total": total, "simulations": simulations, "settings": settings}
    (place / "settings.json").write_text(json.dumps({"settings": settings}))
    (place / "summary.json").write_text(json.dumps(summary))
    (place / "results.jsonl").write_text(lines(*(attempt(n, f"t{n}", "unproven") for n in range(total))))


@pytest.mark.parametrize(
    ("verdicts", "shown"),
    [
        ({"proofs": 1, "nanolean": 1, "outside": {"K": 1}}, "1 by NanoLean's checker, 1 by K"),
        ({"proofs": 1, "nanolean": 1, "outside": {}}, "1 by NanoLean's checker, not checked outside"),
        ({"proofs": 0, "nanolean": 0, "outside": {}}, ""),
        ({"proofs": 1, "outside": ["K"], "nanolean": "many"}, "0 by NanoLean's checker, not checked outside"),
        ("damaged", ""),
    ],
)
def test_a_score_says_which_checkers_accept_the_proofs(
    verdicts: object, shown: str, look: Look, tmp_path: Path
) -> None:
    finished(tmp_path, "1_demo", 32)
    file = tmp_path / "evals" / "1_demo" / "summary.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "verdicts": verdicts}))
    assert look(tmp_path).get("/api/evaluations/1_demo")["evaluation"]["accepted"] == shown


def test_scores_with_other_budgets_or_of_other_theorems_are_on_lines_of_their_own(look: Look, tmp_path: Path) -> None:
    finished(tmp_path, "1_demo", 32)
    finished(tmp_path, "2_demo", 32)
    asker = look(tmp_path)
    assert [one["name"] for one in asker.get("/api/overview")["benchmarks"]] == ["demo/valid"]
    finished(tmp_path, "2_demo_more", 1024)
    names = {
        one["name"]: [point["step"] for point in one["points"]] for one in asker.get("/api/overview")["benchmarks"]
    }
    assert names == {"demo/valid, 32 simulations": [1, 2], "demo/valid, 1,024 simulations": [2]}
    finished(tmp_path, "3_demo", 32, total=1)
    names = {
        one["name"]: [point["step"] for point in one["points"]] for one in asker.get("/api/overview")["benchmarks"]
    }
    assert names == {
        "demo/valid, 32 simulations, 1 theorem": [3],
        "demo/valid, 32 simulations, 2 theorems": [1, 2],
        "demo/valid, 1,024 simulations, 2 theorems": [2],
    }


def test_two_evaluations_side_by_side_say_that_their_budgets_differ(look: Look, tmp_path: Path) -> None:
    finished(tmp_path, "1_demo", 32)
    finished(tmp_path, "2_demo", 1024)
    assert look(tmp_path).get("/api/evaluations/diff?a=1_demo&b=2_demo")["settings"] == {"num_simulations": [32, 1024]}


def test_the_certificate_of_a_proof_is_that_of_the_file_with_its_text(
    look: Look, tmp_path: Path, under_way: Path
) -> None:
    source = "theorem t : True := by\n  trivial"
    (under_way / "results.jsonl").write_text(lines({**attempt(0), "source": source}, attempt(1, "u", "unproven")))
    proofs = under_way / "proofs"
    proofs.mkdir()
    for name, text in (("t-1.lean", "theorem t : False := by\n  trivial\n"), ("t-2.lean", source + "\n")):
        (proofs / name).write_text(text)
        (proofs / name).with_suffix(".ndjson").write_text(f"certificate of {name}")
    asker = look(tmp_path)
    place = f"/api/evaluations/{NAME}/results/"
    assert [asker.get(f"{place}{index}")["kept"] for index in (0, 1)] == [["certificate"], []]
    answer = asker.ask(f"{place}0/certificate")
    assert answer.text == "certificate of t-2.lean"
    assert answer.headers["Content-Disposition"] == "attachment; filename=t-2.ndjson"
    assert asker.ask(f"{place}1/certificate").status_code == asker.ask(f"{place}9/certificate").status_code == 404
    (proofs / "t-2.lean").write_text("theorem t : True := by\n  skip\n")
    assert asker.get(f"{place}0")["kept"] == []


def test_an_evaluation_keeps_trees_apart_from_its_results_and_shows_each_with_its_theorem(
    look: Look, tmp_path: Path, under_way: Path
) -> None:
    tree = {
        **{"kind": "oc", "solved": "11", "parent": [-1, 0], "tactic": [-1, 0], "prior": [1.0, 0.5], "logprob": [0, -1]},
        **{"visits": [1, 0], "value_sum": [-1.0, 0], "expansions": [1, 0], "state": [0, -1], "born": [0, 1]},
        **{"ends": [0], "values": [-1.0], "states": ["⊢ True"], "tactics": ["trivial"]},
    }
    names = {
        f"t{number}": Theorem(f"theorem t{number} : True", "demo", f"t{number}") for number in range(MAX_TREES + 1)
    }
    proofs = {theorem_key(theorem): f"{name}.lean" for name, theorem in names.items()}
    with ResultWriter(under_way, "results.jsonl", proofs) as writer:
        for name, theorem in names.items():
            writer.add(Attempt(theorem, "proven", source=f"theorem {name} : True := trivial", tree=tree))
        writer.add(Attempt(names["t0"], "unproven", tree={**tree, "kind": "o" * (MAX_TREE_NODES + 1)}))
    assert '"kind"' not in (under_way / "results.jsonl").read_text()
    assert len(list((under_way / "trees").iterdir())) == MAX_TREES
    asker = look(tmp_path)
    place = f"/api/evaluations/{NAME}/results/"
    assert [asker.get(f"{place}{index}")["kept"] for index in (1, 10, MAX_TREES)] == [["tree"], ["tree"], []]
    answer = asker.get(f"{place}1/tree")
    assert answer["nodes"] == 2 and answer["tree"] == {
        **tree,
        "finisher": [],
        "dead": [],
        "spellings": {},
        "refused": {},
    }
    assert asker.ask(f"{place}{MAX_TREES}/tree").status_code == asker.ask(f"{place}999/tree").status_code == 404


def solver_only(path: Path, theorem_set: str, lean: str = "nanolean", policy: str = "solver-only") -> None:
    """An evaluation of eight simulations each: one theorem of four solved within two of them, two in all."""
    path.mkdir(parents=True)
    settings = {"policy": policy, "theorem_set": theorem_set, "lean": lean, "num_simulations": 8}
    summary = {"solved": 2, "total": 4, "solved_at": {"1": 0, "2": 1, "4": 1, "8": 2}, "settings": settings}
    (path / "summary.json").write_text(json.dumps(summary))


def test_solver_tactics_alone_stand_beside_a_benchmark_of_the_same_theorems_and_budget(tmp_path: Path) -> None:
    run, other_set = tmp_path / "quick" / "rl", tmp_path / "quick" / "eval_others"
    run.mkdir(parents=True)
    solver_only(other_set / "eval_demo_test", "another set")
    solver_only(tmp_path / "quick" / "eval_model" / "eval_demo", "the set", policy="model")

    def score(simulations: int) -> tuple[int, int] | None:
        benchmark: Any = {"theorem_set": "the set", "lean": "nanolean", "simulations": simulations}
        (found,) = SolverBaselines(run).beside([benchmark])
        return found["solvers"] and (found["solvers"]["solved"], found["solvers"]["total"])

    assert score(8) is None
    solver_only(tmp_path / "quick" / "eval_newer_lean" / "eval_demo", "the set", "v4.9.0")
    assert score(8) is None
    solver_only(tmp_path / "quick" / "eval_solver_only" / "eval_demo", "the set")
    assert [score(2), score(8), score(16)] == [(1, 4), (2, 4), None]
