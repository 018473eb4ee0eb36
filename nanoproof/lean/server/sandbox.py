"""A sandbox for the processes of a foreign project: `--sandbox bwrap`, by bubblewrap.

Elaborating a file runs what the file says (`#eval`, `elab`, `initialize`), and Lake runs the project's `lakefile.lean`.
In the sandbox that has no network, sees no process and no token of yours, reads the system and the project and nothing
else below your home folder, and writes to the project's `.lake` and to a `/tmp` of its own.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from nanoproof.common.errors import UserError

_TRIAL_SECONDS = 30.0
_VARIABLES = re.compile(r"PATH|HOME|LANG|LC_\w+|TZ|TERM|LD_LIBRARY_PATH|(LEAN|LAKE|ELAN)(_\w+)?")
"""What of the environment is there inside: keys and tokens of yours are in others."""


def bubblewrap(project: Path, readable: Sequence[Path], environment: Mapping[str, str]) -> list[str]:
    """Return what comes before a command to run it in the sandbox, with a project's folder as the present one.

    `readable` are more paths that it may read, should they be hidden. Raises UserError if there is no bubblewrap, or it
    may not make sandboxes here.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise UserError("--sandbox bwrap: there is no bwrap on the PATH (install bubblewrap)")
    # `.lake` is mounted writable: through a link a foreign project would choose what folder of yours that is.
    if (project / ".lake").is_symlink():
        raise UserError(f"--sandbox bwrap: {project / '.lake'} is a symbolic link, through which it would write")
    home = Path(environment.get("HOME") or "/root")
    elan = Path(environment.get("ELAN_HOME") or home / ".elan")
    project = project.absolute()
    # In this order: what is mounted later lies over what was before, the project over its hidden home, say.
    command = [program, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for hidden in ("/tmp", "/var/tmp", "/run", "/home", "/root", str(home)):
        if Path(hidden).is_dir():
            command += ["--tmpfs", str(Path(hidden).resolve())]
    for path in (elan, Path(sys.base_prefix), Path(sys.prefix), *readable, project):
        command += ["--ro-bind-try", str(path), str(path)]
    built = str(project / ".lake")  # even where nothing is built, Lake writes its compiled `lakefile.lean` there
    command += ["--bind-try", built, built, "--chdir", str(project), "--"]
    # A trial, since many systems have bwrap and forbid it user namespaces; Lean's own first error would not say that.
    try:
        trial = subprocess.run([*command, "true"], capture_output=True, text=True, timeout=_TRIAL_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise UserError(f"--sandbox bwrap: it did not end in {_TRIAL_SECONDS:g} s") from error
    if trial.returncode:
        reason = trial.stderr.strip().rpartition("\n")[2] or f"exit code {trial.returncode}"
        raise UserError(f"--sandbox bwrap: it makes no sandbox here: {reason}")
    return command


def inside(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what of an environment a process in the sandbox gets."""
    return {name: value for name, value in environment.items() if _VARIABLES.fullmatch(name)}
