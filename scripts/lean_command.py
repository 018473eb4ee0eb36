"""The ways in which `scripts.check_with_lean` has a whole text checked: NanoLean, a Lean program, or a Lean server.

A program reads each text as a file of its own, in a sandbox if there is one. NanoLean and programs also say what a text
declares: the difference that it makes to the environment, and not what its words look like.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from nanoproof.common.commands import run
from nanoproof.common.errors import UserError
from nanoproof.lean.check_command import CheckCommand
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.source import name_examples, unforeseeable_name
from nanoproof.lean.types import CheckReport, LeanError, ProtocolError

NANOLEAN = "nanolean"
Declared = list[tuple[str, str]]
"""Kind (as `theorem`, `def`, `axiom`) and full name of constants."""

_ADDRESS = re.compile(r"(?:https?://)?(?:[\w.-]+|\[[0-9a-fA-F:]+\]):\d+/?")
_BWRAP_TEST_SECONDS = 60.0
KINDS = {
    "axiom": "axiom",
    "thm": "theorem",
    "defn": "def",
    "opaque": "opaque",
    "quot": "quot",
    "induct": "inductive",
    "ctor": "ctor",
    "rec": "rec",
}
"""What a constant is by the constructors of Lean's `ConstantInfo`, which are called `axiomInfo` and so on."""
_LISTING = """#eval show _root_.Lean.Elab.Command.CommandElabM _root_.Unit from do
  let env ← _root_.Lean.getEnv
  let mut told := "{mark}"
  for (name, info) in env.constants.map₂.toList do
    let kind := match info with
{kinds}
    told := told ++ "\\n" ++ kind ++ " " ++ name.toString
  _root_.Lean.logInfo told
"""
"""Lists what a file added to the environment. Names are written from the root: the file may have others like them."""


class Reader(Protocol):
    """A Lean implementation that reads whole texts; `believed` describes it and its environment.

    `lists_declarations` is whether it can list what a text declares.
    """

    believed: str
    lists_declarations: bool

    def read(self, sources: Iterable[str]) -> None:
        """Read texts that will be asked about."""
        ...

    def check(self, source: str, *, since: int = 0) -> CheckReport:
        """Return the report on a text, all of it; raises LeanError if it cannot be understood."""
        ...

    def declared(self, source: str) -> Declared | None:
        """Return the constants that a text adds to the environment, None if unknown; raises LeanError."""
        ...

    def close(self) -> None:
        """End the process or lease, if there is one."""
        ...


def open_reader(lean: str, cwd: str | None, header: str, timeout: float, sandbox: str) -> Reader:
    """Open NanoLean, the server at `host:port`, or a command. Raises UserError if it is not there."""
    if lean == NANOLEAN:
        return NanoLeanCommand(cwd, header, timeout)
    # A program may be called anything, `lean:4` too.
    if _ADDRESS.fullmatch(lean) and shutil.which(lean) is None:
        if header or cwd:
            raise UserError(f"--lean {lean} is a server, which has imports and a folder of its own; leave out --header")
        return Server(lean)
    return LeanCommand(lean, cwd, header, timeout, sandbox)


class Server:
    """A Lean server, believed at its word; one lease for all texts."""

    lists_declarations = False

    def __init__(self, address: str) -> None:
        """Raises UserError if it cannot be reached, or has no process to lend."""
        self.believed = f"Lean server {address}, believed at its word"
        self._reports: dict[str, CheckReport] = {}
        try:
            self._session = LeanServerClient(address).lease()
        except LeanError as error:
            raise UserError(f"--lean {address}: {error}") from error

    def read(self, sources: Iterable[str]) -> None:
        """Do nothing: a server reads a text when it is asked."""

    def check(self, source: str, *, since: int = 0) -> CheckReport:
        """Return the server's report on a text behind its own imports."""
        if source not in self._reports:
            self._reports[source] = self._session.check(source)
        return self._reports[source]

    def declared(self, source: str) -> Declared | None:
        """Return None: the protocol has no such question that holds for every server."""
        return None

    def close(self) -> None:
        """Give the process back."""
        self._session.close()


class LeanCommand:
    """A program that reads files as `lean --json` does, one at a time.

    Each text is read twice: as it is, and with `import Lean` and a command behind it that lists its declarations.
    """

    lists_declarations = True

    def __init__(self, lean: str, cwd: str | None, header: str, timeout: float, sandbox: str = "none") -> None:
        self._lean, self._cwd, self._header, self._timeout = lean, cwd, header, timeout
        self._reports: dict[str, CheckReport | ProtocolError] = {}
        self._declared: dict[str, Declared | ProtocolError] = {}
        self._command = self._command_words()
        self._sandbox, environment = choose_sandbox(sandbox, self._command[:-1], cwd)
        self.believed = f"`{lean}`, {environment}"

    def _command_words(self) -> list[str]:
        command = shlex.split(self._lean)
        if not command or shutil.which(command[0]) is None:
            raise UserError(
                f"--lean {self._lean}: no such program on the PATH; `--lean nanolean` uses the embedded prover"
            )
        return [*command, "--json"]

    def close(self) -> None:
        """Do nothing: each text has its process."""

    def check(self, source: str, *, since: int = 0) -> CheckReport:
        """Return the program's report on a text; raises ProtocolError if it cannot be understood."""
        if source not in self._reports:
            self.read([source])
        report = self._reports[source]
        if isinstance(report, ProtocolError):
            raise report
        return report

    def read(self, sources: Iterable[str]) -> None:
        """Have the program read texts that it has not read yet."""
        commands: dict[str, CheckCommand] = {}
        for source in sources:
            if source not in self._reports:
                commands[source] = CheckCommand.build(source, self._header)
        self._check_texts(commands)

    def declared(self, source: str) -> Declared | None:
        """Return the constants that a text adds to the environment; raises ProtocolError if they are not listed."""
        if source not in self._declared:
            self._declared[source] = self._list(source)
        declared = self._declared[source]
        if isinstance(declared, ProtocolError):
            raise declared
        return declared

    def _check_texts(self, commands: dict[str, CheckCommand]) -> None:
        # One at a time: `lean` takes one file, and what a text does to its process must not reach the next one.
        for source, command in commands.items():
            (messages,) = self._read_files([command.text])
            self._keep_report(source, command, messages)

    def _keep_report(self, source: str, command: CheckCommand, messages: list[dict[str, Any]]) -> None:
        try:
            self._reports[source] = command.read_messages(messages)
        except ProtocolError as error:
            self._reports[source] = error

    def _list(self, source: str) -> Declared | ProtocolError:
        header = f"import Lean\n{self._header}".strip()
        text = f"{header}\n\n{name_examples(source)}\n\n"
        # A text could print a listing of its own: it cannot know the mark, nor stand behind the command.
        mark = unforeseeable_name(source, "what is declared")
        cases = ""
        for constructor, kind in KINDS.items():
            cases += f'      | .{constructor}Info _ => "{kind}"\n'
        (messages,) = self._read_files([text + _LISTING.format(mark=mark, kinds=cases.rstrip("\n"))])
        first_line = text.count("\n") + 1
        errors: list[str] = []
        listings: list[str] = []
        for message in messages:
            if message.get("severity") == "error":
                errors.append(str(message.get("data")))
            elif message.get("severity") in ("info", "information") and _line(message) >= first_line:
                listings.append(str(message.get("data")).strip())
        if errors:
            return ProtocolError(f"it does not say what the text declares: {errors[0]}")
        lines = "".join(listings).split("\n")
        if len(listings) != 1 or lines[0].strip() != mark:
            return ProtocolError(f"it does not say what the text declares: {str(listings)[:200]}")
        declared: Declared = []
        for line in lines[1:]:
            kind, _, name = line.strip().partition(" ")
            if name:
                declared.append((kind, name))
        return declared

    def _read_files(self, texts: Sequence[str]) -> list[list[dict[str, Any]]]:
        """Return the messages about each text, trouble with the program among them as errors."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / f"proof_{number}.lean" for number in range(len(texts))]
            for path, text in zip(paths, texts, strict=True):
                path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
            sandbox = sandbox_prefix(self._sandbox, folder, self._cwd, self._timeout)
            return self._messages([*sandbox, *self._command, *map(str, paths)], paths)

    def _messages(self, command: list[str], paths: list[Path]) -> list[list[dict[str, Any]]]:
        try:
            code, output = run(command, self._cwd, self._timeout * len(paths))
        except subprocess.TimeoutExpired:
            return [[_error(f"no answer within {self._timeout:.0f} s")]] * len(paths)
        except OSError as error:
            raise UserError(f"cannot run {self._lean} in {self._cwd or Path.cwd()}: {error.strerror}") from error
        # `lean` ends with 1 after an error, and after `sorry` where warnings are errors: the messages say so better.
        # Without such a message it was killed, or could not begin, and no text was read.
        explained = False
        by_file: dict[str, list[dict[str, Any]]] = {str(path): [] for path in paths}
        for line in output.splitlines():
            message = parse_message(line)
            if message is None:
                continue
            explained = explained or message.get("severity") == "error" or "sorry" in str(message.get("data"))
            file = message.get("fileName")
            if file is None:  # of the whole call
                for messages in by_file.values():
                    messages.append(message)
            elif isinstance(file, str) and file in by_file:
                by_file[file].append(message)
        if code != 0 and not explained:
            return [[_error(f"exit code {code}")]] * len(paths)
        return list(by_file.values())


class NanoLeanCommand(LeanCommand):
    """NanoLean in a process of its own: it takes all texts at once, each in a fresh environment, and runs none of them.

    The declarations of a text come with the messages about it.
    """

    def __init__(self, cwd: str | None, header: str, timeout: float) -> None:
        super().__init__(NANOLEAN, cwd, header, timeout)
        self.believed = "NanoLean, in a process of its own that runs no code of a file"

    def _command_words(self) -> list[str]:
        return [sys.executable, "-m", "nanolean", "check", "--messages"]

    def _check_texts(self, commands: dict[str, CheckCommand]) -> None:
        if commands:
            answers = self._read_files([command.text for command in commands.values()])
            for (source, command), messages in zip(commands.items(), answers, strict=True):
                self._declared[source] = _declared_in(messages)
                self._keep_report(source, command, [message for message in messages if "declared" not in message])

    def _list(self, source: str) -> Declared | ProtocolError:
        self.read([source])
        return self._declared[source]


def _declared_in(messages: list[dict[str, Any]]) -> Declared | ProtocolError:
    listings = [message["declared"] for message in messages if "declared" in message]
    if len(listings) != 1:
        return ProtocolError("it does not say what the text declares")
    return [(str(kind), str(name)) for kind, name in listings[0]]


def parse_message(line: str) -> dict[str, Any] | None:
    """Parse a line of the output; None for a line of `lake` or another tool that is no message."""
    if line.lstrip().startswith("{"):
        try:
            message = json.loads(line)
            if isinstance(message, dict) and message.get("severity") == "error":
                return {**message, "data": _error_text(message)}
            if isinstance(message, dict):
                return message
        except (ValueError, RecursionError):
            pass
        # An error may be behind it: what cannot be read must not count as no message.
        return _error(f"output that cannot be read: {line[:200]}")
    # What `lake`, the runtime and the sandboxes print beside messages, where they could not begin.
    if line.startswith(("error:", "uncaught exception", "bwrap:", "docker:")):
        return _error(line.strip())
    return None


def _line(message: dict[str, Any]) -> int:
    """Return the line of a message; 0 where it has none."""
    place = message.get("pos")
    if isinstance(place, dict) and isinstance(place.get("line"), int):
        return int(place["line"])
    return 0


def _error_text(message: dict[str, Any]) -> str:
    """Return an error with its place, on one line."""
    place = message.get("pos") or {}
    first = str(message.get("data", "")).strip().split("\n")[0]
    return f"{place.get('line', 0)}:{place.get('column', 0)}: error: {first}"


def _error(text: str) -> dict[str, Any]:
    return {"severity": "error", "data": text}


# -- Sandboxes ---------------------------------------------------------------------------------------------------------


def choose_sandbox(asked: str, command: Sequence[str], cwd: str | None) -> tuple[str, str]:
    """Choose the sandbox for a command (`none`, `bwrap` or `docker:IMAGE`), and describe it.

    `auto` takes bubblewrap where it is installed and the command starts in it. Raises UserError where another one that
    was asked for does not work.
    """
    if asked == "none":
        return "none", "in no sandbox"
    if asked.startswith("docker:") and asked != "docker:":
        if shutil.which("docker") is None:
            raise UserError(f"--sandbox {asked}: no docker on the PATH")
        return asked, f"in a container of {asked.removeprefix('docker:')}, with no network and nothing to write to"
    if asked not in ("auto", "bwrap"):
        raise UserError(f"--sandbox {asked}: it is auto, bwrap, docker:IMAGE or none")
    trouble = _bwrap_problem([*command, "--version"], cwd)
    if not trouble:
        return "bwrap", "in a bubblewrap sandbox, with no network and nothing to write to"
    if asked == "bwrap":
        raise UserError(f"--sandbox bwrap: {trouble}")
    return "none", f"in no sandbox ({trouble})"


def _bwrap_problem(command: Sequence[str], cwd: str | None) -> str:
    """Return why a command cannot be run in bubblewrap; empty if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap, `bwrap`, is not on the PATH"
    with tempfile.TemporaryDirectory() as folder:
        try:
            sandbox = sandbox_prefix("bwrap", folder, cwd, _BWRAP_TEST_SECONDS)
            code, output = run([*sandbox, *command], cwd, _BWRAP_TEST_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bwrap does not run: {error}"
    if code == 0:
        return ""
    last = output.strip().split("\n")[-1]
    return f"`{shlex.join(command)}` ends with exit code {code} in bwrap: {last}"


def sandbox_prefix(sandbox: str, folder: str, cwd: str | None, seconds: float) -> list[str]:
    """Return the prefix of a command that reads files in `folder`, empty without a sandbox.

    It sees the whole system or an image read-only, may write to a `/tmp` of its own, and has no network and no process
    but its own.
    """
    here = str(Path(cwd or ".").resolve())
    if sandbox == "bwrap":
        prefix = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/"]
        # Sockets of other services are in /run and /tmp; both folders may be there, and are bound again.
        prefix += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run", "--ro-bind", here, here]
        return [*prefix, "--ro-bind", folder, folder, "--chdir", here, "--"]
    if sandbox.startswith("docker:"):
        prefix = ["docker", "run", "--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL"]
        prefix += ["--security-opt", "no-new-privileges", "--user", f"{os.getuid()}:{os.getgid()}"]
        # The container does not end with the `docker` that started it, which a timeout kills: its processor time does.
        prefix += ["--ulimit", f"cpu={int(seconds) + 1}", "--volume", f"{here}:{here}:ro"]
        return [*prefix, "--volume", f"{folder}:{folder}:ro", "--workdir", here, sandbox.removeprefix("docker:")]
    return []
