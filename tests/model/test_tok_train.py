"""The tokenizer command: what it reads, what it writes, and what it says when it cannot."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nanoproof.common.errors import UserError
from nanoproof.model.tokenizer import LONGEST_WORD, SYMBOLS, Tokenizer, load_tiktoken, train_tokenizer, word_splitter
from scripts.tok_texts import read_texts
from scripts.tok_train import main

STATE = {"goals": [{"type": "frobnicate x = x", "hypotheses": [{"type": "Nat", "user_name": "x"}]}]}


def leantree_line() -> str:
    node = {"id": 0, "state": STATE, "tactic": {"tactic_string": "zigzag"}, "proof_size": 1, "proof_depth": 1}
    tree = {"root_id": 0, "nodes": [node]}
    return json.dumps({"path": "A.lean", "imports": [], "theorems": [{"by_blocks": [{"tree": tree}]}]}) + "\n"


def pieces(out: Path, text: str) -> list[str]:
    tokenizer = Tokenizer.load(out)
    return [tokenizer.describe(token) for token in tokenizer.encode(text)]


def test_it_learns_from_the_states_and_tactics_of_leantree_files(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text(leantree_line() * 20)
    main(["--input", str(data), "--vocab-size", "500", "--out", str(tmp_path / "out")])
    assert pieces(tmp_path / "out", "⊢ frobnicate") == ["⊢", " frobnicate"]
    assert pieces(tmp_path / "out", "zigzag") == ["zigzag"]
    assert pieces(tmp_path / "out", "proof_depth") != ["proof_depth"], "JSON itself is not text to learn from"


def test_it_learns_from_text_files_and_says_how_it_was_made(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("wibble wobble\n" * 30, encoding="utf-8")
    main(["--input", str(tmp_path / "a.txt"), "--vocab-size", "470", "--out", str(tmp_path)])
    assert pieces(tmp_path, "wibble wobble") == ["wibble", " wobble"]
    meta = json.loads((tmp_path / "tokenizer_meta.json").read_text())
    assert meta["vocab_size"] == Tokenizer.load(tmp_path).vocab_size
    assert meta["characters"] == 420


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no such file"), (b"\xff\xfe", "not UTF-8 text"), (b"", "there is no text in it")],
)
def test_unusable_input_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    source = tmp_path / "source.txt"
    if content is not None:
        source.write_bytes(content)
    with pytest.raises(UserError, match=message):
        main(["--input", str(source), "--out", str(tmp_path / "out")])
    with pytest.raises(UserError, match="--vocab-size must be <= 1048576"):  # tokenizers makes room at once, or aborts
        main(["--input", str(source), "--vocab-size", str(10**12)])
    assert not (tmp_path / "out").exists()


def test_directories_and_parquet_are_read_up_to_a_number_of_characters(tmp_path: Path) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    pq.write_table(pa.table({"text": ["wibble " * 40, None, "never seen"]}), tmp_path / "data" / "a.parquet")
    (tmp_path / "data" / "deep" / "b.lean").write_text("wobble " * 40, encoding="utf-8")
    (tmp_path / "data" / "c.bin").write_bytes(b"\xff")
    texts = list(read_texts(str(tmp_path / "data")))
    assert texts == ["wibble " * 40, "never seen", "wobble " * 40]
    assert list(read_texts(str(tmp_path / "data"), 283)) == ["wibble " * 40, "nev"]
    main(["--input", str(tmp_path / "data"), "--max-chars", "280", "--vocab-size", "480", "--out", str(tmp_path)])
    assert json.loads((tmp_path / "tokenizer_meta.json").read_text())["characters"] == 280
    assert pieces(tmp_path, "wibble") == ["wibble"]
    assert len(pieces(tmp_path, "wobble")) > 1


def test_json_lines_with_texts_are_told_from_leantree(tmp_path: Path) -> None:
    (tmp_path / "plain.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    (tmp_path / "tree.jsonl").write_text(leantree_line())
    assert list(read_texts(str(tmp_path / "plain.jsonl"))) == ["one", "two"]
    assert list(read_texts(str(tmp_path / "tree.jsonl"))) == ["x : Nat\n⊢ frobnicate x = x\n", "zigzag"]


def test_the_pattern_decides_what_is_one_word(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Nat.add_comm 77\n" * 50)
    for pattern, expected in (("lean", ["Nat.add_comm"]), ("gpt2", ["Nat", ".", "add", "_", "comm"])):
        out = tmp_path / pattern
        main(["--input", str(tmp_path / "a.txt"), "--vocab-size", "500", "--pattern", pattern, "--out", str(out)])
        assert pieces(out, "Nat.add_comm") == expected
    tokens = Tokenizer.load(tmp_path / "lean").encode("x ≤ 77")
    assert load_tiktoken(tmp_path / "lean").encode_ordinary("x ≤ 77") == tokens


def test_an_empty_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--input .*: .* holds no \.parquet, "):
        main(["--input", str(tmp_path)])


def test_words_without_end_are_learned_from_in_parts_and_others_as_they_are() -> None:
    text = "theorem add_comm' (a b : ℕ) : a + b = b + a := by\n  omega\n" * 20
    long_word = "x" * (2 * LONGEST_WORD) + "yz"
    splitter = word_splitter("lean", SYMBOLS, LONGEST_WORD)
    sizes = [len(word) for word, _ in splitter.pre_tokenize_str(long_word)]
    assert sizes == [LONGEST_WORD, LONGEST_WORD, 2]
    assert splitter.pre_tokenize_str(text) == word_splitter("lean", SYMBOLS).pre_tokenize_str(text)
    learned = train_tokenizer([long_word], 500)
    assert max(map(len, learned.bpe.tokens)) == LONGEST_WORD and learned.decode(learned.encode(long_word)) == long_word
