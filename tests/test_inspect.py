"""`scripts.inspect_*`: what they print of shards, theorems, attempts and buffers, and what they say of damaged ones."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nanoproof.actors.tasks import Trace
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, json_line
from nanoproof.data.theorems.whitelists import theorem_hash
from nanoproof.evaluation.results import EvalSettings, EvaluationFiles
from nanoproof.lean.types import Theorem, Transition
from nanoproof.prover.attempt import Attempt, FailedTactic
from nanoproof.prover.attempt_log import attempts_file, logged_attempts
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.records import TreeStore
from nanoproof.search.config import SearchConfig
from scripts import inspect_buffer, inspect_parquet, inspect_problems, inspect_proofs
from tests.data.installed import install_leanworkbook, workbook_row
from tests.fakes.lean import ScriptedLean
from tests.rl import small

Main = Callable[[list[str]], int]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LEAN_PROJECT_PATH", raising=False)
    return tmp_path / "home"


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Exit code and output of a command."""

    def run(main: Main, *words: object) -> tuple[int, str]:
        code = main([str(word) for word in words])
        return code, capsys.readouterr().out

    return run


def rows_of(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


# -- shards -------------------------------------------------------------------------------------------------------


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """Two shards of five documents in groups of two."""
    folder = tmp_path / "shards"
    folder.mkdir()
    for shard in range(2):
        texts = [f"document {shard} {number}\nof \x1b[31mred Lean" for number in range(5)]
        pq.write_table(pa.table({"text": texts, "size": range(5)}), folder / f"part_{shard}.parquet", row_group_size=2)
    return folder


def test_shards_are_counted_and_their_columns_named(shards: Path, printed: Any) -> None:
    code, page = printed(inspect_parquet.main, shards)
    assert code == 0
    assert [line.split()[1:3] for line in page.splitlines() if "part_" in line] == [["5", "3"], ["5", "3"]]
    assert "2 files" in page and "text    string\nsize    int64\n" in page


def test_a_row_is_counted_over_all_shards(shards: Path, printed: Any) -> None:
    _, out = printed(inspect_parquet.main, shards, "--row", 8, "--json")
    assert rows_of(out)[0]["row"] == 3 and rows_of(out)[0]["record"]["text"].startswith("document 1 3\n")
    with pytest.raises(UserError, match="--row 10: the files hold 10 rows"):
        inspect_parquet.main([str(shards), "--row", "10"])


def test_escape_sequences_in_documents_are_shown_and_not_obeyed(shards: Path, printed: Any) -> None:
    _, page = printed(inspect_parquet.main, shards, "--row", 0, "--column", "text")
    assert "  of <U+001B>[31mred Lean\n" in page and "\x1b" not in page


def test_a_search_names_shard_and_row_and_stops_at_max(shards: Path, printed: Any) -> None:
    _, out = printed(inspect_parquet.main, shards, "--search", "DOCUMENT 1", "--max", 2, "--json")
    assert [(Path(row["path"]).name, row["row"]) for row in rows_of(out)] == [
        ("part_1.parquet", 0),
        ("part_1.parquet", 1),
    ]
    assert printed(inspect_parquet.main, shards, "--search", "nowhere") == (1, "")


def test_row_groups_are_listed(shards: Path, printed: Any) -> None:
    _, out = printed(inspect_parquet.main, shards, "--groups", "--json")
    assert [row["rows"] for row in rows_of(out)] == [2, 2, 1, 2, 2, 1]


def test_what_is_no_shard_is_named(tmp_path: Path, shards: Path, home: Path) -> None:
    (tmp_path / "text.parquet").write_text("PAR1, it says")
    for path, message in (
        (tmp_path / "text.parquet", "cannot be read as parquet"),
        (tmp_path / "gone", "is no file, directory or data set"),
        (home.parent / "home", "is no file"),
        ("nemotron", "python -m nanoproof.data.download nemotron"),
    ):
        with pytest.raises(UserError, match=message):
            inspect_parquet.main([str(path)])
    with pytest.raises(UserError, match=r"--column txt: .* it has: text, size"):
        inspect_parquet.main([str(shards), "--row", "0", "--column", "txt"])


# -- theorems -----------------------------------------------------------------------------------------------------


def test_theorems_of_several_sets_and_splits_are_filtered(home: Path, printed: Any) -> None:
    install_leanworkbook(workbook_row(f"lean_workbook_{number}") for number in range(510))
    words = ("leanworkbook", "nanolean", "--split", "valid", "--id", "lean_workbook_1?", "divides_*", "--json")
    code, out = printed(inspect_problems.main, *words, "--max", 1000)
    found = rows_of(out)
    assert code == 0 and {row["split"] for row in found} == {"valid"}
    assert {row["dataset"] for row in found} == {"leanworkbook", "nanolean"}
    assert all(row["id"].startswith(("lean_workbook_1", "divides_")) for row in found)
    assert all(row["hash"] == theorem_hash(row["source"]) and row["chars"] == len(row["source"]) for row in found)


def test_a_table_of_theorems_ends_with_counts_and_lengths(home: Path, printed: Any) -> None:
    _, page = printed(inspect_problems.main, "nanolean", "--split", "test", "--max", 3)
    head, _, counts = page.partition("\n\n")
    assert len(head.splitlines()) == 5 and head.splitlines()[-1] == "... and 197 more (--max)"
    assert counts.splitlines()[1].split()[:3] == ["nanolean", "test", "200"]
    assert max(map(len, head.splitlines())) <= 120


def test_theorems_in_full_are_whole(home: Path, printed: Any) -> None:
    _, out = printed(inspect_problems.main, "nanolean", "--split", "valid", "--max", 1, "--json")
    source = rows_of(out)[0]["source"]
    _, page = printed(inspect_problems.main, "nanolean", "--split", "valid", "--max", 1, "--full")
    assert "".join(f"  {line}\n" for line in source.splitlines()) in page


def test_filters_that_nothing_passes_exit_with_1(home: Path, printed: Any) -> None:
    assert printed(inspect_problems.main, "nanolean", "--split", "valid", "--id", "none") == (
        1,
        "no theorem passes the filters\n",
    )
    with pytest.raises(UserError, match="--split train: minif2f has no such split"):
        inspect_problems.main(["minif2f", "--split", "train"])


# -- attempts -----------------------------------------------------------------------------------------------------


def attempt(number: int, outcome: str = "proven", **more: Any) -> Attempt:
    theorem = Theorem(f"theorem t{number} : True := by\n  sorry", "made", f"t{number}")
    proof = {"proof": "trivial", "source": f"theorem t{number} : True := by\n  trivial", "num_tactics": number}
    return Attempt(theorem, outcome, **{**(proof if outcome == "proven" else {"message": "out of ideas"}), **more})  # type: ignore[arg-type]


def steps(number: int) -> dict[str, Any]:
    """A proof of `number` steps, of which the last is the same in all proofs."""
    states = [f"⊢ {number} = {left}" for left in range(number, 1, -1)] + ["⊢ True"]
    taken = [Transition(state, f"step {left}", left) for state, left in zip(states, range(number, 0, -1))]
    wrong = (FailedTactic("⊢ True", f"wrong {number}"),)
    proof = "\n".join(step.tactic for step in taken)
    return {"transitions": tuple(taken), "failed_tactics": wrong, "proof": proof, "check": small.CHECKED}


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of two ranks and three steps, with an evaluation."""
    folder = home / "rl" / "some_run"
    folder.mkdir(parents=True)
    windows = {"replay_buffer_window_size": 6, "negative_buffer_window_size": 100}
    atomic_write_json(folder / "args.json", {**windows, "negative_fraction": 0.1})
    for rank in range(2):
        lines = []
        for step in range(3):
            number = 1 + 2 * step + rank
            record = attempt(number, **steps(number)) if number != 4 else attempt(4, "unproven")
            lines.append(json_line({"number": {"step": step, "rank": rank, "sequence": step}, **record.to_json()}))
        attempts_file(folder, rank).write_text("".join(lines), encoding="utf-8")
    evaluated = [attempt(7), attempt(8, "error")]
    settings = EvalSettings("made", "valid", num_simulations=8, seed=0)
    files = EvaluationFiles(folder / "evals" / "2_made_valid", [one.theorem for one in evaluated], settings)
    files.begin({}, "new")
    with files.writer(0) as writer:
        for one in evaluated:
            writer.add(one)
    files.finish(1.0)
    return folder


def test_attempts_of_collection_and_evaluation_are_told_in_their_order(run: Path, printed: Any) -> None:
    code, out = printed(inspect_proofs.main, "rl/some_run", "--json")
    assert code == 0
    assert [(row["origin"], row["step"], row["theorem"]["id"]) for row in rows_of(out)] == [
        *(("collect", number // 2, f"t{number + 1}") for number in range(6)),
        ("evaluate", None, "t7"),
        ("evaluate", None, "t8"),
    ]


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["--outcome", "unproven", "error"], ["t4", "t8"]),
        (["--min-tactics", "5"], ["t5", "t6", "t7"]),
        (["--step", "2"], ["t3", "t4"]),
        (["--origin", "evaluate", "--id", "t[17]"], ["t7"]),
        (["--search", "OUT OF"], ["t4", "t8"]),
        (["--dataset", "other"], []),
    ],
)
def test_attempts_are_filtered(run: Path, printed: Any, words: list[str], ids: list[str]) -> None:
    code, out = printed(inspect_proofs.main, run, *words, "--json")
    assert [row["theorem"]["id"] for row in rows_of(out)] == ids
    assert code == (0 if ids else 1)


def test_a_table_of_attempts_ends_with_what_was_proven_where(run: Path, printed: Any) -> None:
    _, page = printed(inspect_proofs.main, run, "--max", 2)
    assert "... and 6 more (--max)" in page
    assert [line.split() for line in page.splitlines()[-2:]] == [
        ["collection", "made", "5", "1", "6", "83%"],
        ["2_made_valid", "made", "1", "1", "2", "50%"],
    ]


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (["--outcome", "proven"], [["collection", "made", "5", "6", "83%"], ["2_made_valid", "made", "1", "2", "50%"]]),
        (["--outcome", "unproven"], [["collection", "made", "1", "6", "83%"]]),
        (["--min-tactics", "2"], [["collection", "made", "4", "6", "83%"], ["2_made_valid", "made", "1", "2", "50%"]]),
        (["--origin", "evaluate", "--outcome", "proven"], [["2_made_valid", "made", "1", "2", "50%"]]),
        (["--id", "t1", "--outcome", "proven"], [["collection", "made", "1", "1", "100%"]]),
    ],
)
def test_rates_are_of_all_attempts_that_a_choice_by_outcome_is_taken_from(
    run: Path, printed: Any, words: list[str], rows: list[list[str]]
) -> None:
    _, page = printed(inspect_proofs.main, run, *words, "--max", 1)
    assert [line.split() for line in page.splitlines()[-len(rows) :]] == rows


def test_a_kept_tree_is_drawn_and_else_the_steps_of_the_proof(run: Path, tmp_path: Path, printed: Any) -> None:
    prover = Prover(small.policy(), SearchConfig(), ProverOptions(keep_tree=True))
    kept = prover.prove(ScriptedLean(small.SCRIPT), small.theorems(1)[0], 8, Random(0))
    (tmp_path / "kept.jsonl").write_text(json_line(kept.to_json()), encoding="utf-8")
    _, page = printed(inspect_proofs.main, tmp_path / "kept.jsonl", "--full")
    assert "└─ ✓ close → closed" in page
    _, page = printed(inspect_proofs.main, run, "--id", "t3", "--full")
    assert "  to go  tactic  target\n      3  step 3  ⊢ 3 = 3\n" in page


def test_a_tree_of_the_tree_store_is_drawn_with_its_attempt(run: Path, printed: Any) -> None:
    trace = Trace()
    prover = Prover(small.policy(), SearchConfig(), ProverOptions(keep_tree=False))
    prover.prove(ScriptedLean(small.SCRIPT), small.theorems(1)[0], 8, Random(0), observer=trace)
    assert trace.root is not None
    TreeStore(run, 1, keep=5).write((1, 1, 1), trace.root)
    _, page = printed(inspect_proofs.main, run, "--tree", "--full")
    assert "t4" in page and "└─ ✓ close → closed" in page and "t3" not in page


def test_a_live_run_is_shown_newest_first_with_the_results_of_all_ranks_so_far(run: Path, printed: Any) -> None:
    with open(attempts_file(run, 0), "a", encoding="utf-8") as log:
        log.write('{"number": {"step": 3, "rank": 0')
    live = run / "evals" / "3_made_valid"
    live.mkdir()
    for rank, name in enumerate(("results.jsonl", "results_r1.jsonl")):
        (live / name).write_text(json_line(attempt(9 + rank).to_json()) + '{"outcome": "pro', encoding="utf-8")
    code, out = printed(inspect_proofs.main, run, "--newest", "--json", "--max", 4)
    assert code == 0
    assert [row["theorem"]["id"] for row in rows_of(out)] == ["t10", "t9", "t8", "t7"]
    _, out = printed(inspect_proofs.main, run, "--newest", "--origin", "collect", "--json", "--max", 1)
    assert [row["theorem"]["id"] for row in rows_of(out)] == ["t6"]


def test_exported_proofs_are_shown_once(run: Path, tmp_path: Path, printed: Any) -> None:
    _, out = printed(inspect_proofs.main, run / "evals", "--json")
    assert [row["origin"] for row in rows_of(out)] == ["evaluate", "evaluate"]
    _, out = printed(inspect_proofs.main, run / "evals" / "2_made_valid" / "proofs", "--json")
    assert [(row["origin"], row["source"].splitlines()[-1]) for row in rows_of(out)] == [("export", "  trivial")]


def test_records_that_are_no_attempts_are_named(tmp_path: Path, home: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"outcome": "proven"}\n')
    with pytest.raises(UserError, match=r"results\.jsonl, record 1: not an attempt"):
        inspect_proofs.main([str(tmp_path)])
    with pytest.raises(UserError, match="holds no attempts"):
        (tmp_path / "results.jsonl").unlink()
        inspect_proofs.main([str(tmp_path)])
    with pytest.raises(UserError, match="rl/gone: nothing there"):
        inspect_proofs.main(["rl/gone"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"outcome": "solved"}, "`outcome`: input should be 'proven'"),
        ({"seconds": {"search": "long"}}, "`seconds.search"),
        ({"num_tactics": None}, "`num_tactics`: input should be a valid integer"),
        ({"message": 3}, "`message`: input should be a valid string"),
        ({"transitions": [["⊢ p", 1, 1]]}, r"`transitions\[0\]\[1\]`: input should be a valid string"),
        ({"check": {"axioms": [1]}}, "`check`: `axioms` should be a list of names"),
    ],
)
@pytest.mark.parametrize("words", [[], ["--full"]])
def test_attempts_with_wrong_fields_are_named(
    tmp_path: Path, wrong: dict[str, Any], said: str, words: list[str]
) -> None:
    (tmp_path / "results.jsonl").write_text(json_line({**attempt(1).to_json(), **wrong}))
    with pytest.raises(UserError, match=rf"results\.jsonl, record 1: not an attempt: {said}"):
        inspect_proofs.main([str(tmp_path), *words])


def test_a_logged_attempt_with_wrong_fields_is_named(run: Path) -> None:
    log = attempts_file(run, 0)
    log.write_bytes(log.read_bytes().replace(b'"outcome":"proven"', b'"outcome":"solved"', 1))
    with pytest.raises(UserError, match=r"no attempt at byte 0: `outcome`: input should be"):
        inspect_proofs.main([str(run)])


# -- buffers ------------------------------------------------------------------------------------------------------


def test_a_buffer_is_the_one_that_training_drew_from(run: Path, printed: Any) -> None:
    buffers = Buffers(6, 100)
    for step, made in logged_attempts(run):
        buffers.add([made], step)
    _, out = printed(inspect_buffer.main, run, "--json")
    assert [(row["state"], row["tactic"], row["depth"]) for row in rows_of(out)] == [
        (item.state, item.tactic, item.depth) for item in reversed(buffers.replay.items())
    ]
    _, page = printed(inspect_buffer.main, run)
    assert page.splitlines()[1].split() == ["replay", "6", "6", "1", f"{buffers.replay.staleness(2):.2f}", "0"]


def test_an_item_is_of_the_theorem_that_brought_it_last(run: Path, printed: Any) -> None:
    _, out = printed(inspect_buffer.main, run, "--json", "--search", "⊢ true", "--replay-buffer-window-size", 100)
    assert [(row["theorem"], row["step"], row["age"]) for row in rows_of(out)] == [("t6", 2, 0)]


def test_buffers_are_filtered_and_rebuilt_up_to_a_step(run: Path, printed: Any) -> None:
    words = (inspect_buffer.main, run, "--json", "--until-step", 1, "--replay-buffer-window-size", 100)
    _, out = printed(*words, "--id", "t3", "--depth", 2, 3)
    assert [(row["tactic"], row["age"]) for row in rows_of(out)] == [("step 2", 0), ("step 3", 0)]
    _, out = printed(*words, "--kind", "negative")
    assert [row["tactic"] for row in rows_of(out)] == ["wrong 3", "wrong 2", "wrong 1"]
    assert printed(*words, "--id", "t6") == (1, "")


def test_a_run_that_learns_from_no_failed_tactics_keeps_none(run: Path, printed: Any) -> None:
    atomic_write_json(run / "args.json", {"negative_buffer_window_size": 100})
    words = (inspect_buffer.main, run, "--json", "--kind", "negative")
    assert printed(*words) == (1, "")
    assert len(rows_of(printed(*words, "--negative-buffer-window-size", 2)[1])) == 2


def test_a_seed_chooses_the_same_sample_again(run: Path, printed: Any) -> None:
    words = (inspect_buffer.main, run, "--json", "--max", 3, "--replay-buffer-window-size", 100)
    first, again, other = (printed(*words, "--sample", seed)[1] for seed in (1, 1, 2))
    assert first == again != other and len(rows_of(first)) == 3


def test_a_run_without_attempts_is_told(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no attempts"):
        inspect_buffer.main([str(tmp_path)])


# -- the commands -------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_reader_that_goes_away_ends_a_command_without_a_word(tmp_path: Path) -> None:
    texts = [str(number) * 100 for number in np.arange(20_000)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "long.parquet")
    words = ["-m", "scripts.inspect_parquet", str(tmp_path), "--search", "1", "--max", "20000"]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    os.read(process.stdout.fileno(), 10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 0
