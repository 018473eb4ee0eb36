"""The prompt of `scripts.interact`: lines in, texts out, over a scripted Lean and policy."""

import io
from pathlib import Path
from typing import Any

import pytest

from nanoproof.lean.types import CheckReport
from nanoproof.prover.console import Console
from nanoproof.search.policy import PolicyError, Suggestion
from scripts import interact
from tests.fakes.lean import ScriptedLean, crash
from tests.fakes.policy import ScriptedPolicy, suggestion

SCRIPT = {"A": {"split": ["B", "C"], "slow": "timeout"}, "B": {"exact b": []}, "C": {"exact c": []}}
START = "theorem foo : A"


@pytest.fixture
def lean() -> ScriptedLean:
    return ScriptedLean(SCRIPT)


@pytest.fixture
def console(lean: ScriptedLean) -> Console:
    answers = {"A": [suggestion(["no", "split"], value=2.5, logprobs=[-3.0, -0.5], counts=[1, 4])]}
    return Console(ScriptedPolicy({**answers, "B": [suggestion(["exact b"])]}), lean)


def lines_of(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_theorem_shows_its_goal_and_tactics_likeliest_first_with_leans_word(console: Console) -> None:
    shown = lines_of(console.enter(START))
    assert shown == [
        "⊢ A",
        "",
        "# tactic logprob count Lean",
        "1 split -0.50 4 ✓ ⊢ B | ⊢ C",
        "2 no -3.00 1 ✗ scripted: reject",
        "value: about 2.5 tactics to go",
    ]


def test_a_theorem_may_take_several_lines_and_be_forgotten(console: Console) -> None:
    assert console.enter("theorem foo (h :") == "" and console.prompt == "... "
    console.forget()
    assert console.enter("theorem foo :") == ""
    assert console.enter("A").startswith("⊢ A")


def test_tactics_are_applied_by_number_and_by_text_until_the_proof_is_checked(
    console: Console, lean: ScriptedLean
) -> None:
    console.enter(START)
    assert console.enter("1").startswith("⊢ B\n(1 more branches are open)")
    assert console.enter("exact b").startswith("⊢ C\n")
    done = console.enter("exact c")
    assert done.startswith("no goals: the proof is complete and checked")
    assert "theorem foo : A := by\n  split\n  · exact b\n  · exact c" in done and lean.checked


def test_what_is_refused_changes_nothing(console: Console) -> None:
    console.enter(START)
    assert console.enter("rfl") == "rejected: scripted: reject"
    assert console.enter("slow") == "timeout: scripted: timeout"
    assert console.enter("7") == "error: there is no tactic 7; 2 are shown"
    assert console.enter(":goals") == "⊢ A"


def test_undo_goes_back_one_tactic_and_takes_back_a_finished_proof(console: Console, tmp_path: Path) -> None:
    for line in (START, "1", "exact b", "exact c"):
        console.enter(line)
    assert console.enter(":undo").startswith("⊢ C")
    assert console.enter(f":export {tmp_path / 'x.lean'}") == "error: nothing has been proved yet"
    assert console.enter(":undo").startswith("⊢ B") and console.enter(":undo").startswith("⊢ A")
    assert console.enter(":undo") == "left the proof" and console.theorem is None


def test_help_and_quit_are_understood_without_a_colon(console: Console) -> None:
    assert console.enter("help") == console.enter(":help")
    console.enter(START)
    assert console.enter("help") == console.enter(":help") and not console.over
    console.enter("exit")
    assert console.over


def test_the_tree_shows_what_was_done_and_what_is_open(console: Console) -> None:
    for line in (START, "1", "exact b"):
        console.enter(line)
    assert console.enter(":tree").splitlines() == ["⊢ A   split", "  ⊢ B   exact b", "  ⊢ C   open"]
    assert console.enter(":proof") == "split\nexact b"


def test_proofs_are_exported_one_after_the_other(console: Console, tmp_path: Path) -> None:
    for name in ("foo", "bar"):
        for line in (f"theorem {name} : A", "split", "exact b", "exact c", ":new"):
            console.enter(line)
    assert console.enter(f":export {tmp_path / 'x.lean'}") == f"wrote {tmp_path / 'x.lean'}"
    text = (tmp_path / "x.lean").read_text()
    assert text.startswith("theorem foo : A := by\n  split") and "\n\ntheorem bar : A := by" in text


def test_a_text_that_lean_refuses_in_the_end_is_not_called_proved(console: Console, lean: ScriptedLean) -> None:
    lean.report = CheckReport(("no",), 0, ())
    for line in (START, "1", "exact b"):
        console.enter(line)
    assert "no goals, but the whole text is refused: Lean refuses the finished text: no" in console.enter("exact c")
    assert console.proved == []


def test_after_a_finished_proof_there_is_no_state_to_ask_about(console: Console) -> None:
    for line in (START, "split", "exact b", "exact c"):
        console.enter(line)
    for line in (":value", ":more"):
        assert console.enter(line) == "error: there is no state at hand; type one, or a theorem"
    assert console.enter(":goals") == "no goals" and console.proved


def test_a_value_that_the_policy_has_not_given_yet_is_one_line(console: Console) -> None:
    class Refusing(ScriptedPolicy):
        def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
            raise PolicyError("scripted")

    ask, console.policy = console.policy, Refusing({})
    assert console.enter(START) == "error: scripted"
    assert console.enter(":value") == "error: the policy has not answered yet; :more asks it again"
    console.policy = ask
    assert "tactics to go" in console.enter(":more")


def test_a_state_can_be_asked_about_without_lean(console: Console) -> None:
    console.session = None
    assert console.enter("h : p") == ""
    assert lines_of(console.enter("⊢ A"))[:2] == ["# tactic logprob count", "1 split -0.50 4"]
    assert console.enter(START) == "error: there is no Lean here to start a theorem; a state can be asked about"


def test_asking_for_more_asks_the_policy_with_another_seed(console: Console) -> None:
    seeds = []
    ask = console.policy.suggest
    console.policy.suggest = lambda state, seed=0: seeds.append(seed) or ask(state, seed)  # type: ignore[method-assign]
    for line in ("⊢ A", ":more", ":more"):
        console.enter(line)
    assert seeds == [0, 1, 2]


def test_the_value_is_shown_with_its_distribution(console: Console) -> None:
    found = suggestion(["x"], value=1.75)
    object.__setattr__(found, "value_distribution", (0.25, 0.75, 0.0))
    console.policy = ScriptedPolicy({}, default=found)
    console.enter("⊢ A")
    assert lines_of(console.enter(":value")) == [
        "about 1.75 tactics to go",
        f"1 25.0% {'█' * 10}",
        f"2 75.0% {'█' * 30}",
    ]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (":nonsense", "error: there is no :nonsense; :help says what there is"),
        (":more", "error: there is no state at hand; type one, or a theorem"),
        (":undo", "error: there is no proof at hand; a theorem starts one"),
        (":raw", "error: there is no model here that continues text; give --model-path"),
        (":export", "error: :export needs the name of a file"),
        ("", ""),
    ],
)
def test_what_does_not_work_is_one_line(console: Console, line: str, answer: str) -> None:
    assert console.enter(line) == answer


def test_a_lost_server_is_one_line_and_the_proof_is_still_there(console: Console, lean: ScriptedLean) -> None:
    console.enter(START)
    lean.crashes = {lean.calls + 1: crash()}
    assert console.enter("split") == "error: scripted crash"
    assert console.enter("split").startswith("⊢ B")


def test_raw_text_is_continued_until_raw_is_said_again(console: Console) -> None:
    console.continue_text = lambda text: text[::-1]
    console.enter(":raw")
    assert console.enter("theorem") == "meroeht" and console.prompt == "text> "
    assert console.enter(":raw") == "back to tactics"


def test_the_script_reads_a_pipe_to_its_end(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("h : p\n⊢ p\n:quit\nnever read\n"))
    assert interact.main(["--policy", "solver-only", "--no-lean"]) == 0
    printed = capsys.readouterr().out
    assert "tactic> " not in printed and "assumption" in printed and "error" not in printed
