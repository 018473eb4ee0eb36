"""The tools for agents, with the official client: in memory, over stdio and over HTTP, on NanoLean."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from nanolean.tests.each import each
from nanoproof.common.config import from_args
from nanoproof.common.errors import UserError
from nanoproof.lean.types import TacticFailed
from nanoproof.mcp import __main__ as command
from nanoproof.mcp.calls import Place, Watch, problem_of, require_harmless
from nanoproof.mcp.opening import Opening
from nanoproof.mcp.results import ToolProblem
from nanoproof.mcp.searches import Searches, kind_of
from nanoproof.mcp.workbench import Workbench
from tests.helpers import Later, wait_for

if TYPE_CHECKING:
    from mcp import Client, StdioServerParameters
    from mcp.server.mcpserver import MCPServer

mcp: Any = Later("mcp")
anyio: Any = Later("anyio")
httpx2: Any = Later("httpx2")
tools: Any = Later("nanoproof.mcp.tools")

BASIC = """namespace My

def double (n : Nat) : Nat := n + n

theorem double_zero : double 0 = 0 := by
  sorry

theorem far (f : Nat → Nat) : f 0 = f 1 := by
  sorry

theorem near (f : Nat → Nat) (h : f 1 = 3) : f 0 = 3 := by
  have := far f
  sorry

end My
"""
MAIN = """import Basic

theorem two (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  sorry

theorem three (a b : Nat) : a + b = b + a ∧ a = a := by
  constructor
  · sorry
  · sorry

theorem four (a : Nat) (h : 2 < a) : 1 < a := sorry
"""
POLICY = ["--policy", "solver-only"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mine").resolve()
    (root / "Basic.lean").write_text(BASIC)
    (root / "Main.lean").write_text(MAIN)
    (root.parent / "Secret.lean").write_text("theorem secret : 1 = 1 := by sorry\n")
    (root / "Link.lean").symlink_to(root.parent / "Secret.lean")
    return root


@pytest.fixture(scope="module")
def bench(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    args = command.parse_args([str(project), *POLICY])
    folder = tmp_path_factory.mktemp("known")
    with ExitStack() as stack:
        searches = Searches(folder)
        stack.callback(searches.close)
        options = from_args(command.McpOptions, args)
        yield command.open_workbench(args, options, project, folder, searches, stack)


@cache
def server_of(bench: Workbench) -> "MCPServer[Any]":
    """A server for all calls: to make one takes longer than most of them."""
    return tools.make_server(Opening(bench.root, lambda: bench), bench.searches, 60.0)


def session(bench: Workbench, do: "Callable[[Client], Awaitable[Any]]") -> Any:
    """Run a client on the server in memory."""

    async def run() -> Any:
        async with mcp.Client(server_of(bench)) as client:
            try:
                return await do(client)
            except mcp.MCPError as error:  # raised here, it would come in two groups of exceptions
                return error

    answer = anyio.run(run)
    if isinstance(answer, mcp.MCPError):
        raise answer
    return answer


def call(bench: Workbench, tool: str, **arguments: Any) -> Any:
    """Call a tool that answers; its structured answer."""
    result = session(bench, lambda client: client.call_tool(tool, arguments))
    assert not result.is_error, result.content
    return result.structured_content


def problem(bench: Workbench, tool: str, **arguments: Any) -> str:
    """Call a tool that has a problem; its words."""
    result = session(bench, lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    return str(result.content[0].text)


# -- what the tools answer -------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_statement_is_proved_with_what_it_imports(bench: Workbench) -> None:
    proved = call(bench, "prove_statement", statement="theorem t : My.double 2 = 4", imports=["Basic"])
    assert proved["outcome"] == "proved" and "NanoLean" in proved["checked"]
    assert proved["theorem"].startswith("theorem t : My.double 2 = 4 := by\n  ") and proved["line"] == 1
    again = call(
        bench, "check_proof", source="theorem t : My.double 2 = 4 := by sorry", proof=proved["proof"], imports=["Basic"]
    )
    assert again["accepted"]


@pytest.mark.parametrize("tail", ["/-", "/-- /- -/", 'def s : String := "', 'def s := r#"'])
def test_a_statement_that_its_context_swallows_is_not_proved(bench: Workbench, tail: str) -> None:
    context = f"theorem helper : True := by\n  sorry\n{tail}"
    assert "ends within a comment" in problem(bench, "prove_statement", statement="theorem t : 1 = 2", context=context)
    assert "ends within a comment" in problem(bench, "try_tactics", state="⊢ 1 = 2", tactics=["simp"], context=context)


def test_what_stands_behind_a_statement_is_not_called_proved(bench: Workbench) -> None:
    two = "theorem a : True := by sorry\ntheorem b : 1 = 2"
    assert "give one theorem" in problem(bench, "prove_statement", statement=two)


def test_what_is_not_proved_comes_with_its_goal_its_tree_and_an_explanation(bench: Workbench) -> None:
    tried = call(bench, "prove_statement", statement="theorem t (f : Nat → Nat) : f 0 = f 1", simulations=4)
    assert (tried["outcome"], tried["proof"], tried["theorem"], tried["checked"]) == ("not proved", "", "", "")
    assert tried["open_goals"][0]["state"].endswith("⊢ f 0 = f 1")
    explanation = call(bench, "explain_failure", search=tried["search"])
    assert explanation["closest"][0]["state"].endswith("⊢ f 0 = f 1")
    examples = [example for kind in explanation["refused"] for example in kind["examples"]]
    assert any(example.startswith("omega: ") for example in examples)
    page = session(bench, lambda client: client.read_resource(tried["tree"])).contents[0]
    assert page.mime_type == "text/html" and "nanoproof-data" in page.text
    listed = json.loads(session(bench, lambda client: client.read_resource("nanoproof://searches")).contents[0].text)
    assert tried["search"] in [entry["search"] for entry in listed["searches"]]
    with pytest.raises(mcp.MCPError, match="no tree"):
        session(bench, lambda client: client.read_resource("nanoproof://trees/0123456789abcdef"))


def test_the_simulations_of_a_call_are_those_of_all_of_its_searches(bench: Workbench) -> None:
    asked = call(bench, "prove_statement", statement="theorem t (f : Nat → Nat) : f 0 = f 7", simulations=16)
    assert (asked["outcome"], asked["simulations"]) == ("not proved", 4 + 16)


def test_what_is_accepted_by_an_axiom_of_the_text_says_so(bench: Workbench) -> None:
    source = "axiom wrong : 1 = 2\n\ntheorem t : 1 = 2 := by\n  "
    for checked in (
        call(bench, "check_proof", source=f"{source}exact wrong"),
        call(bench, "check_proof", source=f"{source}sorry", proof="exact wrong"),
    ):
        assert checked["axioms"] == ["wrong"] and checked["said"].endswith(", by the axiom wrong of the project")


def test_a_file_is_proved_into_a_patch_and_no_file_is_written(bench: Workbench, project: Path) -> None:
    messages: list[str] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message or "")

    async def do(client: "Client") -> Any:
        return await client.call_tool("prove_file", {"file": "Main.lean"}, progress_callback=told)

    answer = session(bench, do).structured_content
    assert (answer["proved"], answer["total"], answer["problems"]) == (4, 4, [])
    assert (project / "Main.lean").read_text() == MAIN
    assert any("two: proved" in message for message in messages)
    done = subprocess.run(["git", "apply", "--check", "-"], input=answer["patch"].encode(), cwd=project)
    assert done.returncode == 0


def test_a_proof_that_rests_on_an_open_sorry_says_so_and_is_not_in_the_patch(bench: Workbench) -> None:
    answer = call(bench, "prove_sorry", file="Basic.lean", line=13)
    (result,) = answer["results"]
    assert result["outcome"] == "conditional" and result["said"] == "proved, if `far` (line 8) holds"
    assert result["rests_on"] == [{"name": "far", "file": "Basic.lean", "line": 8}]
    assert answer["proved"] == 0 and answer["patch"] == "" and "-  sorry" in answer["conditional_patch"]
    checked = call(bench, "check_proof", file="Basic.lean", line=13, proof="omega")
    assert not checked["accepted"] and "`far` (line 8) holds" in checked["said"]
    whole = call(bench, "check_proof", file="Basic.lean")
    assert (whole["accepted"], whole["sorries"]) == (False, 3)
    assert [place["name"] for place in whole["rests_on"]] == ["double_zero", "far", "near"]


def test_tactics_are_tried_and_suggested_at_a_sorry_and_at_a_state(bench: Workbench) -> None:
    state = "a b : Nat\n⊢ a + b = b + a"
    at_sorry = {"file": "Main.lean", "line": 8}
    for place in (at_sorry, {"state": state}):
        tried = call(bench, "try_tactics", tactics=["omega", "rfl", "induction a", "sorry"], **place)
        assert [result["outcome"] for result in tried["results"]] == ["closes", "rejected", "applied", "banned"]
        assert len(tried["results"][2]["goals"]) == 2 and tried["results"][1]["message"].startswith(
            "Tactic `rfl` failed"
        )
        suggested = call(bench, "suggest_tactics", count=3, **place)
        assert "omega" in [tactic["tactic"] for tactic in suggested["tactics"]] and len(suggested["tactics"]) == 3


def test_premises_are_those_that_are_accessible(bench: Workbench) -> None:
    early = call(bench, "premises", file="Basic.lean", line=6, count=100)
    names = [premise["name"] for premise in early["premises"]]
    assert names[0] == "My.double" and "My.far" not in names
    later = call(bench, "premises", state="f : Nat → Nat\n⊢ f 0 = f 1", count=100)
    assert "My.far" in [premise["name"] for premise in later["premises"]]


@pytest.mark.nightly
def test_a_lemma_that_the_agent_writes_is_known_at_the_next_call(bench: Workbench, project: Path) -> None:
    (project / "New.lean").write_text("def odd_name (n : Nat) : Nat := n\n")
    try:
        time.sleep(2.1)
        found = call(bench, "premises", state="⊢ odd_name 1 = 1", count=1)
        assert found["premises"][0]["name"] == "odd_name"
    finally:
        (project / "New.lean").unlink()


def test_a_text_is_checked_with_the_lines_of_its_own(bench: Workbench) -> None:
    source = "theorem a : My.double 1 = 2 := rfl\n\ntheorem b : 1 = 2 := rfl\n"
    checked = call(bench, "check_proof", source=source, imports=["Basic"])
    assert [error["line"] for error in checked["errors"]] == [3] and not checked["accepted"]
    good = call(bench, "check_proof", source="theorem c (n : Nat) : n = n := rfl")
    assert good["accepted"] and good["said"] == "accepted" and good["rests_on"] == []
    wrong = call(bench, "check_proof", file="Main.lean", line=4, proof="exact ⟨hq, hp⟩")
    assert not wrong["accepted"] and wrong["errors"]


# -- what is wrong, too large, or out of bounds ----------------------------------------------------------------------


@each(
    ("tool", "arguments", "words"),
    [
        ("prove_sorry", {"file": "../Secret.lean"}, "outside the project: file"),
        ("prove_sorry", {"file": "/etc/passwd"}, "outside the project: file"),
        ("prove_file", {"file": "Link.lean"}, "outside the project: file"),
        ("check_proof", {"file": "nowhere.lean"}, "bad argument: file: there is no nowhere.lean"),
        ("check_proof", {"file": "Basic.txt"}, "no .lean file"),
        ("check_proof", {}, "give either file or source"),
        ("prove_file", {"file": "\0"}, "that is no path"),
        ("prove_sorry", {"file": "Main.lean", "line": 5}, "no sorry at line 5; they are at 4:2, 8:4, 9:4, 11:46"),
        ("prove_sorry", {"file": "Main.lean"}, "which sorry?"),
        ("prove_sorry", {}, "Field required"),
        ("prove_sorry", {"file": "Main.lean", "line": 4, "seconds": -1}, "greater than 0"),
        ("prove_statement", {"statement": "theorem t : 1 ="}, "Lean refuses: the statement"),
        ("prove_statement", {"statement": "theorem t : no.such = 1"}, "Lean refuses"),
        ("prove_statement", {"statement": "example : 1 = 1"}, "a name"),
        ("prove_statement", {"statement": "theorem t : 1 = 1", "imports": ["Nope"]}, "no module Nope"),
        ("prove_statement", {"statement": "theorem t : 1 = 1", "imports": ["«../Secret»"]}, "no module"),
        ("prove_statement", {"statement": "theorem t : 1 = 1", "context": "import Basic"}, "imports"),
        ("prove_statement", {"statement": "theorem t : 1 = 1", "context": '#eval IO.println "x"'}, "runs code"),
        ("prove_statement", {"statement": "#eval(1)\ntheorem t : 1 = 1"}, "runs code"),
        ("try_tactics", {"tactics": ["rfl"], "state": "⊢ (by_elab x) = 1"}, "not allowed"),
        ("check_proof", {"source": "theorem t : 1 = 1 := by native_decide"}, "`native_decide` is not allowed"),
        ("check_proof", {"source": "theorem t : 1 = 1 := by sorry", "proof": "by rfl"}, "give tactics alone"),
        ("prove_statement", {"statement": "theorem t : 1 = \ud83d"}, "not Unicode"),
        ("prove_statement", {"statement": "theorem t : " + "1 + " * 100_000 + "1 = 1"}, "too large"),
        ("try_tactics", {"tactics": ["rfl"]}, "either file"),
        ("try_tactics", {"tactics": [], "state": "⊢ 1 = 1"}, "give 1 to 64, not 0"),
        ("try_tactics", {"tactics": ["rfl"] * 65, "state": "⊢ 1 = 1"}, "not 65"),
        ("try_tactics", {"tactics": ["rfl"], "state": "nonsense"}, "not a hypothesis"),
        ("try_tactics", {"tactics": ["rfl"], "state": "x✝ : Nat\n⊢ x✝ = x✝"}, "rename_i"),
        ("try_tactics", {"tactics": ["rfl"], "state": "⊢ undefined.name = 1"}, "Lean refuses"),
        ("suggest_tactics", {"state": "⊢ 1 = 1", "count": 0}, "greater than or equal to 1"),
        ("explain_failure", {"search": "../../x"}, "no such search"),
    ],
)
def test_what_cannot_be_answered_is_a_typed_problem_and_the_server_goes_on(
    bench: Workbench, tool: str, arguments: dict[str, Any], words: str
) -> None:
    assert words in problem(bench, tool, **arguments)


@each(
    "text",
    [
        "#eval(IO.println 1)",
        "#eval! 1",
        "def x := 1\t\n#eval x",  # with a character that cannot be seen
        'elab(name := x) "x" : tactic => pure ()',
        "elab_rules : tactic | `(tactic| rfl) => pure ()",
        "@[simp, command_elab x]\ndef f := 1",
        "attribute [tactic x] f",
        "simproc f (x) := fun e => return .continue",
        "@[init] def f : IO Unit := pure ()",
    ],
)
def test_text_that_runs_code_is_refused_however_it_is_written(text: str) -> None:
    with pytest.raises(ToolProblem, match="runs code"):
        require_harmless(text, "context")


def test_names_and_comments_that_only_look_like_code_are_taken() -> None:
    require_harmless("-- #eval 1\n@[simp, elab_as_elim] theorem elab_1 : f.init = tactic' := sorry", "context")


def test_problems_have_a_kind_for_programs(bench: Workbench) -> None:
    result = session(bench, lambda client: client.call_tool("prove_file", {"file": "../Secret.lean"}))
    assert result.structured_content["error"] == "outside the project"
    assert problem_of(ZeroDivisionError()) is None


def test_a_cancelled_call_frees_its_lean_process_for_others(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = [], []

    def slow(place: Place, tactics: Any, watch: Watch) -> Any:
        with bench._slots(watch, bench.lean.processes):
            begun.append(True)
            while not watch.stopped:
                time.sleep(0.01)
            ended.append(True)

    monkeypatch.setattr(bench, "try_tactics", slow)

    async def do(client: "Client") -> Any:
        with anyio.move_on_after(0.6):
            await client.call_tool("try_tactics", {"tactics": ["rfl"], "state": "⊢ 1 = 1"})
        assert begun
        return await client.call_tool("prove_statement", {"statement": "theorem t : 1 = 1"})

    assert session(bench, do).structured_content["outcome"] == "proved" and ended


def test_a_call_ends_at_its_limit_and_two_share_the_processes(bench: Workbench) -> None:
    async def do(client: "Client") -> list[Any]:
        answers: list[Any] = []

        async def one(number: int) -> None:
            arguments = {
                "statement": f"theorem t (f : Nat → Nat) : f {number} = f 0",
                "simulations": 100_000,
                "seconds": 1,
            }
            answers.append((await client.call_tool("prove_statement", arguments)).structured_content)

        async with anyio.create_task_group() as group:
            for number in (5, 6, 7):
                group.start_soon(one, number)
        return answers

    began = time.monotonic()
    answers = session(bench, do)
    assert len(answers) == 3 and time.monotonic() - began < 30
    assert {answer["outcome"] for answer in answers if "outcome" in answer} <= {"not tried", "not proved"}


def test_kinds_of_refusals_are_how_messages_begin() -> None:
    assert kind_of(TacticFailed("rejected", "Lean error:\nUnknown identifier `foo`")) == "Unknown identifier"
    assert kind_of(TacticFailed("timeout", "after 5 s")) == "timeout"


# -- processes: stdio, HTTP, one Lean for all ------------------------------------------------------------------------


def stdio(project: Path, home: Path) -> "StdioServerParameters":
    words = ["-m", "nanoproof.mcp", str(project), *POLICY]
    return mcp.StdioServerParameters(
        command=sys.executable, args=words, env={**os.environ, "NANOPROOF_HOME": str(home)}
    )


async def owner(client: "Client") -> str:
    return str(json.loads((await client.read_resource("nanoproof://searches")).contents[0].text)["owner"])


def test_an_agent_repairs_a_file_over_stdio_and_servers_of_a_project_share_one_lean(
    empty_home: Path, tmp_path: Path
) -> None:
    root = tmp_path / "copy"
    root.mkdir()
    (root / "Basic.lean").write_text(BASIC)
    (root / "Main.lean").write_text(MAIN)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    parameters = stdio(root, empty_home)
    before = {process.pid for process in psutil.process_iter()}

    async def run() -> None:
        async with mcp.Client(parameters) as first:
            sorries = [("Main.lean", 4), ("Main.lean", 8), ("Main.lean", 9), ("Main.lean", 11), ("Basic.lean", 6)]
            while sorries:
                file, line = sorries.pop()
                answer = await first.call_tool("prove_sorry", {"file": file, "line": line})
                patch = answer.structured_content["patch"]
                subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=root, check=True)
            answer = await first.call_tool("check_proof", {"file": "Main.lean"})
            # `import Basic` brings sorries that nothing in it uses.
            assert answer.structured_content["accepted"], answer.structured_content
            async with mcp.Client(parameters) as second:
                answer = await second.call_tool("check_proof", {"source": "theorem t : 1 = 1 := rfl"})
                assert answer.structured_content["accepted"]
                assert await owner(first) == "this process" and (await owner(second)).startswith("process ")
                state = json.loads(next((empty_home / "mcp").glob("*/lean.json")).read_text())
                os.kill(state["pid"], signal.SIGKILL)
                answer = await second.call_tool("prove_statement", {"statement": "theorem t (a : Nat) : a + 0 = a"})
                assert answer.structured_content["outcome"] == "proved"
                assert await owner(second) == "this process"

    anyio.run(run)
    assert "sorry" not in (root / "Main.lean").read_text()
    wait_for(lambda: not orphans(before, root), seconds=30)
    assert not list((empty_home / "mcp").glob("*/lean.json"))


def orphans(before: set[int], root: Path) -> list[int]:
    """Processes of the Lean server or of ours that were not there before."""
    left = []
    for process in psutil.process_iter(["pid", "cmdline", "environ"]):
        words = " ".join(process.info["cmdline"] or [])
        ours = str(root.parent / "home") in str((process.info["environ"] or {}).get("NANOPROOF_HOME"))
        if process.info["pid"] not in before and ours and ("nanoproof" in words or "nanolean" in words):
            left.append(process.info["pid"])
    return left


def test_over_http_it_listens_on_loopback_and_asks_for_its_token(project: Path, empty_home: Path) -> None:
    environment = {**os.environ, "NANOPROOF_MCP_TOKEN": "the-token"}
    words = [sys.executable, "-m", "nanoproof.mcp", str(project), *POLICY, "--transport", "http"]
    server = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        match = None
        while match is None:
            line = server.stderr.readline()
            assert line, "the server ended"
            match = re.search(r"at (http://127\.0\.0\.1:(\d+)/mcp)", line)
        address, port = match[1], int(match[2])
        wait_for(lambda: psutil.Process(server.pid).net_connections("tcp"), seconds=60)
        listening = [c.laddr for c in psutil.Process(server.pid).net_connections("tcp") if c.status == "LISTEN"]
        assert {(each.ip, each.port) for each in listening} == {("127.0.0.1", port)}

        async def run() -> None:
            from mcp.client.streamable_http import streamable_http_client

            async with httpx2.AsyncClient() as nobody:
                for headers in ({}, {"Authorization": "Bearer wrong"}):
                    answer = await nobody.post(address, json={}, headers=headers)
                    assert answer.status_code == 401
                stranger = {"Authorization": "Bearer the-token", "Host": "evil.example"}
                assert (await nobody.post(address, json={}, headers=stranger)).status_code in (403, 421)
            http = httpx2.AsyncClient(headers={"Authorization": "Bearer the-token"}, timeout=120)
            async with http, mcp.Client(streamable_http_client(address, http_client=http)) as client:
                answer = await client.call_tool("prove_sorry", {"file": "Main.lean", "line": 4})
                assert answer.structured_content["proved"] == 1

        anyio.run(run)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
        server.stderr.close()  # type: ignore[union-attr]


def test_tools_that_cannot_be_opened_say_why_to_whoever_calls(bench: Workbench) -> None:
    def fail() -> Workbench:
        raise UserError("there is no checkpoint no-such-one")

    async def run() -> Any:
        async with mcp.Client(tools.make_server(Opening(bench.root, fail), bench.searches, 60.0)) as client:
            return await client.call_tool("prove_statement", {"statement": "theorem t : 1 = 1"})

    answer = anyio.run(run)
    assert answer.is_error and "there is no checkpoint no-such-one" in answer.content[0].text


def test_what_is_no_folder_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no folder"):
        command.main([str(tmp_path / "none")])
