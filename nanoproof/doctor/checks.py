"""The checks: the machine, Lean, and the contents of `$NANOPROOF_HOME`."""

import os
import platform
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanoproof.common.files import read_json
from nanoproof.common.run_dir import INSTALLED, REPO_ROOT, SCRIPTS, code_revision, home
from nanoproof.common.terminal import size
from nanoproof.doctor.report import CheckInputs, Finding, describe, try_check

if TYPE_CHECKING:
    from nanoproof.data.sources.manifest import Manifest
    from nanoproof.lean.client import ServerReport

# -- The machine: interpreter, packages, cores, memory, disk, devices ------------------------------------------------

SET_UP = "pip install nanoproof" if INSTALLED else "bash runs/setup.sh"
REINSTALL = "pip install --force-reinstall torch" if INSTALLED else "rm -rf .venv && bash runs/setup.sh"
OLDEST_PYTHON = (3, 11)
MIN_FREE_DISK = 2 * 10**9
"""Bytes below which runs are expected to end with a full disk."""
MAX_NAMES_SHOWN = 4


def python(inputs: CheckInputs) -> list[Finding]:
    """Check the interpreter, and the revision of the code."""
    text = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        return [Finding("python", "broken", f"{text}; nanoproof needs {wanted}", SET_UP)]
    revision = code_revision()
    if INSTALLED:
        return [Finding("python", "ok", text), Finding("code", "ok", f"{revision} in {REPO_ROOT.parent}")]
    shown = revision[:12]
    if revision.endswith("+"):  # how `code_revision` marks what is not committed
        shown = f"{revision.removesuffix('+')[:12]} with changes"
    code = Finding("code", "ok", f"{shown} in {REPO_ROOT}")
    if revision == "unknown":
        code = Finding("code", "absent", f"{REPO_ROOT} is no git checkout: results cannot name a revision", usable=True)
    return [Finding("python", "ok", text), code]


def packages(inputs: CheckInputs) -> list[Finding]:
    """Compare installed versions with the pins of `pyproject.toml`."""
    return [try_check("packages", _packages, SET_UP)]


def _packages() -> Finding:
    import tomllib

    if INSTALLED:
        return _requirements()
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
        # The file says that the set-up is done, so that the script would do nothing.
        return Finding("packages", "broken", f"not as pinned: {_some(wrong)}", f"rm -f .venv/nanoproof-setup; {SET_UP}")
    return Finding("packages", "ok", f"{compared} are installed, all as pinned")


def _requirements() -> Finding:
    """Check what an installed package asks for; its pins are for the repository's own environment."""
    from packaging.requirements import Requirement

    needed = []
    for requirement in map(Requirement, metadata.requires("nanoproof") or []):
        if requirement.marker is None:  # extras have one
            needed.append(requirement.name)
    needed.append("torch")  # of an extra: cpu or gpu
    missing = [name for name in needed if installed_version(name) is None]
    if missing:
        return Finding("packages", "broken", f"not installed: {_some(missing)}", f"pip install {' '.join(missing)}")
    return Finding("packages", "ok", f"{len(needed)} that nanoproof asks for are installed")


def compare_with_pins(pins: list[str]) -> tuple[int, list[str]]:
    """Return how many of the pinned packages are installed, and those that have another version."""
    from packaging.requirements import Requirement
    from packaging.version import Version

    compared, wrong = 0, []
    for pin in map(Requirement, pins):
        installed = installed_version(pin.name)
        if installed is None or (pin.marker is not None and not pin.marker.evaluate()):
            continue
        compared += 1
        # Public: torch's `+cpu` and `+cu128` are builds of one version.
        if Version(installed).public not in pin.specifier:
            wrong.append(f"{pin.name} {installed} (pinned {str(pin.specifier).removeprefix('==')})")
    return compared, wrong


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution; None if there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def resources(inputs: CheckInputs) -> list[Finding]:
    """Check cores, memory and disk."""
    return [try_check("cores", _cores), try_check("memory", _memory, SET_UP), try_check("disk", _disk)]


def _cores() -> Finding:
    count = usable = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        usable = len(os.sched_getaffinity(0))
    return Finding("cores", "ok", f"{usable} of {count} usable, load {os.getloadavg()[0]:.1f}")


def _memory() -> Finding:
    import psutil

    memory = psutil.virtual_memory()
    return Finding("memory", "ok", f"{size(memory.available)} of {size(memory.total)} available")


def _disk() -> Finding:
    folder = home()
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())  # `/` does
    free = shutil.disk_usage(there).free
    text = f"{size(free)} free at {folder}"
    elsewhere = "export NANOPROOF_HOME=DIR"
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return Finding("disk", "broken", f"{there} cannot be written to", elsewhere)
    try:
        tempfile.gettempdir()
    except OSError:  # torch and NanoLean start no process without it
        return Finding("disk", "broken", "no folder for temporary files can be written to", "export TMPDIR=DIR")
    if free < MIN_FREE_DISK:
        return Finding("disk", "broken", f"only {text}", elsewhere)
    return Finding("disk", "ok", text if there == folder else f"{text} (not made yet)")


def compute(inputs: CheckInputs) -> list[Finding]:
    """Check torch, its devices, and how the model would be computed."""
    try:
        import torch
    except BaseException as error:  # a library that it loads may end with anything
        return [Finding("torch", "broken", f"cannot be imported: {type(error).__name__}: {error}", REINSTALL)]
    cuda = "without CUDA"
    if torch.version.cuda:
        cuda = f"CUDA {torch.version.cuda}"
    findings = [Finding("torch", "ok", f"{torch.__version__}, {cuda}, {torch.get_num_threads()} threads")]
    findings.append(try_check("device", lambda: _device(inputs.device_type)))
    if findings[-1].state == "ok":
        for key in ("attention", "compile", "fp8"):
            findings.append(try_check(key, partial(_compute_choice, key, inputs.device_type)))
        findings.append(try_check("engine", lambda: _engine(inputs.device_type)))
    return findings


def _device(wanted: str) -> Finding:
    """Check the device of the stages.

    A GPU that is there and that torch cannot use is no reason to train on the CPU.
    """
    import torch

    from nanoproof.common.distributed import choose_device, choose_dtype
    from nanoproof.common.errors import UserError

    problem = gpu_problem()
    try:
        device, reason = choose_device(wanted)
    except UserError as error:
        return Finding("device", "broken", *(problem or (str(error), "")))
    dtype, dtype_reason = choose_dtype(device)
    how = f"{str(dtype).removeprefix('torch.')} ({dtype_reason})"
    if device.type == "cuda":
        gpus = ", ".join(map(_gpu, range(torch.cuda.device_count())))
        return Finding("device", "ok", f"{gpus}; {how}")
    if problem is not None and not wanted:
        text, fix = problem
        return Finding("device", "broken", f"{text}; with --device-type cpu the CPU is used ({how})", fix)
    return Finding("device", "ok", f"{device.type} ({reason}), {how}")


DRIVER_OF_CUDA = {13: 580, 12: 525, 11: 450}
"""The oldest NVIDIA driver by CUDA's major version, from NVIDIA's table of minor version compatibility."""


def gpu_problem(driver: Path = Path("/proc/driver/nvidia")) -> tuple[str, str] | None:
    """Return why torch cannot use this machine's NVIDIA GPU, and what helps; None if it can, or if there is none."""
    import torch

    if torch.cuda.is_available() or not (driver / "gpus").is_dir():
        return None
    if torch.version.cuda is None:
        return f"there is an NVIDIA GPU, and this torch ({torch.__version__}) is for CPUs", REINSTALL
    version = None
    with suppress(OSError):
        # `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  ..`, or `Open Kernel Module for x86_64  ..`.
        version = re.search(r"Module(?: for \S+)?\s+(\d+)[\d.]*", (driver / "version").read_text())
    needed = DRIVER_OF_CUDA.get(int(torch.version.cuda.split(".")[0]))
    if version is not None and needed is not None and int(version[1]) < needed:
        text = f"the NVIDIA driver {version[1]} is too old for this torch (CUDA {torch.version.cuda} needs {needed})"
        return text, "install a newer driver, or a torch for an older CUDA"
    return f"there is an NVIDIA GPU that this torch ({torch.__version__}) cannot use", "nvidia-smi"


def _gpu(index: int) -> str:
    import torch

    properties = torch.cuda.get_device_properties(index)
    free, total = torch.cuda.mem_get_info(index)
    capability = f"capability {properties.major}.{properties.minor}"
    return f"cuda:{index} {properties.name} ({capability}, {size(free)} of {size(total)} free)"


def _compute_choice(key: str, wanted: str) -> Finding:
    """Report one of the decisions that the stages print when they start."""
    from nanoproof.common.distributed import choose_device, choose_dtype
    from nanoproof.model.compute import choose_compute, missing_for_fp8

    device = choose_device(wanted)[0]
    dtype: Any = choose_dtype(device)[0]
    if key == "fp8":
        if problem := missing_for_fp8(device, dtype):
            return Finding("fp8", "absent", problem, usable=True)
        return Finding("fp8", "ok", "can be had with --fp8", usable=True)
    chosen = choose_compute(device, dtype)
    if key == "compile":
        return Finding("compile", "ok" if chosen.compiled else "absent", chosen.compiled_reason, usable=True)
    return Finding("attention", "ok", f"{chosen.attention} ({chosen.attention_reason})")


def _engine(wanted: str) -> Finding:
    """Report what computes the policy: it is compiled here, if it was not yet."""
    from nanoproof.common.distributed import choose_device
    from nanoproof.inference.native_backend import native_library
    from nanoproof.inference.native_build import CannotBuild

    device = choose_device(wanted)[0].type
    if device != "cpu":
        return Finding("engine", "ok", f"torch (compiled code is for CPUs, this is {device})")
    try:
        native_library()
    except CannotBuild as error:
        # The policy then takes several times the processor time, and is the same.
        return Finding("engine", "absent", f"torch computes the policy ({error})", usable=True)
    return Finding("engine", "ok", "native: the policy is computed by compiled code")


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:MAX_NAMES_SHOWN])
    if len(names) > MAX_NAMES_SHOWN:
        shown += f" and {len(names) - MAX_NAMES_SHOWN} more"
    return shown


# -- Lean: NanoLean, servers, a project; and the dashboard --------------------------------------------------------

PROJECT_VARIABLE = "LEAN_PROJECT_PATH"
BUILD = "python -m nanolean build"


def embedded(inputs: CheckInputs) -> list[Finding]:
    """Check that NanoLean's library loads."""
    return [try_check("nanolean", _embedded, BUILD)]


def _embedded() -> Finding:
    from nanolean.library.loader import cache_path, library_files, load_library

    path = cache_path()
    if not path.exists():
        text = f"library not checked yet; what needs it does it first ({len(library_files())} files, half a minute)"
        return Finding("nanolean", "absent", text, BUILD, usable=True)
    start = time.monotonic()
    load_library()
    seconds = time.monotonic() - start
    return Finding("nanolean", "ok", f"library loaded in {seconds:.1f} s ({size(path.stat().st_size)})")


def servers(inputs: CheckInputs) -> list[Finding]:
    """Check every Lean server that is given."""
    if not inputs.lean_servers:
        text = "none given (--lean-servers HOST:PORT); RL and evaluation start the embedded prover then"
        return [Finding("lean servers", "absent", text)]
    try:
        return _servers(inputs)
    except Exception as error:
        return [Finding("lean servers", "broken", describe(error))]


def _servers(inputs: CheckInputs) -> list[Finding]:
    """Check all at the same time: a dead one may take seconds."""
    from nanoproof.lean.client import LeanFleet, parse_address
    from nanoproof.lean.types import LeanError

    findings, addresses = [], []
    for text in inputs.lean_servers:
        try:
            addresses.append(parse_address(text))
        except LeanError as error:
            findings.append(Finding("lean servers", "broken", str(error)))
    with ThreadPoolExecutor(max_workers=max(1, min(32, len(addresses)))) as threads:
        reports = LeanFleet(addresses, inputs.lean_token).statuses()
        return [*threads.map(lambda report: _server(report, inputs.lean_token), reports), *findings]


def _server(report: "ServerReport", token: str | None) -> Finding:
    """Report what its status says, and whether it can prove a small theorem."""
    from nanoproof.lean.probe import COMMAND, find_problem

    address, status = report.address, report.status
    if status is None:
        start = "python -m nanoproof.lean.server --project-path DIR --repl-exe repl/.lake/build/bin/repl"
        return Finding("lean servers", "broken", report.error, start)
    if status["max_processes"] == 0:
        return Finding("lean servers", "broken", f"{address}: it has no processes (--max-processes)")
    if (problem := find_problem(address, token)) is not None:
        return Finding("lean servers", "broken", problem, f"{COMMAND} {address}")
    return Finding("lean servers", "ok", f"{address}: {_processes(status)}")


def _processes(status: dict[str, Any]) -> str:
    parts = [f"{status['max_processes']} processes"]
    # What comes after `max_processes` not every server of LeanTree's API tells.
    for name in ("available", "used", "starting"):
        if f"{name}_processes" in status:
            parts.append(f"{status[name + '_processes']} {name}")
    if status.get("ready") is False:
        parts.append("not ready yet")
    ram = status.get("ram")
    if isinstance(ram, dict) and isinstance(ram.get("available_bytes"), (int, float)):
        parts.append(f"{size(ram['available_bytes'])} of memory available")
    return ", ".join(parts)


def project_folder(inputs: CheckInputs) -> tuple[str, str] | None:
    """Return the folder of the Lean project, and the flag or variable that names it; None without one."""
    if inputs.lean_project:
        return inputs.lean_project, "--lean-project"
    folder = os.environ.get(PROJECT_VARIABLE)
    if not folder:
        return None
    return folder, PROJECT_VARIABLE


def project_version(inputs: CheckInputs) -> str | None:
    """Return the Lean version of the project; None without a project. Raises UserError if it names no version."""
    from nanoproof.lean.project.layout import lean_version

    chosen = project_folder(inputs)
    return lean_version(Path(chosen[0]).expanduser()) if chosen else None


def project(inputs: CheckInputs) -> list[Finding]:
    """Check the Lean project: its version, and what is missing to start servers over it."""
    create = "python -m nanoproof.lean.project create DIR"
    if project_folder(inputs) is None:
        text = f"none given (--lean-project DIR, {PROJECT_VARIABLE}); the embedded prover needs none"
        return [Finding("lean project", "absent", text, create)]
    return [try_check("lean project", lambda: _project(inputs), create)]


def _project(inputs: CheckInputs) -> Finding:
    from nanoproof.lean.project.layout import required_imports
    from nanoproof.lean.project.setup import State, make_steps

    chosen = project_folder(inputs)
    assert chosen is not None
    folder = Path(chosen[0]).expanduser().absolute()
    state, about = State(folder), f"{folder}: Lean {project_version(inputs)}"
    try:
        about += f", imports {' '.join(required_imports(folder)) or 'none'}"
        steps = make_steps(folder, install_elan=False)
    except Exception as error:
        return Finding("lean project", "ok", f"{about}; it was not made by nanoproof ({describe(error)})")
    missing = []
    for step in steps:
        # elan is of the machine, not of the project: whether it is done, no file in the folder says.
        done = step.is_there() if step.name == "elan" else state.is_done(step)
        if not done:
            missing.append(step.name)
    if missing:
        set_up = f"python -m nanoproof.lean.project setup {folder}"
        return Finding("lean project", "broken", f"{about}; not set up: {', '.join(missing)}", set_up)
    return Finding("lean project", "ok", f"{about}; ready for servers")


def dashboard(inputs: CheckInputs) -> list[Finding]:
    """Check which page the monitor would serve."""
    return [try_check("dashboard", _dashboard)]


def _dashboard() -> Finding:
    page = Path(__file__).parents[1] / "monitor" / "static"
    if not (page / "page" / "index.html").exists():
        return Finding("dashboard", "broken", f"there is no page in {page}", "git checkout nanoproof/monitor/static")
    return Finding("dashboard", "ok", f"{page / 'page'}")


# -- `$NANOPROOF_HOME`: tokenizer, data sets, runs and their checkpoints --------------------------------------------

FIRST_MODEL = "python -m nanoproof.sft --data nanolean --depth 4 --aspect-ratio 32 --head-dim 32"
RUN_FOLDERS = ("pretrain", "midtrain", "sft", "grpo", "rl")
GENERATED = "nanolean"
"""The data set that is generated rather than downloaded."""
_MODEL = re.compile(r"model_(\d+)\.json")


def tokenizer(inputs: CheckInputs) -> list[Finding]:
    """Check the tokenizer that stages take when no checkpoint brings its own."""
    make = f"{SCRIPTS}tok_train --vocab-size 1024"
    if not (home() / "tokenizer").exists():
        text = f"none in {home() / 'tokenizer'} (large models of real Lean: {SCRIPTS}tok_build)"
        return [Finding("tokenizer", "absent", text, make)]
    return [try_check("tokenizer", _tokenizer, f"{SCRIPTS}tok_build")]


def _tokenizer() -> Finding:
    from nanoproof.model.tokenizer import Tokenizer

    loaded = Tokenizer.load(home() / "tokenizer")
    meta = home() / "tokenizer" / "tokenizer_meta.json"
    about = f"{loaded.vocab_size:,} tokens"
    if meta.exists():  # the tokenizer is of use without it
        about += f", words split as {read_json(meta).get('pattern')}"
    return Finding("tokenizer", "ok", f"{about}, fingerprint {loaded.fingerprint}")


def hub(inputs: CheckInputs) -> list[Finding]:
    """Check whether there is a token for gated data sets; the hub itself is not contacted."""
    return [try_check("hub", _hub, SET_UP)]


def _hub() -> Finding:
    import huggingface_hub
    from huggingface_hub.constants import ENDPOINT

    shown = re.sub("//[^/@]*@", "//", ENDPOINT)  # passwords are nobody's business
    if huggingface_hub.get_token():
        return Finding("hub", "ok", f"{shown}, there is a token")
    text = f"{shown}, no token (only gated data sets need one)"
    return Finding("hub", "absent", text, "hf auth login", usable=True)


def data_sets(inputs: CheckInputs) -> list[Finding]:
    """Check every data set of the catalog, by its manifest."""
    from nanoproof.data.sources.catalog import CATALOG

    try:
        version = project_version(inputs)
    except Exception:  # the check of the project reports it
        version = None
    findings = []
    for name, data_set in CATALOG.items():
        find = _own_data if name == GENERATED else partial(_data_set, name, version)
        findings.append(try_check(f"data {name}", find, data_set.command))
    return findings


def _data_set(name: str, version: str | None) -> Finding:
    from nanoproof.data.sources.catalog import CATALOG
    from nanoproof.data.sources.manifest import dataset_dir, find_problems, read_manifest

    key, data_set, directory = f"data {name}", CATALOG[name], dataset_dir(name)
    manifest = read_manifest(name)
    stages = "/".join(data_set.stages)
    if manifest is None:
        text = "not there"
        if directory.exists():
            text = "a download that was not finished"
        if data_set.gated:
            text += f" (first accept its terms at {data_set.gated}, then: hf auth login)"
        return Finding(key, "absent", f"{stages}: {text}", data_set.command)
    problems = [f"{filename} {problem}" for filename, problem in find_problems(manifest).items()]
    if problems:
        text = problems[0]
        if len(problems) > 1:
            text += f" (and {len(problems) - 1} more)"
        return Finding(key, "broken", f"{stages}: {text}", data_set.command)
    # Without a whitelist a set is of use with other versions of Lean.
    wanted = [name for name in manifest.missing if ".whitelist." not in name]
    if wanted:
        return Finding(key, "broken", f"{stages}: {len(wanted)} files did not arrive", data_set.command)
    if version and "rl" in data_set.stages and not any(file.endswith(f".{version}.json") for file in manifest.files):
        check = f"python -m nanoproof.data.whitelist check-init {name} --lean-servers HOST:PORT --lean-project DIR"
        return Finding(key, "broken", f"{stages}: no whitelist for Lean {version}", check)
    return Finding(key, "ok", f"{stages}: {_contents(manifest)}")


def _contents(manifest: "Manifest") -> str:
    parts = ["1 file" if len(manifest.files) == 1 else f"{len(manifest.files)} files", size(manifest.bytes)]
    rows, versions = 0, []
    for filename, record in manifest.files.items():
        rows += record.rows or 0
        # FILE.whitelist.VERSION.json
        if ".whitelist." in filename:
            versions.append(filename.split(".whitelist.")[1].removesuffix(".json"))
    if rows:
        parts.append(f"{rows:,} rows")
    if manifest.commit or manifest.revision:
        parts.append(manifest.commit[:12] or manifest.revision)
    parts.append(manifest.date[:10])
    if versions:
        parts.append(f"whitelists of Lean {', '.join(versions)}")
    return ", ".join(parts)


def _own_data() -> Finding:
    """Check the embedded set: the benchmark comes with the code, the rest is generated on first use."""
    from nanoproof.data.nanolean import made_directory
    from nanoproof.data.sources.catalog import CATALOG

    key, stages, directory = f"data {GENERATED}", "all stages", made_directory()
    if not (directory / "manifest.json").exists():
        # A directory is named by a hash of what makes the data.
        older = "made by other code only" if directory.parent.exists() else "not made yet"
        text = f"{stages}: {older}; what needs it makes it first (a minute or two)"
        return Finding(key, "absent", text, CATALOG[GENERATED].command, usable=True)
    counts: dict[str, Any] = read_json(directory / "manifest.json")
    numbers = []
    for name, value in counts.items():
        if isinstance(value, int) and name != "seed":
            numbers.append(f"{value:,} {name.replace('_', ' ')}")
    return Finding(key, "ok", f"{stages}: {', '.join(numbers[:4])}, in {directory.name}")


def checkpoints(inputs: CheckInputs) -> list[Finding]:
    """Count runs and the checkpoints in them."""
    return [try_check("checkpoints", _checkpoints)]


def _checkpoints() -> Finding:
    whole: list[Path] = []
    torn: list[Path] = []
    # Runs lie in a folder for each stage; those of the quickstart in one of their own.
    for path in (*home().glob("*/model_*.json"), *home().glob("*/*/model_*.json")):
        if not _MODEL.fullmatch(path.name):
            continue
        if path.with_suffix(".pt").exists():
            whole.append(path)
        else:
            torn.append(path)  # weights are written before the manifest: somebody has removed them
    if not whole:
        begun = sum(entry.is_dir() for stage in RUN_FOLDERS for entry in _entries(home() / stage))
        text = f"none ({begun} runs without one)" if begun else "none"
        return Finding("checkpoints", "absent", text, FIRST_MODEL)
    whole.sort(key=lambda path: path.stat().st_mtime)
    runs: dict[str, list[Path]] = {}
    for path in whole:
        folder = path.parent.relative_to(home())
        stage = next((part for part in reversed(folder.parts) if part in RUN_FOLDERS), folder.parts[0])
        runs.setdefault(stage, []).append(folder)
    counts = ", ".join(f"{stage} {len(folders)} in {len(set(folders))} runs" for stage, folders in runs.items())
    text = f"{counts}; newest {whole[-1].with_suffix('.pt').relative_to(home())}"
    if torn:
        text += f"; {len(torn)} without weights, such as {torn[0].relative_to(home())}"
    return Finding("checkpoints", "ok", text)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
