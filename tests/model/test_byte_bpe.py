"""The two libraries give the same tokens, for every vocabulary that is accepted; others are refused with the reason."""

import copy
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings

from nanoproof.common.errors import UserError
from nanoproof.model.tokenizer import (
    BYTE_OF_CHARACTER,
    MARKERS,
    PATTERNS,
    RANKS_FILE,
    SETTINGS_FILE,
    SYMBOLS,
    TOKENIZER_FILE,
    ByteBPE,
    Tokenizer,
    gpt2_tokenizer,
    load_tiktoken,
    make_text_tokenizer,
    save_tiktoken,
    train_tokenizer,
)
from tests.helpers import NIGHTLY
from tests.model.tok_texts import LEAN, any_text

Pair = tuple[tokenizers.Tokenizer, tiktoken.Encoding]
ASSIGNED = (*range(0xD800), *range(0xE000, 0x32400), *range(0xE0000, 0xE0200), *range(0x32400, 0x110000, 211))
UNICODE = "".join(map(chr, ASSIGNED))
"""All characters of the planes that are in use, and some of the others."""


def on_disk(tokenizer: Tokenizer, directory: Path) -> Pair:
    """Both forms of a tokenizer, read back from their files by the two libraries."""
    tokenizer.save(directory)
    save_tiktoken(tokenizer, directory)
    return tokenizers.Tokenizer.from_file(str(directory / TOKENIZER_FILE)), load_tiktoken(directory)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    texts = [LEAN, "don't  say 12 'tis", "Nat.add_comm n m\n\n  rw [h]", "x = y", "日本語 é"] * 10
    return {
        "gpt2": on_disk(gpt2_tokenizer(), tmp_path_factory.mktemp("gpt2")),
        "lean": on_disk(train_tokenizer(texts, 640), tmp_path_factory.mktemp("lean")),
        "trained gpt2": on_disk(train_tokenizer(texts, 640, "gpt2"), tmp_path_factory.mktemp("trained")),
    }


@pytest.mark.nightly
@given(text=any_text)
@settings(max_examples=40 * NIGHTLY, deadline=None)
def test_both_libraries_give_the_same_tokens(pairs: dict[str, Pair], text: str) -> None:
    for ours, theirs in pairs.values():
        assert ours.encode(text).ids == theirs.encode_ordinary(text)


@pytest.mark.nightly
def test_both_libraries_read_every_character_alike(pairs: dict[str, Pair]) -> None:
    """One character after the other, next to letters, digits, spaces and itself."""
    neighbours = random.Random(0)
    text = "".join(f"{neighbours.choice(('a', '1', '  ', '', '.', '⊢', c))}{c}" for c in UNICODE)
    for name in ("gpt2", "lean"):
        ours, theirs = pairs[name]
        for start in range(0, len(text), 1000):
            part = text[start : start + 1000]
            assert ours.encode(part).ids == theirs.encode_ordinary(part)


def test_both_libraries_merge_long_words_alike(pairs: dict[str, Pair]) -> None:
    letters = random.Random(0)
    for alphabet in ("ab", "aeinrst", "0123456789", "=-{}", "ℕ→", "éü"):
        word = "".join(letters.choices(alphabet, k=5000))
        for ours, theirs in pairs.values():
            assert ours.encode(word).ids == theirs.encode_ordinary(word)


def test_markers_are_special_tokens_for_tiktoken_and_plain_text_in_a_text(pairs: dict[str, Pair]) -> None:
    plain, encoding = pairs["gpt2"]
    first = encoding.n_vocab - len(MARKERS)
    for index, marker in enumerate(MARKERS):
        assert encoding.encode(marker, allowed_special="all") == [first + index]
        assert max(encoding.encode_ordinary(marker)) < first
        assert encoding.encode_ordinary(marker) == plain.encode(marker).ids


@pytest.mark.nightly
def test_without_symbols_the_words_are_those_of_gpt2() -> None:
    original = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    bpe = gpt2_tokenizer(()).bpe
    plain = tiktoken.Encoding(
        "plain", pat_str=original, mergeable_ranks=dict(zip(bpe.tokens, range(50256))), special_tokens={}
    )
    texts = [LEAN, "I'll say 'tis  so\n\n\tx²=1 \n", UNICODE[:3000], "a   \n b"]
    for text in texts:
        assert bpe.encoding("ours", ()).encode_ordinary(text) == plain.encode_ordinary(text)


@pytest.mark.parametrize("name", PATTERNS)
def test_symbols_are_no_ascii_and_need_no_escape_in_a_pattern(name: str) -> None:
    assert all(len(symbol) == 1 and not symbol.isascii() and re.escape(symbol) == symbol for symbol in SYMBOLS)
    assert PATTERNS[name]("").count("&&") == 0


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved() -> dict[str, Any]:
    return json.loads(train_tokenizer(["rw [Nat.add_comm] at h"] * 20, 480)._text.to_str())


def read(data: dict[str, Any]) -> ByteBPE:
    return ByteBPE.read(tokenizers.Tokenizer.from_str(json.dumps(data)))


def test_what_was_saved_can_be_read(saved: dict[str, Any]) -> None:
    assert read(saved).symbols == SYMBOLS


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["normalizer"], {"type": "NFKC"}, "normalizer"),
        (["pre_tokenizer"], {"type": "Whitespace"}, "patterns gpt2, lean"),
        (["pre_tokenizer"], None, "patterns gpt2, lean"),
        (["model", "ignore_merges"], False, "ignore_merges"),
        (["model", "dropout"], 0.5, "dropout"),
        (["model", "end_of_word_suffix"], "</w>", "end_of_word_suffix"),
        (["post_processor"], {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}, "post_processor"),
    ],
)
def test_settings_that_tiktoken_lacks_are_refused(saved: dict, path: list[str], value: Any, message: str) -> None:
    data = copy.deepcopy(saved)
    place = data if len(path) == 1 else data[path[0]]
    place[path[-1]] = value
    with pytest.raises(UserError, match=message):
        read(data)


def test_tokens_that_a_text_could_spell_as_markers_are_refused(saved: dict[str, Any]) -> None:
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(saved))
    tokenizer.add_special_tokens(["<|tactic|>"])
    with pytest.raises(UserError, match="added_tokens"):
        ByteBPE.read(tokenizer)


def test_merges_in_another_order_than_their_tokens_are_refused(saved: dict[str, Any]) -> None:
    data = copy.deepcopy(saved)
    data["model"]["merges"].insert(0, data["model"]["merges"].pop(3))
    with pytest.raises(UserError, match="not in the order of the merges"):
        read(data)


def vocabulary_of(merges: list[tuple[str, str]]) -> tokenizers.Tokenizer:
    """A tokenizer with these merges, and no symbols."""
    spellings = [*BYTE_OF_CHARACTER, *(left + right for left, right in merges)]
    return make_text_tokenizer({spelling: n for n, spelling in enumerate(spellings)}, merges, "gpt2", ())


def test_a_token_that_its_merges_never_make_is_refused_because_tiktoken_would_make_it() -> None:
    tokenizer = vocabulary_of([("b", "c"), ("a", "b"), ("ab", "c")])  # "abc" becomes a + bc, so ab + c is never seen
    tokenizer.model.ignore_merges = False
    assert [token.value for token in tokenizer.model.tokenize("abc")] == ["a", "bc"]
    tokenizer.model.ignore_merges = True
    with pytest.raises(UserError, match="never make token 258, 'abc'"):
        ByteBPE.read(tokenizer)


@pytest.mark.nightly
def test_random_vocabularies_are_refused_or_encode_alike() -> None:
    """Merges drawn at random often make tokens that are never reached; whatever is accepted must be the same twice."""
    accepted = 0
    for seed in range(300):
        draw = random.Random(seed)
        tokens, merges = ["a", "b", "c"], []
        for _ in range(draw.randint(1, 7)):
            left, right = draw.choice(tokens), draw.choice(tokens)
            if left + right not in tokens:
                tokens.append(left + right)
                merges.append((left, right))
        tokenizer = vocabulary_of(merges)
        try:
            encoding = ByteBPE.read(tokenizer).encoding("random", ())
        except UserError:
            continue
        accepted += 1
        for _ in range(20):
            text = "".join(draw.choices("abc", k=draw.randint(1, 30)))
            assert tokenizer.encode(text).ids == encoding.encode_ordinary(text)
    assert 30 < accepted < 290


# -- the files for tiktoken --------------------------------------------------------------------------------------------


def test_damaged_or_mixed_up_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_tiktoken(tmp_path)
    save_tiktoken(train_tokenizer(["a b"] * 9, 450), tmp_path)
    ranks = (tmp_path / RANKS_FILE).read_bytes()
    (tmp_path / RANKS_FILE).write_bytes(ranks[:-9])
    with pytest.raises(UserError, match="damaged, or belongs to another"):
        load_tiktoken(tmp_path)
    (tmp_path / RANKS_FILE).unlink()
    with pytest.raises(UserError, match=RANKS_FILE):
        load_tiktoken(tmp_path)
    (tmp_path / SETTINGS_FILE).write_text('{"name": "x"}')
    with pytest.raises(UserError, match="does not describe an encoding"):
        load_tiktoken(tmp_path)
