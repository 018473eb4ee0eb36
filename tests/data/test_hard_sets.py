"""The sets `nanolean-hard` and `nanolean-premise`: fixed, provable, not trivial, and held out of all training data."""

import re
from pathlib import Path

import pytest

from nanolean.data.make import HELD_OUT_LIBRARY, HELD_OUT_PREMISES, library_texts, make_classics
from nanolean.data.replay import library
from nanolean.data.statement_key import library_proofs, statement_key
from nanolean.tests.library import NIGHTLY
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.data.nanolean import (
    FIXED,
    HARD,
    PREMISE,
    SHOWS_A_BENCHMARK,
    TRAIN_PROOFS,
    classics,
    fixed_theorems,
    level_of,
    part_of,
)
from nanoproof.data.theorems.theorem_sets import is_benchmark, list_theorems, splits_of
from nanoproof.data.transitions.leantree import goal_object
from scripts.make_nanolean_hard import HELD_OUT_SIZE, problems_of


def test_a_sample_of_the_sets_is_what_they_say(held_out: frozenset[str]) -> None:
    """That no two state the same, nor what the library states, is in test_nanolean_data.py for all but `generated`."""
    assert problems_of(library(), step=9 if NIGHTLY else 180) == []
    generated = [t.source for t in fixed_theorems(HARD, "train") if part_of(t.id) == "generated"]
    assert not held_out & {statement_key(source) for source in generated[:: 9 if NIGHTLY else 60]}


def test_the_held_out_splits_have_the_same_parts() -> None:
    parts = [[part_of(t.id) for t in fixed_theorems(HARD, split)] for split in ("valid", "test")]
    for name in {*parts[0], *parts[1]}:
        assert abs(parts[0].count(name) - parts[1].count(name)) <= 1
        beginning = parts[1][: HELD_OUT_SIZE // 2].count(name)
        assert abs(beginning - parts[1].count(name) / 2) <= 2, f"the beginning is no fair sample: {name}"


def test_the_sets_are_listed_like_any_other() -> None:
    assert splits_of(HARD) == ("train", "valid", "test") and splits_of(PREMISE) == ("valid", "test")
    assert is_benchmark(HARD, "test") and not is_benchmark(HARD, "train")
    assert len(list_theorems(HARD, "train", "v4.27.0")) >= 400
    with pytest.raises(UserError, match="unknown split 'train'"):
        list_theorems(PREMISE, "train")


def test_no_training_text_proves_or_names_what_is_held_out(made: Path) -> None:
    known = {entry.name for entry in library_proofs()}
    assert known >= HELD_OUT_PREMISES > HELD_OUT_LIBRARY
    files = read_jsonl(made / "transitions.jsonl")
    shown = [record for file in files for record in file["theorems"] if level_of(record["name"]) is None]
    assert len(shown) >= 180
    assert not HELD_OUT_LIBRARY & {record["name"] for record in shown}
    assert not HELD_OUT_LIBRARY & words(str([record["by_blocks"] for record in shown]))
    assert not HELD_OUT_LIBRARY & words(" ".join(library_texts()))


def test_classics_are_traced_with_their_definitions_and_what_is_no_tree_of_tactics_is_left_out() -> None:
    before = "def twice (n : Nat) : Nat := n + n\n\n"
    statement = "theorem classic_{} (n : Nat) : twice n = n + n ∧ n ≤ twice n"
    proofs = {
        "whole": "  constructor\n  · rfl\n  · unfold twice\n    omega",
        "wrong": "  constructor\n  · rfl\n  · rfl",
        "blocks": "  exact by\n    constructor\n    · rfl\n    · unfold twice\n      omega",
    }
    rows = []
    for name, proof in proofs.items():
        stated = before + statement.format(name) + " := by\n"
        rows.append((f"classic_{name}", f"{stated}  sorry", stated + proof))
    (record,) = make_classics(rows, goal_object)
    nodes = record["by_blocks"][0]["tree"]["nodes"]
    assert record["name"] == "classic_whole"
    assert [node["tactic"]["tactic_string"] for node in nodes] == ["constructor", "rfl", "unfold twice", "omega"]
    assert [node["proof_depth"] for node in nodes] == [3, 1, 2, 1]


def test_only_proofs_of_train_classics_are_where_training_looks() -> None:
    train = {theorem.id for theorem in fixed_theorems(HARD, "train")}
    names = [row["name"] for row in read_jsonl(TRAIN_PROOFS)]
    assert len(names) > 200 and set(names) <= train
    assert {part_of(name) for name in names} == {"classic"}


def words(text: str) -> set[str]:
    names = {tuple(word.split(".")) for word in re.findall(r"[A-Za-z_][\w'.?!]*", text)}
    return {".".join(name[:count]) for name in names for count in range(1, len(name) + 1)}


def test_every_set_has_a_file_for_each_split() -> None:
    assert {
        name: {split: len(fixed_theorems(name, split)) > 0 for split in splits} for name, splits in FIXED.items()
    } == {name: dict.fromkeys(splits, True) for name, splits in FIXED.items()}


def test_proofs_that_come_to_a_benchmark_s_statement_are_not_shown() -> None:
    shown = {name for name, _, _ in classics()}
    asked = {theorem.id for theorem in fixed_theorems(HARD, "train")}
    assert set(SHOWS_A_BENCHMARK) <= asked - shown
    assert len(shown) > 250
