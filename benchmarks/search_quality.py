"""Compare settings of the search: theorems solved, and what that cost, with paired tests.

    python -m benchmarks.search_quality --model-path sft/<run> --output-dir /tmp/quality [--json PATH]
    python -m benchmarks.search_quality ... --table arms.txt --variants full no-value --search-finishers none

An arm is a setting: an entry `name: flags` of VARIANTS, CANDIDATES or a `--table`. Each is scored by
`scripts.prover_eval` with every network, set of theorems and seed, in a directory of its own below --output-dir.
Started again, it goes on where it was stopped: what is done is not done again. Flags that are not its own are handed to
`scripts.prover_eval` for all arms alike (`--lean-processes 2`, `--search-finishers simp omega grind`); those of an arm
come after them.
"""

import argparse
import resource
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.measurement import Result, first_line, result, write_results
from nanoproof.common.config import Parser, add_flags, check, from_args, opt, to_dict, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json, read_json
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
    "dead-ends-1": "--search-dead-end-expansions 1",
}
"""Arms of single options that are off by default (docs/search.md); a `--table` names others."""

SEEDLESS = "solver-only"
"""A policy that draws nothing: one seed is all seeds, and there is no network."""


@validated("quality")
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
    table = read_table(options.table)
    known = {**VARIANTS, **CANDIDATES, **table}
    names = dict.fromkeys((options.baseline, *(options.variants or table or VARIANTS)))
    unknown = [name for name in names if name not in known]
    check(not unknown, f"no such arm: {', '.join(unknown)}; there are {', '.join(known)}")
    return {name: f"{TREE_SEARCH} {known[name]}".rstrip() for name in names}


def read_table(file: str | None) -> dict[str, str]:
    """Return the flags of the arms of a `--table`. Raises UserError for a line that is none."""
    table: dict[str, str] = {}
    if file is None:
        return table
    try:
        lines = Path(file).read_text().splitlines()
    except OSError as error:
        raise UserError(f"--table {file}: {error.strerror}") from error
    for line in lines:
        text = line.partition("#")[0].strip()
        if not text:
            continue
        name, colon, flags = text.partition(":")
        # A name is a folder's, too.
        if not colon or not name.strip() or "/" in name:
            raise UserError(f"--table {file}: not a line `name: flags`: {line.strip()[:80]}")
        table[name.strip()] = flags.strip()
    return table


def check_output_dir(options: QualityOptions, arms: Mapping[str, str], extra: list[str]) -> None:
    """Record the options of the output directory. Raises UserError if its evaluations have others.

    Arms, networks, sets and seeds may be added later; an arm that is there must not change.
    """
    names = ("max_theorems", "num_simulations", "split")
    ours = {**{name: to_dict(options)[name] for name in names}, "prover_eval": extra}
    path = Path(options.output_dir) / "quality.json"
    before: dict[str, Any] = read_json(path) if path.exists() else {**ours, "arms": {}}
    theirs = before.get("arms", {})
    # With another budget in some of the cells, a comparison would be of the budgets.
    changed = [name for name in ours if before.get(name) != ours[name]]
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
    return [Cell(arm, *place) for place in product(models, options.datasets, options.seeds)]


def command_of(cell: Cell, flags: str, options: QualityOptions, path: Path) -> list[str]:
    """Return the command that makes the evaluation of a cell, but for the flags that all arms have."""
    command = [sys.executable, "-m", "scripts.prover_eval", "--datasets", cell.dataset, "--continue"]
    command += ["--split", options.split, "--seed", str(cell.seed)]
    command += ["--num-simulations", str(options.num_simulations), "--output-dir", str(path)]
    if options.max_theorems is not None:
        command += ["--max-theorems", str(options.max_theorems)]
    if cell.model is not None:
        command += ["--model-path", cell.model]
    elif SEEDLESS not in flags:
        command += ["--policy", "uniform"]
    return command


def evaluate(cell: Cell, flags: str, options: QualityOptions, extra: list[str]) -> Evaluated:
    """Return the evaluation of a cell, run unless its directory has it. Raises UserError if it did not finish.

    Its summary has the processor seconds of the evaluation and its Lean processes as `processor_seconds`, None if a
    part of it was killed and they are not known.
    """
    path = Path(options.output_dir) / cell.arm / cell.key
    cost = path.with_name(path.name + ".cost.json")
    if not (path / "summary.json").exists():
        # Those of the arm last, as the last of two flags counts.
        command = [*command_of(cell, flags, options, path), *extra, *shlex.split(flags)]
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
    evaluation = read_evaluation(path)
    processor = read_json(cost)["processor_seconds"] if cost.exists() else None
    return Evaluated(path, {**evaluation.summary, "processor_seconds": processor}, evaluation.attempts)


def _processor_seconds() -> float:
    """Return the processor seconds of all child processes that have ended, with theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def over_sets(runs: Mapping[Cell, Evaluated]) -> dict[str, Evaluated]:
    """Put the evaluations of one network and seed on several sets of theorems together."""
    merged: dict[str, Evaluated] = {}
    for cell, run in runs.items():
        key = f"{_slug(cell.model or 'none')}/seed_{cell.seed}"
        before = merged.get(key, run)
        merged[key] = Evaluated(run.path, before.summary, {**before.attempts, **run.attempts})
    return merged


def arm_row(arm: str, flags: str, runs: Mapping[Cell, Evaluated], baseline: Mapping[Cell, Evaluated]) -> dict[str, Any]:
    """Return the figures of an arm over all its runs, and its comparison with the baseline, theorem by theorem.

    An arm without networks and seeds is compared with each run of the baseline.
    """
    ours, theirs = over_sets(runs), over_sets(baseline)
    base_is_seedless = any(SEEDLESS in str(run.summary.get("policy")) for run in theirs.values())
    # Whichever of both draws nothing has one run, which stands for every network and seed of the other.
    only_baseline, only_variant, p_values = 0, 0, []
    for key in theirs if SEEDLESS in shlex.split(flags) else ours:
        first = theirs.get(key)
        if first is None or base_is_seedless:
            first = next(iter(theirs.values()))
        pair = compare(first, ours.get(key) or next(iter(ours.values())))
        only_baseline += pair["cells"]["only_first"]
        only_variant += pair["cells"]["only_second"]
        p_values.append(pair["p"])
    attempts: list[Attempt] = []
    solved, theorems, errors = {}, {}, 0
    for cell, run in runs.items():
        attempts += run.attempts.values()
        outcomes = Counter(attempt.outcome for attempt in run.attempts.values())
        solved[cell.key], theorems[cell.key] = outcomes["proven"], outcomes.total()
        errors += outcomes["error"]
    total = len(attempts)
    rate = sum(solved.values()) / max(1, total)
    low, high = wilson(sum(solved.values()), total)
    return {
        "variant": arm,
        "flags": flags,
        "solved": solved,
        "theorems": theorems,
        "errors": errors,
        "rate": rate,
        "low": low,
        "high": high,
        "per_theorem": costs(attempts, [run.summary for run in runs.values()]),
        "only_baseline": only_baseline,
        "only_variant": only_variant,
        "mcnemar_p": p_values,
        "paired": compare_rates(theirs, ours),
    }


def costs(attempts: list[Attempt], summaries: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return what a theorem cost in the mean, over all runs of an arm."""
    # Equal simulations are not equal costs: an arm may draw more tactics for each, or have more of them refused.
    sums: defaultdict[str, float] = defaultdict(float)
    for attempt in attempts:
        for name in ("simulations", "tactic_samples", "tactics_run"):
            sums[name] += attempt.counts.get(name, 0)
        for name in ("lean", "policy"):
            sums[f"{name}_seconds"] += attempt.seconds.get(name, 0.0)
    processor = [summary["processor_seconds"] for summary in summaries]
    sums["processor_seconds"] = 0.0 if None in processor else sum(processor)
    sums["wall_seconds"] = sum(summary["seconds"] for summary in summaries)
    means: dict[str, float | None] = {name: value / max(1, len(attempts)) for name, value in sums.items()}
    if None in processor:
        means["processor_seconds"] = None
    return means


def markdown(rows: list[dict[str, Any]], baseline: str) -> str:
    """Render the table. Intervals take all runs as independent, the test takes each theorem once."""
    lines = [
        f"| search | flags | solved | rate (95%) | less {baseline}: points | only {baseline} / this | p | simulations "
        "| samples | tactics | Lean s | policy s | processor s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        name = row["variant"] + (f" ({row['errors']} errors)" if row["errors"] else "")
        flags = f"`{row['flags']}`" if row["flags"] else ""
        totals = ", ".join(map(str, dict.fromkeys(row["theorems"].values())))
        cells = [name, flags, f"{', '.join(map(str, row['solved'].values()))} of {totals}"]
        cells.append(f"{100 * row['rate']:.1f}% ({100 * row['low']:.1f}-{100 * row['high']:.1f}%)")
        if row["variant"] == baseline:
            cells += ["", "", ""]
        else:
            paired = row["paired"]
            cells += [f"{100 * paired['difference']:+.1f}", f"{row['only_baseline']} / {row['only_variant']}"]
            cells.append(f"{paired['p']:.2g}")
        cost = row["per_theorem"]
        processor = "" if cost["processor_seconds"] is None else f"{cost['processor_seconds']:.2f}"
        cells += [f"{cost['simulations']:.1f}", f"{cost['tactic_samples']:.1f}", f"{cost['tactics_run']:.1f}"]
        cells += [f"{cost['lean_seconds']:.2f}", f"{cost['policy_seconds']:.2f}", processor]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def to_results(rows: list[dict[str, Any]], options: QualityOptions) -> list[Result]:
    """Return the figures in the form of all benchmarks: an arm is ours, the baseline the baseline."""
    base = rows[0]["rate"]  # the baseline is the first of the arms
    given = {name: to_dict(options)[name] for name in ("model_path", "datasets", "split", "num_simulations", "seeds")}
    results = []
    for row in rows:
        name = f"search quality: {row['variant']} against {options.baseline}"
        ratio = round(row["rate"] / base, 3) if base else None
        ours, unit, details = round(row["rate"], 4), "theorems solved", {**row, **given}
        # What is solved does not depend on the machine.
        results.append(result(name, unit, ours, round(base, 4), ratio, details, hardware=""))
    return results


def parse_args(argv: list[str] | None) -> tuple[QualityOptions, list[str]]:
    """Parse our options; return them with the flags for `scripts.prover_eval`."""
    parser = Parser(
        prog="python -m benchmarks.search_quality",
        description=first_line(__doc__),
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
    runs: defaultdict[str, dict[Cell, Evaluated]] = defaultdict(dict)
    cells: list[Cell] = []
    for arm, flags in arms.items():
        cells += cells_of(arm, flags, options)
    # Seed by seed, so that who stops it early has all arms with the first of them.
    for cell in sorted(cells, key=lambda cell: options.seeds.index(cell.seed)):
        runs[cell.arm][cell] = evaluate(cell, arms[cell.arm], options, extra)
    rows = [arm_row(arm, flags, runs[arm], runs[options.baseline]) for arm, flags in arms.items()]
    print(f"\n{markdown(rows, options.baseline)}")
    write_results(options.json, to_results(rows, options))
    return 0


if __name__ == "__main__":
    run_main(main)
