"""The small models and vocabularies of the tests of model and policy; the ways in which an engine computes."""

from collections.abc import Iterator

import pytest

from nanoproof.inference import engine
from nanoproof.inference.native_backend import native_library
from nanoproof.inference.native_build import CannotBuild
from tests.model.conftest import model, tokenizer
from tests.policy.conftest import words

__all__ = ["model", "tokenizer", "words"]


@pytest.fixture(scope="module", params=["native", "torch"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """What computes where a test does not say it."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "torch":
            patch.setattr(engine, "open_native", lambda setting: (None, "this test"))
        else:
            try:
                native_library()
            except CannotBuild as error:
                pytest.skip(str(error))
        yield request.param


@pytest.fixture
def by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of torch's way are looked at."""
    monkeypatch.setattr(engine, "open_native", lambda setting: (None, "this test"))
