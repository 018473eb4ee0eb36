"""The REPL protocol: answers as the official REPL gives them, and a process that survives what it is sent."""

import io
import json
import subprocess
import sys

import pytest

from nanolean.kernel.expr import Const
from nanolean.repl import Repl, read_requests, serve
from nanolean.syntax import SkipStx
from nanolean.tactics import core, load
from nanolean.tests.each import each
from nanolean.tests.library import base


@pytest.fixture
def repl() -> Repl:
    return Repl(base())


def start(repl: Repl, statement: str) -> int:
    """The proof state of `example STATEMENT := by sorry`."""
    return repl.answer({"cmd": f"example {statement} := by sorry"})["sorries"][0]["proofState"]


def step(repl: Repl, state: int, tactic: str) -> dict:
    return repl.answer({"tactic": tactic, "proofState": state})


def test_a_command_answers_goals_and_messages(repl: Repl):
    answer = repl.answer({"cmd": "theorem foo (x : Nat) : x = x := by sorry"})
    place = {"line": 1, "column": 36}
    assert answer == {
        "env": 0,
        "sorries": [{"proofState": 0, "pos": place, "endPos": {"line": 1, "column": 41}, "goal": "x : Nat\n⊢ x = x"}],
        "messages": [
            {
                "severity": "warning",
                "pos": {"line": 1, "column": 8},
                "endPos": {"line": 1, "column": 11},
                "data": "declaration uses `sorry`",
            }
        ],
    }


def test_a_command_without_anything_to_say_answers_its_environment(repl: Repl):
    assert repl.answer({"cmd": "def f := 37"}) == {"env": 0}
    assert repl.answer({"cmd": "example : f = 37 := rfl", "env": 0}) == {"env": 1}


def test_environments_branch(repl: Repl):
    repl.answer({"cmd": "def f := 1"})
    repl.answer({"cmd": "def f := 2"})
    assert repl.answer({"cmd": "example : f = 1 := rfl", "env": 0}) == {"env": 2}
    assert repl.answer({"cmd": "example : f = 2 := rfl", "env": 1}) == {"env": 3}


def test_a_proof_is_completed_step_by_step(repl: Repl):
    state = start(repl, "(p q : Prop) : p ∧ q → q ∧ p")
    first = step(repl, state, "intro h")
    assert first == {
        "proofStatus": "Incomplete: open goals remain",
        "proofState": 1,
        "goals": ["p q : Prop\nh : p ∧ q\n⊢ q ∧ p"],
    }
    assert step(repl, 1, "exact ⟨h.2, h.1⟩") == {"proofStatus": "Completed", "proofState": 2, "goals": []}


def test_states_branch_and_stay_usable(repl: Repl):
    state = start(repl, "(a b : Nat) : a + b = b + a")
    assert step(repl, state, "rw [Nat.add_comm]")["proofStatus"] == "Completed"
    assert step(repl, state, "exact Nat.add_comm a b")["proofStatus"] == "Completed"
    assert "message" in step(repl, state, "rfl")


def test_rotating_and_focusing_work_on_one_goal_of_several(repl: Repl):
    state = start(repl, "(p q r : Prop) (hp : p) (hq : q) (hr : r) : p ∧ q ∧ r")
    state = step(repl, state, "refine ⟨?_, ?_, ?_⟩")["proofState"]
    turned = step(repl, state, "rotate_left 1")
    assert [goal.splitlines()[-1] for goal in turned["goals"]] == ["⊢ q", "⊢ r", "⊢ p"]
    focused = step(repl, turned["proofState"], "focus (exact hq)")
    assert [goal.splitlines()[-1] for goal in focused["goals"]] == ["⊢ r", "⊢ p"]


def test_a_hole_shared_by_goals_is_filled_in_all_of_them(repl: Repl):
    state = start(repl, "(P : Nat → Prop) (h : P 3) : ∃ x, P x")
    answer = step(repl, state, "refine ⟨?w, ?_⟩")
    assert answer["goals"][-1].endswith("⊢ P ?w") or answer["goals"][0].endswith("⊢ P ?w")
    state = step(repl, answer["proofState"], "case w => exact 3")["proofState"]
    assert step(repl, state, "exact h")["proofStatus"] == "Completed"


def test_a_refused_tactic_answers_a_message_alone(repl: Repl):
    state = start(repl, "(p q : Prop) (h : p) : q")
    answer = step(repl, state, "exact h")
    assert list(answer) == ["message"]
    assert answer["message"].startswith("Lean error:\nType mismatch")


@each("tactic", ["exat 42", "exact (", "", "intro h\nintro k", "theorem", "exact ⟨", "🙂"])
def test_what_is_no_tactic_is_refused(repl: Repl, tactic: str):
    state = start(repl, "(p q : Prop) : p → q → p")
    assert step(repl, state, tactic)["message"].startswith("Lean error:\n")


def test_sorry_is_never_completed(repl: Repl):
    state = start(repl, ": 1 = 2")
    answer = step(repl, state, "sorry")
    assert answer["proofStatus"] == "Incomplete: contains sorry"
    assert answer["goals"] == []
    assert answer["sorries"] == [{"proofState": 1, "goal": "⊢ 1 = 2"}]
    assert answer["proofState"] == 2


def test_the_axiom_behind_sorry_is_sorry_too(repl: Repl):
    state = start(repl, ": 1 = 2")
    assert step(repl, state, "exact sorryAx (1 = 2) false")["proofStatus"] == "Incomplete: contains sorry"


def test_sorry_inside_of_a_step_stays_on_record(repl: Repl):
    state = start(repl, "(x : Nat) : x = 1")
    answer = step(repl, state, "have h : x = 1 := sorry")
    assert answer["sorries"] == [{"proofState": 1, "goal": "x : Nat\n⊢ x = 1"}]
    assert answer["proofStatus"] == "Incomplete: open goals remain"
    assert step(repl, answer["proofState"], "exact h")["proofStatus"] == "Incomplete: contains sorry"


def test_the_goal_of_a_sorry_inside_of_a_step_does_not_complete_the_proof(repl: Repl):
    state = start(repl, "(x : Nat) : x = 1")
    step(repl, state, "have h : x = x := sorry")
    assert step(repl, 1, "rfl")["proofStatus"] == "Incomplete: contains metavariable(s)"


def test_a_tactic_that_lies_does_not_pass_the_kernel(repl: Repl, monkeypatch):
    load()
    monkeypatch.setitem(core._REGISTRY, SkipStx, lambda ctx, stx: ctx.close(Const("True.intro")))
    state = start(repl, ": 1 = 2")
    assert step(repl, state, "skip")["proofStatus"].startswith("Error: kernel type check failed: ")


def test_a_tactic_that_forgets_a_goal_is_noticed(repl: Repl, monkeypatch):
    load()
    monkeypatch.setitem(core._REGISTRY, SkipStx, lambda ctx, stx: ctx.replace_main([]))
    state = start(repl, ": 1 = 2")
    answer = step(repl, state, "skip")
    assert answer["proofStatus"] == "Incomplete: contains metavariable(s)"


def test_unknown_numbers_are_answered(repl: Repl):
    assert step(repl, 7, "rfl") == {"message": "Unknown proof state."}
    assert repl.answer({"cmd": "example : True := trivial", "env": 3}) == {"message": "Unknown environment."}


@each("text", ["{", "[]", "3", "{}", '{"cmd": 3}', '{"tactic": "rfl"}', "\x00", '{"cmd": "a\nb"}'])
def test_malformed_requests_are_answered(repl: Repl, text: str):
    assert repl.answer_text(text)["message"].startswith("Could not parse")


def test_a_timeout_is_accepted(repl: Repl):
    state = start(repl, ": 1 = 1")
    assert repl.answer({"tactic": "rfl", "proofState": state, "timeout": 1000})["proofStatus"] == "Completed"


def test_endless_work_ends_with_a_message(repl: Repl):
    state = start(repl, ": ∃ x : Nat, x = x + 1")
    answer = step(repl, state, "repeat apply absurd")
    assert "goals" in answer or "maximum number of steps exceeded" in answer["message"]
    state = start(repl, "(f : Nat → Nat) : f (10 ^ 9) = f (10 ^ 9 - 1)")
    assert "message" in step(repl, state, "rfl")


def test_the_same_request_gets_the_same_answer(repl: Repl):
    state = start(repl, "(n m : Nat) (h : n = m) : n + 0 = m + 0")
    first, second = step(repl, state, "rw [h]"), step(repl, state, "rw [h]")
    assert first["proofStatus"] == second["proofStatus"] and first["goals"] == second["goals"]


def test_pruning_forgets_states(repl: Repl):
    state = start(repl, ": 1 = 1")
    other = step(repl, state, "skip")["proofState"]
    assert repl.answer({"prune": [other]}) == {"pruned": 1, "proofStates": 1}
    assert step(repl, other, "rfl") == {"message": "Unknown proof state."}
    assert step(repl, state, "rfl")["proofStatus"] == "Completed"
    assert repl.answer({"prune_all": True})["proofStates"] == 0


def test_numbers_are_not_used_again_after_pruning(repl: Repl):
    first = start(repl, ": 1 = 1")
    repl.answer({"prune_all": True})
    assert start(repl, ": 2 = 2") > first


def test_a_state_keeps_only_what_its_proof_still_mentions(repl: Repl):
    state = start(repl, "(a b : Nat) : a + b = b + a")
    for _ in range(30):
        state = step(repl, state, "have h : 1 = 1 := Eq.trans (Eq.trans rfl rfl) rfl")["proofState"]
    kept = repl.states[state]
    assert len(kept.decls) + len(kept.assignment) + len(kept.delayed) <= 4 * 30


def test_requests_are_separated_by_blank_lines():
    stream = io.StringIO('{"a": 1}\n\n\n{"b":\n 2}\n\n{"c": 3}')
    assert [json.loads(text) for text in read_requests(stream)] == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_answers_are_followed_by_a_blank_line():
    sink = io.StringIO()
    serve(base(), io.StringIO('{"cmd": "#print axioms rfl"}\n\n{\n\n'), sink)
    first, second, rest = sink.getvalue().split("\n\n")
    assert json.loads(first)["messages"][0]["data"] == "'rfl' does not depend on any axioms"
    assert "message" in json.loads(second)
    assert rest == ""


def test_a_bug_in_one_request_does_not_end_the_process(monkeypatch, capsys):
    def broken(self: Repl, text: str) -> dict:
        raise KeyError("boom")

    monkeypatch.setattr(Repl, "answer_text", broken)
    sink = io.StringIO()
    serve(base(), io.StringIO("{}\n\n{}\n\n"), sink)
    assert sink.getvalue().count("internal error: KeyError") == 2


def test_the_process_speaks_the_protocol():
    requests_text = (
        '{"cmd": "example (p : Prop) (h : p) : p := by sorry"}\n\n{"tactic": "exact h", "proofState": 0}\n\n'
    )
    command = [sys.executable, "-m", "nanolean", "repl", "--json"]
    done = subprocess.run(command, input=requests_text, capture_output=True, text=True, timeout=120, check=True)
    answers = [json.loads(part) for part in done.stdout.strip().split("\n\n")]
    assert answers[1] == {"proofStatus": "Completed", "proofState": 1, "goals": []}


@pytest.mark.nightly
def test_checking_files_exits_with_one_on_errors(tmp_path):
    good, bad = tmp_path / "good.lean", tmp_path / "bad.lean"
    good.write_text("theorem t : 1 = 1 := rfl\n")
    bad.write_text("theorem t : 1 = 1 := rfl\n\ntheorem u : 1 = 2 := rfl\n")
    command = [sys.executable, "-m", "nanolean", "check"]
    done = subprocess.run([*command, str(good), str(bad)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert f"{bad}:3:21: error: " in done.stdout
    missing = subprocess.run([*command, str(tmp_path / "none.lean")], capture_output=True, text=True, timeout=120)
    assert missing.returncode == 2 and missing.stderr.startswith("error: cannot read")
