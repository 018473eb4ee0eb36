"""A small tokenizer and a small model with weights that matter in every layer."""

import pytest
import torch

from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer, train_tokenizer

torch.set_num_threads(1)

TEXTS = [
    "a b : Nat\nh : a = b\n⊢ a + 0 = b",
    "rw [Nat.add_zero]",
    "exact h",
    "induction n with | zero => ?_ | succ n ih => ?_",
    "simp [Nat.mul_comm, h]",
    "p q : Prop\n⊢ p ∧ q → q ∧ p",
    "intro h\nexact ⟨h.2, h.1⟩",
]


def make_model(tokenizer: Tokenizer, seed: int = 0, **options: object) -> GPT:
    """A tiny model whose output matrices are random instead of zero, so that every part influences the logits."""
    settings: dict = {"depth": 3, "aspect_ratio": 16, "head_dim": 16, "sequence_len": 128} | options
    torch.manual_seed(seed)
    model = GPT.create(GPTConfig(vocab_size=tokenizer.vocab_size, **settings))
    with torch.no_grad():
        for block in model.layers:
            torch.nn.init.normal_(block.attention_out.weight, std=0.15)
            torch.nn.init.normal_(block.down.weight, std=0.1)
        torch.nn.init.normal_(model.head.weight, std=0.2)
    return model


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return train_tokenizer(TEXTS * 3, 520)


@pytest.fixture(scope="session")
def model(tokenizer: Tokenizer) -> GPT:
    return make_model(tokenizer)
