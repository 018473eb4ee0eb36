"""What one theorem declares or opens never reaches another, whatever a server does with its environments."""

import itertools
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.server.backend import Backend
from nanoproof.lean.session import HttpLeanSession
from nanoproof.lean.types import LeanError, TacticApplied, Theorem, TheoremRejected
from tests.fakes.leantree_server import LeanTreeServer
from tests.fakes.upstream_server import UpstreamServer
from tests.helpers import FORK_REPL, NANOLEAN
from tests.lean.conftest import start_server

# Each with a proof; those that are refused alone are refused in whatever company.
LEAKY: dict[str, tuple[str, str, bool]] = {
    "opens": ("open Nat\ntheorem a : succ 0 = 1 := by\n  sorry", "rfl", True),
    "needs_open": ("theorem b : succ 0 = 1 := by\n  sorry", "rfl", False),
    "defines": ("def twice (n : Nat) : Nat := n + n\ntheorem c : twice 1 = 2 := by\n  sorry",
                "unfold twice\nrfl", True),
    "defines_otherwise": ("def twice (n : Nat) : Nat := n + 1\ntheorem c : twice 2 = 3 := by\n  sorry", "rfl", True),
    "needs_definition": ("theorem d : twice 1 = 2 := by\n  sorry", "rfl", False),
    "variables": ("variable (p q : Prop)\ntheorem e (h : p ∧ q) : p := by\n  sorry", "exact h.1", True),
    "needs_variables": ("set_option autoImplicit false in\n"
                        "theorem f (h : p ∧ q) : True := by\n  have h : q ∧ p := sorry\n  trivial", "exact h", False),
    "option": ("set_option autoImplicit false\ntheorem g (n : Nat) : n = n := by\n  sorry", "rfl", True),
    "abbreviates": ("abbrev Two := Nat\ntheorem h (n : Two) : n = n := by\n  sorry", "rfl", True),
    "needs_abbreviation": ("set_option autoImplicit false in\ntheorem i (n : Two) : n = n := by\n  sorry",
                           "rfl", False),
    "simp_lemma": ("@[simp] theorem lie (n : Nat) : n * 3 = 3 * n := Nat.mul_comm n 3\n"
                   "theorem j (n : Nat) : n * 3 = 3 * n := by\n  sorry", "simp", True),
    "plain": ("theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  sorry",
              "constructor\nassumption\nassumption", True),
}  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A LeanTree server, which keeps one environment for each lease."""
    server = LeanTreeServer(FORK_REPL, tmp_path_factory.mktemp("bomb") / "bomb")
    yield server.address
    server.close()


def verdict(session: HttpLeanSession, name: str) -> tuple[bool, Any]:
    """Whether the statement is accepted, and what became of its proof, tactic by tactic and as a whole text."""
    source, proof, _ = LEAKY[name]
    theorem = Theorem(source, "test", name)
    whole = source.replace("by\n  sorry", "by\n  " + proof.replace("\n", "\n  "))
    try:
        branches = [session.start(theorem)]
    except TheoremRejected:
        return False, session.check(whole).accepted
    for tactic in proof.split("\n"):
        branch = branches.pop(0)
        result = session.apply(branch, [tactic])[0]
        if not isinstance(result, TacticApplied):
            return True, result
        branches = [*result.branches, *branches]
    return True, (branches, session.check(whole).accepted)


def test_the_verdict_on_a_theorem_does_not_depend_on_its_company(address: str) -> None:
    rng = random.Random(0)
    client = LeanServerClient(address)
    orders = [list(LEAKY), list(reversed(LEAKY)), *(rng.sample(list(LEAKY), len(LEAKY)) for _ in range(2))]
    for order in orders:
        with client.lease() as session:
            for name in [*order, *order[:3]]:
                accepted, outcome = verdict(session, name)
                assert accepted == LEAKY[name][2], (order, name, outcome)
                assert outcome == (([], True) if accepted else False), (order, name)


def test_our_own_server_gives_the_same_verdicts() -> None:
    with (
        start_server(Backend(NANOLEAN, start_seconds=60.0, can_prune=True)) as running,
        LeanServerClient(f"127.0.0.1:{running.port}").lease() as session,
    ):
        for name, (_, _, holds) in LEAKY.items():
            assert verdict(session, name) == ((True, ([], True)) if holds else (False, False)), name


TEXTS = (
    ("command", "def foo : Nat := 3"),
    ("command", "#check foo"),
    ("command", "def foo : Nat := 4"),  # declared already
    ("command", "#check fooo"),
    ("proof_from_sorry", "theorem a : foo = 3 := by\n  sorry"),
    ("command", "open Nat"),
    ("proof_from_sorry", "theorem b : succ 0 = 1 := by\n  sorry"),
    ("proof_from_sorry", "theorem b : succ 0 = 1 := by\n  sorry"),  # declared already
    ("proof_from_sorry", "theorem c : baz = 1 := by\n  sorry"),
    ("proof_from_sorry", "theorem d : foo = 3 := rfl"),  # no `sorry`, and declared all the same
    ("command", "#check d"),
)
"""What a LeanTree client sends on one lease."""


def replies(address: str) -> list[Any]:
    """Of each text the status, and whether it was taken, or in which words it was refused."""

    def post(path: str, **body: Any) -> requests.Response:
        return requests.post(f"http://{address}{path}", json=body, timeout=120)

    pid = post("/process/get", blocking=True, timeout=60).json()["process_id"]
    found = []
    for call, text in TEXTS:
        reply = post(f"/process/{pid}/{call}", **{"command" if call == "command" else "theorem_with_sorry": text})
        error = reply.json().get("error")
        found.append((text, reply.status_code, error and error[:12]))
    post(f"/process/{pid}/return")
    pid = post("/process/get", blocking=True, timeout=60).json()["process_id"]
    found.append(("returned", post(f"/process/{pid}/command", command="#check foo").status_code, None))
    post(f"/process/{pid}/return")
    return found


def test_on_a_lease_of_a_leantree_client_texts_act_on_the_next_as_on_its_own_server(address: str) -> None:
    with start_server(Backend(NANOLEAN, start_seconds=60.0, can_prune=True)) as running:
        ours = replies(f"127.0.0.1:{running.port}")
    assert ours == replies(address)
    assert [status for _, status, _ in ours] == [200, 200, 500, 500, 200, 200, 200, 200, 200, 500, 200, 500]


def test_no_proof_is_lost_by_threads_that_share_such_a_server(address: str) -> None:
    client, left, wrong = LeanServerClient(address), itertools.count(), []
    names = [name for name in LEAKY if LEAKY[name][2]]

    def work() -> None:
        while (number := next(left)) < 64:
            try:
                with client.lease() as session:
                    found = verdict(session, names[number % len(names)])
            except LeanError as error:
                found = (False, error)
            if found != (True, ([], True)):
                wrong.append((names[number % len(names)], found))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120.0)
    assert wrong == [] and not any(thread.is_alive() for thread in threads)
    assert client.status()["used_processes"] == 0


def refusing(text: str) -> UpstreamServer:
    """A server whose commands are refused with this text, in the way of LeanTree's server."""

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any] | None:
        match path.rsplit("/", 1)[1]:
            case "get":
                return 200, {"process_id": 7}
            case "command":
                return 500, {"error": text, "exception": "gASV"}
            case "return":
                return 200, {}
        return None

    return UpstreamServer(answer)


def test_the_messages_of_a_refused_command_are_its_report() -> None:
    server = refusing('REPL returned error messages: [{"severity": "error", "pos": {"line": 3, "column": 4}, '
                      '"data": "Process 3 not found"}]')  # fmt: skip
    with LeanServerClient(server.address).lease() as session:
        report = session.check("theorem t : True := nonsense")
    server.close()
    assert report.errors == ("Process 3 not found",) and report.error_positions == ((3, 4),) and not report.accepted


def test_a_refusal_without_messages_is_an_error_of_the_server() -> None:
    server = refusing("REPL returned error messages: [broken")
    with LeanServerClient(server.address).lease() as session, pytest.raises(LeanError, match="refuses the final check"):
        session.check("theorem t : True := trivial")
    server.close()


@pytest.mark.nightly
def test_a_server_is_asked_once_what_it_does_with_environments(tmp_path: Path) -> None:
    server = LeanTreeServer(FORK_REPL, tmp_path / "bomb")
    client = LeanServerClient(server.address)
    asked = []
    answer = server.answer
    server.answer = lambda path, body: (asked.append(body.get("command", "")), answer(path, body))[1]  # type: ignore[method-assign]
    for _ in range(2):
        with client.lease() as session:
            session.start(Theorem(LEAKY["plain"][0]))
            session.start(Theorem(LEAKY["opens"][0]))
    server.close()
    assert sum(text.startswith("#check nanoproof_") for text in asked) == 1


def test_a_server_says_which_constants_the_tactics_of_a_text_use() -> None:
    text = "theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  apply And.intro\n  exact hp\n  exact hq"
    with (
        start_server(Backend(NANOLEAN, start_seconds=120.0)) as server,
        LeanServerClient(f"127.0.0.1:{server.port}").lease() as session,
    ):
        assert session.used_constants(text) == ("And.intro",)
        assert session.used_constants("theorem t : True := True.intro") == ()
        assert session.used_constants("theorem t : Nope := by simp") is not None  # Lean's errors are no matter here


def test_a_server_that_does_not_know_says_nothing_of_constants(address: str) -> None:
    with LeanServerClient(address).lease() as session:
        assert session.used_constants("theorem t : True := by trivial") is None
