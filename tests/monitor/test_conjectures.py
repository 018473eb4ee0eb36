"""What the monitor says of conjectures, and of experiments of self-play."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanoproof.conjectures.filters import VERDICTS
from nanoproof.conjectures.learning import CONJECTURES_FILE, counted
from nanoproof.conjectures.source import PROPOSALS
from nanoproof.monitor import conjectures
from tests.monitor.conftest import Asker, lines

Look = Callable[..., Asker]
FROM = {"dataset": "demo", "seed": "t", "statement": "(a : Nat) : a = a", "lemma": "Nat.add_zero"}


def conjecture(name: str, step: int, outcome: str = "unproven", rate: float = 0.0, text: str = ": True") -> Any:
    found = {"step": step, "id": name, "conjecture": text, "from": FROM, "outcome": outcome, "rate": rate}
    return {**found, "simulations": 24 * step, "proof": "simp" if outcome == "proven" else ""}


def names(answer: Any) -> list[str]:
    return [one["id"] for one in answer["items"]]


def test_a_conjecture_is_listed_once_by_what_is_known_of_it_last(look: Look, tmp_path: Path) -> None:
    first = [conjecture("a", 1), conjecture("b", 1, "proven", 1.0, ": 1 = 1"), conjecture("c", 2)]
    (tmp_path / CONJECTURES_FILE).write_text(lines(*first, conjecture("a", 3, "proven", 0.0625)) + '{"id": "torn')
    asker = look(tmp_path)
    found = asker.get("/api/conjectures")
    assert names(found) == ["a", "c", "b"] and found["outcomes"] == {"proven": 2, "unproven": 1}
    assert (found["items"][0]["steps"], found["items"][0]["proof"], found["items"][0]["seed"]) == (2, "simp", "t")
    assert names(asker.get("/api/conjectures?sort=rate&order=asc")) == ["a", "b", "c"]
    assert names(asker.get("/api/conjectures?outcome=unproven")) == ["c"]
    assert names(asker.get("/api/conjectures?q=1+%3D")) == ["b"]
    assert names(asker.get("/api/conjectures?size=1&page=2")) == ["c"]
    assert asker.ask("/api/conjectures?sort=seed").status_code == 400
    assert asker.get("/api/overview")["conjectures"] and asker.get("/api/run")["has"]["conjectures"]


def test_proposals_of_all_ranks_are_counted_as_the_run_counts_them(look: Look, tmp_path: Path) -> None:
    for rank in (0, 1):
        written = [
            {"step": number, "verdict": verdict, "reason": "", "conjecture": f": {rank}", "from": FROM}
            for number, verdict in enumerate(VERDICTS)
            for _ in range(rank + 1)
        ]
        (tmp_path / PROPOSALS.format(rank=rank)).write_text(lines(*written))
    asker = look(tmp_path)
    verdicts = asker.get("/api/conjectures")["verdicts"]
    assert verdicts == dict.fromkeys(VERDICTS, 3)
    assert counted(verdicts, [])["conjectures/not_false"] == 3
    found = asker.get("/api/proposals?verdict=held+out&size=2")
    assert found["total"] == 3 and [one["verdict"] for one in found["items"]] == ["held out"] * 2
    assert [one["step"] for one in asker.get("/api/proposals?size=4")["items"]] == [7, 7, 7, 6]
    assert asker.get("/api/proposals?verdict=nothing")["total"] == 0


def test_what_is_written_over_by_another_run_is_forgotten(look: Look, tmp_path: Path) -> None:
    file = tmp_path / CONJECTURES_FILE
    file.write_text(lines(conjecture("a", 1), conjecture("b", 1)))
    asker = look(tmp_path)
    assert len(names(asker.get("/api/conjectures"))) == 2
    file.write_text(lines(conjecture("c", 1)))
    assert names(asker.get("/api/conjectures")) == ["c"]


def test_the_oldest_conjectures_make_room(look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conjectures, "MAX_CONJECTURES", 2)
    monkeypatch.setattr(conjectures, "MAX_VERDICTS", 1)
    (tmp_path / CONJECTURES_FILE).write_text(lines(*(conjecture(name, 1) for name in "abc")))
    (tmp_path / PROPOSALS.format(rank=0)).write_text(lines(*({"verdict": name} for name in ("new", "x", "y"))))
    found = look(tmp_path).get("/api/conjectures")
    assert names(found) == ["c", "b"] and found["verdicts"] == {"new": 1, "other": 2}


def test_an_experiment_of_self_play_has_its_rounds(look: Look, tmp_path: Path) -> None:
    path = tmp_path / "experiment"
    for number, rate in enumerate((40.0, 55.5)):
        folder = path / f"round{number}"
        (folder / "sampler_ckpt").mkdir(parents=True)
        metrics = {"succ rate": rate, "RL_new/nr_examples_proof": 3 + number, "success_rates": {"0.000": 5, "0.250": 1}}
        (folder / "metrics.json").write_text(json.dumps(metrics))
    (path / "round1" / "sampler_ckpt" / "conjectures.json").write_text('{"pairs": 7, "proposed": 21, "kept": 4}')
    (path / "round2").mkdir()
    (path / "selfplay.json").write_text("{}")
    model = path / "round0" / "RL_model"
    model.mkdir()
    (model / "args.json").write_text("{}")
    found = look(path).get("/api/conjectures")["rounds"]
    assert [(one["number"], one["over"], one["proved_percent"]) for one in found] == [
        (0, True, 40.0),
        (1, True, 55.5),
        (2, False, None),
    ]
    assert found[1]["tally"] == {"pairs": 7, "proposed": 21, "kept": 4} and found[1]["proofs"] == 4
    asker = look(tmp_path)
    asker.current.show_runs(tmp_path, every_seconds=0)
    rows = {one["name"]: (one["stage"], one["step"]) for one in asker.get("/api/runs")["items"]}
    assert rows == {"experiment": ("self-play", 2), "experiment/round0/RL_model": ("", None)}
