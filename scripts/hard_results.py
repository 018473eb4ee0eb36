"""Score provers on `nanolean-hard` and `nanolean-premise`, and write `docs/results.md` from what is there.

    python -m scripts.hard_results --out DIR --sft quickstart/sft --rl quickstart/rl   # run what is missing, then write
    python -m scripts.hard_results --out DIR --only-write                              # write from what is there

Each arm is a policy with a search; each is run with every seed and number of simulations by `scripts.prover_eval`, in
`DIR/ARM/SIMULATIONS/seed_N/eval_SET_test`. Started again, it resumes where it was stopped. The same solvers are tried
at every node in all arms, unless the arm's name says otherwise.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_text
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.data.nanolean import HARD, PREMISE, part_of
from nanoproof.evaluation.compare import Evaluated, compare_rates, read_evaluation
from nanoproof.evaluation.summary import wilson
from nanoproof.lean.certificates import accepted_by
from nanoproof.prover.attempt import Attempt
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


@validated("results")
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
        unknown = [name for name in self.searches if name not in SEARCHES]
        check(not unknown, f"--searches must be among {', '.join(filter(None, SEARCHES))}; got {', '.join(unknown)}")


WHOLE = "whole-proofs"
WHOLE_SETS = ("nanolean", HARD)
WHOLE_FLAGS = ["--whole-proofs", "--samples", "32", "--proof-max-new-tokens", "128"]
WHOLE_TITLES = {"proofs": "whole proofs", "tree": "tree search with the finetuned network"}


# -- Running ---------------------------------------------------------------------------------------------------------


def arms(options: ResultsOptions) -> dict[str, list[str]]:
    """Return the flags of each arm by its name, such as `rl` or `rl best-first`."""
    flags = dict(NO_NETWORK)
    if "steps" in options.searches:
        flags["uniform steps"] = [*NO_NETWORK["uniform"], *SEARCHES["steps"][1]]
    for name, model in (("sft", options.sft), ("control", options.control), ("rl", options.rl)):
        if model is None:
            continue
        flags[name] = ["--model-path", model]
        # The control is there to be held against RL, by the search that both are scored with.
        if name != "control":
            for search in options.searches:
                flags[f"{name} {search}"] = [*flags[name], *SEARCHES[search][1]]
    return flags


def run_all(options: ResultsOptions) -> None:
    """Run the evaluations that are not there yet. Raises UserError if one fails."""
    if options.proofs is not None:
        searching = ["--num-simulations", str(options.budgets[0]), *SAMPLING, *SEARCH]
        _evaluate_whole(options, "proofs", options.proofs, WHOLE_FLAGS)
        if options.sft is not None:
            _evaluate_whole(options, "tree", options.sft, searching)
    for budget in options.budgets:
        _run_arms(options, budget, options.max_theorems)
    if options.long_budget is not None:
        _run_arms(options, options.long_budget, options.long_theorems)


def _evaluate_whole(options: ResultsOptions, name: str, model: str, flags: list[str]) -> None:
    """Run one of `WHOLE_TITLES`, unless it is there."""
    out = Path(options.out) / WHOLE / name
    if not are_over(out, WHOLE_SETS, options.split):
        _evaluate(options, WHOLE_TITLES[name], WHOLE_SETS, ["--model-path", model, *flags], out, 0)


def _run_arms(options: ResultsOptions, budget: int, max_theorems: int | None) -> None:
    """Run all arms with so many simulations, as far as they are not there."""
    for arm, arm_flags in arms(options).items():
        seeds = options.seeds
        if arm in SEEDLESS:
            seeds = seeds[:1]
        for seed in seeds:
            out = Path(options.out) / arm.replace(" ", "_") / str(budget) / f"seed_{seed}"
            if are_over(out, SETS, options.split):
                continue
            # The arm's own behind those of all: of two flags of one name the last one counts.
            flags = [*SAMPLING, *SEARCH, *arm_flags, "--num-simulations", str(budget)]
            if max_theorems is not None:
                flags += ["--max-theorems", str(max_theorems)]
            _evaluate(options, f"{arm}, {budget} simulations", SETS, flags, out, seed)


def are_over(out: Path, sets: Iterable[str], split: str) -> bool:
    """Return whether all evaluations of a directory are over: a summary is written last."""
    return all((out / evaluation_name(name, split) / "summary.json").exists() for name in sets)


def _evaluate(
    options: ResultsOptions, arm: str, datasets: Sequence[str], flags: list[str], out: Path, seed: int
) -> None:
    """Run `scripts.prover_eval` on some sets. Raises UserError if it fails."""
    command = ["scripts.prover_eval", "--datasets", *datasets, "--split", options.split, *flags, "--seed", str(seed)]
    command += ["--device-type", "cpu", "--continue", "--log-level", "warning", "--output-dir", str(out)]
    command += ["--lean-processes", str(options.lean_processes)]
    Commands().run(f"{arm}, seed {seed}", f"{arm}, seed {seed}", command, options.ranks)


# -- Reading and writing ---------------------------------------------------------------------------------------------

Runs = dict[str, Evaluated]
"""The evaluations of an arm, by seed."""


Results = dict[tuple[str, int], dict[str, Runs]]
"""The runs of the arms, in their order, for each set and number of simulations."""


def read_all(out: Path, split: str) -> Results:
    """Read what is there."""
    results: Results = defaultdict(lambda: defaultdict(dict))
    for name, search in itertools.product(TITLES, SEARCHES):
        arm = f"{name} {search}".strip()
        for folder in sorted((out / arm.replace(" ", "_")).glob("*/seed_*")):
            budget, seed = int(folder.parent.name), folder.name.removeprefix("seed_")
            for dataset in SETS:
                # One of them alone where an evaluation goes on: the page is written from what is there.
                if are_over(folder, [dataset], split):
                    results[dataset, budget][arm][seed] = read_evaluation(folder / evaluation_name(dataset, split))
    return results


def title(arm: str) -> str:
    """Name an arm in words."""
    name, _, search = arm.partition(" ")
    return TITLES[name] + SEARCHES[search][0]


def page(results: Results, about: str, whole_proofs: dict[tuple[str, str], Evaluated] | None = None) -> str:
    """Write the page: a table for each set and number of simulations, the parts of the hard set, whole proofs."""
    paragraphs = [HEAD]
    if about:
        paragraphs.append(about)
    for dataset, budget in sorted(results, key=lambda key: (SETS.index(key[0]), key[1])):
        by_arm = results[dataset, budget]
        first_runs = next(iter(by_arm.values()))
        total = next(iter(first_runs.values())).summary["total"]
        paragraphs.append(f"## {dataset}, {total} theorems, {budget} simulations")
        paragraphs.append("\n".join(table(by_arm)))
        paragraphs += verdicts_of(by_arm)
        # A set of one part has nothing to be taken apart.
        if len(part_names(by_arm)) > 1:
            paragraphs.append("\n".join(parts_table(by_arm)))
    if whole_proofs:
        paragraphs += [WHOLE_HEAD, "\n".join(whole_table(whole_proofs))]
    return "\n\n".join(paragraphs) + "\n"


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
    evaluations: dict[tuple[str, str], Evaluated] = {}
    for dataset, prover in itertools.product(WHOLE_SETS, WHOLE_TITLES):
        folder = out / WHOLE / prover
        if are_over(folder, [dataset], split):
            evaluations[dataset, prover] = read_evaluation(folder / evaluation_name(dataset, split))
    return evaluations


def whole_table(whole_proofs: dict[tuple[str, str], Evaluated]) -> list[str]:
    """Format what whole proofs solve within 1, 8 and 32 samples, and the search within as many simulations."""
    lines = ["| set | prover | within 1 | 8 | 32 | 64 | 95% interval of the last | texts | tokens | Lean s | clock s |"]
    lines.append("|" + "---|" * 11)
    for (dataset, prover), evaluated in whole_proofs.items():
        summary = evaluated.summary
        costs, sampling = summary["per_theorem"], summary.get("whole_proofs")
        cells = [f"{dataset} ({summary['total']})", WHOLE_TITLES[prover]]
        for budget in (1, 8, 32, 64):
            cells.append(str(summary["solved_at"].get(str(budget), "")))
        cells.append(f"{100 * summary['low']:.1f}-{100 * summary['high']:.1f}%")
        cells.append(f"{costs['tactic_samples']:.0f}")
        tokens = ""
        if sampling:
            tokens = f"{sampling['tokens'] / summary['total']:.0f}"
        cells += [tokens, f"{costs['lean_seconds']:.2f}", f"{costs['wall_seconds']:.2f}"]
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
        summaries = [evaluated.summary for evaluated in runs.values()]
        by_seed = [summary["solved"] for summary in summaries]
        solved, total = sum(by_seed), sum(summary["total"] for summary in summaries)
        low, high = wilson(solved, total)
        difference, p_value = _against(arm, by_arm)
        cells = [
            title(arm),
            ", ".join(map(str, by_seed)),
            f"{100 * solved / total:.1f}%",
            f"{100 * low:.1f}-{100 * high:.1f}%",
            difference,
            p_value,
            f"{_mean(summaries, 'simulations'):.1f}",
            f"{_mean(summaries, 'tactic_samples'):.1f}",
            f"{_tactics_run(runs):.1f}",
            f"{_mean(summaries, 'lean_seconds'):.2f}",
            f"{_mean(summaries, 'policy_seconds'):.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def verdicts_of(by_arm: dict[str, Runs]) -> list[str]:
    """Say which checkers accept how many of the proofs, in one paragraph; nothing where no evaluation was judged."""
    sentences = []
    for arm, runs in by_arm.items():
        proofs = by_nanolean = 0
        outside = Counter[str]()
        for evaluated in runs.values():
            # Evaluations of before certificates were judged have none.
            verdicts = evaluated.summary.get("verdicts")
            if verdicts:
                proofs += verdicts["proofs"]
                by_nanolean += verdicts["nanolean"]
                outside.update(verdicts["outside"])
        accepted = accepted_by({"proofs": proofs, "nanolean": by_nanolean, "outside": outside})
        if accepted:
            sentences.append(f"{title(arm)}: of {proofs} proofs {accepted}")
    if not sentences:
        return []
    return [f"Proofs accepted. {'; '.join(sentences)}."]


def _against(arm: str, by_arm: dict[str, Runs]) -> tuple[str, str]:
    """Compare an arm with what it is to be compared with."""
    name, _, search = arm.partition(" ")
    if search:
        baselines = [name]
    else:
        baselines = {"control": ["sft"], "rl": ["sft", "control"]}.get(name, [])
    differences, p_values = [], []
    for baseline in baselines:
        if baseline in by_arm:
            comparison = compare_rates(*_of_common_seeds(by_arm[baseline], by_arm[arm]))
            differences.append(f"{100 * comparison['difference']:+.1f}")
            p_values.append(f"{comparison['p']:.2g}")
    return ", ".join(differences), ", ".join(p_values)


def _of_common_seeds(first: Runs, second: Runs) -> tuple[Runs, Runs]:
    """Return the runs of the seeds that both have; all where there is none."""
    common = first.keys() & second.keys() or first.keys() | second.keys()

    def of_common(runs: Runs) -> Runs:
        return {seed: evaluated for seed, evaluated in runs.items() if seed in common}

    return of_common(first), of_common(second)


def _mean(summaries: Sequence[dict[str, Any]], key: str) -> float:
    return sum(summary["per_theorem"].get(key, 0.0) for summary in summaries) / len(summaries)


def attempts_of(runs: Runs) -> Iterator[Attempt]:
    """Yield the attempts of all seeds."""
    for evaluated in runs.values():
        yield from evaluated.attempts.values()


def _tactics_run(runs: Runs) -> float:
    """Return the mean number of tactics that Lean ran for a theorem; attempts of old logs did not count them."""
    counts = [attempt.counts.get("tactics_run", 0) for attempt in attempts_of(runs)]
    return sum(counts) / max(1, len(counts))


def parts_of(runs: Runs) -> dict[str, tuple[int, int]]:
    """Count the theorems of each part that were solved, and all of them, over all seeds."""
    solved, total = Counter[str](), Counter[str]()
    for attempt in attempts_of(runs):
        part = part_of(attempt.theorem.id)
        total[part] += 1
        solved[part] += attempt.outcome == "proven"
    return {part: (solved[part], total[part]) for part in total}


def part_names(by_arm: dict[str, Runs]) -> list[str]:
    """List the parts that the theorems are of."""
    names: set[str] = set()
    for runs in by_arm.values():
        names.update(parts_of(runs))
    return sorted(names)


def parts_table(by_arm: dict[str, Runs]) -> list[str]:
    """Format the solve rates of each part of a set."""
    names = part_names(by_arm)
    lines = [f"| solved, by part | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for arm, runs in by_arm.items():
        counts = parts_of(runs)
        cells = [title(arm)]
        for name in names:
            solved, total = counts[name]
            cells.append(f"{100 * solved / total:.0f}% of {total // len(runs)}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def plot(results: Results, file: Path) -> None:
    """Plot the rate of the hard set's theorems that are solved within each number of simulations, for each network."""
    import matplotlib

    matplotlib.use("Agg")  # no window, and no display needed
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2))
    # The curve of the largest budget has those of all smaller ones in it.
    budgets = [budget for dataset, budget in results if dataset == HARD]
    by_arm: dict[str, Runs] = {}
    if budgets:
        by_arm = results[HARD, max(budgets)]
    for arm, runs in by_arm.items():
        # Of the other searches one alone, dashed: a dozen curves cannot be told apart.
        style = "o-"
        if arm.endswith(" best-first"):
            style = "o--"
        elif " " in arm:
            continue
        curves = [evaluated.summary["solved_at"] for evaluated in runs.values()]
        total = sum(evaluated.summary["total"] for evaluated in runs.values())
        points = [int(point) for point in curves[0]]
        rates = []
        for point in points:
            solved = sum(curve.get(str(point), 0) for curve in curves)
            rates.append(100 * solved / total)
        axes.plot(points, rates, style, markersize=3, label=title(arm))
    axes.set_xscale("log", base=2)
    axes.set(xlabel="simulations", ylabel="solved (%)", ylim=(0, None))
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, dpi=130)
    plt.close(figure)


def main(argv: list[str] | None = None) -> int:
    """Run what is missing, and write the page."""
    parser = Parser(prog="python -m scripts.hard_results", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, ResultsOptions)
    options = from_args(ResultsOptions, parser.parse_args(argv))
    if not options.only_write:
        run_all(options)
    results = read_all(Path(options.out), options.split)
    if not results:
        raise UserError(f"--out {options.out} holds no evaluation on the {options.split} split")
    text = page(results, options.about, read_whole(Path(options.out), options.split))
    atomic_write_text(Path(options.page), text)
    images = Path(options.page).parent / "images"
    images.mkdir(exist_ok=True)
    plot(results, images / "hard_results.png")
    print(f"{text}\nwritten to {options.page}")
    return 0


if __name__ == "__main__":
    run_main(main)
