"""Comparing tokenizers: the numbers are right, the baseline is GPT-2, and what is missing is named."""

import json
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.model.tokenizer import train_tokenizer
from scripts.tok_eval import count, load_tokenizers, main
from scripts.tok_samples import SAMPLES


@pytest.mark.nightly
def test_counts_are_those_of_the_tokenizers() -> None:
    tokenizers = load_tokenizers(("built",))
    plain, built = count("k", ["⊢ a", "ℕ"], tokenizers)
    assert (plain.tokenizer, built.tokenizer) == ("gpt2", "built")
    assert (built.characters, built.bytes, built.tokens) == (4, 8, 3)
    assert plain.tokens == sum(len(tokenizers["gpt2"].encode(text)) for text in ("⊢ a", "ℕ"))
    assert built.bytes_per_token == pytest.approx(8 / 3)
    assert built.tokens_per_character == pytest.approx(3 / 4)
    assert built.relative == pytest.approx(3 / plain.tokens)


def test_symbols_save_tokens_in_lean_and_cost_none_in_english(tmp_path: Path) -> None:
    assert main(["--tokenizer", "built", "--json", str(tmp_path / "out.json")]) == 0
    rows = json.loads((tmp_path / "out.json").read_text())
    relative = {row["kind"]: row["relative"] for row in rows if row["tokenizer"] == "built"}
    assert set(relative) == set(SAMPLES)
    assert relative["English"] == relative["code"] == 1
    assert max(relative["Lean source"], relative["proof states"], relative["tactics"]) < 0.98


def test_own_tokenizers_and_texts_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train_tokenizer(["zig zag zog\n"] * 50, 470).save(tmp_path / "mine")
    (tmp_path / "text.txt").write_text("zig zag zog\n" * 9, encoding="utf-8")
    arguments = ["--tokenizer", str(tmp_path / "mine"), "--input", str(tmp_path / "text.txt"), "--no-samples"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    (mine,) = [line for line in lines if line.lstrip().startswith(str(tmp_path / "mine"))]
    assert mine.split()[1:4] == ["36", "3.00", "0.333"]
    assert lines[-1].startswith("round trip")


def test_by_default_the_tokenizer_at_home_is_compared_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    assert list(load_tokenizers(())) == ["gpt2", "built"]
    train_tokenizer(["a b"], 450).save(tmp_path / "tokenizer")
    assert list(load_tokenizers(())) == ["gpt2", "built", str(tmp_path / "tokenizer")]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no tokenizer at .*nowhere"):
        main(["--tokenizer", str(tmp_path / "nowhere")])
    with pytest.raises(UserError, match=r"--input .*nowhere: no such file"):
        main(["--input", str(tmp_path / "nowhere"), "--no-samples"])
    with pytest.raises(UserError, match="--no-samples leaves nothing"):
        main(["--no-samples"])
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(UserError, match="there is no text in it"):
        main(["--input", str(tmp_path / "empty.txt"), "--no-samples"])
