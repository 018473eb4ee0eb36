"""`pytest -p tests.workers --workers 5`: collect once, then fork processes that run files of tests side by side.

Each of pytest-xdist's workers imports torch and collects all tests for itself: ten seconds of processor, five times.
"""

import atexit
import os
import sys
from collections import deque
from multiprocessing import forkserver
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, help="processes that run files of tests side by side")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: Any) -> bool | None:
    options = session.config.option
    if options.workers < 2 or options.collectonly or session.testsfailed:
        return None  # pytest does what it does without us
    files: dict[str, list[int]] = {}
    for index, item in enumerate(session.items):
        files.setdefault(item.nodeid.partition("::")[0], []).append(index)
    waiting = deque(files.values())
    folder = session.config._tmp_path_factory.getbasetemp()  # made here, for all of them
    workers: list[Worker] = []
    try:
        for number in range(min(options.workers, len(files))):
            workers.append(Worker(session, number, folder, workers))
        while workers:
            for ready in wait([worker.connection for worker in workers]):
                worker = next(worker for worker in workers if worker.connection is ready)
                try:
                    what, value = worker.connection.recv()
                except (EOFError, OSError):
                    what, value = "gone", None
                if what == "more":
                    worker.give(waiting.popleft() if waiting else [])
                elif what == "begins":
                    worker.begins(value)
                elif what == "report":
                    hook = session.config.hook
                    report = hook.pytest_report_from_serializable(config=session.config, data=value)
                    hook.pytest_runtest_logreport(report=report)
                elif what == "warning":
                    session.config.hook.pytest_warning_recorded.call_historic(kwargs=value)
                else:
                    workers.remove(worker)
                    os.waitpid(worker.pid, 0)
                    if what == "gone":
                        worker.report_death()
                    if worker.left:
                        waiting.appendleft(worker.left)
                        workers.append(Worker(session, worker.number, folder, workers))
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)
    finally:
        for worker in workers:
            worker.connection.close()  # it ends after the test that it is at
        for worker in workers:
            os.waitpid(worker.pid, 0)
    return True


class Worker:
    """A forked process, and the tests that it was given."""

    def __init__(self, session: pytest.Session, number: int, folder: Path, others: list["Worker"]) -> None:
        self._session = session
        self._running: pytest.Item | None = None
        self.number = number
        self.left: list[int] = []
        """Tests that it has not begun."""
        sys.stdout.flush()
        sys.stderr.flush()
        self.connection, theirs = Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for worker in (self, *others):  # else they would not notice that the process which collected is gone
                    worker.connection.close()
                run_tests(session, theirs, number, folder / f"gw{number}")
            except (KeyboardInterrupt, BrokenPipeError, EOFError):
                pass  # nobody waits for it any more
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(0)
        theirs.close()

    def give(self, indices: list[int]) -> None:
        self.left += indices
        self.connection.send(indices)

    def begins(self, index: int) -> None:
        self.left.remove(index)
        self._running = item = self._session.items[index]
        self._session.config.hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)

    def report_death(self) -> None:
        """Have the test that killed its process fail."""
        item = self._running
        if item is None:
            raise RuntimeError(f"worker {self.number} died before its first test")
        why = f"the process that ran {item.nodeid} has died"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        self._session.config.hook.pytest_runtest_logreport(report=report)


class Sender:
    """Tells the process that has collected the tests how those of a worker fare."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config, self._connection = config, connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(("report", data))

    def pytest_warning_recorded(self, warning_message, when, nodeid, location) -> None:
        warning_message.message = Warning(str(warning_message.message))  # whatever it holds need not be sent
        warning_message.source = None
        told = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
        self._connection.send(("warning", told))


def run_tests(session: pytest.Session, connection: Connection, number: int, folder: Path) -> None:
    """Be a worker: ask for a file of tests, run them, and ask for the next."""
    config: Any = session.config
    atexit._clear()  # what was registered before is for the process that registered it
    os.environ["PYTEST_XDIST_WORKER"] = f"gw{number}"  # the name by which others know that they are one of several
    forkserver._forkserver.ensure_running = lambda: None  # else the one that there is would be waited for as a child
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()  # into a file that all of them share
    capture.start_global_capturing()
    capture.suspend_global_capture()
    config.get_terminal_writer()._file = open(os.devnull, "w")
    config.pluginmanager.register(Sender(config, connection))
    folder.mkdir(mode=0o700, exist_ok=True)
    config._tmp_path_factory._basetemp = folder
    try:
        while indices := tests_to_run(connection):
            for index, following in zip(indices, [*indices[1:], None]):
                connection.send(("begins", index))
                # What the test after this one has no use for is taken down: all but what is for the whole session.
                after = session if following is None else session.items[following]
                config.hook.pytest_runtest_protocol(item=session.items[index], nextitem=after)
        connection.send(("done", None))
    finally:
        session._setupstate.teardown_exact(None)
        atexit._run_exitfuncs()


def tests_to_run(connection: Connection) -> list[int]:
    connection.send(("more", None))
    indices: list[int] = connection.recv()
    return indices
