"""Prove the `sorry`s of a project and give the proofs back as a patch, a branch, or over the files.

    python -m nanoproof.repos prove NAME --model-path sft/RUN --minutes 30 --patch proofs.patch

NAME is a repository of the store, which then learns of the proofs; a folder with Lean files, or one file, will do too.

Exit code 0 if nothing is left to prove, 1 if something is, or rests on what is, or could not be read, 2 if something is
wrong with the options or a server, and 130 after Ctrl-C, which keeps what there is.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from nanoproof.actors.fleet import Fleet, FleetOptions, follow_lean, open_fleet
from nanoproof.common.config import add_flags, change, check, from_args, group, opt, validated
from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write_json, atomic_write_text
from nanoproof.common.process import interrupts
from nanoproof.common.run_dir import RunLock, home
from nanoproof.common.terminal import counted, print_lines, printable
from nanoproof.lean.certificates import require_checker, verdict_line
from nanoproof.lean.lean_file import OpenPlace
from nanoproof.lean.solvers import AUTO
from nanoproof.policy.policy_options import PolicyOptions
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.prover import ProverOptions
from nanoproof.repos.certified import judge_project
from nanoproof.repos.patch import CHANGED, Base, overwrite, patch_text, require_branch, write_branch
from nanoproof.repos.premise_data import folder_files
from nanoproof.repos.project import Project, named_path
from nanoproof.repos.proving import ProjectProver, said_of, server_imports
from nanoproof.repos.store import Store, default_path
from nanoproof.repos.traced_files import Repository, TracedTheorem
from nanoproof.repos.tries import PROVED, Ledger, Rung, Task
from nanoproof.repos.ways import open_ways
from nanoproof.retrieval.folders import WORDS
from nanoproof.search.config import ALGORITHM, SearchConfig

PREMISE_TACTICS = 4
"""Premises of the project whose tactics are tried where nothing else is said."""


@dataclass(frozen=True)
class SorryOptions:
    """Proving sorries, wherever they come from."""

    minutes: float | None = opt(None, "End after so many minutes; the next run goes on.", above=0)
    num_simulations: int = opt(64, "Largest budget of a `sorry`, in simulations; it rises to it in steps.", min=1)
    seed: int = opt(0, "Seed of all random choices.")
    suggesting: PolicyOptions = group(PolicyOptions)
    lean: FleetOptions = group(FleetOptions, without=("lean_lost_proofs",), lean_processes=change(default=4))


@validated("prove")
class ProveProjectOptions(SorryOptions):
    """Proving a project."""

    patch: str | None = opt(None, "File for the proofs as a diff, for `git apply`.", metavar="FILE")
    branch: str | None = opt(None, "New branch of the git repository, on which the proofs are committed.")
    write: bool = opt(False, "Write the proofs into the files themselves.")
    report: str | None = opt(
        None,
        "Folder for the report, the trees and the log of what was tried (default: repos/NAME in $NANOPROOF_HOME).",
        metavar="DIR",
    )
    checker: str | None = opt(
        None,
        "Who judges the certificates of the proofs besides NanoLean: lean-kernel[:PATH], or a command with {file}.",
        metavar="CHECKER",
    )

    def __post_init__(self) -> None:
        check(not (self.write and self.branch is not None), "--write and --branch exclude each other")


def add_parser(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add the command `prove`."""
    parser = commands.add_parser(
        "prove", help="Prove the sorries of a project.", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument(
        "project", metavar="NAME_OR_DIR", help="a repository of the store, a folder with Lean files, or one file"
    )
    add_proving_flags(parser, ProveProjectOptions, skip=("keep_tree", "disprove_fraction"))
    parser.set_defaults(run=run)


def add_proving_flags(parser: argparse.ArgumentParser, options: type[SorryOptions], skip: Sequence[str]) -> None:
    """Add the flags of a command that proves sorries, with the defaults of search and premises that fit them."""
    for prefix, part in (("", options), ("", SamplingConfig), ("search-", SearchConfig), ("", ProverOptions)):
        add_flags(parser, part, prefix, skip=skip)
    parser.set_defaults(search_finishers=(AUTO,), search_algorithm=ALGORITHM)
    parser.set_defaults(premise_tactics=PREMISE_TACTICS, retriever=WORDS)


def run(args: argparse.Namespace) -> int:
    """Prove what can be proved, write it as asked for, and report; returns the exit code."""
    options = from_args(ProveProjectOptions, args)
    project = Project.read(located(args.project))

    def open_rungs(fleet: Fleet, stack: ExitStack) -> list[Rung]:
        ways = open_ways(args, options.suggesting, options.seed, stack, lambda: folder_files(project.root))
        spec = f" {options.suggesting.checkpoint.model_path}" if ways.policy.name == "model" else ""
        print_lines([f"policy: {ways.policy.name}{spec}"])
        return ways.rungs(options.num_simulations)

    done = prove_project(project, stored_repository(project.root), options, open_rungs, lambda: follow_lean(args))
    print_lines(map(shown, done.summary))
    if done.failure is not None:
        raise done.failure
    if done.interrupted:
        return 130
    return int(done.refused or not done.is_complete)


@dataclass(frozen=True)
class Proved:
    """What came of a project: `failure` ended the work early; `recorded` are the theorems that the store has proofs of
    since."""

    prover: ProjectProver
    folder: Path
    written: list[str]
    recorded: list[TracedTheorem]
    failure: Exception | None
    interrupted: bool
    refused: bool = False
    """Whether the checker that was asked for does not accept what was proved."""

    @property
    def is_complete(self) -> bool:
        """Whether every file could be worked on, and every `sorry` has a proof that rests on nothing open."""
        return not self.prover.left_alone and all(task.outcome == "proved" for task in self.prover.tasks)

    @property
    def summary(self) -> list[str]:
        """Lines for a terminal: what was proved, and where it is."""
        return _summary(self.prover, self.written, self.folder)


def prove_project(
    project: Project,
    repository: Repository | None,
    options: ProveProjectOptions,
    open_rungs: Callable[[Fleet, ExitStack], list[Rung]],
    before_lean: Callable[[], object] = lambda: None,
    wanted: Callable[[Task], bool] = lambda task: True,
) -> Proved:
    """Prove what can be proved of a project, write it as the options ask for, record it, and report.

    `open_rungs` opens what is tried in turn; `repository` is the store's, if it knows the project; tasks that are not
    `wanted` are left out. Raises UserError for options that cannot be followed, and where servers fail before there
    is anything.
    """
    paths = [file.path for file in project.files if file.sorries and project.only in ("", file.path)]
    base = None
    if options.branch is not None:
        base = require_branch(project.root, options.branch, {path: project.file(path).data for path in paths})
    if options.patch is not None and not Path(options.patch).absolute().parent.is_dir():
        raise UserError(f"--patch {options.patch}: there is no such folder")
    if options.checker is not None:
        require_checker(options.checker)
    total = sum(project.file(path).sorries for path in paths)
    files, sorries = counted(len(project.files), "file"), counted(total, "sorry")
    print_lines([f"{project.root}: {files}, {sorries} in {len(paths)} of them"])
    folder = home() / "repos" / (project.name if repository is None else repository.name)
    if options.report is not None:
        folder = Path(options.report)
    began = time.monotonic()
    deadline = float("inf") if options.minutes is None else began + 60 * options.minutes
    with ExitStack() as stack:
        ledger = _open_ledger(folder, stack)
        before_lean()
        fleet = stack.enter_context(open_lean(options.lean, total))
        print_lines([f"Lean: {fleet.description}"])
        rungs = open_rungs(fleet, stack)
        prover = ProjectProver(
            project,
            ledger,
            rungs,
            fleet.slots[: max(1, total)],
            f"{fleet.lean}",
            project.provided_by(server_imports(options.lean.lean)),
            options.seed,
            deadline,
            lambda line: print_lines([shown(line)]),
        )
        interrupted = stack.enter_context(interrupts(prover.stop))
        failure = work(prover, wanted)
        written, recorded = [], []
        # Each way out by itself: what fails at the end takes none of the others with it, the report least of all.
        for way_out in _ways_out(options, project, prover, folder, base):
            try:
                written += way_out()
            except (UserError, OSError) as error:
                failure = failure or UserError(str(error))
                written.append(f"NOT written: {error}")
        judged: dict[str, Any] | None = None
        if options.checker is not None:
            try:
                judged = judge_project(project, prover.settled, folder, options.checker)
                written += judged_lines(judged)
            except (UserError, OSError) as error:
                failure = failure or UserError(str(error))
                written.append(f"the proofs are not judged: {error}")
        if repository is not None:
            try:
                recorded = record_in_store(repository, prover)
                written.append(f"store: {counted(len(recorded), 'proof')} recorded")
            except UserError as error:
                failure = failure or error
                written.append(f"store: nothing is recorded: {error}")
        _report(folder, project, prover, rungs, written, time.monotonic() - began, failure, judged)
    refused = judged is not None and bool(judged["refused"])
    return Proved(prover, folder, written, recorded, failure, bool(interrupted), refused)


def located(text: str) -> Path:
    """Return the path of a project: a folder or file, or the folder of the store's repository of that name.

    Raises UserError for a repository without files here; a name that is nothing at all comes back as a path.
    """
    if named_path(text).exists() or not default_path().exists():
        return Path(text)
    with Store() as store:
        names = [repository.name for repository in store.repositories()]
        if text not in names and ("/" in text or text.endswith(".lean")):
            return Path(text)  # mistyped as a path, and not as a name
        repository = store.repository(text)
    if repository.source is None or not Path(repository.source).is_dir():
        raise UserError(f"the files of repository {text} are not here: python -m nanoproof.repos add {repository.url}")
    return Path(repository.source)


def stored_repository(root: Path) -> Repository | None:
    """Return the store's repository whose files are in a folder; None if it knows of none."""
    if not default_path().exists():
        return None
    with Store() as store:
        for repository in store.repositories():
            if repository.source is not None and Path(repository.source).resolve() == root:
                return repository
    return None


def record_in_store(repository: Repository, prover: ProjectProver) -> list[TracedTheorem]:
    """Record the proofs of those theorems of a repository of which no `sorry` is left; returns those that are proved.

    One that rests on something open is recorded with it, and is not proved. Theorems are those of the last trace: one
    that has moved since, out of its lines there, waits for the next.
    """
    tasks: dict[str, list[Task]] = {}
    for task in prover.tasks:
        tasks.setdefault(task.path, []).append(task)
    recorded = []
    with Store() as store:
        for path, gaps in tasks.items():
            stored_theorems = [*store.theorems(repository, "sorry", path, tactics=False)]
            stored_theorems += store.theorems(repository, "conditional", path, tactics=False)
            for stored in stored_theorems:
                theorem = stored.theorem
                inside = [task for task in gaps if task.is_in(theorem)]
                # As many as the trace counted: one that is in none of the tasks, as in a `where`, is open still.
                if 0 < len(inside) == theorem.sorries and all(task.outcome in PROVED for task in inside):
                    proof = "\n".join(task.proof for task in inside)
                    places: dict[OpenPlace, None] = {}
                    for task in inside:
                        places |= dict.fromkeys(task.rest.open_places)
                    store.record_proof(stored.id, proof, "python -m nanoproof.repos prove", rests_on=places)
                    if not places:
                        recorded.append(theorem)
    return recorded


def work(prover: ProjectProver, wanted: Callable[[Task], bool]) -> Exception | None:
    """Run all phases on the tasks that are wanted; returns the error that ended them, after which there may be proofs
    nevertheless: all but those that could not be checked in the end, which the next run has from the log."""
    failure: Exception | None = None
    try:
        prover.prepare()
        prover.tasks = [task for task in prover.tasks if wanted(task)]
        prover.run()
        failure = prover.failure
    except Exception as error:  # also a mistake of ours: what was proved before it is written first
        failure = error
    try:
        prover.verify()
    except Exception as error:
        prover.take_back(f"the check at the end failed: {error}")
        failure = failure or error
    return failure


# -- what it works with ----------------------------------------------------------------------------------------------


def _open_ledger(folder: Path, stack: ExitStack) -> Ledger:
    with cannot(f"write to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        stack.callback(RunLock(folder).release)
        ledger = Ledger(folder)
    stack.callback(ledger.close)
    return ledger


def open_lean(options: FleetOptions, sorries: int) -> Fleet:
    """Open the servers; of embedded ones no more processes than there is work for."""
    if not options.lean.servers:
        options = replace(options, lean_processes=max(1, min(options.lean_processes, sorries)))
    return open_fleet(options)


# -- what comes out --------------------------------------------------------------------------------------------------


def _ways_out(
    options: ProveProjectOptions, project: Project, prover: ProjectProver, folder: Path, base: Base | None
) -> list[Callable[[], list[str]]]:
    """Return what writes the proofs as asked for, each with lines on what was written; raises UserError or OSError."""
    changed = prover.changed
    data = {path: project.file(path).data for path in changed}
    patch = Path(options.patch) if options.patch is not None else folder / "proofs.patch"

    def write_patch() -> list[str]:
        text = _patch(project, changed)
        try:
            atomic_write_text(patch, text)
        except OSError as error:
            if options.patch is None:
                raise UserError(f"the patch {patch}: {error.strerror}") from error
            # A disk that is full by now, at the end of a night: what was proved is to be somewhere.
            atomic_write_text(folder / "proofs.patch", text)
            raise UserError(f"--patch {patch}: {error.strerror}; it is in {folder / 'proofs.patch'}") from error
        return [f"patch: {patch}" if text else f"patch: {patch} (empty)"]

    def commit() -> list[str]:
        assert base is not None
        proved = _counts(prover)[0]["proved"]
        message = f"Prove {counted(proved, 'sorry')}\n"
        try:
            return write_branch(project.root, base, data, changed, message)
        except UserError as error:
            raise UserError(f"--branch {base.branch}: {error} (the proofs are in the patch)") from error

    def write_files() -> list[str]:
        skipped.update(overwrite(project.root, data, changed))
        lines = [f"written: {path}" for path in changed if path not in skipped]
        for path, reason in skipped.items():
            lines.append(f"NOT written, {reason}: {path} (its proofs are in the patch)")
        return lines

    def check_written() -> list[str]:
        for path, reason in skipped.items():
            if reason != CHANGED:  # that is for the user to decide; the rest was asked for and is not there
                raise UserError(f"--write: {path} cannot be written: {reason}")
        return []

    skipped: dict[str, str] = {}
    ways = [write_patch, lambda: _write_conditional(project, prover, folder)]
    if changed and base is not None:
        ways.append(commit)
    if changed and options.write:
        ways += [write_files, check_written]
    return ways


def _write_conditional(project: Project, prover: ProjectProver, folder: Path) -> list[str]:
    """Write the patch with the proofs that rest on something open too; returns a line on it, if there are any.

    They are in no other patch, file or branch: a `sorry` that such a proof replaces is out of sight, and nothing says
    any more that its theorem is open. Who wants the reduction nevertheless can apply it.
    """
    path, changed = folder / "conditional.patch", prover.changed_conditionally
    with cannot(f"write {path}"):
        if not changed:
            path.unlink(missing_ok=True)
            return []
        atomic_write_text(path, _patch(project, changed))
    return [f"patch with the proofs that rest on something open, which are in no other: {path}"]


def _patch(project: Project, changed: Mapping[str, str]) -> str:
    return patch_text(project.root, {path: project.file(path).written for path in changed}, changed)


def _summary(prover: ProjectProver, written: Sequence[str], folder: Path) -> list[str]:
    counts, known = _counts(prover)
    parts = [f"{counts['proved']} of {len(prover.tasks)} proved"]
    if known:
        parts.append(f"{counts['proved'] - known} of them new")
    if counts["conditional"]:
        parts.append(f"{counts['conditional']} if others hold")
    for outcome in ("not proved", "refused", "left alone", "not tried"):
        if counts[outcome]:
            parts.append(f"{counts[outcome]} {outcome}")
    if prover.left_alone:
        parts.append(f"{counted(len(prover.left_alone), 'file')} not worked on")
    lines = [", ".join(parts)]
    for task in prover.tasks:
        if task.outcome == "conditional":
            lines.append(f"{task.place} {task.gap.name}: {said_of(task.outcome, task.rest, task.path)}")
    lines += [f"{path} is left alone: {reason}" for path, reason in prover.left_alone.items()]
    lines += [f"the proofs of {path} are withdrawn: the project is worse with them" for path in prover.withdrawn]
    if prover.checks:
        lines.append(f"checked with the proofs: {counted(len(prover.checks), 'file')}, none worse than before")
    return [*lines, *written, f"report: {folder / 'report.html'}"]


def _counts(prover: ProjectProver) -> tuple[Counter[str], int]:
    """Count the tasks by outcome, and those whose proof is one of an earlier run."""
    counts: Counter[str] = Counter()
    known = 0
    for task in prover.tasks:
        counts[task.outcome] += 1
        known += task.outcome == "proved" and task.from_before
    return counts, known


def judged_lines(judged: dict[str, Any]) -> list[str]:
    """Say what `judge_project` returned."""
    lines = list(map(str.strip, verdict_line(judged).splitlines()))
    if judged["not_judged"]:
        lines.append(f"not judged, as no certificate holds them: {counted(judged['not_judged'], 'proof')}")
    return lines


def shown(line: str) -> str:
    """Return a line for a terminal: names of files may hold line feeds and escapes that look like another outcome."""
    return printable(line.replace("\n", "\\n"))


def _report(
    folder: Path,
    project: Project,
    prover: ProjectProver,
    rungs: Sequence[Rung],
    written: Sequence[str],
    seconds: float,
    failure: Exception | None,
    judged: dict[str, Any] | None,
) -> None:
    """Write `report.json` and `report.html`: what was proved, what was not and why, how far it came."""
    counts, known = _counts(prover)
    checked = []
    for check_of_file in prover.checks:
        before, after = check_of_file.before, check_of_file.after
        record = {
            "file": check_of_file.path,
            "worse": check_of_file.fault,
            "sorries": [before.sorries, after.sorries],
            "errors": [len(before.errors), len(after.errors)],
            "axioms": [list(before.axioms), list(after.axioms)],
        }
        checked.append(record)
    data = {
        "project": project.name,
        "root": str(project.root),
        "lean": prover.lean,
        "seconds": round(seconds, 1),
        "error": None if failure is None else str(failure),
        "sorries": len(prover.tasks),
        "counts": dict(counts),
        "known_from_before": known,
        "tried_in_turn": [{"policy": rung.name, "simulations": rung.budget} for rung in rungs],
        "gaps": [_gap_record(prover, task) for task in prover.tasks],
        "left_alone": prover.left_alone,
        "checked": checked,
        "withdrawn": prover.withdrawn,
        "verdicts": judged,
        "written": list(written),
    }
    with cannot(f"write the report to {folder}"):
        atomic_write_json(folder / "report.json", data)
        atomic_write_text(folder / "report.html", report_page(data))


def _gap_record(prover: ProjectProver, task: Task) -> dict[str, Any]:
    tries: list[dict[str, Any]] = []
    last: dict[str, Any] = {}
    tree = None
    if task.key:  # one that is left alone was never to be tried, and has none
        tries = prover.ledger.known(task.key).tries
        if tries:
            last = tries[-1]
        if prover.ledger.tree_path(task.key).exists():
            tree = f"trees/{task.key}.html"
    return {
        "file": task.path,
        "line": task.gap.line,
        "column": task.gap.column,
        "name": task.gap.name,
        "outcome": task.outcome,
        "rests_on": task.rest.to_json(),
        "axioms": list(task.rest.axioms),
        "said": said_of(task.outcome, task.rest, task.path),
        "message": task.message,
        "proof": task.proof,
        "known_from_before": task.from_before,
        "tactics_left": last.get("tactics_left"),
        "best_line": last.get("line") or "",
        "tries": tries,
        "tree": tree,
    }


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 1.5rem auto; padding: 0 1rem; }}
h2 {{ font-size: 1.1rem; margin-top: 1.8rem; }}
table {{ border-collapse: collapse; width: 100%; }}
td, th {{ text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0; border-top: 1px solid #8885; }}
pre {{ margin: .2rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }}
code, pre {{ font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }}
.proved {{ color: light-dark(#18803f, #63d18c); font-weight: 600; }} .muted {{ color: light-dark(#5b6470, #9ba6b3); }}
</style></head><body>
<h1>{title}</h1><p>{facts}</p>
{sections}
</body></html>
"""


def report_page(data: dict[str, Any]) -> str:
    """Render the report as a page: a table for each file, with proofs, reasons, and links to the trees."""
    counts = data["counts"]
    facts = (
        f"{counts.get('proved', 0)} of {data['sorries']} sorries proved ({data['known_from_before']} in earlier runs)"
    )
    if counts.get("conditional"):
        facts += f", {counts['conditional']} more if others hold that are open"
    if data["left_alone"]:
        facts += f", {counted(len(data['left_alone']), 'file')} not worked on"
    facts += f", in {data['seconds']:g} s with Lean {data['lean']}"
    lines = [data["error"]] if data["error"] else []
    lines += [f"{path} is left alone: {reason}" for path, reason in data["left_alone"].items()]
    lines += [f"the proofs of {path} were withdrawn" for path in data["withdrawn"]]
    items = [f"<li>{escape(line)}</li>" for line in [*lines, *data["written"]]]
    sections = [f"<ul>{''.join(items)}</ul>"]
    rows: dict[str, str] = {}
    for gap in data["gaps"]:
        rows[gap["file"]] = rows.get(gap["file"], "") + _gap_row(gap)
    head = "<tr><th>line</th><th>theorem</th><th>outcome</th><th>proof, or how far it came</th></tr>"
    for path, rows_of_file in rows.items():
        sections.append(f"<h2>{escape(path)}</h2><table>{head}{rows_of_file}</table>")
    title = escape(f"Sorries of {data['project']}")
    return _PAGE.format(title=title, facts=escape(facts), sections="\n".join(sections))


def _gap_row(gap: dict[str, Any]) -> str:
    simulations, seconds = 0, 0.0
    for record in gap["tries"]:  # of a log that others may have written: what is no number is None there
        simulations += record.get("simulations") or 0
        seconds += record.get("seconds") or 0.0
    effort = ""
    if gap["tries"]:
        tries = counted(len(gap["tries"]), "try")
        effort = f"{tries}, {counted(simulations, 'simulation')}, {seconds:.1f} s"
    if gap["tree"]:
        effort += f' · <a href="{gap["tree"]}">tree of the last search</a>'
    if gap["proof"]:
        cell = f"<pre>{escape(gap['proof'])}</pre>"
    else:
        cell = escape(gap["message"])
        line = gap["best_line"]
        if line and gap["tactics_left"] is not None:
            line = f"about {gap['tactics_left']:.1f} tactics to go: {line}"
        if line:
            cell += f"<pre>{escape(line)}</pre>"
    style = "proved" if gap["outcome"] == "proved" else ""
    return (
        f"<tr><td>{gap['line']}</td><td><code>{escape(gap['name'])}</code></td>"
        f'<td class="{style}">{escape(gap["said"])}</td><td>{cell}<span class="muted">{effort}</span></td></tr>\n'
    )
