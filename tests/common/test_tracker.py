import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.tracker import NullTracker, make_tracker


def test_a_run_named_dummy_logs_nowhere():
    assert isinstance(make_tracker(("wandb",), "sft", "dummy", {}), NullTracker)


def test_only_rank_0_logs():
    assert isinstance(make_tracker(("wandb",), "sft", "real", {}, rank=1), NullTracker)


def test_an_unknown_logger_is_refused():
    with pytest.raises(UserError, match="--loggers knows wandb; got other"):
        make_tracker(("other",), "sft", "real", {})
