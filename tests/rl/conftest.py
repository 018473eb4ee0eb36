import pytest

from tests.helpers import made_once
from tests.rl import tiny


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A network that has learned the tiny data set (`sft`), and that data set."""
    return made_once(tmp_path_factory, "tiny", tiny.make_checkpoint)
