"""GPT-2's vocabulary and the command that builds the large tokenizer from it."""

import json
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.model.tokenizer import MARKERS, SYMBOLS, Tokenizer, gpt2_merges, gpt2_tokenizer, load_tiktoken
from scripts.tok_build import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def built() -> Tokenizer:
    return gpt2_tokenizer()


@pytest.mark.nightly
def test_the_numbers_of_text_tokens_are_those_of_gpt2(built: Tokenizer) -> None:
    """Numbers that are known from GPT-2 itself."""
    assert len(gpt2_merges()) == 50_000
    assert built.encode("Hello world") == [15496, 995]
    assert built.encode("That's my beautiful and sweet string") == [2504, 338, 616, 4950, 290, 6029, 4731]
    assert built.encode("<|endoftext|>") == [27, 91, 437, 1659, 5239, 91, 29]
    assert built.describe(50255) == " gazed"


def test_symbols_and_markers_follow_in_this_order(built: Tokenizer) -> None:
    assert [built.encode(symbol) for symbol in SYMBOLS] == [[50256 + index] for index in range(117)]
    assert built.bos == 50256 + 117
    assert built.vocab_size == 50256 + 117 + 68 == 50441
    assert [built.describe(token) for token in range(built.bos, built.vocab_size)] == list(MARKERS)


@pytest.mark.nightly
def test_no_symbol_is_a_token_of_gpt2_already() -> None:
    plain = gpt2_tokenizer(())
    assert all(len(plain.encode(symbol)) > 1 for symbol in SYMBOLS)


@pytest.mark.nightly
def test_the_command_writes_one_encoding_in_two_forms(tmp_path: Path, built: Tokenizer, capsys) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    assert "50,441 tokens" in capsys.readouterr().out
    loaded, encoding = Tokenizer.load(tmp_path), load_tiktoken(tmp_path)
    assert loaded.fingerprint == built.fingerprint
    assert encoding.n_vocab == loaded.vocab_size
    text = "h : x ∈ s\n⊢ ∃ y, x ≤ y\n"
    framed = encoding.encode(f"<|endoftext|>{text}<|tactic|>", allowed_special="all")
    assert framed == [loaded.bos, *loaded.encode(text), loaded.tactic]
    assert json.loads((tmp_path / "tokenizer_meta.json").read_text())["fingerprint"] == built.fingerprint


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"--out .*file: cannot write there"):
        main(["--out", str(tmp_path / "file")])


def test_the_licence_notice_lies_beside_the_merges() -> None:
    notice = (resources.files("nanoproof.model") / "gpt2" / "NOTICE").read_text(encoding="utf-8")
    assert "MIT License" in notice and "OpenAI" in notice


def test_an_installed_package_contains_the_merges() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (pattern,) = project["tool"]["setuptools"]["package-data"]["nanoproof.model"]
    assert {file.name for file in (ROOT / "nanoproof" / "model").glob(pattern)} == {"merges.txt.gz", "NOTICE"}
