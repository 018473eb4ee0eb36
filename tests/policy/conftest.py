"""A small vocabulary for all tests of the policy."""

import pytest

from nanoproof.model.tokenizer import Tokenizer, train_tokenizer


@pytest.fixture(scope="session")
def words() -> Tokenizer:
    return train_tokenizer(["rw [h]", "exact h", "simp", "Nat.add_comm"], 460)
