"""Checks of the machine: Python, packages, revision, cores, memory, disk, and what torch makes of the devices."""

import os
import platform
import shutil
import sys
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from nanoproof.common.run_dir import REPO_ROOT, code_revision, home
from nanoproof.common.terminal import size
from nanoproof.doctor.report import Asked, Finding, attempt

SET_UP = "bash runs/setup.sh"
SET_UP_ANEW = "rm -rf .venv && bash runs/setup.sh"
OLDEST_PYTHON = (3, 11)
LITTLE_DISK = 2 * 10**9
"""Bytes below which runs are expected to end with a full disk."""
SHOWN = 4


def python(asked: Asked) -> list[Finding]:
    """The interpreter, and the revision of the code."""
    text = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        return [Finding("python", "broken", f"{text}; nanoproof needs {wanted}", SET_UP)]
    revision = code_revision()
    where = f"{revision.removesuffix('+')[:12]}{' with changes' if revision.endswith('+') else ''} in {REPO_ROOT}"
    code = Finding("code", "ok", where)
    if revision == "unknown":
        code = Finding("code", "absent", f"{REPO_ROOT} is no git checkout: results cannot name a revision", usable=True)
    return [Finding("python", "ok", text), code]


def packages(asked: Asked) -> list[Finding]:
    """Installed versions against the pins of `pyproject.toml`."""
    return [attempt("packages", _packages, SET_UP)]


def _packages() -> Finding:
    import tomllib

    file = REPO_ROOT / "pyproject.toml"
    if not file.exists():
        return Finding("packages", "absent", f"no {file}: versions cannot be compared", usable=True)
    project = tomllib.loads(file.read_text(encoding="utf-8"))
    needed = [*project["project"]["dependencies"], "torch"]
    missing = [name for name in needed if installed_version(name) is None]
    if missing:
        return Finding("packages", "broken", f"not installed: {_some(missing)}", SET_UP)
    compared, wrong = compare_with_pins(project["tool"]["uv"]["constraint-dependencies"])
    if wrong:
        return Finding("packages", "broken", f"not as pinned: {_some(wrong)}", f"rm -f .venv/nanoproof-setup; {SET_UP}")
    return Finding("packages", "ok", f"{compared} are installed, all as pinned")


def compare_with_pins(pins: list[str]) -> tuple[int, list[str]]:
    """How many of the pinned packages are installed, and those that have another version."""
    from packaging.requirements import Requirement
    from packaging.version import Version

    compared, wrong = 0, []
    for pin in map(Requirement, pins):
        found = installed_version(pin.name)
        if found is None or (pin.marker is not None and not pin.marker.evaluate()):
            continue
        compared += 1
        if Version(found).public not in pin.specifier:
            wrong.append(f"{pin.name} {found} (pinned {str(pin.specifier).removeprefix('==')})")
    return compared, wrong


def installed_version(name: str) -> str | None:
    """The version of an installed distribution; None if there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def resources(asked: Asked) -> list[Finding]:
    """Cores, memory, disk."""
    return [attempt("cores", _cores), attempt("memory", _memory, SET_UP), attempt("disk", _disk)]


def _cores() -> Finding:
    count = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else count
    return Finding("cores", "ok", f"{usable} of {count} usable, load {os.getloadavg()[0]:.1f}")


def _memory() -> Finding:
    import psutil

    memory = psutil.virtual_memory()
    return Finding("memory", "ok", f"{size(memory.available)} of {size(memory.total)} available")


def _disk() -> Finding:
    folder = home()
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    text = f"{size(free)} free at {folder}"
    elsewhere = "export NANOPROOF_HOME=DIR"
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return Finding("disk", "broken", f"{there} cannot be written to", elsewhere)
    if free < LITTLE_DISK:
        return Finding("disk", "broken", f"only {text}", elsewhere)
    return Finding("disk", "ok", text if there == folder else f"{text} (not made yet)")


def compute(asked: Asked) -> list[Finding]:
    """torch, its devices, and how the model would be computed."""
    try:
        import torch
    except BaseException as error:
        return [Finding("torch", "broken", f"cannot be imported: {type(error).__name__}: {error}", SET_UP_ANEW)]
    cuda = f"CUDA {torch.version.cuda}" if torch.version.cuda else "without CUDA"
    findings = [Finding("torch", "ok", f"{torch.__version__}, {cuda}, {torch.get_num_threads()} threads")]
    findings.append(attempt("device", _device))
    if findings[-1].state == "ok":
        findings += [attempt(key, partial(_choice, key)) for key in ("attention", "compile", "fp8")]
    return findings


def _device() -> Finding:
    import torch

    from nanoproof.common.dist import choose_device, choose_dtype

    device, reason = choose_device()
    dtype, dtype_reason = choose_dtype(device)
    how = f"{str(dtype).removeprefix('torch.')} ({dtype_reason})"
    if device.type == "cuda":
        gpus = [_gpu(index) for index in range(torch.cuda.device_count())]
        return Finding("device", "ok", f"{', '.join(gpus)}; {how}")
    if shutil.which("nvidia-smi") and Path("/proc/driver/nvidia/gpus").is_dir():
        text = f"there is an NVIDIA GPU that this torch cannot use ({torch.__version__}): {how}"
        return Finding("device", "broken", text, SET_UP_ANEW, usable=True)
    return Finding("device", "ok", f"{device.type} ({reason}), {how}")


def _gpu(index: int) -> str:
    import torch

    properties = torch.cuda.get_device_properties(index)
    free, total = torch.cuda.mem_get_info(index)
    capability = f"capability {properties.major}.{properties.minor}"
    return f"cuda:{index} {properties.name} ({capability}, {size(free)} of {size(total)} free)"


def _choice(key: str) -> Finding:
    """One of the decisions that the stages print when they start."""
    from nanoproof.common.dist import choose_device, choose_dtype
    from nanoproof.gpt.compute import choose_compute
    from nanoproof.gpt.fp8 import missing_for_fp8

    device = choose_device()[0]
    dtype: Any = choose_dtype(device)[0]
    if key == "fp8":
        problem = missing_for_fp8(device, dtype)
        return Finding("fp8", "absent" if problem else "ok", problem or "can be had with --fp8", usable=True)
    chosen = choose_compute(device, dtype)
    if key == "compile":
        return Finding("compile", "ok" if chosen.compiled else "absent", chosen.compiled_reason, usable=True)
    return Finding("attention", "ok", f"{chosen.attention} ({chosen.attention_reason})")


def _some(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
