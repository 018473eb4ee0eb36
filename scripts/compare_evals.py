"""Compare two evaluations of the same theorems: paired table, McNemar's exact test, which theorems changed.

python -m scripts.compare_evals sft/<run>/eval_820_nanolean rl/<run>/eval_100_nanolean
python -m scripts.compare_evals sft/<run>/repeats_820_minif2f_test rl/<run>/repeats_100_minif2f_test --json out.json

Of two directories of several evaluations (such as those of scripts.test_eval) those of the same relative path are
compared, and where all are of the same theorems their solve rates as well.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, opt, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.common.run_dir import resolve_path
from nanoproof.evaluation.compare import Evaluated, compare, compare_rates, evaluations_in


@dataclass(frozen=True)
class CompareOptions:
    """Comparison."""

    show: int = opt(20, "How many of the theorems that changed to name.", min=0)
    json: str | None = opt(None, "File to write the comparison to.")

    def __post_init__(self) -> None:
        validate(self, "compare")


def pairs(first: dict[str, Evaluated], second: dict[str, Evaluated]) -> dict[str, tuple[Evaluated, Evaluated]]:
    """Return the pairs of evaluations to compare. Raises UserError if there are none."""
    if len(first) == 1 and len(second) == 1:
        return {"": (next(iter(first.values())), next(iter(second.values())))}
    common = {name: (first[name], second[name]) for name in first if name in second}
    if not common:
        raise UserError(f"nothing to compare: {', '.join(first)} on one side, {', '.join(second)} on the other")
    for name in [*first, *second]:
        if name not in common:
            print(f"only on one side: {name}")
    return common


def table(found: dict[str, Any], show: int) -> str:
    """Format a comparison as lines of text."""
    cells, total = found["cells"], found["total"]
    lines = []
    for letter, path, score in zip("AB", found["paths"], found["scores"]):
        share = f"{100 * score['low']:.1f}-{100 * score['high']:.1f}%"
        lines.append(f"{letter}: {score['solved']}/{total} solved, 95% interval {share}  {path}")
    for letter, accepted in zip("AB", found["accepted"]):
        if accepted:
            lines.append(f"{letter}: proofs accepted {accepted}")
    lines += [
        f"{'':<16}{'B solved':>12}{'B did not':>12}",
        f"{'A solved':<16}{cells['both']:>12}{cells['only_first']:>12}",
        f"{'A did not':<16}{cells['only_second']:>12}{cells['neither']:>12}",
        f"B - A: {100 * found['difference']:+.1f} points, 95% interval {100 * found['low']:+.1f} to "
        f"{100 * found['high']:+.1f}; McNemar's exact test: p = {found['p']:.3g}",
    ]
    for title, names in (("only B solved", found["gained"]), ("only A solved", found["lost"])):
        if names:
            more = f" and {len(names) - show} more" if len(names) > show else ""
            lines.append(f"{title}: {', '.join(names[:show])}{more}")
    if found["errors"]:
        count = len(found["errors"])
        words = "theorems, which count" if count > 1 else "theorem, which counts"
        lines.append(f"errors at {count} {words} as not solved there; --continue tries again")
    before, after = found["budgets"]
    for name in before:
        if before[name] != after[name]:
            lines.append(f"budget: {name.replace('_', ' ')} {before[name]} in A, {after[name]} in B")
    lines += settings_lines(found["settings"])
    return "\n".join(lines)


def settings_lines(settings: dict[str, Any]) -> list[str]:
    """Format what differs: a line for each setting of both, and one for those that only one of the two has."""
    lines = [
        f"settings: {name} {a} in A, {b} in B" for name, (a, b) in settings.items() if a is not None and b is not None
    ]
    for which, title in enumerate("AB"):
        alone = [f"{name} {both[which]}" for name, both in settings.items() if both[1 - which] is None]
        if alone:
            lines.append(f"settings of {title} alone: {', '.join(alone)}")
    return lines


def rates(found: dict[str, Any]) -> str:
    """Format the comparison of repeated evaluations as a line of text."""
    first, second = (100 * mean for mean in found["means"])
    return (
        f"all runs together ({found['runs'][0]} and {found['runs'][1]}): {first:.1f}% and {second:.1f}% on average, "
        f"{100 * found['difference']:+.1f} points; permutation test over {found['total']} theorems: "
        f"p = {found['p']:.3g}"
    )


def main(argv: list[str] | None = None) -> int:
    """Print the comparison."""
    parser = Parser(prog="python -m scripts.compare_evals", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("first", help="Directory of an evaluation, or of several.")
    parser.add_argument("second", help="The one to compare with it.")
    add_flags(parser, CompareOptions)
    args = parser.parse_args(argv)
    options = from_args(CompareOptions, args)
    first, second = (evaluations_in(resolve_path(text)) for text in (args.first, args.second))
    result: dict[str, Any] = {"pairs": {}}
    for name, (one, other) in pairs(first, second).items():
        result["pairs"][name] = found = compare(one, other)
        print("\n".join([*([f"== {name}"] if name else []), table(found, options.show)]))
    sets = {frozenset(each.attempts) for each in [*first.values(), *second.values()]}
    if len(sets) == 1 and len(first) + len(second) > 2:
        result["rates"] = compare_rates(first, second)
        print(rates(result["rates"]))
    if options.json is not None:
        try:
            atomic_write_json(Path(options.json), result)
        except OSError as error:
            raise UserError(f"cannot write --json {options.json}: {error.strerror}") from error
    return 0


if __name__ == "__main__":
    run_main(main)
