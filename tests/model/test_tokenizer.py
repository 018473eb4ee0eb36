"""Text survives the tokenizer; symbols and digits stand alone; markers have no spelling."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.common.errors import UserError
from nanoproof.model.tokenizer import MARKERS, SYMBOLS, Tokenizer, train_tokenizer
from tests.helpers import NIGHTLY
from tests.model.tok_texts import LEAN, any_text


@given(text=any_text)
@settings(max_examples=50 * NIGHTLY, deadline=None)
def test_decoding_undoes_encoding(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_every_symbol_is_one_token_in_any_company(tokenizer: Tokenizer) -> None:
    assert len(SYMBOLS) == len(set(SYMBOLS)) == 117
    for symbol in SYMBOLS:
        spelled = [tokenizer.describe(token) for token in tokenizer.encode(f"x{symbol}{symbol} y{symbol}")]
        assert [piece for piece in spelled if symbol in piece] == [symbol] * 3


def test_no_merge_reaches_across_a_symbol() -> None:
    tokenizer = train_tokenizer(["a→b ⊢⊢ x≤y"] * 500, 460)
    for token in range(tokenizer.num_text_tokens):
        piece = tokenizer.describe(token)
        assert len(piece) == 1 or not any(symbol in piece for symbol in SYMBOLS)


def test_digits_stand_alone() -> None:
    tokenizer = train_tokenizer(["h12 = 12345 + 12345"] * 500, 500)
    spelled = [tokenizer.describe(token) for token in tokenizer.encode("h12 = 12345")]
    assert all(sum(character.isdigit() for character in piece) <= 1 for piece in spelled)


def test_frequent_lemma_names_become_one_token() -> None:
    tokenizer = train_tokenizer(["rw [Nat.add_comm]"] * 200, 480)
    assert "Nat.add_comm" in [tokenizer.describe(token) for token in tokenizer.encode("rw [Nat.add_comm]")]


def test_text_that_looks_like_a_marker_is_text(tokenizer: Tokenizer) -> None:
    for marker in MARKERS:
        tokens = tokenizer.encode(marker)
        assert max(tokens) < tokenizer.num_text_tokens
        assert tokenizer.decode(tokens) == marker


def test_markers_follow_the_text_tokens_and_decode_to_nothing(tokenizer: Tokenizer) -> None:
    markers = [tokenizer.bos, tokenizer.pad, tokenizer.tactic, tokenizer.value, *tokenizer.bins]
    assert markers == list(range(tokenizer.num_text_tokens, tokenizer.vocab_size))
    assert tokenizer.eos == tokenizer.bos
    assert [tokenizer.describe(token) for token in markers] == list(MARKERS)
    assert tokenizer.decode([tokenizer.bos, *tokenizer.encode("simp"), tokenizer.bins[3], 10**9, -1]) == "simp"


def test_halves_of_characters_decode_to_a_replacement(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode("😀")[:2]) == "�"


def test_saving_and_loading_changes_nothing(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path)
    loaded = Tokenizer.load(tmp_path)
    assert loaded.vocab_size == tokenizer.vocab_size
    assert loaded.encode("h : ∀ x, x = 10") == tokenizer.encode("h : ∀ x, x = 10")
    assert Tokenizer.load(tmp_path / "tokenizer.json").bins == tokenizer.bins


def test_training_is_deterministic() -> None:
    texts = ["induction n with", "intro h", "⊢ a + b = b + a"] * 5
    first, second = train_tokenizer(texts, 480), train_tokenizer(texts, 480)
    assert first.vocab_size == second.vocab_size
    tokens = range(first.vocab_size)
    assert [first.describe(token) for token in tokens] == [second.describe(token) for token in tokens]


def test_the_vocabulary_has_the_size_asked_for() -> None:
    assert train_tokenizer(["induction n with | zero => simp"] * 50, 460).vocab_size == 460


def test_a_vocabulary_without_room_is_refused() -> None:
    with pytest.raises(UserError, match=r"--vocab-size must be >= 441 .*, got 300"):
        train_tokenizer(["text"], 300)


def test_missing_and_damaged_files_are_user_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no tokenizer at .*scripts\.tok_build .*scripts\.tok_train"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(UserError, match="is not a tokenizer"):
        Tokenizer.load(tmp_path)


# -- many texts at once ------------------------------------------------------------------------------------------------


@given(texts=st.lists(any_text, max_size=8), threads=st.integers(1, 4))
@settings(max_examples=25 * NIGHTLY, deadline=None)
def test_many_texts_become_what_each_becomes_alone(tokenizer: Tokenizer, texts: list[str], threads: int) -> None:
    expected = [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_batch(texts, threads) == expected
    arrays = tokenizer.encode_arrays(texts, threads)
    assert [array.tolist() for array in arrays] == expected
    assert all(array.dtype == np.uint32 for array in arrays)


def test_several_threads_keep_the_order_of_the_texts(tokenizer: Tokenizer) -> None:
    texts = [f"text {number} " * (1 + number % 700) for number in range(300)]
    assert tokenizer.encode_batch(texts, threads=4) == tokenizer.encode_batch(texts, threads=1)


@pytest.mark.parametrize("run", [" " * 1_100_000, "ab" * 100_000, "=" * 200_000])
def test_very_long_runs_are_encoded(tokenizer: Tokenizer, run: str) -> None:
    assert tokenizer.decode(tokenizer.encode(run)) == run


def test_what_is_not_unicode_is_refused(tokenizer: Tokenizer) -> None:
    for broken in ("ab\ud800c", "\udfff"):
        with pytest.raises(UserError, match="lone surrogate at character"):
            tokenizer.encode(broken)
        with pytest.raises(UserError, match="lone surrogate at character"):
            tokenizer.encode_arrays(["fine", broken])


def test_bytes_of_tokens_add_up_to_those_of_the_text(tokenizer: Tokenizer) -> None:
    sizes = tokenizer.token_bytes()
    assert sizes.shape == (tokenizer.vocab_size,)
    for text in (LEAN, "😀é⊢ x", ""):
        assert sizes[tokenizer.encode(text)].sum() == len(text.encode())
    assert not sizes[tokenizer.bos :].any() and sizes[: tokenizer.bos].all()


def test_the_fingerprint_tells_vocabularies_apart(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path)
    texts = ["intro h", "⊢ a + b = b + a"] * 5
    others = [train_tokenizer(texts, 443), train_tokenizer(texts, 444), train_tokenizer(texts, 443, "gpt2")]
    assert Tokenizer.load(tmp_path).fingerprint == tokenizer.fingerprint
    assert len({tokenizer.fingerprint, *(other.fingerprint for other in others)}) == 4
    assert others[0].fingerprint == train_tokenizer(texts, 443).fingerprint


def test_a_tokenizer_can_be_sent_to_another_process(tokenizer: Tokenizer) -> None:
    sent = pickle.loads(pickle.dumps(tokenizer))
    assert (sent.fingerprint, sent.encode(LEAN)) == (tokenizer.fingerprint, tokenizer.encode(LEAN))
