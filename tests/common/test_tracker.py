import sys
from types import SimpleNamespace

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import NullTracker, make_tracker


def test_without_loggers_nothing_is_logged():
    assert isinstance(make_tracker((), "sft", "real", {}), NullTracker)


def test_a_run_without_a_name_is_tracked_under_that_of_its_directory(tmp_path, monkeypatch):
    begun = []
    run = SimpleNamespace(log=lambda *_, **__: None, finish=lambda: None)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda **how: (begun.append(how), run)[1]))
    make_tracker(("wandb",), "sft", "dummy", {}, path=tmp_path / "2026-01-01_00-00-00_dummy").close()
    assert begun[0]["name"] == "2026-01-01_00-00-00_dummy"


def test_a_tracker_that_cannot_start_ends_in_one_line(monkeypatch):
    def init(**_):
        raise RuntimeError("api_key not configured\n(no-tty)")

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    with pytest.raises(UserError, match=r"--loggers wandb: api_key not configured \(no-tty\).*WANDB_MODE=offline"):
        make_tracker(("wandb",), "sft", "real", {})


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
