"""The options of the Lean server."""

from dataclasses import dataclass
from typing import Literal

from nanoproof.common.address import on_loopback
from nanoproof.common.config import check, opt, validate

_LEVELS = ("debug", "info", "warning", "error", "critical")


@dataclass(frozen=True)
class ServerSettings:
    """Lean server"""

    backend: Literal["auto", "nanolean", "repl"] = opt(
        "auto",
        "Which processes to run: the embedded prover, or the official Lean REPL; auto takes the REPL if something is "
        "said of a project, a REPL or imports.",
    )
    project_path: str = opt("", "Built Lean project in which the REPL runs (backend repl); default: LEAN_PROJECT_PATH.")
    repl_exe: str = opt(
        "",
        "REPL executable; relative paths are taken from the project (backend repl); default: LEAN_REPL_EXE, or where "
        "nanoproof.lean.project builds it.",
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
    drain_seconds: float = opt(5.0, "How long requests under way may still take after SIGTERM.", min=0, advanced=True)
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
        validate(self, "server")
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

    @property
    def max_waiting(self) -> int:
        """How many callers may wait for a free process, or for their turn, before others are sent away with 429."""
        return max(8, self.max_processes)

    @property
    def address_space_bytes(self) -> int | None:
        """The limit of a process's address space in bytes."""
        return None if self.address_space_gb is None else round(self.address_space_gb * 2**30)

    @property
    def threads(self) -> int:
        """Worker threads: one per lease, one per waiting caller, and some for status and returns."""
        return self.max_processes + 2 * self.max_waiting + 8

    @property
    def on_loopback(self) -> bool:
        """True if only programs on this machine can connect."""
        return on_loopback(self.address)
