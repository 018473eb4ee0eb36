"""List, compare, name and remove runs: `python -m nanoproof.runs list`, what the monitor's first page shows.

python -m nanoproof.runs list [WORD...]              # all runs of $NANOPROOF_HOME, or those with these words
python -m nanoproof.runs show RUN                    # what a run is, how it fares, its newest metrics
python -m nanoproof.runs diff RUN RUN                # options, versions and figures that differ
python -m nanoproof.runs note RUN --title "a name" --note "what it was for"
python -m nanoproof.runs rm RUN... [--yes]
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_object
from nanoproof.common.run_dir import LOCK, RunLock, home, resolve_run_dir, run_name
from nanoproof.common.terminal import print_lines, printable, shorten, size, table
from nanoproof.monitor.identity import identity, read_note, write_note
from nanoproof.monitor.reader import RunReader
from nanoproof.monitor.runs import RunList, is_run
from nanoproof.monitor.schema import EvaluationScore, LiveOverview, RunIdentity, RunRow

WHAT = ("list", "show", "diff", "note", "rm")
_READ_SECONDS = 20.0
_MOVED = "{name}.removed"


@validated("runs")
class RunsOptions:
    """Runs."""

    folder: str | None = opt(None, "Folder of runs: absolute, or relative to $NANOPROOF_HOME (default: all of that).")
    title: str | None = opt(None, "note: a name for the run, which the list shows beside its folder; '' removes it.")
    note: str | None = opt(None, "note: what is worth knowing of the run; '' removes it.")
    yes: bool = opt(False, "rm: do not ask.")
    json: bool = opt(False, "list: print the rows as JSON instead of a table.")


# -- list --------------------------------------------------------------------------------------------------------------


def matching(rows: Sequence[RunRow], words: Sequence[str]) -> list[RunRow]:
    """Return the rows in whose name, title, note, stage, state, commit or machine all words stand, in any case."""
    names = ("name", "title", "note", "stage", "commit", "host")

    def text(row: RunRow) -> str:
        return " ".join([row["state"]["name"], *(str(row[name]) for name in names)]).lower()  # type: ignore[literal-required]

    return [row for row in rows if all(word.lower() in text(row) for word in words)]


def list_lines(folder: Path, words: Sequence[str], as_json: bool = False) -> Iterator[str]:
    """Yield the table of the runs below a folder, the newest first."""
    rows = matching(RunList(folder).runs()["items"], words)
    if as_json:
        yield json.dumps(rows, indent=2)
        return
    if not rows:
        yield f"no run in {folder}" + (f" with {' '.join(words)}" if words else "")
        return
    titled = any(row["title"] for row in rows)
    headers = ["run", "stage", "state", ">step", ">loss", "newest score", "last heard of", "name"]
    cells = [[*_cells(row), shorten(row["title"], 40)] for row in rows]
    shown = len(headers) - (not titled)
    yield from table(headers[:shown], [one[:shown] for one in cells])


def _cells(row: RunRow) -> list[str]:
    steps = "" if row["step"] is None else f"{row['step']:,}"
    planned = f" of {row['num_steps']:,}" if row["num_steps"] and steps else ""
    loss = "" if row["loss"] is None else f"{row['loss']:.4g}"
    name, stage = printable(row["name"]), printable(row["stage"])
    return [name, stage, row["state"]["name"], steps + planned, loss, _score(row["score"]), _when(row["updated"])]


def _score(score: EvaluationScore | None) -> str:
    if score is None or not score["total"]:
        return ""
    rate = score["solved"] / score["total"]
    return f"{rate:.1%} ({score['low']:.0%} to {score['high']:.0%}) of {printable(score['dataset'])}"


def _when(moment: float | None) -> str:
    return "" if moment is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


# -- show and diff -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Described:
    """A run as it is described: what it is, how it fares, and the options that it was started with."""

    path: Path
    what: RunIdentity
    live: LiveOverview
    args: dict[str, Any]


def describe(path: Path) -> Described:
    """Read a run; of a huge one as much as can be read in some seconds."""
    reader = RunReader(path)
    deadline = time.monotonic() + _READ_SECONDS
    reader.poll()
    while reader.has_more and time.monotonic() < deadline:
        reader.poll()
    args, meta = (read_object(path / name) or {} for name in ("args.json", "meta.json"))
    return Described(path, identity(path, args, meta), reader.live_overview(), args)


def show_lines(run: Described) -> Iterator[str]:
    """Yield what there is to know of a run, a fact a line."""
    what, live, note = run.what, run.live, read_note(run.path)
    facts = {"name": note["title"], "folder": str(run.path), "state": live["state"]["name"]}
    if live["state"]["since"] is not None:
        facts["state"] += f", last heard of {_when(live['state']['since'])}"
    if live["step"] is not None:
        facts["step"] = f"{live['step']:,}"
    if live["elapsed"] is not None:
        facts["time"] = f"{live['elapsed']:,.0f} s at work"
    facts |= {"command": what["command"], "resume": what["resume"], "started": _when(what["started"])}
    facts["from"] = what["parent"]
    if what["seed"] is not None:
        facts["seed"] = str(what["seed"])
    facts["commit"] = what["commit"]
    if what["changed"]:
        facts["commit"] += ", with changes that no commit holds"
    facts["machine"] = str(what["hardware"].get("host") or "")
    if live["attempts"]:
        facts["attempts"] = f"{live['attempts']:,}, {live['proofs']:,} of them proofs"
    if what["files"]:
        facts["size"] = f"{size(what['bytes'])}, the largest {what['files'][0]['name']}"
    for name, text in facts.items():
        if text:
            yield f"{name:<10}{printable(text)}"
    rows: list[list[str]] = []
    for name, value in live["metrics"].items():
        if value is not None:
            rows.append([f"  {printable(name)}", f"{value:.6g}"])
    if rows:
        yield "newest metrics"
        yield from table(["  metric", ">value"], rows)
    if note["note"]:
        yield "note"
        for line in note["note"].splitlines():
            yield f"  {printable(line)}"


def differences(first: Described, second: Described) -> list[tuple[str, str, str]]:
    """Return the options, versions, decisions and newest figures in which two runs differ, with both values."""
    different: list[tuple[str, str, str]] = []
    for (kind, a), (_, b) in zip(_compared(first), _compared(second)):
        for name in [*a, *sorted(b.keys() - a.keys())]:
            if a.get(name) != b.get(name):
                different.append((f"{kind}{name}", _text(a.get(name)), _text(b.get(name))))
    return different


def _compared(run: Described) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what of a run is compared with another one, each kind with what is put before its names."""
    yield "--", {name.replace("_", "-"): value for name, value in run.args.items()}
    yield "", {"commit": run.what["commit"], "changed": run.what["changed"]}
    yield "", run.what["versions"]
    yield "decided: ", run.what["decisions"]
    yield "newest ", _figures(run)


def _figures(run: Described) -> dict[str, Any]:
    return {"step": run.live["step"], "state": run.live["state"]["name"], **run.live["metrics"]}


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:.6g}" if isinstance(value, float) else json.dumps(value)


def diff_lines(first: Described, second: Described) -> Iterator[str]:
    """Yield a table of what differs."""
    different = differences(first, second)
    if not different:
        yield "no difference: the same options, versions and newest figures"
        return
    headers = ["", printable(run_name(first.path)), printable(run_name(second.path))]
    yield from table(headers, [[name, shorten(a, 60), shorten(b, 60)] for name, a, b in different])


# -- rm ----------------------------------------------------------------------------------------------------------------


def removable(path: Path) -> Path:
    """Return the folder of a run that nobody writes. Raises UserError for others."""
    if path.is_symlink() or ".." in path.parts or not is_run(path):
        raise UserError(f"{path} is no run that can be removed here: it has no args.json and no metrics, or is a link")
    if path.resolve() == home().resolve() or path.resolve() in Path.cwd().resolve().parents:
        raise UserError(f"{path} holds more than a run; not removed")
    rows = [row for row in RunList(path.parent).runs()["items"] if Path(row["name"]).parts[0] == path.name]
    for row in rows:  # also those of the rounds of an experiment
        name, state = run_name(path.parent / row["name"]), row["state"]["name"]
        if state == "silent":
            raise UserError(f"{name} is of another machine; if it is over, remove {path.parent / row['name'] / LOCK}")
        if state in ("running", "stalled"):
            raise UserError(f"{name} is {state}: end it first")
    return path


def remove(path: Path) -> None:
    """Remove a run, all or nothing of it from the list: its folder gets another name first. Raises UserError."""
    RunLock(path).release()  # raises where a process has it, here or elsewhere
    moved = path.with_name("." + _MOVED.format(name=path.name))
    try:
        os.rename(path, moved)
        shutil.rmtree(moved)
    except OSError as error:
        raise UserError(f"{path} cannot be removed: {error.strerror or error} ({error.filename})") from error


def _confirmed(paths: Sequence[Path]) -> bool:
    total = sum(map(bytes_of, paths))
    question = f"remove {', '.join(run_name(path) for path in paths)} ({size(total)})? [y/N] "
    if not sys.stdin.isatty():
        raise UserError("rm asks before it removes anything, and there is nobody to answer: add --yes")
    return input(question).strip().lower() in ("y", "yes")


def bytes_of(path: Path) -> int:
    """Return the bytes of all files below a folder; links are not followed."""
    return sum(os.lstat(Path(folder, name)).st_size for folder, _, names in os.walk(path) for name in names)


# -- The command -------------------------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the first word says."""
    parser = Parser(prog="python -m nanoproof.runs", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=WHAT, help="what to do")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="runs, as in rl/<run>; of list: words to look for")
    add_flags(parser, RunsOptions)
    args = parser.parse_args(argv)
    options: RunsOptions = from_args(RunsOptions, args)
    folder = home() if options.folder is None else resolve_run_dir(options.folder, "--folder")
    if args.what == "list":
        if not folder.is_dir():
            raise UserError(f"{folder} is not there yet: no run has been made; --folder names another one")
        print_lines(list_lines(folder, args.runs, options.json))
        return 0
    paths = [resolve_run_dir(text if options.folder is None else str(folder / text), "RUN") for text in args.runs]
    wanted = {"show": 1, "note": 1, "diff": 2}.get(args.what)
    if not paths or wanted not in (None, len(paths)):
        raise UserError(f"{args.what} takes {wanted or 'one or more'} RUN, as in rl/<run>: {len(paths)} given")
    if args.what == "show":
        print_lines(show_lines(describe(paths[0])))
    elif args.what == "diff":
        print_lines(diff_lines(describe(paths[0]), describe(paths[1])))
    elif args.what == "note":
        known = read_note(paths[0])
        if options.title is None and options.note is None:
            raise UserError("note takes --title TEXT, --note TEXT, or both")
        title = known["title"] if options.title is None else options.title
        write_note(paths[0], title, known["note"] if options.note is None else options.note)
        print(f"written: {paths[0] / 'note.json'}")
    else:
        paths = [removable(path) for path in dict.fromkeys(paths)]
        if not options.yes and not _confirmed(paths):
            print("nothing removed")
            return 1
        for path in paths:
            remove(path)
            print(f"removed: {path}")
    return 0


if __name__ == "__main__":
    run_main(main)
