"""Some thousand random and mutated inputs end with an answer or a typed error; `fuzz.py` runs more of them."""

from functools import cache

import pytest

from nanolean.kernel.budget import allow_deep_recursion
from nanolean.kernel.expr import node_count
from nanolean.tests.fuzz import Corpus, Fuzzer, main
from nanolean.tests.library import sized

COUNT = sized(800)


@cache
def corpus() -> Corpus:
    return Corpus()


@pytest.fixture
def fuzzer(request) -> Fuzzer:
    allow_deep_recursion()
    return Fuzzer(seed=1, corpus=corpus())


@pytest.mark.parametrize("part", range(4))
def test_no_input_crashes(fuzzer, part):
    fuzzer.run(part * COUNT, COUNT)
    assert fuzzer.report.count == COUNT
    assert not fuzzer.report.crashes, fuzzer.report.crashes[0]


def test_inputs_reach_every_part_of_the_prover(fuzzer):
    fuzzer.run(100_000, COUNT)
    answers = fuzzer.report.answers
    for expected in ("command: accepted", "command: refused", "parse: accepted", "step: Incomplete", "step: refused"):
        assert answers[expected] > 0, answers


def test_an_input_can_be_run_again_by_its_number():
    one, two = Fuzzer(seed=3, corpus=corpus()), Fuzzer(seed=3, corpus=corpus())
    # The slowest are on record: of so few inputs some are those that both have run, whatever takes how long.
    one.run(48, 12)
    two.run(50, 10)
    texts = {number: text for _, number, text in one.report.slowest}
    again = {number: text for _, number, text in two.report.slowest}
    assert set(texts) & set(again)
    assert all(texts[number] == again[number] for number in set(texts) & set(again))


def test_terms_that_inputs_leave_behind_are_swept(fuzzer):
    fuzzer.run(200_000, 150)
    fuzzer.forget()
    before = node_count()
    fuzzer.run(300_000, 300)
    fuzzer.forget()
    assert node_count() < 1.1 * before + 2_000


@pytest.mark.nightly
def test_the_program_says_what_it_found(capsys):
    assert main(["--count", "40", "--seed", "5"]) == 0
    printed = capsys.readouterr().out
    assert "40 inputs" in printed and "0 crashes" in printed and "MiB" in printed
