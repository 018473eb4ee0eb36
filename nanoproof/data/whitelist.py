"""`check-init`: ask Lean servers whether they accept a data set's statements, and write a whitelist.

    python -m nanoproof.data.whitelist check-init NAME --lean-servers HOST:PORT
    python -m nanoproof.data.rl.numinamath check-init --lean-servers HOST:PORT

Of a benchmark, which is never filtered, a report is written in place of a whitelist.

A rejection of the statement is a verdict. Errors of servers and connections are none: the theorem is tried again, and
in the end it counts as not checked. Verdicts are appended to a file beside the result as they arrive, so that a check
that was stopped resumes where it was.
"""

import argparse
import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Protocol

from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import JsonlWriter, atomic_write_json, read_jsonl
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.terminal import Progress
from nanoproof.data.sources.manifest import dataset_dir
from nanoproof.data.theorems import theorem_sets, whitelists
from nanoproof.lean.client import LeanFleet
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.jobs import Jobs
from nanoproof.lean.session import HttpLeanSession
from nanoproof.lean.types import LeanError, ServerBusy, Theorem, TheoremRejected

log = logging.getLogger(__name__)

ABOUT = "Ask Lean servers for every statement of a data set."
EARLIER_FLAGS = {
    "--lean-server": "--lean-servers",
    "--jobs": "--workers",
    "--split": "leave it out: the statements of all splits are checked",
    "--verbose": "leave it out: refused statements are told in the end",
}
SHOWN = 5
"""Rejections that are printed with Lean's messages."""
HOPELESS = 200
"""After so many rejections and no success the fault is not with the theorems."""
LEASE_SECONDS = 30.0
_WARN_SECONDS = 60.0


# -- Checks of theorems by several threads ---------------------------------------------------------------------------


class Servers(Protocol):
    """A source of leases of Lean processes, such as a `LeanFleet`."""

    def lease(self, timeout: float = 60.0) -> HttpLeanSession: ...


@dataclass(frozen=True)
class Verdict:
    """Whether Lean accepts a theorem's statement, and its message if not."""

    theorem: Theorem
    passing: bool
    message: str = ""


@dataclass(frozen=True)
class Patience:
    """Attempts for a theorem that servers fail on, and seconds to wait between them and for unreachable servers."""

    tries: int = 3
    pause_seconds: float = 2.0
    gone_seconds: float = 120.0


class InitChecks:
    """The checks of some theorems by `workers` threads; `unchecked` are those on which servers failed too often."""

    def __init__(self, theorems: Sequence[Theorem], servers: Servers, workers: int, patience: Patience) -> None:
        self._theorems, self._servers, self._workers, self._patience = theorems, servers, workers, patience
        self._lock = threading.Lock()
        self._is_over = False
        self._failures: Counter[str] = Counter()
        self._last_answer = time.monotonic()
        self._last_warning = float("-inf")
        self._jobs: Jobs[HttpLeanSession, Theorem] | None = None
        self.unchecked: list[tuple[Theorem, str]] = []
        """Theorems that could not be checked, with the last error."""

    def run(self, on_verdict: Callable[[Verdict], None]) -> None:
        """Check all theorems; `on_verdict` is called with each verdict, on one thread at a time, and may raise.

        Raises ServersGone if no server can be reached for `Patience.gone_seconds`.
        """

        def check(session: HttpLeanSession, theorem: Theorem) -> bool:
            try:
                session.start(theorem)
                verdict = Verdict(theorem, True)
            except TheoremRejected as refusal:
                verdict = Verdict(theorem, False, str(refusal))
            with self._lock:
                self._last_answer = time.monotonic()
                # Whoever was in the middle of a check when the work ended comes too late.
                if not self._is_over and not jobs.stopped:
                    self._is_over = True  # it stays so if this raises
                    on_verdict(verdict)
                    self._is_over = False
            return False

        jobs = self._jobs = Jobs([self._lease] * self._workers, check, self._try_again)
        jobs.run(self._theorems)

    def _lease(self) -> HttpLeanSession:
        """Lease a process, waiting as long as there is hope for one."""
        while True:
            try:
                session = self._servers.lease(LEASE_SECONDS)
            except LeanError as error:
                with self._lock:
                    self._note_trouble(error)
                    if time.monotonic() - self._last_answer > self._patience.gone_seconds:
                        raise ServersGone(str(error)) from error
                time.sleep(self._patience.pause_seconds)
                if self._jobs is not None and self._jobs.stopped:  # the others have done all, or one has failed
                    raise
            else:
                self._last_answer = time.monotonic()
                return session

    def _note_trouble(self, error: LeanError) -> None:
        """Warn of an error now and then. Busy or starting servers are waited for without limit."""
        now = time.monotonic()
        if isinstance(error, ServerBusy):  # it answers, so it is there
            self._last_answer = now
        if now - self._last_warning > _WARN_SECONDS:
            self._last_warning = now
            log.warning("waiting for a Lean server: %s", error)

    def _try_again(self, theorem: Theorem, error: LeanError) -> bool:
        """Return whether a theorem is to be tried again: not if servers have failed on it too often."""
        key = whitelists.theorem_hash(theorem.source)
        with self._lock:
            self._note_trouble(error)
            self._failures[key] += 1
            is_tried_again = self._failures[key] < self._patience.tries
            if not is_tried_again:
                self.unchecked.append((theorem, str(error)))
        return is_tried_again


# -- The command -----------------------------------------------------------------------------------------------------


class ServersGone(Exception):
    """No server can be reached."""


class _NonePass(Exception):
    """Lean rejects everything."""


@validated("check")
class CheckOptions:
    """Checking statements."""

    lean: LeanOptions = group(
        LeanOptions,
        "lean-",
        servers=change(help="Addresses host:port; without any, the embedded prover is started."),
        project=change(
            help="Lean project whose lean-toolchain names the version "
            "(default: LEAN_PROJECT_PATH, or what servers say).",
            advanced=False,
        ),
    )
    workers: int = opt(0, "Theorems checked at the same time; 0: one for each Lean process.", min=0)
    limit: int | None = opt(None, "Check the first so many of those that are not known yet.", min=1)
    out: str | None = opt(None, "Where to write (default: beside the data).")
    force: bool = opt(False, "Check again what is known.")


@dataclass
class Known:
    """Verdicts so far: passing or not by hash, and Lean's messages of the rejected ones, where these are known."""

    verdicts: dict[str, bool] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)

    def add(self, key: str, passing: bool, message: str) -> None:
        """Add a verdict."""
        self.verdicts[key] = passing
        if not passing:
            self.messages[key] = message


@dataclass(frozen=True)
class CheckedSet:
    """The theorems of a data set by hash, the Lean version that they are checked with, and the path of the result."""

    name: str
    theorems: dict[str, Theorem]
    version: str
    is_benchmark: bool
    path: Path

    @property
    def partial(self) -> Path:
        """Return the file of the verdicts while the check is under way."""
        return self.path.with_name(f"{self.path.name}.partial.jsonl")


def main(argv: Sequence[str] | None = None, patience: Patience | None = None) -> int:
    """Run the command `check-init NAME`; exit code 1 if some theorems could not be checked."""
    parser = Parser(prog="python -m nanoproof.data.whitelist", description="Which theorems a Lean version accepts.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check-init", help=ABOUT)
    check.add_argument("name", metavar="NAME", help="Data set, such as leanworkbook.")
    add_check_flags(check)
    args = parser.parse_args(argv)
    (name, *more) = theorem_sets.parse_set_names([args.name])
    if more:
        raise UserError(f"check-init takes one data set, got {args.name}")
    return check_set(name, args, patience)


def add_check_flags(parser: Parser) -> None:
    """Add the flags of a command that checks a data set."""
    add_flags(parser, CheckOptions)
    parser.add_earlier(EARLIER_FLAGS)


def check_set(name: str, args: argparse.Namespace, patience: Patience | None = None) -> int:
    """Check a data set with the options of a command line; exit code 1 if some theorems could not be checked."""
    options = from_args(CheckOptions, args)
    theorems = all_theorems(name)
    with open_servers(options) as (fleet, version, processes):
        benchmark = all(theorem_sets.is_benchmark(name, split) for split in theorem_sets.splits_of(name))
        path = Path(options.out).expanduser() if options.out else result_path(name, version, benchmark)
        checked = CheckedSet(name, theorems, version, benchmark, path)
        return check_init(checked, fleet, options, options.workers or processes, patience or Patience())


def all_theorems(name: str) -> dict[str, Theorem]:
    """Return the theorems of all splits by hash, unfiltered. Those of equal source count once."""
    by_hash = {}
    for split in theorem_sets.splits_of(name):
        for theorem in theorem_sets.list_theorems(name, split):
            by_hash[whitelists.theorem_hash(theorem.source)] = theorem
    if not by_hash:
        raise UserError(f"{name} holds no theorems")
    return by_hash


@contextmanager
def open_servers(options: CheckOptions) -> Iterator[tuple[LeanFleet, str, int]]:
    """Open Lean servers; yields them, their Lean version and the number of their processes.

    Raises UserError if one cannot be reached, if the version cannot be told, and if a server runs another one.
    """
    if not options.lean.servers:
        processes = options.workers or 2
        with start_embedded(processes) as embedded:
            fleet = LeanFleet(embedded.addresses, embedded.token)
            yield fleet, version_of(fleet, options), processes
        return
    fleet = LeanFleet(options.lean.servers, options.lean.token)
    version = version_of(fleet, options)
    # A server that cannot be reached by now may be later: it counts for no thread, and is leased from all the same.
    yield fleet, version, sum(report.status["max_processes"] for report in fleet.check() if report.status) or 1


def version_of(fleet: LeanFleet, options: CheckOptions) -> str:
    """Return the Lean version of the project, or else of the servers, which must agree with it."""
    choice = whitelists.choose_lean(options.lean.project, embedded=not options.lean.servers)
    version, source = None, "another server"
    if choice.version:
        source = choice.reason
    if choice.required:
        version = choice.version
    for report in fleet.check():
        versions = (report.status or {}).get("versions")
        if not isinstance(versions, dict) or versions.get("lean") is None:
            continue
        served = versions["lean"]
        if version is not None and served != version:
            raise UserError(f"the Lean server {report.address} runs Lean {served}, not {version}: {source}")
        version = served
    if version is None:
        raise UserError("the servers do not say which Lean they run; give its project: --lean-project DIR")
    return version


def check_init(checked: CheckedSet, fleet: LeanFleet, options: CheckOptions, workers: int, patience: Patience) -> int:
    """Check the theorems without a verdict, write the result, print a summary; returns the exit code."""
    known = Known()
    if options.force:
        checked.partial.unlink(missing_ok=True)
    else:
        known = read_known(checked)
    # Verdicts on theorems that the data set has no more would stay in the whitelist for ever.
    known.verdicts = {key: passing for key, passing in known.verdicts.items() if key in checked.theorems}
    waiting = [theorem for key, theorem in checked.theorems.items() if key not in known.verdicts][: options.limit]
    checks = InitChecks(waiting, fleet, min(workers, max(1, len(waiting))), patience)
    record_verdicts(checked, checks, known)
    if not any(known.verdicts.values()):
        # Kept, these verdicts would end the next check, with the right imports, before it begins.
        checked.partial.unlink(missing_ok=True)
        first = next(iter([*known.messages.values(), *(error for _, error in checks.unchecked)]), "")
        raise UserError(
            f"none of {len(known.verdicts):,} theorems of {checked.name} passes, nothing is written "
            f"(are the imports right?): {first}"
        )
    write_result(checked, known)
    if not checks.unchecked:
        checked.partial.unlink(missing_ok=True)
    print_summary(checked, known, checks.unchecked)
    return int(bool(checks.unchecked))


def result_path(name: str, version: str, benchmark: bool) -> Path:
    """Return the path of the result beside the data; a report's name is not that of a whitelist."""
    if theorem_sets.is_theorem_file(name):
        return Path(f"{name}.report.{version}.json").expanduser()
    if benchmark:
        return dataset_dir(name) / f"{whitelists.data_file(name)}.report.{version}.json"
    return dataset_dir(name) / whitelists.whitelist_path(name, version).name


def read_known(checked: CheckedSet) -> Known:
    """Read the verdicts of an earlier check: those of its whitelist, and those of a check that was stopped."""
    known = Known()
    if checked.path.exists() and not checked.is_benchmark:
        whitelist = whitelists.parse_whitelist(checked.path, checked.version)
        known.verdicts = {**dict.fromkeys(whitelist.passing, True), **dict.fromkeys(whitelist.failing, False)}
    if checked.partial.exists():
        for record in read_jsonl(checked.partial):
            try:
                known.add(str(record["hash"]), bool(record["passing"]), str(record["message"]))
            except (TypeError, KeyError) as error:
                raise UserError(f"{checked.partial} is damaged; remove it, or check again with --force") from error
    return known


def record_verdicts(checked: CheckedSet, checks: InitChecks, known: Known) -> None:
    """Run the checks and record each verdict; ends early if Lean rejects everything.

    Raises UserError, with how to resume, if servers are unreachable for long.
    """
    writer, total = JsonlWriter(checked.partial), len(checked.theorems)
    counts = Counter(known.verdicts.values())

    def on_verdict(verdict: Verdict) -> None:
        key = whitelists.theorem_hash(verdict.theorem.source)
        known.add(key, verdict.passing, verdict.message)
        record = {"hash": key, "passing": verdict.passing, "id": verdict.theorem.id, "message": verdict.message}
        writer.write(record)
        counts[verdict.passing] += 1
        progress.update(note=f"{counts[True]} pass, {counts[False]} fail")
        if not counts[True] and counts[False] >= HOPELESS:
            raise _NonePass

    try:
        with Progress(total, f"check-init {checked.name}", "theorems", initial=counts.total()) as progress:
            checks.run(on_verdict)
    except _NonePass:
        pass  # the caller reports it
    except ServersGone as error:
        raise UserError(
            f"{error}; {counts.total():,} of {total:,} theorems are checked, the same command resumes"
        ) from error
    finally:
        writer.close()


def write_result(checked: CheckedSet, known: Known) -> None:
    """Write the whitelist, or the report on a benchmark, which has the ids and messages of rejected theorems too."""
    passing = frozenset(key for key, passes in known.verdicts.items() if passes)
    whitelist = whitelists.Whitelist(checked.version, passing, frozenset(known.verdicts) - passing, checked.path)
    if not checked.is_benchmark:
        whitelists.write_whitelist(checked.name, whitelist)
        return
    refused = []
    for key in whitelist.failing:
        refused.append({"id": checked.theorems[key].id, "hash": key, "message": known.messages.get(key, "")})
    refused.sort(key=itemgetter("id"))
    atomic_write_json(checked.path, {**whitelist.to_json(), "refused": refused})


def print_summary(checked: CheckedSet, known: Known, unchecked: Sequence[tuple[Theorem, str]]) -> None:
    """Print the counts, after the first rejections and the first theorems that could not be checked."""
    failing = [key for key, passes in known.verdicts.items() if not passes]
    for key in failing[:SHOWN]:
        line = f"refused: {checked.theorems[key].id}"
        if message := " ".join(known.messages.get(key, "").split()):  # one of an earlier check is not known
            line += f": {message[:200]}"
        print(line)
    if len(failing) > SHOWN:
        print(f"and {len(failing) - SHOWN:,} more")
    for theorem, reason in unchecked[:SHOWN]:
        print(f"not checked: {theorem.id}: {reason[:200]}", file=sys.stderr)
    total = len(known.verdicts)
    passing = total - len(failing)
    print(
        f"{checked.name} under Lean {checked.version}: {passing:,} of {total:,} pass ({passing / total:.1%}), "
        f"{len(failing):,} fail, {len(unchecked):,} not checked -> {checked.path}",
        flush=True,
    )


if __name__ == "__main__":
    run_main(main)
