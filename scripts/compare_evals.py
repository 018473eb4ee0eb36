"""Compare two evaluations of the same theorems: paired table, McNemar's exact test, which theorems changed.

python -m scripts.compare_evals sft/<run>/eval_820_nanolean rl/<run>/eval_100_nanolean
python -m scripts.compare_evals sft/<run>/repeats_820_minif2f_test rl/<run>/repeats_100_minif2f_test --json out.json

Of two directories of several evaluations (such as those of scripts.test_eval) those of the same relative path are
compared, and where all are of the same theorems their solve rates as well.
"""

from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.run_dir import resolve_path
from nanoproof.evaluation.compare import Evaluated, compare, compare_rates, evaluations_in
from scripts.viewing import write_json_option


@validated("compare")
class CompareOptions:
    """Comparison."""

    show: int = opt(20, "How many of the theorems that changed to name.", min=0)
    json: str | None = opt(None, "File to write the comparison to.")


def pairs(first: dict[str, Evaluated], second: dict[str, Evaluated]) -> dict[str, tuple[Evaluated, Evaluated]]:
    """Return the pairs of evaluations to compare. Raises UserError if there are none."""
    # Of one each, whatever their directories are called.
    if len(first) == 1 and len(second) == 1:
        return {"": (next(iter(first.values())), next(iter(second.values())))}
    common = {name: (first[name], second[name]) for name in first if name in second}
    if not common:
        raise UserError(f"nothing to compare: {', '.join(first)} on one side, {', '.join(second)} on the other")
    for name in [*first, *second]:
        if name not in common:
            print(f"only on one side: {name}")
    return common


def table(comparison: dict[str, Any], show: int) -> str:
    """Format a comparison as lines of text."""
    cells, total = comparison["cells"], comparison["total"]
    lines = []
    for letter, path, score in zip("AB", comparison["paths"], comparison["scores"]):
        share = f"{100 * score['low']:.1f}-{100 * score['high']:.1f}%"
        lines.append(f"{letter}: {score['solved']}/{total} solved, 95% interval {share}  {path}")
    for letter, accepted in zip("AB", comparison["accepted"]):
        if accepted:
            lines.append(f"{letter}: proofs accepted {accepted}")
    lines += [
        f"{'':<16}{'B solved':>12}{'B did not':>12}",
        f"{'A solved':<16}{cells['both']:>12}{cells['only_first']:>12}",
        f"{'A did not':<16}{cells['only_second']:>12}{cells['neither']:>12}",
        f"B - A: {100 * comparison['difference']:+.1f} points, 95% interval {100 * comparison['low']:+.1f} to "
        f"{100 * comparison['high']:+.1f}; McNemar's exact test: p = {comparison['p']:.3g}",
    ]
    for title, names in (("only B solved", comparison["gained"]), ("only A solved", comparison["lost"])):
        if names:
            line = f"{title}: {', '.join(names[:show])}"
            if len(names) > show:
                line += f" and {len(names) - show} more"
            lines.append(line)
    if comparison["errors"]:
        # A lost server is no failure of the prover: the score is one with these theorems tried again.
        theorems = f"{len(comparison['errors'])} theorems, which count"
        if len(comparison["errors"]) == 1:
            theorems = "1 theorem, which counts"
        lines.append(f"errors at {theorems} as not solved there; --continue tries again")
    before, after = comparison["budgets"]
    for name in before:
        if before[name] != after[name]:
            lines.append(f"budget: {name.replace('_', ' ')} {before[name]} in A, {after[name]} in B")
    lines += settings_lines(comparison["settings"])
    return "\n".join(lines)


def settings_lines(settings: dict[str, Any]) -> list[str]:
    """Format what differs: a line for each setting of both, and one for those that only one of the two has."""
    lines: list[str] = []
    only_in_a: list[str] = []
    only_in_b: list[str] = []
    for name, (in_a, in_b) in settings.items():
        if in_a is not None and in_b is not None:
            lines.append(f"settings: {name} {in_a} in A, {in_b} in B")
        if in_b is None:
            only_in_a.append(f"{name} {in_a}")
        if in_a is None:
            only_in_b.append(f"{name} {in_b}")
    # In one line: an older revision had none of a dozen options, and they would push the table off the screen.
    if only_in_a:
        lines.append(f"settings of A alone: {', '.join(only_in_a)}")
    if only_in_b:
        lines.append(f"settings of B alone: {', '.join(only_in_b)}")
    return lines


def rates(comparison: dict[str, Any]) -> str:
    """Format the comparison of repeated evaluations as a line of text."""
    first, second = comparison["means"]
    runs_of_first, runs_of_second = comparison["runs"]
    return (
        f"all runs together ({runs_of_first} and {runs_of_second}): "
        f"{100 * first:.1f}% and {100 * second:.1f}% on average, "
        f"{100 * comparison['difference']:+.1f} points; permutation test over {comparison['total']} theorems: "
        f"p = {comparison['p']:.3g}"
    )


def main(argv: list[str] | None = None) -> int:
    """Print the comparison."""
    parser = Parser(prog="python -m scripts.compare_evals", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("first", help="Directory of an evaluation, or of several.")
    parser.add_argument("second", help="The one to compare with it.")
    add_flags(parser, CompareOptions)
    args = parser.parse_args(argv)
    options = from_args(CompareOptions, args)
    first, second = evaluations_in(resolve_path(args.first)), evaluations_in(resolve_path(args.second))
    result: dict[str, Any] = {"pairs": {}}
    for name, (before, after) in pairs(first, second).items():
        comparison = compare(before, after)
        result["pairs"][name] = comparison
        if name:
            print(f"== {name}")
        print(table(comparison, options.show))
    # Rates over runs are compared theorem by theorem, so all runs must be of the same ones.
    theorem_sets = {frozenset(evaluated.attempts) for evaluated in [*first.values(), *second.values()]}
    if len(theorem_sets) == 1 and len(first) + len(second) > 2:
        result["rates"] = compare_rates(first, second)
        print(rates(result["rates"]))
    if options.json is not None:
        write_json_option(options.json, result)
    return 0


if __name__ == "__main__":
    run_main(main)
