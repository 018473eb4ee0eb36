"""Proofs that are found and that no server accepts or refuses: they are counted, and too many in a row end the work."""

import threading

import pytest
import torch

from nanolean.tests.each import each
from nanoproof.actors import fleet
from nanoproof.actors.actor import ActorPool
from nanoproof.actors.fleet import ProofWatch
from nanoproof.actors.tasks import ProofsLost
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.evaluation import command
from nanoproof.evaluation.evaluate import Workload, try_theorems
from nanoproof.lean.types import ProtocolError, ServerTimeout
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.rl import __main__ as rl
from scripts import prover_eval
from tests.evaluation import scripted_eval
from tests.fakes.lean import ScriptedLean
from tests.rl import scripted_rl
from tests.rl.small import SCRIPT, make_prover, policy, theorems

REASON = "the axioms of t are not reported: []"
(THEOREM,) = theorems(1)
PROVEN = Attempt(THEOREM, "proven")
UNPROVEN = Attempt(THEOREM, "unproven")
REFUSED = Attempt(THEOREM, "unproven", check={"accepted": False, "lost": "refused"})


def lost(kind="ProtocolError", seconds=0.0):
    return Attempt(THEOREM, "error", REASON, seconds={"check": seconds}, check={"accepted": False, "lost": kind})


def watching(limit, *notes):
    """A watch over servers a, b and c that was told of attempts."""
    watch = ProofWatch("abc", limit)
    for address, attempt in notes:
        watch.note(address, attempt)
    return watch


LOST = lost()


@each(
    ("notes", "over"),
    [
        ([("a", LOST)] * 2, False),
        ([("a", LOST)] * 3, True),
        ([("a", LOST), ("b", LOST), ("c", LOST)], True),  # none was ever accepted
        ([("a", LOST)] * 2 + [("a", PROVEN), ("a", LOST)], False),
        ([("a", LOST), ("a", REFUSED), ("a", UNPROVEN)] * 3, True),  # others tell nothing
        ([("a", REFUSED)] * 9, False),
        ([("b", PROVEN)] + [("a", LOST)] * 9, False),  # another is well
        ([("b", PROVEN)] + [("a", LOST)] * 3 + [("b", LOST)] * 2, False),
        ([("b", PROVEN)] + [("a", LOST)] * 3 + [("b", LOST)] * 3, True),
        ([("a", PROVEN)] + [("a", LOST)] * 3, True),  # nothing is known of others
        ([("a", lost("ServerTimeout", 9.0))] * 9, False),  # they were in the check together when it broke down
        ([("a", lost("ServerTimeout"))] * 3, True),
    ],
)
def test_it_is_over_once_all_servers_lose_what_is_found(notes, over):
    assert (watching(3, *notes).over() is not None) == over


def test_a_limit_of_none_is_never_met():
    assert watching(0, *[("a", LOST)] * 9).over() is None


def test_a_server_that_loses_proofs_while_others_do_not_is_named_once_and_rests(caplog):
    watch = watching(2, ("b", PROVEN), *[("a", LOST)] * 4)
    assert watch.rest_seconds("a") > 0 == watch.rest_seconds("b")
    (record,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert "Lean server a" in record.getMessage() and "nanoproof.lean.probe --lean-servers a;" in record.getMessage()


class Losing:
    """Leases scripted sessions whose every `each`-th proof gets no verdict; `wait` is called before each check."""

    def __init__(self, address="scripted:1", each=1, wait=lambda: None):
        self.address, self.each, self.wait, self.proofs = address, each, wait, 0

    def lease(self, timeout):
        def report(source):
            self.wait()
            self.proofs += "sorry" not in source and "(by" not in source
            if self.proofs % self.each == 0:
                raise ProtocolError(REASON)
            return ScriptedLean(SCRIPT).check(source)

        return ScriptedLean(SCRIPT, report=report)


def evaluated(slots, count, limit=5):
    pool = ActorPool(slots, policy(), make_prover, lost_proofs=limit)
    attempts = []
    try:
        try_theorems(pool, "lost", Workload(theorems(count), range(count), 8, 0), attempts.append, show=False)
    finally:
        pool.stop()
        pool.join()
    return attempts


def test_one_lost_proof_of_twenty_ends_nothing():
    attempts = evaluated([Losing(each=20)], 60)
    assert [attempt.lost for attempt in attempts if attempt.lost] == ["ProtocolError"] * 3
    assert attempts[19].check["server"] == "scripted:1"


def test_the_line_names_number_server_reason_and_the_command_to_see_more():
    with pytest.raises(ProofsLost) as error:
        evaluated([Losing()], 60)
    assert str(error.value) == (
        "the final check lost the last 5 proofs that were found, through no fault of theirs: Lean server "
        f"scripted:1, last with ProtocolError: {REASON}; to see what is wrong: "
        "python -m nanoproof.lean.probe --lean-servers scripted:1"
    )


def test_actors_leave_a_server_alone_that_loses_proofs(monkeypatch):
    monkeypatch.setattr(fleet, "REST_SECONDS", 600.0)
    accepted, lost_three = threading.Event(), threading.Event()
    note = ProofWatch.note

    def noted(watch, address, attempt):
        note(watch, address, attempt)
        if address == "good:1":
            accepted.set()
        elif losing.proofs == 3:
            lost_three.set()

    monkeypatch.setattr(ProofWatch, "note", noted)
    losing = Losing("bad:1", wait=accepted.wait)
    well = Losing("good:1", each=10_000, wait=lambda: accepted.is_set() and lost_three.wait())
    attempts = evaluated([well, losing], 60, limit=3)
    assert losing.proofs == 3 and [attempt.outcome for attempt in attempts].count("proven") == 57


# -- commands ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield scripted_rl.make_model(tmp_path_factory.mktemp("model"))
    torch.set_num_threads(threads)


def test_reinforcement_learning_ends_and_can_go_on(model, tmp_path, monkeypatch):
    path = tmp_path / "rl"
    monkeypatch.setenv("LOSES", REASON)
    with scripted_rl.scripted():
        with pytest.raises(ProofsLost, match=rf"lost the last \d+ proofs that were found.*--resume-from {path}$"):
            rl.main(scripted_rl.words(model, path, collect_transitions=100_000))
        monkeypatch.delenv("LOSES")
        assert [attempt.lost for _, attempt in logged_attempts(path)].count("ProtocolError") >= 5
        assert [event["kind"] for event in read_jsonl(path / "events.jsonl")].count("lost_proofs") == 1
        assert rl.main(["--resume-from", str(path), "--collect-transitions", "6"]) == 0
    assert (path / "finished").exists()


def test_an_evaluation_ends_and_goes_on_where_it_was(tmp_path, monkeypatch, nanoproof_home, capsys):
    monkeypatch.setitem(sets.DATASETS, "scripted", scripted_eval.scripted_theorems)
    monkeypatch.setattr(command, "open_fleet", scripted_eval.open_fleet)
    check = ScriptedLean.check

    def lose(session, source, *more):
        raise ServerTimeout("no answer within 300 s")

    path = tmp_path / "out"
    monkeypatch.setattr(ScriptedLean, "check", lose)
    monkeypatch.setenv("ACTORS", "1")
    with pytest.raises(UserError, match=r"5 proofs .* of 40 theorems are done \(0 solved\)"):
        prover_eval.main(scripted_eval.words(path))
    monkeypatch.setattr(ScriptedLean, "check", check)
    assert prover_eval.main(scripted_eval.words(path, "--continue")) == 0
    assert read_json(path / "summary.json")["solved"] == 20


def test_a_score_says_how_many_proofs_were_lost_and_why(tmp_path, monkeypatch, nanoproof_home, capsys):
    monkeypatch.setitem(sets.DATASETS, "scripted", scripted_eval.scripted_theorems)
    monkeypatch.setattr(command, "open_fleet", scripted_eval.open_fleet)
    check = ScriptedLean.check

    def lose_some(session, source, *more):
        if "theorem t2 " in source:
            raise ProtocolError(REASON)
        return check(session, source)

    monkeypatch.setattr(ScriptedLean, "check", lose_some)
    assert prover_eval.main(scripted_eval.words(tmp_path / "out", "--max-theorems", 8)) == 0
    summary = read_json(tmp_path / "out" / "summary.json")
    assert (summary["lost_proofs"], summary["lost_kinds"], summary["refused_proofs"]) == (1, {"ProtocolError": 1}, 0)
    assert f"(1 ProtocolError): t2 on scripted:1, {REASON}" in capsys.readouterr().out
