"""Setup of a written project for a server, in steps that may be repeated, and the check of what is there."""

import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json
from nanoproof.lean.project import layout

_TAIL_LINES = 40
_STOP_SECONDS = 5.0
# Words of git, curl, elan, Lake and Mathlib's cache about a network that is not there; none has an exit code for it.
_NETWORK = (
    "could not resolve",
    "couldn't resolve",
    "name resolution",
    "network is unreachable",
    "no route to host",
    "failed to connect",
    "could not connect",
    "connection refused",
    "connection timed out",
    "connection reset",
    "error during download",
    "unable to access",
    "could not download",
    "proxy",
)
_COMPLAINTS = ("error", "fatal", "failed", "cannot", "could not", "no space left")

REPL_EXE = "repl/.lake/build/bin/repl"
"""The executable of the REPL, relative to the project."""
_ELAN_SCRIPT = "https://raw.githubusercontent.com/leanprover/elan/master/elan-init.sh"
_ELAN_MANUAL = "https://lean-lang.org/install/"
BYTES_PER_PROCESS = 4 * 2**30
"""Memory reserved for one Lean process with Mathlib when a number of processes is suggested (docs/lean-servers.md)."""

# -- Programs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit status, and the last lines of what it wrote."""

    status: int
    lines: tuple[str, ...]
    timed_out: bool = False

    @property
    def reason(self) -> str:
        """Why it failed, in one line: its last error message, else its last line."""
        if self.timed_out:
            return "it took too long and was stopped"
        # Lake goes on after an error, so that its last line may be about something else.
        complaints = [line for line in self.lines if any(word in line.lower() for word in _COMPLAINTS)]
        last = (complaints or list(self.lines) or ["it wrote nothing"])[-1]
        how = f"exit status {self.status}"
        if self.status < 0:
            how = f"signal {-self.status}"
        return f"{how}: {' '.join(last.split())[:300]}"

    @property
    def hint(self) -> str | None:
        """What to do about it, where the output tells."""
        text = "\n".join(self.lines).lower()
        if "no space left" in text:
            return "free disk space (a project with Mathlib needs several gigabytes)"
        if any(word in text for word in _NETWORK):
            return (
                "this machine does not reach the network: connect it, set `https_proxy`, or set the project up on a "
                "machine that has one and copy it to the same path"
            )
        return None


def run_program(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], seconds: float, text: str | None = None
) -> Ended:
    """Run a program with `text` as its input, echo its lines, and stop it after `seconds`.

    The program has a process group of its own, which is stopped too if this is interrupted. Raises OSError if it cannot
    be started.
    """
    process = subprocess.Popen(
        list(command),
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    late = threading.Event()
    timer = threading.Timer(seconds, _stop_late, (process, late))
    timer.daemon = True
    timer.start()
    lines: deque[str] = deque(maxlen=_TAIL_LINES)
    try:
        if process.stdin is not None:
            with suppress(BrokenPipeError):  # it ended without reading; what it wrote says why
                process.stdin.write(text or "")
                process.stdin.close()
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip():
                print(f"    {line.rstrip()}", flush=True)
                lines.append(line.rstrip())
        status = process.wait()
    except BaseException:
        stop(process)
        raise
    finally:
        timer.cancel()
        if process.stdout is not None:
            process.stdout.close()
    return Ended(status, tuple(lines), late.is_set())


def stop(process: subprocess.Popen[str]) -> None:
    """Stop a program and all that it started: by SIGTERM, then by SIGKILL."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sent)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)


def _stop_late(process: subprocess.Popen[str], late: threading.Event) -> None:
    late.set()
    stop(process)


# -- Steps -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One step of the setup: programs to run in `cwd`, and the test that its result is there."""

    name: str
    title: str
    commands: tuple[tuple[str, ...], ...]
    is_there: Callable[[], bool]
    cwd: Path
    advice: str
    """What to do if it fails and the output does not tell."""
    text: str | None = None
    """Input of the programs."""
    stamp: str = ""
    """Other inputs that the result depends on, besides the files of the project."""
    before: Callable[[], None] = lambda: None
    after: Callable[[Ended], None] = lambda ended: None
    """Raises `UserError` if the programs succeeded but the result is wrong."""

    def shell(self) -> str:
        """Format the commands as a shell command line."""
        commands = " && ".join(shlex.join(command) for command in self.commands)
        if self.text is None:
            return commands
        return f"printf '%s\\n\\n' {shlex.quote(self.text.strip())} | {commands}"


class State:
    """The file that records finished steps, with a hash of the project files that they were done for."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ".nanoproof" / "setup.json"
        files = [folder / name for name in ("lean-toolchain", "lakefile.toml", f"{layout.ROOT_MODULE}.lean")]
        self._digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files if file.exists())).hexdigest()[:16]
        self._done = self._read()

    def is_done(self, step: Step) -> bool:
        """Tell whether the step was finished for the project as it is now, and its result is still there."""
        if step.name == "elan":  # it is the machine's, and not the project's: most have it before
            return step.is_there()
        return self._done.get(step.name) == self._digest + step.stamp and step.is_there()

    def record(self, step: Step) -> None:
        """Record that the step is finished."""
        self._done[step.name] = self._digest + step.stamp
        atomic_write_json(self.path, self._done)

    def _read(self) -> dict[str, str]:
        try:
            value = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none yet, or damaged: every step can be repeated
            return {}
        if not isinstance(value, dict):
            return {}
        return value


def elan_home() -> Path:
    """Return the directory of elan's programs and toolchains."""
    return Path(os.environ.get("ELAN_HOME") or Path.home() / ".elan")


def environment() -> dict[str, str]:
    """Return the environment of the programs: with elan's on the PATH, and without password prompts of git."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(elan_home() / "bin")])
    return {**os.environ, "PATH": path, "GIT_TERMINAL_PROMPT": "0"}


def find_program(name: str) -> str | None:
    """Find the path of a program, also if elan was installed after the login."""
    return shutil.which(name, path=environment()["PATH"])


def make_steps(folder: Path, install_elan: bool, repl: str | None = None) -> list[Step]:
    """List the steps for a project, in order, with another REPL if one is named.

    Raises `UserError` if the folder is no project of ours, or the REPL is not for its Lean.
    """
    version, imports = layout.lean_version(folder), layout.required_imports(folder)
    if repl is None:
        chosen = layout.read_repl(folder, version)
    else:
        chosen = layout.parse_repl(repl, version)
    steps = [_elan(folder, install_elan), _toolchain(folder, version), _update(folder, version)]
    if "Mathlib" in imports:
        steps.append(_cache(folder))
    steps.append(_build(folder))
    # Another branch makes these steps undone, and the libraries before them not.
    stamp = ""
    if chosen.branch:
        stamp = f" {chosen.git}@{chosen.branch}"
    of_repl = [_repl(folder, version, chosen), _repl_build(folder), _trial(folder, imports)]
    return [*steps, *(replace(step, stamp=stamp) for step in of_repl)]


def _elan(folder: Path, install: bool) -> Step:
    def refuse() -> None:
        if not install:
            raise UserError(
                f"step elan failed: there is no `elan` on the PATH; install it ({_ELAN_MANUAL}), "
                "or let this command do it with --install-elan, and run it again"
            )

    script = folder / ".nanoproof" / "elan-init.sh"
    return Step(
        name="elan",
        title="the installer of Lean",
        commands=(
            ("curl", "--proto", "=https", "--tlsv1.2", "-sSf", "--create-dirs", "-o", str(script), _ELAN_SCRIPT),
            ("sh", str(script), "-y", "--no-modify-path", "--default-toolchain", "none"),
        ),
        is_there=lambda: find_program("elan") is not None and find_program("lake") is not None,
        cwd=folder,
        before=refuse,
        advice=f"install elan by hand ({_ELAN_MANUAL})",
    )


def _toolchain(folder: Path, version: str) -> Step:
    installed = elan_home() / "toolchains" / f"leanprover--lean4---{version}"
    return Step(
        name="toolchain",
        title=f"Lean {version} (elan downloads it when it is first used)",
        commands=(("lake", "--version"),),
        is_there=installed.is_dir,
        cwd=folder,
        advice=f"see whether Lean {version} exists and `elan show` works",
    )


def _update(folder: Path, version: str) -> Step:
    def unchanged(_ended: Ended) -> None:
        # Lake takes over the toolchain of a library that is for a later Lean.
        now = layout.lean_version(folder)
        if now != version:
            raise UserError(
                f"step update failed: `lake update` changed lean-toolchain from {version} to {now}, so a library is "
                "for another Lean; create a project for that version, or name fitting revisions (NAME@REVISION)"
            )

    return Step(
        name="update",
        title="the sources of the libraries",
        commands=(("lake", "update"),),
        is_there=(folder / "lake-manifest.json").is_file,
        cwd=folder,
        after=unchanged,
        advice="see whether the revisions in lakefile.toml exist",
    )


def _cache(folder: Path) -> Step:
    return Step(
        name="cache",
        title="Mathlib as built by its authors",
        commands=(("lake", "exe", "cache", "get"),),
        is_there=(folder / ".lake" / "packages" / "mathlib" / ".lake" / "build").is_dir,
        cwd=folder,
        advice="try again later; building Mathlib without its cache takes hours",
    )


def _build(folder: Path) -> Step:
    return Step(
        name="build",
        title="the libraries, so far as they are not built",
        commands=(("lake", "build"),),
        is_there=lambda: any((folder / ".lake" / "build").rglob(f"{layout.ROOT_MODULE}.olean")),
        cwd=folder,
        advice="read what Lake says above",
    )


def _repl(folder: Path, version: str, repl: layout.Repl) -> Step:
    target, partial = folder / "repl", folder / ".nanoproof" / "repl"
    # Cloned beside its place and moved when it is complete: half a clone would look like a REPL that does not build.
    branch, what, kind = version, f"the REPL tagged {version}", "tag"
    if repl.branch:
        branch, what, kind = repl.branch, f"the branch {repl.branch} of {repl.git}", "branch"

    def clear() -> None:
        shutil.rmtree(partial, ignore_errors=True)

    def move(_ended: Ended) -> None:
        version_of_repl = layout.lean_version(partial)
        if version_of_repl != version:
            raise UserError(
                f"step repl failed: {what} is for Lean {version_of_repl}, not {version}; name another REPL with "
                "--repl, or create a project for that version"
            )
        shutil.rmtree(target, ignore_errors=True)
        partial.rename(target)

    return Step(
        name="repl",
        title=f"the source of the REPL for Lean {version}, moved to {target} when it is complete",
        commands=(("git", "clone", "--depth", "1", "--branch", branch, repl.git, str(partial)),),
        is_there=(target / "lean-toolchain").is_file,
        cwd=folder,
        before=clear,
        after=move,
        advice=f"see whether {repl.git} has the {kind} {branch}",
    )


def _repl_build(folder: Path) -> Step:
    return Step(
        name="repl-build",
        title="the REPL",
        commands=(("lake", "build", "repl"),),
        is_there=lambda: os.access(folder / REPL_EXE, os.X_OK),
        cwd=folder / "repl",
        advice="read what Lake says above",
    )


def _trial(folder: Path, imports: list[str]) -> Step:
    """Test that the REPL can import the libraries, as a server will ask it to."""

    def understood(ended: Ended) -> None:
        try:
            text = "\n".join(ended.lines)  # Lake may have warned first
            answer = json.loads(text[max(0, text.find("{")) :])
            errors = [m["data"] for m in answer.get("messages", []) if m["severity"] == "error"]
            reason: str | None = " ".join(errors)
            if not reason:
                reason = None if "env" in answer else str(answer)
        except (ValueError, KeyError, TypeError, AttributeError):
            reason = " ".join(ended.lines) or "no answer"
        if reason is not None:
            raise UserError(
                f"step trial failed: the REPL cannot import the libraries: {' '.join(reason.split())[:300]}"
            )

    request = {"cmd": "\n".join(f"import {module}" for module in imports)}
    return Step(
        name="trial",
        title="the REPL imports the libraries",
        commands=(("lake", "env", str(folder / REPL_EXE)),),
        is_there=lambda: True,
        cwd=folder,
        text=json.dumps(request) + "\n\n",
        after=understood,
        advice="a process that is killed has run out of memory",
    )


def set_up(folder: Path, install_elan: bool, step_hours: float, dry_run: bool, repl: str | None = None) -> None:
    """Do the steps that are not done yet; raises `UserError` that names the step that failed."""
    folder = folder.absolute()
    steps, state = make_steps(folder, install_elan, repl), State(folder)
    if dry_run:
        for number, step in enumerate(steps, start=1):
            note = " (is there)" if state.is_done(step) else ""
            print(f"{number}. {step.name}: {step.title}{note}\n   in {step.cwd}: {step.shell()}")
        return
    with _project_lock(state.path.with_suffix(".lock"), folder):
        if repl is not None:
            layout.write_repl(folder, repl)
        for number, step in enumerate(steps, start=1):
            head = f"{number}/{len(steps)} {step.name}: {step.title}"
            if state.is_done(step):
                print(f"{head}: is there", flush=True)
                continue
            print(head, flush=True)
            _do(step, step_hours * 3600, folder)
            state.record(step)


def _do(step: Step, seconds: float, folder: Path) -> None:
    again = f"then run `python -m nanoproof.lean.project setup {shlex.quote(str(folder))}` again (it continues here)"
    step.before()
    for command in step.commands:
        print(f"  $ {shlex.join(command)}", flush=True)
        program = find_program(command[0])
        if program is None:
            raise UserError(f"step {step.name} failed: there is no `{command[0]}` on the PATH; install it, {again}")
        try:
            ended = run_program([program, *command[1:]], step.cwd, environment(), seconds, step.text)
        except OSError as error:
            reason = f"`{command[0]}` cannot be run: {error.strerror}"
            raise UserError(f"step {step.name} failed: {reason}; {step.advice}, {again}") from error
        if ended.status != 0 or ended.timed_out:
            failed = f"`{shlex.join(command)}`: {ended.reason}"
            raise UserError(f"step {step.name} failed: {failed}; {ended.hint or step.advice}, {again}")
    step.after(ended)
    if not step.is_there():
        raise UserError(f"step {step.name} failed: it ended well but its result is not there; {step.advice}, {again}")


@contextmanager
def _project_lock(path: Path, folder: Path) -> Iterator[None]:
    """Hold the lock of the project, so that only one setup runs at a time."""
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise UserError(f"another set-up is at work in {folder}") from error
    except OSError as error:
        raise UserError(f"cannot write in {folder}: {error.strerror}") from error
    try:
        yield
    finally:
        lock.release()


# -- Check of a project ----------------------------------------------------------------------------------------------


def suggest_processes(num_cores: int, memory_bytes: int) -> int:
    """Suggest a number of processes: one per core, as far as memory allows; the server keeps a spare one besides."""
    return max(1, min(num_cores, memory_bytes // BYTES_PER_PROCESS - 1))


def server_command(folder: Path, num_processes: int) -> str:
    """Format the command that starts a server over a project that is set up."""
    command = ["python", "-m", "nanoproof.lean.server", "--backend", "repl", "--project-path", str(folder)]
    command += ["--repl-exe", str(folder / REPL_EXE)]
    imports = layout.required_imports(folder)
    if imports:
        command += ["--imports", *imports]
    return shlex.join([*command, "--max-processes", str(num_processes), "--warmup"])


def check(folder: Path) -> bool:
    """Print which steps are done; return whether a server can be started.

    Raises `UserError` if the folder is no project of ours.
    """
    folder = folder.absolute()
    state = State(folder)
    print(
        f"{folder}: Lean {layout.lean_version(folder)}, imports {' '.join(layout.required_imports(folder)) or 'none'}"
    )
    missing = []
    for step in make_steps(folder, install_elan=False):
        if state.is_done(step):
            print(f"  is there  {step.name}: {step.title}")
        else:
            print(f"  missing   {step.name}: {step.title}")
            missing.append(step.name)
    if missing:
        again = f"python -m nanoproof.lean.project setup {shlex.quote(str(folder))}"
        print(f"not ready: {', '.join(missing)} missing; run `{again}`", file=sys.stderr)
        return False
    # A server looks for `lake` on the PATH, where an elan that was installed just now is only after the next login.
    lake = find_program("lake")
    if lake is not None and os.path.dirname(lake) not in os.environ.get("PATH", "").split(os.pathsep):
        print(f"ready, after: export PATH={shlex.quote(os.path.dirname(lake))}:$PATH")
    else:
        print("ready; start a server with:")
    print(server_command(folder, suggest_processes(os.cpu_count() or 1, psutil.virtual_memory().total)))
    return True
