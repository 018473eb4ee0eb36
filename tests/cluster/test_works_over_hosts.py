"""What hosts do besides searches: the verdicts are those without a cluster, and a lost host takes none with it."""

import json
import threading
from collections import Counter

import pytest

from nanoproof.common.files import read_json
from nanoproof.lean.types import Theorem
from nanoproof.prover.whole_proof import Candidate, Verification, Verifier
from tests.cluster.scripted_host import LocalNodes, evaluate, lines, script_evaluations
from tests.evaluation import scripted_whole
from tests.helpers import wait_for

THEOREM = Theorem("theorem t : True := by\n  sorry", "d", "t")


@pytest.fixture
def scripted(monkeypatch, nanoproof_home, tmp_path):
    script_evaluations(monkeypatch, LocalNodes)
    monkeypatch.setenv("CHECKED", str(tmp_path / "checked"))


def test_whole_proofs_have_the_verdicts_that_they_have_without_a_cluster(scripted, tmp_path, monkeypatch):
    for name, value in {"COPIES": "20", "CRASHES": "0.05", "TIMEOUTS": "0.05", "REFUSED": "t3"}.items():
        monkeypatch.setenv(name, value)
    more = ("--samples", 20, "--samples-at-once", 8, "--repair", 1)
    alone = evaluate(tmp_path / "alone", *more)
    once = Counter(lines(tmp_path / "checked"))
    scripted_whole.Lean.met.clear()
    spread = evaluate(tmp_path / "spread", *more, cluster="h:1")
    assert spread == alone
    assert {each["outcome"] for each in alone.values()} == {"proven", "unproven", "error"}
    assert any(each["counts"].get("repairs") for each in alone.values())
    assert Counter(lines(tmp_path / "checked")) - once == once
    ours, theirs = (read_json(tmp_path / name / "summary.json") for name in ("spread", "alone"))
    assert ours["whole_proofs"] == theirs["whole_proofs"]
    assert ours["settings"]["whole_proofs"] and ours["settings"] == theirs["settings"]


def test_a_lost_host_takes_no_sample_with_it_and_what_had_a_verdict_is_not_verified_again(
    scripted, tmp_path, monkeypatch
):
    monkeypatch.setenv("SLOW", "0.02")
    out, known = tmp_path / "out", []

    def kill():
        wait_for(lambda: len(lines(out / "results.jsonl")) >= 20, "results", 60)
        (nodes,) = LocalNodes.made
        nodes.kill()
        known.extend(lines(out / "results.jsonl"))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = evaluate(out, "--samples", 20, cluster="h:1")
    killer.join()
    assert len(found) == 100 and LocalNodes.made[0].lost
    right = {key for key, each in found.items() if f"exact {scripted_whole.RIGHT}" in each["text"]}
    assert {key for key, each in found.items() if each["outcome"] == "proven"} == right
    assert {each["outcome"] for each in found.values()} == {"proven", "unproven"}
    checked = Counter(lines(tmp_path / "checked"))
    assert len(checked) == 100 and checked.total() <= 100 + 2  # two were under way
    before = {json.loads(line)["text"].split(" -- ")[1] for line in known}
    again = {text.split(" -- ")[1] for text, count in checked.items() if count > 1}
    assert not before & again


def test_a_verification_survives_the_way():
    candidate = Candidate(THEOREM, "exact right", 3, 2**47 + 1, 7, 1, False)
    told = json.loads(json.dumps(Verification(Verifier("m"), candidate, 4.0).to_json()))
    made = Verifier("m").work(THEOREM, told)
    assert made._candidate == candidate and made._patience == 4.0
    made.take(["unsolved goals"])
    assert made.errors == ("unsolved goals",) == tuple(made.found())
