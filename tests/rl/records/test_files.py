"""Rotating files and the tree store: bounded, and no reason for a run to stop."""

import random

import pytest

from nanoproof.actors.tasks import Trace
from nanoproof.common.errors import UserError
from nanoproof.lean.types import Theorem
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.rl import records
from nanoproof.rl.records import RotatingJsonl, TreeStore, kept_trees, older_part, read_tree, tree_file
from nanoproof.search.config import SearchConfig
from nanoproof.search.tree_json import tree_from_json, tree_to_json
from tests.fakes.lean import ScriptedLean
from tests.rl.records.both_parts import both_parts
from tests.rl.small import SCRIPT, policy


@pytest.fixture
def searched():
    trace = Trace()
    prover = Prover(policy(), SearchConfig(), ProverOptions(keep_tree=False))
    theorem = Theorem("theorem t : True := by sorry", "scripted", "t")
    prover.prove(ScriptedLean(SCRIPT), theorem, 8, random.Random(0), observer=trace)
    return trace.root


def test_a_file_keeps_its_newest_part_and_the_one_before(tmp_path):
    file = tmp_path / "some.jsonl"
    writer = RotatingJsonl(file, max_bytes=100)
    for number in range(100):
        writer.write([{"number": number}])
    writer.close()
    numbers = [record["number"] for record in both_parts(file)]
    assert numbers == list(range(numbers[0], 100))
    assert 8 <= len(numbers) <= 20
    assert sorted(tmp_path.iterdir()) == sorted([file, older_part(file)])


def test_a_part_gives_way_when_it_is_old(tmp_path):
    writer = RotatingJsonl(tmp_path / "some.jsonl", max_bytes=1 << 20, max_seconds=0.0)
    for number in range(5):
        writer.write([number])
    writer.close()
    assert list(both_parts(tmp_path / "some.jsonl")) == [3, 4]


def test_a_torn_line_of_a_killed_writer_damages_no_other(tmp_path):
    file = tmp_path / "some.jsonl"
    file.write_text('1\n{"torn')
    writer = RotatingJsonl(file, max_bytes=1 << 20)
    writer.write([2])
    writer.close()
    assert list(both_parts(file)) == [1, 2]


def test_what_cannot_be_written_is_said_once(tmp_path, caplog):
    (tmp_path / "folder.jsonl").mkdir()
    writer = RotatingJsonl(tmp_path / "folder.jsonl", max_bytes=100)
    writer.write([1])
    writer.write([2])
    assert caplog.text.count("the run continues without it") == 1


def test_a_kept_tree_is_that_of_the_search(tmp_path, searched):
    store = TreeStore(tmp_path, 0, keep=5)
    assert store.wants(proven=True, nodes=4)
    store.write((3, 0, 7), searched)
    data = read_tree(tmp_path, (3, 0, 7))
    assert data == tree_to_json(searched)
    assert tree_from_json(data).solved


def test_a_rank_keeps_its_newest_trees_and_leaves_those_of_others(tmp_path, searched):
    TreeStore(tmp_path, 1, keep=5).write((0, 1, 0), searched)
    store = TreeStore(tmp_path, 0, keep=2)
    for sequence in range(3):
        store.write((0, 0, sequence), searched)
    assert kept_trees(tmp_path) == [(0, 0, 1), (0, 0, 2), (0, 1, 0)]
    TreeStore(tmp_path, 0, keep=2).write((1, 0, 0), searched)
    assert kept_trees(tmp_path) == [(0, 0, 2), (0, 1, 0), (1, 0, 0)]


def test_the_store_takes_a_tree_at_a_time_and_proofs_and_failures_in_turn(tmp_path, searched, monkeypatch):
    monkeypatch.setattr(records, "LEAST_SECONDS", 1000.0)
    store = TreeStore(tmp_path, 0, keep=5)
    assert store.wants(proven=False, nodes=4)
    assert not store.wants(proven=True, nodes=4)
    store.write((0, 0, 0), searched)
    assert not store.wants(proven=False, nodes=4)
    store._not_before = float("-inf")
    assert not store.wants(proven=True, nodes=10**6)
    assert store.wants(proven=True, nodes=4)


def test_damaged_and_missing_trees_are_named(tmp_path, searched):
    with pytest.raises(UserError, match="no such tree"):
        read_tree(tmp_path, (0, 0, 0))
    TreeStore(tmp_path, 0, keep=5).write((0, 0, 0), searched)
    file = tree_file(tmp_path, (0, 0, 0))
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(UserError, match="cannot be read"):
        read_tree(tmp_path, (0, 0, 0))


def test_a_run_goes_on_without_a_tree_store(tmp_path, searched, caplog):
    (tmp_path / "trees").write_text("in the way")
    store = TreeStore(tmp_path, 0, keep=5)
    for sequence in range(2):
        store.write((0, 0, sequence), searched)
    assert caplog.text.count("cannot be written") == 1
