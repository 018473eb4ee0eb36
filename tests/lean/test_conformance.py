"""The same cases over sockets against our server, with NanoLean or a scripted REPL, and a LeanTree server."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from nanoproof.lean.client import ClientConfig, LeanServerClient
from nanoproof.lean.server.backend import Backend
from nanoproof.lean.session import HttpLeanSession
from nanoproof.lean.types import Branch, ServerUnavailable, TacticApplied, TacticFailed, Theorem, TheoremRejected
from tests.fakes.fork_repl import NEVER_ENDS
from tests.fakes.leantree_server import LeanTreeServer
from tests.helpers import FORK_REPL, NANOLEAN, stop
from tests.lean.conftest import AND, COUPLED, EXISTS, LEFT, RIGHT, scripted_command, start_server

AND_SOURCE = "theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  "
THEOREM = Theorem(AND_SOURCE + "sorry", "test", "t")
EXISTS_THEOREM = Theorem("theorem e : ∃ x, x = 2 := by\n  sorry", "test", "e")
CLOSED = TacticApplied(())
DEADLINE = 60.0

# What NanoLean answers by itself, for the scripted REPL.
GOOD = {
    "env": 1,
    "messages": [
        {"severity": "info", "pos": {"line": 4, "column": 0}, "data": "'t' does not depend on any axioms"},
        {"severity": "info", "pos": {"line": 5, "column": 0}, "data": "t (p q : Prop) (hp : p) (hq : q) : p ∧ q"},
    ],
}
BAD = {"env": 1, "messages": [{"severity": "error", "pos": {"line": 2, "column": 8}, "data": "Unknown identifier"}]}
SCRIPT: dict[str, Any] = {
    "theorems": {": p ∧ q": AND, ": ∃ x": EXISTS},
    "commands": {
        ": nope": {"answer": BAD},
        "exact ⟨hp, hq⟩": {"answer": GOOD},
        "exact ⟨hq, hp⟩": {"answer": BAD},
    },
    "tactics": {
        AND: {"constructor": [LEFT, RIGHT], "exact ⟨hp, hq⟩": []},
        LEFT: {"exact hp": []},
        RIGHT: {"exact hq": []},
        EXISTS: {"apply Exists.intro": COUPLED},
        COUPLED[0]: {"rfl": {"all": []}},
    },
}


class Target:
    """A running server, the process ids of the Lean processes that are leased, and whether it kills late ones."""

    def __init__(self, address: str, pids: Callable[[], list[int]], kills: bool = True) -> None:
        self.address = address
        self.pids = pids
        self.kills = kills

    def client(self, tactic_seconds: float = 20.0) -> LeanServerClient:
        return LeanServerClient(self.address, config=ClientConfig(tactic_seconds=tactic_seconds, slack_seconds=20.0))

    def post(self, path: str, **body: Any) -> requests.Response:
        return requests.post(f"http://{self.address}{path}", json=body, timeout=DEADLINE)


@pytest.fixture(scope="module", params=["nanolean", "scripted", "leantree"])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """One server of each kind for all cases, as in use: what one leaves behind is what the next one meets."""
    folder = tmp_path_factory.mktemp("target")
    if request.param == "leantree":
        bomb = folder / "unpickled"
        upstream = LeanTreeServer(FORK_REPL, bomb)
        yield Target(upstream.address, upstream.pids, kills=False)
        upstream.close()
        assert not bomb.exists(), "somebody opened a pickle that came over HTTP"
        return
    command = NANOLEAN if request.param == "nanolean" else scripted_command(folder, SCRIPT)
    with start_server(Backend(command, start_seconds=60.0, can_prune=True)) as running:
        client = LeanServerClient(f"127.0.0.1:{running.port}")
        yield Target(client.address, lambda: leased_pids(client))


def leased_pids(client: LeanServerClient) -> list[int]:
    return [process["pid"] for process in client.status()["processes"] if process["state"] == "used"]


def finish(session: HttpLeanSession, branch: Branch, tactics: dict[str, str]) -> None:
    """Close a branch by the tactic for the target of its first goal, however the server groups the goals."""
    result = session.apply(branch, [tactics[branch.state.goals[0].type]])[0]
    assert isinstance(result, TacticApplied), result
    for child in result.branches:
        finish(session, child, tactics)


def split(session: HttpLeanSession, branch: Branch) -> TacticApplied:
    (result,) = session.apply(branch, ["constructor"])
    assert isinstance(result, TacticApplied)
    return result


@pytest.mark.nightly
def test_a_proof_from_statement_to_no_goals(target: Target) -> None:
    with target.client().lease() as session:
        branch = session.start(THEOREM)
        assert str(branch.state) == AND
        goals = [goal for part in split(session, branch).branches for goal in part.state.goals]
        assert [goal.type for goal in goals] == ["p", "q"] and [goal.tag for goal in goals] == ["left", "right"]
        finish(session, branch, {"p ∧ q": "constructor", "p": "exact hp", "q": "exact hq"})


def test_independent_goals_are_branches_that_do_not_reach_each_other(target: Target) -> None:
    with target.client().lease() as session:
        left, right = split(session, session.start(THEOREM)).branches
        results = session.apply(left, ["exact hq", "exact hp"]) + session.apply(right, ["exact hp", "exact hq"])
    kinds = [result.kind if isinstance(result, TacticFailed) else result.branches for result in results]
    assert kinds == ["rejected", (), "rejected", ()]


def test_each_tactic_has_its_own_outcome(target: Target) -> None:
    with target.client().lease() as session:
        results = session.apply(
            session.start(THEOREM), ["nonsense", "exact ⟨hp, hq⟩", "exact?", "constructor", "have hp", "sorry"]
        )
    kinds = [result.kind if isinstance(result, TacticFailed) else "applied" for result in results]
    assert kinds == ["rejected", "applied", "banned", "applied", "banned", "banned"]
    assert results[1] == CLOSED


def test_goals_that_share_a_metavariable_stay_together(target: Target) -> None:
    with target.client().lease() as session:
        (result,) = session.apply(session.start(EXISTS_THEOREM), ["apply Exists.intro"])
        assert isinstance(result, TacticApplied)
        (branch,) = result.branches
        assert [goal.type for goal in branch.state.goals] == ["?w = 2", "Nat"]
        assert session.apply(branch, ["rfl"]) == [CLOSED]


def test_a_refused_statement(target: Target) -> None:
    with target.client().lease() as session:
        with pytest.raises(TheoremRejected):
            session.start(Theorem("theorem b : nope := by\n  sorry"))
        assert session.apply(session.start(THEOREM), ["exact ⟨hp, hq⟩"]) == [CLOSED]


def test_a_whole_text_is_checked(target: Target) -> None:
    with target.client().lease() as session:
        good = session.check(AND_SOURCE + "exact ⟨hp, hq⟩")
        bad = session.check(AND_SOURCE + "exact ⟨hq, hp⟩")
    assert good.accepted and good.axioms == ()
    assert not bad.accepted and bad.errors


def test_each_text_is_checked_without_what_the_ones_before_it_declared(target: Target) -> None:
    proved = AND_SOURCE + "exact ⟨hp, hq⟩"
    with target.client().lease() as session:
        reports = [session.check(proved) for _ in range(3)]
        branch = session.start(THEOREM)
        assert session.check(proved).accepted
        assert session.apply(branch, ["exact ⟨hp, hq⟩"]) == [CLOSED]
    assert all(report.accepted for report in reports), reports


def test_the_errors_of_a_check_come_with_their_places(target: Target) -> None:
    with target.client().lease() as session:
        report = session.check(AND_SOURCE + "exact ⟨hq, hp⟩")
    assert report.error_positions and report.error_positions[0][0] == 2


def test_earlier_branches_can_be_used_after_another_theorem(target: Target) -> None:
    with target.client().lease() as session:
        first = session.start(THEOREM)
        second = session.start(EXISTS_THEOREM)
        assert session.apply(first, ["exact ⟨hp, hq⟩"]) == [CLOSED]
        assert isinstance(session.apply(second, ["apply Exists.intro"])[0], TacticApplied)


@pytest.mark.nightly
def test_a_tactic_that_does_not_end_is_a_timeout_and_the_next_lease_works(target: Target) -> None:
    with target.client(tactic_seconds=0.5).lease() as session:
        branch = session.start(THEOREM)
        (pid,) = target.pids()
        if target.kills:
            stop(pid)
        (result,) = session.apply(branch, ["constructor" if target.kills else NEVER_ENDS])
        assert isinstance(result, TacticFailed) and result.kind == "timeout"
    with target.client().lease() as session:
        finish(session, session.start(THEOREM), {"p ∧ q": "constructor", "p": "exact hp", "q": "exact hq"})


@pytest.mark.nightly
def test_a_process_that_is_killed_between_tactics_is_replaced(target: Target) -> None:
    with target.client().lease() as session:
        branches = split(session, session.start(THEOREM)).branches
        (pid,) = target.pids()
        os.kill(pid, signal.SIGKILL)
        for branch in branches:
            finish(session, branch, {"p": "exact hp", "q": "exact hq"})


@pytest.mark.nightly
def test_a_process_that_is_killed_in_a_tactic_is_replaced(target: Target) -> None:
    with target.client().lease() as session:
        branch = session.start(THEOREM)
        (pid,) = target.pids()
        stop(pid)
        killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
        killer.start()
        results = session.apply(branch, ["constructor", "nonsense"])
        killer.join()
    assert isinstance(results[0], TacticApplied)
    assert isinstance(results[1], TacticFailed) and results[1].kind == "rejected"


def test_leases_come_back_and_waiting_for_one_has_an_end(target: Target) -> None:
    client = target.client()
    for _ in range(3):
        with client.lease(), client.lease(), pytest.raises(ServerUnavailable, match="no free process"):
            client.lease(timeout=0.1)
        assert client.status()["used_processes"] == 0


@pytest.mark.nightly
def test_many_threads_share_the_processes(target: Target) -> None:
    client, outcomes = target.client(), []

    def work() -> None:
        for _ in range(3):
            with client.lease() as session:
                outcomes.append(session.apply(session.start(THEOREM), ["nonsense", "exact ⟨hp, hq⟩"])[1])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert outcomes == [CLOSED] * 24
    assert client.status()["used_processes"] == 0


def test_the_plain_calls_of_the_api(target: Target) -> None:
    pid = target.post("/process/get", blocking=True, timeout=30).json()["process_id"]
    other = target.post("/process/get").json()["process_id"]
    assert isinstance(pid, int) and isinstance(other, int)
    assert target.post("/process/get", blocking=False).json() == {"process_id": None}
    assert "env" in target.post(f"/process/{pid}/command", command="example : True := trivial").json()
    started = target.post(f"/process/{pid}/proof_from_sorry", theorem_with_sorry=THEOREM.source).json()["value"]
    assert started["goals"][0]["type"] == "p ∧ q"
    assert [h["user_name"] for h in started["goals"][0]["hypotheses"]] == ["p", "q", "hp", "hq"]
    proof = f"/process/{pid}/proof/{started['proof_state_id']}"
    assert target.post(f"{proof}/state").json() == {"proof_state_id": started["proof_state_id"]}
    whole = target.post(f"{proof}/apply_tactic", tactic="constructor", timeout=20_000).json()
    assert [goal["type"] for goal in whole["goals"]] == ["p", "q"]
    parts = target.post(f"{proof}/try_apply_tactic", tactic="constructor", timeout=20_000).json()["value"]
    assert [goal["type"] for part in parts for goal in part["goals"]] == ["p", "q"]
    for number in (pid, other):
        assert target.post(f"/process/{number}/return").json() == {"status": "ok"}
    assert target.post(f"/process/{pid}/return").json() == {"status": "ok", "already_returned": True}


def test_the_plain_errors_of_the_api(target: Target) -> None:
    pid = target.post("/process/get").json()["process_id"]
    refused = target.post(f"/process/{pid}/proof_from_sorry", theorem_with_sorry="theorem b : nope := by\n  sorry")
    assert refused.status_code == 200 and "REPL returned error" in refused.json()["error"]
    state = target.post(f"/process/{pid}/proof_from_sorry", theorem_with_sorry=THEOREM.source).json()["value"]
    proof = f"/process/{pid}/proof/{state['proof_state_id']}"
    tried = target.post(f"{proof}/try_apply_tactic", tactic="nonsense", timeout=20_000)
    assert tried.status_code == 200 and tried.json()["error"]
    applied = target.post(f"{proof}/apply_tactic", tactic="nonsense", timeout=20_000)
    assert applied.status_code == 500 and applied.json()["error"]
    gone = target.post("/process/987654/proof/0/try_apply_tactic", tactic="constructor")
    assert gone.status_code == 200 and "Process 987654 not found" in gone.json()["error"]
    assert target.post("/process/987654/command", command="example : True := trivial").status_code >= 400
    assert target.post(f"/process/{pid}/return").json() == {"status": "ok"}


@pytest.mark.nightly
def test_status_counts_processes(target: Target) -> None:
    client = target.client()
    with client.lease():
        status = client.status()
        assert (status["used_processes"], status["max_processes"]) == (1, 2)
        assert status["available_processes"] >= 0 and status["starting_processes"] >= 0
    assert client.status()["used_processes"] == 0
