"""Settings of the Lean server, how it starts REPL processes of either kind, and time limits of tactics.

The official REPL has no time limit. Lean has two mechanisms that could provide one:

- **Heartbeats** count allocations (200 million by default, for each tactic in a REPL). A proof cannot change that
  number: `set_option maxHeartbeats N in tac` sets the option, but the elaborator looks at a number that it copied from
  it before (`Core.Context.maxHeartbeats`, see issue 69 of the REPL). Nor do they measure time: how many come in a
  second depends on the tactic and the machine.
- **Cancellation** is how the language server stops work that is not needed any more: the elaborator checks a token
  wherever it checks heartbeats, and no tactic can catch it, as some do with heartbeats.

So each process gets a tactic that runs another one and sets its token after some milliseconds. It is defined in an
environment beside the base environment, in which proofs start; commands, and with them final checks, do not see it. The
tactic to run begins on a line of its own, so that its columns, which matter to Lean, stay the same.

Forks of the REPL that take a `timeout` answer in time, but leave the computation running: the second line of defence.
Which of these a process supports is tested once it has its imports.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nanoproof.common.config import check, opt, validated
from nanoproof.common.errors import UserError
from nanoproof.common.web.http_client import on_loopback
from nanoproof.lean.nanolean import check_installed
from nanoproof.lean.repl_goals import OutOfTime, Step, error_messages, read_statement_answer, read_tactic_answer
from nanoproof.lean.server.forks import ForkServer, can_fork
from nanoproof.lean.server.repl_process import Limits, ReplError, ReplGarbage, ReplProcess, ReplTimeout
from nanoproof.lean.server.sandbox import bubblewrap, inside

_LEVELS = ("debug", "info", "warning", "error", "critical")
_LAKE_SECONDS = 300.0
_PRINT_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"

# -- Settings --------------------------------------------------------------------------------------------------------


@validated("server")
class ServerSettings:
    """Lean server"""

    backend: Literal["auto", "nanolean", "repl"] = opt(
        "auto",
        "Which processes to run: the embedded prover, or the official Lean REPL; auto takes the REPL if a project, "
        "a REPL or imports are given.",
    )
    project_path: str = opt("", "Built Lean project in which the REPL runs (backend repl); default: LEAN_PROJECT_PATH.")
    repl_exe: str = opt(
        "",
        "REPL executable; relative paths are taken from the project (backend repl); default: LEAN_REPL_EXE, or where "
        "nanoproof.lean.project builds it.",
    )
    sandbox: Literal["none", "bwrap"] = opt(
        "none", "Run Lake and the REPL, and so the code of the project, without network and home (backend repl)."
    )
    imports: tuple[str, ...] = opt((), "Modules that every process imports first (backend repl).")
    address: str = opt("127.0.0.1", "Address to listen on; anything but loopback lets others run code as you.")
    token: bool = opt(True, "Ask callers for the token in NANOPROOF_LEAN_TOKEN; --no-token answers all who come.")
    port: int = opt(8000, "Port to listen on; 0 picks a free one.", min=0, max=65535)
    max_processes: int = opt(2, "How many Lean processes may be leased at the same time.", min=1)
    spares: int = opt(1, "How many more processes are kept ready to replace those that get killed.", min=0)
    warmup: bool = opt(False, "Start all processes before listening instead of on demand.")
    lease_seconds: float = opt(600.0, "A lease that is idle for this long is taken back.", above=0)
    start_seconds: float = opt(600.0, "How long a process may take to start and import.", above=0, advanced=True)
    soft_limits: bool = opt(
        True, "Have Lean or the REPL stop a tactic that runs out of time, where one of them can.", advanced=True
    )
    grace_seconds: float = opt(
        1.0,
        "How much longer than its time a tactic may take to stop before its process is killed.",
        min=0,
        advanced=True,
    )
    command_seconds: float = opt(300.0, "How long one command (a statement, a final check) may take.", above=0)
    longest_seconds: float = opt(
        3600.0, "Longer timeouts that clients ask for are cut to this.", above=0, advanced=True
    )
    receive_seconds: float = opt(
        600.0,
        "A connection on which nothing comes for so long is closed, unless it waits for an answer.",
        above=0,
        advanced=True,
    )
    drain_seconds: float = opt(5.0, "How long requests in progress may still take after SIGTERM.", min=0, advanced=True)
    max_body_mb: float = opt(8.0, "Requests with a longer body are refused with 413.", above=0, advanced=True)
    max_uses: int = opt(100, "A process is replaced after this many leases or fresh proofs.", min=1, advanced=True)
    recycle_gb: float | None = opt(
        4.0,
        "A process with more unshared resident memory is replaced after its lease or proof.",
        above=0,
        advanced=True,
    )
    memory_limit_gb: float | None = opt(8.0, "A process with more unshared resident memory is killed.", above=0)
    address_space_gb: float | None = opt(
        64.0,
        "Hard limit of a process's address space, mapped library files included (Linux, macOS).",
        above=0,
        advanced=True,
    )
    exit_with_parent: bool = opt(False, "End when standard input closes or the parent process ends.", advanced=True)
    log_level: str = opt(
        "warning",
        "Which messages go to standard error.",
        choices=(*_LEVELS, *(level.upper() for level in _LEVELS)),
    )

    def __post_init__(self) -> None:
        if self.backend == "auto":
            real = self.project_path or self.repl_exe or self.imports
            object.__setattr__(self, "backend", "repl" if real else "nanolean")
        if self.backend == "repl":
            project = "--project-path (or LEAN_PROJECT_PATH) is needed: the built Lean project in which the REPL runs"
            check(bool(self.project_path), f"{project}; for NanoLean give --backend nanolean")
            check(
                bool(self.repl_exe),
                f"--repl-exe (or LEAN_REPL_EXE) is needed: the REPL's executable, which is not in {self.project_path} "
                "where python -m nanoproof.lean.project setup builds it",
            )
        else:
            check(
                not self.imports, "server.imports is for the backend repl; nanolean has its library built in", "server"
            )
            check(self.sandbox == "none", "server.sandbox is for the backend repl; nanolean runs no code of files")

    @property
    def max_waiting(self) -> int:
        """How many callers may wait for a free process, or for their turn, before others are refused with 429."""
        return max(8, self.max_processes)

    @property
    def address_space_bytes(self) -> int | None:
        """The limit of a process's address space in bytes."""
        if self.address_space_gb is None:
            return None
        return round(self.address_space_gb * 2**30)

    @property
    def threads(self) -> int:
        """Worker threads: one per lease, one per waiting caller, and some for status and returns."""
        return self.max_processes + 2 * self.max_waiting + 8

    @property
    def on_loopback(self) -> bool:
        """True if only programs on this machine can connect."""
        return on_loopback(self.address)


# -- Time limits of tactics ------------------------------------------------------------------------------------------

TIMEOUT_TACTIC = "nanoproof_within"
TIMEOUT_MESSAGE = "the tactic timed out and was stopped"
"""Error of the tactic at the time limit; `read_tactic_answer` takes it for `OutOfTime`."""
TIMEOUT_TACTIC_SOURCE = f"""open Lean Elab Tactic in
elab "{TIMEOUT_TACTIC} " limit:num tac:tactic : tactic => do
  let token ← IO.CancelToken.new
  let isOver ← IO.mkRef false
  let isOpen ← IO.mkRef true
  let stop := (← IO.monoMsNow) + limit.getNat
  let _ ← IO.asTask (prio := .dedicated) do
    for _ in [0:limit.getNat] do
      unless (← isOver.get) do
        if (← IO.monoMsNow) < stop then IO.sleep 10
    token.set
  try
    withTheReader Core.Context (fun c => {{ c with cancelTk? := some token }}) (evalTactic tac)
    isOpen.set false
  finally
    let isLate ← token.isSet
    isOver.set true
    if isLate && (← isOpen.get) then throwError "{TIMEOUT_MESSAGE}"
"""
"""Lean source of the tactic. Its waiting thread ends within 10 ms of the tactic, so that threads do not accumulate.

An error in `finally` replaces the interruption, which the REPL would show as the number of an internal exception.
"""

_SHARE = 0.9
"""Fraction of its time limit after which a tactic is stopped, so that the answer comes within the limit."""
_TRIAL_SECONDS = 60.0
_TRIAL_MS, _TRIAL_SLEEP_MS = 20, 200
_TRIAL_STATEMENT = "example : True := by sorry"
_LINE = re.compile(r"(?<=<input>:)\d+(?=:\d+)")


def probe_limits(process: ReplProcess, base_env: int) -> Limits:
    """Define our tactic in a process, and test what stops a tactic there; takes half a second.

    Raises `ReplError` if the process ends, and ValueError if its answers are not those of a REPL.
    """
    answer = process.request({"cmd": TIMEOUT_TACTIC_SOURCE, "env": base_env}, _TRIAL_SECONDS)
    refusal = " ".join(error_messages(answer)) or str(answer.get("message", ""))
    env = None
    if isinstance(answer.get("env"), int) and not refusal:
        env = answer["env"]
    statement = {"cmd": _TRIAL_STATEMENT, "env": base_env if env is None else env}
    start = read_statement_answer(process.request(statement, _TRIAL_SECONDS))
    if not isinstance(start, Step):
        raise ValueError(f"it starts no proof: {start}")
    slow = f"sleep {_TRIAL_SLEEP_MS}"
    # `sleep` alone never looks at the token; Lean does before the `skip` behind it.
    if env is not None and not _is_stopped(process, start, f"{TIMEOUT_TACTIC} {_TRIAL_MS}\n({slow}; skip)"):
        env, refusal = None, "the trial was not stopped"
    return Limits(env, _is_stopped(process, start, slow, timeout=_TRIAL_MS), " ".join(refusal.split())[:300])


def _is_stopped(process: ReplProcess, start: Step, tactic: str, **more: int) -> bool:
    message = {"tactic": tactic, "proofState": start.proof_state, **more}
    return isinstance(read_tactic_answer(process.request(message, _TRIAL_SECONDS)), OutOfTime)


def add_time_limit(message: dict[str, Any], limits: Limits, seconds: float) -> dict[str, Any]:
    """Add the limits that the process supports to the request for a tactic, so that it is answered within `seconds`.

    Where Lean stops the tactic, the REPL's own limit applies later, at the end of the time.
    """
    # At least 10 ms: rotating the goals before may have used up the time.
    whole = max(10, int(seconds * 1000))
    share = max(10, int(whole * _SHARE))
    if limits.lean_env is None:
        return {**message, "timeout": share}
    return {**message, "tactic": f"{TIMEOUT_TACTIC} {share}\n{message['tactic']}", "timeout": whole}


def restore_line_numbers(message: str, limits: Limits) -> str:
    """Correct the line numbers in Lean's message on a tactic that `add_time_limit` moved by a line."""
    if limits.lean_env is None:
        return message
    return _LINE.sub(lambda line: str(max(1, int(line[0]) - 1)), message)


def is_runaway(outcome: OutOfTime, limits: Limits) -> bool:
    """Tell whether Lean did not stop a tactic that it should have, so that it still runs after the REPL's answer."""
    return limits.lean_env is not None and TIMEOUT_MESSAGE not in outcome.message


# -- REPL processes --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Backend:
    """A kind of REPL process: its command line, the requests that prepare and reset it, and its time limits."""

    command: tuple[str, ...]
    cwd: str | None = None
    env: Mapping[str, str] | None = None
    imports: tuple[str, ...] = ()
    start_seconds: float = 600.0
    tactic_options: Mapping[str, Any] = field(default_factory=dict)
    can_prune: bool = False
    address_space_bytes: int | None = None
    soft_limits: bool = False
    """Whether to test what stops a tactic without killing the process, and to use it."""
    grace_seconds: float = 0.0
    """How much longer than its time limit a tactic may take to stop before its process is killed."""
    forks: ForkServer | None = None
    """What the processes are forks of, where that is how they start."""
    _fatal_trials: list[str] = field(default_factory=list, init=False, compare=False)

    def spawn(self) -> ReplProcess:
        """Start a process; it is not ready before `prepare` has returned. Raises OSError if it cannot be started."""
        if self.forks is not None:
            return ReplProcess(self.command, forked=self.forks.fork(self.start_seconds))
        return ReplProcess(self.command, self.cwd, self.env, self.address_space_bytes)

    def prepare(self, process: ReplProcess) -> int | None:
        """Wait until the process answers and has its imports; return the base environment (None: the built-in one).

        Raises `ReplError` if it does not come up.
        """
        # Without imports an empty command, whose answer tells that the process is ready.
        text = "\n".join(f"import {module}" for module in self.imports)
        try:
            answer = process.request({"cmd": text}, self.start_seconds)
            errors = error_messages(answer)
        except ReplTimeout as error:
            raise ReplTimeout(f"the start took too long: {error}") from error
        except ValueError as error:
            errors = [str(error)]
        if errors or not isinstance(answer.get("env"), int):
            process.close()
            raise ReplGarbage(" ".join(errors) or str(answer.get("message", answer))[:500])
        if self.soft_limits:
            process.limits = self._try_limits(process, int(answer["env"]))
        return None if self.can_prune else int(answer["env"])

    def _try_limits(self, process: ReplProcess, base_env: int) -> Limits:
        """Test what stops a tactic in the process. After a test that ended a process no other one is tested.

        Else a REPL that the test ends would never start.
        """
        if self._fatal_trials:
            return Limits(reason=self._fatal_trials[0])
        try:
            return probe_limits(process, base_env)
        except ValueError as error:
            return Limits(reason=str(error))
        except ReplError as error:
            self._fatal_trials.append(f"the trial ended a process: {error}")
            raise

    def tactic_request(self, process: ReplProcess, proof_state: int, tactic: str, seconds: float) -> dict[str, Any]:
        """Build the request that runs a tactic for at most `seconds`, with the limits that the process supports."""
        message = {"tactic": tactic, "proofState": proof_state, **self.tactic_options}
        if not self.soft_limits:
            return message
        return add_time_limit(message, process.limits, seconds)

    def kill_seconds(self, process: ReplProcess, seconds: float) -> float:
        """Return after how many seconds a process is killed whose tactic may take `seconds`."""
        if not process.limits.names:
            return seconds
        return seconds + self.grace_seconds

    def reset(self, process: ReplProcess) -> None:
        """Discard the proof states of the lease that ended; raises `ReplError` if the process is gone."""
        if self.can_prune:
            process.request({"prune_all": True}, 10.0)

    def close(self) -> None:
        """End the process that the others are forks of, if they are."""
        if self.forks is not None:
            self.forks.close()


def make_backend(settings: ServerSettings) -> Backend:
    """Construct the backend of the settings; raises `UserError` if something that it needs is missing."""
    if settings.backend == "nanolean":
        check_installed()
        command = (sys.executable, "-m", "nanolean", "repl", "--json")
        forks = None
        if can_fork():
            forks = ForkServer((*command, "--forks"), settings.address_space_bytes)
        return Backend(
            command=command,
            forks=forks,
            start_seconds=settings.start_seconds,
            can_prune=True,
            address_space_bytes=settings.address_space_bytes,
        )
    project = Path(settings.project_path).expanduser()
    if not project.is_dir():
        raise UserError(f"--project-path: no directory {project}")
    executable = (project / Path(settings.repl_exe).expanduser()).absolute()
    if not os.access(executable, os.X_OK) or executable.is_dir():
        raise UserError(f"--repl-exe: no executable {executable} (build the REPL with `lake build repl`)")
    # Forks of the REPL verify steps only when they are asked to; the official one ignores what it does not know.
    options = {
        "includeProofTerm": False,
        "includePartialProofTerm": False,
        "includeStepVerification": True,
        "includeProofActionSummary": False,
    }
    sandbox: list[str] = []
    if settings.sandbox == "bwrap":
        sandbox = bubblewrap(project, [executable, Path(shutil.which("lake") or executable)], os.environ)
    return Backend(
        command=(*sandbox, str(executable)),
        cwd=str(project),
        env=lake_environment(project, sandbox),
        imports=settings.imports,
        start_seconds=settings.start_seconds,
        tactic_options=options,
        address_space_bytes=settings.address_space_bytes,
        soft_limits=settings.soft_limits,
        grace_seconds=settings.grace_seconds,
    )


def lake_environment(project: Path, sandbox: Sequence[str] = ()) -> dict[str, str]:
    """Return the environment that `lake env` sets for programs of a project, so that REPLs can be started directly.

    `sandbox` is what runs `lake`, which runs the project's `lakefile.lean`. Raises `UserError` if Lake is missing or
    fails.
    """
    lake = shutil.which("lake")
    if lake is None:
        raise UserError("the backend repl needs `lake` on the PATH (install Lean with elan)")
    # As JSON from a program of ours: the output of `lake env` alone is ambiguous where a value holds a line break.
    command = [*sandbox, lake, "env", sys.executable, "-c", _PRINT_ENVIRONMENT]
    environment = inside(os.environ) if sandbox else None
    try:
        done = subprocess.run(
            command,
            cwd=project,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_LAKE_SECONDS,
            check=False,
        )
        lines = done.stdout.strip().splitlines()  # Lake may report what it fetched or built in lines before
        if done.returncode == 0 and lines:
            return dict(json.loads(lines[-1]))
    except (subprocess.TimeoutExpired, ValueError) as error:
        raise UserError(f"`lake env` in {project} failed: {error}") from error
    reason = " ".join((done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").split())
    raise UserError(f"`lake env` in {project} failed: {reason[-500:]}")
