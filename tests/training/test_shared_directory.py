"""A run directory that another machine does not see is found out before anything is written there."""

import dataclasses

import pytest

from nanoproof.common.errors import UserError
from nanoproof.training import setup
from nanoproof.training.setup import require_shared
from tests.training.small import ALONE


def test_the_directory_is_made_and_nothing_is_left_in_it(tmp_path):
    require_shared(tmp_path / "a" / "run", ALONE)
    assert list((tmp_path / "a" / "run").iterdir()) == []


def test_a_rank_that_does_not_see_the_directory_is_named_on_all(tmp_path, monkeypatch):
    other = dataclasses.replace(ALONE, rank=1, world_size=2)
    with pytest.raises(UserError, match=r"is not seen by rank 1 on \S+: all machines need the same file system there"):
        require_shared(tmp_path / "run", other, seconds=0.1)
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(setup, "gather_json", lambda value: [value, "rank 1 on far"])
    with pytest.raises(UserError, match="is not seen by rank 1 on far"):
        require_shared(tmp_path / "run", ALONE)
    assert list((tmp_path / "run").iterdir()) == []
