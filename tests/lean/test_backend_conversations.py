"""Answers as the REPL and its forks give them, through process, backend, server and client."""

from collections.abc import Sequence
from typing import Any

import pytest
import requests

from nanoproof.lean.forbidden import banned_reason
from nanoproof.lean.types import ProtocolError, TacticApplied, TacticFailed, Theorem
from tests.lean.conftest import Serve

ROOT = "n : Nat\n⊢ n + 0 = n ∧ 0 + n = n"
LEFT = "case left\nn : Nat\n⊢ n + 0 = n"
RIGHT = "case right\nn : Nat\n⊢ 0 + n = n"
THEOREM = Theorem("theorem zeros (n : Nat) : n + 0 = n ∧ 0 + n = n := by\n  sorry")
OPEN = "Incomplete: open goals remain"


def result(goals: list[str], status: str, **more: Any) -> dict[str, Any]:
    return {"answer": {"proofState": 50, "goals": goals, "proofStatus": status, **more}}


def error(text: str) -> dict[str, Any]:
    zero = {"line": 0, "column": 0}
    return {"severity": "error", "pos": zero, "endPos": zero, "data": text}


def apply(serve: Serve, effect: Any, tactic: str = "tactic") -> TacticApplied | TacticFailed:
    """What the client makes of the answer to one tactic."""
    server = serve({"theorems": {"n + 0 = n": ROOT}, "tactics": {ROOT: {tactic: effect}}}, imports=("Mathlib",))
    with server.client().lease() as session:
        return session.apply(session.start(THEOREM), [tactic])[0]


def texts(outcome: TacticApplied | TacticFailed) -> list[str]:
    assert isinstance(outcome, TacticApplied), outcome
    return [branch.state.text for branch in outcome.branches]


@pytest.mark.parametrize(
    ("effect", "branches"),
    [
        (result([], "Completed"), []),
        (result([LEFT, RIGHT], OPEN), [LEFT, RIGHT]),
        (result([LEFT], OPEN, messages=[{"severity": "warning", "data": "unused variable"}]), [LEFT]),
        (result([LEFT], OPEN, messages=[{"severity": "trace", "data": "error"}], traces=["[simp] n"]), [LEFT]),
        (result([], "N/A", stepVerification="OK", sorries=[]), []),
        (result([], "Not verified: more than one initial goal"), []),
    ],
)
def test_applied(serve: Serve, effect: dict[str, Any], branches: Sequence[str]) -> None:
    assert texts(apply(serve, effect)) == branches


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        ({"error": "<input>:1:1: unknown tactic"}, "unknown tactic"),
        (result([], "Incomplete: contains sorry", messages=[error("Unknown identifier `foo`")]), "Unknown identifier"),
        (result([], "Incomplete: contains sorry"), "leaves a sorry"),
        (result([LEFT], OPEN, sorries=[{"proofState": 49, "goal": RIGHT}]), "leaves a sorry"),
        (result([], "Incomplete: contains metavariable(s)"), "metavariable without a goal"),
        (result([], "Error: kernel type check failed: (kernel) application type mismatch"), "kernel type check"),
        (result([], "N/A", stepVerification="Error: declaration has free variables"), "Step verification error"),
        (result(["⊢ ?m.3"], OPEN), "bare metavariable"),
    ],
)
def test_refused(serve: Serve, effect: dict[str, Any], words: str) -> None:
    outcome = apply(serve, effect)
    assert isinstance(outcome, TacticFailed) and outcome.kind == "rejected" and words in outcome.message


def test_a_fork_that_gives_up_by_itself_keeps_its_process(serve: Serve) -> None:
    script = {
        "theorems": {"n + 0 = n": ROOT},
        "tactics": {ROOT: {"slow": {"answer": {"message": "Tactic timed out"}}, "constructor": [LEFT, RIGHT]}},
    }
    server = serve(script, imports=("Mathlib",))
    with server.client().lease() as session:
        slow, split = session.apply(session.start(THEOREM), ["slow", "constructor"])
    assert isinstance(slow, TacticFailed) and slow.kind == "timeout"
    assert texts(split) == [LEFT, RIGHT]
    assert sum("cmd" in request and "zeros" not in request["cmd"] for request in server.requests()) >= 1
    assert sum("sorry" in request.get("cmd", "") for request in server.requests()) == 1


def test_what_a_fork_says_about_metavariables_couples_goals_whose_texts_do_not(serve: Serve) -> None:
    infos = [
        {"username": "left", "type": "n + 0 = n", "hyps": [{"username": "n", "type": "Nat"}], "mvarId": "m1"},
        {"username": "right", "type": "0 + n = n", "hyps": [{"username": "n", "type": "Nat"}], "mvarId": "m2"},
    ]
    decls = [{"mvarId": "m1", "mvarsInType": ["m9"]}, {"mvarId": "m2", "mvarsInType": ["m9"]}]
    effect = result([LEFT, RIGHT], "N/A", goalInfos=infos, mctxAfter={"decls": decls}, stepVerification="OK")
    assert texts(apply(serve, effect)) == [f"{LEFT}\n\n{RIGHT}"]


@pytest.mark.parametrize(
    "answer",
    [{"message": "could not parse JSON"}, {"proofState": "one", "goals": []}, {"proofState": 1, "goals": [["⊢ p"]]}],
    ids=str,
)
def test_what_is_neither_a_result_nor_a_refusal_is_an_error(serve: Serve, answer: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        apply(serve, {"answer": answer})


def test_banned_tactics_reach_no_process_whoever_sends_them(serve: Serve) -> None:
    server = serve({"theorems": {"n + 0 = n": ROOT}, "tactics": {ROOT: {"exact?": [], "trivial": []}}})
    with server.client().lease() as session:
        banned, applied = session.apply(session.start(THEOREM), ["exact?", "trivial"])
    assert isinstance(banned, TacticFailed) and banned.kind == "banned" and texts(applied) == []
    base = f"http://127.0.0.1:{server.port}/process"
    pid = requests.post(f"{base}/get", json={}, timeout=30).json()["process_id"]
    statement = {"theorem_with_sorry": THEOREM.source}
    state = requests.post(f"{base}/{pid}/proof_from_sorry", json=statement, timeout=30).json()["value"][
        "proof_state_id"
    ]
    answer = requests.post(f"{base}/{pid}/proof/{state}/try_apply_tactic", json={"tactic": "exact?"}, timeout=30).json()
    assert answer == {"error": "Could not apply tactic: `exact?` searches instead of proving"}
    assert not any(banned_reason(request.get("tactic", "")) for request in server.requests())
