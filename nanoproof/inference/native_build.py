"""Compiles `native.cpp` for the processor at hand, on first use, and keeps that in `$NANOPROOF_HOME/cache/native`.

Compiling takes seconds, needs a C++ compiler and nothing else, and is done once for a source, a processor, a compiler
and its flags: the name of the file is a hash of them. What was compiled is tried before it is kept.
"""

import ctypes
import hashlib
import logging
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from filelock import FileLock

from nanoproof.common.run_dir import home

log = logging.getLogger(__name__)

SOURCE = Path(__file__).with_name("native.cpp")
COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-std=c++17", "-O3", "-fno-math-errno", "-ffp-contract=fast", "-shared", "-fPIC")
ISA_VARIABLE = "NANOPROOF_ENGINE_ISA"
"""Which instructions to compile for: `native` (those of this processor), `avx2`, `avx512`, or `none`."""
X86_LEVELS = {"native": "native", "avx2": "x86-64-v3", "avx512": "x86-64-v4"}
COMPILE_SECONDS = 120


class CannotBuild(Exception):
    """There is no library, for the reason that is the message."""


_failures: dict[tuple[str, ...], str] = {}
"""Why commands failed in this process: they are not run again for every engine."""


def built_library(verify: Callable[[ctypes.CDLL], str | None]) -> ctypes.CDLL:
    """Return the compiled library, compiled now if need be.

    `verify` says what is wrong with one that was just compiled, if anything is. Raises CannotBuild.
    """
    command = (*_compiler(), *FLAGS, _architecture_flag())
    if command in _failures:
        raise CannotBuild(_failures[command])
    try:
        path = home() / "cache" / "native" / f"{_key(command)}.so"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            # A run's processes begin at once: without the lock each of them would compile, all on the same few cores.
            with FileLock(f"{path.parent}.lock"):
                if not path.exists():  # another may have compiled it meanwhile
                    _build(command, path, verify)
        return ctypes.CDLL(str(path))
    except OSError as error:
        _failures[command] = f"{type(error).__name__}: {error}"
    except CannotBuild as error:
        _failures[command] = str(error)
    raise CannotBuild(_failures[command])


def _build(command: tuple[str, ...], path: Path, verify: Callable[[ctypes.CDLL], str | None]) -> None:
    # Beside its place, and moved there in one step: other processes see all of it or nothing.
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        compiled = Path(scratch) / path.name
        log.info("compiling %s (once, some seconds): %s", SOURCE.name, shlex.join(command))
        _compile([*command, str(SOURCE), "-o", str(compiled)])
        problem = verify(ctypes.CDLL(str(compiled)))
        if problem is not None:
            raise CannotBuild(problem)
        os.replace(compiled, path)


def _compiler() -> list[str]:
    wanted = shlex.split(os.environ.get("CXX", ""))
    if wanted and shutil.which(wanted[0]) is None:
        raise CannotBuild(f"there is no compiler {wanted[0]} (CXX)")
    if wanted:
        return wanted
    for name in COMPILERS:
        if shutil.which(name) is not None:
            return [name]
    raise CannotBuild("there is no C++ compiler (g++ or clang++; on Debian: apt install g++)")


def _architecture_flag() -> str:
    machine, isa = platform.machine().lower(), os.environ.get(ISA_VARIABLE) or "native"
    if isa == "none":
        raise CannotBuild(f"{ISA_VARIABLE}=none")
    if machine in ("x86_64", "amd64"):
        if isa not in X86_LEVELS:
            raise CannotBuild(f"{ISA_VARIABLE}={isa} is none of {', '.join(X86_LEVELS)} and none")
        return f"-march={X86_LEVELS[isa]}"
    if machine in ("aarch64", "arm64") and isa == "native":
        return "-mcpu=native"
    raise CannotBuild(f"the compiled engine is for x86-64 and 64-bit ARM, this is {machine} ({ISA_VARIABLE}: {isa})")


@cache
def _key(command: tuple[str, ...]) -> str:
    """Return what tells this library from that of another source, compiler or processor."""
    version = subprocess.run([command[0], "--version"], capture_output=True, timeout=COMPILE_SECONDS, check=False)
    parts = [SOURCE.read_bytes(), "\0".join(command).encode(), version.stdout, _processor().encode()]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:32]


def _processor() -> str:
    """Describe the processor: a home directory may be shared by machines that differ."""
    description = {platform.machine(), platform.system(), platform.processor()}
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("flags", "Features", "model name"):
                description.add(value.strip())
    except OSError:  # not Linux
        pass
    return "\n".join(sorted(description))


def _compile(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise CannotBuild(f"{command[0]} took longer than {COMPILE_SECONDS} s") from error
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if "error" in line]
        lines.append(f"exit code {done.returncode}")
        raise CannotBuild(f"{command[0]} failed: {lines[0]}")
