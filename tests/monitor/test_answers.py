"""What the API answers about a run that is written as runs are."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from nanolean.tests.each import each
from nanoproof.monitor import record_schema, schema
from nanoproof.monitor.records import MAX_NODES, most_visited
from nanoproof.monitor.series import MetricStore
from nanoproof.monitor.typescript import TYPES_FILE, to_typescript
from nanoproof.prover.attempt_log import AttemptLog
from tests.fakes.simulated_run import SimulatedRun
from tests.monitor.conftest import Asker, attempt, lines

Look = Callable[..., Asker]


@pytest.fixture
def asker(look: Look, simulated: SimulatedRun) -> Asker:
    return look(simulated.path)


def test_the_types_of_the_page_are_those_of_the_api() -> None:
    assert TYPES_FILE.read_text(encoding="utf-8") == to_typescript()


PAGES = [
    ("/api/run", schema.RunInfo),
    ("/api/overview", schema.Overview),
    ("/api/series", schema.Series),
    ("/api/actors", schema.Actors),
    ("/api/timeline", record_schema.Timeline),
    ("/api/theorems", record_schema.Theorems),
    ("/api/attempts", record_schema.Page),
    ("/api/samples", record_schema.Page),
    ("/api/train-samples", record_schema.Page),
    ("/api/rounds", record_schema.Rounds),
    ("/api/calibration", record_schema.Calibration),
    ("/api/evaluations", schema.Evaluations),
    ("/api/logs", schema.Logs),
    ("/api/trace", record_schema.Trace),
]


@each(("question", "kind"), PAGES)
def test_every_answer_has_the_fields_of_its_type(asker: Asker, question: str, kind: Any) -> None:
    assert set(asker.get(question)) == set(kind.__annotations__)


@pytest.mark.nightly
@pytest.mark.parametrize(("question", "kind"), PAGES)
def test_an_empty_run_has_answers_of_the_same_form(look: Look, tmp_path: Path, question: str, kind: Any) -> None:
    assert set(look(tmp_path / "gone").get(question)) == set(kind.__annotations__)


def test_the_overview_counts_attempts_and_proofs(asker: Asker, simulated: SimulatedRun) -> None:
    overview = asker.get("/api/overview")
    assert (overview["attempts"], overview["proofs"]) == (simulated.counts["attempts"], simulated.counts["proofs"])
    assert [one["dataset"] for one in overview["benchmarks"]] == ["simulated", "simulated-hard"]
    assert overview["proofs_per_hour"] > 0 and overview["live"] is False


def test_the_overview_counts_found_proofs_that_were_lost_and_says_how_the_newest_was(
    look: Look, tmp_path: Path
) -> None:
    said = [("refused", "a sorry"), ("ServerTimeout", "no answer"), ("ProtocolError", "no axioms\nat all")]
    checks = [{"accepted": False, "lost": how, "reason": reason} for how, reason in said]
    older, accepted, odd = {"accepted": False, "reason": "a sorry"}, {"accepted": True}, ["?"]
    records = [
        attempt(number, outcome="unproven") | {"check": check}
        for number, check in enumerate([checks[2], *checks[:2], older, accepted, odd, None])
    ]
    records[0]["time"] = 2000.0  # of another rank, say
    (tmp_path / "attempts_r0.jsonl").write_text(lines(*records))
    log = AttemptLog(tmp_path, 1)
    log.write(attempt(9, outcome="error", rank=1) | {"check": checks[1]})
    log.close()
    overview = look(tmp_path).get("/api/overview")
    assert (overview["attempts"], overview["lost_proofs"], overview["refused_proofs"]) == (8, 3, 2)
    assert overview["last_loss"] == "ProtocolError: no axioms\nat all"


def test_attempts_come_the_newest_first_and_in_pages(asker: Asker, simulated: SimulatedRun) -> None:
    first, second = (asker.get(f"/api/attempts?size=7&page={page}") for page in (1, 2))
    names = [(one["time"], one["step"], one["seq"], one["rank"]) for one in first["items"] + second["items"]]
    assert names == sorted(names, reverse=True) and len(set(names)) == 14
    assert first["total"] == simulated.counts["attempts"]
    assert asker.get("/api/attempts?page=100000")["items"] == []


def test_an_attempt_has_its_proof_and_its_transitions(look: Look, tmp_path: Path) -> None:
    failed = {"failed_tactics": [["⊢ True", "rfl", "omega"], ["⊢ x", "simp"]]}
    (tmp_path / "attempts_r3.jsonl").write_text(lines(attempt(5, "x", rank=3, step=2) | failed))
    found = look(tmp_path).get("/api/attempts/3/2/5")
    assert found["proof"] == "trivial" and found["statement"].startswith("theorem x")
    assert found["transitions"] == [{"state": "⊢ True", "tactic": "trivial", "depth": 1}]
    assert [one["tactic"] for one in found["failed_tactics"]] == ["rfl", "omega", "simp"]


def test_a_theorem_shows_its_shortest_proof_and_its_history(look: Look, tmp_path: Path) -> None:
    log = [attempt(0, tactics=4), attempt(1, tactics=2), attempt(2, outcome="unproven"), attempt(3, "other")]
    (tmp_path / "attempts_r0.jsonl").write_text(lines(*log))
    found = look(tmp_path).get("/api/theorem?dataset=demo&id=t")
    assert found["theorem"]["outcome"] == "proven" and found["theorem"]["tactics"] == 2
    assert found["best"]["seq"] == 1 and [one["seq"] for one in found["history"]] == [2, 1, 0]


def test_theorems_are_searched_filtered_and_sorted(look: Look, tmp_path: Path) -> None:
    log = [attempt(0, "b_add"), attempt(1, "a_add"), attempt(2, "c_mul"), attempt(3, "d_add", "unproven")]
    (tmp_path / "attempts_r0.jsonl").write_text(lines(*log))
    asker = look(tmp_path)

    def names(**question: str) -> list[str]:
        return [one["id"] for one in asker.get("/api/theorems?" + urlencode(question))["items"]]

    assert names(q="ADD", outcome="proven", sort="id", order="asc") == ["a_add", "b_add"]
    assert names() == ["d_add", "c_mul", "a_add", "b_add"]
    assert names(dataset="none") == [] and names(sort="first", order="asc")[-1] == "d_add"
    assert asker.get("/api/theorems?q=mul")["outcomes"] == {"proven": 3, "disproven": 0, "unproven": 1, "error": 0}


def test_a_tree_is_served_while_it_is_kept(look: Look, simulated: SimulatedRun, asker: Asker) -> None:
    items = asker.get("/api/attempts?size=500")["items"]
    kept = [one for one in items if one["tree"]]
    gone = next(one for one in items if not one["tree"])
    place = "/api/attempts/{rank}/{step}/{seq}/tree"
    tree = asker.get(place.format(**kept[0]))
    assert tree["nodes"] == len(tree["tree"]["kind"]) == len(tree["tree"]["parent"])
    assert asker.ask(place.format(**gone)).status_code == 404
    assert len(kept) == len(list((simulated.path / "trees").iterdir()))
    assert asker.get("/api/attempts?size=500&tree=true")["items"] == kept


def test_a_huge_tree_is_cut_to_its_most_visited_part() -> None:
    count = 3 * MAX_NODES
    columns: dict[str, Any] = {name: [0.0] * count for name in ("prior", "logprob", "value_sum", "expansions")}
    columns |= {"parent": [-1, *range(count - 1)], "visits": list(range(count, 0, -1)), "kind": "o" * count}
    columns |= {"state": [0] * count, "tactic": [-1] * count, "solved": "0" * count, "states": ["s"], "tactics": []}
    tree = most_visited(columns, 100)
    assert tree["visits"] == list(range(count, count - 100, -1)) and tree["parent"] == [-1, *range(99)]


@pytest.mark.parametrize("parent", [[-1, 1], [0, 0], [-1, 5], [-1, None]])
def test_a_tree_that_is_none_is_not_served(look: Look, tmp_path: Path, parent: list[Any]) -> None:
    (tmp_path / "attempts_r0.jsonl").write_text(lines(attempt(0)))
    numbers = {name: [0, 0] for name in ("tactic", "prior", "logprob", "visits", "value_sum", "expansions", "state")}
    tree = {"kind": "oo", "solved": "00", **numbers, "parent": parent, "states": ["s"], "tactics": ["t"]}
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "0_0_0.json.gz").write_bytes(gzip.compress(json.dumps(tree).encode()))
    assert look(tmp_path).ask("/api/attempts/0/0/0/tree").status_code == 404


def test_files_that_are_no_trees_do_not_hide_those_that_are(look: Look, tmp_path: Path) -> None:
    (tmp_path / "attempts_r0.jsonl").write_text(lines(attempt(0), attempt(1)))
    (tmp_path / "trees").mkdir()
    for name in ("0_0_1.json.gz", "notes.txt", "99999999999_0_0.json.gz", "1_2.json.gz", "0_0_1_2.json.gz"):
        (tmp_path / "trees" / name).touch()
    assert [one["seq"] for one in look(tmp_path).get("/api/attempts?tree=true")["items"]] == [1]


def test_metrics_of_a_long_run_take_bounded_memory_and_lose_no_peak() -> None:
    store = MetricStore()
    for step in range(50_000):
        store.add({"step": step, "loss": 100.0 if step == 777 else 1.0})
    series = store.series(["loss"], 500)
    assert len(series["steps"]) <= 500 and series["steps"][-1] == 49_999
    assert max(one or 0.0 for one in series["high"]["loss"]) == 100.0
    assert len(store.rows) <= 20_000 and series["total"] == 50_000


def test_steps_that_are_done_again_replace_the_earlier_ones(look: Look, run: Path) -> None:
    series = look(run).get("/api/series")
    assert list(zip(series["steps"], series["values"]["loss"], strict=True)) == [(0, 9.0), (1, 8.0), (2, 5.0), (3, 4.0)]


def test_a_part_of_the_timeline_is_found_and_spans_are_put_together(asker: Asker) -> None:
    whole = asker.get("/api/timeline")
    middle = whole["first"] + 100
    part = asker.get(f"/api/timeline?from={middle}&to={middle + 5}&max=20000")
    times = [moment for lane in part["lanes"] for span in lane["spans"] for moment in span[:2]]
    assert times and min(times) >= middle - 0.001 and max(times) <= middle + 5.001
    coarse = asker.get(f"/api/timeline?from={middle - 50}&to={middle + 50}&max=40")
    assert coarse["merged"] and sum(len(lane["spans"]) for lane in coarse["lanes"]) <= 80
    assert 0.99 < sum(whole["shares"].values()) < 1.01


def test_a_part_of_a_long_timeline_is_found_wherever_it_is(look: Look, tmp_path: Path) -> None:
    with open(tmp_path / "timeline_r0.jsonl", "w") as file:
        for second in range(2000):
            spans = [[0, f"s{second}", 0.0, 1000.0], [1, "x" * 100, 0.0, 10.0]]
            file.write(lines({"from": 1000.0 + second, "to": 1001.0 + second, "actors": spans}))
    asker = look(tmp_path)
    for second in (0, 1, 777, 1024, 1998, 1999):
        part = asker.get(f"/api/timeline?from={1000.25 + second}&to={1000.75 + second}")
        assert [span[2] for span in part["lanes"][0]["spans"]] == [f"s{second}"]
        assert (part["first"], part["last"]) == (1000.0, 3000.0)


def test_too_long_a_part_of_the_timeline_is_shortened_and_says_so(
    look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nanoproof.monitor.timeline.MAX_BYTES", 100_000)
    with open(tmp_path / "timeline_r0.jsonl", "w") as file:
        for second in range(2000):
            spans = [[actor, "model", 0.0, 500.0] for actor in range(20)]
            file.write(lines({"from": 1000.0 + second, "to": 1001.0 + second, "actors": spans}))
    part = look(tmp_path).get("/api/timeline?from=1000&to=2000&max=20000")
    begins = [span[0] for lane in part["lanes"] for span in lane["spans"]]
    assert 1500 < part["start"] < 2000 and part["end"] == 2000 and min(begins) == part["start"]
    assert part["shortened"] and look(tmp_path).get("/api/timeline?last=0")["shortened"]


def test_the_newest_part_of_the_timeline_is_asked_for_by_its_length(asker: Asker) -> None:
    newest = asker.get("/api/timeline?last=10")
    assert newest["end"] == newest["last"] and newest["start"] == newest["last"] - 10
    for question in ("last=0", "last=100000"):
        whole = asker.get(f"/api/timeline?{question}&max=20000")
        assert (whole["start"], whole["end"], whole["shortened"]) == (whole["first"], whole["last"], False)


def test_the_time_that_a_model_was_busy_is_that_of_all_samples(look: Look, tmp_path: Path) -> None:
    for rank in (0, 1):
        with open(tmp_path / f"timeline_r{rank}.jsonl", "w") as file:
            for second in range(100):
                steps = [[100 * tenth, 50.0, 8, 2, 0] for tenth in range(10)]
                file.write(lines({"from": 1000.0 + second, "to": 1001.0 + second, "steps": steps}))
    for rank in look(tmp_path).get("/api/timeline?last=0&max=100")["batches"]:
        assert len(rank["seconds"]) == 100 and rank["busy"] == pytest.approx(50.0)


def test_the_shares_are_those_of_the_spans_before_they_are_put_together(look: Look, tmp_path: Path) -> None:
    with open(tmp_path / "timeline_r0.jsonl", "w") as file:
        for second in range(300):
            spans = [
                [0, *span] for tenth in range(0, 1000, 100) for span in (("model", tenth, 40), ("lean", tenth + 40, 60))
            ]
            file.write(lines({"from": 1000.0 + second, "to": 1001.0 + second, "actors": spans}))
    part = look(tmp_path).get("/api/timeline?last=0&max=200")
    assert part["merged"] and {span[2] for span in part["lanes"][0]["spans"]} == {"lean"}
    assert part["shares"] == pytest.approx({"model": 0.4, "lean": 0.6, "idle": 0.0})


def test_the_trace_holds_the_spans_in_microseconds(asker: Asker) -> None:
    events = asker.get("/api/trace")["traceEvents"]
    assert {"X", "M"} <= {event["ph"] for event in events}
    assert all(event["dur"] > 0 for event in events if event["ph"] == "X")


def test_samples_come_the_newest_first_from_before_and_after_a_rotation(look: Look, tmp_path: Path) -> None:
    for name, steps in (("samples_r0.old", (1, 2)), ("samples_r0", (3, 4)), ("samples_r1", (9,))):
        (tmp_path / f"{name}.jsonl").write_text(lines(*({"step": step, "state": "⊢"} for step in steps)))
    found = look(tmp_path).get("/api/samples?size=4")
    assert [one["step"] for one in found["items"]] == [4, 9, 3, 2] and found["total"] == 5


def test_calibration_compares_values_with_true_depths(look: Look, tmp_path: Path) -> None:
    records = [{"value": 2.0, "depth": 1}, {"value": 2.5, "depth": 3}, {"value": 5.0, "depth": 6}, {"value": 1.0}]
    (tmp_path / "samples_r0.jsonl").write_text(lines(*records))
    found = look(tmp_path).get("/api/calibration")
    assert found["count"] == 3 and found["mean_error"] == pytest.approx(-0.5 / 3)
    assert [(one["low"], one["count"], one["actual"]) for one in found["bins"]] == [(1.5, 2, 2.0), (4.5, 1, 6.0)]
    depths = [(one["depth"], one["count"], one["predicted"], one["error"]) for one in found["depths"]]
    assert depths == [(1, 1, 2.0, 1.0), (3, 1, 2.5, -0.5), (6, 1, 5.0, -1.0)]
    assert found["expected_error"] == pytest.approx((abs(1 - 0.5) + 1) / 3)  # 2 and 2.5 round to 2
    shown = sum(one["count"] * abs(one["predicted"] - one["actual"]) for one in found["bins"]) / found["count"]
    assert found["expected_error"] == pytest.approx(shown), "the bins beside it give another number"


def test_evaluations_are_listed_opened_and_compared(asker: Asker) -> None:
    rows = asker.get("/api/evaluations")["items"]
    name = rows[0]["name"]
    one = asker.get(f"/api/evaluations/{name}?outcome=proven")
    assert one["results"]["total"] == one["outcomes"]["proven"] == rows[0]["solved"]
    index = one["results"]["items"][-1]["index"]
    assert asker.get(f"/api/evaluations/{name}/results/{index}")["proof"]
    same = [row["name"] for row in rows if row["dataset"] == rows[0]["dataset"]]
    diff = asker.get(f"/api/evaluations/diff?a={same[0]}&b={same[0]}")
    assert (diff["only_a"], diff["only_b"], diff["p"], diff["both"]) == (0, 0, 1.0, rows[0]["solved"])


def test_evaluations_of_other_theorems_cannot_be_compared(look: Look, tmp_path: Path) -> None:
    for name, theorem in (("1_a", "x"), ("2_b", "y")):
        (tmp_path / "evals" / name).mkdir(parents=True)
        (tmp_path / "evals" / name / "summary.json").write_text('{"solved": 1, "total": 1}')
        (tmp_path / "evals" / name / "results.jsonl").write_text(lines(attempt(0, theorem)))
    assert look(tmp_path).ask("/api/evaluations/diff?a=1_a&b=2_b").status_code == 409


LOG = "10:00:0{} r{} {} nanoproof.rl: message {}\n"


def test_logs_are_merged_by_time_and_read_in_both_directions(look: Look, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("".join(LOG.format(i, 0, "INFO", i) for i in (0, 2, 4)) + "Traceback\n  line\n")
    (tmp_path / "log_r1.txt").write_text("".join(LOG.format(i, 1, "WARNING", i) for i in (1, 3, 5)) + "torn")
    asker = look(tmp_path)
    last = asker.get("/api/logs?size=4")
    texts = [one["message"] for one in last["items"]]
    assert texts == ["message 2", "message 3", "message 4\nTraceback\n  line", "message 5"]
    before = asker.get(f"/api/logs?size=4&before={last['previous']}")
    assert [one["message"] for one in before["items"]] == ["message 0", "message 1"] and before["previous"] is None
    assert asker.get(f"/api/logs?after={last['next']}")["items"] == []
    with open(tmp_path / "log.txt", "a") as file:
        file.write(LOG.format(9, 0, "ERROR", 9))
    assert [one["message"] for one in asker.get(f"/api/logs?after={last['next']}")["items"]] == ["message 9"]
    assert {one["rank"] for one in asker.get("/api/logs?level=WARNING&rank=1")["items"]} == {1}


def test_logs_go_on_over_midnight(look: Look, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("23:59:59 r0 INFO a: before\n00:00:02 r0 INFO a: last\n")
    (tmp_path / "log_r1.txt").write_text("00:00:01 r1 INFO a: after\n")
    assert [one["message"] for one in look(tmp_path).get("/api/logs")["items"]] == ["before", "after", "last"]


def test_logs_of_several_days_are_in_their_order_and_those_without_dates_before_them(
    look: Look, tmp_path: Path
) -> None:
    (tmp_path / "log.txt").write_text("2026-11-20 23:00:00 r0 INFO a: first\n2026-11-22 08:00:00 r0 INFO a: last\n")
    (tmp_path / "log_r1.txt").write_text("09:00:00 r1 INFO a: older\n2026-11-21 12:00:00 r1 INFO a: second\n")
    (tmp_path / "log_r2.txt").write_text("2026-11-21 22:00:00 r2 ERROR a: third\n")
    asker = look(tmp_path)
    for question in ("/api/logs", "/api/logs?after=0:0"):
        items = asker.get(question)["items"]
        assert [one["message"] for one in items] == ["older", "first", "second", "third", "last"]
        assert [one["date"][-2:] for one in items] == ["", "20", "21", "21", "22"] and items[1]["time"] == "23:00:00"
