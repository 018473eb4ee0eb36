"""What tests of many subjects share: waiting, processes and their ports, Lean's command lines, folders made once."""

import ast
import base64
import gc
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
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest
from filelock import FileLock

from nanoproof.common.errors import run_main

FAKES = Path(__file__).parent / "fakes"
SCRIPTED_REPL = FAKES / "scripted_repl.py"
FORK_REPL = (sys.executable, "-m", "tests.fakes.fork_repl")
NANOLEAN = (sys.executable, "-m", "nanolean", "repl", "--json")

NIGHTLY = int(os.environ.get("NANOPROOF_NIGHTLY", "1"))
"""How many times as much as in the suite long random tests take."""

T = TypeVar("T")


_imports: dict[Path, list[ast.Import | ast.ImportFrom]] = {}


def parsed(file: Path) -> ast.Module:
    """Parse a file, and keep the imports in it: several tests ask for those of all files, and parsing takes longest."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    _imports[file] = imports_in(tree)
    return tree


def import_nodes(file: Path) -> list[ast.Import | ast.ImportFrom]:
    """Return every import of a file, wherever in it."""
    if file not in _imports:
        parsed(file)
    return _imports[file]


def imports_in(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """Return every import below a node. Imports are statements, so that no expression is looked into."""
    found: list[ast.Import | ast.ImportFrom] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(node)
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting += getattr(node, part, ())
    return found


def page_data(page: str) -> Any:
    """Return what an HTML file with the monitor's page inside holds for it."""
    match = re.search(r'<script type="text/plain" id="nanoproof-data">([^<]*)</script>', page)
    assert match is not None
    return json.loads(gzip.decompress(base64.b64decode(match[1])))


def wait_for(
    condition: Callable[[], T],
    what: object = "the condition",
    seconds: float = 60.0,
    processes: Sequence[subprocess.Popen[str] | BaseProcess] = (),
) -> T:
    """Wait until the condition holds, and return what it gave; `what` is said if it never does.

    The processes have to run as long.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what() if callable(what) else what}"
        for process in processes:
            if isinstance(process, BaseProcess):
                assert process.exitcode is None, f"{process} has ended"
            else:
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


def fork_server(preload: Sequence[str] = ()) -> ForkServerContext:
    """What forks processes from one that has imported torch, and `preload`, once for all of them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch.distributed", "nanoproof.sft", "scripts.prover_eval", *preload])
    return context


def start_forked(work: Callable[..., object], *args: object, **environment: object) -> BaseProcess:
    """Do `work` in a process that has this one's environment and more. It is forked from one that has imported torch:
    that takes longer than what most have to do."""
    context = fork_server()
    surroundings = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    process = context.Process(target=_be_forked, args=(Output(), surroundings, work, args))
    process.start()
    return process


class Output:
    """Standard output and error of this process, for one that another forks: there they are that one's."""

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Any, Any]]:
        return _say_into, (DupFd(1), DupFd(2))


def _say_into(output: Any, complaints: Any) -> None:
    os.dup2(output.detach(), 1)
    os.dup2(complaints.detach(), 2)


def _be_forked(_: Output, environment: dict[str, str], work: Callable[..., object], args: Sequence[object]) -> None:
    gc.freeze()  # else it would walk, and so copy, all that was imported for it whenever it collects garbage
    os.environ.clear()
    os.environ.update(environment)
    work(*args)


def as_command(main: Callable[[list[str]], int], said: Path, argv: list[str]) -> None:
    """Be a command, whose output and complaints go to the file `said`."""
    output = os.open(said, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    run_main(lambda: main(argv))


def torchrun(argv: list[str]) -> None:
    """Be torchrun, for `as_command`."""
    from torch.distributed import run

    run.main(argv)


def start_ranks(count: int, work: Callable[..., object], *args: object, **environment: object) -> list[BaseProcess]:
    """Do `work` in forked processes that are the ranks of one run, as torchrun would start them."""
    place = {"WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), **environment}
    return [start_forked(work, *args, **place, RANK=rank, LOCAL_RANK=rank) for rank in range(count)]


def ended(processes: Sequence[BaseProcess], seconds: float = 120.0) -> list[int | None]:
    """Wait for processes to end, kill those that do not, and return the exit codes."""
    for process in processes:
        process.join(seconds)
        process.kill()
        process.join()
    return [process.exitcode for process in processes]


def run_ranks(count: int, work: Callable[..., object], *args: object) -> None:
    """Do `work` in the ranks of one run, and wait for it; raise if one of them fails."""
    assert ended(start_ranks(count, work, *args)) == [0] * count


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
