"""Compare settings of the search: theorems solved, and what that cost, with paired tests.

    python -m benchmarks.search_quality --model-path sft/<run> --output-dir /tmp/quality [--json PATH] [--markdown PATH]
    python -m benchmarks.search_quality ... --table arms.txt --variants full no-value --search-finishers none

An arm is a setting: an entry `name: flags` of VARIANTS, CANDIDATES or a `--table`. Each is scored by
`scripts.prover_eval` with every network, set of theorems and seed, in a directory of its own below --output-dir.
Started again, it goes on where it was stopped: what is done is not done again. Flags that are not its own are handed to
`scripts.prover_eval` for all arms alike (`--lean-processes 2`, `--search-finishers simp omega grind`); those of an arm
come after them.
"""

import argparse
import json
import resource
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, to_dict, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json, atomic_write_text, read_json
from nanoproof.evaluation.compare import Evaluated, compare, compare_rates, read_evaluation
from nanoproof.evaluation.summary import wilson
from nanoproof.prover.attempt import Attempt

FULL = "full"
TREE_SEARCH = "--search-algorithm mcts"
"""What every arm begins with; one with another algorithm says so after it."""
VARIANTS = {
    FULL: "",
    "no-value": "--no-search-use-value",
    "temperature-1": "--search-prior-temperature 1",
    "best-first": "--search-algorithm best-first",
    "alphaproof": "--search-preset alphaproof",
    "solver-only": "--policy solver-only",
}
"""The arms of the ablation in docs/experiments.md."""

CANDIDATES = {
    "first-play-parent": "--search-unvisited-penalty 0",
    "dead-ends-1": "--search-dead-end-expansions 1",
    "dead-ends-3": "--search-dead-end-expansions 3",
    "no-legal-40": "--search-no-legal-value -40",
    "best-first-finisher-2": "--search-algorithm best-first --search-finisher-logprob -2",
    "best-first-value-0.3": "--search-algorithm best-first --search-value-weight 0.3",
    "best-first-value-1": "--search-algorithm best-first --search-value-weight 1",
}
"""Arms of single options that are off by default (docs/search.md)."""

SEEDLESS = "solver-only"
"""A policy that draws nothing: one seed is all seeds, and there is no network."""


@dataclass(frozen=True)
class QualityOptions:
    """Quality of the search"""

    output_dir: str = opt(help="Where the evaluations go; what is there already is not done again.", also=("--out",))
    model_path: tuple[str, ...] = opt((), "Networks that suggest tactics; without any the uniform policy does.")
    table: str | None = opt(None, "File of more arms, a line `name: flags` for each; # begins a comment.")
    variants: tuple[str, ...] = opt((), "Arms to compare; default: those of the table, else those of VARIANTS.")
    baseline: str = opt(FULL, "The arm that the others are compared with.")
    seeds: tuple[int, ...] = opt((0, 1), "Seeds; each arm is scored with each.")
    datasets: tuple[str, ...] = opt(("nanolean",), "Sets or files of theorems.", metavar="NAME")
    max_theorems: int | None = opt(100, "The first so many theorems of each set; none: all.", min=1)
    num_simulations: int = opt(64, "Simulations for each theorem.", min=1)
    split: str = opt("test", "Which theorems of the sets.", choices=("valid", "test"))
    json: str | None = opt(None, "Write the figures to this file.")
    markdown: str | None = opt(None, "Write the table to this file.")

    def __post_init__(self) -> None:
        validate(self, "quality")


@dataclass(frozen=True)
class Cell:
    """One evaluation of an arm; `key` names it among those of the arm."""

    arm: str
    model: str | None
    dataset: str
    seed: int

    @property
    def key(self) -> str:
        """Network, set of theorems and seed."""
        return f"{_slug(self.model or 'none')}/{_slug(self.dataset)}/seed_{self.seed}"


def _slug(name: str) -> str:
    return name.strip("/").replace("/", "_")


def read_arms(options: QualityOptions) -> dict[str, str]:
    """Return the flags of the arms to compare, the baseline first. Raises UserError for what is none."""
    table: dict[str, str] = {}
    if options.table is not None:
        try:
            lines = Path(options.table).read_text().splitlines()
        except OSError as error:
            raise UserError(f"--table {options.table}: {error.strerror}") from error
        for line in lines:
            text = line.partition("#")[0].strip()
            name, colon, flags = text.partition(":")
            if text and (not colon or not name.strip() or "/" in name):
                raise UserError(f"--table {options.table}: not a line `name: flags`: {line.strip()[:80]}")
            if text:
                table[name.strip()] = flags.strip()
    known = {name: f"{TREE_SEARCH} {flags}".rstrip() for name, flags in {**VARIANTS, **CANDIDATES, **table}.items()}
    names = list(dict.fromkeys((options.baseline, *(options.variants or table or VARIANTS))))
    unknown = [name for name in names if name not in known]
    check(not unknown, f"no such arm: {', '.join(unknown)}; there are {', '.join(known)}")
    return {name: known[name] for name in names}


def check_output_dir(options: QualityOptions, arms: Mapping[str, str], extra: list[str]) -> None:
    """Record the options of the output directory. Raises UserError if its evaluations have others.

    Arms, networks, sets and seeds may be added later; an arm that is there must not change.
    """
    names = ("max_theorems", "num_simulations", "split")
    ours = {**{name: to_dict(options)[name] for name in names}, "prover_eval": extra}
    path = Path(options.output_dir) / "quality.json"
    before: dict[str, Any] = read_json(path) if path.exists() else {}
    theirs = before.get("arms", {})
    changed = [name for name in ours if before and before.get(name) != ours[name]]
    changed += [f"arm {name}" for name in arms if theirs.get(name, arms[name]) != arms[name]]
    if changed:
        raise UserError(f"--output-dir {options.output_dir} holds evaluations with other options: {', '.join(changed)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_json(path, {**ours, "arms": {**theirs, **arms}})


def cells_of(arm: str, flags: str, options: QualityOptions) -> list[Cell]:
    """List the evaluations of an arm."""
    if SEEDLESS in shlex.split(flags):
        return [Cell(arm, None, dataset, options.seeds[0]) for dataset in options.datasets]
    models = options.model_path or (None,)
    return [Cell(arm, *each) for each in product(models, options.datasets, options.seeds)]


def evaluate(cell: Cell, flags: str, options: QualityOptions, extra: list[str]) -> Evaluated:
    """Return the evaluation of a cell, run unless its directory has it. Raises UserError if it did not finish.

    Its summary has the processor seconds of the evaluation and its Lean processes as `processor_seconds`, None if a
    part of it was killed and they are not known.
    """
    path = Path(options.output_dir) / cell.arm / cell.key
    cost = path.with_name(path.name + ".cost.json")
    if not (path / "summary.json").exists():
        command = [
            *(sys.executable, "-m", "scripts.prover_eval", "--datasets", cell.dataset, "--continue"),
            *("--split", options.split, "--seed", str(cell.seed)),
            *("--num-simulations", str(options.num_simulations), "--output-dir", str(path)),
            *(("--max-theorems", str(options.max_theorems)) if options.max_theorems is not None else ()),
            *(("--model-path", cell.model) if cell.model is not None else ()),
            *(("--policy", "uniform") if cell.model is None and SEEDLESS not in flags else ()),
            *(*extra, *shlex.split(flags)),
        ]
        print(f"== {cell.arm} ({flags or 'no flags'}), {cell.key}", flush=True)
        spent = read_json(cost)["processor_seconds"] if cost.exists() else 0.0
        cost.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_json(cost, {"processor_seconds": None})  # what it stays if this process is killed
        before = _processor_seconds()
        try:
            code = subprocess.run(command).returncode
        finally:
            if spent is not None:
                atomic_write_json(cost, {"processor_seconds": round(spent + _processor_seconds() - before, 1)})
        if code != 0:
            raise UserError(f"{cell.arm}, {cell.key}: prover_eval ended with status {code}; start again to go on")
    found = read_evaluation(path)
    processor = read_json(cost)["processor_seconds"] if cost.exists() else None
    return Evaluated(path, {**found.summary, "processor_seconds": processor}, found.attempts)


def _processor_seconds() -> float:
    """Return the processor seconds of all child processes that have ended, with theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def over_sets(runs: Mapping[Cell, Evaluated]) -> dict[str, Evaluated]:
    """Put the evaluations of one network and seed on several sets of theorems together."""
    merged: dict[str, Evaluated] = {}
    for cell, run in runs.items():
        key = f"{_slug(cell.model or 'none')}/seed_{cell.seed}"
        before = merged.get(key)
        attempts = {**(before.attempts if before else {}), **run.attempts}
        merged[key] = Evaluated(run.path, before.summary if before else run.summary, attempts)
    return merged


def arm_row(arm: str, flags: str, runs: Mapping[Cell, Evaluated], baseline: Mapping[Cell, Evaluated]) -> dict[str, Any]:
    """Return the figures of an arm over all its runs, and its comparison with the baseline, theorem by theorem.

    An arm without networks and seeds is compared with each run of the baseline.
    """
    ours, theirs = over_sets(runs), over_sets(baseline)
    if SEEDLESS in shlex.split(flags):
        pairs = [compare(theirs[key], next(iter(ours.values()))) for key in theirs]
    elif any(SEEDLESS in str(run.summary.get("policy")) for run in theirs.values()):
        pairs = [compare(next(iter(theirs.values())), run) for run in ours.values()]
    else:
        pairs = [compare(theirs[key], run) for key, run in ours.items()]
    attempts = [attempt for run in runs.values() for attempt in run.attempts.values()]
    solved, total = sum(attempt.outcome == "proven" for attempt in attempts), len(attempts)
    low, high = wilson(solved, total)
    processor = [run.summary["processor_seconds"] for run in runs.values()]
    return {
        "variant": arm,
        "flags": flags,
        "solved": {
            cell.key: sum(attempt.outcome == "proven" for attempt in run.attempts.values())
            for cell, run in runs.items()
        },
        "theorems": {cell.key: len(run.attempts) for cell, run in runs.items()},
        "errors": sum(attempt.outcome == "error" for attempt in attempts),
        "rate": solved / max(1, total),
        "low": low,
        "high": high,
        "per_theorem": {
            **{name: _mean(attempts, "counts", name) for name in ("simulations", "tactic_samples", "tactics_run")},
            **{f"{name}_seconds": _mean(attempts, "seconds", name) for name in ("lean", "policy")},
            "processor_seconds": None if None in processor else sum(processor) / max(1, total),
            "wall_seconds": sum(run.summary["seconds"] for run in runs.values()) / max(1, total),
        },
        "only_baseline": sum(pair["cells"]["only_first"] for pair in pairs),
        "only_variant": sum(pair["cells"]["only_second"] for pair in pairs),
        "mcnemar_p": [pair["p"] for pair in pairs],
        "paired": compare_rates(theirs, ours),
    }


def _mean(attempts: list[Attempt], field: str, name: str) -> float:
    return sum(getattr(attempt, field).get(name, 0) for attempt in attempts) / max(1, len(attempts))


def markdown(rows: list[dict[str, Any]], baseline: str) -> str:
    """Render the table. Intervals take all runs as independent, the test takes each theorem once."""
    lines = [
        f"| search | flags | solved | rate (95%) | less {baseline}: points | only {baseline} / this | p | simulations "
        "| samples | tactics | Lean s | policy s | processor s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        against = ["", "", ""]
        if r["variant"] != baseline:
            paired = r["paired"]
            against = [
                f"{100 * paired['difference']:+.1f}",
                f"{r['only_baseline']} / {r['only_variant']}",
                f"{paired['p']:.2g}",
            ]
        totals = ", ".join(map(str, dict.fromkeys(r["theorems"].values())))
        cost = r["per_theorem"]
        processor = cost["processor_seconds"]
        cells = [
            r["variant"] + (f" ({r['errors']} errors)" if r["errors"] else ""),
            f"`{r['flags']}`" if r["flags"] else "",
            f"{', '.join(map(str, r['solved'].values()))} of {totals}",
            f"{100 * r['rate']:.1f}% ({100 * r['low']:.1f}-{100 * r['high']:.1f}%)",
            *against,
            *(f"{cost[name]:.1f}" for name in ("simulations", "tactic_samples", "tactics_run")),
            *(f"{cost[name]:.2f}" for name in ("lean_seconds", "policy_seconds")),
            "" if processor is None else f"{processor:.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def to_results(rows: list[dict[str, Any]], options: QualityOptions) -> list[dict[str, Any]]:
    """Return the figures in the form of all benchmarks: an arm is ours, the baseline the baseline."""
    base = next(r for r in rows if r["variant"] == options.baseline)
    given = {name: to_dict(options)[name] for name in ("model_path", "datasets", "split", "num_simulations", "seeds")}
    return [
        {
            "name": f"search quality: {r['variant']} against {options.baseline}",
            "ratio": round(r["rate"] / base["rate"], 3) if base["rate"] else None,
            "ours": round(r["rate"], 4),
            "baseline": round(base["rate"], 4),
            "unit": "theorems solved",
            "hardware": "",
            "details": {**r, **given},
        }
        for r in rows
    ]


def parse_args(argv: list[str] | None) -> tuple[QualityOptions, list[str]]:
    """Parse our options; return them with the flags for `scripts.prover_eval`."""
    parser = Parser(
        prog="python -m benchmarks.search_quality",
        description=(__doc__ or "").splitlines()[0],
        epilog="Other flags are handed to scripts.prover_eval.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add_flags(parser, QualityOptions)
    args, extra = parser.parse_known_args(argv)
    return from_args(QualityOptions, args), extra


def main(argv: list[str] | None = None) -> int:
    """Run all arms, seed by seed, and write the table."""
    options, extra = parse_args(argv)
    arms = read_arms(options)
    check_output_dir(options, arms, extra)
    runs: dict[str, dict[Cell, Evaluated]] = {arm: {} for arm in arms}
    cells = [cell for arm, flags in arms.items() for cell in cells_of(arm, flags, options)]
    for cell in sorted(cells, key=lambda cell: options.seeds.index(cell.seed)):
        runs[cell.arm][cell] = evaluate(cell, arms[cell.arm], options, extra)
    rows = [arm_row(arm, flags, runs[arm], runs[options.baseline]) for arm, flags in arms.items()]
    table = markdown(rows, options.baseline)
    print(f"\n{table}")
    if options.markdown is not None:
        atomic_write_text(Path(options.markdown), table)
    if options.json is not None:
        atomic_write_text(Path(options.json), json.dumps(to_results(rows, options), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    run_main(main)
