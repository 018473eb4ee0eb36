import sys
from types import SimpleNamespace

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import RunDir
from nanoproof.common.trackers import NullTracker, make_tracker


def test_without_loggers_nothing_is_logged():
    assert isinstance(make_tracker((), "sft", "real", {}), NullTracker)


class FakeTrackio(SimpleNamespace):
    """Notes what it is asked for."""

    def __init__(self):
        super().__init__(begun=[], logged=[], init=self.begin)

    def begin(self, project, **how):
        self.begun.append({"project": project, **how})
        return SimpleNamespace(log=lambda metrics, step: self.logged.append((metrics, step)), finish=lambda: None)


def test_trackers_get_the_same_metrics_and_trackio_a_name_that_is_of_one_run(tmp_path, monkeypatch):
    trackio, to_wandb = FakeTrackio(), []
    run = SimpleNamespace(log=lambda metrics, step: to_wandb.append((metrics, step)), finish=lambda: None)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda **how: run))
    monkeypatch.setitem(sys.modules, "trackio", trackio)
    for folder in ("here", "here", "there"):
        (tmp_path / folder).mkdir(exist_ok=True)
        tracker = make_tracker(("wandb", "trackio"), "rl", "mine", {"seed": 1}, path=tmp_path / folder)
        tracker.log({"loss": 0.5}, 3)
        tracker.close()
    assert trackio.logged == to_wandb == 3 * [({"loss": 0.5}, 3)]
    names = [how["name"] for how in trackio.begun]
    assert names[0] == names[1] != names[2] and names[0].startswith("mine ")
    assert {(how["project"], how["resume"]) for how in trackio.begun} == {("nanoproof-rl", "allow")}


def test_trackio_that_is_missing_or_fails_ends_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(UserError, match="pip install trackio"):
        make_tracker(("trackio",), "sft", "real", {})

    def init(*_, **__):
        raise ValueError("no write\ntoken")

    monkeypatch.setitem(sys.modules, "trackio", SimpleNamespace(init=init))
    with pytest.raises(UserError, match="--loggers trackio: no write token"):
        make_tracker(("trackio",), "sft", "real", {})


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
    with pytest.raises(UserError, match="--loggers knows wandb, trackio; got other"):
        make_tracker(("other",), "sft", "real", {})


def test_a_run_that_goes_on_is_tracked_under_the_same_id(tmp_path, monkeypatch):
    begun = []
    run = SimpleNamespace(log=lambda *_, **__: None, finish=lambda: None)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda **how: (begun.append(how), run)[1]))
    for name in ("one", "one", "other"):
        make_tracker(("wandb",), "rl", name, {}, path=tmp_path / name).close()
    ids = [how["id"] for how in begun]
    assert ids[0] == ids[1] != ids[2] and {how["resume"] for how in begun} == {"allow"}


def test_metrics_that_the_docs_do_not_list_are_noticed(listed_metrics, tmp_path):
    assert {"loss", "valid/tactic_perplexity", "theorems_proven"} <= listed_metrics
    run = RunDir(tmp_path)
    write = eval("lambda run, **values: run.metrics(1, **values)", {"__name__": "nanoproof.some.stage"})
    write(run, loss=0.5, **{"valid/loss": 0.5})
    with pytest.raises(AssertionError, match="does not list"):
        write(run, charm=1.0)
    run.close()
