"""`python -m scripts.prove`, with a scripted Lean and policy in place of server and network."""

import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.lean.lean_file import PLACEHOLDER
from nanoproof.lean.types import Branch, CheckReport, ServerUnavailable, Theorem, TheoremRejected
from scripts import interact, prove
from tests.fakes.lean import ScriptedLean, branch, crash
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.helpers import page_data

ALONE = ("--search-finishers", "none")
SCRIPT = {"A": {"intro h": ["B"]}, "B": {"exact h": []}}


@pytest.fixture
def lean(monkeypatch: pytest.MonkeyPatch) -> ScriptedLean:
    lean = ScriptedLean(dict(SCRIPT))
    policy = ScriptedPolicy({state: [suggestion(list(tactics))] for state, tactics in SCRIPT.items()})

    @contextmanager
    def session(*_: Any) -> Iterator[ScriptedLean]:
        yield lean

    @contextmanager
    def open_suggesting(*_: Any, **__: Any) -> Iterator[ScriptedPolicy]:
        yield policy

    monkeypatch.setattr(prove, "open_session", session)
    monkeypatch.setattr(prove, "open_suggesting", open_suggesting)
    return lean


def test_a_proof_is_printed_with_its_tree_and_written(
    lean: ScriptedLean, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "foo.lean"
    assert prove.main(["theorem foo : A := by sorry", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "✓ ⊢ A" in printed and "intro h → ⊢ B" in printed
    assert "proven in 2 tactics" in printed and "2 simulations" in printed
    assert printed.count("theorem foo : A := by\n  intro h\n  exact h") == 1
    assert out.read_text() == "theorem foo : A := by\n  intro h\n  exact h\n"


def test_solver_tactics_are_tried_before_the_network_is_asked(
    lean: ScriptedLean, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lean.script["A"] = {"omega": [], "intro h": ["B"]}
    asked: list[str] = []

    def suggest(self: ScriptedPolicy, state: str, seed: int = 0) -> object:
        asked.append(state)
        return suggestion(["intro h" if state.endswith("A") else "exact h"])

    monkeypatch.setattr(ScriptedPolicy, "suggest", suggest)
    assert prove.main(["theorem foo : A"]) == 0
    assert "proven in 1 tactic" in capsys.readouterr().out and asked == []
    assert prove.main(["theorem foo : A", *ALONE]) == 0
    assert asked == ["⊢ A", "⊢ B"]
    lean.script["A"] = {"intro h": ["B"]}  # where they do not help, the network goes on
    assert prove.main(["theorem foo : A"]) == 0
    assert "proven in 2 tactics" in capsys.readouterr().out and asked[2:] == ["⊢ A", "⊢ B"]


def test_what_is_not_proven_exits_with_1_and_writes_nothing(
    lean: ScriptedLean, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lean.script["B"] = {}
    out = tmp_path / "foo.lean"
    assert prove.main(["theorem foo : A", "--num-simulations", "5", "--out", str(out)]) == 1
    assert "not proven: no proof found; 5 simulations" in capsys.readouterr().out
    assert not out.exists()


def test_a_proof_that_cannot_be_written_is_printed_and_ends_with_one_line(
    lean: ScriptedLean, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"^cannot write --out .*foo\.lean"):
        prove.main(["theorem foo : A", "--out", str(tmp_path / "file" / "foo.lean")])
    assert "theorem foo : A := by\n  intro h\n  exact h" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_printed(
    lean: ScriptedLean, file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(UserError, match=r"^cannot write --out .*foo\.lean"):
        prove.main([str(file), "--out", str(tmp_path / "taken" / "foo.lean")])
    assert "foo : A := by\n  intro h\n  exact h" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"), [(".", "is a folder: python -m nanoproof.repos prove"), ("no/such.txt", "no such file")]
)
def test_a_path_is_no_theorem(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        prove.main([text])


def test_a_refused_statement_ends_with_one_line_and_its_place(lean: ScriptedLean) -> None:
    lean.root = None
    with pytest.raises(UserError, match=r"^scripted refusal of the statement$"):
        prove.main(["theorem foo : A"])
    lean.report = CheckReport(("who is\nB?", "who is A?"), 0, (), error_positions=((2, 0), (1, 14)))
    with pytest.raises(UserError, match=r"^line 1, column 14: who is A\?$"):
        prove.main(["theorem foo : A"])


def test_a_lost_server_is_no_unproven_theorem(lean: ScriptedLean) -> None:
    lean.crashes = {1: crash()}
    with pytest.raises(UserError, match="scripted crash"):
        prove.main(["theorem foo : A"])


FILE = """\
import Mathlib

theorem foo : A := by sorry

theorem two : Nat := sorry

theorem bar : A ∧ A := ⟨sorry, foo⟩
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.lean"
    path.write_text(FILE)
    return path


def test_the_sorries_of_a_file_are_proved_in_their_places(
    lean: ScriptedLean, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove.main([str(file)]) == 0
    printed = capsys.readouterr().out
    assert "line 3 foo  proved in 2 tactics (2 simulations" in printed and "3 of 3 proved\n" in printed
    assert "as a whole" not in printed
    done = (file.parent / "some.proved.lean").read_text()
    assert done.startswith("import Mathlib\n\ntheorem foo : A := by\n  intro h\n  exact h\n\n")
    assert "theorem bar : A ∧ A := ⟨(by\n  intro h\n  exact h), foo⟩" in done
    assert file.read_text() == FILE


def test_line_ends_of_a_file_stay_as_they_are(lean: ScriptedLean, file: Path) -> None:
    file.write_bytes(FILE.replace("\n", "\r\n").encode())
    assert prove.main([str(file)]) == 0
    done = (file.parent / "some.proved.lean").read_bytes()
    assert b"foo : A := by\r\n  intro h\r\n  exact h\r\n" in done and done.count(b"\n") == done.count(b"\r\n")


def test_a_file_that_is_not_all_proved_exits_with_1_and_holds_what_is(
    lean: ScriptedLean, file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file.write_text(FILE.replace("theorem two", "def two"))
    lean.report = lambda source: CheckReport((), source.count("sorry"), ())
    assert prove.main([str(file), "--out", str(tmp_path / "out.lean")]) == 1
    printed = capsys.readouterr().out
    assert "line 5 two  left alone: it is in the def two" in printed and "2 of 3 proved, 1 left in the file" in printed
    assert "def two : Nat := sorry" in (tmp_path / "out.lean").read_text()


def test_a_file_is_written_though_nobody_reads_what_is_printed(
    lean: ScriptedLean, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as stdout:
        monkeypatch.setattr("sys.stdout", stdout)
        assert prove.main([str(file)]) == 0
    assert "sorry" not in (file.parent / "some.proved.lean").read_text()


def test_a_proof_that_breaks_the_file_is_not_kept(
    lean: ScriptedLean, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def report(source: str) -> CheckReport:
        broken = "⟨(by" in source and "nanoproof" not in source
        return CheckReport(("no such place",) if broken else (), source.count("sorry"), ())

    lean.report = report
    assert prove.main([str(file)]) == 1
    assert "line 7 bar  not proved: the proof does not fit into the file: no such place" in capsys.readouterr().out
    assert "⟨sorry, foo⟩" in (file.parent / "some.proved.lean").read_text()


def test_a_sorry_that_nothing_can_stand_in_for_is_named_where_it_matters(
    lean: ScriptedLean, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def report(source: str) -> CheckReport:
        refused = re.search(rf"two : Nat := (exact )?{PLACEHOLDER}", source) is not None
        return CheckReport(("neither term nor tactic",) if refused else (), source.count("sorry"), ())

    def start(theorem: Theorem) -> Branch:
        if report(theorem.source).errors:
            raise TheoremRejected("a mistake somewhere")
        return branch("A")

    lean.report = report
    monkeypatch.setattr(lean, "start", start)
    assert prove.main([str(file)]) == 0, "what is proved itself needs nothing to stand in for it"
    file.write_text(FILE.replace("theorem two", "def two"))
    assert prove.main([str(file)]) == 1
    printed = capsys.readouterr().out
    reason = "nothing can stand in for the sorry of line 5, column 17: neither term nor tactic"
    assert f"line 7 bar  not proved: {reason}" in printed


def test_a_file_that_rests_on_a_foreign_axiom_is_not_called_proved(
    lean: ScriptedLean, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lean.report = lambda source: CheckReport((), 0, ("propext",) if "nanoproof" in source else ("sorryAx", "propext"))
    assert prove.main([str(file)]) == 1
    assert "but the file rests on sorryAx" in capsys.readouterr().out


def test_a_lost_server_keeps_what_was_proved_before_and_says_that_no_one_read_the_whole(
    lean: ScriptedLean, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lean.crashes = {5: crash()}
    with pytest.raises(UserError, match="scripted crash"):
        prove.main([str(file), "--no-proof-simplification", *ALONE])
    assert "and not yet as a whole" in capsys.readouterr().out
    assert "theorem foo : A := by\n  intro h" in (file.parent / "some.proved.lean").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [("theorem t : p := rfl", "holds no sorry"), (None, "cannot read"), (b"\xff", "is not UTF-8 text")],
)
def test_a_file_without_anything_to_prove_is_refused(tmp_path: Path, text: str | bytes | None, message: str) -> None:
    path = tmp_path / "x.lean"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=message):
        prove.main([str(path)])


def test_the_negation_is_proved_where_that_is_asked_for(
    lean: ScriptedLean, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove.main(["theorem foo : A", "--disprove"]) == 0
    printed = capsys.readouterr().out
    assert "disproven in 2 tactics" in printed and "theorem foo_negated : ¬ (A) := by\n  intro h" in printed
    with pytest.raises(UserError, match=r"^--disprove takes a theorem, not a file$"):
        prove.main([str(file), "--disprove"])


def test_theorems_are_typed_one_after_the_other(
    lean: ScriptedLean, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    lines = iter(["theorem foo :", "A", "", "what is this : A", "theorem bar (h :", KeyboardInterrupt, "example : A"])

    def typed(prompt: str) -> str:
        line = next(lines, EOFError)
        if isinstance(line, type):
            raise line
        return line

    monkeypatch.setattr("builtins.input", typed)
    assert prove.main(["--out", str(tmp_path / "all.lean")]) == 0
    printed = capsys.readouterr().out
    assert printed.count("proven in 2 tactics") == 2 and "error: the theorem has a syntax error" in printed
    assert (tmp_path / "all.lean").read_text().startswith("theorem foo :\nA := by\n  intro h\n  exact h\n\nexample")


def test_ctrl_c_ends_the_search_and_prints_what_there_is(
    lean: ScriptedLean, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = lean.apply

    def interrupted(*args: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return run(*args)

    monkeypatch.setattr(lean, "apply", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    assert prove.main(["theorem foo : A", *ALONE]) == 130
    printed = capsys.readouterr().out
    assert "· ⊢ A  [N=1" in printed and "not proven: no proof found (stopped); 1 simulation," in printed
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_search_that_runs_out_of_time_does_not_end_the_file(
    lean: ScriptedLean, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove.main([str(file), "--max-seconds", "1e-9"]) == 1
    assert capsys.readouterr().out.count("not proved: no proof found") == 3


def test_the_page_of_trees_holds_every_search(lean: ScriptedLean, file: Path, tmp_path: Path) -> None:
    page = tmp_path / "tree.html"
    assert prove.main([str(file), "--html", str(page)]) == 0
    titles = [search["title"] for search in page_data(page.read_text())["searches"]]
    assert len(titles) == 3 and any("bar, line 7, column 24" in title for title in titles)


def test_a_theorem_of_a_data_set_is_found_by_its_id(
    lean: ScriptedLean, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    theorems = [Theorem("theorem foo : A := by sorry", "nanolean", "some.id")]
    asked: list[str] = []

    def listed(name: str, split: str) -> list[Theorem]:
        asked.append(split)
        return theorems if split == "valid" else []

    monkeypatch.setattr(prove, "list_theorems", listed)
    assert prove.main(["--dataset", "nanolean", "--id", "some.id"]) == 0
    assert "train" not in asked  # that split has to be made first
    assert "proven in 2 tactics" in capsys.readouterr().out
    with pytest.raises(UserError, match=r"no theorem some\.ids in nanolean \(did you mean some\.id\?"):
        prove.main(["--dataset", "nanolean", "--id", "some.ids"])


def test_a_long_theorem_on_one_line_is_no_file(lean: ScriptedLean) -> None:
    hypotheses = " ".join(f"(h{i} : A)" for i in range(50))
    assert prove.main([f"theorem foo {hypotheses} : A"]) == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--num-simulations", "0"], "--num-simulations must be >= 1, got 0"),
        (["--search-gamma", "2"], "--search-gamma must be <= 1, got 2.0"),
        (["--policy", "model"], "--policy model needs --model-path"),
        (["--policy-server", "x:1", "--policy", "uniform"], "--policy-server suggests tactics in place of --policy"),
        (["--dataset", "nanolean"], "--dataset and --id go together"),
    ],
)
def test_options_out_of_range_are_refused_in_one_line(lean: ScriptedLean, flags: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message.replace(".", r"\.")):
        prove.main(["theorem foo : A", *flags])


def test_unknown_flags_exit_with_2(lean: ScriptedLean, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        prove.main(["theorem foo : A", "--simulations", "3"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("error: unrecognized arguments")


@pytest.mark.parametrize("command", [prove.main, interact.main])
def test_a_lean_server_that_says_nothing_is_named_in_seconds(
    monkeypatch: pytest.MonkeyPatch, command: Callable[[list[str]], int]
) -> None:
    monkeypatch.setattr("nanoproof.lean.client._STATUS_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        theorem = ["theorem t : True"] if command is prove.main else []
        with pytest.raises(ServerUnavailable, match=f"{address} did not answer /status"):
            command([*theorem, "--lean-servers", address, "--policy", "uniform"])
