"""What is shown while a search runs."""

import io

import pytest

from nanoproof.prover import interactive
from nanoproof.prover.interactive import LiveView, best_line
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node
from nanoproof.search.search import search
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion

SCRIPT = {"A": {"split": ["B", "C"]}, "B": {"exact b": []}, "C": {"step": ["D"]}}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def grown(simulations: int) -> tuple[Node, SearchLog]:
    root, log = or_node(branch("A")), SearchLog()
    policy = ScriptedPolicy({state: [suggestion(list(tactics), value=2.0)] for state, tactics in SCRIPT.items()})
    search(root, policy, ScriptedLean(SCRIPT), SearchConfig(), simulations, log)
    return root, log


def test_the_best_line_follows_the_open_branch() -> None:
    assert best_line(or_node(branch("A"))) == "⊢ A"
    assert best_line(grown(4)[0]) == "split ▸ [1 of 2 branches done] ▸ step ▸ ⊢ D"


def test_a_terminal_has_two_lines_that_change_in_place_and_go_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interactive, "_TERMINAL_SECONDS", 0.0)
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    with LiveView(64, stream) as view:
        view.update()  # nothing to show yet
        view.begin(*grown(2))
        view.update()
        view.update()
    shown = stream.getvalue()
    assert "  2/64 simulations, 5 nodes, about " in shown and "tactics to go" in shown
    assert shown.count("simulations") == 2 and shown.count("\x1b[2A") == 2 and shown.endswith("\x1b[2A\x1b[J")


def test_elsewhere_there_is_a_plain_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    with LiveView(64, stream) as view:
        view.begin(*grown(2))
        view.update()
        assert stream.getvalue() == ""
        monkeypatch.setattr(interactive, "_PLAIN_SECONDS", 0.0)
        view.update()
    assert stream.getvalue().startswith("2/64 simulations") and stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()
