"""Evaluations on the embedded prover: the same again with other actors, and theorems that are no good."""

import pytest

from nanoproof.actors.fleet import STEPS_NOT_SECONDS, Fleet
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.data.nanolean import list_theorems
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.evaluation import command
from nanoproof.lean.client import LeanFleet
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.transport import TOKEN_VARIABLE
from nanoproof.lean.types import Theorem
from scripts import check_with_lean, prover_eval
from tests.rl.tiny import tiny_theorems

pytestmark = pytest.mark.slow

AWKWARD = {
    "good": "theorem good (p q : Prop) (hp : p) (hq : q) : p ∧ q := by sorry",
    "false": "theorem wrong (p q : Prop) (hp : p) : q := by sorry",
    "unreadable": "theorem unreadable (p : Prop : p := by sorry",
    "unknown": "theorem unknown (x : Real) : x = x := by sorry",
    "two": "theorem two (p : Prop) : p := by sorry\ntheorem two' : True := by sorry",
    "twin": "theorem good (p : Prop) (hp : p) : p := by sorry",
}


@pytest.fixture(scope="module")
def embedded():
    with start_embedded(4) as servers:
        yield servers


@pytest.fixture(scope="module")
def slots(embedded):
    """Processes of one embedded server, for all evaluations here."""
    return LeanFleet(embedded.addresses, embedded.token, STEPS_NOT_SECONDS).servers * 4


@pytest.fixture(autouse=True)
def shared_server(monkeypatch, slots):
    monkeypatch.setattr(
        command, "open_fleet", lambda options, dist: Fleet(slots[: options.lean_processes], None, "", "nanolean")
    )


def evaluate(path, dataset, actors, *more):
    """The results of an evaluation, by id, without times."""
    words = ["--datasets", dataset, "--num-simulations", "4", "--lean-processes", str(actors), "--device-type", "cpu"]
    assert prover_eval.main([*words, "--log-level", "error", "--output-dir", str(path), *map(str, more)]) == 0
    return {record["theorem"]["id"]: {**record, "seconds": None} for record in read_jsonl(path / "results.jsonl")}


@pytest.fixture
def mixed(monkeypatch):
    """Theorems that the network knows something of, and others, where it samples at random."""
    monkeypatch.setitem(
        sets.DATASETS, "mixed", lambda split, version=None: [*tiny_theorems("train")[:3], *list_theorems("valid")[:3]]
    )


@pytest.mark.nightly
def test_two_evaluations_with_one_seed_agree_in_everything_but_time(folder, mixed, tmp_path):
    model = ["--model-path", folder / "sft", "--max-gen-tokens", 12]
    alone = evaluate(tmp_path / "alone", "mixed", 1, *model)
    crowd = evaluate(tmp_path / "crowd", "mixed", 4, *model)
    assert alone == crowd
    assert {record["outcome"] for record in alone.values()} == {"proven", "unproven"}


def test_the_record_says_what_computed_the_network_and_no_two_are_mixed(folder, mixed, tmp_path, monkeypatch):
    words = ["--model-path", folder / "sft", "--max-gen-tokens", 12, "--cpu-dtype", "float32"]
    monkeypatch.setattr(command, "missing_for_native", lambda network, limits: None)
    evaluate(tmp_path / "out", "mixed", 1, *words)
    assert read_json(tmp_path / "out" / "settings.json")["settings"]["dtype"] == "float32, compiled code"
    with pytest.raises(UserError, match=r"number type .* was float32, compiled code, is float32, padded batches"):
        evaluate(tmp_path / "out", "mixed", 1, *words, "--engine-backend", "torch", "--continue")


def test_several_networks_share_the_simulations(folder, mixed, tmp_path):
    one, model = folder / "sft", ["--max-gen-tokens", 12]
    alone = evaluate(tmp_path / "alone", "mixed", 1, "--model-path", one, *model)
    both = evaluate(tmp_path / "both", "mixed", 2, "--model-path", f"{one},{one}", *model)
    # The first of the two searches is the beginning of the one that is alone.
    assert {name for name, record in both.items() if record["outcome"] == "proven"} <= {
        name for name, record in alone.items() if record["outcome"] == "proven"
    }
    unproven = [record["counts"] for record in both.values() if record["outcome"] == "unproven"]
    assert unproven and all(counts["simulations"] == 4 for counts in unproven)
    digests = [read_json(tmp_path / name / "summary.json")["settings"]["model_sha256"] for name in ("alone", "both")]
    assert digests[0] != digests[1] and len(digests[1]) == 64


def test_theorems_that_are_no_good_are_failures_or_errors_and_disturb_no_other(monkeypatch, tmp_path):
    theorems = [Theorem(source, "awkward", name) for name, source in AWKWARD.items()]
    monkeypatch.setitem(sets.DATASETS, "awkward", lambda split, version=None: theorems)
    found = evaluate(tmp_path / "out", "awkward", 2, "--policy", "uniform")
    outcomes = {name: record["outcome"] for name, record in found.items()}
    errors = dict.fromkeys(("unreadable", "unknown", "two"), "error")
    assert outcomes == {"good": "proven", "false": "unproven", **errors, "twin": "proven"}
    assert all(found[name]["message"] for name in errors)
    summary = read_json(tmp_path / "out" / "summary.json")
    assert (summary["solved"], summary["failed"], summary["errors"]) == (2, 1, 3)
    files = [f"{name}.{kind}" for name in ("good", "twin") for kind in ("lean", "ndjson")]
    assert sorted(file.name for file in (tmp_path / "out" / "proofs").iterdir()) == files
    assert summary["certificates"] == 2


def test_proofs_are_confirmed_by_somebody_else(monkeypatch, tmp_path, capsys, slots, embedded):
    monkeypatch.setenv(TOKEN_VARIABLE, embedded.token)
    theorems = [Theorem(AWKWARD[name], "awkward", name) for name in ("good", "false")]
    monkeypatch.setitem(sets.DATASETS, "awkward", lambda split, version=None: theorems)
    evaluate(tmp_path / "out", "awkward", 2, "--policy", "uniform", "--recheck-with", slots[0].address)
    said = capsys.readouterr().out
    assert said.endswith(
        f"1 of 1 proofs hold ({slots[0].address})\n1 of 1 results hold against the statements as given\n"
        f"checked by Lean server {slots[0].address}, believed at its word; "
        f"compared with {tmp_path / 'out' / 'results.jsonl'}\n"
    )
    confirmed = read_json(tmp_path / "out" / "recheck.json")
    assert [*confirmed["proved"]] == [str(tmp_path / "out" / "proofs" / "good.lean")]
    with pytest.raises(UserError, match="a server does not say what a file declares"):
        check_with_lean.main([str(tmp_path / "out"), "--lean", slots[0].address, "--results", "none"])
    with pytest.raises(UserError, match="--lean no-such-lean: no such program"):
        evaluate(tmp_path / "none", "awkward", 2, "--policy", "uniform", "--recheck-with", "no-such-lean")
    assert not (tmp_path / "none").exists()


def test_a_file_of_theorems_is_a_benchmark(empty_home, tmp_path, capsys):
    file = tmp_path / "mine.lean"
    file.write_text("theorem a (p : Prop) (h : p) : p := by\n  sorry\n\ntheorem b (p : Prop) : p := by\n  sorry\n")
    words = ["--policy", "solver-only", "--datasets", str(file), "--split", "test", "--num-simulations", "4"]
    assert prover_eval.main([*words, "--lean-processes", "2"]) == 0
    path = empty_home / "baselines" / "solver-only" / "eval_mine"
    assert read_json(path / "summary.json")["solved"] == 1 and (path / "proofs" / "a.lean").exists()
    assert "mine test: 1/2 solved" in capsys.readouterr().out
