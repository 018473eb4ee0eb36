"""A small data set `nanolean`, with all proofs of the library, made once for all tests of data."""

from pathlib import Path

import pytest

from nanolean.data.make import QUOTAS, Quota, make
from nanoproof.data.nanolean import held_out_keys
from nanoproof.data.transitions.leantree import goal_object
from tests.helpers import made_once

SMALL = {name: Quota((3, 3, 2), tuple(map(min, (2, 2, 1, 1, 1, 1), quota.stated))) for name, quota in QUOTAS.items()}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `train.jsonl`, `transitions.jsonl` and `manifest.json`."""
    return made_once(
        tmp_path_factory,
        "nanolean",
        lambda folder: make(folder, held_out_keys(), 3, goal_object, workers=2, quotas=SMALL, exercises_each=0),
    )
