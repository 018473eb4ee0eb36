"""Transitions from LeanTree JSONL: what is read, what is left out and counted, and what is refused with its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.data.transitions.leantree import (
    TransitionList,
    first_goal_statement,
    load_split,
    read_transitions,
    select,
)
from nanoproof.lean.types import Transition
from tests.training import small

GOAL = {"type": "q", "hypotheses": [{"user_name": "h", "type": "p"}], "tag": "inl"}


def node(number: int, tactic: str | None, children: Any = (), goals: Any = (GOAL,), depth: Any = 1) -> dict[str, Any]:
    edge = {"tactic_string": tactic, "span": None, "parent": number, "children": list(children)}
    made = {"id": number, "state": {"goals": list(goals)}, "proof_size": 1, "proof_depth": depth}
    return made if tactic is None else {**made, "tactic": edge}


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def record(*nodes: Any, path: str = "A.lean") -> dict[str, Any]:
    return {"path": path, "theorems": [{"by_blocks": [{"tree": {"root_id": 0, "nodes": list(nodes)}}]}]}


def tactics(path: Path) -> list[str]:
    return [item.tactic for item in read_transitions(path)]


def test_transitions_come_back_as_they_were_written(tmp_path: Path) -> None:
    items = small.transitions(10)
    small.write_leantree(tmp_path / "data.jsonl", items)
    assert list(read_transitions(tmp_path / "data.jsonl")) == items
    assert [*load_split(tmp_path / "data.jsonl", 0)[0]] == items


def test_the_state_after_a_tactic_is_that_of_all_its_children(tmp_path: Path) -> None:
    second = {"type": "r", "hypotheses": []}
    nodes = [
        node(0, "constructor", [1, 2, 3], depth=2),
        node(1, "exact h"),
        node(2, "exact r", [4], [second]),
        node(3, None),
        node(4, None, goals=[]),
        node(5, "simp", [77]),
    ]
    nodes[1]["tactic"]["children"] = None
    text = "case inl\nh : p\n⊢ q"
    assert list(read_transitions(write(tmp_path / "data.jsonl", record(*nodes)))) == [
        Transition(text, "constructor", 2, f"{text}\n\n⊢ r\n\n{text}"),
        Transition(text, "exact h", 1, None),
        Transition("⊢ r", "exact r", 1, ""),
        Transition(text, "simp", 1, None),
    ]


def test_a_theorem_is_stated_as_its_first_goal_where_it_has_a_proof_that_was_read() -> None:
    names = [{"user_name": name, "type": kind} for name, kind in (("a", "Nat"), ("b", "Nat"), ("h", "a = b"))]
    (theorem,) = record(node(0, "rfl", goals=[{"type": "b = a", "hypotheses": names}]))["theorems"]
    assert first_goal_statement(theorem) == "(a b : Nat) (h : a = b) : b = a"
    for other in ({"error": "no"}, {"by_blocks": []}, {"by_blocks": [{"error": "no"}]}, record(node(1, "rfl"))):
        assert first_goal_statement(other) is None


# ---------------------------------------------------------------------------------------------------------------------
# Left out


@pytest.mark.parametrize(
    ("tactic", "is_wanted"),
    [
        ("sorry", False),
        ("exact foo (by sorry)", False),
        ("exact ⟨h, sorry⟩", False),
        ("admit", False),
        ("exact sorryAx _ false", False),
        ("stop\n  rfl", False),
        ("exact stop", True),
        ("· admit", False),
        ("bound", False),
        ("bound [h]", False),
        ("exact foo_sorry", True),
        ("exact sorry'", True),
        ("rw [admits, Foo.admit]", True),
        ("exact bound", True),
        ("bound' h", True),
        ("bounded", True),
        ("  ", False),
    ],
)
def test_tactics_that_give_up_and_bound_are_left_out(tmp_path: Path, tactic: str, is_wanted: bool) -> None:
    path = write(tmp_path / "data.jsonl", record(node(0, tactic), node(1, "rfl")))
    assert tactics(path) == ([tactic, "rfl"] if is_wanted else ["rfl"])


def test_what_leads_to_a_sorry_is_no_proof_of_its_state_and_branches_beside_it_are(tmp_path: Path) -> None:
    nodes = [
        node(0, "constructor", [1, 2], depth=3),
        node(1, "rfl"),
        node(2, "intro x", [3], depth=2),
        node(3, "sorry"),
    ]
    train, _ = load_split(write(tmp_path / "data.jsonl", record(*nodes)), 0)
    assert [item.tactic for item in train] == ["rfl"]
    assert train.left_out == {"sorry or admit": 1, "a tactic that leads to sorry or admit": 2}


def test_what_is_left_out_is_counted_for_each_part(tmp_path: Path) -> None:
    errors = {
        "path": "B.lean",
        "theorems": [{"error": "no"}, {"by_blocks": [{"error": "no"}, {"tree": {"error": "no"}}]}],
    }
    first = record(node(0, "sorry"), node(1, "bound"), node(2, "rfl"), node(3, "admit"), node(4, "rfl", goals=[]))
    train, valid = load_split(write(tmp_path / "data.jsonl", first, errors, record(node(0, "sorry"))), 0.4)
    assert [item.tactic for item in train] == ["rfl"] and len(valid) == 0
    assert train.left_out == {
        "sorry or admit": 2,
        "the tactic bound": 1,
        "a tactic without a goal": 1,
        "a theorem that LeanTree could not read": 1,
        "a proof that LeanTree could not read": 2,
    }
    assert valid.left_out == {"sorry or admit": 1}


# ---------------------------------------------------------------------------------------------------------------------
# Refused


def changed(change: Any) -> dict[str, Any]:
    made = record(node(0, "rfl"), node(1, "rfl"))
    change(made, made["theorems"][0]["by_blocks"][0]["tree"])
    return made


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file, tree: file.pop("theorems"), "theorems: is missing"),
        (lambda file, tree: file.update(theorems={}), "theorems: has another type: {}"),
        (lambda file, tree: file["theorems"].append(3), r"theorems\[1\]: expected an object, got 3"),
        (lambda file, tree: tree.pop("nodes"), r"theorems\[0\].by_blocks\[0\].nodes: is missing"),
        (lambda file, tree: tree["nodes"][1].pop("state"), r"tree.nodes\[1\].state: is missing"),
        (
            lambda file, tree: tree["nodes"][1]["tactic"].pop("tactic_string"),
            r"nodes\[1\].tactic.tactic_string: is mis",
        ),
        (lambda file, tree: tree["nodes"][1].update(proof_depth="2"), r"nodes\[1\].proof_depth: has another type: '2'"),
        (lambda file, tree: tree["nodes"][1].update(proof_depth=0), r"nodes\[1\].proof_depth: expected .* at least 1"),
        (lambda file, tree: tree["nodes"][1]["state"]["goals"].append({"hypotheses": []}), r"state.goals: .*'type'"),
    ],
)
def test_another_shape_is_an_error_with_file_line_and_field(tmp_path: Path, change: Any, message: str) -> None:
    path = write(tmp_path / "data.jsonl", record(node(0, "rfl")), changed(change))
    with pytest.raises(UserError, match=rf"data.jsonl, line 2: not LeanTree's shape: .*{message}"):
        list(read_transitions(path))
    with pytest.raises(UserError, match=message):
        load_split(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"theorems": []}\n\n{"theorems": [}\n', "line 3: not valid JSON"),
        ('{"theorems": []}\n{"theorems": [', "line 2: not valid JSON"),
        ("3\n", "line 1: not LeanTree's shape: expected an object, got 3"),
        ('{"prompt": "a", "target": "b"}\n', "line 1: rows of `prompt` and `target` are read from a JSON list"),
        ('{"theorems": []}\n', "no transitions to train on in its first 1 of 1 lines"),
        ("", "no transitions to train on"),
    ],
)
def test_a_damaged_or_empty_file_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        load_split(path)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*none\.jsonl: No such file"):
        load_split(tmp_path / "none.jsonl")


# ---------------------------------------------------------------------------------------------------------------------
# Split


def test_the_last_tenth_of_the_lines_is_for_validation(tmp_path: Path) -> None:
    small.write_leantree(tmp_path / "data.jsonl", small.transitions(40), per_file=2)
    train, valid = load_split(tmp_path / "data.jsonl")
    assert (len(train), len(valid)) == (36, 4)
    assert list(valid) == small.transitions(40)[-4:]


def test_a_last_line_without_a_line_break_counts(tmp_path: Path) -> None:
    small.write_leantree(tmp_path / "data.jsonl", small.transitions(40), per_file=2)
    path = tmp_path / "data.jsonl"
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert [len(part) for part in load_split(path)] == [36, 4]


def test_parts_of_a_list_are_lists_of_the_same_transitions(tmp_path: Path) -> None:
    items = small.transitions(40)
    small.write_leantree(tmp_path / "data.jsonl", items)
    train, _ = load_split(tmp_path / "data.jsonl", 0)
    assert train[-1] == items[-1] and list(train[3:30:7]) == items[3:30:7]
    chosen = select(train[10:], [5, 0, 2])
    assert isinstance(chosen, TransitionList) and list(chosen) == [items[15], items[10], items[12]]
    assert select(items, [5, 0]) == [items[5], items[0]]
    with pytest.raises(IndexError):
        train[40]


def test_a_transition_knows_its_file_of_lean(tmp_path: Path) -> None:
    files = [record(node(0, "rfl"), path="A.lean"), record(path="B.lean"), record(node(0, "simp"), path="C.lean")]
    train, _ = load_split(write(tmp_path / "data.jsonl", *files), 0)
    assert [train.path(place) for place in range(2)] == ["A.lean", "C.lean"]
    assert train[1:].path(0) == "C.lean"
