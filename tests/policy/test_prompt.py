"""Prompts: what training uses, and of long states the end, the same tokens as if all had been encoded."""

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.lean.types import Theorem
from nanoproof.model.tokenizer import Tokenizer, gpt2_tokenizer, train_tokenizer
from nanoproof.policy.prompt import PROOF_MARKER, last_tokens, prompt_tokens, proof_prompt, statement_to_prove
from tests.helpers import NIGHTLY


@cache
def tokenizers() -> tuple[Tokenizer, ...]:
    return train_tokenizer(["rw [h] at h", "Nat.add_comm x y", "  simp"], 460), gpt2_tokenizer()


PIECES = st.sampled_from(
    [*"ab'._0123 \n\t⊢ℕé[]:=\0", "  ", "\n\n", "\n⊢ ", " : ", "\u2003", "\u00a0", "\x1c", "\u0085"]
)


@settings(max_examples=50 * NIGHTLY, deadline=None)
@given(st.lists(PIECES, max_size=400).map("".join), st.integers(0, 40))
def test_the_end_of_a_text_has_the_tokens_that_it_has_in_the_whole(text: str, count: int) -> None:
    for tokenizer in tokenizers():
        whole = tokenizer.encode(text)
        assert last_tokens(tokenizer, text, count) == whole[len(whole) - min(count, len(whole)) :]


def test_long_states_keep_their_goal(words: Tokenizer) -> None:
    prompt = prompt_tokens(words, "x : ℕ\n" * 100 + "⊢ goal", max_tokens=20)
    assert len(prompt) == 19  # and the marker
    assert prompt[0] == words.bos
    assert words.decode(prompt).endswith("⊢ goal\n")


def test_a_million_characters_cost_no_more_than_their_end(words: Tokenizer) -> None:
    encoded: list[int] = []

    class Counting(Tokenizer):
        def __init__(self) -> None:
            self.bos = words.bos

        def encode(self, text: str) -> list[int]:
            encoded.append(len(text))
            return words.encode(text)

    assert len(prompt_tokens(Counting(), "x : ℕ\n" * 200_000 + "⊢ goal", 512)) == 511
    assert sum(encoded) < 20_000


def test_a_word_of_a_million_letters_has_a_prompt_too(words: Tokenizer) -> None:
    assert len(prompt_tokens(words, "a" * 1_000_000, 512)) == 511


def test_there_is_always_room_for_the_start(words: Tokenizer) -> None:
    assert prompt_tokens(words, "⊢ True", max_tokens=2) == [words.bos]


def test_a_comment_in_a_statement_swallows_nothing() -> None:
    theorem = Theorem("theorem t (a : Nat) -- one\n    (b : Nat) : a = b -- := by\n  := by sorry")
    assert proof_prompt(theorem) == f"theorem (a : Nat) (b : Nat) : a = b := by\n{PROOF_MARKER}"
    assert statement_to_prove(theorem) == theorem.source.replace("by sorry", "by\n")
