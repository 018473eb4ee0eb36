"""The data set: library and generated proofs as transitions, statements, and a benchmark that neither contains."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from nanolean.data.families import LEVELS
from nanolean.data.make import Quota, make
from nanolean.data.problem import Step
from nanolean.data.replay import ReplayError, replay, start
from nanolean.data.statement_key import library_keys, library_proofs, shape_key, statement_key
from nanolean.env_state import EnvState
from nanolean.library.loader import PACKAGE
from nanolean.tests.library import NIGHTLY, base
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import home
from nanoproof.data import nanolean as data
from nanoproof.data.nanolean import (
    FIXED,
    HARD,
    benchmark_theorems,
    fixed_theorems,
    level_of,
    list_theorems,
    part_of,
)
from nanoproof.data.theorems.overlap import declared_statements, normal_form
from nanoproof.data.transitions.leantree import goal_object, read_transitions
from nanoproof.lean import lexical, types
from nanoproof.lean.source import parse_declaration
from nanoproof.lean.types import SourceError
from scripts.make_nanolean_benchmark import CLASSICS, PROOFS, problems_of
from tests.data.library_part import make_no_library


@pytest.fixture(scope="module")
def library() -> EnvState:
    return base()


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# ---------------------------------------------------------------------------------------------------------------------
# Library


def test_the_library_has_well_over_a_hundred_theorems_that_prove_step_by_step(made: Path) -> None:
    proofs = [theorem for file in rows(made / "transitions.jsonl") for theorem in file["theorems"]]
    records = [record for record in proofs if level_of(record["name"]) is None]
    assert len(list(library_proofs())) >= 900
    assert len(records) >= (900 if NIGHTLY else 180)
    assert len({record["name"] for record in records}) == len(records)
    nodes = [node for record in records for node in record["by_blocks"][0]["tree"]["nodes"]]
    assert len(nodes) >= (3000 if NIGHTLY else 700)
    tactics = {node["tactic"]["tactic_string"].split()[0] for node in nodes}
    wanted = {"intro", "exact", "apply", "rfl", "constructor", "left", "right", "exists", "cases", "induction", "rw"}
    assert wanted <= tactics


def test_structured_proofs_become_single_tactics_with_their_subgoals() -> None:
    proof = next(p.proof for p in library_proofs() if p.name == "Nat.zero_add")
    assert proof.tactic == "induction n with | zero => ?_ | succ n ih => ?_"
    assert [child.tactic for child in proof.children] == ["rfl", "rw [← Nat.add_assoc]"]
    pair = next(p.proof for p in library_proofs() if p.name == "And.symm")
    assert [child.tactic for child in pair.children[0].children] == ["exact hb", "exact ha"]


def test_statements_have_their_keys_from_many_threads_at_a_time() -> None:
    sources = [theorem.source for theorem in fixed_theorems(HARD, "test")[:24]]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as threads:
            found = list(threads.map(data.statement_key, sources))
    finally:
        sys.setswitchinterval(interval)
    assert found == [statement_key(source) for source in sources]


# ---------------------------------------------------------------------------------------------------------------------
# Replay


SWAP = "theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  sorry"


def test_replay_records_the_goal_before_every_tactic(library: EnvState) -> None:
    proof = Step("constructor", (Step("exact h.right"), Step("exact h.left")))
    node = replay(start(SWAP), proof)
    assert node.goal == "p q : Prop\nh : p ∧ q\n⊢ q ∧ p"
    assert [child.goal for child in node.children] == [
        "case left\np q : Prop\nh : p ∧ q\n⊢ q",
        "case right\np q : Prop\nh : p ∧ q\n⊢ p",
    ]
    assert (node.size, node.depth) == (3, 2)


def test_replay_leaves_out_steps_for_goals_that_are_already_closed(library: EnvState) -> None:
    source = "theorem t (a b : Nat) (h : a = b) : a + 0 = b := by\n  sorry"
    node = replay(start(source), Step("rw [h]", (Step("rw [Nat.add_zero]", (Step("rfl"),)),)))
    assert node.proof().size < 3


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        (Step("exact h"), "is refused"),
        (Step("constructor", (Step("exact h.right"),)), "leaves 2 goals"),
        (Step("exact ⟨h.right, sorry⟩"), "contains sorry"),
    ],
)
def test_replay_refuses_proofs_that_do_not_go_through(library: EnvState, proof: Step, message: str) -> None:
    with pytest.raises(ReplayError, match=message):
        replay(start(SWAP), proof)


def test_a_false_statement_is_no_start(library: EnvState) -> None:
    with pytest.raises(ReplayError, match="the statement is refused"):
        start("theorem t (p : Prop) : q := by\n  sorry")


def test_the_data_set_reports_a_text_without_a_key_as_any_refused_source() -> None:
    with pytest.raises(SourceError, match="holds no theorem"):
        data.statement_key("def x : Nat := 3")


# ---------------------------------------------------------------------------------------------------------------------
# What is made


def test_transitions_are_leantree_files_that_the_loader_reads(made: Path) -> None:
    files = rows(made / "transitions.jsonl")
    assert all(set(file) == {"path", "imports", "theorems"} for file in files)
    for file in files:
        for theorem in file["theorems"]:
            nodes = {node["id"]: node for node in theorem["by_blocks"][0]["tree"]["nodes"]}
            for node in nodes.values():
                children = [nodes[child] for child in node["tactic"]["children"]]
                assert len(node["state"]["goals"]) == 1
                assert node["proof_size"] == 1 + sum(child["proof_size"] for child in children)
                assert node["proof_depth"] == 1 + max((child["proof_depth"] for child in children), default=0)
    transitions = list(read_transitions(made / "transitions.jsonl"))
    assert len(transitions) == json.loads((made / "manifest.json").read_text())["transitions"] > 700
    assert all("⊢" in t.state and "\n" not in t.tactic and t.depth >= 1 for t in transitions)


def test_no_held_out_statement_is_trained_on_under_any_name(made: Path, held_out: frozenset[str]) -> None:
    fixed = [theorem for name, splits in FIXED.items() for split in splits for theorem in fixed_theorems(name, split)]
    statements_asked = 400 + sum(part_of(theorem.id) != "generated" for theorem in fixed)
    # Once more, without the names of these, those of valid and test that bring definitions along; some have one shape.
    held_out_splits = [(name, split) for name, splits in FIXED.items() for split in splits if split != "train"]
    asked_of_valid_and_test = [t for name, split in held_out_splits for t in fixed_theorems(name, split)]
    with_definitions = [t.source for t in asked_of_valid_and_test if not t.source.startswith("theorem ")]
    shapes = set(map(shape_key, with_definitions)) - set(map(statement_key, with_definitions))
    assert shapes and len(held_out) == statements_asked + len(shapes)
    statements = rows(made / "train.jsonl")
    proofs = [theorem for file in rows(made / "transitions.jsonl") for theorem in file["theorems"]]
    assert statements and proofs
    generated = [p for p in proofs if level_of(p["name"]) is not None]
    assert generated
    names = {row["id"] for row in statements} | {p["name"] for p in generated}
    assert len(names) == len(statements) + len(generated)
    assert not held_out & {statement_key(row["source"]) for row in statements}
    of_library = [t for split in FIXED[HARD] for t in fixed_theorems(HARD, split) if part_of(t.id) == "library"]
    assert held_out & library_keys() == {statement_key(theorem.source) for theorem in of_library}
    shown = {_key_of_root(theorem) for theorem in generated}
    assert not held_out & shown
    assert not shown & {statement_key(row["source"]) for row in statements}


def test_no_held_out_statement_is_trained_on_as_a_text_that_only_looks_different(made: Path) -> None:
    held_out = {_form(theorem.source) for split in ("valid", "test") for theorem in list_theorems(split)}
    assert len(held_out) == 400
    statements = {_form(row["source"]) for row in rows(made / "train.jsonl")}
    proofs = [theorem for file in rows(made / "transitions.jsonl") for theorem in file["theorems"]]
    shown = {_form(_root(theorem)) for theorem in proofs}
    assert len(statements) > 40 and len(shown) > 200
    assert not held_out & (statements | shown)
    same = list_theorems("valid")[0].source.replace("theorem ", "theorem  another_").replace(" : ", "  :  ")
    assert _form(same) in held_out


def _form(source: str) -> str:
    (statement,) = declared_statements(source)
    return normal_form(statement.text)


def _key_of_root(theorem: dict) -> str:
    """The key of a supervised proof's statement, read back from its first goal alone."""
    return statement_key(_root(theorem))


def _root(theorem: dict) -> str:
    """The first goal of a supervised proof as a theorem."""
    (goal,) = theorem["by_blocks"][0]["tree"]["nodes"][0]["state"]["goals"]
    binders = " ".join(f"({h['user_name']} : {h['type']})" for h in goal["hypotheses"])
    return f"theorem t {binders} : {goal['type']} := by\n  sorry"


def test_proofs_are_shown_for_easy_levels_only_and_statements_cover_all(made: Path) -> None:
    proofs = [theorem["name"] for file in rows(made / "transitions.jsonl") for theorem in file["theorems"]]
    shown = [level for name in proofs if (level := level_of(name)) is not None]
    assert shown and max(shown) <= 3
    assert {level_of(row["id"]) for row in rows(made / "train.jsonl")} == set(LEVELS)


def test_every_statement_has_one_sorry_and_its_id_as_name(made: Path) -> None:
    for row in rows(made / "train.jsonl"):
        assert parse_declaration(row["source"]).name == row["id"]


@pytest.mark.nightly
def test_other_processes_make_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, held_out: frozenset[str]
) -> None:
    monkeypatch.setattr("nanolean.data.make.make_library", make_no_library)
    some = {name: Quota((1, 1), (1,)) for name in ("order", "lists")} | {"prop": Quota((1, 1), ())}
    told: list[tuple[int, int, str]] = []
    for workers in (1, 2):
        told.clear()
        folder = tmp_path / str(workers)
        make(folder, lambda: held_out, 3, goal_object, workers, some, 0, lambda *words: told.append(words))
        assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
        assert told[0][:2] == (0, 8)
        assert told[-1] == (8, 8, "making problems")
    for name in ("train.jsonl", "transitions.jsonl", "manifest.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


AS_A_COMMAND = """
import runpy, sys
from nanolean.data import make
from tests.data.library_part import make_no_library
small = {"lists": make.Quota((1, 1), (1,))}
make.make.__defaults__ = (None, small, 0, *make.make.__defaults__[3:])
make.make_library = make.make_classics = make_no_library
sys.argv[1:] = ["make", "--workers", "1"]
runpy.run_module("nanoproof.data.nanolean", run_name="__main__", alter_sys=True)
"""


@pytest.mark.nightly
@pytest.mark.usefixtures("held_out")
def test_the_command_makes_data_though_its_workers_do_not_import_it(tmp_path: Path) -> None:
    (tmp_path / "cache").symlink_to(home() / "cache")  # the keys that are held out
    done = subprocess.run(
        [sys.executable, "-c", AS_A_COMMAND],
        env={**os.environ, "NANOPROOF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("seed=0 statements=1 "), done.stdout


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_process_that_started_them(tmp_path: Path, sent: signal.Signals) -> None:
    code = "import sys\nfrom pathlib import Path\nfrom nanolean.data.make import make\n"
    code += "if __name__ == '__main__':\n    make(Path(sys.argv[1]), frozenset, 0, dict, 1)\n"
    (script := tmp_path / "made.py").write_text(code)
    command = [sys.executable, script, str(tmp_path / "data")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        started = psutil.Process(process.pid)
        while not (workers := [each for each in started.children() if "spawn_main" in " ".join(each.cmdline())]):
            assert process.poll() is None
            time.sleep(0.05)
        if sent == signal.SIGINT:
            os.killpg(process.pid, sent)  # as a terminal does
        else:
            process.kill()
        _, errors = process.communicate(timeout=60)
        assert not psutil.wait_procs(workers, timeout=60)[1]
        assert errors.count("KeyboardInterrupt") == int(sent == signal.SIGINT)  # no worker tells of it too


def test_an_interrupted_make_is_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[Path] = []

    def fake_make(directory: Path, *_: object, tell: Callable[[int, int, str], object], **_more: object) -> None:
        calls.append(directory)
        directory.mkdir(parents=True, exist_ok=True)
        if len(calls) > 1:
            (directory / "manifest.json").write_text("{}")

    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    monkeypatch.setattr("nanolean.data.make.make", fake_make)
    monkeypatch.setattr(data, "held_out_keys", frozenset)
    directories = {data.ensure_made() for _ in range(3)}
    assert len(directories) == 1 and len(calls) == 2


def test_keys_that_several_need_at_once_are_elaborated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    asked: list[bool] = []

    def slowly(with_train: bool) -> set[str]:
        asked.append(with_train)
        time.sleep(0.2)
        return {"a key"}

    monkeypatch.setattr(data, "_elaborated_keys", slowly)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(data.held_out_keys, [True] * 4)) == {frozenset({"a key"})}
    assert asked == [True]


# ---------------------------------------------------------------------------------------------------------------------
# Benchmark


def test_the_benchmark_is_two_hundred_distinct_provable_theorems_outside_the_library(library: EnvState) -> None:
    assert problems_of(library, 1 if NIGHTLY else 9) == []
    assert CLASSICS.exists() and PROOFS.exists()


@pytest.mark.parametrize("split", ["valid", "test"])
def test_a_split_spreads_over_levels_and_any_beginning_of_it_does_too(split: str) -> None:
    theorems = list_theorems(split)
    assert len(theorems) == 200 and len({t.id for t in theorems}) == 200
    levels = [level_of(t.id) for t in theorems]
    assert all(32 <= levels.count(level) <= 35 for level in LEVELS)
    assert set(levels[:6]) == set(LEVELS)
    families = {t.id.split("_l")[0] for t in theorems}
    assert {"nat_identity", "cancel", "order", "divides", "exists", "induction", "lists", "mixed"} <= families


def test_reference_proofs_are_nowhere_in_the_package() -> None:
    assert PROOFS.parts[-3] == "tests"
    for package in (PACKAGE, Path(data.__file__).parents[1]):
        assert not [path for path in package.rglob("*") if "benchmark" in path.name]


def test_benchmark_theorems_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "some.lean"
    path.write_text(
        "/- note -/\n\ntheorem a_l1 : 1 = 1 := by\n  sorry\n\ntheorem b_l2 (p : Prop) :\n    p → p := by\n  sorry\n"
    )
    theorems = benchmark_theorems(path)
    assert [t.id for t in theorems] == ["a_l1", "b_l2"]
    assert theorems[1].source == "theorem b_l2 (p : Prop) :\n    p → p := by\n  sorry"
    with pytest.raises(UserError, match="cannot read the benchmark"):
        benchmark_theorems(tmp_path / "missing.lean")


# ---------------------------------------------------------------------------------------------------------------------
# Command line


def test_an_unknown_split_is_one_line() -> None:
    with pytest.raises(UserError, match="unknown split 'nope'"):
        list_theorems("nope")


def test_the_command_prints_theorems_as_json_lines() -> None:
    words = [sys.executable, "-m", "nanoproof.data.nanolean", "theorems", "--split", "valid"]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [t.id for t in list_theorems("valid")]


def test_transitions_are_copied_where_they_are_wanted(
    monkeypatch: pytest.MonkeyPatch, made: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(data, "ensure_made", lambda seed, workers, hold_out_premises: made)
    data.main(["transitions", "--out", str(tmp_path / "deep" / "t.jsonl")])
    assert (tmp_path / "deep" / "t.jsonl").read_bytes() == (made / "transitions.jsonl").read_bytes()
    with pytest.raises(UserError, match="cannot write"):
        data.main(["transitions", "--out", str(made / "manifest.json" / "t.jsonl")])


def test_all_of_the_prover_and_what_reads_its_goals_decides_what_the_data_is() -> None:
    named = {file for file in data.makers() if file.suffix == ".py"}
    unused = {"variants.py"}  # of statements, at test time
    prover = {file for file in PACKAGE.rglob("*.py") if "tests" not in file.parts and file.name not in unused}
    assert {"make.py", "families.py", "replay.py", "loader.py"} <= {file.name for file in named}
    assert named == prover | {Path(module.__file__) for module in (lexical, types)}


def test_the_data_is_made_anew_when_a_file_that_makes_it_is_edited(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    made = {data.made_directory(), data.made_directory()}
    copies = [shutil.copy(file, tmp_path / f"{number}_{file.name}") for number, file in enumerate(data.makers())]
    monkeypatch.setattr(data, "makers", lambda: list(map(Path, copies)))
    made.add(data.made_directory())
    for copy in (copies[0], copies[-1]):
        with open(copy, "a") as file:
            file.write("# edited\n")
        made.add(data.made_directory())
    assert len(made) == 4


def test_reading_about_the_data_loads_neither_torch_nor_the_embedded_prover() -> None:
    code = "import sys, nanoproof.data.nanolean; sys.exit('torch' in sys.modules or 'nanolean' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
