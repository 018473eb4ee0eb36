"""The probe on servers with planted defects: each is found and named, and a server without any is called well."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.option_groups import LeanOptions
from nanoproof.lean.probe import Finding, Probe, ProbeOptions, find_problem, main
from nanoproof.lean.server.backend import Backend
from nanoproof.lean.types import ServerUnavailable
from scripts import prove
from tests.fakes.leantree_server import LeanTreeServer
from tests.helpers import FORK_REPL, NANOLEAN
from tests.lean.conftest import start_server

Answer = tuple[int, Any]
Defect = Callable[[str, dict[str, Any], Callable[[], Answer]], Answer]


class Server(LeanTreeServer):
    """A LeanTree server that may have a defect."""

    defect: Defect | None = None
    keeps_after_return = False
    keeps_dead = False

    def answer(self, path: str, body: Any) -> Answer:
        def honest() -> Answer:
            return super(Server, self).answer(path, body)

        return honest() if self.defect is None else self.defect(path.rsplit("/", 1)[1], body, honest)

    def _return(self, number: int) -> dict[str, Any]:
        repl = self._leases.get(number)
        env = None if repl is None else repl.env
        if repl is not None and self.keeps_dead and repl.process.poll() is not None:
            del self._leases[number]
            self._idle.append(repl)
            return {"status": "ok"}
        answer = super()._return(number)
        if self.keeps_after_return and repl is not None:
            repl.env = env
        return answer


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORK_REPL_UNLIMITED_MS", "1200")
        server = Server(FORK_REPL, tmp_path_factory.mktemp("bomb") / "bomb", max_processes=1)
        yield server
        server.close()


@pytest.fixture
def server(shared: Server) -> Iterator[Server]:
    yield shared
    shared.defect, shared.keeps_after_return, shared.keeps_dead = None, False, False
    for repl in list(shared._idle):
        if repl.process.poll() is None:
            repl.env = None
        else:
            shared._idle.remove(repl)
            repl.close()


def options(server: LeanTreeServer, **more: Any) -> ProbeOptions:
    given = {"imports": ("none",), "tactic_seconds": 0.2, "lease_seconds": 5.0, "transcript": None, **more}
    return ProbeOptions(LeanOptions((server.address,)), **given)


def look(server: LeanTreeServer, until: str = "", **more: Any) -> dict[str, Finding]:
    """The findings by name, all of them or those up to one."""
    findings: dict[str, Finding] = {}
    for finding in Probe(server.address, options(server, **more)).findings():
        findings[finding.what] = finding
        if finding.what == until:
            break
    return findings


def broken(findings: dict[str, Finding]) -> dict[str, str]:
    assert all(finding.advice for finding in findings.values() if finding.state == "broken")
    return {what: finding.text for what, finding in findings.items() if finding.state == "broken"}


def without_messages(keep: Callable[[dict[str, Any]], bool]) -> Defect:
    """Commands are answered without some of Lean's messages."""

    def defect(call: str, body: dict[str, Any], honest: Callable[[], Answer]) -> Answer:
        status, answer = honest()
        if call == "command" and status == 200:
            answer = {**answer, "messages": [each for each in answer.get("messages", ()) if keep(each)]}
        return status, answer

    return defect


def replying(call: str, change: Callable[[dict[str, Any], Answer], Answer]) -> Defect:
    """Answers of one route are changed."""
    return lambda word, body, honest: change(body, honest()) if word == call else honest()


def splitting(body: dict[str, Any], answered: Answer) -> Answer:
    """An entry for each goal, all of them the same proof state."""
    status, answer = answered
    entries = [{**each, "goals": [goal]} for each in answer.get("value", ()) for goal in each["goals"]]
    return (status, {"value": entries}) if "value" in answer else answered


def forgetting_gaps(body: dict[str, Any], answered: Answer) -> Answer:
    """No word of a `sorry`, not even among the axioms."""
    status, answer = answered
    if status == 200:
        answer = json.loads(json.dumps(answer).replace("depends on axioms: [sorryAx]", "does not depend on any axioms"))
        answer["messages"] = [each for each in answer.get("messages", ()) if each["severity"] != "warning"]
        answer.pop("sorries", None)
    return status, answer


def accepting_text(body: dict[str, Any], answered: Answer) -> Answer:
    """A text with an error passes, with answers to all questions that are behind it."""
    if answered[0] != 500 or "⟨hq, hp⟩" not in body["command"]:
        return answered
    lines = body["command"].split("\n")
    at = next(number for number, line in enumerate(lines, 1) if line.startswith("#print"))
    texts = ("'t' does not depend on any axioms", "t (p q : Prop) (hp : p) (hq : q) : p ∧ q")
    said = [{"severity": "info", "pos": {"line": at + i, "column": 0}, "data": text} for i, text in enumerate(texts)]
    return 200, {"env": 0, "messages": said}


def refused_as(words: dict[str, Any]) -> Callable[[dict[str, Any], Answer], Answer]:
    """What refused tactics are answered with."""
    return lambda body, answered: (200, words) if "error" in answered[1] else answered


def dropping_timeout(call: str, body: dict[str, Any], honest: Callable[[], Answer]) -> Answer:
    body.pop("timeout", None)
    return honest()


# fmt: off
DEFECTS: dict[str, tuple[Defect, str, str]] = {
    "axioms unreadable": (without_messages(lambda m: "axioms" not in m["data"]), "checks a proof", "axioms of t"),
    "axioms hidden": (
        replying("command", lambda body, answered: (answered[0], json.loads(json.dumps(answered[1], ensure_ascii=False)
            .replace("depends on axioms: [lie]", "does not depend on any axioms")))),
        "reads axioms", "`lie` is said to rest on no axiom",
    ),
    "siblings changed": (replying("try_apply_tactic", splitting), "splits goals", "sibling"),
    "no limit of time": (dropping_timeout, "limits of time", "no limit is kept"),
    "goals: [] on failure": (replying("try_apply_tactic", refused_as({"value": []})),
                             "refuses wrong tactics", "a failure reads as success"),
    "errors without a word": (replying("try_apply_tactic", refused_as({"error": "KeyError"})),
                              "refuses wrong tactics", "ProtocolError"),
    "sorry unseen": (replying("command", forgetting_gaps), "reports a sorry", "a text with a sorry passes"),
    "wrong proofs accepted": (replying("command", accepting_text), "refuses a wrong proof", "is accepted"),
    "no commands": (replying("command", lambda body, answered: (404, {"error": "Not Found"})), "checks a proof", "404"),
    "no statements": (
        replying("proof_from_sorry", lambda body, answered: (500, {"error": "boom"})), "starts a theorem", "boom",
    ),
    "goals in other words": (
        replying("proof_from_sorry", lambda body, answered: (answered[0], json.loads(
            json.dumps(answered[1], ensure_ascii=False).replace("p ∧ q", "And p q")))),
        "starts a theorem", "And p q",
    ),
}
# fmt: on


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_found_and_named(server: Server, name: str) -> None:
    server.defect, what, words = DEFECTS[name]
    found = broken(look(server, until=what))
    assert words in found.get(what, ""), found


def test_an_environment_that_survives_the_return_of_its_lease_is_found(server: Server) -> None:
    server.keeps_after_return = True
    found = broken(look(server, brief=True))
    assert "already" in found["checks a name twice"] and "forgets what was opened" in found


@pytest.mark.nightly
def test_a_dead_process_that_is_handed_out_again_is_found(server: Server) -> None:
    server.keeps_dead = True
    assert "ProcessLost" in broken(look(server))["replaces a lost process"]


def test_another_version_of_lean_is_found(server: Server) -> None:
    assert "v4.27.0, not v4.28.0" in broken(look(server, "Lean version", lean_version="v4.28.0"))["Lean version"]


def test_a_missing_import_is_found(server: Server) -> None:
    assert "ℝ is refused" in broken(look(server, "imports", imports=("Mathlib",)))["imports"]


def test_coupled_goals_in_branches_of_their_own_are_found(server: Server) -> None:
    def defect(call: str, body: dict[str, Any], honest: Callable[[], Answer]) -> Answer:
        return splitting(body, honest()) if "Exists.intro" in body.get("tactic", "") else honest()

    server.defect = defect
    assert "2 branches" in broken(look(server, "coupled goals stay together"))["coupled goals stay together"]


def test_a_leantree_server_as_it_is_has_nothing_broken(server: Server) -> None:
    found = look(server, lean_version="v4.27.0")
    assert broken(found) == {}
    around = {what for what, finding in found.items() if finding.state == "worked around"}
    assert {"checks a name twice", "forgets what was opened", "splits goals"} <= around
    assert "process lives" in found["limits of time"].text and found["replaces a lost process"].state == "works"


def test_our_own_server_works_without_workarounds() -> None:
    with start_server(Backend(NANOLEAN, start_seconds=60.0, can_prune=True)) as running:
        findings = list(
            Probe(f"127.0.0.1:{running.port}", ProbeOptions(LeanOptions(("x",)), tactic_seconds=60.0)).findings()
        )
    assert {finding.state for finding in findings} <= {"works", "not tested"}, findings


def test_a_server_without_a_free_process_is_not_judged(server: Server) -> None:
    number = server._get(False, 0)
    assert number is not None
    findings = look(server, lease_seconds=0.1)
    assert findings["gives a process"].state == "not tested" and "splits goals" not in findings
    assert find_problem(server.address, None, lease_seconds=0.1) is None
    server._return(number)


def test_the_problem_names_the_server_the_defect_and_the_command(server: Server) -> None:
    assert find_problem(server.address, None) is None
    server.defect = DEFECTS["axioms unreadable"][0]
    problem = find_problem(server.address, None)
    assert problem is not None and "\n" not in problem
    assert problem.startswith(f"Lean server {server.address}: checks a proof: ")
    assert f"python -m nanoproof.lean.probe --lean-servers {server.address}" in problem


def test_the_command_prints_a_table_and_writes_what_was_said(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "--lean-servers",
        server.address,
        "--brief",
        "--transcript",
        str(tmp_path / "t.jsonl"),
        "--lean-token",
        "xyz",
    ]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "checks a name twice" in printed and "nothing broken" in printed and str(tmp_path / "t.jsonl") in printed
    text = (tmp_path / "t.jsonl").read_text()
    paths = [json.loads(line).get("path", "") for line in text.splitlines()]
    assert "/process/get" in paths and any(path.endswith("/command") for path in paths) and "xyz" not in text
    assert server.status()["used_processes"] == 0


def test_a_broken_server_is_exit_code_1_and_one_that_is_not_there_too(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.defect = DEFECTS["goals: [] on failure"][0]
    assert main(["--lean-servers", server.address, "--brief", "--transcript", "none"]) == 1
    assert "→ no result of this server can be trusted" in capsys.readouterr().out
    assert main(["--lean-servers", "127.0.0.1:9", "--transcript", "none", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["what"] == "answers"


def test_a_server_that_lies_is_asked_for_no_proof(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.defect = DEFECTS["axioms hidden"][0]
    words = ["--policy", "solver-only", "--num-simulations", "2", "--lean-servers", server.address]
    with pytest.raises(ServerUnavailable, match="`lie` is said to rest on no axiom"):
        prove.main(["theorem t : 1 = 1", *words])
    assert "prove" not in capsys.readouterr().out
