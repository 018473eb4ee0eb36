"""What becomes of tactics that run out of time, in REPLs that have limits of their own and in those that have none."""

import logging
import re
from typing import Any

import pytest

from nanoproof.lean.repl_goals import OutOfTime, read_tactic_answer
from nanoproof.lean.server.backend import TIMEOUT_MESSAGE, TIMEOUT_TACTIC, TIMEOUT_TACTIC_SOURCE, Backend
from nanoproof.lean.server.repl_process import Limits, ReplProcess
from nanoproof.lean.types import TacticApplied, TacticFailed
from tests.lean.conftest import AND, LEFT, RIGHT, THEOREM, Running, Serve
from tests.lean.test_server import Api

NOTHING: list[str] = []
LEAN, REPL, BOTH = ["lean"], ["repl"], ["lean", "repl"]
HEARTBEATS = "(deterministic) timeout at `whnf`, maximum number of heartbeats (20000) has been reached"


def script(limits: list[str], tactics: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A REPL that has these limits."""
    slow = {"slow": {"slow": True}, "deaf": {"slow": "deaf"}, "constructor": [LEFT, RIGHT], "trivial": []}
    return {"theorems": {": p ∧ q": AND}, "tactics": {AND: slow | (tactics or {})}, "limits": limits, **more}


def start(serve: Serve, limits: list[str], **more: Any) -> Running:
    return serve(script(limits, **more), imports=("Mathlib",))


def try_tactics(server: Running, *tactics: str, seconds: float = 5.0) -> list[TacticApplied | TacticFailed]:
    with server.client(seconds).lease() as session:
        branch = session.start(THEOREM)
        return [session.apply(branch, [tactic])[0] for tactic in tactics]


def kinds(results: list[TacticApplied | TacticFailed]) -> list[str]:
    return [result.kind if isinstance(result, TacticFailed) else "applied" for result in results]


def restarts(server: Running) -> dict[str, int]:
    return dict(Api(server).status()["totals"]["restarts"])


def requests_with(server: Running, word: str) -> list[dict[str, Any]]:
    return [request for request in server.requests() if word in request.get("cmd", "") + request.get("tactic", "")]


@pytest.mark.parametrize("limits", [LEAN, REPL, BOTH])
def test_a_tactic_that_a_limit_stops_costs_neither_process_nor_proof_states(serve: Serve, limits: list[str]) -> None:
    server = start(serve, limits)
    assert kinds(try_tactics(server, "slow", "constructor", "slow", "trivial")) == ["timeout", "applied"] * 2
    assert restarts(server) == {}
    assert sum("theorem" in request["cmd"] for request in requests_with(server, "sorry")) == 1


@pytest.mark.parametrize(("limits", "tactic"), [(NOTHING, "slow"), (LEAN, "deaf")])
def test_a_tactic_that_nothing_stops_costs_its_process(serve: Serve, limits: list[str], tactic: str) -> None:
    server = start(serve, limits)
    assert kinds(try_tactics(server, tactic, "trivial", seconds=0.3)) == ["timeout", "applied"]
    assert restarts(server) == {"timeout": 1}


@pytest.mark.nightly
@pytest.mark.parametrize("limits", [NOTHING, LEAN, REPL, BOTH])
def test_the_status_says_what_stops_tactics(serve: Serve, limits: list[str]) -> None:
    server = start(serve, limits)
    with server.client().lease():
        used = [process for process in Api(server).status()["processes"] if process["state"] == "used"]
    assert [process["soft_limits"] for process in used] == [limits]


def test_a_computation_that_runs_on_behind_an_answer_ends_with_its_proof(serve: Serve) -> None:
    server = start(serve, BOTH)
    with server.client().lease() as session:
        branch = session.start(THEOREM)
        assert kinds(session.apply(branch, ["deaf"])) == ["timeout"]
        assert kinds(session.apply(branch, ["trivial"])) == ["applied"]
        assert restarts(server) == {}
        assert kinds(session.apply(session.start(THEOREM), ["trivial"])) == ["applied"]
    assert restarts(server) == {"runaway": 1}


def test_why_lean_cannot_stop_tactics_is_said_once(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        server = serve(script(NOTHING), imports=("Mathlib",), max_processes=2, warmup=True)
    assert [process["state"] for process in Api(server).status()["processes"]] == ["available"] * 3
    said = [record.getMessage() for record in caplog.records if "Lean cannot stop" in record.getMessage()]
    assert len(said) == 1 and "its process is killed: unknown namespace `Lean`" in said[0]


@pytest.mark.nightly
@pytest.mark.parametrize("tactic", ["simp -- why not", "calc\n  p = q := by\n    rfl\n  _ = p := rfl", "a <;> b"])
def test_a_tactic_that_lean_is_to_stop_keeps_its_lines_and_columns(serve: Serve, tactic: str) -> None:
    server = start(serve, LEAN, tactics={tactic: [LEFT]})
    assert kinds(try_tactics(server, tactic)) == ["applied"]
    assert re.fullmatch(
        f"{TIMEOUT_TACTIC} 4[45]\\d\\d\n{re.escape(tactic)}", requests_with(server, tactic)[-1]["tactic"]
    )


def test_a_tactic_on_one_of_several_goals_is_focused_within_the_limit(serve: Serve) -> None:
    tactics = {AND: {"constructor": [LEFT, RIGHT]}, LEFT: {"exact hp": []}}
    server = serve(script(LEAN) | {"tactics": tactics}, imports=("Mathlib",))
    with server.client().lease() as session:
        (split,) = session.apply(session.start(THEOREM), ["constructor"])
        assert isinstance(split, TacticApplied)
        assert kinds(session.apply(split.branches[0], ["exact hp"])) == ["applied"]
    assert requests_with(server, "exact hp")[0]["tactic"].split("\n")[1:] == ["focus (exact hp)"]


def test_lean_s_words_about_a_tactic_name_the_lines_that_were_given(serve: Serve) -> None:
    (refused,) = try_tactics(start(serve, LEAN), "nonsense")
    assert isinstance(refused, TacticFailed) and refused.kind == "rejected"
    assert refused.message == "Could not apply tactic: Lean error:\n<input>:1:1: unknown tactic"


def test_proofs_start_where_lean_can_stop_them_and_checks_run_where_it_cannot(serve: Serve) -> None:
    server = start(serve, LEAN)
    api = Api(server)
    pid = api.get_process(fresh_environments=True)
    api.start(pid)
    api.post(f"/process/{pid}/command", command="theorem checked : True := trivial")
    definition = next(request for request in server.requests() if request.get("cmd") == TIMEOUT_TACTIC_SOURCE)
    proof, check = requests_with(server, "theorem")
    assert "sorry" in proof["cmd"] and "checked" in check["cmd"]
    assert (definition["env"], proof["env"], check["env"]) == (0, 1, 0)


def test_what_precedes_a_theorem_starts_there_too(serve: Serve) -> None:
    server = start(serve, LEAN)
    api = Api(server)
    pid = api.get_process()
    source = f"open Nat\n\n{THEOREM.source}"
    state = api.post(f"/process/{pid}/proof_from_sorry", theorem_with_sorry=source).json()["value"]["proof_state_id"]
    assert "timed out" in api.tactic(pid, state, "slow")["error"]
    assert [request["env"] for request in requests_with(server, "open Nat")] == [1]


@pytest.mark.parametrize("limits", [LEAN, BOTH])
def test_lean_s_limit_of_work_is_a_refusal_wherever_it_is_set(serve: Serve, limits: list[str]) -> None:
    tactic = "set_option synthInstance.maxHeartbeats 20000 in simp"
    server = start(serve, limits, tactics={tactic: {"error": HEARTBEATS}})
    (refused,) = try_tactics(server, tactic)
    assert isinstance(refused, TacticFailed) and refused.kind == "rejected" and HEARTBEATS in refused.message


def test_our_own_word_is_time_that_ran_out() -> None:
    assert read_tactic_answer({"message": f"Lean error:\n{TIMEOUT_MESSAGE}"}) == OutOfTime()


def test_a_process_that_a_trial_ends_is_the_last_one_that_is_tried(serve: Serve) -> None:
    server = start(serve, NOTHING, commands={"elab": {"do": "crash"}})
    assert kinds(try_tactics(server, "trivial")) == ["applied"]
    assert len(requests_with(server, "elab")) == 1
    assert Api(server).status()["totals"]["starts"]["failed"] == 1


@pytest.mark.parametrize(("limits", "seconds"), [(Limits(), 5.0), (Limits(3), 6.5), (Limits(None, True), 6.5)])
def test_only_what_something_should_stop_gets_more_than_its_time(limits: Limits, seconds: float) -> None:
    process = ReplProcess(("true",))
    try:
        process.limits = limits
        assert Backend((), soft_limits=True, grace_seconds=1.5).kill_seconds(process, 5.0) == seconds
    finally:
        process.close()


def test_without_soft_limits_tactics_go_as_they_are(serve: Serve) -> None:
    server = serve({key: value for key, value in script(BOTH).items() if key != "limits"}, imports=("Mathlib",))
    assert kinds(try_tactics(server, "trivial")) == ["applied"]
    assert {"tactic": "trivial", "proofState": 0} in server.requests()
