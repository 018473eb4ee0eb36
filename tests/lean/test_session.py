"""Sessions of the client: against our own server, and against servers as they are upstream."""

import threading
from pathlib import Path
from typing import Any

import pytest

from nanoproof.lean.client import ClientConfig, LeanFleet, LeanServerClient
from nanoproof.lean.source import unforeseeable_name
from nanoproof.lean.types import (
    CheckReport,
    ProcessLost,
    ProtocolError,
    ServerTimeout,
    ServerUnavailable,
    TacticApplied,
    TacticFailed,
    Theorem,
    TheoremRejected,
)
from tests.fakes.upstream_server import Answer, UpstreamServer
from tests.lean.conftest import AND, COUPLED, EXISTS_THEOREM, LEFT, RIGHT, SCRIPT, THEOREM, Running, Serve


def applied(result: TacticApplied | TacticFailed) -> TacticApplied:
    assert isinstance(result, TacticApplied), result
    return result


def failed(result: TacticApplied | TacticFailed) -> TacticFailed:
    assert isinstance(result, TacticFailed), result
    return result


def test_results_come_in_the_order_of_the_tactics(serve: Serve) -> None:
    with serve().client().lease() as session:
        branch = session.start(THEOREM)
        assert str(branch.state) == AND
        results = session.apply(branch, ["nonsense", "trivial", "sorry", "constructor"])
    assert failed(results[0]).kind == "rejected"
    assert applied(results[1]).branches == ()
    assert failed(results[2]).kind == "banned"
    assert [str(b.state) for b in applied(results[3]).branches] == [LEFT, RIGHT]


def test_many_tactics_are_one_request(serve: Serve) -> None:
    server = serve(local=False)
    with server.client().lease() as session:
        branch = session.start(THEOREM)
        paths: list[str] = []
        post = session._transport.post
        session._transport.post = lambda path, *rest, **more: (paths.append(path), post(path, *rest, **more))[1]  # type: ignore[method-assign]
        session.apply(branch, ["nonsense", "trivial", "constructor"])
    assert [path.rsplit("/", 1)[1] for path in paths] == ["try_apply_tactics", "return"]


def test_banned_tactics_are_not_sent(serve: Serve) -> None:
    server = serve()
    with server.client().lease() as session:
        assert failed(session.apply(session.start(THEOREM), ["exact?"])[0]).kind == "banned"
    assert not any("tactic" in request for request in server.requests())


def test_a_goal_that_is_a_bare_metavariable_is_refused(serve: Serve) -> None:
    with serve().client().lease() as session:
        assert failed(session.apply(session.start(THEOREM), ["mvar"])[0]).kind == "rejected"


def test_a_goal_that_cannot_be_read_costs_its_tactic_alone(serve: Serve) -> None:
    tactics = {**SCRIPT["tactics"], AND: {**SCRIPT["tactics"][AND], "conv => skip": ["| p ∧ q"]}}
    with serve({**SCRIPT, "tactics": tactics}).client().lease() as session:
        results = session.apply(session.start(THEOREM), ["conv => skip", "trivial"])
    assert failed(results[0]).kind == "rejected" and "as Lean prints it" in failed(results[0]).message
    assert applied(results[1]).branches == ()


def test_coupled_goals_are_one_branch(serve: Serve) -> None:
    with serve().client().lease() as session:
        branches = applied(session.apply(session.start(EXISTS_THEOREM), ["apply Exists.intro"])[0]).branches
        assert [len(branch.state.goals) for branch in branches] == [len(COUPLED)]
        assert applied(session.apply(branches[0], ["rfl"])[0]).branches == ()


def test_a_refused_statement_raises(serve: Serve) -> None:
    with serve().client().lease() as session, pytest.raises(TheoremRejected, match="bad statement"):
        session.start(Theorem("theorem b : bad := sorry"))


def commands(server: Running) -> list[dict[str, Any]]:
    return [request for request in server.requests() if request.get("cmd")]


def test_theorems_are_started_under_another_name(serve: Serve) -> None:
    server = serve()
    with server.client().lease() as session:
        session.start(THEOREM)
    name = unforeseeable_name(THEOREM.source)
    assert {"cmd": THEOREM.source.replace("theorem t", f"theorem {name}")} in server.requests()


def test_what_comes_before_a_theorem_is_a_command_of_its_own(serve: Serve) -> None:
    server, before, documentation = serve(), "open Nat\nvariable (n : Nat)", "/-- Both. -/\n"
    with server.client().lease() as session:
        session.start(Theorem(f"{before}\n\n{documentation}{THEOREM.source}"))
    context, theorem = commands(server)
    assert context == {"cmd": before}
    assert theorem["cmd"].startswith(f"{documentation}theorem nanoproof_") and theorem["env"] >= 0


def test_a_theorem_that_cannot_be_parted_from_what_comes_before_it_is_stated_with_it(serve: Serve) -> None:
    server, before = serve(), "axiom a : bad"
    with server.client().lease() as session, pytest.raises(TheoremRejected, match="bad statement"):
        session.start(Theorem(f"{before}\n{THEOREM.source}"))
    context, whole = commands(server)
    assert context["cmd"] == before and whole["cmd"].startswith(f"{before}\ntheorem nanoproof_")


def test_a_text_that_is_no_theorem_is_refused_before_it_is_sent(serve: Serve) -> None:
    with serve().client().lease() as session, pytest.raises(TheoremRejected, match="exactly one sorry"):
        session.start(Theorem("theorem t : p ∧ q := rfl"))


def test_a_timeout_is_told_apart_and_the_other_tactics_still_run(serve: Serve) -> None:
    with serve().client(tactic_seconds=1.5).lease() as session:
        results = session.apply(session.start(THEOREM), ["constructor", "hang", "trivial", "nonsense"])
        assert failed(results[1]).kind == "timeout"
        assert applied(results[2]).branches == ()
        assert failed(results[3]).kind == "rejected"
        right = applied(results[0]).branches[1]
        assert applied(session.apply(right, ["exact hq"])[0]).branches == ()


def test_branches_of_a_lost_process_are_rebuilt_by_replaying(serve: Serve) -> None:
    server = serve()
    with server.client().lease() as session:
        right = applied(session.apply(session.start(THEOREM), ["constructor"])[0]).branches[1]
        cleared = applied(session.apply(right, ["clear hp"])[0]).branches[0]
        server.pool.find(session.process).process.kill()  # type: ignore[union-attr,arg-type]
        assert applied(session.apply(cleared, ["exact hq"])[0]).branches == ()
    sent = [request["tactic"] for request in server.requests() if "tactic" in request]
    path = ["constructor", "rotate_left 1", "focus (clear hp)"]
    assert sent == [*path, *path, "focus (exact hq)"]


def test_a_new_theorem_clears_the_process_and_earlier_branches_are_rebuilt(serve: Serve) -> None:
    server = serve()
    with server.client().lease() as session:
        right = applied(session.apply(session.start(THEOREM), ["constructor"])[0]).branches[1]
        other = session.start(EXISTS_THEOREM)
        assert {"prune_all": True} in server.requests()
        assert applied(session.apply(right, ["exact hq"])[0]).branches == ()
        assert len(applied(session.apply(other, ["refine"])[0]).branches) == 2


@pytest.mark.nightly
def test_a_process_is_recycled_within_a_long_lease(serve: Serve) -> None:
    server = serve(max_uses=3)
    with server.client().lease() as session:
        pids = []
        for _ in range(4):
            assert applied(session.apply(session.start(THEOREM), ["trivial"])[0]).branches == ()
            pids.append(server.pool.find(session.process).process.pid)  # type: ignore[union-attr,arg-type]
    assert pids[0] == pids[2] != pids[3]


def test_a_crash_at_the_first_try_is_forgiven(serve: Serve, tmp_path: Path) -> None:
    flaky = {"do": "crash", "flag": str(tmp_path / "crashed"), "then": []}
    script = {**SCRIPT, "tactics": {AND: {"flaky": flaky, "trivial": []}}}
    with serve(script).client().lease() as session:
        results = session.apply(session.start(THEOREM), ["trivial", "flaky", "trivial"])
    assert [applied(result).branches for result in results] == [(), (), ()]


def test_a_tactic_that_always_crashes_lean_is_no_refusal(serve: Serve) -> None:
    with serve().client().lease() as session:
        results = session.apply(session.start(THEOREM), ["crash", "trivial"])
    assert failed(results[0]).kind == "timeout"
    assert applied(results[1]).branches == ()


def test_processes_lost_in_a_row_are_an_exception(serve: Serve) -> None:
    script = {**SCRIPT, "commands": {"theorem": {"do": "crash"}}}
    with serve(script).client().lease() as session, pytest.raises(ProcessLost, match="scripted process crashes"):
        session.start(THEOREM)


def test_the_lease_is_returned_when_the_work_fails(serve: Serve) -> None:
    client = serve(max_processes=1).client()
    with pytest.raises(RuntimeError, match="mine"), client.lease():
        raise RuntimeError("mine")
    assert client.status()["used_processes"] == 0


def test_no_free_process_is_an_error_after_the_wait(serve: Serve) -> None:
    client = serve(max_processes=1).client()
    with client.lease(), pytest.raises(ServerUnavailable, match=r"no free process for 0\.1 s"):
        client.lease(timeout=0.1)


def test_a_lease_that_expired_is_replaced(serve: Serve) -> None:
    server = serve()
    with server.client().lease() as session:
        branch = session.start(THEOREM)
        server.pool.give_back(session.process)  # type: ignore[arg-type]
        assert applied(session.apply(branch, ["trivial"])[0]).branches == ()


@pytest.mark.nightly
def test_sessions_in_many_threads(serve: Serve) -> None:
    client = serve(max_processes=4).client()
    outcomes: list[int] = []

    def work() -> None:
        for _ in range(3):
            with client.lease() as session:
                branch = session.start(THEOREM)
                results = session.apply(branch, ["constructor", "nonsense", "trivial"])
                outcomes.append(sum(isinstance(result, TacticApplied) for result in results))

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert outcomes == [2] * 36
    assert client.status()["used_processes"] == 0


def axioms_script(*messages: tuple[str, int, str], name: str = "t", **more: Any) -> dict[str, Any]:
    statement = ("info", 4, f"{name} : p")
    entries = [
        {"severity": kind, "pos": {"line": line, "column": 0}, "data": text}
        for kind, line, text in (*messages, statement)
    ]
    return {"commands": {"#print axioms": {"answer": {"env": 1, "messages": entries, **more}}}}


def check(serve: Serve, source: str, *messages: tuple[str, int, str], **more: Any) -> tuple[CheckReport, str]:
    server = serve(axioms_script(*messages, **more))
    with server.client().lease() as session:
        report = session.check(source)
    return report, next(request["cmd"] for request in server.requests() if "#print" in request.get("cmd", ""))


def test_check_reports_axioms(serve: Serve) -> None:
    report, sent = check(
        serve, "theorem t : p := rfl", ("info", 3, "'t' depends on axioms: [propext,\n Classical.choice]")
    )
    axioms = ("Classical.choice", "propext")
    assert report == CheckReport((), 0, axioms, (("t", "t : p"),), axioms_of=(("t", axioms),)) and report.accepted
    assert sent == "theorem t : p := rfl\n\n#print axioms _root_.t\n#check _root_.t"


def test_check_gives_examples_a_name(serve: Serve) -> None:
    name = "_nanoproof_check_0"
    report, sent = check(serve, "example : p := rfl", ("info", 3, f"'{name}' does not depend on any axioms"), name=name)
    assert report.axioms == () and "example" not in sent and sent.count(name) == 3


def test_check_reports_errors_and_gaps(serve: Serve) -> None:
    report, _ = check(
        serve,
        "theorem t : p := foo",
        ("error", 1, "unknown identifier"),
        ("warning", 1, "declaration uses `sorry`"),
        sorries=[{"goal": "⊢ p"}],
    )
    assert report == CheckReport(("unknown identifier",), 1, (), error_positions=((1, 0),)) and not report.accepted


def test_a_hidden_gap_shows_in_the_axioms(serve: Serve) -> None:
    report, _ = check(serve, "theorem t : p := x", ("info", 3, "'t' depends on axioms: [sorryAx]"))
    assert report.sorries == 1 and not report.accepted


def test_a_text_cannot_report_its_own_axioms(serve: Serve) -> None:
    with pytest.raises(ProtocolError, match="axioms of t are not reported"):
        check(serve, "theorem t : p := rfl", ("info", 1, "'t' does not depend on any axioms"))


def test_a_check_that_takes_too_long_is_a_server_timeout(serve: Serve) -> None:
    server = serve({"commands": {"theorem": {"do": "hang"}}})
    client = LeanServerClient(f"127.0.0.1:{server.port}", config=ClientConfig(command_seconds=0.2))
    with client.lease() as session, pytest.raises(ServerTimeout):
        session.check("theorem t : p := rfl")


def test_an_unreachable_server_is_one_line_with_address_and_cause() -> None:
    with pytest.raises(ServerUnavailable) as caught:
        LeanFleet(["127.0.0.1:9"]).check()
    assert "127.0.0.1:9" in str(caught.value) and "refused" in str(caught.value) and "\n" not in str(caught.value)


def test_a_fleet_tells_the_status_of_each_server(serve: Serve) -> None:
    (report,) = LeanFleet([f"127.0.0.1:{serve().port}"]).check()
    assert report.status is not None and report.status["max_processes"] == 2


def test_a_wrong_token_is_said(serve: Serve) -> None:
    server = serve(token="right")
    with pytest.raises(ServerUnavailable, match="token"):
        server.client(token="wrong").lease()
    with server.client(token="right").lease() as session:
        assert session.start(THEOREM)


def test_the_token_of_the_environment_is_sent(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(token="right")
    monkeypatch.setenv("NANOPROOF_LEAN_TOKEN", "right")
    (report,) = LeanFleet([f"127.0.0.1:{server.port}"]).check()
    assert report.status is not None and report.status["used_processes"] == 0


UPSTREAM_GOAL = {"type": "p", "hypotheses": []}


def upstream(answer_tactic: Any) -> UpstreamServer:
    def answer(path: str, body: dict[str, Any]) -> Answer | None:
        match path.rsplit("/", 1)[1]:
            case "get":
                return 200, {"process_id": 7, "fresh_environments": True}
            case "return":
                return 200, {"status": "ok"}
            case "proof_from_sorry":
                return 200, {"value": {"proof_state_id": 0, "goals": [UPSTREAM_GOAL]}}
            case "try_apply_tactic":
                return answer_tactic(body["tactic"])
        return None

    return UpstreamServer(answer)


def test_a_server_that_refuses_the_final_check_is_one_that_does_not_speak_our_language() -> None:
    def answer(path: str, body: dict[str, Any]) -> Answer | None:
        if path.endswith("/get"):
            return 200, {"process_id": 7, "fresh_environments": True}
        return 500, {"error": "REPL returned error: unknown command"}

    server = UpstreamServer(answer)
    refused = pytest.raises(ProtocolError, match="refuses the final check: REPL returned error: unknown command")
    with LeanServerClient(server.address).lease() as session, refused:
        session.check("theorem t : True := trivial")
    server.close()


def test_without_the_batch_call_tactics_go_one_by_one() -> None:
    server = upstream(lambda tactic: (200, {"error": f"REPL returned error: {tactic}"}))
    client = LeanServerClient(server.address)
    with client.lease() as session:
        results = session.apply(session.start(THEOREM), ["a", "b"])
        session.apply(session.start(THEOREM), ["c", "d"])
    server.close()
    assert [failed(result).message[-1] for result in results] == ["a", "b"]
    assert [path.rsplit("/", 1)[1] for path, _ in server.calls].count("try_apply_tactics") == 1


def test_independent_goals_of_a_single_entry_are_branches_of_their_own() -> None:
    left, right = UPSTREAM_GOAL, {"type": "q", "hypotheses": []}
    both, turned = ({"proof_state_id": 1, "goals": [left, right]}, {"proof_state_id": 2, "goals": [right, left]})
    after = {"trivial": both, "rotate_left 1": turned, "focus (exact hq)": {"proof_state_id": 3, "goals": [left]}}
    sent: list[str] = []

    def answer(tactic: str) -> Answer:
        sent.append(tactic)
        return 200, {"value": [after.get(tactic, turned)]}

    server = upstream(answer)
    with LeanServerClient(server.address).lease() as session:
        first, second = applied(session.apply(session.start(THEOREM), ["trivial"])[0]).branches
        assert [len(branch.state.goals) for branch in (first, second)] == [1, 1]
        assert applied(session.apply(second, ["exact hq"])[0]).branches == ()
        assert failed(session.apply(first, ["exact hp"])[0]).kind == "rejected"  # it changed the order of the goals
    server.close()
    assert sent == ["trivial", "rotate_left 1", "focus (exact hq)", "focus (exact hp)"]


@pytest.mark.parametrize("value", [[], [{"proof_state_id": 1, "goals": []}]])
def test_no_entry_and_an_entry_without_goals_are_closed(value: list[Any]) -> None:
    server = upstream(lambda _: (200, {"value": value}))
    with LeanServerClient(server.address).lease() as session:
        assert applied(session.apply(session.start(THEOREM), ["trivial"])[0]).branches == ()
    server.close()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("LeanInteractionException: REPL returned error: x", "rejected"),
        ("Step verification error: Error: x", "rejected"),
        ("Could not apply tactic: x", "rejected"),
        ("Tactic application timed out", "timeout"),
        ("REPL returned error: Lean error:\n(kernel) excessive memory consumption detected", "timeout"),
        ("LeanInteractionException: REPL returned error: Lean error:\nelaboration interrupted", "timeout"),
        ("Could not apply tactic: Lean error:\nunknown identifier 'timeout'", "rejected"),
        ("Could not apply tactic: Lean error:\n(deterministic) timeout at `whnf`", "rejected"),
    ],
)
def test_errors_that_come_with_status_200_are_read(text: str, kind: str) -> None:
    server = upstream(lambda _: (200, {"error": text}))
    with LeanServerClient(server.address).lease() as session:
        assert failed(session.apply(session.start(THEOREM), ["trivial"])[0]).kind == kind
    server.close()


@pytest.mark.parametrize(
    "answer", [(200, {"error": "KeyError: 3"}), (200, {"value": 3}), (500, {"pickled": "gASV"}), (200, [])]
)
def test_nonsense_is_neither_result_nor_refusal(answer: Answer) -> None:
    server = upstream(lambda _: answer)
    with LeanServerClient(server.address).lease() as session, pytest.raises(ProtocolError):
        session.apply(session.start(THEOREM), ["trivial"])
    server.close()


@pytest.mark.parametrize(
    "text",
    [
        "Process 7 not found",
        "Subprocess has terminated",
        "Failed to send data to REPL",
        "Lean REPL process ended unexpectedly",
    ],
)
def test_a_gone_process_is_replaced_by_a_new_lease(text: str) -> None:
    answers = iter([(200, {"error": text}), (200, {"value": []})])
    server = upstream(lambda _: next(answers))
    with LeanServerClient(server.address).lease() as session:
        assert applied(session.apply(session.start(THEOREM), ["trivial"])[0]).branches == ()
    server.close()
    assert [path for path, _ in server.calls].count("/process/get") == 2
