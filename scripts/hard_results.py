"""Score provers on `nanolean-hard` and `nanolean-premise`, and write `docs/results.md` from what is there.

    python -m scripts.hard_results --out DIR --sft quickstart/sft --rl quickstart/rl   # run what is missing, then write
    python -m scripts.hard_results --out DIR --only-write                              # write from what is there

Each arm is a policy with a search; each is run with every seed and number of simulations by `scripts.prover_eval`, in
`DIR/ARM/SIMULATIONS/seed_N/eval_SET_test`. Started again, it resumes where it was stopped. The same solvers are tried
at every node in all arms, unless the arm's name says otherwise.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_text
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.data.nanolean import HARD, PREMISE, part_of
from nanoproof.evaluation.compare import Evaluated, compare_rates, read_evaluation
from nanoproof.evaluation.summary import wilson
from nanoproof.lean.certificates import accepted_by
from scripts.small_runs import SAMPLING, SEARCH, Commands, evaluation_name

SETS = (HARD, PREMISE)
NO_NETWORK = {"solver-only": ["--policy", "solver-only"], "uniform": ["--policy", "uniform"]}
SEARCHES: dict[str, tuple[str, list[str]]] = {
    "": ("", []),
    "best-first": (", best-first", ["--search-algorithm", "best-first"]),
    "default": (
        ", tree search with the default constants",
        [
            *("--search-algorithm", "mcts", "--search-dead-end-expansions", "0", "--search-c-base", "200"),
            *("--search-prior-temperature", "200", "--search-unvisited-penalty", "16"),
        ],
    ),
    "no-value": (", without the value", ["--no-search-use-value"]),
    "no-solvers": (", without solvers", ["--search-finishers", "none"]),
    "steps": (", twelve steps of the state beside", ["--step-tactics", "12"]),
}
"""What is changed of the search of `small_runs.SEARCH`, with the flags that do."""
TITLES = {
    "solver-only": "solvers alone",
    "uniform": "no network: general tactics, equally likely",
    "sft": "finetuned",
    "control": "control: finetuned for as many updates as RL",
    "rl": "after RL",
}
SEEDLESS = ("solver-only",)
"""Arms that draw nothing: one seed is all seeds."""


@dataclass(frozen=True)
class ResultsOptions:
    """Results on the hard sets."""

    out: str = opt(help="Where the evaluations go; what is there is not done again.")
    sft: str | None = opt(None, "The finetuned network.")
    rl: str | None = opt(None, "The network after RL.")
    control: str | None = opt(None, "The control of RL.")
    proofs: str | None = opt(None, "A network finetuned to write whole proofs, scored with 32 samples of each theorem.")
    searches: tuple[str, ...] = opt(
        ("default", "best-first", "no-value", "no-solvers"),
        f"Other searches of sft and rl: {', '.join(filter(None, SEARCHES))}.",
    )
    seeds: tuple[int, ...] = opt((0, 1, 2), "Seeds of the search.")
    budgets: tuple[int, ...] = opt((64,), "Simulations.")
    long_budget: int | None = opt(None, "A larger number of simulations, for the first --long-theorems only.")
    long_theorems: int = opt(20, "Theorems of each set to give --long-budget.", min=1)
    max_theorems: int | None = opt(None, "The first so many theorems of each set only.", min=1)
    split: str = opt("test", "Which theorems.", choices=("valid", "test"))
    ranks: int = opt(2, "Ranks of each evaluation.", min=1)
    lean_processes: int = opt(16, "NanoLean processes of each rank.", min=1)
    only_write: bool = opt(False, "Run nothing; write the page from what is there.")
    about: str = opt("", "What the networks are, for the page.")
    page: str = opt(str(REPO_ROOT / "docs" / "results.md"), "The page to write.", metavar="FILE")

    def __post_init__(self) -> None:
        validate(self, "results")
        unknown = [name for name in self.searches if name not in SEARCHES]
        check(not unknown, f"--searches must be among {', '.join(filter(None, SEARCHES))}; got {', '.join(unknown)}")


WHOLE = "whole-proofs"
WHOLE_SETS = ("nanolean", HARD)
WHOLE_FLAGS = ["--whole-proofs", "--samples", "32", "--proof-max-new-tokens", "128"]
WHOLE_TITLES = {"proofs": "whole proofs", "tree": "tree search with the finetuned network"}


# -- Running ---------------------------------------------------------------------------------------------------------


def arms(options: ResultsOptions) -> dict[str, list[str]]:
    """Return the flags of each arm by its name, such as `rl` or `rl best-first`."""
    found = dict(NO_NETWORK)
    if "steps" in options.searches:
        found["uniform steps"] = [*NO_NETWORK["uniform"], *SEARCHES["steps"][1]]
    for name, model in (("sft", options.sft), ("control", options.control), ("rl", options.rl)):
        if model is None:
            continue
        found[name] = ["--model-path", model]
        for search in options.searches if name != "control" else ():
            found[f"{name} {search}"] = [*found[name], *SEARCHES[search][1]]
    return found


def run_all(options: ResultsOptions) -> None:
    """Run the evaluations that are not there yet. Raises UserError if one fails."""
    searched = ["--num-simulations", str(options.budgets[0]), *SAMPLING, *SEARCH]
    for name, model, flags in (("proofs", options.proofs, WHOLE_FLAGS), ("tree", options.sft, searched)):
        out = Path(options.out) / WHOLE / name
        there = [(out / evaluation_name(each, options.split) / "summary.json").exists() for each in WHOLE_SETS]
        if options.proofs is not None and model is not None and not all(there):
            _evaluate(options, WHOLE_TITLES[name], WHOLE_SETS, ["--model-path", model, *flags], out, 0)
    budgets = [(budget, options.max_theorems) for budget in options.budgets]
    if options.long_budget is not None:
        budgets.append((options.long_budget, options.long_theorems))
    for (budget, theorems), (arm, flags) in ((b, a) for b in budgets for a in arms(options).items()):
        for seed in options.seeds[:1] if arm in SEEDLESS else options.seeds:
            out = Path(options.out) / arm.replace(" ", "_") / str(budget) / f"seed_{seed}"
            if all((out / evaluation_name(name, options.split) / "summary.json").exists() for name in SETS):
                continue
            words = [*SAMPLING, *SEARCH, *flags, "--num-simulations", str(budget)]
            words += ["--max-theorems", str(theorems)] if theorems is not None else []
            _evaluate(options, f"{arm}, {budget} simulations", SETS, words, out, seed)


def _evaluate(
    options: ResultsOptions, arm: str, datasets: Sequence[str], flags: list[str], out: Path, seed: int
) -> None:
    """Run `scripts.prover_eval` on some sets. Raises UserError if it fails."""
    words = ["scripts.prover_eval", "--datasets", *datasets, "--split", options.split, *flags, "--seed", str(seed)]
    words += ["--device-type", "cpu", "--continue", "--log-level", "warning", "--output-dir", str(out)]
    words += ["--lean-processes", str(options.lean_processes)]
    Commands().run(f"{arm}, seed {seed}", f"{arm}, seed {seed}", words, options.ranks)


# -- Reading and writing ---------------------------------------------------------------------------------------------

Runs = dict[str, Evaluated]
"""The evaluations of an arm, by seed."""


def read_all(out: Path, split: str) -> dict[tuple[str, int], dict[str, Runs]]:
    """Read what is there: for each set and number of simulations the runs of each arm, in the order of the arms."""
    found: dict[tuple[str, int], dict[str, Runs]] = defaultdict(lambda: defaultdict(dict))
    order = [f"{name} {search}".strip() for name in TITLES for search in SEARCHES]
    for arm in order:
        for folder in sorted((out / arm.replace(" ", "_")).glob("*/seed_*")):
            for name in SETS:
                if (folder / evaluation_name(name, split) / "summary.json").exists():
                    runs = found[name, int(folder.parent.name)][arm]
                    runs[folder.name.removeprefix("seed_")] = read_evaluation(folder / evaluation_name(name, split))
    return found


def title(arm: str) -> str:
    """Name an arm in words."""
    name, _, search = arm.partition(" ")
    return TITLES[name] + SEARCHES[search][0]


def page(
    found: dict[tuple[str, int], dict[str, Runs]], about: str, whole: dict[tuple[str, str], Evaluated] | None = None
) -> str:
    """Write the page: a table for each set and number of simulations, the parts of the hard set, whole proofs."""
    parts = [HEAD, about] if about else [HEAD]
    for (name, budget), by_arm in sorted(found.items(), key=lambda item: (SETS.index(item[0][0]), item[0][1])):
        total = next(iter(next(iter(by_arm.values())).values())).summary["total"]
        parts.append(f"## {name}, {total} theorems, {budget} simulations")
        parts.append("\n".join(table(by_arm)))
        parts += verdicts_of(by_arm)
        if len({part for runs in by_arm.values() for part in parts_of(runs)}) > 1:
            parts.append("\n".join(parts_table(by_arm)))
    if whole:
        parts += [WHOLE_HEAD, "\n".join(whole_table(whole))]
    return "\n\n".join(parts) + "\n"


HEAD = """# Results on the hard sets

Written by `python -m scripts.hard_results` from evaluations; [data/README.md](../data/README.md) says what the sets
are. In every arm the same solver tactics (`simp`, `omega`, `grind`) are tried at every node, unless it says *without
solvers*. The search is the tree search of `scripts/small_runs.py` (`SEARCH`) where nothing else is said. Intervals are
95% Wilson intervals over all seeds together. Differences are in points: of another search against that one of the same
network, of a network against the finetuned one and (RL) the control; p is that of a permutation test over theorems,
each with its rate over the seeds. Costs are means per theorem. What RL makes of a small decoder of transformers is
in [experiments.md](experiments.md#rl-of-a-decoder-of-transformers-half-an-hour-2026-11-29).

![Solved theorems of the hard set by simulations](images/hard_results.png)"""


WHOLE_HEAD = """## Whole proofs

A network finetuned to write whole proofs, with `simp`, `omega` and `grind` in the proofs that it learned from, beside
tree search that tries the same at every node. A simulation samples several tactics, a sample is a whole text: 32
simulations of 6 are 192 tactics. Costs are means per theorem: tokens generated (a search does not count them), seconds
of Lean, and of the clock with all theorems at once."""


def read_whole(out: Path, split: str) -> dict[tuple[str, str], Evaluated]:
    """Read the evaluations of whole proofs and of the search beside them, by set and prover."""
    paths = {
        (name, each): out / WHOLE / each / evaluation_name(name, split) for name in WHOLE_SETS for each in WHOLE_TITLES
    }
    return {key: read_evaluation(path) for key, path in paths.items() if (path / "summary.json").exists()}


def whole_table(whole: dict[tuple[str, str], Evaluated]) -> list[str]:
    """Format what whole proofs solve within 1, 8 and 32 samples, and the search within as many simulations."""
    lines = ["| set | prover | within 1 | 8 | 32 | 64 | 95% interval of the last | texts | tokens | Lean s | clock s |"]
    lines.append("|" + "---|" * 11)
    for (name, prover), run in whole.items():
        summary = run.summary
        costs, samples = summary["per_theorem"], summary.get("whole_proofs") or {}
        within = [str(summary["solved_at"].get(str(number), "")) for number in (1, 8, 32, 64)]
        interval = f"{100 * summary['low']:.1f}-{100 * summary['high']:.1f}%"
        tokens = f"{samples['tokens'] / summary['total']:.0f}" if samples else ""
        cells = [f"{name} ({summary['total']})", WHOLE_TITLES[prover], *within, interval]
        cells += [f"{costs['tactic_samples']:.0f}", tokens]
        cells += [f"{costs[each]:.2f}" for each in ("lean_seconds", "wall_seconds")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def table(by_arm: dict[str, Runs]) -> list[str]:
    """Format the scores of the arms."""
    lines = [
        "| prover | solved, by seed | rate | 95% interval | difference | p | simulations | tactic samples | "
        "tactics run | Lean s | policy s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for arm, runs in by_arm.items():
        summaries = [run.summary for run in runs.values()]
        solved, total = (sum(summary[key] for summary in summaries) for key in ("solved", "total"))
        low, high = wilson(solved, total)
        difference, p = _against(arm, by_arm)
        costs = [_mean(summaries, key) for key in ("simulations", "tactic_samples")]
        seconds = [_mean(summaries, key) for key in ("lean_seconds", "policy_seconds")]
        cells = [
            title(arm),
            ", ".join(str(summary["solved"]) for summary in summaries),
            f"{100 * solved / total:.1f}%",
            f"{100 * low:.1f}-{100 * high:.1f}%",
            difference,
            p,
            *(f"{cost:.1f}" for cost in costs),
            f"{_tactics_run(runs):.1f}",
            *(f"{cost:.2f}" for cost in seconds),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def verdicts_of(by_arm: dict[str, Runs]) -> list[str]:
    """Say which checkers accept how many of the proofs, in one paragraph; nothing where no evaluation was judged."""
    sentences = []
    for arm, runs in by_arm.items():
        judged = [run.summary["verdicts"] for run in runs.values() if run.summary.get("verdicts")]
        outside = Counter[str]()
        for verdicts in judged:
            outside.update(verdicts["outside"])
        counts = {key: sum(verdicts[key] for verdicts in judged) for key in ("proofs", "nanolean")}
        if accepted := accepted_by({**counts, "outside": outside}):
            sentences.append(f"{title(arm)}: of {counts['proofs']} proofs {accepted}")
    return [f"Proofs accepted. {'; '.join(sentences)}."] if sentences else []


def _against(arm: str, by_arm: dict[str, Runs]) -> tuple[str, str]:
    """Compare an arm with what it is to be compared with."""
    name, _, search = arm.partition(" ")
    others = [name] if search else {"control": ["sft"], "rl": ["sft", "control"]}.get(name, [])
    found = [compare_rates(*_of_common_seeds(by_arm[other], by_arm[arm])) for other in others if other in by_arm]
    differences = ", ".join(f"{100 * one['difference']:+.1f}" for one in found)
    return differences, ", ".join(f"{one['p']:.2g}" for one in found)


def _of_common_seeds(first: Runs, second: Runs) -> tuple[Runs, Runs]:
    """Return the runs of the seeds that both have; all where there is none."""
    common = first.keys() & second.keys() or first.keys() | second.keys()
    ours, theirs = ({seed: run for seed, run in runs.items() if seed in common} for runs in (first, second))
    return ours, theirs


def _mean(summaries: Sequence[dict[str, Any]], key: str) -> float:
    return sum(summary["per_theorem"].get(key, 0.0) for summary in summaries) / len(summaries)


def _tactics_run(runs: Runs) -> float:
    counts = [attempt.counts.get("tactics_run", 0) for run in runs.values() for attempt in run.attempts.values()]
    return sum(counts) / max(1, len(counts))


def parts_of(runs: Runs) -> dict[str, tuple[int, int]]:
    """Count the theorems of each part that were solved, and all of them, over all seeds."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for attempt in (attempt for run in runs.values() for attempt in run.attempts.values()):
        counts[part_of(attempt.theorem.id)][0] += attempt.outcome == "proven"
        counts[part_of(attempt.theorem.id)][1] += 1
    return {part: (solved, total) for part, (solved, total) in counts.items()}


def parts_table(by_arm: dict[str, Runs]) -> list[str]:
    """Format the solve rates of each part of a set."""
    names = _distinct(part for runs in by_arm.values() for part in parts_of(runs))
    lines = [f"| solved, by part | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for arm, runs in by_arm.items():
        counts = parts_of(runs)
        shares = (f"{100 * counts[name][0] / counts[name][1]:.0f}% of {counts[name][1] // len(runs)}" for name in names)
        lines.append(f"| {title(arm)} | {' | '.join(shares)} |")
    return lines


def plot(found: dict[tuple[str, int], dict[str, Runs]], file: Path) -> None:
    """Plot the rate of the hard set's theorems that are solved within each number of simulations, for each network."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2))
    budget = max((budget for name, budget in found if name == HARD), default=None)
    by_arm = found[HARD, budget] if budget is not None else {}
    for arm, runs in by_arm.items():
        if " " in arm and not arm.endswith("best-first"):
            continue
        curves = [run.summary["solved_at"] for run in runs.values()]
        total = sum(run.summary["total"] for run in runs.values())
        points = [int(point) for point in curves[0]]
        rates = [100 * sum(curve.get(str(point), 0) for curve in curves) / total for point in points]
        axes.plot(points, rates, "o--" if " " in arm else "o-", markersize=3, label=title(arm))
    axes.set_xscale("log", base=2)
    axes.set(xlabel="simulations", ylabel="solved (%)", ylim=(0, None))
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, dpi=130)
    plt.close(figure)


def _distinct(names: Iterable[str]) -> list[str]:
    return sorted(set(names))


def main(argv: list[str] | None = None) -> int:
    """Run what is missing, and write the page."""
    parser = Parser(prog="python -m scripts.hard_results", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, ResultsOptions)
    options = from_args(ResultsOptions, parser.parse_args(argv))
    if not options.only_write:
        run_all(options)
    found = read_all(Path(options.out), options.split)
    if not found:
        raise UserError(f"--out {options.out} holds no evaluation on the {options.split} split")
    text = page(found, options.about, read_whole(Path(options.out), options.split))
    atomic_write_text(Path(options.page), text)
    images = Path(options.page).parent / "images"
    images.mkdir(exist_ok=True)
    plot(found, images / "hard_results.png")
    print(f"{text}\nwritten to {options.page}")
    return 0


if __name__ == "__main__":
    run_main(main)
