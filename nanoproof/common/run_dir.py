"""`$NANOPROOF_HOME`, the directory of a run with its lock and logs.

A run directory holds `args.json`, `meta.json`, `events.jsonl`, `metrics.jsonl`, `log.txt` and checkpoints, and in the
end the file `finished`; whatever shows or resumes a run reads it from there.
"""

import json
import logging
import os
import platform
import re
import secrets
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any

from nanoproof.common import hub
from nanoproof.common.errors import UserError
from nanoproof.common.files import MOST_NAME_BYTES, JsonlWriter, atomic_write_json, cut_name, read_object
from nanoproof.common.git import git
from nanoproof.common.process import machine_id

log = logging.getLogger(__name__)

FINISHED = "finished"
"""File in the directory of a run that went to its end, and was not stopped before."""
_PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = (_PACKAGE / "shipped").is_dir()
"""Whether this is a wheel and no repository."""
REPO_ROOT = _PACKAGE / "shipped" if INSTALLED else _PACKAGE.parent
"""The repository; of a wheel, the folder that has in the same places what is used of one (`setup.py` puts it there)."""
SCRIPTS = "nanoproof " if INSTALLED else "python -m scripts."
"""How one begins to type a command of `scripts/`."""

# -- Paths -----------------------------------------------------------------------------------------------------------


def home() -> Path:
    """Return `$NANOPROOF_HOME`, by default `~/.nanoproof`."""
    return Path(os.environ.get("NANOPROOF_HOME") or Path.home() / ".nanoproof").expanduser()


def baseline_dir(policy: str) -> Path:
    """Return the directory for evaluations of a policy without a checkpoint."""
    return home() / "baselines" / policy


REPO_PREFIX = "repo:"
"""How data sets are named that `python -m nanoproof.repos trace` made of a repository."""
_REPO_NAME = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*")


def repo_name(text: str) -> str | None:
    """Return NAME of `repo:NAME`; None for other texts. Raises UserError for what can be no name of a repository."""
    if not text.startswith(REPO_PREFIX):
        return None
    name = text.removeprefix(REPO_PREFIX)
    trace_folder(name)
    return name


def trace_folder(name: str) -> Path:
    """Return the folder of what was traced of a repository: `home()/repos/NAME/trace`. Raises UserError for no name."""
    if not _REPO_NAME.fullmatch(name) or ".." in name.split("/") or "." in name.split("/"):
        raise UserError(f"not the name of a repository: {name!r} (letters, digits and .+-_, maybe after OWNER/)")
    return home() / "repos" / name / "trace"


def traced_file(name: str, file: str) -> Path:
    """Return a file of a repository's trace. Raises UserError, with the command that makes it, if it is not there."""
    path = trace_folder(name) / file
    if not path.is_file():
        raise UserError(f"{REPO_PREFIX}{name} is not traced: python -m nanoproof.repos trace DIR --name {name}")
    return path


def run_name(path: Path) -> str:
    """Name a run directory as `--model-path` and `--resume-from` take it: relative to `home()` if in it."""
    return str(path.relative_to(home())) if path.is_relative_to(home()) else str(path)


FOREIGN_SPECS = ("hf:", "openai:")
"""How the names of models begin that are no checkpoints of ours."""


HUB_CONFIG, HUB_MODEL_TYPE = "config.json", "nanoproof"
"""File of an exported network, as the hub keeps models, and what it says of the kind of network."""
EXPORTED_FILES = ("model.safetensors", "tokenizer.json")
"""The other files of one that are needed to open it."""


def is_exported(folder: Path) -> bool:
    """Tell whether a folder has an exported network of ours (`scripts.export_model`)."""
    return (read_object(folder / HUB_CONFIG) or {}).get("model_type") == HUB_MODEL_TYPE


def exported_folder(spec: str | None) -> Path | None:
    """Return the folder of a network of ours that `hf:FOLDER` or `hf:OWNER/NAME[@REVISION]` names; None for everything
    else.

    What is not in the hub's cache is downloaded: of a model of others its configuration alone, which says so. Where the
    hub cannot be reached, a model that is not in the cache counts as one of others. Raises UserError for one that the
    hub does not have, or not for this user.
    """
    kind, _, rest = (spec or "").partition(":")
    if kind != "hf" or not rest:
        return None
    folder = Path(rest).expanduser()
    if folder.is_dir():
        return folder if is_exported(folder) else None
    name = hub.NAME.fullmatch(rest)
    if name is None or ".." in rest:
        return None
    try:
        config = hub.fetch_file(name["repository"], HUB_CONFIG, name["revision"])
    except hub.NotReached as error:
        log.info("%s", error)
        return None
    if config is None or not is_exported(config.parent):
        return None
    hub.fetch_files(name["repository"], EXPORTED_FILES, name["revision"])
    return config.parent


def is_foreign(spec: str | None) -> bool:
    """Tell whether a SPEC names a model that is no checkpoint of ours."""
    return spec is not None and spec.startswith(FOREIGN_SPECS) and exported_folder(spec) is None


def resolve_model_path(text: str) -> Path:
    """Find a checkpoint file or directory: absolute, or relative to here, to `home()/models`, or to `home()`.

    `hf:` with an exported network of ours is its folder.

    Raises UserError that lists the paths where it was looked for; and for models of others, which those cannot take
    who ask for a checkpoint.
    """
    if text.startswith(FOREIGN_SPECS):
        folder = exported_folder(text)
        if folder is not None:
            return folder
        raise UserError(
            f"--model-path {text.partition(':')[0]}:...: this command works on the network itself, so it takes "
            "checkpoints of ours only; prove, prover_eval, interact and nanoproof.inference take other models"
        )
    return _resolve(text, "--model-path", [Path.cwd(), home() / "models", home()])


def team_of(spec: str | None) -> tuple[str, ...]:
    """Return the checkpoints that a text `A,B` names, which share the simulations of a search; else the text alone.

    A path that is there is one checkpoint, whatever its name; SPECs of models of others are never several.
    """
    if spec is None:
        return ()
    parts = tuple(part.strip() for part in spec.split(",") if part.strip())
    if len(parts) < 2 or ":" in spec or Path(spec).expanduser().exists():
        return (spec,)
    return parts


def resolve_run_dir(text: str, option: str = "--run-dir") -> Path:
    """Find a run directory: absolute, or relative to `home()` (as in `rl/<run>`), else to here. Raises UserError.

    In the order in which `new_run_path` chooses: what is written as `--run-dir NAME` is read by the same words.
    """
    bases = [home(), Path.cwd()]
    if _is_of_here(text):
        bases = [Path.cwd()]
    path = _resolve(text, option, bases)
    if not path.is_dir():
        raise UserError(f"{option} {text}: {path} is not a directory")
    return path


def resolve_path(text: str) -> Path:
    """Find a file or directory: absolute, relative to here, or to `home()`. Raises UserError where there is none."""
    return _resolve(text, "", [Path.cwd(), home()])


def _resolve(text: str, option: str, bases: list[Path]) -> Path:
    candidates = [base / text for base in bases]
    if (absolute := Path(text).expanduser()).is_absolute():
        candidates = [absolute]
    for candidate in candidates:
        if candidate.exists():
            return candidate
    near = _near(candidates)
    hint = f"; did you mean {near}?" if near else ""
    places = ", ".join(str(path) for path in candidates)
    raise UserError(f"{option} {text}: nothing there; looked at {places}{hint}".lstrip())


def _near(candidates: list[Path]) -> str:
    """Name what lies beside one of these paths and is spelled nearly like it; empty if nothing is."""
    for candidate in candidates:
        try:
            names = sorted(os.listdir(candidate.parent))
        except OSError:
            continue
        near = get_close_matches(candidate.name, names, n=1, cutoff=0.75)
        if near:
            return run_name(candidate.parent / near[0])
    return ""


def _is_of_here(text: str) -> bool:
    """Tell whether a relative path says that it begins at the working directory, as `./rl` does."""
    return text.split("/", 1)[0] in (".", "..")


# -- Versions and arguments that are recorded ------------------------------------------------------------------------


def code_revision() -> str:
    """Return the git revision of the code, followed by "+" if the work tree has changes; "unknown" without git.

    Of an installed package its version: a repository around it would be another one.
    """
    if INSTALLED:
        return f"version {metadata.version('nanoproof')}"
    try:
        revision = git("rev-parse", "HEAD", at=REPO_ROOT, seconds=10)
        changes = git("status", "--porcelain", at=REPO_ROOT, seconds=10)
    except UserError:
        return "unknown"
    return revision.decode().strip() + ("+" if changes.strip() else "")


def versions() -> dict[str, str]:
    """Return the versions of Python, of this code, and of the packages that decide results."""
    by_package = {"python": platform.python_version(), "nanoproof": code_revision()}
    for package in ("torch", "numpy", "tokenizers"):
        try:
            by_package[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            by_package[package] = "missing"
    return by_package


def without_secrets(args: dict[str, Any]) -> dict[str, Any]:
    """Leave out tokens, so that the options may be written to files and sent to trackers."""
    return {name: value for name, value in args.items() if not name.endswith("_token")}


def hide_secrets(command: list[str]) -> list[str]:
    """Replace tokens in a command line by stars, so that it may be written to files."""
    shown = [re.sub(r"(--[\w-]+-token)=.*", r"\1=***", word, flags=re.DOTALL) for word in command]
    follows = [False, *(re.fullmatch(r"--[\w-]+-token", word) is not None for word in command)]
    # `--x-token SECRET`: the word after the flag; the list is one longer, for a flag that is last.
    return ["***" if hidden else word for word, hidden in zip(shown, follows)]


def hardware() -> dict[str, Any]:
    """Return what this machine is: host, processor, number of cores and memory in bytes."""
    # Here, and not above: the doctor reads where runs are, and has to tell that a package is missing.
    import psutil

    return {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor_name(),
        "cores": os.cpu_count(),
        "memory": psutil.virtual_memory().total,
    }


def _processor_name() -> str:
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


# -- The run directory -----------------------------------------------------------------------------------------------

LOCK = "run.lock"
"""File in the directory of a run that is being written, see `RunLock`."""


@dataclass(frozen=True)
class LockSigns:
    """What `run.lock` tells of the process that writes a run."""

    host: str
    pid: int | None
    alive: bool | None
    """None for a process of another machine, which cannot be looked at from here."""
    began: float
    """When it began, in seconds since the epoch; 0 if that is unknown."""
    heartbeat: float
    """Its last sign of life; there is one every 15 s."""


def read_lock(run_path: Path) -> LockSigns | None:
    """Return what the lock of a run tells; None if nobody holds one."""
    file = run_path / LOCK
    try:
        heartbeat = file.stat().st_mtime
    except OSError:
        return None
    holder = _lock_holder(file)
    here = holder.get("machine") == machine_id()
    pid, began = holder.get("pid"), holder.get("created")
    return LockSigns(
        host=str(holder.get("host", "")),
        pid=pid if isinstance(pid, int) else None,
        alive=_runs(holder) if here else None,
        began=float(began) if isinstance(began, (int, float)) else 0.0,
        heartbeat=heartbeat,
    )


def _lock_holder(file: Path) -> dict[str, Any]:
    """Return the content of a lock file; nothing where it is torn or gone."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


class RunLock:
    """The file `run.lock`, which names the process that writes a run directory, so that a second one does not.

    It holds host, process and start, and its modification time is a heartbeat every `_HEARTBEAT_SECONDS`. The lock of a
    process of this machine that has ended is taken over; that of another machine, whose processes cannot be looked
    at, only by `force`.
    """

    _HEARTBEAT_SECONDS = 15.0

    def __init__(self, path: Path, force: bool | None = None) -> None:
        """Take the lock of the run in `path`; raises UserError that names who has it.

        `force` is None where the command has no such flag: then the message names the file to remove.
        """
        self.file = path / LOCK
        self._own = {**_this_process(), "token": secrets.token_hex(8)}
        self._ended = threading.Event()
        self._take(force)
        threading.Thread(target=self._send_heartbeats, name="run-lock", daemon=True).start()

    def release(self) -> None:
        """Remove the lock, if it is still ours."""
        self._ended.set()
        if self._holder().get("token") == self._own["token"]:
            self.file.unlink(missing_ok=True)

    def _take(self, force: bool | None) -> None:
        for _ in range(3):
            try:
                # O_EXCL: of two processes that begin at the same time the system lets one create the file.
                descriptor = os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            except FileExistsError:
                self._clear(force)
                continue
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(self._own))
            return
        raise UserError(f"{self.file.parent} was taken by another process just now")

    def _clear(self, force: bool | None) -> None:
        """Remove the lock of a process that has ended; UserError if it lives, or may live elsewhere."""
        holder, here = self._holder(), _this_process()
        try:
            silent = time.time() - self.file.stat().st_mtime
        except FileNotFoundError:
            return
        who = f"process {holder.get('pid', '?')} on {holder.get('host', 'an unknown host')}"
        where = f"{self.file.parent} is in use by {who}, started {holder.get('started', 'at an unknown time')}"
        if holder.get("machine") == here["machine"]:
            if _runs(holder):
                raise UserError(f"{where}; end it, or wait for its end")
        elif not force:
            advice = "add --force"
            if force is None:
                advice = f"remove {self.file}"
            raise UserError(f"{where}, last sign of life {silent:.0f} s ago; if it is dead, {advice}")
        self.file.unlink(missing_ok=True)

    def _holder(self) -> dict[str, Any]:
        return _lock_holder(self.file)

    def _send_heartbeats(self) -> None:
        while not self._ended.wait(self._HEARTBEAT_SECONDS):
            if self._holder().get("token") != self._own["token"]:
                log.error("%s was taken over by another process; two processes write this run now", self.file.parent)
                return
            with suppress(OSError):
                os.utime(self.file)


def _this_process() -> dict[str, Any]:
    """Identify this process, with the machine (or container) in which its id is valid."""
    import psutil

    process = psutil.Process()
    return {
        "host": platform.node(),
        "pid": process.pid,
        "created": process.create_time(),
        "machine": machine_id(),
        "started": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def _runs(holder: dict[str, Any]) -> bool:
    """Tell whether the process named by a lock of this machine is alive, and is not another one with its id."""
    import psutil

    try:
        # Process ids come around again; the time at which a process began does not.
        return abs(psutil.Process(holder["pid"]).create_time() - holder["created"]) < 1.0
    except (KeyError, TypeError, ValueError, psutil.Error):
        return False


class RunDir:
    """A run's directory with its event and metric logs; rank 0 writes `events.jsonl`, others `events_r<rank>.jsonl`."""

    def __init__(self, path: Path, rank: int = 0, lock: RunLock | None = None) -> None:
        """Open the logs of a rank; `close` releases the `lock`."""
        self.path, self._lock = Path(path), lock
        self.path.mkdir(parents=True, exist_ok=True)
        suffix = f"_r{rank}" if rank else ""
        self.events_writer = JsonlWriter(self.path / f"events{suffix}.jsonl")
        self.metrics_writer = JsonlWriter(self.path / f"metrics{suffix}.jsonl")

    def event(self, kind: str, **fields: Any) -> None:
        """Append an event to `events.jsonl`, with its `time` in seconds since the epoch."""
        self.events_writer.write({"time": round(time.time(), 3), "kind": kind, **fields})

    def metrics(self, step: int, **values: Any) -> None:
        """Append the metrics of one step to `metrics.jsonl`."""
        self.metrics_writer.write({"step": step, "time": round(time.time(), 3), **values})

    def write_args(self, args: dict[str, Any]) -> None:
        """Write `args.json`, the options the run was started with."""
        atomic_write_json(self.path / "args.json", without_secrets(args))

    def write_meta(self, decisions: dict[str, str]) -> None:
        """Write `meta.json`: command, versions, hardware, and decisions from the surroundings with their reasons."""
        meta = {
            "command": hide_secrets(sys.argv),
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "versions": versions(),
            "hardware": hardware(),
        }
        atomic_write_json(self.path / "meta.json", {**meta, "decisions": decisions})

    def finish(self, step: int) -> None:
        """Record that the run has come to its end, by an event and the file `finished`."""
        self.event("finished", step=step)
        (self.path / FINISHED).touch()

    def close(self) -> None:
        """Close the logs and release the lock."""
        self.events_writer.close()
        self.metrics_writer.close()
        if self._lock is not None:
            self._lock.release()


def check_run_name(name: str) -> None:
    """Raise UserError for the name of a run that cannot be part of a path."""
    if not re.fullmatch(r"[\w.+-]+", name):
        raise UserError(f"--run must be made of letters, digits, and . _ + -; got {name!r}")
    if cut_name(name) != name:
        raise UserError(f"--run has {len(name.encode())} bytes; a name may have {MOST_NAME_BYTES}")


def new_run_path(stage: str, name: str, run_dir: str | None = None) -> Path:
    """Choose the directory of a new run: `home()/<stage>/<date>_<name>`, or exactly `run_dir` if one is given.

    A relative `run_dir` is one of `home()`, as wherever a run is named; `./NAME` is one of the working directory.
    The directory is not created. Raises UserError for a name that cannot be part of a path.
    """
    if run_dir is not None:
        path = Path(run_dir).expanduser()
        if _is_of_here(run_dir):
            return path.absolute()
        return (home() / path).absolute()
    check_run_name(name)
    base = home() / stage / f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_{name}"
    path, number = base, 1
    while path.exists():
        number += 1
        # Two runs may begin within a second (a script that starts several).
        path = base.with_name(f"{base.name}-{number}")
    return path


# -- Logging ---------------------------------------------------------------------------------------------------------


class ConsoleFormatter(logging.Formatter):
    """Time and message, with level and rank where it is a warning or worse."""

    def __init__(self, rank: int) -> None:
        super().__init__("%(asctime)s %(message)s", datefmt="%H:%M:%S")
        self._rank = rank

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if record.levelno < logging.WARNING:
            return text
        clock, _, message = text.partition(" ")
        return f"{clock} {record.levelname.lower()} (rank {self._rank}): {message}"


class LogFile(logging.FileHandler):
    """A log file that warns once if it cannot be written, and not with each record."""

    def handleError(self, record: logging.LogRecord) -> None:
        # A full disk is a warning for each record otherwise, on the screen of a run that goes on without its log.
        self.setLevel(logging.CRITICAL + 1)
        print(f"warning: {self.baseFilename} cannot be written: {sys.exc_info()[1]}", file=sys.stderr)


def setup_logging(level: str, log_file: Path | None = None, rank: int = 0) -> None:
    """Send log records to stderr (rank 0 only, unless warnings) and, with date, level and origin, to `log_file`."""
    console = logging.StreamHandler()
    console.setLevel(level.upper())
    if rank != 0:
        console.setLevel("WARNING")  # what all ranks do alike would stand there once for each
    console.setFormatter(ConsoleFormatter(rank))
    handlers: list[logging.Handler] = [console]
    if log_file is not None:
        handlers.append(LogFile(log_file, encoding="utf-8"))
    text = f"%(asctime)s r{rank} %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level.upper(), handlers=handlers, format=text, datefmt="%Y-%m-%d %H:%M:%S", force=True)
    quiet_libraries(level)


def quiet_libraries(level: str) -> None:
    """Keep out of the log what libraries say of each request; those of HTTP clients are there at level `debug`."""
    for noisy in ("urllib3", "waitress.queue"):
        logging.getLogger(noisy).setLevel("ERROR")
    for client in ("httpx", "httpx2"):  # a line for each request at INFO
        logging.getLogger(client).setLevel("NOTSET" if level.lower() == "debug" else "WARNING")
