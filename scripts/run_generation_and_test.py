"""Sample whole proofs of benchmarks and print pass@k: miniF2F and ProofNet with 3,200 samples, or sets of your own.

python -m scripts.run_generation_and_test sft/RUN out --lean-servers host:8000
python -m scripts.run_generation_and_test M out --datasets minif2f,proofnet,putnambench --lean-servers host:8000
python -m scripts.run_generation_and_test sft/RUN out --datasets nanolean --samples 32
python -m scripts.run_generation_and_test sft/RUN out --raw-dataset-config benchmark.json

Each set and split is an evaluation by `scripts.prover_eval --whole-proofs` in a directory of its own below the second
argument; what is there already goes on, so the same command continues what was cut off. Then all samples are written
to `generated_proofs_<name>.jsonl.gz`, and pass@k is printed (`scripts.passk`). `--dry-run` prints these commands.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
from nanoproof.common.errors import UserError, flags_as, run_main
from nanoproof.data.sources.catalog import CATALOG
from nanoproof.data.theorems.theorem_sets import (
    BENCH_SPLITS,
    Split,
    list_theorems,
    parse_set_names,
    set_name,
    splits_of,
)
from nanoproof.evaluation.passk import BUDGETS
from nanoproof.evaluation.results import RESULTS
from nanoproof.evaluation.statements import (
    Statement,
    generated_proofs,
    read_dataset_config,
    read_statements,
    write_generated,
    write_theorems,
)
from nanoproof.lean.source import parse_declaration
from scripts import passk, prover_eval
from scripts.run_evaluation import continue_flag, lean_flags

FLAGS = {
    "--model-path": "MODEL",
    "--output-dir": "EXP_DIR",
    "--proof-seconds": "--timeout",
    "--proof-temperature": "--temperature",
    "--proof-max-new-tokens": "--max-tokens",
}
"""Flags of `scripts.prover_eval`, which does the work, and what they are called here."""
LABELS = {"minif2f": "miniF2F", "proofnet": "Proofnet", "putnambench": "PutnamBench"}


@validated("benchmark")
class BenchmarkOptions:
    """Benchmarks."""

    datasets: tuple[str, ...] = opt(("minif2f", "proofnet"), "Benchmarks or files of theorems, valid and test.")
    raw_dataset_config: str | None = opt(
        None, 'Statements instead: JSON, a list of {"dataset_path": FILE, "weight": samples}.', metavar="FILE"
    )
    samples: int = opt(3200, "Whole proofs of each theorem of --datasets.", min=1)
    temperature: float = opt(1.0, "Temperature of the proofs.", min=0)
    max_tokens: int = opt(1024, "Tokens of a proof.", min=1)
    seed: int = opt(1, "Seed of the proofs.")
    save_file_name: str = opt("tests", "The samples go to generated_proofs_<name>.jsonl.gz.")
    budgets: tuple[str, ...] = opt((",".join(map(str, BUDGETS)),), "Numbers of samples for pass@k.", metavar="K")
    max_theorems: int | None = opt(None, "The first so many theorems of each set only.", min=1, advanced=True)
    prompt_format: str | None = opt(None, "How statements are written for a model of others, as in prover_eval.")
    device_type: str = opt("", "Where the network runs: cuda, cpu or mps; empty for the best there is.")
    lean_servers: tuple[str, ...] = opt((), "Addresses host:port of Lean servers; without any, NanoLean.")
    lean_token: str | None = opt(None, "Token that the Lean servers ask for.")
    lean_processes: int = opt(8, "Processes of NanoLean, without Lean servers.", min=1)
    timeout: float = opt(200.0, "Seconds for the verification of a proof.", above=0)
    dry_run: bool = opt(False, "Print the commands, and run none.")


@dataclass(frozen=True)
class Part:
    """One evaluation: its directory's name, the data set and split, the samples, and the statements by their ids."""

    name: str
    dataset: str
    split: Split
    samples: int
    statements: dict[str, Statement] = field(default_factory=dict)


def planned(options: BenchmarkOptions, out: Path) -> Iterator[tuple[Part, Path | str]]:
    """List the evaluations without their statements, each with where these come from: a file, or their label."""
    if options.raw_dataset_config is not None:
        for number, entry in enumerate(read_dataset_config(Path(options.raw_dataset_config).expanduser())):
            name = f"{number}_{entry.path.stem}"
            yield Part(name, str(out / f"{name}.jsonl"), "valid", entry.weight), entry.path
        return
    for dataset in parse_set_names(options.datasets):
        name = set_name(dataset)
        label = LABELS.get(name, name)
        # PutnamBench has no splits: all of it is asked for as its first one.
        unsplit = name in CATALOG and CATALOG[name].unsplit
        splits: list[Split] = [split for split in BENCH_SPLITS if split in splits_of(dataset)]
        for split in splits or BENCH_SPLITS[:1]:
            if unsplit:
                yield Part(name, dataset, split, options.samples), label
            else:
                yield Part(f"{name}_{split}", dataset, split, options.samples), f"{label} {split}"


def parts_of(options: BenchmarkOptions, out: Path) -> Iterator[Part]:
    """List the evaluations to do; statements of a configuration are written as files of theorems."""
    for part, source in planned(options, out):
        if isinstance(source, Path):
            statements = read_statements(source)
            for key, reason in write_theorems(Path(part.dataset), statements).items():
                raise UserError(f"{source}, row {int(key) + 1}: {reason}")
            if statements:
                by_id = {str(index): statement for index, statement in enumerate(statements)}
                yield replace(part, statements=by_id)
        else:
            by_id = {}
            for theorem in list_theorems(part.dataset, part.split):
                # Up to `:=`, as STP's files have statements: what is generated stands behind it.
                text = theorem.source[: parse_declaration(theorem.source).assign] + ":="
                by_id[theorem.id] = Statement(text, None, (source,))
            yield replace(part, statements=by_id)


def commands(model: str, options: BenchmarkOptions, out: Path) -> Iterator[str]:
    """Write down what is done as commands, one on a line; nothing needs to be downloaded for that."""
    parts = [part for part, _ in planned(options, out)]
    downloads: dict[str, None] = {}
    folders: list[str] = []
    for part in parts:
        folders.append(str(out / part.name))
        # NanoLean's sets come with the package.
        if part.dataset in CATALOG and CATALOG[part.dataset].files:
            downloads[part.dataset] = None
    if downloads:
        yield shlex.join(["python", "-m", "nanoproof.data.download", *downloads])
    without_token = replace(options, lean_token=None)  # what is printed is copied into issues and chats
    for part in parts:
        flags = evaluation_flags(model, part, without_token, out / part.name)
        yield shlex.join(["python", "-m", "scripts.prover_eval", *flags])
    yield shlex.join(["python", "-m", "scripts.passk", *folders, "--budgets", *options.budgets])


def evaluation_flags(model: str, part: Part, options: BenchmarkOptions, path: Path) -> list[str]:
    """Return the flags of `scripts.prover_eval` for one evaluation."""
    flags = ["--whole-proofs", "--samples", str(part.samples), "--model-path", model, "--datasets", part.dataset]
    flags += ["--split", part.split, "--output-dir", str(path), "--seed", str(options.seed)]
    flags += ["--proof-temperature", str(options.temperature), "--proof-max-new-tokens", str(options.max_tokens)]
    flags += ["--proof-seconds", str(options.timeout), "--lean-processes", str(options.lean_processes)]
    if options.max_theorems:
        flags += ["--max-theorems", str(options.max_theorems)]
    if options.prompt_format:
        flags += ["--prompt-format", options.prompt_format]
    if options.device_type:
        flags += ["--device-type", options.device_type]
    return [*flags, *lean_flags(options.lean_servers, options.lean_token), *continue_flag(path)]


def main(argv: list[str] | None = None) -> int:
    """Sample, verify, write all samples, and print pass@k."""
    parser = Parser(prog="python -m scripts.run_generation_and_test", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", help="Model that writes the proofs, as --model-path of other commands.")
    parser.add_argument("exp_dir", help="Directory for the results.")
    add_flags(parser, BenchmarkOptions)
    args = parser.parse_args(argv)
    options, out = from_args(BenchmarkOptions, args), Path(args.exp_dir).expanduser()
    if options.dry_run:
        print("\n".join(commands(args.model, options, out)))
        return 0
    parts = list(parts_of(options, out))
    for part in parts:
        with flags_as(FLAGS):
            code = prover_eval.main(evaluation_flags(args.model, part, options, out / part.name))
        if code:
            return code
    file = out / f"generated_proofs_{options.save_file_name}.jsonl.gz"

    def records() -> Iterator[dict[str, Any]]:
        for part in parts:
            yield from generated_proofs(out / part.name / RESULTS, part.statements)

    count = write_generated(file, records())
    print(f"\n{count:,} samples -> {file}\n")
    return passk.main([str(file), "--budgets", *options.budgets])


if __name__ == "__main__":
    run_main(main)
