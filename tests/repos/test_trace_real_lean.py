"""Tracing with real Lean, as its REPL was recorded: a project of three files."""

import json
import sys
from pathlib import Path
from typing import Any

from nanoproof.common.files import read_jsonl
from nanoproof.common.option_groups import LeanOptions
from nanoproof.lean.server.backend import Backend
from nanoproof.repos.project import Project
from nanoproof.repos.trace import TRANSITIONS, TraceOptions, read_trace, trace_project
from tests.helpers import FAKES
from tests.lean.conftest import start_server

FIRST = """theorem complex_and (p q r : Prop) (h1 : p ∧ q) (h2 : q → r) : p ∧ r := by
  apply And.intro
  exact h1.left
  apply h2
  exact h1.right
"""
SECOND = """import First

def f : Nat := by have t := 37; exact t
"""
THIRD = """import First
import Second
import Init.Data.Nat

namespace Third
theorem ex : False := by sorry

theorem one : 1 = 1 := (by rfl : 1 = 1)
end Third
"""
CONTEXT = "p q r : Prop\nh1 : p ∧ q\nh2 : q → r\n"
LEFT, RIGHT = f"case left\n{CONTEXT}⊢ p", f"case right\n{CONTEXT}⊢ r"
LAST = f"case right\n{CONTEXT}⊢ q"


def tactic(text: str, number: int, line: int, column: int, goals: str, used: list[str]) -> dict[str, Any]:
    """An entry of the REPL's list of tactics."""
    end = {"line": line, "column": column + len(text)}
    place = {"pos": {"line": line, "column": column}, "endPos": end}
    return {"usedConstants": used, "tactic": text, "proofState": number, "goals": goals, **place}


def ran(number: int, text: str, new: int, goals: list[str]) -> dict[str, Any]:
    status = "Incomplete: open goals remain" if goals else "Completed"
    answer = {"proofStatus": status, "proofState": new, "goals": goals}
    return {"request": {"tactic": text, "proofState": number}, "response": answer}


def file(text: str, response: dict[str, Any]) -> dict[str, Any]:
    return {"request": {"cmd": text, "allTactics": True}, "response": {**response, "env": 1}}


SORRY_USES = ["False", "sorryAx", "instOfNatNat", "Lean.Name.num", "Nat", "Lean.Name", "OfNat.ofNat", "Bool.false"]
CONVERSATION = [
    file(
        FIRST,
        {
            "tactics": [
                tactic("apply And.intro", 0, 2, 2, f"{CONTEXT}⊢ p ∧ r", ["And.intro"]),
                tactic("exact h1.left", 1, 3, 2, f"{LEFT}\n{RIGHT}", ["And.left"]),
                tactic("apply h2", 2, 4, 2, RIGHT, []),
                tactic("exact h1.right", 3, 5, 2, LAST, ["And.right"]),
                tactic("exact h1.right", 9, 5, 2, "no goals", []),
            ]
        },
    ),
    ran(0, "apply And.intro", 4, [LEFT, RIGHT]),
    ran(1, "exact h1.left", 5, [RIGHT]),
    ran(2, "apply h2", 6, [LAST]),
    ran(3, "exact h1.right", 7, []),
    file(
        SECOND,
        {
            "tactics": [
                tactic("have t := 37", 0, 3, 18, "⊢ Nat", ["instOfNatNat", "Nat", "OfNat.ofNat"]),
                tactic("exact t", 1, 3, 32, "t : Nat\n⊢ Nat", []),
            ]
        },
    ),
    file(
        THIRD,
        {
            "tactics": [
                tactic("sorry", 3, 6, 25, "⊢ False", SORRY_USES),
                tactic("rfl", 8, 8, 27, "⊢ 1 = 1", ["Eq.refl", "Nat"]),
            ],
            "sorries": [{"proofState": 2, "goal": "⊢ False", "pos": {"line": 6, "column": 25}}],
            "messages": [{"severity": "warning", "pos": {"line": 6, "column": 8}, "data": "declaration uses `sorry`"}],
        },
    ),
    {"request": {"tactic": "sorry", "proofState": 3}, "response": {"proofStatus": "Incomplete: contains sorry"}},
]
CONVERSATION[-1]["response"] |= {"proofState": 9, "goals": [], "sorries": [{"proofState": 10, "goal": "⊢ False"}]}
SECOND_STEPS = [ran(0, "have t := 37", 2, ["t : Nat\n⊢ Nat"]), ran(1, "exact t", 3, [])]
THIRD_STEPS = [ran(8, "rfl", 11, [])]


def trace(folder: Path, conversation: list[dict[str, Any]]) -> Any:
    """Trace the three files over a REPL that answers as recorded; returns summary, records and requests."""
    project = folder / "project"
    project.mkdir()
    for name, text in (("First", FIRST), ("Second", SECOND), ("Third", THIRD)):
        (project / f"{name}.lean").write_text(text, encoding="utf-8")
    (project / "lean-toolchain").write_text("leanprover/lean4:v4.27.0\n")
    recorded, log = folder / "recorded.json", folder / "log.jsonl"
    recorded.write_text(json.dumps(conversation), encoding="utf-8")
    command = (sys.executable, str(FAKES / "recorded_repl.py"), str(recorded), str(log))
    backend = Backend(command, start_seconds=60.0)
    running = {"project_path": str(project), "repl_exe": "repl", "max_processes": 1, "spares": 0}
    with start_server(backend, **running) as server:
        options = TraceOptions(lean=LeanOptions(servers=(f"127.0.0.1:{server.port}",)))
        summary = trace_project(Project.read(project), folder / "out", options)
    return summary, {file.path: file for file in read_trace(folder / "out")}, list(read_jsonl(log))


def test_a_project_of_three_files_is_traced_as_real_lean_answers(tmp_path):
    summary, files, requests = trace(tmp_path, [*CONVERSATION, *SECOND_STEPS, *THIRD_STEPS])
    # Two more than there are files: what is open in Third.lean is asked for its axioms, alone and as an assumption.
    assert summary.failures == () and summary.elaborations == 5
    assert [(t.full_name, len(t.tactics), t.sorries) for f in files.values() for t in f.theorems] == [
        ("complex_and", 4, 0),
        ("Third.ex", 1, 1),
        ("Third.one", 1, 0),
    ]
    first, *_, last = files["First.lean"].theorems[0].tactics
    assert (first.state_before, first.state_after) == (f"{CONTEXT}⊢ p ∧ r", f"{LEFT}\n\n{RIGHT}")
    assert first.marked == "apply <a>And.intro</a>" and first.premises[0].start is None  # Lean's own library
    assert (last.state_before, last.state_after) == (LAST, "no goals")
    assert files["First.lean"].theorems[0].premises == ("And.intro", "And.left", "And.right")
    assert files["Third.lean"].imports == ("First.lean", "Second.lean")
    assert files["Third.lean"].theorems[1].premises == ("Eq.refl", "Nat")
    texts = [request["cmd"] for request in requests if request.get("cmd")]
    assert texts[:3] == [FIRST, SECOND, THIRD]  # whole, with their imports, each in no environment
    assert all("env" not in request for request in requests)
    rows = {row["path"]: row["theorems"] for row in read_jsonl(tmp_path / "out" / TRANSITIONS)}
    nodes = rows["First.lean"][0]["by_blocks"][0]["tree"]["nodes"]
    assert [(n["tactic"]["tactic_string"], n["tactic"]["children"], n["proof_depth"]) for n in nodes] == [
        ("apply And.intro", [1, 2], 3),
        ("exact h1.left", [], 1),
        ("apply h2", [3], 2),
        ("exact h1.right", [], 1),
    ]


def test_a_module_that_is_not_built_is_an_error_of_the_file_that_passes_once_it_is(tmp_path):
    error = {"severity": "error", "pos": {"line": 1, "column": 0}, "data": "unknown module prefix 'First'"}
    refused = file(SECOND, {"messages": [error]})
    others = [each for each in CONVERSATION if each["request"].get("cmd") != SECOND]
    summary, files, _ = trace(tmp_path, [refused, *others, *THIRD_STEPS])
    assert files["Second.lean"].error == "1:0: unknown module prefix 'First'"
    assert files["Third.lean"].error == f"it imports Second.lean, which is not traced: {files['Second.lean'].error}"
    assert len(summary.failures) == 2 and summary.theorems == 1
    stored = json.loads((tmp_path / "out" / "files" / "Second.lean.json").read_text())
    assert stored["digest"] == ""  # it is tried again
