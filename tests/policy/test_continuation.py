"""What a plain language model writes behind a text."""

import pytest
import torch

from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.training.pretraining import greedy_texts
from scripts.interact import continuation


@pytest.fixture(scope="module")
def model(words: Tokenizer) -> GPT:
    torch.manual_seed(0)
    config = GPTConfig(vocab_size=words.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=48)
    return GPT.create(config)


def test_without_a_temperature_it_is_the_likeliest_text(model: GPT, words: Tokenizer) -> None:
    (expected,) = greedy_texts(model, words, ("exact h",))
    assert continuation(model, words, "exact h", 24, 0.0, 0) == expected


def test_with_a_temperature_the_seed_decides(model: GPT, words: Tokenizer) -> None:
    texts = [continuation(model, words, "exact h", 12, 1.0, seed) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_a_text_longer_than_the_model_is_cut_from_the_left(model: GPT, words: Tokenizer) -> None:
    assert isinstance(continuation(model, words, "exact h " * 200, 100, 0.0, 0), str)
