"""Ablate the search: theorems solved with each part of it, and without it.

    python -m benchmarks.search_quality --model-path sft/<run> --output-dir /tmp/quality [--json PATH] [--markdown PATH]

Each variant of the search is scored with each seed by `scripts.prover_eval` on the first theorems of the embedded test
set, in a directory of its own below --output-dir. Started again, it resumes where it was stopped: what is done is not
done again. Flags that are not its own are handed to `scripts.prover_eval` (`--lean-processes 2`, `--search-gamma 0.9`).
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, to_dict, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json, atomic_write_text, read_json
from nanoproof.common.option_groups import CheckpointOption
from nanoproof.evaluation.compare import Evaluated, compare, compare_rates, read_evaluation
from nanoproof.evaluation.summary import wilson

FULL = "full"
VARIANTS: dict[str, tuple[str, tuple[str, ...]]] = {
    FULL: ("full search", ()),
    "no-merging": ("without merging of equal states", ("--no-search-merge-same-state",)),
    "no-value": ("without the value head", ("--no-search-use-value",)),
    "temperature-1": ("prior temperature 1", ("--search-prior-temperature", "1")),
    "best-first": ("best-first by log-probability", ("--search-algorithm", "best-first")),
    "alphaproof": ("preset alphaproof", ("--search-preset", "alphaproof")),
    "solver-only": ("solver tactics only, no model", ()),
}
SEEDLESS = ("solver-only",)
"""Variants that draw nothing: one seed is all seeds."""


@dataclass(frozen=True)
class QualityOptions:
    """Quality of the search"""

    output_dir: str = opt(help="Where the evaluations go; what is there already is not done again.")
    checkpoint: CheckpointOption = group(
        CheckpointOption,
        model_path=change(help="Checkpoint whose network suggests tactics; without it the uniform policy does."),
    )
    variants: tuple[str, ...] = opt(tuple(VARIANTS), "Which variants to compare; `full` is always among them.")
    seeds: tuple[int, ...] = opt((0, 1), "Seeds; each variant is scored with each.")
    max_theorems: int = opt(100, "The first so many theorems of the set.", min=1)
    num_simulations: int = opt(64, "Simulations for each theorem.", min=1)
    split: str = opt("test", "Which theorems of the embedded benchmark.", choices=("valid", "test"))
    json: str | None = opt(None, "Write the figures to this file.")
    markdown: str | None = opt(None, "Write the table to this file.")

    def __post_init__(self) -> None:
        validate(self, "quality")
        unknown = [name for name in self.variants if name not in VARIANTS]
        check(not unknown, f"--variants must be among {', '.join(VARIANTS)}; got {', '.join(unknown)}")


def check_output_dir(options: QualityOptions, extra: list[str]) -> None:
    """Record the options of the output directory. Raises UserError if its evaluations have others."""
    names = ("model_path", "max_theorems", "num_simulations", "split")
    ours = {**{name: to_dict(options)[name] for name in names}, "prover_eval": extra}
    path = Path(options.output_dir) / "quality.json"
    if path.exists() and (theirs := read_json(path)) != ours:
        changed = ", ".join(name for name in ours if theirs.get(name) != ours[name])
        raise UserError(f"--output-dir {options.output_dir} holds evaluations with other options: {changed}")
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_json(path, ours)


def evaluate(options: QualityOptions, variant: str, seed: int, extra: list[str]) -> Evaluated:
    """Return the evaluation of one cell, run unless its directory has it. Raises UserError if it did not finish."""
    path = Path(options.output_dir) / variant / f"seed_{seed}"
    if not (path / "summary.json").exists():
        policy = ["--policy", "uniform"]
        if variant == "solver-only":
            policy = ["--policy", "solver-only"]
        elif options.checkpoint.model_path is not None:
            policy = ["--model-path", options.checkpoint.model_path]
        command = [
            *(sys.executable, "-m", "scripts.prover_eval", *policy, "--datasets", "nanolean", "--continue"),
            *("--split", options.split, "--max-theorems", str(options.max_theorems), "--seed", str(seed)),
            *("--num-simulations", str(options.num_simulations), "--output-dir", str(path)),
            *(*extra, *VARIANTS[variant][1]),
        ]
        print(f"== {VARIANTS[variant][0]}, seed {seed}", flush=True)
        if (code := subprocess.run(command).returncode) != 0:
            raise UserError(f"{variant}, seed {seed}: prover_eval ended with status {code}; start again to go on")
    return read_evaluation(path)


def variant_row(variant: str, runs: dict[str, Evaluated], full: dict[str, Evaluated]) -> dict[str, Any]:
    """Return the figures of a variant over all seeds, and its comparison with the full search, theorem by theorem."""
    summaries = [run.summary for run in runs.values()]
    solved, total = (sum(summary[name] for summary in summaries) for name in ("solved", "total"))
    low, high = wilson(solved, total)
    pairs = [compare(full[seed], run) for seed, run in runs.items()]
    return {
        "variant": variant,
        "what": VARIANTS[variant][0],
        "solved": [summary["solved"] for summary in summaries],
        "theorems": summaries[0]["total"],
        "errors": sum(summary["errors"] for summary in summaries),
        "rate": solved / total,
        "low": low,
        "high": high,
        "simulations_per_theorem": sum(summary["simulations_used"] for summary in summaries) / total,
        "samples_per_theorem": sum(summary["tactic_samples"] for summary in summaries) / total,
        "seconds": sum(summary["seconds"] for summary in summaries) / len(summaries),
        "only_full": sum(pair["cells"]["only_first"] for pair in pairs),
        "only_variant": sum(pair["cells"]["only_second"] for pair in pairs),
        "mcnemar_p": [pair["p"] for pair in pairs],
        "paired": compare_rates(full, runs),
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """Render the table. Intervals take the runs of all seeds as independent, the test takes each theorem once."""
    lines = [
        "| search | solved | rate (95%) | less full: points | only full / this | p | simulations | samples | s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        against = ["", "", ""]
        if r["variant"] != FULL:
            paired = r["paired"]
            against = [
                f"{100 * paired['difference']:+.1f}",
                f"{r['only_full']} / {r['only_variant']}",
                f"{paired['p']:.2g}",
            ]
        cells = [
            r["what"] + (f" ({r['errors']} errors)" if r["errors"] else ""),
            f"{', '.join(map(str, r['solved']))} of {r['theorems']}",
            f"{100 * r['rate']:.1f}% ({100 * r['low']:.1f}-{100 * r['high']:.1f}%)",
            *against,
            f"{r['simulations_per_theorem']:.1f}",
            f"{r['samples_per_theorem']:.0f}",
            f"{r['seconds']:.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def to_results(rows: list[dict[str, Any]], options: QualityOptions) -> list[dict[str, Any]]:
    """Return the figures in the form of all benchmarks: the full search is ours, the variant the baseline."""
    full = next(r for r in rows if r["variant"] == FULL)
    return [
        {
            "name": f"search quality: full search against {r['what']}",
            "ratio": round(full["rate"] / r["rate"], 3) if r["rate"] else None,
            "ours": round(full["rate"], 4),
            "baseline": round(r["rate"], 4),
            "unit": "theorems solved",
            "hardware": "",
            "details": {**r, "num_simulations": options.num_simulations, "seeds": list(options.seeds)},
        }
        for r in rows
        if r["variant"] != FULL
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
    """Run the ablation and write its table."""
    options, extra = parse_args(argv)
    check_output_dir(options, extra)
    evaluated: dict[str, dict[str, Evaluated]] = {}
    for seed in options.seeds:
        for variant in dict.fromkeys((FULL, *options.variants)):
            drawn = options.seeds[0] if variant in SEEDLESS else seed
            evaluated.setdefault(variant, {})[str(seed)] = evaluate(options, variant, drawn, extra)
    rows = []
    for variant, runs in evaluated.items():
        own = dict([next(iter(runs.items()))]) if variant in SEEDLESS else runs
        rows.append(variant_row(variant, own, evaluated[FULL]))
    table = markdown(rows)
    print(f"\n{table}")
    if options.markdown is not None:
        atomic_write_text(Path(options.markdown), table)
    if options.json is not None:
        atomic_write_text(Path(options.json), json.dumps(to_results(rows, options), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    run_main(main)
