"""The tokenizer command: what it reads, what it writes, and what it says when it cannot."""

import json
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.gpt.tokenizer import Tokenizer
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
    assert (meta["texts"], meta["characters"]) == (30, 420)


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
    assert not (tmp_path / "out").exists()
