"""Files of rows, of any kind, that are damaged at random: read, or refused in one line that names file and place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nanoproof.common.errors import UserError
from nanoproof.common.files import lone_surrogate, read_json
from nanoproof.data.theorems.theorem_sets import json_rows, jsonl_rows, parquet_rows
from nanoproof.data.transitions import leandojo, leantree
from nanoproof.data.weighted_rows import read_rows
from nanoproof.training import progress

ROW = {"prompt": "theorem a : True := by\n", "target": "trivial", "weight": 0.5}
STEP = {"goal": "⊢ p", "prefix": "", "tactic": "simp", "steps_remaining": 2}
TACTIC = {"tactic": "simp", "annotated_tactic": ["simp", []], "state_before": "⊢ p", "state_after": "no goals"}
THEOREM = {"full_name": "a.b", "file_path": "F.lean", "traced_tactics": [TACTIC]}
GOALS = [{"type": "p", "hypotheses": [{"user_name": "h", "type": "q", "value": None}]}]
ROOT = {"id": 0, "state": {"goals": GOALS}, "proof_depth": 1, "tactic": {"tactic_string": "simp", "children": []}}
TREE = {"path": "F.lean", "theorems": [{"name": "a", "by_blocks": [{"tree": {"root_id": 0, "nodes": [ROOT]}}]}]}


def write_lines(file: Path, values: list[Any]) -> None:
    file.write_text("".join(json.dumps(value) + "\n" for value in values))


def read_trees(file: Path) -> object:
    """All that is read of LeanTree's records: transitions, whole proofs, and steps with those before them."""
    leantree.split_proofs(file)
    list(leantree.read_steps_after(file, valid=False))
    return leantree.load_split(file)


def read_export(file: Path) -> object:
    folder = file.parent / "export"
    (folder / "random").mkdir(parents=True, exist_ok=True)
    (folder / "random" / "train.json").write_bytes(file.read_bytes())
    return leandojo.load_export(folder)


KINDS: dict[str, tuple[Any, Callable[[Path], object]]] = {
    "rows.json": ([ROW] * 3, read_rows),
    "steps.jsonl": ([STEP] * 3, progress.read_rows),
    "trees.jsonl": ([TREE] * 3, read_trees),
    "export.json": ([THEOREM] * 3, read_export),
    "list.json": ([{"a": "b"}] * 3, lambda file: list(json_rows(file))),
    "lines.jsonl": ([{"a": "b"}] * 3, lambda file: list(jsonl_rows(file))),
    "table.parquet": ([{"a": "b"}] * 3, lambda file: list(parquet_rows(file, ["a"]))),
}
VALUES = [None, 7, 10**400, float("nan"), "", "\ud83d", [], {}, [[]], {"a": None}]


def write(file: Path, value: Any) -> None:
    if file.suffix == ".jsonl":
        write_lines(file, value)
    elif file.suffix == ".json":
        file.write_text(json.dumps(value))
    else:
        pq.write_table(pa.Table.from_pylist(value), file)


def replaced(value: Any, places: list[int], new: Any, drop: bool) -> Any:
    """A value with a part replaced, or left out; `places` says which on each level."""
    if not places or not isinstance(value, list | dict) or not value:
        return new
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    chosen = keys[places[0] % len(keys)]
    if drop and (len(places) == 1 or not isinstance(value[chosen], list | dict)):
        if isinstance(value, dict):
            return {key: part for key, part in value.items() if key != chosen}
        return [part for index, part in enumerate(value) if index != chosen]
    parts = dict(value) if isinstance(value, dict) else list(value)
    parts[chosen] = replaced(value[chosen], places[1:], new, drop)
    return parts


def read_or_refused(file: Path) -> None:
    try:
        KINDS[file.name][1](file)
    except UserError as error:
        assert "\n" not in str(error)
        assert file.name in str(error) or "train.json" in str(error)


@given(
    st.sampled_from([name for name in KINDS if "parquet" not in name]),
    st.lists(st.integers(0, 9), max_size=13),
    st.sampled_from(VALUES),
    st.booleans(),
)
@example("trees.jsonl", [0, 1, 0, 1, 0, 0, 1, 0, 2], float("nan"), False)  # `proof_depth`
@example("trees.jsonl", [0, 1, 0, 1, 0, 0, 1, 0, 2], 10**150, False)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_records_with_other_fields(tmp_path: Path, name: str, places: list[int], new: Any, drop: bool) -> None:
    value = replaced(KINDS[name][0], places, new, drop)
    write(tmp_path / name, value if isinstance(value, list) else [value])
    read_or_refused(tmp_path / name)


@given(st.sampled_from(list(KINDS)), st.integers(0, 10**6), st.binary(max_size=6), st.booleans())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_that_are_damaged(tmp_path: Path, name: str, at: int, junk: bytes, insert: bool) -> None:
    write(tmp_path / name, KINDS[name][0])
    content = (tmp_path / name).read_bytes()
    at %= len(content)
    (tmp_path / name).write_bytes(content[:at] + junk + (content[at:] if insert else b""))
    read_or_refused(tmp_path / name)


@pytest.mark.parametrize("name", [name for name in KINDS if "parquet" not in name])
def test_what_is_nested_too_deeply_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[" * 100_000 + "\n")
    with pytest.raises(UserError, match="nested too deeply"):
        KINDS[name][1](tmp_path / name)
    with pytest.raises(UserError, match="nested too deeply"):
        read_json(tmp_path / name)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"target": "a"}, r"row 2: expected texts .*; `prompt` is missing"),
        ({"prompt": 1, "target": "a"}, r"row 2: .*; `prompt` is no text"),
        ({"prompt": "a", "target": "b \ud83d"}, r"row 2: `target` is not Unicode: it has a lone surrogate"),
        ({"prompt": "a", "target": "b", "weight": 10**400}, r"row 2: .*; `weight` is too large"),
        ({"prompt": "a", "target": "b", "weight": 1e-45}, r"row 2: .*; `weight` is too small"),
        ({"prompt": "a", "target": "b", "weight": -1}, r"row 2: .*; `weight` is -1"),
    ],
)
def test_a_row_that_cannot_be_trained_on_is_named_with_its_field(tmp_path: Path, row: Any, message: str) -> None:
    write(tmp_path / "rows.json", [ROW, row])
    with pytest.raises(UserError, match=r"rows\.json, " + message):
        read_rows(tmp_path / "rows.json")


def test_half_a_character_in_transitions_is_named_with_its_field(tmp_path: Path) -> None:
    write(tmp_path / "export.json", [THEOREM, {**THEOREM, "traced_tactics": [TACTIC, {**TACTIC, "tactic": "\ud83d"}]}])
    with pytest.raises(UserError, match=r"theorem 1: `traced_tactics\[1\]\.tactic` is not Unicode"):
        read_export(tmp_path / "export.json")
    write(tmp_path / "trees.jsonl", [TREE, {**TREE, "path": "\udc00"}])
    with pytest.raises(UserError, match="line 2: `path` is not Unicode"):
        read_trees(tmp_path / "trees.jsonl")


@pytest.mark.parametrize("name", list(KINDS))
def test_what_is_whole_is_read(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, KINDS[name][0])
    assert KINDS[name][1](tmp_path / name)


def test_whole_pairs_are_no_half_characters() -> None:
    assert lone_surrogate(json.loads('{"a": ["\\ud83d\\ude00", {"b": "⊢ ?"}]}')) is None
    assert lone_surrogate({"a": [1, {"b": "x\ude00"}]}) == "a[1].b"
