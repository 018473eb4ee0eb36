"""Score a model by one whole proof of each statement of a file: statements in, `evaluation_results.json` out.

python -m scripts.run_evaluation --dataset-path leanworkbook.json --model-name sft/RUN --output-dir out
python -m scripts.run_evaluation --dataset-path F.jsonl --model-name sft/RUN --lean-servers host:8000 --output-dir out

The file is a JSON list or JSONL with `formal_statement`, `split`, maybe `tags` and `header`. A seeded sample of
--max-problems statements is tried. `evaluation_results.json` has `metrics`, `results` and `config`; what was done is
kept in the folder `whole` beside it, and a run that was cut off goes on from there.
"""

import random
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validated
from nanoproof.common.errors import cannot, flags_as, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.evaluation.results import RESULTS, SETTINGS, read_attempts
from nanoproof.evaluation.statements import (
    Statement,
    metrics_of,
    read_statements,
    refused_statement,
    verdict_of,
    write_theorems,
)
from scripts import prover_eval

FLAGS = {
    "--model-path": "--model-name",
    "--datasets": "--dataset-path",
    "--proof-seconds": "--timeout",
    "--proof-temperature": "--temperature",
    "--proof-max-new-tokens": "--max-tokens",
    "--theorems-at-once": "--batch-size",
    "--device-type": "--device",
}
"""Flags of `scripts.prover_eval`, which does the work, and what they are called here."""
RESULT_FILE, PROBLEMS, WORK = "evaluation_results.json", "problems.jsonl", "whole"
RATES = {
    "complete": "complete",
    "pass": "passed",
    "error": "has_errors",
    "sorry": "has_sorries",
    "system_error": "has_system_errors",
}
"""The rates among the metrics, with the names of their counts; STP's files have both."""


@validated("evaluation")
class RunEvaluationOptions:
    """Evaluation."""

    dataset_path: str = opt(help="File of statements, a JSON list or JSONL.", metavar="FILE")
    model_name: str = opt(help="Model that writes the proofs, as --model-path of other commands.")
    output_dir: str = opt(help="Directory for the results.", metavar="DIR")
    max_problems: int = opt(100, "Statements that are tried, drawn at random.", min=0)
    seed: int = opt(0, "Seed of the drawing and of the proofs.")
    tokenizer_path: str | None = opt(None, "Must be the model's own, which is the default.", advanced=True)
    temperature: float = opt(0.7, "Temperature of the proofs.", min=0)
    max_tokens: int = opt(1024, "Tokens of a proof.", min=1)
    batch_size: int = opt(8, "Proofs that are written at a time.", min=1)
    prompt_format: str | None = opt(None, "How statements are written for a model of others, as in prover_eval.")
    device: str = opt("", "Where the network runs: cuda or cpu; empty for the best there is.")
    lean_servers: tuple[str, ...] = opt((), "Addresses host:port of Lean servers; without any, NanoLean.")
    lean_token: str | None = opt(None, "Token that the Lean servers ask for.")
    lean_processes: int = opt(8, "Processes of NanoLean, without Lean servers.", min=1)
    lake_path: str | None = opt(None, "Not needed: Lean runs in the servers.", advanced=True)
    lean_workspace: str | None = opt(None, "Not needed: the project is that of the servers.", advanced=True)
    timeout: float = opt(200.0, "Seconds for the verification of a proof.", above=0)
    verify_batch_size: int = opt(40, "Without effect: each proof is verified as soon as it is there.", advanced=True)

    def __post_init__(self) -> None:
        own = self.tokenizer_path in (None, self.model_name)
        check(own, f"--tokenizer-path {self.tokenizer_path}: a model comes with its own tokenizer")
        # A script of STP's says where Lean is on this machine: without a server NanoLean would silently take its place.
        if self.lean_workspace is not None or self.lake_path is not None:
            text = "--lake-path and --lean-workspace need a server: python -m nanoproof.lean.server --project-path DIR"
            check(bool(self.lean_servers), f"{text}, and --lean-servers HOST:PORT here")


def evaluation_flags(options: RunEvaluationOptions, problems: Path, work: Path) -> list[str]:
    """Return the flags of `scripts.prover_eval` that does the work."""
    flags = ["--whole-proofs", "--samples", "1", "--model-path", options.model_name, "--datasets", str(problems)]
    flags += ["--output-dir", str(work), "--seed", str(options.seed), "--proof-seconds", str(options.timeout)]
    flags += ["--proof-temperature", str(options.temperature), "--proof-max-new-tokens", str(options.max_tokens)]
    flags += ["--theorems-at-once", str(options.batch_size), "--lean-processes", str(options.lean_processes)]
    if options.prompt_format:
        flags += ["--prompt-format", options.prompt_format]
    if options.device:
        flags += ["--device-type", options.device]
    return [*flags, *lean_flags(options.lean_servers, options.lean_token), *continue_flag(work)]


def lean_flags(servers: Sequence[str], token: str | None) -> list[str]:
    """Return the flags that name Lean servers; none for NanoLean."""
    flags: list[str] = []
    if servers:
        flags += ["--lean-servers", *servers]
    if token:
        flags += ["--lean-token", token]
    return flags


def continue_flag(work: Path) -> list[str]:
    """Return `--continue` where an evaluation was begun: without it `prover_eval` would begin anew."""
    if (work / SETTINGS).exists():
        return ["--continue"]
    return []


def results_of(statements: list[Statement], reasons: dict[str, str], work: Path) -> list[dict[str, Any]]:
    """Join the statements with what became of them."""
    verdicts: dict[str, dict[str, Any]] = {}
    # Where all statements were refused, nothing was evaluated.
    if len(reasons) < len(statements):
        for attempt in read_attempts(work / RESULTS):
            verdicts[attempt.theorem.id] = verdict_of(attempt)
    for number, reason in reasons.items():
        verdicts[number] = refused_statement(reason)
    return [{**statement.to_json(), **verdicts[str(number)]} for number, statement in enumerate(statements)]


def format_metrics(metrics: dict[str, Any]) -> str:
    """Format the metrics as lines of text."""
    counts = metrics["counts"]
    lines = [f"statements: {metrics['total']}"]
    for name, count in RATES.items():
        lines.append(f"  {name.replace('_', ' '):<14}{metrics[f'{name}_rate']:>7.2f}%  ({counts[count]})")
    for label, row in metrics["by_label"].items():
        lines.append(f"  {label}: {row['total']} statements, {row['complete_rate']:.2f}% complete")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Evaluate, print the metrics and write the results."""
    parser = Parser(prog="python -m scripts.run_evaluation", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, RunEvaluationOptions)
    options = from_args(RunEvaluationOptions, parser.parse_args(argv))
    statements = read_statements(Path(options.dataset_path).expanduser())
    chosen = random.Random(options.seed).sample(statements, min(options.max_problems, len(statements)))
    out = Path(options.output_dir).expanduser()
    problems, work = out / PROBLEMS, out / WORK
    with cannot(f"write --output-dir {options.output_dir}"):
        reasons = write_theorems(problems, chosen)
    if len(reasons) < len(chosen):
        with flags_as(FLAGS):
            code = prover_eval.main(evaluation_flags(options, problems, work))
        if code:
            return code
    results = results_of(chosen, reasons, work)
    metrics = metrics_of(results)
    # Results are passed on, and the token is not to be.
    config = {**asdict(options), "lean_servers": list(options.lean_servers), "lean_token": None}
    atomic_write_json(out / RESULT_FILE, {"metrics": metrics, "results": results, "config": config})
    print(f"{format_metrics(metrics)}\n  -> {out / RESULT_FILE}")
    return 0


if __name__ == "__main__":
    run_main(main)
