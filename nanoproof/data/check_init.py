"""`check-init` of a data set: makes a whitelist, or a report on a benchmark.

    python -m nanoproof.data.whitelist check-init NAME --lean-servers HOST:PORT
    python -m nanoproof.data.rl.numinamath check-init --lean-servers HOST:PORT

Verdicts are appended to a file beside the result as they come, so a check that was stopped goes on where it was.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validate
from nanoproof.common.errors import UserError
from nanoproof.common.files import JsonlWriter, atomic_write_json, read_jsonl
from nanoproof.common.options import LeanOptions
from nanoproof.common.progress import Progress
from nanoproof.data.init_checks import InitChecks, Patience, Verdict
from nanoproof.data.manifest import dataset_dir
from nanoproof.data.theorem_file import is_file
from nanoproof.data.theorems import is_benchmark, list_theorems, split_names, splits_of
from nanoproof.data.whitelist import (
    Whitelist,
    choose_lean,
    data_file,
    parse_whitelist,
    theorem_hash,
    whitelist_path,
    write_whitelist,
)
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.errors import ServerUnavailable
from nanoproof.lean.fleet import LeanFleet
from nanoproof.lean.theorem import Theorem

ABOUT = "Ask Lean servers for every statement of a data set."
EARLIER_FLAGS = {
    "--lean-server": "--lean-servers",
    "--jobs": "--workers",
    "--split": "leave it out: the statements of all splits are checked",
    "--verbose": "leave it out: refused statements are told in the end",
}
SHOWN = 5
"""Refusals that are printed with what Lean says."""


HOPELESS = 200
"""After so many refusals and no success the fault is not with the theorems."""


class _NonePass(Exception):
    """Lean refuses everything."""


@dataclass(frozen=True)
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

    def __post_init__(self) -> None:
        validate(self, "check")


@dataclass
class Known:
    """Verdicts so far: passing or not by hash, and what Lean said of refused ones, where that is known."""

    verdicts: dict[str, bool] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)

    def add(self, key: str, passing: bool, message: str) -> None:
        """One verdict."""
        self.verdicts[key] = passing
        if not passing:
            self.messages[key] = message


def run_check_init(argv: Sequence[str] | None, patience: Patience | None = None) -> int:
    """The command; exit code 1 if some theorems could not be checked."""
    parser = Parser(prog="python -m nanoproof.data.whitelist", description="Which theorems a Lean version accepts.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check-init", help=ABOUT)
    check.add_argument("name", metavar="NAME", help="Data set, such as leanworkbook.")
    add_check_flags(check)
    args = parser.parse_args(argv)
    (name, *more) = split_names([args.name])
    if more:
        raise UserError(f"check-init takes one data set, got {args.name}")
    return check_set(name, args, patience)


def add_check_flags(parser: Parser) -> None:
    """The flags of a command that checks a data set."""
    add_flags(parser, CheckOptions)
    parser.add_earlier(EARLIER_FLAGS)


def check_set(name: str, args: argparse.Namespace, patience: Patience | None = None) -> int:
    """Check a data set as the flags say; exit code 1 if some theorems could not be checked."""
    options = from_args(CheckOptions, args)
    theorems = all_theorems(name)
    with open_servers(options) as (fleet, version, processes):
        return check_init(name, theorems, fleet, version, options, options.workers or processes, patience or Patience())


def all_theorems(name: str) -> dict[str, Theorem]:
    """The theorems of all splits by hash, unfiltered. Those of equal source are one."""
    found = {}
    for split in splits_of(name):
        for theorem in list_theorems(name, split):
            found[theorem_hash(theorem.source)] = theorem
    if not found:
        raise UserError(f"{name} holds no theorems")
    return found


@contextmanager
def open_servers(options: CheckOptions) -> Iterator[tuple[LeanFleet, str, int]]:
    """Lean servers, the Lean version that they run, and how many processes they have.

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
    yield fleet, version, sum(report.status["max_processes"] for report in fleet.check() if report.status) or 1


def version_of(fleet: LeanFleet, options: CheckOptions) -> str:
    """The Lean version of the project, or else of the servers, which must agree with it."""
    asked = choose_lean(options.lean.project, embedded=not options.lean.servers)
    version = asked.version if asked.required else None
    for report in fleet.check():
        versions = (report.status or {}).get("versions")
        said = versions.get("lean") if isinstance(versions, dict) else None
        if said is not None and version is not None and said != version:
            source = asked.reason if asked.version else "another server"
            raise UserError(f"the Lean server {report.address} runs Lean {said}, not {version}: {source}")
        version = version or said
    if version is None:
        raise UserError("the servers do not say which Lean they run; give its project: --lean-project DIR")
    return version


def check_init(
    name: str,
    theorems: dict[str, Theorem],
    fleet: LeanFleet,
    version: str,
    options: CheckOptions,
    workers: int,
    patience: Patience,
) -> int:
    """Check what is not known yet, write the result, print a summary."""
    benchmark = all(is_benchmark(name, split) for split in splits_of(name))
    path = Path(options.out).expanduser() if options.out else result_path(name, version, benchmark)
    partial = path.with_name(f"{path.name}.partial.jsonl")
    known = Known() if options.force else read_known(path, partial, version, benchmark)
    if options.force:
        partial.unlink(missing_ok=True)
    known.verdicts = {key: passing for key, passing in known.verdicts.items() if key in theorems}
    waiting = [theorem for key, theorem in theorems.items() if key not in known.verdicts][: options.limit]
    checks = InitChecks(waiting, fleet, min(workers, max(1, len(waiting))), patience)
    record_verdicts(name, checks, known, partial, len(theorems))
    verdicts = known.verdicts
    if not any(verdicts.values()):
        partial.unlink(missing_ok=True)
        first = next(iter(known.messages.values()), checks.unchecked[0][1] if checks.unchecked else "")
        raise UserError(
            f"none of {len(verdicts):,} theorems of {name} passes, nothing is written (are the imports right?): {first}"
        )
    write_result(path, name, version, verdicts, theorems, known, benchmark)
    if not checks.unchecked:
        partial.unlink(missing_ok=True)
    print_summary(name, version, verdicts, theorems, known, checks, path)
    return 1 if checks.unchecked else 0


def result_path(name: str, version: str, benchmark: bool) -> Path:
    """A whitelist is beside the data; a report on a benchmark too, under a name that nothing filters by."""
    if is_file(name):
        return Path(f"{name}.report.{version}.json").expanduser()
    if benchmark:
        return dataset_dir(name) / f"{data_file(name)}.report.{version}.json"
    return dataset_dir(name) / whitelist_path(name, version).name


def read_known(path: Path, partial: Path, version: str, benchmark: bool) -> Known:
    """Verdicts of an earlier check: those of its result unless that is a report, and those of a stopped one."""
    known = Known()
    if path.exists() and not benchmark:
        whitelist = parse_whitelist(path, version)
        known.verdicts = {**dict.fromkeys(whitelist.passing, True), **dict.fromkeys(whitelist.failing, False)}
    if partial.exists():
        for record in read_jsonl(partial):
            try:
                known.add(str(record["hash"]), bool(record["passing"]), str(record["message"]))
            except (TypeError, KeyError) as error:
                raise UserError(f"{partial} is damaged; remove it, or check again with --force") from error
    return known


def record_verdicts(name: str, checks: InitChecks, known: Known, partial: Path, total: int) -> None:
    """Run the checks and write each verdict down. Raises UserError, with how to go on, if servers are gone for long.

    It ends early if Lean refuses everything.
    """
    writer = JsonlWriter(partial)
    counts = {passing: list(known.verdicts.values()).count(passing) for passing in (True, False)}

    def on_verdict(verdict: Verdict) -> None:
        key = theorem_hash(verdict.theorem.source)
        known.add(key, verdict.passing, verdict.message)
        record = {"hash": key, "passing": verdict.passing, "id": verdict.theorem.id, "message": verdict.message}
        writer.write(record)
        counts[verdict.passing] += 1
        progress.update(note=f"{counts[True]} pass, {counts[False]} fail")
        if not counts[True] and counts[False] >= HOPELESS:
            raise _NonePass

    try:
        with Progress(total, f"check-init {name}", "theorems", initial=sum(counts.values())) as progress:
            checks.run(on_verdict)
    except _NonePass:
        pass  # what follows says so
    except ServerUnavailable as error:
        raise UserError(
            f"{error}; {sum(counts.values()):,} of {total:,} theorems are checked, the same command goes on"
        ) from error
    finally:
        writer.close()


def write_result(
    path: Path,
    name: str,
    version: str,
    verdicts: dict[str, bool],
    theorems: dict[str, Theorem],
    known: Known,
    benchmark: bool,
) -> None:
    """Write the whitelist, or the report on a benchmark, which says ids and messages too."""
    passing = frozenset(key for key, passes in verdicts.items() if passes)
    whitelist = Whitelist(version, passing, frozenset(verdicts) - passing, path)
    if not benchmark:
        write_whitelist(name, whitelist)
        return
    refused = [
        {"id": theorems[key].id, "hash": key, "message": known.messages.get(key, "")} for key in whitelist.failing
    ]
    refused.sort(key=lambda record: record["id"])
    atomic_write_json(path, {**whitelist.to_json(), "refused": refused})


def print_summary(
    name: str,
    version: str,
    verdicts: dict[str, bool],
    theorems: dict[str, Theorem],
    known: Known,
    checks: InitChecks,
    path: Path,
) -> None:
    """What was found, with the first refusals."""
    failing = [key for key, passes in verdicts.items() if not passes]
    for key in failing[:SHOWN]:
        message = " ".join(known.messages.get(key, "").split())
        print(f"refused: {theorems[key].id}: {message[:200]}" if message else f"refused: {theorems[key].id}")
    if len(failing) > SHOWN:
        print(f"and {len(failing) - SHOWN:,} more")
    for theorem, reason in checks.unchecked[:SHOWN]:
        print(f"not checked: {theorem.id}: {reason[:200]}", file=sys.stderr)
    passing = len(verdicts) - len(failing)
    print(
        f"{name} under Lean {version}: {passing:,} of {len(verdicts):,} pass ({passing / len(verdicts):.1%}), "
        f"{len(failing):,} fail, {len(checks.unchecked):,} not checked -> {path}",
        flush=True,
    )
