import json

import pytest

from nanoproof.common.errors import UserError
from nanoproof.data.transitions import Transition, load_split, read_transitions
from tests.training import small


def test_transitions_come_back_as_they_were_written(tmp_path):
    items = small.transitions(10)
    small.write_leantree(tmp_path / "data.jsonl", items)
    assert list(read_transitions(tmp_path / "data.jsonl")) == items


def test_tactics_with_sorry_and_recorded_errors_are_left_out(tmp_path):
    items = [Transition("⊢ p", "sorry", 1), Transition("⊢ p", "exact h", 1), Transition("⊢ p", "bound", 1)]
    path = tmp_path / "data.jsonl"
    small.write_leantree(path, items)
    record = json.loads(path.read_text())
    record["theorems"] += [{"error": "no"}, {"by_blocks": [{"error": "no"}, {"tree": {"error": "no"}}]}]
    path.write_text(json.dumps(record) + "\n")
    assert [item.tactic for item in read_transitions(path)] == ["exact h"]


def test_another_shape_is_an_error_with_the_line(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"theorems": []}\n{"path": "x"}\n')
    with pytest.raises(UserError, match=r"line 2.*theorems"):
        list(read_transitions(path))


def test_the_last_tenth_of_the_lines_is_for_validation(tmp_path):
    small.write_leantree(tmp_path / "data.jsonl", small.transitions(40), per_file=2)
    train, valid = load_split(tmp_path / "data.jsonl")
    assert (len(train), len(valid)) == (36, 4)
    assert valid == small.transitions(40)[-4:]


def test_another_shape_is_an_error_for_training_too(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"theorems": []}\n{"path": "x"}\n')
    with pytest.raises(UserError, match=r"line 2.*theorems"):
        load_split(path)


def test_the_goals_that_a_tactic_leaves_are_those_of_its_children(tmp_path):
    path = tmp_path / "data.jsonl"
    small.write_leantree(path, [Transition(f"p : Prop\n⊢ {x}", "exact h", 1) for x in ("a ∧ b", "a", "b")])
    record = json.loads(path.read_text())
    nodes = [theorem["by_blocks"][0]["tree"]["nodes"][0] for theorem in record["theorems"]]
    for number, node in enumerate(nodes):
        node["id"] = number
    nodes[0]["tactic"]["children"], nodes[1]["tactic"]["children"] = [1, 2], [7]
    record["theorems"] = [{"by_blocks": [{"tree": {"root_id": 0, "nodes": nodes}}]}]
    path.write_text(json.dumps(record) + "\n")
    first, second, third = read_transitions(path)
    assert first.state_after == "p : Prop\n⊢ a\n\np : Prop\n⊢ b"
    assert (second.state_after, third.state_after) == (None, "")
