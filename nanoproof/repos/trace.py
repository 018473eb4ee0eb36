"""`python -m nanoproof.repos trace DIR`: what is in a Lean project, by having Lean elaborate each of its files.

    python -m nanoproof.repos trace my-project                                  # with embedded NanoLean
    python -m nanoproof.repos trace my-project --lean-servers localhost:8000    # with the Lean that serves the project

The REPL lists the tactics of a file with the goals before each (`allTactics`); the goals after it come from running it
there once more. No plug-in of the compiler is needed, so that any version of Lean will do. Real Lean reads imports from
the project that its server was started in, which has to be built; NanoLean is given the imported files first.

Each file's result is stored as soon as it is there, under a digest of all that it depends on: its text, the files that
it imports, toolchain and libraries, and this code. So what has not changed is not elaborated again, and a trace that
was interrupted goes on. A file with errors, or that imports one, is reported and passed over.
"""

import argparse
import hashlib
import json
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from nanoproof.common.config import Parser, add_flags, from_args, group, opt, validated
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, atomic_write_json, json_line, read_object
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.run_dir import trace_folder
from nanoproof.lean import lexical
from nanoproof.lean.client import LeanFleet, runs_nanolean
from nanoproof.lean.declarations import Declaration, declarations, enclosed
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.jobs import Jobs
from nanoproof.lean.lean_file import LeanFile, OpenPlace
from nanoproof.lean.source import sorries
from nanoproof.lean.transport import ClientConfig
from nanoproof.lean.types import LeanError, SourceError
from nanoproof.prover.resting import UNKNOWN_PLACE
from nanoproof.repos.elaborate import Elaborated, Elaborator, FileFailed
from nanoproof.repos.names import Names
from nanoproof.repos.project import Project, named_path, nanolean_library
from nanoproof.repos.source_file import SourceFile
from nanoproof.repos.traced_files import (
    TracedFile,
    TracedTactic,
    TracedTheorem,
    file_from_json,
    file_to_json,
    own_axioms,
)
from nanoproof.repos.trees import Ran, join_goals, proof_trees

log = logging.getLogger(__name__)

TRANSITIONS, TARGETS, SUMMARY = "leantree.jsonl", "theorems.jsonl", "summary.json"
"""The files of a trace beside those of each file: transitions to learn, theorems to prove, and counts."""
_CODE = (
    "elaborate",
    "project",
    "source_file",
    "trace",
    "traced_files",
    "trees",
    "../lean/declarations",
    "../lean/source",
)
"""Modules that decide what is in a trace: a change of them makes all records of before stale."""
_THEOREM = ("theorem", "lemma")


@validated("trace")
class TraceOptions:
    """Tracing"""

    lean: LeanOptions = group(LeanOptions, "lean-")
    lean_processes: int = opt(2, "Processes of the embedded server, if no --lean-servers are named.", min=1)
    file_seconds: float = opt(1800.0, "How long Lean may take for one file.", above=0, advanced=True)
    tactic_seconds: float = opt(120.0, "How long one tactic may take when it is run again.", above=0, advanced=True)


# -- Records ---------------------------------------------------------------------------------------------------------


@dataclass
class FileTrace:
    """What is stored of a file: its record, its row of LeanTree JSONL, its theorems to prove, and what failed."""

    file: TracedFile
    leantree: dict[str, Any]
    targets: list[dict[str, str]] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    """Tactics that did not run again as in the file, with their places."""
    elaborated: bool = False
    """Whether it was traced now, not read from the cache."""
    may_pass: bool = False
    """Whether it failed for a reason that may be gone the next time."""

    def to_json(self, digest: str) -> dict[str, Any]:
        """Convert to what is stored."""
        return {
            "digest": digest,
            "file": file_to_json(self.file),
            "leantree": self.leantree,
            "targets": self.targets,
            "exceptions": self.exceptions,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "FileTrace":
        """Read what `to_json` wrote; raises ValueError or KeyError for anything else."""
        return cls(file_from_json(value["file"]), value["leantree"], value["targets"], value["exceptions"])


def make_trace(project: Project, file: SourceFile, names: Names, elaborated: Elaborated) -> FileTrace:
    """Make the records of a file of what Lean said of it."""
    theorems, rows, exceptions = [], [], []
    gaps = [match.start() for match in sorries(lexical.mask(file.text))]
    for declaration in file.declarations:
        if declaration.keyword not in _THEOREM:
            continue
        inside = [ran for ran in elaborated.tactics if declaration.start <= ran.start and ran.end <= declaration.end]
        tactics: dict[tuple[str, str, str], TracedTactic] = {}
        named: dict[int, list[str]] = {}
        for ran in inside:
            marked, premises = names.mark(ran, declaration)
            named[id(ran)] = sorted({premise.full_name for premise in premises})
            if ran.after is None:
                if not _was_alternative(ran, inside):
                    line, column = file.places.position(ran.start)
                    exceptions.append(f"{file.path}:{line}:{column}: {ran.text.splitlines()[0]}: {ran.refusal}")
                continue
            # The same step may have run more than once (`<;>`, `repeat`): it is learned once.
            key = (join_goals(ran.before), ran.text, join_goals(ran.after))
            tactics.setdefault(key, TracedTactic(key[1], key[0], key[2], marked, premises))
        place = file.places.position
        open_here = sum(declaration.start <= offset < declaration.end for offset in gaps)
        theorems.append(
            TracedTheorem(
                full_name=declaration.full_name,
                path=file.path,
                start=place(declaration.start),
                end=place(declaration.end),
                statement=file.text[declaration.start : declaration.statement_end].rstrip(),
                tactics=tuple(tactics.values()),
                premises=_premises(file, declaration, names, elaborated, inside),
                sorries=open_here,
                rests_on=() if open_here else _rests_on(elaborated, declaration.full_name),
            )
        )
        span = {"start": declaration.start, "finish": declaration.end}
        # The innermost namespace has the names of those around it in its own.
        context = [f"namespace {name}" for name in declaration.namespaces[:1]]
        context += [f"open {name}" for name in declaration.opens]
        blocks = proof_trees(inside, named) if inside else []
        rows.append({"span": span, "name": declaration.full_name, "context": context, "by_blocks": blocks})
    record = TracedFile(file.path, project.import_paths(file), file.premises(), tuple(theorems))
    leantree = {"path": file.path, "imports": list(file.imports), "theorems": rows}
    return FileTrace(record, leantree, _targets(project, file), exceptions, elaborated=True)


def _rests_on(elaborated: Elaborated, name: str) -> tuple[OpenPlace, ...]:
    """Return the open places that a theorem without a `sorry` rests on; where Lean says nothing of it, that it may."""
    if elaborated.resting == {}:
        return ()
    unknown = (OpenPlace(UNKNOWN_PLACE, "", 0),)
    return (elaborated.resting or {}).get(name.replace("«", "").replace("»", ""), unknown)


def failed_trace(project: Project, file: SourceFile, reason: str, may_pass: bool = False) -> FileTrace:
    """Make the record of a file that cannot be traced."""
    record = TracedFile(file.path, project.import_paths(file), file.premises(), (), reason)
    row = {"path": file.path, "imports": list(file.imports), "theorems": []}
    return FileTrace(record, row, elaborated=True, may_pass=may_pass)


_CHOICE = re.compile(r"(?<![\w.'])(?:first|try|repeat'?|iterate|any_goals|all_goals|solve)(?![\w'])|<;>")
"""Tactics that run others which may fail, or run on another goal than the one listed."""


def _was_alternative(ran: Ran, others: Sequence[Ran]) -> bool:
    """Tell whether a tactic that is refused ran where it may have been refused in the file too."""
    return any(ran in around.inside and _CHOICE.search(around.text) for around in others)


def _premises(
    file: SourceFile, declaration: Declaration, names: Names, elaborated: Elaborated, inside: Sequence[Ran]
) -> tuple[str, ...]:
    """Return the constants that a declaration uses, as the kernel has them where the server tells that.

    Else they are those that its tactics use, and those that its statement and its term name.
    """
    if elaborated.constants is not None and declaration.full_name in elaborated.constants:
        return elaborated.constants[declaration.full_name]
    used: set[str] = set()
    for ran in inside:
        used.update(ran.constants or ())
    used |= names.named_in(file.text[declaration.start : declaration.end], declaration)
    return tuple(sorted(used - {declaration.full_name}))


# -- Theorems to prove -----------------------------------------------------------------------------------------------


def _targets(project: Project, file: SourceFile) -> list[dict[str, str]]:
    """List the file's theorems as ones to prove: each that is proved as a whole, else each `sorry` of it.

    The source of one is all that the project has before it, without imports of libraries. NanoLean's own library is
    known to the prover already.
    """
    if project.is_nanolean:
        return []
    before = "".join(enclosed(lexical.without_header(other.text)) for other in project.closure(file))
    text = lexical.without_header(file.text)
    all_gaps = [match.start() for match in sorries(lexical.mask(text))]
    targets = []
    for declaration in declarations(text):
        if declaration.keyword not in _THEOREM:
            continue
        gaps = [offset for offset in all_gaps if declaration.start <= offset < declaration.end]
        # Up to the end of the theorem: what follows it in the file could prove it.
        read = before + text[: declaration.end]
        if not gaps:
            read = f"{before}{text[: declaration.statement_end].rstrip()} := by\n  sorry"
        wanted = [len(before) + offset for offset in gaps] or [len(read) - len("sorry")]
        for number, offset in enumerate(wanted, start=1):
            # Some `sorry`s are no place for a proof by tactics (in a statement, in a pattern): those are passed over.
            with suppress(SourceError, StopIteration):
                lean_file = LeanFile.parse(read)
                gap = next(gap for gap in lean_file.gaps if gap.start == offset and not gap.skip_reason)
                name = declaration.full_name
                if len(gaps) > 1:
                    name += f"#{number}"
                source = lean_file.theorem(gap, file.path, name).source
                targets.append({"id": name, "path": file.path, "source": source})
    return targets


# -- The cache, and the whole project --------------------------------------------------------------------------------


def code_digest(nanolean: bool) -> str:
    """Hash the code that traces, and with `nanolean` that of NanoLean and its library."""
    digest = hashlib.sha256()
    files = [Path(__file__).parent / f"{module}.py" for module in _CODE]
    library = nanolean_library()
    if nanolean and library is not None:
        package = library.parent
        skipped = ("tests", "data", "docs")
        sources = [*package.rglob("*.py"), *package.rglob("*.lean")]
        files += sorted(path for path in sources if path.relative_to(package).parts[0] not in skipped)
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def digests(project: Project, versions: str) -> dict[str, str]:
    """Return for each file the hash of all that its trace depends on: its text and imports, and the `versions`."""
    by_path: dict[str, str] = {}
    for file in project.files:  # imports first
        imported = [by_path[other.path] for other in project.closure(file)]
        content = json.dumps([file.path, file.text, file.error, project.toolchain, versions, imported])
        by_path[file.path] = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return by_path


@dataclass(frozen=True)
class Summary:
    """What a trace found; `seconds` is how long it took, `elaborations` how many texts Lean was given for it."""

    files: int
    from_cache: int
    theorems: int
    tactics: int
    sorries: int
    transitions: int
    failures: tuple[str, ...]
    exceptions: tuple[str, ...]
    axioms: tuple[str, ...]
    """Those of the project itself, with their places."""
    left_out: dict[str, int]
    """Proofs that are no tree for finetuning, by reason."""
    targets: int
    targetless: int
    """Theorems and `sorry`s that are no theorem to prove: in a `mutual` block, or with no `:=` before them."""
    elaborations: int
    seconds: float

    def text(self, folder: Path) -> str:
        """Write the summary for a terminal."""
        lines = []
        for failure in self.failures:
            lines.append(f"not traced: {failure}")
        for exception in self.exceptions:
            lines.append(f"not repeated: {exception}")
        for reason, count in self.left_out.items():
            lines.append(f"no tree: {count} x {reason}")
        for axiom in self.axioms:
            lines.append(f"axiom, which what is proved may rest on: {axiom}")
        lines.append(
            f"{self.files} files ({self.from_cache} as before), {self.theorems} theorems, {self.tactics} tactics, "
            f"{self.sorries} sorries, {len(self.failures)} files failed, {self.seconds:.1f} s"
        )
        lines.append(f"{self.transitions} transitions in {folder / TRANSITIONS}")
        left_out = f" ({self.targetless} left out: mutual, or no := before the sorry)" if self.targetless else ""
        lines.append(f"{self.targets} theorems to prove in {folder / TARGETS}{left_out}")
        return "\n".join(lines)


class Tracer:
    """Traces a project with several threads, each with a process of its own."""

    def __init__(
        self,
        project: Project,
        fleet: LeanFleet,
        nanolean: bool,
        folder: Path,
        options: TraceOptions,
        versions: str = "",
    ) -> None:
        self._project, self._fleet, self._nanolean = project, fleet, nanolean
        self._folder, self._options = folder, options
        self._digests = digests(project, code_digest(nanolean) + versions)
        self._names: Names | None = None
        self._lock = threading.Lock()
        self._failed: dict[str, str] = {}
        self._elaborated: set[str] = set()
        self._elaborators: list[Elaborator] = []

    def run(self, threads: int) -> Summary:
        """Trace every file that is not in the cache; write transitions, theorems to prove and summary."""
        began = time.monotonic()
        todo = [file for file in self._project.files if not self._read_cached(file)]
        sessions = [self._elaborator] * min(threads, len(todo))
        Jobs(sessions, self._work, _server_failed).run(todo)
        return self._finish(time.monotonic() - began)

    def _elaborator(self) -> Elaborator:
        seconds = self._options.file_seconds, self._options.tactic_seconds
        elaborator = Elaborator(self._fleet, self._project, self._nanolean, *seconds)
        self._elaborators.append(elaborator)
        return elaborator

    def _work(self, elaborator: Elaborator, file: SourceFile) -> bool:
        trace = self._trace(file, elaborator)
        path = self._cache_path(file)
        # No file has an empty digest, so that the next run tries it again.
        atomic_write_json(path, trace.to_json("" if trace.may_pass else self._digests[file.path]))
        with self._lock:
            self._keep(file, trace)
        return False

    def _trace(self, file: SourceFile, elaborator: Elaborator) -> FileTrace:
        if file.error:
            return failed_trace(self._project, file, file.error)
        try:
            # Without waiting for imports that another thread has at hand: where one of them fails later, Lean says so.
            with self._lock:
                broken = [other.path for other in self._project.closure(file) if other.path in self._failed]
            if broken:
                # Imports come first, so this is where the chain begins: mostly a library that NanoLean does not have.
                reason = f"it imports {broken[0]}, which is not traced: {self._failed[broken[0]]}"
                return failed_trace(self._project, file, reason, True)
            elaborated = elaborator.run(file)
        except FileFailed as error:
            return failed_trace(self._project, file, str(error), error.may_pass)
        # Not before a file is traced: it reads every file of a library that the project imports.
        with self._lock:
            if self._names is None:
                self._names = Names.of(self._project.declared(self._nanolean))
        visible = {file.path, *(other.path for other in self._project.closure(file))}
        hidden = {other.path for other in self._project.files} - visible
        return make_trace(self._project, file, self._names.without(hidden), elaborated)

    def _keep(self, file: SourceFile, trace: FileTrace) -> None:
        if trace.elaborated:
            self._elaborated.add(file.path)
        if trace.file.error is not None:
            self._failed[file.path] = trace.file.error
            log.warning("%s is not traced: %s", file.path, trace.file.error)
        elif trace.elaborated:
            log.info("%s: %d theorems", file.path, len(trace.file.theorems))

    def _cache_path(self, file: SourceFile) -> Path:
        return record_path(self._folder, file.path)

    def _read_cached(self, file: SourceFile) -> bool:
        path = self._cache_path(file)
        try:
            value = read_object(path)
            if value is None or value.get("digest") != self._digests[file.path]:
                return False
            self._keep(file, FileTrace.from_json(value))
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return True

    def _finish(self, seconds: float) -> Summary:
        """Write what is made of all files, which are read back one by one: a large project is never in memory."""
        counts: Counter[str] = Counter()
        left_out: Counter[str] = Counter()
        failures, exceptions, axioms = [], [], list[str]()

        def write(transitions: Any, targets: Any) -> None:
            for file in self._project.files:
                trace = _read_back(self._cache_path(file))
                for row in trace.leantree["theorems"]:
                    for block in row["by_blocks"]:
                        if "error" in block:  # counted by reason, whatever tactic it is about
                            left_out[re.sub(r"`[^`]*`", "a tactic", block["error"])] += 1
                        else:
                            counts["transitions"] += len(block["tree"]["nodes"])
                for theorem in trace.file.theorems:
                    counts["theorems"] += 1
                    counts["tactics"] += len(theorem.tactics)
                    counts["sorries"] += theorem.sorries
                    counts["targetless"] += 0 if self._project.is_nanolean else max(1, theorem.sorries)
                counts["targets"] += len(trace.targets)
                if trace.file.error:
                    failures.append(f"{trace.file.path}: {trace.file.error}")
                exceptions.extend(trace.exceptions)
                axioms.extend(own_axioms(trace.file))
                if trace.leantree["theorems"]:
                    transitions.write(json_line(trace.leantree).encode("utf-8"))
                for target in trace.targets:
                    targets.write(json_line(target).encode("utf-8"))

        def write_both(transitions: Any) -> None:
            atomic_write(self._folder / TARGETS, lambda targets: write(transitions, targets))

        # In one pass: both files are under their names when all records have been read, or neither is.
        atomic_write(self._folder / TRANSITIONS, write_both)
        summary = Summary(
            files=len(self._project.files),
            from_cache=len(self._project.files) - len(self._elaborated),
            theorems=counts["theorems"],
            tactics=counts["tactics"],
            sorries=counts["sorries"],
            transitions=counts["transitions"],
            failures=tuple(failures),
            exceptions=tuple(exceptions),
            axioms=tuple(axioms),
            left_out=dict(left_out.most_common()),
            targets=counts["targets"],
            targetless=max(0, counts["targetless"] - counts["targets"]),
            elaborations=sum(elaborator.elaborations for elaborator in self._elaborators),
            seconds=seconds,
        )
        order = [file.path for file in self._project.files]
        atomic_write_json(self._folder / SUMMARY, {**vars(summary), "order": order})
        return summary


def _server_failed(file: SourceFile, error: LeanError) -> bool:
    """End the trace: an elaborator has tried again already."""
    raise error


def read_trace(folder: Path) -> Iterator[TracedFile]:
    """Yield the files of a trace, imports first, one at a time.

    Raises UserError for a folder that holds no whole trace, and for a damaged file.
    """
    summary = None
    if (folder / SUMMARY).is_file():  # written last
        summary = read_object(folder / SUMMARY)
    if summary is None or not isinstance(summary.get("order"), list):
        raise UserError(f"{folder} holds no whole trace (python -m nanoproof.repos trace DIR)")
    for name in summary["order"]:
        yield _read_back(record_path(folder, name)).file


def record_path(folder: Path, path: str) -> Path:
    """Return where a trace keeps what was found in a file: under its own path, where the file system has room for that.

    A name may have 255 bytes, and a folder may be called like the record of a file beside it.
    """
    last = path.rpartition("/")[2]
    if len(path.encode()) > 1000 or len(last.encode()) > 200 or ".lean.json/" in path:
        path = f"long/{hashlib.sha256(path.encode()).hexdigest()}"
    return folder / "files" / f"{path}.json"


def _read_back(path: Path) -> FileTrace:
    """Read what was stored of a file. Raises UserError if it is damaged."""
    try:
        return FileTrace.from_json(read_object(path) or {})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged ({error!r}); trace again") from error


def trace_project(project: Project, folder: Path, options: TraceOptions) -> Summary:
    """Trace a project on the servers of the options, or on embedded NanoLean; see `Tracer`."""
    config = ClientConfig(tactic_seconds=options.tactic_seconds)
    with ExitStack() as stack:
        servers, token = options.lean.servers, options.lean.token
        if not servers:
            embedded = stack.enter_context(start_embedded(options.lean_processes))
            servers, token = tuple(embedded.addresses), embedded.token
        fleet = LeanFleet(servers, token=token, config=config)
        kinds, versions, processes = set[bool](), set[str](), 0
        for report in fleet.check():
            status = cast(dict[str, Any], report.status)
            kinds.add(runs_nanolean(status))
            versions.add(str((status.get("versions") or {}).get("lean")))
            processes += status["max_processes"]
        if len(kinds) > 1:
            raise UserError("--lean-servers: some run NanoLean, others Lean; name servers of one kind")
        tracer = Tracer(project, fleet, kinds.pop(), folder, options, ",".join(sorted(versions)))
        return tracer.run(processes)


# -- Command line ----------------------------------------------------------------------------------------------------


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command `trace`."""
    parser = commands.add_parser("trace", help="Find theorems, tactics with their goals, and premises of a project.")
    parser.add_argument(
        "dir", metavar="DIR", type=named_path, help="Folder of a Lean project, or any with .lean files."
    )
    parser.add_argument("--name", help="What it is called, in repo:NAME (default: the folder's name).")
    parser.add_argument(
        "--out", type=Path, help="Where to write (default: $NANOPROOF_HOME/repos/NAME/trace, where repo:NAME is read)."
    )
    add_flags(parser, TraceOptions)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Trace a project and print what was found; the exit code is 1 if some file failed."""
    options = from_args(TraceOptions, args)
    project = Project.read(args.dir)
    folder = args.out or trace_folder(args.name or project.root.name)
    try:
        summary = trace_project(project, folder, options)
    except OSError as error:
        raise UserError(f"cannot write the trace: {error}") from error
    print(summary.text(folder))
    return int(bool(summary.failures))
