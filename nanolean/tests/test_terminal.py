"""The session at the terminal: step by step, in a pipe, and on a terminal."""

import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nanolean import system
from nanolean.library.loader import cache_path
from nanolean.system import UserError, with_deep_stack
from nanolean.tests.library import base
from nanolean.tools.check import check_files
from nanolean.tools.terminal import Session

COMMAND = [sys.executable, "-m", "nanolean"]


def talk(*lines: str) -> list[str]:
    session = Session(base())
    return [session.enter(line) for line in lines]


def test_a_proof_is_made_step_by_step():
    answers = talk("theorem t (p q : Prop) : p ∧ q → q ∧ p", "intro h", "exact ⟨h.2, h.1⟩", "#check t")
    assert answers[0] == "p q : Prop\n⊢ p ∧ q → q ∧ p"
    assert answers[1] == "p q : Prop\nh : p ∧ q\n⊢ q ∧ p"
    assert answers[2] == "no goals: the proof is complete and checked"
    assert answers[3] == "t (p q : Prop) : p ∧ q → q ∧ p"


def test_goals_are_separated_by_empty_lines():
    assert talk("example (p q : Prop) (hp : p) (hq : q) : p ∧ q", "constructor")[1].count("\n\n") == 1


def test_a_theorem_may_take_several_lines():
    answers = talk("theorem t (n : Nat) :", "  n = n := by", "rfl")
    assert answers == ["", "n : Nat\n⊢ n = n", "no goals: the proof is complete and checked"]


def test_a_tactic_may_take_several_lines_and_ends_with_an_empty_one():
    answers = talk(
        "theorem t (n : Nat) : 0 + n = n",
        "induction n with",
        "| zero => rfl",
        "| succ n ih =>",
        "  rw [Nat.zero_add]",
        "",
    )
    assert answers[1:5] == [""] * 4
    assert answers[5] == "no goals: the proof is complete and checked"


def test_a_refused_tactic_changes_nothing():
    answers = talk("theorem t (p q : Prop) (h : p) : q", "exact h", "goals")
    assert answers[1].startswith("error: Type mismatch")
    assert answers[2] == answers[0]


def test_undo_takes_the_last_tactic_back_and_then_leaves():
    answers = talk("theorem t (p q : Prop) : p → q → p", "intro h", "undo", "undo", "undo")
    assert answers[2] == answers[0]
    assert answers[3:] == ["left the proof", "no proof at hand"]


def test_history_and_proof_show_the_tactics():
    answers = talk("theorem t (p q : Prop) : p → q → p", "intro hp", "intro hq", "history", "proof")
    assert answers[3] == "1. intro hp\n2. intro hq"
    assert answers[4] == "theorem t (p q : Prop) : p → q → p := by\n  intro hp\n  intro hq"


def test_a_proof_with_sorry_is_not_complete():
    answers = talk("theorem t : 1 = 2", "sorry", "#check t", "undo")
    assert "contains sorry" in answers[1]
    assert answers[2].startswith("error:")
    assert answers[3] == "⊢ 1 = 2"


def test_a_theorem_that_is_wrong_starts_no_proof():
    answers = talk("theorem t : no.sense = 1", "goals")
    assert "no.sense`" in answers[0]
    assert answers[1] == "no proof at hand"


def test_other_commands_run_at_once():
    assert talk("def two := 2", "example : two = 2 := rfl", "#print axioms two") == [
        "",
        "",
        "'two' does not depend on any axioms",
    ]


def test_the_session_is_exported_as_a_file_that_checks(tmp_path):
    file = tmp_path / "out.lean"
    answers = talk(
        "def two := 2",
        "theorem t : two = 2",
        "rfl",
        "theorem u : two = 2",
        f"export {file}",
        "exact t",
        f"export {file}",
    )
    assert answers[-1] == f"wrote {file}"
    text = file.read_text(encoding="utf-8")
    assert "Declarations: t, u." in text
    assert check_files([file]) == 0


def test_nothing_is_exported_before_something_is_proved(tmp_path):
    file = tmp_path / "out.lean"
    assert talk(f"export {file}")[0].startswith("nothing to export")
    assert not file.exists()


def test_words_of_the_session_are_tactics_with_arguments():
    assert "unknown" in talk("theorem t : 1 = 1", "goals 3")[1]


def test_cancelling_forgets_lines_that_are_not_complete():
    session = Session(base())
    session.enter("theorem t (n : Nat) :")
    session.cancel()
    assert session.enter("#check Nat") == "Nat : Type"


def run_session(lines: Sequence[str]) -> str:
    done = subprocess.run(
        [*COMMAND, "repl"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.stderr == ""
    return done.stdout


def test_a_session_works_in_a_pipe():
    out = run_session(["theorem t (p : Prop) (h : p) : p", "exact h", "help", "quit", "never read"])
    assert out.startswith("p : Prop\nh : p\n⊢ p\nno goals: the proof is complete and checked\n")
    assert "nanolean>" not in out and "undo" in out


def test_the_end_of_the_input_ends_the_last_tactic():
    out = run_session(["theorem t (n : Nat) : n = n", "cases n with", "| zero => rfl", "| succ n => rfl"])
    assert out.endswith("no goals: the proof is complete and checked\n")


class Terminal:
    """A session on a pseudo terminal."""

    def __init__(self, home: Path) -> None:
        env = {**os.environ, "NANOPROOF_HOME": str(home), "TERM": "dumb", "PYTHONUTF8": "1"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(sys.executable, [*COMMAND, "repl"], env)

    def until(self, text: str, seconds: float = 60) -> str:
        seen = ""
        deadline = time.monotonic() + seconds
        while text not in seen:
            if not select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"waited for {text!r}, got {seen!r}")
            try:
                seen += os.read(self.fd, 4096).decode(errors="replace")
            except OSError:
                raise AssertionError(f"ended before {text!r}: {seen!r}") from None
        return seen

    def send(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def interrupt(self, text: str) -> None:
        """Ctrl-C, again where the terminal swallowed it: what is typed before readline is ready can get lost."""
        while True:
            self.send("\x03")
            if select.select([self.fd], [], [], 10)[0]:
                self.until(text)
                return

    def close(self) -> None:
        os.close(self.fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def test_a_session_works_on_a_terminal_and_keeps_its_history(tmp_path):
    base()
    (tmp_path / "cache").symlink_to(cache_path().parent)
    terminal = Terminal(tmp_path)
    try:
        terminal.until("nanolean> ")
        terminal.send("theorem t (n : Nat) :\n")
        terminal.until("... ")
        terminal.interrupt("nanolean> ")
        terminal.send("theorem t (n : Nat) : n = n\n")
        terminal.until("⊢ n = n")
        terminal.send("rfl\n")
        terminal.until("complete and checked")
        terminal.send("quit\n")
        deadline = time.monotonic() + 30
        while not (tmp_path / "nanolean_history").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "theorem t (n : Nat) : n = n" in (tmp_path / "nanolean_history").read_text(encoding="utf-8")
    finally:
        terminal.close()


def test_ctrl_c_ends_the_work_itself():
    ended = []

    def work() -> None:
        try:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            while True:
                time.sleep(0.001)
        except KeyboardInterrupt:
            ended.append(True)
            raise

    with pytest.raises(KeyboardInterrupt):
        with_deep_stack(work, interruptible=True)
    assert ended == [True]


def test_a_stack_that_a_limit_leaves_no_room_for_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "STACK_BYTES", 1 << 50)
    with pytest.raises(UserError, match="ulimit -v"):
        with_deep_stack(lambda: None)
    assert threading.stack_size() == 0
