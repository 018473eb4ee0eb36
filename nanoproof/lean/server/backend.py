"""How the server starts a process of either kind, and what it does before and between leases."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.lean.nanolean import check_installed
from nanoproof.lean.repl_goals import error_messages
from nanoproof.lean.server.limits import find_out, limited
from nanoproof.lean.server.repl_process import Limits, ReplError, ReplGarbage, ReplProcess, ReplTimeout
from nanoproof.lean.server.settings import ServerSettings

_LAKE_SECONDS = 300.0
_PRINT_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"


@dataclass(frozen=True)
class Backend:
    """A kind of REPL process: its command line and the requests that prepare, extend and clean it."""

    command: tuple[str, ...]
    cwd: str | None = None
    env: Mapping[str, str] | None = None
    imports: tuple[str, ...] = ()
    start_seconds: float = 600.0
    tactic_options: Mapping[str, Any] = field(default_factory=dict)
    can_prune: bool = False
    address_space_bytes: int | None = None
    soft_limits: bool = False
    """Whether to find out what stops a tactic in a process before the process is killed, and to use it."""
    grace_seconds: float = 0.0
    """How much longer than its time a tactic that something should stop may take to stop."""
    _fatal_trials: list[str] = field(default_factory=list, init=False, compare=False)

    def spawn(self) -> ReplProcess:
        """Start a process; it is not ready before `prepare` has returned. Raises OSError if it cannot be started."""
        return ReplProcess(self.command, self.cwd, self.env, self.address_space_bytes)

    def prepare(self, process: ReplProcess) -> int | None:
        """Wait until the process answers and has its imports; returns the base environment (None: the built-in one).

        Raises `ReplError` if it does not come up.
        """
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
        """What stops a tactic in the process. If the trial ends the process, it is the last one that is tried."""
        if self._fatal_trials:
            return Limits(reason=self._fatal_trials[0])
        try:
            return find_out(process, base_env)
        except ValueError as error:
            return Limits(reason=str(error))
        except ReplError as error:
            self._fatal_trials.append(f"the trial ended a process: {error}")
            raise

    def tactic_request(self, process: ReplProcess, proof_state: int, tactic: str, seconds: float) -> dict[str, Any]:
        """The request that runs a tactic for `seconds`, with the limits that the process has."""
        message = {"tactic": tactic, "proofState": proof_state, **self.tactic_options}
        return limited(message, process.limits, seconds) if self.soft_limits else message

    def patience(self, process: ReplProcess, seconds: float) -> float:
        """After how many seconds a process is killed whose tactic may take `seconds`."""
        return seconds + self.grace_seconds if process.limits.names else seconds

    def reset(self, process: ReplProcess) -> None:
        """Forget the proof states of the lease that ended; raises `ReplError` if the process is gone."""
        if self.can_prune:
            process.request({"prune_all": True}, 10.0)


def make_backend(settings: ServerSettings) -> Backend:
    """The backend that the settings ask for; `UserError` if something it needs is not there."""
    if settings.backend == "nanolean":
        check_installed()
        return Backend(
            command=(sys.executable, "-m", "nanolean", "repl", "--json"),
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
    return Backend(
        command=(str(executable),),
        cwd=str(project),
        env=lake_environment(project),
        imports=settings.imports,
        start_seconds=settings.start_seconds,
        tactic_options=options,
        address_space_bytes=settings.address_space_bytes,
        soft_limits=settings.soft_limits,
        grace_seconds=settings.grace_seconds,
    )


def lake_environment(project: Path) -> dict[str, str]:
    """The environment that `lake env` gives to programs of the project; asked once, so that every REPL is our child."""
    lake = shutil.which("lake")
    if lake is None:
        raise UserError("the backend repl needs `lake` on the PATH (install Lean with elan)")
    command = [lake, "env", sys.executable, "-c", _PRINT_ENVIRONMENT]
    try:
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=_LAKE_SECONDS, check=False)
        lines = done.stdout.strip().splitlines()
        if done.returncode == 0 and lines:
            return dict(json.loads(lines[-1]))
    except (subprocess.TimeoutExpired, ValueError) as error:
        raise UserError(f"`lake env` in {project} failed: {error}") from error
    reason = " ".join((done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").split())
    raise UserError(f"`lake env` in {project} failed: {reason[-500:]}")
