"""Fake proofs, none of which may count, and honest ones that only look suspicious: see `red_team/`.

Each goes up the ladder of the final check twice: on NanoLean, and on a REPL that answers as a real Lean would, so also
where Lean itself has nothing against the text.
"""

import json
import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from nanolean.tests.each import each
from nanoproof.lean.client import ClientConfig, LeanServerClient
from nanoproof.lean.server.backend import Backend
from nanoproof.lean.types import LeanError, LeanSession, Theorem
from nanoproof.prover.check import RUNGS, Verdict, check_proof
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from tests.fakes.policy import saying
from tests.helpers import FAKES
from tests.lean.conftest import start_server
from tests.prover.red_team import table

SOURCE = "theorem boom : False := by\n  sorry"


def ids(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["id"] for entry in entries]


TRICKS, HONEST = table("tricks"), table("honest")
IN_NANOLEAN = [entry for entry in HONEST if entry.get("nanolean", True)]

ANSWERS = {
    "half of an answer": '{"env": 0, "messages": [',
    "something else than JSON": "all is proved",
    "a list": "[]",
    "words in place of an answer": '"OK"',
    "two answers": '{"env": 0}\n\n{"env": 0}',
    "an empty answer": {},
}
MISBEHAVIOURS = ["crash", "hang", "half", "stall"]


@pytest.fixture(scope="module")
def nanolean(session: LeanSession) -> LeanSession:
    return session


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeanSession]:
    entries = {entry["id"]: entry for entry in (*TRICKS, *HONEST)}
    entries |= {name: {"answer": answer} for name, answer in ANSWERS.items()}
    entries |= {name: {"do": name} for name in MISBEHAVIOURS}
    path = tmp_path_factory.mktemp("red_team") / "table.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    command = (sys.executable, str(FAKES / "credulous_repl.py"), str(path))
    config = ClientConfig(command_seconds=0.5, slack_seconds=20.0)
    with (
        start_server(Backend(command, start_seconds=20.0), spares=1) as server,
        LeanServerClient(f"127.0.0.1:{server.port}", config=config).lease() as session,
    ):
        yield session


def theorem(entry: dict[str, Any]) -> Theorem:
    return Theorem(f"-- red team: {entry['id']}\n{entry.get('source', SOURCE)}", "red team", entry["id"])


def check(session: LeanSession, entry: dict[str, Any]) -> Verdict:
    return check_proof(session, theorem(entry), entry["proof"], replayed=True)


def test_there_are_many_tricks_and_each_has_a_name_of_its_own() -> None:
    assert len({entry["id"] for entry in (*TRICKS, *HONEST)}) == len(TRICKS) + len(HONEST) >= 80
    assert {entry["rung"] for entry in TRICKS} == set(RUNGS) - {"replayed"}


@each("trick", TRICKS, ids=ids(TRICKS))
def test_a_fake_proof_is_refused_where_a_real_lean_answers(scripted: LeanSession, trick: dict[str, Any]) -> None:
    verdict = check(scripted, trick)
    assert not verdict.accepted and verdict.reason
    assert list(verdict.rungs) == list(RUNGS[: RUNGS.index(trick["rung"]) + 1])
    assert [rung for rung, held in verdict.rungs.items() if not held] == [trick["rung"]]


@each("trick", TRICKS, ids=ids(TRICKS))
def test_a_fake_proof_is_refused_on_nanolean(nanolean: LeanSession, trick: dict[str, Any]) -> None:
    assert not check(nanolean, trick).accepted


@each("trick", TRICKS, ids=ids(TRICKS))
def test_a_policy_that_says_a_fake_proof_proves_nothing(nanolean: LeanSession, trick: dict[str, Any]) -> None:
    prover = Prover(saying(trick["proof"]), SearchConfig(finishers=()), ProverOptions())
    attempt = prover.prove(nanolean, theorem(trick), 3, random.Random(0))
    assert attempt.outcome in ("unproven", "error")
    assert not attempt.source and not attempt.transitions


@each("answer", ANSWERS)
def test_an_answer_that_is_not_whole_is_no_acceptance(scripted: LeanSession, answer: str) -> None:
    assert not believed(scripted, answer)


@each("trouble", MISBEHAVIOURS)
def test_trouble_with_the_server_is_no_acceptance(scripted: LeanSession, trouble: str) -> None:
    assert not believed(scripted, trouble)


def believed(session: LeanSession, name: str) -> bool:
    try:
        return check(session, {"id": name, "proof": "trivial"}).accepted
    except LeanError:
        return False


@each("entry", HONEST, ids=ids(HONEST))
def test_an_honest_proof_is_accepted_where_a_real_lean_answers(scripted: LeanSession, entry: dict[str, Any]) -> None:
    verdict = check(scripted, entry)
    assert (verdict.accepted, verdict.reason) == (True, "")
    assert verdict.rungs == dict.fromkeys(RUNGS, True)


@each("entry", IN_NANOLEAN, ids=ids(IN_NANOLEAN))
def test_an_honest_proof_is_accepted_on_nanolean(nanolean: LeanSession, entry: dict[str, Any]) -> None:
    verdict = check(nanolean, entry)
    assert (verdict.accepted, verdict.reason) == (True, "")
