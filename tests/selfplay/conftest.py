import pytest

from tests.selfplay import tiny


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A network that has learned the tiny data set (`sft`), and that data set."""
    path = tmp_path_factory.mktemp("tiny")
    tiny.make_checkpoint(path)
    return path
