import sys
from types import SimpleNamespace

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import NullTracker, make_tracker


def test_a_run_named_dummy_logs_nowhere():
    assert isinstance(make_tracker(("wandb",), "sft", "dummy", {}), NullTracker)


def test_only_rank_0_logs():
    assert isinstance(make_tracker(("wandb",), "sft", "real", {}, rank=1), NullTracker)


def test_an_unknown_logger_is_refused():
    with pytest.raises(UserError, match="--loggers knows wandb; got other"):
        make_tracker(("other",), "sft", "real", {})


def test_a_run_that_goes_on_is_tracked_under_the_same_id(tmp_path, monkeypatch):
    begun = []
    run = SimpleNamespace(log=lambda *_, **__: None, finish=lambda: None)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda **how: (begun.append(how), run)[1]))
    for name in ("one", "one", "other"):
        make_tracker(("wandb",), "rl", name, {}, path=tmp_path / name).close()
    ids = [how["id"] for how in begun]
    assert ids[0] == ids[1] != ids[2] and {how["resume"] for how in begun} == {"allow"}
