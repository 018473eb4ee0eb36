"""Text corpora: kinds of files, what is damaged or missing in them, and what is kept for validation."""

import json
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nanoproof.common.errors import UserError
from nanoproof.data import nanolean as nanolean_data
from nanoproof.data.contamination import read_set
from nanoproof.data.sources.catalog import how_to_get
from nanoproof.data.sources.manifest import Manifest, dataset_dir, record_file, write_manifest
from nanoproof.data.text.documents import Documents, text_corpus
from nanoproof.data.text.text_files import TextFile, cut_text, open_text_file
from scripts.tok_texts import read_texts


def write_parquet(path: Path, texts: list[str | None], row_group: int = 4, column: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"id": list(range(len(texts))), column: pa.array(texts)})
    pq.write_table(table, path, row_group_size=row_group)
    return path


def all_texts(file: TextFile) -> list[str | None]:
    return [text for number, group in enumerate(file.groups) for text in file.read(number, range(group.documents))]


def texts_of(part: Documents) -> list[str | None]:
    return [text for s in part.segments for text in s.read()]


def test_a_parquet_file_is_read_group_by_group_with_its_nulls(tmp_path: Path) -> None:
    texts = ["one", None, "", "vier ⊢", "five"]
    file = open_text_file(write_parquet(tmp_path / "a.parquet", texts, row_group=2))
    assert [group.documents for group in file.groups] == [2, 2, 1]
    assert all_texts(file) == texts


def test_only_the_wanted_documents_of_a_group_are_read(tmp_path: Path) -> None:
    file = open_text_file(write_parquet(tmp_path / "a.parquet", [str(n) for n in range(500)], row_group=500))
    assert list(file.read(0, [3, 127, 128, 499])) == ["3", "127", "128", "499"]


@pytest.mark.nightly
def test_a_row_group_is_never_held_as_a_whole(tmp_path: Path) -> None:
    rng = random.Random(0)
    path = write_parquet(tmp_path / "a.parquet", [rng.randbytes(500).hex() for _ in range(24_000)], row_group=24_000)
    assert path.stat().st_size > 10e6
    before = pa.total_allocated_bytes()
    reader = open_text_file(path).read(0, range(24_000))
    for _ in range(12_000):
        next(reader)
    assert pa.total_allocated_bytes() - before < 8e6
    reader.close()  # type: ignore[attr-defined]


def test_a_jsonl_file_is_read_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanoproof.data.text.text_files.JSONL_GROUP", 2)
    lines = [json.dumps({"text": f"document {n}"}) for n in range(5)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    file = open_text_file(tmp_path / "a.jsonl")
    assert [group.documents for group in file.groups] == [2, 2, 1]
    assert all_texts(file) == [f"document {n}" for n in range(5)]


def test_empty_lines_are_no_documents_and_count_in_the_numbers_of_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("nanoproof.data.text.text_files.JSONL_GROUP", 2)
    (tmp_path / "a.jsonl").write_text('\n{"text": "a"}\r\n\n{"text": "b"}\n\n \n{"text": "c"}\n\n{"txt": "d"}\n\n')
    file = open_text_file(tmp_path / "a.jsonl")
    assert [group.documents for group in file.groups] == [2, 2]
    assert [list(file.read(number, [0, 1])) for number in (0, 1)] == [["a", "b"], ["c", None]]
    assert "a.jsonl, line 9: not a JSON object" in caplog.text


def test_a_plain_text_is_cut_where_paragraphs_end() -> None:
    paragraphs = [f"paragraph {n} " + "word " * 300 for n in range(7)]
    parts = cut_text("\n\n".join(paragraphs) + "\n\n\n")
    assert len(parts) == 3
    assert "\n\n".join(parts).split() == " ".join(paragraphs).split()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.parquet", b"", "a.parquet is not a parquet file"),
        ("a.parquet", b"PAR1 nonsense PAR1", "a.parquet is not a parquet file"),
        ("a.jsonl", b"", "a.jsonl holds no documents"),
        ("a.txt", b"\n\n", "a.txt holds no documents"),
        ("a.txt", b"\xff\xfe", "a.txt is not UTF-8"),
        ("a.md", b"text", "documents are read from .parquet, .jsonl, .txt"),
    ],
)
def test_a_damaged_or_empty_file_is_one_clear_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        open_text_file(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_without_a_text_column_says_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column 'text'; its columns are: id, content"):
        open_text_file(write_parquet(tmp_path / "a.parquet", ["x"], column="content"))
    pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "b.parquet")
    with pytest.raises(UserError, match="column 'text' must hold strings, it holds int64"):
        open_text_file(tmp_path / "b.parquet")
    pq.write_table(
        pa.Table.from_arrays([pa.array(["x"]), pa.array([1])], names=["text", "text"]), tmp_path / "c.parquet"
    )
    with pytest.raises(UserError, match="has 2 columns 'text'"):
        open_text_file(tmp_path / "c.parquet")
    pq.write_table(pa.table({"text": pa.array(["x"], pa.string_view())}), tmp_path / "d.parquet")
    assert all_texts(open_text_file(tmp_path / "d.parquet")) == ["x"]


def test_damage_inside_of_a_parquet_file_names_file_row_group_and_column(tmp_path: Path) -> None:
    texts = [f"{n} " + "abc" * 200 for n in range(8)]
    path = write_parquet(tmp_path / "a.parquet", texts, row_group=4)
    start = pq.ParquetFile(path).metadata.row_group(1).column(1).dictionary_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)
    file = open_text_file(path)
    assert list(file.read(0, range(4))) == texts[:4]
    with pytest.raises(UserError, match=r"a\.parquet, row group 1, column 'text'"):
        list(file.read(1, range(4)))


def test_lines_without_text_are_passed_over_and_the_first_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "good"}\n{"txt": "bad"}\n{"text": "to\n{"text": "too"}\n')
    file = open_text_file(tmp_path / "a.jsonl")
    for _ in range(2):
        assert list(file.read(0, range(4))) == ["good", None, None, "too"]
    assert len(caplog.messages) == 1
    assert "a.jsonl, line 2: not a JSON object with a field 'text'; it is passed over" in caplog.text


def test_a_file_whose_first_line_has_no_text_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"content": "other"}\n')
    with pytest.raises(UserError, match="line 1: not a JSON object with a field 'text'"):
        open_text_file(tmp_path / "a.jsonl")


def test_linked_folders_are_read_once_and_a_link_back_is_not_followed(tmp_path: Path) -> None:
    for name in ("data", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.jsonl").write_text('{"text": "x"}\n')
    (tmp_path / "data" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "data" / "other_link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(tmp_path / "data")
    corpus = text_corpus(str(tmp_path / "data"))
    assert corpus.train.count + corpus.valid.count == 2


def test_files_of_other_endings_are_counted_in_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("README.md", "b.jsonl.gz", "deep/c.jsonl.gz", ".gitattributes", ".cache/d.jsonl.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    with pytest.raises(UserError, match=r"holds no \.parquet, \.jsonl, \.txt files"):
        text_corpus(str(tmp_path))
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n' * 2)
    caplog.clear()
    text_corpus(str(tmp_path))
    list(read_texts(str(tmp_path)))  # takes Markdown, too
    list(read_set(str(tmp_path)))
    example = tmp_path / "b.jsonl.gz"
    assert [record.message.partition(";")[0] for record in caplog.records] == [
        f"not read: {count} files, such as {example}" for count in (3, 2, 3)
    ]


def test_of_one_file_the_last_documents_are_for_validation(tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(200)]
    corpus = text_corpus(str(write_parquet(tmp_path / "a.parquet", list(texts), row_group=64)))
    assert texts_of(corpus.train) == texts[:190]
    assert texts_of(corpus.valid) == texts[190:]
    assert (corpus.train.count, corpus.valid.count) == (190, 10)


def test_files_of_a_directory_are_one_corpus(tmp_path: Path) -> None:
    write_parquet(tmp_path / "b.parquet", [f"b{n}" for n in range(8)])
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": f"a{n}"}) + "\n" for n in range(8)))
    corpus = text_corpus(str(tmp_path))
    assert texts_of(corpus.train) + texts_of(corpus.valid) == [f"{name}{n}" for name in "ab" for n in range(8)]
    assert corpus.valid.count == 4


def test_repositories_stay_in_their_split_when_others_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))

    def build(count: int) -> None:
        names = [f"repo{number}.parquet" for number in range(count)]
        paths = [write_parquet(dataset_dir("leangithubraw") / name, [f"text of {name}"]) for name in names]
        files = {path.name: record_file(path) for path in paths}
        write_manifest(Manifest("leangithubraw", "a list", "", "", "2026-01-02T03:04:05Z", files))

    build(60)
    before = text_corpus("leangithubraw")
    assert 0 < before.valid.count < 15
    build(90)
    after = text_corpus("leangithubraw")
    assert set(texts_of(before.valid)) <= set(texts_of(after.valid))
    assert set(texts_of(before.train)) <= set(texts_of(after.train))


@pytest.mark.parametrize("name", ["nemotron", "leangithubraw"])
def test_a_data_set_that_is_not_there_says_what_fetches_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    with pytest.raises(UserError, match=re.escape(f"get it with: {how_to_get(name)}")):
        text_corpus(name)


def test_a_corpus_that_is_nowhere_names_the_choices(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="neither one of nemotron, leangithubraw, nanolean nor a file"):
        text_corpus(str(tmp_path / "nothing"))


def test_nanolean_is_its_library_and_its_proofs_written_as_theorems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hypotheses = [{"user_name": name, "type": kind} for name, kind in (("p", "Prop"), ("q", "Prop"), ("h", "p ∧ q"))]
    goal = {"type": "q ∧ p", "hypotheses": hypotheses}
    tactics = [("constructor", [1, 2]), ("exact h.2", []), ("exact h.1", [])]
    nodes = [
        {"id": number, "state": {"goals": [goal]}, "tactic": {"tactic_string": tactic, "children": children}}
        for number, (tactic, children) in enumerate(tactics)
    ]
    record = {"by_blocks": [{"tree": {"root_id": 0, "nodes": nodes}}]}
    lines = [{"path": f"{n}", "imports": [], "theorems": [{**record, "name": f"swap_{n}"}]} for n in range(10)]
    path = tmp_path / "transitions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setattr(nanolean_data, "transitions_file", lambda: path)
    corpus = text_corpus("nanolean")
    assert texts_of(corpus.valid) == [
        "theorem swap_9 (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  constructor\n  · exact h.2\n  · exact h.1\n"
    ]
    training = texts_of(corpus.train)
    assert any("theorem Nat.add_comm" in text for text in training if text)
    assert sum("theorem swap_" in text for text in training if text) == 9


def test_the_fingerprint_changes_with_the_files(tmp_path: Path) -> None:
    first = text_corpus(str(write_parquet(tmp_path / "a.parquet", [f"text {n}" for n in range(40)]))).train
    again = text_corpus(str(tmp_path / "a.parquet")).train
    other = text_corpus(str(write_parquet(tmp_path / "a.parquet", [f"other text {n}" for n in range(40)]))).train
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()
