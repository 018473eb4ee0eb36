"""What a run is (command, seed, commit, machine, files) and how it fares: does it go on, has it ended, has it died?

The lock of a run says whether its process lives; where there is none (a copy, a run of an earlier version), its status
files do. A run without the file `finished` that nobody writes was stopped, or has died if it left its lock.
"""

import os
import re
import shlex
from bisect import bisect_right
from datetime import datetime
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json
from nanoproof.common.run_dir import FINISHED, LockSigns, read_lock, run_name
from nanoproof.monitor import tail
from nanoproof.monitor.ranks import STALE_SECONDS
from nanoproof.monitor.schema import RunFile, RunIdentity, RunNote, RunState, StateName

STALLED_SECONDS = 30.0
"""A process that lives, but has not written its status for so long, is stalled (it does once a second)."""
SILENT_SECONDS = 60.0
"""A process of another machine whose lock has no sign of life for so long is silent (it gives one every 15 s)."""
UNBOUNDED_STEPS = 1_000_000
"""So many steps are no plan: they are what reinforcement learning is given to go on until it is stopped."""
MAX_FILES = 500
NOTE_FILE = "note.json"
"""File of a run with the name and the note that somebody gave it; nothing that the run itself reads or writes."""
MAX_TITLE, MAX_NOTE = 100, 4000
_LEADING_NUMBER = re.compile(r"[\d,]+")
_RANKS = re.compile(r"(\d+) \(torchrun\)")
_CHECKPOINT = re.compile(r"model_(\d+)\.json")

# -- How it fares --------------------------------------------------------------------------------------------------


def run_state(path: Path, status_time: float | None, stopped: bool, last_heard: float | None, now: float) -> RunState:
    """Tell how a run fares.

    `status_time` is when a status file was last written, if there is one, `stopped` whether that says that the run has
    ended, and `last_heard` the newest time in any of its records.
    """
    lock, finished = read_lock(path), tail.file_stat(path / FINISHED)
    heard = max(tail.without_none([status_time, last_heard]), default=None)
    # It was written at an end: no sign that the process went without a word, and none of a part that was resumed since.
    if stopped:
        status_time = None
    if lock is not None and lock.alive is not False:
        state = _alive(lock, status_time, now)
        if state == "running":
            heard = None
        return _state(state, heard)
    if lock is None and status_time is not None and now - status_time < STALE_SECONDS:
        return _state("running", None)
    if finished is not None:
        # A copy of a run has a file of today; what is in its records is older, and true.
        return _state("finished", min(tail.without_none([heard, finished.st_mtime])))
    if lock is not None:
        return _state("died", max(heard or 0.0, lock.heartbeat))
    if heard is None:
        return _state("unknown", None)
    # Without a lock: a status that nobody ended by "stopped" is of a process that went without a word.
    return _state("stopped" if status_time is None else "died", heard)


def _alive(lock: LockSigns, status_time: float | None, now: float) -> StateName:
    """Tell how a run fares whose process lives, or may live on another machine."""
    if lock.alive is None:  # of another machine: only signs of life can tell
        last_sign = max(tail.without_none([status_time, lock.heartbeat]))
        return "running" if now - last_sign < SILENT_SECONDS else "silent"
    # A status from before the lock is of the part before: a run that loads its model has written none of its own yet.
    writes = status_time is not None and status_time > lock.began
    return "stalled" if writes and now - (status_time or 0.0) >= STALLED_SECONDS else "running"


def _state(name: StateName, since: float | None) -> RunState:
    return {"name": name, "since": since}


class ActiveTime:
    """How long a run was at work, over all its parts: the pause before it was resumed does not count.

    Unlike the seconds that a run counts itself, which a checkpoint restores, this never goes back.
    """

    def __init__(self) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []

    def resumed(self, moment: float) -> None:
        """Note that a part begins."""
        # Later moments may have been heard already, from a file that was read before: they are of the new part then.
        at = bisect_right(self._starts, moment)
        self._starts.insert(at, moment)
        if at == 0:
            self._ends.insert(at, moment)
            return
        before = self._ends[at - 1]
        self._ends.insert(at, max(moment, before))
        self._ends[at - 1] = min(before, moment)

    def heard(self, moment: float | None) -> None:
        """Note that the run was at work at a moment."""
        if moment is None or moment <= 0:
            return
        at = bisect_right(self._starts, moment) - 1
        if at >= 0:
            self._ends[at] = max(self._ends[at], moment)
        elif self._starts:  # from before all that was heard: the first part began earlier
            self._starts[0] = moment
        else:
            self._starts, self._ends = [moment], [moment]

    @property
    def last(self) -> float | None:
        """The newest moment; None if there was none."""
        return self._ends[-1] if self._ends else None

    def seconds(self, until: float | None = None) -> float | None:
        """Return the seconds at work, up to `until` if it is at work still; None if nothing was heard."""
        if not self._starts:
            return None
        ends = [*self._ends[:-1], max(self._ends[-1], until or 0.0)]
        return sum(end - start for start, end in zip(self._starts, ends, strict=True))


# -- What it is ----------------------------------------------------------------------------------------------------


def identity(path: Path, args: dict[str, Any], meta: dict[str, Any]) -> RunIdentity:
    """Describe a run from its `args.json` and `meta.json`."""
    versions = {name: tail.as_text(value, 200) for name, value in tail.as_dict(meta.get("versions")).items()}
    commit = versions.pop("nanoproof", "")  # with a plus where the code had changes beside it
    command = command_of(meta)
    decisions = {name: tail.as_text(value, 2000) for name, value in tail.as_dict(meta.get("decisions")).items()}
    files, total = _files(path)
    return {
        "path": str(path),
        "stage": stage_of(command),
        "command": shown_command(command, decisions),
        "resume": resume_command(path, command, decisions),
        "started": to_time(tail.as_text(meta.get("started"))),
        "seed": tail.int_or_none(args.get("seed")),
        "commit": commit.removesuffix("+"),
        "changed": commit.endswith("+"),
        "versions": versions,
        "hardware": _plain(tail.as_dict(meta.get("hardware"))),
        "decisions": decisions,
        "parent": tail.as_text(args.get("model_path"), 1000),
        "files": files,
        "bytes": total,
    }


def read_note(path: Path) -> RunNote:
    """Return the name and the note that somebody gave a run; empty where there are none."""
    data = tail.read_object(path / NOTE_FILE, 1 << 16) or {}
    return {"title": tail.as_text(data.get("title"), MAX_TITLE), "note": tail.as_text(data.get("note"), MAX_NOTE)}


def write_note(path: Path, title: str, note: str) -> RunNote:
    """Give a run a name and a note, in its folder. Raises UserError if they are too long, or cannot be written."""
    title, note = " ".join(title.split()), note.strip()
    if len(title) > MAX_TITLE or len(note) > MAX_NOTE:
        raise UserError(f"a name has at most {MAX_TITLE} characters and a note {MAX_NOTE:,}: these have more")
    data: RunNote = {"title": title, "note": note}
    try:
        atomic_write_json(path / NOTE_FILE, data)
    except OSError as error:
        raise UserError(f"{NOTE_FILE} of {path.name} cannot be written: {error.strerror or error}") from error
    return data


def _plain(values: dict[str, Any]) -> dict[str, str | float | None]:
    return {name: value for name, value in values.items() if value is None or isinstance(value, (str, int, float))}


def command_of(meta: dict[str, Any]) -> list[str]:
    """Return the command that a run recorded: its program and the arguments; empty if there is none."""
    return list(map(str, tail.as_list(meta.get("command"))))


def module_of(command: list[str]) -> str:
    """Name the module that a recorded command ran: `/a/nanoproof/rl/__main__.py` is `nanoproof.rl`."""
    if not command:
        return ""
    parts = list(Path(command[0]).with_suffix("").parts)
    # The innermost: a checkout is often in a folder that is called nanoproof too.
    for at in reversed(range(len(parts) - 1)):
        if parts[at] in ("nanoproof", "scripts"):
            return ".".join(parts[at:]).removesuffix(".__main__")
    return command[0]


def stage_of(command: list[str]) -> str:
    """Name the stage of a recorded command, such as `sft` or `rl`; empty if it is unknown."""
    return module_of(command).rpartition(".")[2]


def shown_command(command: list[str], decisions: dict[str, str]) -> str:
    """Spell a recorded command as one would type it, under torchrun if it had several ranks on one machine."""
    return _launch(module_of(command), command[1:], decisions) if command else ""


def _launch(module: str, arguments: list[str], decisions: dict[str, str]) -> str:
    ranks = _RANKS.match(decisions.get("ranks", ""))
    how = f"torchrun --standalone --nproc_per_node={ranks[1]} -m" if ranks and int(ranks[1]) > 1 else "python -m"
    return f"{how} {module} {shlex.join(arguments)}".strip()


def resume_command(path: Path, command: list[str], decisions: dict[str, str]) -> str:
    """Return the command that resumes a run; empty if it has no checkpoint yet, or is none that can be resumed."""
    module = module_of(command)
    if not module.startswith("nanoproof.") or not _has_checkpoint(path):
        return ""
    # Nothing else of the command: options that are not given are those of the run.
    return _launch(module, ["--resume-from", run_name(path)], decisions)


def ask_command(path: Path) -> str:
    """Return the command that asks the newest checkpoint of a run about states; empty if it has no checkpoint."""
    if not _has_checkpoint(path):
        return ""
    return f"python -m scripts.interact --no-lean --model-path {shlex.quote(run_name(path))}"


def planned_steps(args: dict[str, Any], meta: dict[str, Any]) -> int | None:
    """Return how many steps a run is to make: what it decided, else its option; None if that is unknown."""
    # As text for people, such as "60 of 64 examples": stages that count steps from the data have no option of them.
    decided = _LEADING_NUMBER.match(tail.as_text(tail.as_dict(meta.get("decisions")).get("steps")))
    if decided and decided[0].strip(","):
        return int(decided[0].replace(",", ""))
    steps = tail.as_float(args.get("num_steps"))
    if steps is None or not 1 <= steps < UNBOUNDED_STEPS:
        return None
    return int(steps)


def _has_checkpoint(path: Path) -> bool:
    # Its `.json` is written last: one without is not whole.
    return any(map(_CHECKPOINT.fullmatch, _names(path)))


def _names(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def _files(path: Path) -> tuple[list[RunFile], int]:
    """Return the files of a run with their sizes, the largest first, and the size of all; folders count as one each."""
    files: list[RunFile] = []
    for name in _names(path):
        entry = path / name
        stat = tail.file_stat(entry)
        if stat is not None:
            files.append({"name": name, "bytes": stat.st_size, "time": stat.st_mtime})
        elif entry.is_dir() and not entry.is_symlink():
            inside = list(entry.glob("*"))
            size = sum(map(tail.file_size, inside))
            files.append({"name": f"{name}/", "bytes": size, "time": tail.newest_change(inside) or 0.0})
    total = sum(file["bytes"] for file in files)
    return sorted(files, key=lambda file: -file["bytes"])[:MAX_FILES], total


def to_time(text: str) -> float | None:
    """Parse the time that `meta.json` holds as seconds since the epoch; None if it is none."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except (ValueError, OverflowError):
        return None
