"""One Lean server for each project, which all servers for agents on the same project share.

The first of them starts it and leaves its address and token in a file that only this user can read; the others attach
to it. It ends with its owner, whatever ends that; the next call of another one then starts it anew.
"""

import json
import logging
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from nanoproof.actors.fleet import STEPS_NOT_SECONDS, FleetOptions, open_fleet
from nanoproof.common.errors import cannot
from nanoproof.common.files import read_object
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.lean.client import FleetServer, LeanFleet, LeanServerClient
from nanoproof.lean.embedded import EmbeddedServers, start_embedded
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.lean.types import LeanError, ServerUnavailable
from nanoproof.repos.proving import server_imports

log = logging.getLogger(__name__)

STATE_FILE, LOCK_FILE = "lean.json", "lean.lock"
_START_SECONDS = 330.0
"""The first start ever checks NanoLean's library; whoever waits for it waits as long."""


class SharedLean:
    """The Lean processes of a project: named servers, else an embedded one that is started or attached to.

    Safe for many threads. `close` ends the embedded server if it is ours.
    """

    def __init__(self, folder: Path, options: FleetOptions) -> None:
        """`folder` is the project's in our home; it must be there. Raises UserError if named servers do not answer."""
        self._folder, self._options = folder, options
        self._lock = FileLock(folder / LOCK_FILE, thread_local=False)
        # A FileLock keeps out other processes, not other threads of its own: two first calls would start two servers.
        self._opening = threading.Lock()
        self._embedded: EmbeddedServers | None = None
        self._slots: list[FleetServer] = []
        self._attached_pid = 0
        self.lean = EMBEDDED_LEAN
        self.imports: list[str] | None = None
        """Modules that named servers have imported; None if NanoLean reads the texts."""
        if options.lean.servers:
            fleet = open_fleet(options)
            self._slots, self.lean = fleet.slots, str(fleet.lean)
            self.imports = server_imports(options.lean)

    @property
    def processes(self) -> int:
        """How many calls can be at work at the same time."""
        return len(self._slots) if self._options.lean.servers else self._options.lean_processes

    @property
    def is_embedded(self) -> bool:
        """Whether Lean is NanoLean in a server of our own."""
        return not self._options.lean.servers

    @property
    def described(self) -> str:
        """The Lean that checks, in words."""
        return "embedded NanoLean" if self.is_embedded else f"Lean {self.lean}"

    def servers(self) -> Sequence[FleetServer]:
        """Return an entry for each process, starting or attaching to the server where none is within reach.

        Raises ServerUnavailable if there is none.
        """
        if not self.is_embedded:
            return self._slots
        if self._slots and self._answers(self._slots[0].client):
            return self._slots
        try:
            with self._opening, self._lock.acquire(timeout=_START_SECONDS):
                if not (self._slots and self._answers(self._slots[0].client)):
                    self._open()
        except Timeout as error:
            raise ServerUnavailable(f"another process has been starting Lean for {_START_SECONDS:g} s") from error
        return self._slots

    def _open(self) -> None:
        """Attach to the server that the file names, if it lives, else start one and write the file."""
        # The server that leased them is gone, and the next one knows nothing of them.
        for slot in self._slots:
            slot.client.forget_leases()
        if self._embedded is not None:
            self._embedded.close()
            self._embedded = None
        state = self._read_state()
        if state is not None:
            client = LeanServerClient(state["address"], state["token"], STEPS_NOT_SECONDS)
            # The file outlives an owner that was killed, so that it names a server is no sign that there is one.
            if self._answers(client):
                self._attached_pid = state["pid"]
                self._use([state["address"]], state["token"])
                return
        self._embedded = start_embedded(self._options.lean_processes)
        self._attached_pid = 0
        state = {
            "address": self._embedded.addresses[0],
            "token": self._embedded.token,
            "pid": os.getpid(),
            "code": str(REPO_ROOT),
        }
        _write_private(self._folder / STATE_FILE, json.dumps(state))
        self._use(self._embedded.addresses, self._embedded.token)

    def _use(self, addresses: list[str], token: str) -> None:
        (server,) = LeanFleet(addresses, token, STEPS_NOT_SECONDS).servers
        # One address with many processes behind it: each entry leases one of them for a call.
        self._slots = [server] * self._options.lean_processes

    def _read_state(self) -> dict[str, Any] | None:
        """Read which server there is; None if there is none, or it is of another version of this program."""
        path = self._folder / STATE_FILE
        state = read_object(path)
        if state is None or state.get("code") != str(REPO_ROOT) or not isinstance(state.get("pid"), int):
            return None
        if not all(isinstance(state.get(name), str) for name in ("address", "token")):
            return None
        # Where others can write our folder they could send us to a server of theirs.
        about = path.stat()
        if about.st_uid != os.getuid() or about.st_mode & 0o077:
            log.warning("%s is not a file of this user alone and is not believed", path)
            return None
        return state

    @staticmethod
    def _answers(client: LeanServerClient) -> bool:
        try:
            client.status()
        except LeanError:
            return False
        return True

    def describe(self) -> dict[str, Any]:
        """Return where Lean is, for people: owner and number of processes."""
        owner = "named servers"
        if self.is_embedded:
            owner = "not started"
            if self._embedded is not None:
                owner = "this process"
            elif self._attached_pid:
                owner = f"process {self._attached_pid}"
        return {"lean": self.lean, "processes": self.processes, "owner": owner}

    def close(self) -> None:
        """End the embedded server if it is ours, and take its address away."""
        if self._embedded is None:
            return
        self._embedded.close()
        self._embedded = None
        # Another server may have started its own meanwhile, when ours did not answer: that address stays.
        state = read_object(self._folder / STATE_FILE)
        if state is not None and state.get("pid") == os.getpid():
            with suppress(OSError):
                (self._folder / STATE_FILE).unlink()


def project_folder(home: Path, root: Path, digest: str) -> Path:
    """Make the folder in our home for what is known of a project, for this user alone. Raises UserError if not."""
    # The name is for people; two projects of one name differ in the digest of their paths.
    folder = home / "mcp" / f"{root.name or 'root'}-{digest[:12]}"
    with cannot(f"write to {folder}"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # `mkdir` leaves the mode of a folder that is there as it is.
        folder.chmod(0o700)
    return folder


def _write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, from its first byte on."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)
