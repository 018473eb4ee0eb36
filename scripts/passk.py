"""Print pass@k of results with several samples of each statement: means over blocks, unbiased estimate, interval.

python -m scripts.passk rl/RUN/whole_820_minif2f --budgets 1,32,128,640,3200
python -m scripts.passk rl/RUN/repeats_100_nanolean_test --json passk.json
python -m scripts.passk generated_proofs_tests.jsonl.gz --label "miniF2F test"

RESULTS are directories of evaluations (several, or one with repeats: their samples follow each other), or files:
`results.jsonl`, `generated_proofs_<name>.jsonl.gz`. Exit code 2 if more than 1% of the samples have no verdict.
"""

from pathlib import Path

from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.run_dir import home
from nanoproof.evaluation.passk import BUDGETS, format_table, pass_table, read_tables
from scripts.viewing import write_json_option


@validated("passk")
class PasskOptions:
    """pass@k."""

    budgets: tuple[str, ...] = opt(
        (",".join(map(str, BUDGETS)),), "Numbers of samples, space- or comma-separated.", metavar="K"
    )
    samples: int | None = opt(None, "Use the first so many samples of each statement only.", min=1)
    label: tuple[str, ...] = opt((), "Only these benchmarks, where the results hold several.")
    seed: int = opt(0, "Seed of the bootstrap.", min=0)
    json: str | None = opt(None, "File for the tables as JSON.", metavar="PATH")

    def numbers(self) -> list[int]:
        """Read the budgets. Raises UserError for what is no number of samples."""
        numbers: list[int] = []
        refusal = "--budgets wants numbers of samples, 1 or more, such as 1,32,128; got"
        for text in ",".join(self.budgets).split(","):
            if not text:  # `1,2,` and `1, 2`
                continue
            if not (text.isdecimal() and int(text) >= 1):
                raise UserError(f"{refusal} {[text]}")
            numbers.append(int(text))
        if not numbers:
            raise UserError(f"{refusal} none")
        return numbers


def find(text: str) -> Path:
    """Return the path of results: absolute, relative to here, or to `home()`."""
    path = Path(text).expanduser()
    below_home = home() / path
    if not path.exists() and below_home.exists():
        return below_home
    return path


def main(argv: list[str] | None = None) -> int:
    """Print a table for each benchmark in the results."""
    parser = Parser(prog="python -m scripts.passk", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", nargs="+", help="Directories of evaluations, or files of results.")
    add_flags(parser, PasskOptions)
    args = parser.parse_args(argv)
    options = from_args(PasskOptions, args)
    budgets = options.numbers()
    tables = read_tables(list(map(find, args.results)))
    names = [table.name for table in tables]
    if missing := sorted(set(options.label) - set(names)):
        raise UserError(f"--label {missing[0]}: the results hold {', '.join(names)}")
    pass_tables = []
    for table in tables:
        if not options.label or table.name in options.label:
            pass_tables.append(pass_table(table, budgets, options.samples, options.seed))
    print("\n\n".join(map(format_table, pass_tables)))
    if options.json is not None:
        write_json_option(options.json, [table.to_json() for table in pass_tables])
    return 0


if __name__ == "__main__":
    run_main(main)
