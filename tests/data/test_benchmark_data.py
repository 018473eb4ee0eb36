"""The data benchmark: its plain ways give what ours give, and its made-up LeanTree data are what they claim to be."""

import json
from pathlib import Path

import pytest

from benchmarks.data import DataBenchmark, measure_tokens, measure_transitions
from benchmarks.leantree_text import write_leantree
from nanolean.data.replay import read_statement
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.data.transitions.leantree import read_transitions

SMALL = DataBenchmark(megabytes=0.3, text_megabytes=0.1, repeats=1, steady_megabytes=0.3)
FIELDS = {"name", "ratio", "ours", "baseline", "unit", "hardware", "details"}


@pytest.mark.nightly
def test_both_ways_of_reading_give_the_same_transitions(tmp_path: Path) -> None:
    result = measure_transitions(SMALL, tmp_path)  # it checks them
    assert set(result) == FIELDS
    assert result["details"]["transitions"] == result["details"]["steady"]["transitions"] > 200
    assert not (tmp_path / "steady.jsonl").exists()


@pytest.mark.nightly
def test_both_ways_of_encoding_give_the_same_tokens(tmp_path: Path) -> None:
    result = measure_tokens(SMALL, tmp_path)  # it checks them
    assert set(result) == FIELDS and result["details"]["tokens"] > 20_000


def test_made_up_leantree_data_follow_from_the_seed_and_all_of_it_is_read(tmp_path: Path) -> None:
    first, again, other = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
    for path, seed in ((first, 1), (again, 1), (other, 2)):
        assert write_leantree(path, 200_000, seed) == path.stat().st_size >= 200_000
    assert first.read_bytes() == again.read_bytes() != other.read_bytes()
    theorems = [theorem for line in first.read_text("utf-8").splitlines() for theorem in json.loads(line)["theorems"]]
    nodes = [node for theorem in theorems for node in theorem["by_blocks"][0]["tree"]["nodes"]]
    assert [t.depth for t in read_transitions(first)] == [node["proof_depth"] for node in nodes]
    assert any(len(node["tactic"]["children"]) == 2 for node in nodes)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("file", "statements"),
    [
        ("exercises_more", 108),
        ("exercises_course", 72),
        ("exercises_textbook_1", 90),
        ("exercises_textbook_2", 48),
        ("exercises_textbook_3", 45),
        ("exercises_textbook_4", 60),
    ],
)
def test_the_exercises_to_measure_steps_on_are_statements_that_elaborate(file: str, statements: int) -> None:
    text = (REPO_ROOT / "data" / "nanolean" / f"{file}.lean").read_text(encoding="utf-8")
    result = read_statement(text)
    assert not result.has_errors
    assert len(result.sorries) == statements
