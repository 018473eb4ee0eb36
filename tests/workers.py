"""Tests in several processes: `python -m pytest -p tests.workers --workers 8`.

They are forked once all tests are collected. Workers that start anew, as those of pytest-xdist do, would each import
torch and collect all of them, and start a server of forks of their own: with eight workers a tenth of what the whole
suite takes.
"""

import gc
import importlib.util
import os
import signal
from collections.abc import Iterator
from itertools import chain, pairwise
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest
from _pytest.config import create_terminal_writer

from tests.helpers import FORKED_FROM

CONTEXT = get_context("fork")
MANY = 50
"""Files of tests from which on workers share what takes long to import."""
USED_BY_MANY = ("torch._dynamo", "transformers.models.llama.modeling_llama", "peft")
"""What is imported when something is first trained, or a model of others is read, and by no file of tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, help="processes that run the tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests of a file in one worker, and take the next file when it is done; this process only reports."""
    config = session.config
    if session.testsfailed or config.option.collectonly or config.option.workers < 2:
        return None  # pytest's own loop
    files: dict[object, list[pytest.Item]] = {}
    for item in session.items:
        files.setdefault(item.path, []).append(item)
    if len(files) >= MANY:
        _import_for_all()
    config._tmp_path_factory.getbasetemp()  # the workers' folders are made in it
    taken = CONTEXT.Value("i", 0)
    workers: dict[Connection, Any] = {}
    for number in range(min(config.option.workers, len(files))):
        here, there = CONTEXT.Pipe(duplex=False)
        worker = CONTEXT.Process(target=_work, args=(number, session, list(files.values()), taken, there))
        worker.start()
        there.close()
        workers[here] = worker
    try:
        while workers:
            for here in wait(list(workers)):
                _report(session, here, workers)
    finally:
        for worker in workers.values():
            os.kill(worker.pid, signal.SIGINT)
    return True


def _import_for_all() -> None:
    """Import here what many files use, and have one server of forks for all workers that has imported it, too."""
    present = [name for name in USED_BY_MANY if importlib.util.find_spec(name.partition(".")[0]) is not None]
    forkserver.set_forkserver_preload([*FORKED_FROM, *present])
    forkserver.ensure_running()
    forkserver._forkserver.ensure_running = lambda: None  # which only the process that has started it may ask
    for name in present:
        importlib.import_module(name)
    gc.freeze()


def _report(session: pytest.Session, here: Any, workers: dict[Connection, Any]) -> None:
    """Tell pytest what one worker says, as if the test had been run in this process."""
    hook = session.config.hook
    try:
        data = here.recv()
    except EOFError:
        worker = workers.pop(here)
        worker.join()
        raise session.Interrupted(f"a worker ended in the midst of its tests, exit code {worker.exitcode}") from None
    if data is None:
        workers.pop(here).join()
        return
    report = hook.pytest_report_from_serializable(config=session.config, data=data)
    hook.pytest_runtest_logreport(report=report)
    if report.when == "teardown":
        hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)


class _Sender:
    """The plugin of a worker that sends its reports to the process that shows them."""

    def __init__(self, config: pytest.Config, there: Connection) -> None:
        self.config, self.there = config, there

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.there.send(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))


def _work(number: int, session: pytest.Session, files: list[list[pytest.Item]], taken: Any, there: Connection) -> None:
    config = session.config
    capture = config.pluginmanager.get_plugin("capturemanager")
    capture.stop_global_capturing()  # into files that all processes would share
    capture.start_global_capturing()
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reporter._tw = create_terminal_writer(config, open(os.devnull, "w"))
    config.pluginmanager.register(_Sender(config, there))
    factory = config._tmp_path_factory
    os.environ["NANOPROOF_TESTS_SHARE"] = str(factory.getbasetemp())
    factory._basetemp = factory.mktemp(f"worker{number}_")
    items = chain.from_iterable(_taken(files, taken))
    for item, following in pairwise(chain(items, [None])):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    there.send(None)


def _taken(files: list[list[pytest.Item]], taken: Any) -> Iterator[list[pytest.Item]]:
    """Yield the tests of the files that no worker has taken before."""
    while True:
        with taken.get_lock():
            number, taken.value = taken.value, taken.value + 1
        if number >= len(files):
            return
        yield files[number]
