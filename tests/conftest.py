"""Shared by all tests: one thread for torch, Ctrl-C as at a terminal, and a home of its own for what is written."""

import gc
import importlib
import logging
import os
import re
import signal
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from multiprocessing import forkserver
from pathlib import Path
from threading import Lock

import pytest
from hypothesis import HealthCheck, settings

from nanoproof.common.commands import run
from nanoproof.common.run_dir import LogFile, RunDir
from nanoproof.lean import certificates, embedded, lean_kernel
from nanoproof.repos import certified
from tests import borrowed_servers
from tests.helpers import fork_server, made_once

os.environ.setdefault("OMP_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script; processes would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
NEEDED_BY_MANY = (
    "torch._dynamo",  # by the first step of any optimizer
    "transformers.models.auto.modeling_auto",
    "transformers.models.llama.modeling_llama",
    "peft",
)
"""Modules that take four seconds of processor to import, imported before workers are forked, and by the process that
these have the ranks of a run forked from. There is one such process for all workers: each took three seconds."""

# The same draws each time, so that a change is not refused for what it did not touch; nightly runs draw others, more.
always_alike = "NANOPROOF_NIGHTLY" not in os.environ
settings.register_profile(
    "any machine",
    max_examples=40 if always_alike else 100,
    deadline=None,
    derandomize=always_alike,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")


def pytest_collection() -> None:
    gc.disable()  # nothing of ten thousand tests becomes garbage while they are collected


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.getoption("workers", 1) > 1 and not session.config.option.collectonly:
        for module in NEEDED_BY_MANY:
            with suppress(ImportError):
                importlib.import_module(module)
        fork_server(NEEDED_BY_MANY)
        forkserver.ensure_running()
    gc.freeze()  # else each evaluation, which collects garbage when it has drawn its curve, would walk all of them
    gc.set_threshold(50_000, 20, 20)  # to look for garbage after every 700 new objects took a twentieth of all time
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long: of several workers none is left with them when the others have ended."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session", autouse=True)
def nanoproof_home(tmp_path_factory):
    """`$NANOPROOF_HOME` of the tests; the library's cache in it is shared by all of them."""
    if "NANOPROOF_HOME" not in os.environ:
        os.environ["NANOPROOF_HOME"] = str(made_once(tmp_path_factory, "home", lambda folder: None))
    return os.environ["NANOPROOF_HOME"]


@pytest.fixture(scope="session", autouse=True)
def listed_metrics():
    """A stage that writes a metric which docs/training.md does not list fails the test that runs it."""
    text = (Path(__file__).parents[1] / "docs" / "training.md").read_text(encoding="utf-8")
    rows = text.split("## Metrics")[1].split("\n## ")[0].splitlines()
    names = {"seen"}  # of a stage of the tests' own (tests/training/test_loop.py)
    for row in rows:
        cells = row.split("|")
        if len(cells) > 2:
            names |= set(re.findall(r"`([\w/]+)`", cells[1]))
    write = RunDir.metrics

    def checked(self, step, **values):
        if sys._getframe(1).f_globals["__name__"].startswith("nanoproof."):
            unlisted = {name for name in values if name not in names and name.removeprefix("valid/") not in names}
            assert not unlisted, f"docs/training.md, Metrics, does not list {sorted(unlisted)}"
        write(self, step, **values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunDir, "metrics", checked)
        yield names


@pytest.fixture(scope="session", autouse=True)
def curves_are_empty_files():
    """Evaluations draw no curve, which takes longer than all else in most of them; one in tests/evaluation does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nanoproof.evaluation.results.plot_curve", lambda summary, file: file.touch())
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates_here():
    """Certificates are written and compared in this process. A process for each of the two, at the end of every
    evaluation over NanoLean, reads the library anew and has the kernel check it: two seconds of processor.

    That these are processes, which do not trust what another has read, is for tests/test_certificates.py.
    """
    lock = Lock()  # standard output belongs to all threads

    def run_here(command, cwd, seconds):
        if tuple(command[:3]) != certificates.NANOLEAN:
            return run(command, cwd, seconds)
        from nanolean.__main__ import main
        from nanolean.data.replay import library
        from nanolean.tools import certificates as tool

        with lock, pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as said:
            patch.setattr(tool, "load_library", lambda distrust=False: library())
            code = main(command[3:])
        return code, said.getvalue()

    with pytest.MonkeyPatch.context() as patch:
        for module in (certificates, certified, embedded):
            patch.setattr(module, "run", run_here)
        # Two seconds more for each evaluation where it is installed; tests/test_lean_kernel.py asks it.
        patch.setattr(lean_kernel, "installed", lambda: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def embedded_servers_are_borrowed():
    """That they start, end and leave nothing is for tests/lean/test_server_command.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded, "EmbeddedServers", borrowed_servers.BorrowedServers)
        yield
    borrowed_servers.close_all()


@pytest.fixture
def empty_home(nanoproof_home, tmp_path, monkeypatch):
    """A `$NANOPROOF_HOME` where nothing is but the cache of NanoLean's library, which takes seconds to build."""
    cache, home = Path(nanoproof_home) / "cache", tmp_path / "home"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.mkdir()
    (home / "cache").symlink_to(cache)
    monkeypatch.setenv("NANOPROOF_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def usual_logging():
    """Commands that other tests ran in this process have set the level that they were asked for, and left handlers that
    write to files and captured output of then."""
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    for handler in [handler for handler in root.handlers if type(handler) in (logging.StreamHandler, LogFile)]:
        root.removeHandler(handler)
        handler.close()
