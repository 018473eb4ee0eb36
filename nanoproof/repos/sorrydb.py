"""SorryDB's list of sorries in, its list of proofs out: every repository at its commit, every proof checked.

    python -m nanoproof.repos sorrydb SorryDB.json --out proofs.json --model-path sft/RUN --lean-servers HOST:PORT ...

Sorries are grouped by the Lean version of their repository: each group needs a server of that version, and several may
be named at once; without any, NanoLean stands in for all. What cannot be set up is reported by its reason. A run that
was stopped goes on: its log is a memory, and a proof of it passes the whole check again or counts as nothing.

Exit code 0 if all is proved, 1 if something is left, 2 if something is wrong, 130 after Ctrl-C.
"""

import argparse
import hashlib
import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nanoproof.actors.fleet import Fleet, FleetOptions, follow_lean
from nanoproof.common.config import check, from_args, opt, validated
from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write_json, read_json, remove_tree
from nanoproof.common.process import interrupts
from nanoproof.common.run_dir import RunLock, home
from nanoproof.common.terminal import print_lines, table
from nanoproof.evaluation.summary import wilson
from nanoproof.lean.client import LeanFleet, runs_nanolean
from nanoproof.lean.lean_file import LeanFile
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.repos.manage import SCHEMES, clone, head
from nanoproof.repos.project import Project, path_inside
from nanoproof.repos.project_premises import ProjectPremises
from nanoproof.repos.prove import SorryOptions, add_proving_flags, open_lean, shown, work
from nanoproof.repos.proving import ProjectProver, said_of, server_imports
from nanoproof.repos.tries import Ledger, Task
from nanoproof.repos.ways import Ways, open_ways
from nanoproof.search.config import NOT_FLAGS

NANOLEAN = "NanoLean"
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_VERSION = re.compile(r"(?:leanprover/lean4:)?v?")


@validated("sorrydb")
class SorryDBOptions(SorryOptions):
    """SorryDB."""

    out: str | None = opt(None, "File for the proofs, as SorryDB's own runners write it.", metavar="FILE")
    report: str | None = opt(
        None,
        "Folder for clones, trees and the log of what was tried (default: $NANOPROOF_HOME/sorrydb).",
        metavar="DIR",
    )

    def __post_init__(self) -> None:
        check(self.out is not None, "give --out FILE, for the proofs")


def add_parser(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add the command `sorrydb`."""
    parser = commands.add_parser(
        "sorrydb", help="Prove a list of sorries in SorryDB's format.", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("file", metavar="FILE.json", help='SorryDB\'s list: {"sorries": [...]}')
    add_proving_flags(parser, SorryDBOptions, skip=("keep_tree", "disprove_fraction", *NOT_FLAGS))
    parser.set_defaults(run=run)


# -- SorryDB's records -----------------------------------------------------------------------------------------------


@dataclass
class Entry:
    """A record of SorryDB, and what came of it.

    `reason` says why there is no proof; `is_set_up` is false where it was never worked on.
    """

    record: Any
    remote: str = ""
    commit: str = ""
    lean: str = ""
    path: str = ""
    line: int = 0
    column: int = 0
    outcome: str = "not set up"
    reason: str = ""
    proof: str | None = None
    checked_by: str | None = None
    rests_on: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def read(cls, record: Any) -> "Entry":
        """Read a record; one that cannot be read has a reason."""
        entry = cls(record)
        try:
            repo, location = record["repo"], record["location"]
            values = [repo["remote"], repo["commit"], repo["lean_version"], location["path"]]
            numbers = [location["start_line"], location["start_column"]]
        except (KeyError, TypeError, IndexError):
            entry.reason = "no record of SorryDB: fields of repo or location are missing"
            return entry
        if not all(isinstance(value, str) for value in values):
            entry.reason = "no record of SorryDB: remote, commit, lean_version and path are texts"
            return entry
        # true and false are numbers to Python
        if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
            entry.reason = "no record of SorryDB: start_line and start_column are numbers"
            return entry
        entry.remote, entry.commit, entry.lean, entry.path = values
        entry.line, entry.column = numbers
        # The address goes to git, and the commit too.
        if not entry.remote.startswith(SCHEMES):
            entry.reason = f"its remote is no address that is cloned ({', '.join(SCHEMES)})"
        elif not _COMMIT.fullmatch(entry.commit):
            entry.reason = "its commit is not named by its hash"
        return entry

    def to_json(self) -> dict[str, Any]:
        """Convert to what SorryDB's runners write, with what the proof rests on besides."""
        return {
            "sorry": self.record,
            "proof": self.proof,
            "proof_verified": self.outcome == "proved",
            "feedback": self.reason or None,
            "outcome": self.outcome,
            "checked_by": self.checked_by,
            "rests_on": self.rests_on,
        }


def read_entries(path: Path) -> list[Entry]:
    """Read a file of SorryDB, `{"sorries": [...]}` or the list alone. Raises UserError for anything else."""
    data = read_json(path)
    if isinstance(data, dict):
        data = data.get("sorries")
    if not isinstance(data, list):
        raise UserError(f'{path} is no list of SorryDB: expected {{"sorries": [...]}}')
    return list(map(Entry.read, data))


def plain_version(text: str) -> str:
    """Return a Lean version without what may stand before its number: `leanprover/lean4:v4.27.0` is `4.27.0`."""
    return _VERSION.sub("", text.strip(), count=1)


def replacement(file: LeanFile, filled: LeanFile, start: int, end: int) -> str | None:
    """Return the text that, in place of the `sorry` at `[start, end)`, gives the file with a proof; None if none does.

    What is put in may change the line before it (a blank at its end goes).
    """
    old, new = file.text, filled.proved()
    behind = len(old) - end
    before = 0
    while before < start and before < len(new) and old[before] == new[before]:
        before += 1
    text = new[before : len(new) - behind]
    candidate = old[:start] + text + old[end:]
    if _without_trailing(candidate) != _without_trailing(new):
        return None
    return text


def _without_trailing(text: str) -> list[str]:
    return list(map(str.rstrip, text.split("\n")))


# -- The work --------------------------------------------------------------------------------------------------------


@dataclass
class _Run:
    """What all repositories share."""

    options: SorryDBOptions
    folder: Path
    entries: list[Entry]
    ways: Ways
    retrieving: Any
    deadline: float
    stopping: list[Callable[[], None]] = field(default_factory=list)
    stopped: bool = False

    def stop(self) -> None:
        """End the work soon."""
        self.stopped = True
        for stop in self.stopping:
            stop()

    @property
    def is_over(self) -> bool:
        """Whether no further work is to begin."""
        return self.stopped or time.monotonic() > self.deadline

    def save(self) -> None:
        """Write what there is so far. Raises UserError if it cannot be written."""
        with cannot(f"write --out {self.options.out}"):
            atomic_write_json(Path(str(self.options.out)), [entry.to_json() for entry in self.entries])


def run(args: argparse.Namespace) -> int:
    """Prove what can be proved of a list; returns the exit code."""
    options = from_args(SorryDBOptions, args)
    entries = read_entries(Path(args.file))
    out = Path(str(options.out))
    if not out.absolute().parent.is_dir():
        raise UserError(f"--out {out}: there is no such folder")
    if not entries:
        raise UserError(f"{args.file} lists no sorry: there is nothing to prove")
    folder = home() / "sorrydb"
    if options.report is not None:
        folder = Path(options.report)
    with ExitStack() as stack:
        with cannot(f"write to {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
        stack.callback(RunLock(folder).release)
        groups = _groups(options.lean, [entry for entry in entries if not entry.reason])
        follow_lean(args)
        retrieving = options.suggesting.retrieving
        suggesting = options.suggesting
        if retrieving.retrieve == 0:  # premises are those of each repository: its tactics are added there
            suggesting = replace(suggesting, retrieving=replace(retrieving, premise_tactics=0, retriever=None))
        ways = open_ways(args, suggesting, options.seed, stack, list, retrieving.settings())
        deadline = float("inf")
        if options.minutes is not None:
            deadline = time.monotonic() + 60 * options.minutes
        state = _Run(options, folder, entries, ways, retrieving, deadline)
        signals = stack.enter_context(interrupts(state.stop))
        for label, lean_options, members in groups:
            if state.is_over:
                break
            _prove_group(state, label, lean_options, members)
        for entry in entries:
            if entry.outcome == "not set up" and not entry.reason:
                entry.outcome, entry.reason = "not tried", "the run was ended before: run it again"
        state.save()
    print_lines([*summary(entries), f"proofs: {out}"])
    if signals:
        return 130
    return 0 if all(entry.outcome == "proved" for entry in entries) else 1


def _groups(options: FleetOptions, entries: Sequence[Entry]) -> list[tuple[str, FleetOptions, list[Entry]]]:
    """Deal the entries to the servers of their Lean version; NanoLean takes all where no server is named.

    Entries without a server get a reason. Raises UserError if a server cannot be reached.
    """
    if not options.lean.servers:
        return [(NANOLEAN, options, list(entries))]
    by_version: dict[str, list[str]] = defaultdict(list)
    for report in LeanFleet(options.lean.servers, options.lean.token).check():
        status = report.status or {}
        version = "unknown"
        if runs_nanolean(status):
            version = EMBEDDED_LEAN
        elif isinstance(status.get("versions"), dict):
            version = str(status["versions"].get("lean") or version)
        by_version[version].append(report.address)
    groups = []
    left = list(entries)
    # NanoLean last: it stands in where there is no other, and does not speak about what real Lean has judged.
    for version in sorted(by_version, key=lambda version: version == EMBEDDED_LEAN):
        own = replace(options, lean=replace(options.lean, servers=tuple(by_version[version])))
        if version == EMBEDDED_LEAN:
            groups.append((NANOLEAN, own, left))
            left = []
            continue
        by_match: dict[bool, list[Entry]] = {True: [], False: []}
        for entry in left:
            by_match[plain_version(entry.lean) == plain_version(version)].append(entry)
        left = by_match[False]
        groups.append((f"Lean {version}", own, by_match[True]))
    for entry in left:
        entry.reason = f"no server of Lean {plain_version(entry.lean)} is named by --lean-servers"
    return groups


def _prove_group(state: _Run, label: str, options: FleetOptions, entries: Sequence[Entry]) -> None:
    """Prove the sorries of one Lean version, repository by repository."""
    if not entries:
        return
    repositories: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        repositories[entry.remote, entry.commit].append(entry)
    print_lines([f"{label}: {len(entries)} sorries of {len(repositories)} repositories"])
    with open_lean(options, len(entries)) as fleet:
        imports = server_imports(options.lean)
        for (remote, commit), members in repositories.items():
            if state.is_over:
                return
            place = state.folder / hashlib.sha256(f"{remote}\n{commit}".encode()).hexdigest()[:16]
            print_lines([shown(f"{remote} at {commit[:10]}: {len(members)} sorries")])
            try:
                root = _checkout(remote, commit, place)
            except UserError as error:
                for entry in members:
                    entry.reason = f"{error}"
                print_lines([shown(f"  {members[0].reason}")])
                state.save()
                continue
            ledger = Ledger(place)
            try:
                _prove_repository(state, label, fleet, imports, root, ledger, members)
            finally:
                ledger.close()


def _checkout(remote: str, commit: str, place: Path) -> Path:
    """Return the folder of a repository at a commit, cloning it where that was not done. Raises UserError."""
    source = place / "source"
    if source.is_dir():
        if head(source).startswith(commit.lower()):
            return source
        remove_tree(source)
    place.mkdir(parents=True, exist_ok=True)
    clone(remote, commit, source)
    return source


def _prove_repository(
    state: _Run,
    label: str,
    fleet: Fleet,
    imports: Sequence[str] | None,
    root: Path,
    ledger: Ledger,
    entries: Sequence[Entry],
) -> None:
    """Prove the sorries of a repository, file by file; its premises are those of its own files."""
    root = root.resolve()
    ways = state.ways
    if state.retrieving.premise_tactics and not state.retrieving.retrieve:
        device_type = state.options.suggesting.device.device_type
        premises = ProjectPremises(root, state.retrieving, device_type, with_nanolean=False)
        ways = ways.around(premises.around)
    files: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        files[entry.path].append(entry)
    for path, members in files.items():
        if state.is_over:
            return
        try:
            file = path_inside(root, path)
            if file is None or not os.path.isfile(file):  # which of a name that is too long just says no
                raise UserError(f"there is no {path} in the repository")
            project = Project.of_file(root, file)
            own = project.file(project.only)
            if own.fault:
                raise UserError(f"{path} {own.fault}")
            _prove_file(state, label, fleet, imports, project, ways, ledger, members)
        except UserError as error:
            for entry in members:
                if entry.outcome == "not set up":
                    entry.reason = " ".join(str(error).split())
        state.save()


def _prove_file(
    state: _Run,
    label: str,
    fleet: Fleet,
    imports: Sequence[str] | None,
    project: Project,
    ways: Ways,
    ledger: Ledger,
    entries: Sequence[Entry],
) -> None:
    """Prove the sorries of a file that are asked for. Raises UserError if the servers fail."""
    parsed = project.with_imports(imports)
    by_start: dict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        places = [gap for gap in parsed.gaps if gap.line == entry.line]
        exact = [gap for gap in places if gap.column == entry.column]
        if len(exact or places) == 1:
            by_start[(exact or places)[0].start].append(entry)
        else:
            entry.reason = f"no sorry stands at line {entry.line}, column {entry.column} of {entry.path}"
    prover = ProjectProver(
        project,
        ledger,
        ways.rungs(state.options.num_simulations),
        fleet.slots[: max(1, len(by_start))],
        str(fleet.lean),
        project.provided_by(imports),
        state.options.seed,
        state.deadline,
        lambda line: print_lines([shown(line)]),
    )
    state.stopping = [prover.stop]
    if state.stopped:
        return
    failure = work(prover, lambda task: task.gap.start in by_start)
    for task in prover.tasks:
        for entry in by_start.get(task.gap.start, ()):
            _note(entry, task, prover.reading(task.path) or parsed, label)
    for path, reason in prover.left_alone.items():
        for entry in entries:
            if not entry.reason and entry.outcome == "not set up":
                entry.reason = f"{path}: {reason}"
    if failure is not None:
        raise UserError(str(failure)) from failure


def _note(entry: Entry, task: Task, file: LeanFile, label: str) -> None:
    """Take down what came of a `sorry`; the proof is as it can stand in its place."""
    entry.outcome, entry.reason = task.outcome, " ".join(task.message.split())
    if task.outcome not in ("proved", "conditional"):
        if not entry.reason:
            entry.reason = "the time was up: run it again"
        return
    entry.checked_by = label
    entry.rests_on = task.rest.to_json()
    if task.outcome == "conditional":
        entry.reason = said_of(task.outcome, task.rest, task.path)
    entry.proof = replacement(file, file.with_proof(task.gap, task.proof), task.gap.start, task.gap.end)
    if entry.proof is None:
        entry.outcome, entry.reason = "not proved", "its proof does not fit in place of the sorry alone"


# -- The table -------------------------------------------------------------------------------------------------------


def summary(entries: Sequence[Entry]) -> list[str]:
    """Return the table by Lean version, with a Wilson interval, and what was not proved by its reason."""
    by_version: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    for entry in entries:
        by_version[entry.lean[:40] or "?"][entry.outcome] += 1
        if entry.outcome == "not set up":
            reasons[_kind_of(entry.reason)] += 1
    rows = []
    total: Counter[str] = Counter()
    for version, counts in sorted(by_version.items()):
        rows.append(_row(version, counts))
        total.update(counts)
    if len(rows) > 1:
        rows.append(_row("all", total))
    lines = table(["Lean", ">sorries", ">proved", ">95%", ">if others hold", ">not proved", ">not set up"], rows)
    for reason, count in reasons.most_common():
        lines.append(shown(f"{count} not set up: {reason}"))
    return lines


def _row(name: str, counts: Mapping[str, int]) -> tuple[Any, ...]:
    number, proved = sum(counts.values()), counts.get("proved", 0)
    low, high = wilson(proved, number)
    missing = counts.get("not set up", 0)
    conditional = counts.get("conditional", 0)
    interval = f"{100 * low:.1f} to {100 * high:.1f}"
    share = f"{proved} ({100 * proved / number:.1f}%)"
    return name, number, share, interval, conditional, number - proved - conditional - missing, missing


def _kind_of(reason: str) -> str:
    """Return a reason without what differs from one sorry to the next: places in files."""
    return re.sub(r"line \d+, column \d+ of \S+", "its place", reason)
