"""A real session for the tests with NanoLean."""

from collections.abc import Iterator

import pytest

from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.types import LeanSession


@pytest.fixture(scope="module")
def session() -> Iterator[LeanSession]:
    """A lease of an embedded server."""
    with start_embedded(1) as servers, LeanServerClient(servers.addresses[0], servers.token).lease() as session:
        yield session
