"""What tests of many subjects share: waiting, processes and their ports, Lean's command lines, folders made once."""

import base64
import gzip
import importlib.util
import json
import multiprocessing
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest
from filelock import FileLock

FAKES = Path(__file__).parent / "fakes"
SCRIPTED_REPL = FAKES / "scripted_repl.py"
FORK_REPL = (sys.executable, "-m", "tests.fakes.fork_repl")
NANOLEAN = (sys.executable, "-m", "nanolean", "repl", "--json")

NIGHTLY = int(os.environ.get("NANOPROOF_NIGHTLY", "1"))
"""How many times as much as in the suite long random tests take."""

T = TypeVar("T")


def page_data(page: str) -> Any:
    """Return what an HTML file with the monitor's page inside holds for it."""
    match = re.search(r'<script type="text/plain" id="nanoproof-data">([^<]*)</script>', page)
    assert match is not None
    return json.loads(gzip.decompress(base64.b64decode(match[1])))


def wait_for(
    condition: Callable[[], T],
    what: object = "the condition",
    seconds: float = 60.0,
    processes: Sequence[subprocess.Popen[str]] = (),
) -> T:
    """Wait until the condition holds, and return what it gave; `what` is said if it never does.

    The processes have to run as long.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what() if callable(what) else what}"
        for process in processes:
            assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    return value


def is_gone(pid: int) -> bool:
    """Whether a process has ended, whoever has taken notice of it."""
    try:
        status: str = psutil.Process(pid).status()
    except psutil.NoSuchProcess:
        return True
    return status == psutil.STATUS_ZOMBIE


def stop(pid: int) -> None:
    """Stop a process; once this returns it does nothing, which the signal alone does not say of its threads."""
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED, f"process {pid} to stop")


def end(process: subprocess.Popen[str]) -> None:
    """Kill a process, wait for it, and close our ends of its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def taken_port() -> Iterator[int]:
    """A port that somebody else listens at, who answers nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port: int = listener.getsockname()[1]
        yield port


def run_ranks(count: int, work: Callable[..., object], *args: object) -> None:
    """Do `work` in processes that are the ranks of one run, as torchrun would start them; raise if one of them fails.

    They are forked from a process that has imported torch once for all of them.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch.distributed", "nanoproof.sft"])
    port = free_port()
    ranks = [context.Process(target=_be_rank, args=(rank, count, port, work, args)) for rank in range(count)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join(120)
        process.kill()
        process.join()
    assert [process.exitcode for process in ranks] == [0] * count


def _be_rank(rank: int, count: int, port: int, work: Callable[..., object], args: Sequence[object]) -> None:
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in place.items()})
    work(*args)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that `make` fills for all workers of this session: the first that asks does it, others wait. Nobody
    changes what others look at."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder = root / f"made_once_{name}"
    with FileLock(root / f"made_once_{name}.lock"):
        if not (folder / "made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / "made").touch()
    return folder


class Later:
    """A module that is imported when something of it is asked for: all workers collect all files, and few need it."""

    def __init__(self, name: str, then: Callable[[], object] = lambda: None) -> None:
        """`then` is called after the import. Skips the file that asks if there is no such module."""
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"could not import {name}", allow_module_level=True)
        self._name, self._then, self._module = name, then, None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            if attribute.startswith("_"):  # pytest and its plugins, which look for fixtures and tests in every file
                raise AttributeError(f"{self._name} is not imported yet")
            self._module = importlib.import_module(self._name)
            self._then()
        return getattr(self._module, attribute)


def main_of(module: str) -> Callable[[list[str]], int]:
    """Return the `main` of a command `python -m module`: that of a package is in its `__main__`."""
    found = importlib.util.find_spec(module)
    assert found is not None, f"there is no {module}"
    program = importlib.import_module(f"{module}.__main__" if found.submodule_search_locations else module)
    main: Callable[[list[str]], int] = program.main
    return main
