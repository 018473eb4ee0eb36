"""The commands of the store: `add`, `list`, `show`, `remove`, `export` and `import`.

python -m nanoproof.repos add my-project                                  # a folder, which stays where it is
python -m nanoproof.repos add https://host/owner/name@1f3e5c7             # cloned below $NANOPROOF_HOME/repos
python -m nanoproof.repos list --by difficulty
python -m nanoproof.repos export name --out data                          # LeanDojo's data set
python -m nanoproof.repos import leandojo_benchmark_4
"""

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, group, opt, validated
from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write, atomic_write_text, json_line, remove_tree
from nanoproof.common.git import GitError, git
from nanoproof.common.hub import push_folder
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.terminal import print_lines, shorten, table
from nanoproof.lean.project.layout import lean_version
from nanoproof.lean.types import parse_state
from nanoproof.prover.resting import Rest
from nanoproof.repos.database_json import export_database, import_database
from nanoproof.repos.difficulty import CATEGORIES, Curriculum, Item
from nanoproof.repos.leandojo import (
    CORPUS,
    METADATA,
    TRACED_FILES,
    Exported,
    export_stored,
    import_folder,
    is_data_set,
)
from nanoproof.repos.splits import STRATEGIES, exported_tactics
from nanoproof.repos.store import Store, default_path, free_name, now
from nanoproof.repos.traced_files import Repository, StoredTheorem, TracedFile, TracedTheorem, own_axioms

SCHEMES = ("https://", "http://", "ssh://", "file://", "git@")
_AT_COMMIT = re.compile(r"(\w+://[^/]*/.+|git@[^:]+:.+|(?!\w+://|git@).+)@([\w.+][\w.+/-]*)")
"""An address (where an `@` before the host is no commit's) or a folder, and a commit, a branch or a tag."""
CLONE_SECONDS = 3600.0
"""Mathlib's history takes minutes on a good line."""
DATABASE, LEANTREE = "dynamic_database.json", "leantree.jsonl"
SHOWN = 20
NO_REPOSITORIES = "no repositories yet: python -m nanoproof.repos add PATH_OR_URL"


@validated("add")
class AddOptions:
    """Tracing"""

    lean: LeanOptions = group(LeanOptions, "lean-")
    lean_processes: int = opt(2, "Processes of the embedded server, if no --lean-servers are named.", min=1)


Trace = Callable[[Path, Path, AddOptions], Iterable[TracedFile]]
"""Traces the project in a folder, with another folder for what it keeps, and yields its files."""


def trace_files(root: Path, folder: Path, options: AddOptions) -> Iterator[TracedFile]:
    """Trace a project as the command `trace` does, and yield what was found in each file."""
    from nanoproof.repos.project import Project
    from nanoproof.repos.trace import TraceOptions, read_trace, trace_project

    chosen = TraceOptions(lean=options.lean, lean_processes=options.lean_processes)
    trace_project(Project.read(root), folder, chosen)
    yield from read_trace(folder)


# -- add -------------------------------------------------------------------------------------------------------------


def add_repository(
    store: Store, target: str, name: str | None = None, options: AddOptions | None = None, trace: Trace | None = None
) -> Repository:
    """Add the repository at an address or in a folder to the store, at a commit if one stands behind `@`.

    An address is cloned to a folder beside the store; a folder is referred to where it is. With `trace` its files are
    read into the store, in place of what was there. Raises UserError.
    """
    url, commit = split_target(target)
    if url.startswith(SCHEMES):
        repository = _cloned(store, url, commit, name)
    else:
        repository = _referred(store, Path(url), commit, name)
    if trace is not None:
        assert repository.source is not None
        folder = repository_folder(store, repository.name) / "trace"
        seen = set()
        for file in trace(Path(repository.source), folder, options or AddOptions()):
            store.put_file(repository, file)
            seen.add(file.path)
        # At the end: after a trace that fails, what was known of the files that it did not come to is there still.
        for file in store.files(repository, theorems=False):
            if file.path not in seen:
                store.remove_file(repository, file.path)
    return repository


def split_target(target: str) -> tuple[str, str]:
    """Split `PATH_OR_URL@commit`; the commit is empty if none is named. A folder with `@` in its name is a folder."""
    from nanoproof.repos.project import named_path

    named_path(target)
    if not target.startswith(SCHEMES) and Path(target).expanduser().exists():
        return target, ""
    match = _AT_COMMIT.fullmatch(target)
    return (target, "") if match is None else (match[1], match[2])


def repository_folder(store: Store, name: str) -> Path:
    """Return the folder of what is kept of a repository: beside the store."""
    return store.path.parent / name


def _referred(store: Store, folder: Path, commit: str, name: str | None) -> Repository:
    """Add a folder, or bring what is known of it up to date."""
    folder = folder.expanduser()
    if not folder.is_dir():
        raise UserError(f"{folder} is neither a folder nor an address such as https://host/owner/name")
    folder = folder.resolve()
    here = head(folder)
    if commit and not here.startswith(commit):
        raise UserError(
            f"{folder} is at commit {here or 'none'}, not {commit}: check that out, or add file://{folder}@{commit}, "
            "which is cloned"
        )
    version = _toolchain(folder)
    for present in store.repositories():
        # A folder is one repository, whatever commit it is at: it moves on, where an address at a commit does not. One
        # that was cloned has an address for its url, and is none of these.
        if present.source == present.url == str(folder):
            if name not in (None, present.name):
                raise UserError(f"{folder} is in the store already, as {present.name}")
            changed = replace(present, commit=here, lean_version=version, date=now())
            store.update_repository(changed)
            return changed
    return store.add_repository(str(folder), here, name, version, folder)


def _cloned(store: Store, url: str, commit: str, name: str | None) -> Repository:
    """Clone an address, unless that was done, and add it."""
    url = url.rstrip("/").removesuffix(".git")
    for present in store.repositories():
        # Without a commit its newest one is meant, and a branch or a tag may have moved: those are cloned again.
        if present.url == url and commit and present.commit.startswith(commit):
            if present.source and Path(present.source).is_dir():
                return present
            break
    # To a folder beside its place first: a clone that was killed would be taken for a whole one.
    store.path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".clone-", dir=store.path.parent))
    try:
        cloned = temporary / "source"
        clone(url, commit, cloned)
        here, version = head(cloned), _toolchain(cloned)
        repository = store.find_repository(url, here)
        if repository is None:
            chosen = name or free_name(url, here, [other.name for other in store.repositories()])
            source = repository_folder(store, chosen) / "source"
            repository = store.add_repository(url, here, chosen, version, source)
        place = repository_folder(store, repository.name) / "source"
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            remove_tree(place)
        cloned.rename(place)
        if repository.source != str(place):  # it was imported from a data set, and had no files
            repository = replace(repository, source=str(place), lean_version=version)
            store.update_repository(repository)
        return repository
    finally:
        remove_tree(temporary)


def clone(url: str, commit: str, folder: Path) -> None:
    """Clone an address into a new folder, at a commit or, if that is empty, at its default branch. Raises UserError."""
    target, depth = url, ["--depth=1"]
    if commit:  # servers give a single commit only where they are set up for it: the whole history is sure to have it
        target, depth = f"{url} at {commit}", []
    try:
        git("clone", "--quiet", *depth, "--", url, str(folder), seconds=CLONE_SECONDS)
        if commit:
            git("checkout", "--quiet", "--detach", commit, "--", at=folder, seconds=CLONE_SECONDS)
    except GitError as error:
        raise UserError(f"cannot clone {target}: {error}") from error


def head(folder: Path) -> str:
    """Return the commit that a folder is at; empty if it is no repository or has no commit."""
    try:
        top = git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", at=folder)
    except GitError:
        return ""
    return top.decode().strip()


def _toolchain(folder: Path) -> str:
    """Return the Lean version of a project, such as `v4.27.0`; empty if none is named."""
    try:
        return lean_version(folder)
    except UserError:
        return ""


# -- list and show ---------------------------------------------------------------------------------------------------


def _present(args: argparse.Namespace) -> Store:
    """Open the store that is there. Raises UserError where there is none, and makes none: its path may be mistyped."""
    path: Path = args.store or default_path()
    if not path.exists():
        raise UserError(f"there is no store {path} yet: python -m nanoproof.repos add PATH_OR_URL")
    return Store(path)


def curriculum(store: Store) -> Curriculum[str]:
    """Return in which order to learn from the repositories of the store, and the category of each theorem."""
    items = {}
    for repository in store.repositories():
        lengths = store.lengths(repository)
        items[repository.name] = [Item(name, tactics, has_sorry) for _, name, tactics, has_sorry in lengths]
    return Curriculum.of(items)


def _list(args: argparse.Namespace) -> int:
    learning: Curriculum[str] | None = None
    rows = []
    if args.store is None and not default_path().exists():
        print_lines([] if args.json else [NO_REPOSITORIES])
        return 0
    with _present(args) as store:
        repositories = {repository.name: repository for repository in store.repositories()}
        order: Sequence[str] = list(repositories)
        if args.by == "difficulty":
            learning = curriculum(store)
            order = learning.order
        for name in order:
            row: dict[str, Any] = {**asdict(repositories[name]), **store.counts(name)}
            if learning is not None:
                row |= _shares(learning, name)
            rows.append(row)
    if args.json:
        print_lines(json.dumps(row, ensure_ascii=False) for row in rows)
        return 0
    if not rows:
        print(NO_REPOSITORIES)
        return 0
    names = ["name", "commit", "lean_version", "files", "premises", "theorems", "proved", "sorry_proved", "sorry"]
    if any("conditional" in row for row in rows):
        names.append("conditional")
    if learning is not None:
        names += CATEGORIES
    cells = []
    for row in rows:
        row["commit"] = row["commit"][:10]
        cells.append([row.get(name, 0) for name in names])
    titles = {
        "conditional": "if others hold",
        "sorry_proved": "ours",
        "sorry": "open",
        "lean_version": "Lean",
        "Hard (No proof)": "no proof",
    }
    print_lines(table([titles.get(name, name) for name in names], cells))
    if learning is not None and learning.thresholds is not None:
        print_lines(["", list(learning.summary())[-1]])
    return 0


def _shares(learning: Curriculum[str], name: str) -> dict[str, int]:
    """Count the theorems of a repository by category."""
    return {category: len(learning.categories[name][category]) for category in CATEGORIES}


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _show(args: argparse.Namespace) -> int:
    if args.max < 0:
        raise UserError(f"--max must be >= 0, got {args.max}")
    with _present(args) as store:
        repository = store.repository(args.name)
        counts = store.counts(repository)
        ours = list(map(_open_line, store.theorems(repository, "sorry_proved", tactics=False)))
        still = list(map(_open_line, store.theorems(repository, "sorry", tactics=False)))
        resting = list(map(_open_line, store.theorems(repository, "conditional", tactics=False)))
        failed, axioms = [], []
        for file in store.files(repository, theorems=False):
            if file.error:
                failed.append(f"  {file.path}: {file.error}")
            for axiom in own_axioms(file):
                axioms.append(f"  {axiom}")
        if args.json:
            parts = {"open": still, "ours": ours, "conditional": resting, "axioms": axioms, "not_traced": failed}
            print(json.dumps({**asdict(repository), "counts": counts, **parts}, ensure_ascii=False))
            return 0
        learning = curriculum(store)
    place = f"{learning.order.index(repository.name) + 1} of {len(learning.order)}"
    shares = _listed(_shares(learning, repository.name))
    if_others = f", {len(resting):,} proved if others hold" if resting else ""
    lines = [
        f"{repository.name}  {repository.url}  {repository.commit or 'no commit'}",
        f"  Lean {repository.lean_version or 'unknown'}, by {repository.tool}, {repository.date}",
        f"  files in {repository.source or 'no folder (imported)'}",
        f"  {counts['files']:,} files ({counts['failed']} not traced), {counts['premises']:,} premises",
        f"  {counts['theorems']:,} theorems: {counts['proved']:,} proved, {counts['sorry_proved']:,} proved by us, "
        f"{counts['sorry']:,} open{if_others}",
        f"  {shares}; in the order of learning {place}",
    ]
    shown = [("open", still), ("proved by us", ours), ("proved if others hold", resting)]
    shown += [("axioms, which what is proved may rest on", axioms), ("not traced", failed)]
    for title, part in shown:
        if part:
            lines += [f"{title}:", *part[: args.max]]
        if len(part) > args.max:
            lines.append(f"  ... and {len(part) - args.max:,} more (--max N)")
    print_lines(lines)
    return 0


def _open_line(stored: StoredTheorem) -> str:
    line = f"  {stored.theorem.full_name}  {stored.theorem.path}:{stored.theorem.start.line}"
    if stored.rests_on:
        line += f"  {Rest(stored.rests_on).condition(stored.theorem.path)}"
    if stored.proof is not None:
        line += f"  {shorten(stored.proof, 60)} ({stored.how})"
    return line


# -- export and import -----------------------------------------------------------------------------------------------


def _export(args: argparse.Namespace) -> int:
    with _present(args) as store:
        if args.format == "leandojo":
            done = export_stored(store, args.names, args.out, args.splits, args.redraw)
            print_lines(_exported_lines(done, args.out))
        elif args.format == "database":
            export_database(store, args.names, args.out / DATABASE)
            print(f"{len(set(args.names))} repositories in {args.out / DATABASE}")
        else:
            files, left_out = export_leantree(store, args.names, args.out / LEANTREE)
            no_tree = f"; {left_out} proofs are no tree" if left_out else ""
            print(f"{files} files in {args.out / LEANTREE}{no_tree}")
        if args.push is not None:
            repositories = list(map(store.repository, dict.fromkeys(args.names)))
            print_lines([_pushed(args.push, args.out, args.format, repositories, args.private)])
    return 0


def _pushed(target: str, out: Path, kind: str, repositories: Sequence[Repository], private: bool) -> str:
    """Push an exported data set with a card; returns a line on it. Raises UserError."""
    files = {"database": [DATABASE], "leantree": [LEANTREE]}.get(kind)
    if files is None:
        # By name: the folder may hold other things, which nobody asked to publish.
        files = [CORPUS, TRACED_FILES, METADATA, *(f"{name}/*" for name in STRATEGIES)]
    with cannot(f"write {out / 'README.md'}"):
        atomic_write_text(out / "README.md", data_card(target, kind, repositories))
    message = f"nanoproof: {len(repositories)} traced"
    commit = push_folder(target, out, [*files, "README.md"], "dataset", private, message)
    return f"pushed to {target}, commit {commit[:12]}"


def data_card(target: str, kind: str, repositories: Sequence[Repository]) -> str:
    """Write the card of an exported data set: which repositories, at which commits.

    It names no licence: that of the data is the repositories' own.
    """
    lines = ["---", "tags:", "- lean4", "- theorem-proving", "license: other", "---"]
    lines += [f"# {target.partition('/')[2]}", ""]
    lines.append(f"Proofs of Lean 4 repositories, traced by nanoproof, in the format `{kind}`.")
    lines.append("The licence of each part is that of its repository.")
    lines += ["", "| repository | commit | Lean | traced |", "|---|---|---|---|"]
    for repository in repositories:
        cells = [repository.url, repository.commit[:12], repository.lean_version, repository.date[:10]]
        # An address is any text: a bar or a line feed in it would begin another cell or end the table.
        plain = [" ".join(cell.split()).replace("|", "\\|") for cell in cells]
        lines.append(f"| {' | '.join(plain)} |")
    return "\n".join([*lines, ""])


def _exported_lines(done: Exported, out: Path) -> Iterator[str]:
    for strategy in STRATEGIES:
        yield f"{strategy}: {_listed(done.theorems[strategy])}"
    by_premises = done.theorems["novel_premises"]
    # LeanDojo's drawing has no premises held out by name, and others for validation and test all the same.
    if done.held_out is None and by_premises["val"] + by_premises["test"] == 0:
        yield "no tactic names a premise, so that novel_premises has nothing but training"
    yield f"{done.premises:,} premises of {done.files:,} files, in {out}"


def export_leantree(store: Store, names: Sequence[str], path: Path) -> tuple[int, int]:
    """Write LeanTree JSONL of repositories; returns how many Lean files, and how many proofs are no tree.

    What `trace` wrote of a repository is copied. Of one that was imported, the trees are made of its flat list of
    tactics, as far as the goals tell which tactic goes on from which.
    """
    files = left_out = 0

    def write(out: Any) -> None:
        nonlocal files, left_out
        for name in dict.fromkeys(names):
            repository = store.repository(name)
            traced = repository_folder(store, name) / "trace" / LEANTREE
            if traced.is_file():
                with open(traced, "rb") as lines:
                    for line in lines:
                        out.write(line)
                        files += 1
                continue
            for file in store.files(repository):
                theorems = []
                for theorem in file.theorems:
                    if theorem.tactics:
                        tree = leantree_theorem(theorem)
                        theorems.append(tree)
                        left_out += sum("error" in block for block in tree["by_blocks"])
                if theorems:
                    record = {"path": file.path, "imports": list(file.imports), "theorems": theorems}
                    out.write(json_line(record).encode("utf-8"))
                    files += 1

    atomic_write(path, write)
    return files, left_out


def leantree_theorem(theorem: TracedTheorem) -> dict[str, Any]:
    """Return a theorem as LeanTree has it: one tree, whose nodes are the states before the tactics.

    From a tactic go on those that begin, later on, with all the goals that it leaves, or with one of these alone each;
    if some goal has none, the proof is recorded as an error. Spans count from the theorem's place, which is not known
    as an offset, and are zero.
    """
    span = {"start": 0, "finish": 0}
    record: dict[str, Any] = {"span": span, "name": theorem.full_name, "context": [], "by_blocks": []}
    steps = list(exported_tactics(theorem))
    # From the last step on, so that `later` has the first tactic behind each step that begins with a state, and the
    # children of a node have their sizes (nodes) and depths (longest line) before it.
    later: dict[str, int] = {}
    nodes: dict[int, dict[str, Any]] = {}
    unknown: str | None = None
    for number in reversed(range(len(steps))):
        step = steps[number]
        goals = [part for part in re.split(r"\n\s*\n", step.state_after) if part.strip() and part != "no goals"]
        if goals and step.state_after in later:  # one tactic goes on with all of them, as `all_goals` does
            goals = [step.state_after]
        if not later.keys() >= set(goals) or "⊢" not in step.state_before:
            unknown = step.tactic
        children = [later[goal] for goal in goals if goal in later]
        size, depth = 1, 1
        for child in children:
            size += nodes[child]["proof_size"]
            depth = max(depth, 1 + nodes[child]["proof_depth"])
        nodes[number] = {
            "id": number,
            "state": {"goals": []},
            "tactic": {
                **{"tactic_string": step.tactic, "span": None, "parent": number, "children": children},
                "tactic_depends_on": list(dict.fromkeys(premise.full_name for premise in step.premises)),
            },
            "proof_size": size,
            "proof_depth": depth,
        }
        later[step.state_before] = number
    if unknown is not None:
        record["by_blocks"] = [{"error": f"what follows {shorten(unknown, 40)} is not known"}]
    elif steps:
        for number, step in enumerate(steps):  # now that each is known to be a state
            nodes[number]["state"]["goals"] = parse_state(step.state_before).to_wire()
        record["by_blocks"] = [{"tree": {"root_id": 0, "nodes": [*reversed(nodes.values())]}, "span": span}]
    return record


def _import(args: argparse.Namespace) -> int:
    path: Path = args.path
    if not path.exists():
        raise UserError(f"no such file or folder: {path}")
    if path.is_dir() and not is_data_set(path) and (path / DATABASE).is_file():
        path = path / DATABASE
    if not path.is_file() and not is_data_set(path):
        raise UserError(f"{path} holds neither random/train.json nor {DATABASE}")
    with Store(args.store) as store:
        read = import_database if path.is_file() else import_folder
        repositories = read(store, path, args.name)
        print_lines(_summary(store, repository) for repository in repositories)
    return 0


def _summary(store: Store, repository: Repository) -> str:
    counts = store.counts(repository)
    failed = f" ({counts['failed']} not traced)" if counts["failed"] else ""
    return (
        f"{repository.name}: {counts['files']:,} files{failed}, {counts['premises']:,} premises, "
        f"{counts['theorems']:,} theorems, {counts['sorry']:,} open and {counts['sorry_proved']:,} proved by us"
    )


def _add(args: argparse.Namespace) -> int:
    options = from_args(AddOptions, args)
    with Store(args.store) as store:
        repository = add_repository(store, args.target, args.name, options, trace_files if args.trace else None)
        print(_summary(store, repository))
        return int(store.counts(repository)["failed"] > 0)


def _remove(args: argparse.Namespace) -> int:
    with _present(args) as store:
        for name in args.names:  # a wrong name among them removes nothing
            store.repository(name)
        for name in args.names:
            repository = store.repository(name)
            print(f"removed {_summary(store, repository)}")
            store.remove_repository(name)
            # A folder of the user's, which is referred to where it is, stays.
            clone = repository_folder(store, name) / "source"
            if repository.source == str(clone):
                remove_tree(clone)
    return 0


# -- Command line ----------------------------------------------------------------------------------------------------


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the commands of the store."""
    add = commands.add_parser("add", help="Add a repository to the store, and trace it.")
    add.add_argument("target", metavar="PATH_OR_URL[@COMMIT]", help="A folder, or an address that is cloned.")
    add.add_argument("--name", help="What it is called (default: the last part of its address).")
    add.add_argument("--no-trace", dest="trace", action="store_false", help="Leave its files unread for now.")
    add_flags(add, AddOptions)

    listed = commands.add_parser("list", help="List the repositories of the store.")
    listed.add_argument(
        "--by",
        choices=("date", "difficulty"),
        default="date",
        help="In which order: as added, or as to learn from them.",
    )
    show = commands.add_parser("show", help="Show a repository: counts, open theorems, proofs found.")
    show.add_argument("name", metavar="NAME")
    show.add_argument("--max", type=int, default=SHOWN, metavar="N", help="How many theorems of a kind to name.")
    for command in (listed, show):
        command.add_argument("--json", action="store_true", help="Print JSON, one object per line.")

    remove = commands.add_parser("remove", help="Remove repositories from the store, with the proofs found for them.")
    remove.add_argument("names", metavar="NAME", nargs="+")

    export = commands.add_parser("export", help="Write repositories as a data set.")
    export.add_argument("names", metavar="NAME", nargs="+")
    export.add_argument(
        "--format",
        choices=("leandojo", "leantree", "database"),
        default="leandojo",
        help=f"LeanDojo's data set, LeanTree JSONL, or LeanDojo-v2's {DATABASE}.",
    )
    export.add_argument("--out", type=Path, required=True, metavar="DIR", help="Folder to write to.")
    export.add_argument(
        "--splits",
        choices=("stable", "leandojo"),
        default="stable",
        help="How LeanDojo's data set is split: by hashes, so that no theorem ever moves, or drawn as LeanDojo does.",
    )
    export.add_argument(
        "--redraw", action="store_true", help="Choose the held-out premises anew; theorems of novel_premises move."
    )
    export.add_argument("--push", metavar="OWNER/NAME", help="Data set of the hub to push the export to, with a card.")
    export.add_argument("--private", action="store_true", help="A data set that --push makes is for its owner alone.")
    read = commands.add_parser("import", help=f"Read LeanDojo's data set, or {DATABASE}, into the store.")
    read.add_argument("path", metavar="FILE_OR_DIR", type=Path)
    read.add_argument("--name", help="What it is called (default: the last part of its address).")
    runs = {add: _add, listed: _list, show: _show, remove: _remove, export: _export, read: _import}
    for command, run in runs.items():
        command.add_argument(
            "--store", type=Path, metavar="FILE", help="The store (default: $NANOPROOF_HOME/repos/store.sqlite)."
        )
        command.set_defaults(run=run)
