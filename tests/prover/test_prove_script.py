"""`python -m scripts.prove`, with a scripted Lean and policy in place of server and network."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from scripts import prove
from tests.fakes.lean import ScriptedLean, crash
from tests.fakes.policy import ScriptedPolicy, suggestion

SCRIPT = {"A": {"intro h": ["B"]}, "B": {"exact h": []}}


@pytest.fixture
def lean(monkeypatch: pytest.MonkeyPatch) -> ScriptedLean:
    lean = ScriptedLean(dict(SCRIPT))
    policy = ScriptedPolicy({state: [suggestion(list(tactics))] for state, tactics in SCRIPT.items()})

    @contextmanager
    def session(*_: Any) -> Iterator[ScriptedLean]:
        yield lean

    @contextmanager
    def open_policy(*_: Any) -> Iterator[ScriptedPolicy]:
        yield policy

    monkeypatch.setattr(prove, "open_session", session)
    monkeypatch.setattr(prove, "open_policy", open_policy)
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


def test_a_refused_statement_ends_with_one_line(lean: ScriptedLean) -> None:
    lean.root = None
    with pytest.raises(UserError, match=r"^scripted refusal of the statement$"):
        prove.main(["theorem foo : A"])


def test_a_lost_server_is_no_unproven_theorem(lean: ScriptedLean) -> None:
    lean.crashes = {1: crash()}
    with pytest.raises(UserError, match="scripted crash"):
        prove.main(["theorem foo : A"])


@pytest.mark.parametrize(
    "text",
    [
        "theorem foo : A",
        "theorem foo : A :=",
        "  theorem foo : A := by\n",
        "theorem foo : A := by sorry",
    ],
)
def test_a_missing_sorry_is_added(text: str) -> None:
    assert prove.theorem_of(text, embedded=True).source == "theorem foo : A := by sorry"


TWO = "theorem foo : A := by sorry\ntheorem bar : B := by sorry"


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize("text", ["", "A → A", "theorem : A", "theorem foo : A := by simp; sorry", TWO])
def test_what_is_not_one_theorem_is_refused_in_one_line(text: str, embedded: bool) -> None:
    with pytest.raises(UserError) as error:
        prove.theorem_of(text, embedded)
    assert "\n" not in str(error.value)


def test_a_syntax_error_is_refused_with_its_place() -> None:
    with pytest.raises(UserError, match=r"^the theorem has a syntax error at line 2, column 14: unexpected token"):
        prove.theorem_of("theorem t\n    (p : Prop : p := by sorry", embedded=True)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--num-simulations", "0"], "prove.num_simulations must be >= 1, got 0"),
        (["--search-gamma", "2"], "search.gamma must be <= 1, got 2.0"),
        (["--policy", "model"], "--policy model needs --model-path"),
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
