"""The small models and vocabularies of the tests of model and policy."""

from tests.model.conftest import model, tokenizer
from tests.policy.conftest import words

__all__ = ["model", "tokenizer", "words"]
