"""The token loader: full rows, nothing lost unsaid, the same rows whatever the ranks and the timing, exact resuming."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.loader import LoaderBenchmark, run_benchmark
from nanoproof.common.errors import UserError
from nanoproof.data.text import token_loader
from nanoproof.data.text.documents import Documents, ReadingPlan, all_documents
from nanoproof.data.text.text_files import MemoryFile, ParquetFile
from nanoproof.data.text.token_loader import PADDING, SLACK, TokenLoader, merge_states, pack_rows, plan_rows
from nanoproof.model.tokenizer import Tokenizer, train_tokenizer
from tests.helpers import NIGHTLY

T = 24
BOS = 999


@cache
def words() -> Tokenizer:
    return train_tokenizer(["let n be a natural number such that n + 0 = n"], 460)


def texts(count: int, seed: int = 0, longest: int = 30) -> list[str | None]:
    rng = random.Random(seed)
    made: list[str | None] = []
    for number in range(count):
        length = rng.randint(0, longest)
        made.append(f"{number} " + " ".join(rng.choice(["let", "n", "be", "⊢", "0"]) for _ in range(length)))
    if seed == 0:
        made[count // 2], made[count // 3] = None, "  "
    return made


def in_memory(count: int, files: int = 3, **options: Any) -> Documents:
    parts = [MemoryFile(Path(f"part{n}"), texts(count // files, n, **options)) for n in range(files)]
    return all_documents("made up", parts)


def loader(documents: Documents, rank: int = 0, world_size: int = 1, **options: Any) -> TokenLoader:
    options = {"row_length": T, "rows_per_step": 8, "rows_per_batch": 8 // world_size, "chunk_bytes": 300, **options}
    return TokenLoader(documents, words(), rank=rank, world_size=world_size, **options)


def rows_of(part: TokenLoader) -> list[tuple[int, ...]]:
    """The next batch, each row as its tokens and the last target; padding is -1."""
    batch = part.next_batch()
    assert batch.tokens_BT.shape == batch.targets_BT.shape == (part.rows_per_batch, T)
    return [(tokens[0], *targets) for tokens, targets in zip(batch.tokens_BT.tolist(), batch.targets_BT.tolist())]


def global_batches(documents: Documents, world_size: int, count: int, **options: Any) -> list[list[tuple[int, ...]]]:
    """Batches over all ranks: row j is the next of rank j mod W."""
    ranks = [loader(documents, rank, world_size, **options) for rank in range(world_size)]
    try:
        return [[row for rows in zip(*map(rows_of, ranks)) for row in rows] for _ in range(count)]
    finally:
        for rank in ranks:
            rank.close()


def no_loader_threads() -> bool:
    return not any(thread.name.startswith("token-loader") for thread in threading.enumerate())


# ---------------------------------------------------------------------------------------------------------------------
# Packing


@settings(deadline=None, max_examples=25 * NIGHTLY)
@given(st.lists(st.integers(0, 90), max_size=60), st.integers(4, 40), st.integers(0, 5))
def test_rows_begin_with_bos_and_hold_all_tokens_but_the_dropped(lengths: list[int], capacity: int, seed: int) -> None:
    numbers = iter(range(sum(lengths)))
    documents = [np.array([next(numbers) for _ in range(length)], dtype=np.uint32) for length in lengths]
    packed = pack_rows(documents, capacity, 10**6, np.random.default_rng(seed))
    kept = packed.rows_RC[(packed.rows_RC != PADDING) & (packed.rows_RC != 10**6)]
    assert packed.rows_RC.shape[1] == capacity
    assert (packed.rows_RC[:, 0] == 10**6).all()
    assert len(np.unique(kept)) == len(kept) == packed.tokens == sum(lengths) - packed.dropped


@settings(deadline=None, max_examples=40 * NIGHTLY)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=60))
def test_only_tails_are_dropped_and_only_small_gaps_are_left(sizes: list[int]) -> None:
    capacity = 128
    slack = capacity // SLACK
    rows = plan_rows(sizes, capacity)
    for row in rows:
        assert sum(span.length for span in row) <= capacity
    for row in rows[:-1]:
        assert capacity - sum(span.length for span in row) <= slack
    for document, size in enumerate(sizes):
        spans = sorted((span.start, span.stop) for row in rows for span in row if span.document == document)
        ends = [0, *(stop for _, stop in spans)]
        starts = [*(start for start, _ in spans), size]
        assert all(0 <= start - end <= slack for end, start in zip(ends, starts))


def test_a_document_longer_than_a_row_is_cut_without_loss() -> None:
    rows = plan_rows([25], 11)
    assert sorted([(span.start, span.stop) for span in row] for row in rows) == [[(0, 10)], [(10, 20)], [(20, 25)]]


def test_documents_that_fit_together_are_put_together() -> None:
    rows = plan_rows([29, 3, 5, 24, 14, 39], 40)
    assert sorted(sorted(span.document for span in row) for row in rows) == [[0, 1, 2], [3, 4], [5]]


def test_a_document_is_cut_only_where_a_row_ends() -> None:
    (first, second) = plan_rows([500, 500], 700)
    assert [(span.start, span.stop) for span in first] == [(0, 500), (0, 198)]
    assert [(span.start, span.stop) for span in second] == [(198, 500)]


def test_little_is_dropped_of_documents_of_realistic_lengths() -> None:
    rng = np.random.default_rng(0)
    documents = [np.zeros(int(rng.lognormal(6.4, 1.0)) + 2, dtype=np.uint32) for _ in range(400)]
    packed = pack_rows(documents, 2049, BOS, rng)
    assert packed.dropped < 0.001 * packed.tokens
    assert packed.padding < 0.01 * packed.tokens


# ---------------------------------------------------------------------------------------------------------------------
# Order


@settings(deadline=None, max_examples=20 * NIGHTLY)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.sampled_from([1, 2, 8]), st.integers(1, 400))
def test_every_document_is_dealt_to_one_stream_once_an_epoch(
    sizes: list[int], num_streams: int, chunk_bytes: int
) -> None:
    files = [MemoryFile(Path(f"f{n}"), [f"{n}/{k}" for k in range(size)]) for n, size in enumerate(sizes)]
    plan = ReadingPlan.of(all_documents("x", files), num_streams, 0, chunk_bytes)
    expected = sorted(f"{n}/{k}" for n, size in enumerate(sizes) for k in range(size))
    for epoch in (0, 1):
        dealt: list[str | None] = []
        for stream in range(num_streams):
            source = plan.chunks_from(stream, epoch, 0)
            for number in range(plan.num_chunks):
                made = next(source)
                assert made[:2] == (epoch, number)
                dealt += made[2]
        assert sorted(map(str, dealt)) == expected


def test_an_epoch_holds_the_text_once_and_the_next_one_in_another_order() -> None:
    documents = in_memory(90)
    with loader(documents, rows_per_step=1, rows_per_batch=1) as part:
        epochs: list[list[tuple[int, ...]]] = [[], []]
        while part.stats()["epoch"] < 2:
            number = int(part.stats()["epoch"])
            epochs[number] += rows_of(part)
        stats = part.stats()
    expected = sum(len(words().encode(text)) for n in range(3) for text in texts(30, n) if text and text.strip())
    for rows in epochs:
        assert all(row[0] == words().bos for row in rows)
    assert epochs[0] != epochs[1]
    assert stats["tokens"] + stats["dropped_tokens"] == 2 * expected
    assert stats["documents"] == 2 * 88
    assert stats["empty_documents"] == 2 * 2


def test_targets_are_the_following_tokens_and_padding_has_none() -> None:
    documents = all_documents("x", [MemoryFile(Path("x"), ["n n n", "be be"])])
    with loader(documents, rows_per_step=1, rows_per_batch=1) as part:
        batch = part.next_batch()
    tokens = [token for token in batch.tokens_BT[0].tolist() if token != words().pad]
    assert words().decode(tokens) in ("n n nbe be", "be ben n n")
    assert tokens.count(words().bos) == 2
    assert batch.targets_BT[0].tolist() == [*tokens[1:], *[-1] * (T - len(tokens) + 1)]


def test_the_rows_do_not_depend_on_the_number_of_ranks_nor_of_threads() -> None:
    documents = in_memory(120)
    one = global_batches(documents, 1, 12, workers=1)
    assert one == global_batches(documents, 2, 12, workers=3)
    assert one == global_batches(documents, 4, 12, workers=1)
    assert one != global_batches(documents, 1, 12, seed=1)


@pytest.mark.nightly
@settings(deadline=None, max_examples=15)
@given(
    count=st.integers(36, 120),
    before=st.integers(0, 15),
    ranks=st.tuples(st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4, 8])),
    seed=st.integers(0, 3),
)
def test_a_saved_position_goes_on_exactly_on_any_number_of_ranks(
    count: int, before: int, ranks: tuple[int, int], seed: int
) -> None:
    documents = in_memory(count)
    expected = global_batches(documents, 1, before + 6, seed=seed)[before:]
    saved = [loader(documents, rank, ranks[0], seed=seed) for rank in range(ranks[0])]
    for part in saved:
        for _ in range(before):
            part.next_batch()
    state = json.loads(json.dumps(merge_states([part.local_state() for part in saved])))
    resumed = [loader(documents, rank, ranks[1], seed=seed) for rank in range(ranks[1])]
    for part in resumed:
        part.next_batch()  # restoring may come at any time
        part.restore(state)
    found = [[row for rows in zip(*map(rows_of, resumed)) for row in rows] for _ in range(6)]
    for part in saved + resumed:
        part.close()
    assert found == expected


def test_a_closed_loader_goes_on_where_it_was() -> None:
    documents = in_memory(60)
    expected = global_batches(documents, 1, 6)
    with loader(documents) as part:
        found = []
        for _ in range(6):
            found.append(rows_of(part))
            part.close()
    assert found == expected


def test_resuming_on_ranks_that_do_not_divide_the_streams_is_refused() -> None:
    documents = in_memory(60)
    with loader(documents, rows_per_step=24, rows_per_batch=24) as part:
        state = part.state()
    with loader(documents, 0, 3, rows_per_step=24) as other, pytest.raises(UserError, match=r"divides 8 \(here 3\)"):
        other.restore(state)


def test_a_position_without_all_streams_is_refused() -> None:
    with loader(in_memory(60), 0, 2) as part:
        state = part.local_state()  # the other rank's streams are not in it
        with pytest.raises(UserError, match="the saved position in the data is damaged"):
            part.restore(state)


def test_resuming_on_other_data_is_refused() -> None:
    with loader(in_memory(60)) as part:
        state = part.state()
    with loader(in_memory(90)) as other, pytest.raises(UserError, match="saved position is of other documents"):
        other.restore(state)


def test_a_set_of_few_documents_uses_fewer_streams() -> None:
    few = all_documents("few", [MemoryFile(Path("few"), ["n be", "be n", "let n be"])])
    assert len(global_batches(few, 1, 5)) == 5
    assert len(global_batches(few, 2, 5)) == 5
    with pytest.raises(UserError, match="few holds 3 documents, 4 are needed"):
        loader(few, 0, 4)


def test_documents_without_any_text_are_an_error_not_a_hang() -> None:
    empty = all_documents("blank", [MemoryFile(Path("blank"), [" ", None, ""])])
    with loader(empty) as part, pytest.raises(UserError, match="blank: too few of its 3 documents have text"):
        part.next_batch()


def test_the_benchmark_finds_the_same_tokens_in_both_ways(tmp_path: Path) -> None:
    options = LoaderBenchmark(megabytes=0.2, row_length=256, rows=4, batches=3, repeats=1, steady_batches=4)
    result = run_benchmark(options, tmp_path)  # it checks them
    assert set(result) == {"name", "ratio", "ours", "baseline", "unit", "hardware", "details"}
    assert result["details"]["steady"]["dropped_share"] < 0.005


# ---------------------------------------------------------------------------------------------------------------------
# Threads


def test_damage_in_the_middle_reaches_the_trainer_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [text or "n" for text in texts(200)]}), path, row_group_size=50)
    start = pq.ParquetFile(path).metadata.row_group(2).column(0).dictionary_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)
    with loader(all_documents("x", [ParquetFile(path)])) as part:
        with pytest.raises(UserError, match=r"a\.parquet, row group 2"):
            for _ in range(1000):
                part.next_batch()
        with pytest.raises(UserError, match=r"a\.parquet, row group 2"):
            for _ in range(8):
                part.next_batch()
    assert no_loader_threads()


def test_an_error_in_tokenizing_reaches_the_trainer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("no memory left")

    monkeypatch.setattr(token_loader, "pack_rows", fail)
    with loader(in_memory(60)) as part, pytest.raises(RuntimeError, match="no memory left"):
        part.next_batch()
    assert no_loader_threads()


def test_threads_stop_ahead_of_use_and_end_with_close(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    pack = token_loader.pack_rows
    monkeypatch.setattr(token_loader, "pack_rows", lambda *args: made.append(1) or pack(*args))
    part = loader(in_memory(300), workers=2)
    part.next_batch()
    count = -1
    while count != len(made):
        count = len(made)
        time.sleep(0.3)
    assert count <= 8 * 2  # eight streams: the chunk in use, and one ahead
    part.close()
    assert no_loader_threads()


PROGRAM = """
import sys
from pathlib import Path
from nanoproof.data.text.documents import all_documents
from nanoproof.data.text.text_files import MemoryFile
from nanoproof.data.text.token_loader import TokenLoader
from nanoproof.model.tokenizer import train_tokenizer
documents = all_documents("x", [MemoryFile(Path("x"), ["let n be " * 20] * 300)])
part = TokenLoader(documents, train_tokenizer(["n"], 460), row_length=24, rows_per_step=8, rows_per_batch=8)
part.next_batch()
print("ready", flush=True)
if sys.argv[1] == "die":
    raise ValueError("the trainer died")
sys.stdin.read()
"""


def start_program(what: str) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", PROGRAM, what]
    return subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.nightly
def test_a_trainer_that_dies_of_an_exception_ends() -> None:
    program = start_program("die")
    _, errors = program.communicate(timeout=60)
    assert program.returncode == 1
    assert errors.rstrip().endswith("ValueError: the trainer died")


@pytest.mark.nightly
def test_a_killed_trainer_leaves_no_process_behind() -> None:
    program = start_program("wait")
    assert program.stdout is not None and program.stdout.readline() == "ready\n"
    family = [program.pid, *(child.pid for child in psutil.Process(program.pid).children(recursive=True))]
    os.kill(program.pid, signal.SIGKILL)
    program.communicate()
    assert not any(psutil.pid_exists(pid) for pid in family)
