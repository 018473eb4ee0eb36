"""Judge the tactics and values of checkpoints on transitions, without searching.

python -m scripts.policy_eval --model-path sft/<run> --data nanolean
python -m scripts.policy_eval --model-path sft/<run>/model_400.pt rl/<run> --data transitions.jsonl --json scores.json
torchrun --standalone --nproc_per_node=2 -m scripts.policy_eval -- --model-path sft/<run> --data nanolean --split train
"""

import argparse
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validated
from nanoproof.common.distributed import DistInfo, cleanup
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.common.option_groups import CheckpointsOption
from nanoproof.common.run_dir import HUB_CONFIG, resolve_model_path, setup_logging, versions
from nanoproof.common.terminal import Paint, print_lines, table
from nanoproof.lean.types import Transition
from nanoproof.model.checkpoint_files import find_checkpoint, finished_steps
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.prompt import prompt_tokens
from nanoproof.training.named_data import load_transitions
from nanoproof.training.options import BatchOptions, RunOptions
from nanoproof.training.setup import start_ranks

# What imports torch comes after the options, which may be mistyped.
if TYPE_CHECKING:
    from nanoproof.model.gpt import GPT
    from nanoproof.training.policy_metrics import PolicyMetrics

log = logging.getLogger(__name__)

GREEDY_TEMPERATURE = 1e-6
SHOWN_TOKENS = 48
PERCENTAGES = ("tactic_exact_match", "tactic_first_token_accuracy", "tactic_token_accuracy")


@validated("eval")
class PolicyEvalOptions:
    """Evaluation."""

    checkpoints: CheckpointsOption = group(
        CheckpointsOption,
        model_path=change(help="Checkpoints to judge; a directory stands for all that are in it."),
    )
    data: str = opt("nanolean", "Transitions: `nanolean`, `leantree`, or a file of LeanTree JSONL.")
    split: Literal["valid", "train"] = opt("valid", "Which transitions of them.")
    max_examples: int | None = opt(None, "Judge on so many transitions, evenly spread.", min=1)
    show: int = opt(0, "Show what each model says in so many states.", min=0)
    json: str | None = opt(None, "File to write all numbers to.")


@dataclass(frozen=True)
class Judged:
    """A checkpoint and its metrics."""

    path: Path
    step: int
    metrics: "PolicyMetrics"


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(prog="python -m scripts.policy_eval", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, PolicyEvalOptions)
    add_flags(parser, RunOptions, skip={"run", "run_dir", "loggers", "seed"})
    add_flags(parser, BatchOptions, skip={"target_examples_per_step", "value_weight"})
    return parser.parse_args(argv)


def checkpoints(texts: Sequence[str]) -> list[Path]:
    """Return the manifests of the checkpoints, those of a directory in the order of their steps. Raises UserError."""
    if not texts:
        raise UserError("give --model-path: one checkpoint or more, or directories of them")
    manifests: list[Path] = []
    for text in texts:
        path = resolve_model_path(text)
        latest = find_checkpoint(path)  # refuses a directory without any
        # A folder for the hub is one network.
        if latest.name == HUB_CONFIG or not path.is_dir():
            manifests.append(latest)
        else:
            manifests += [path / f"model_{step}.json" for step in finished_steps(path)]
    return manifests


def spread(items: Sequence[Transition], count: int | None) -> list[Transition]:
    """Return at most `count` of the items, evenly spread."""
    # The first ones would be of one file: transitions stand in the order of the sources that they were traced from.
    number = len(items)
    if count is not None:
        number = min(count, len(items))
    return [items[i * len(items) // number] for i in range(number)]


def judge(
    path: Path, items: Sequence[Transition], options: PolicyEvalOptions, batch: BatchOptions, dist: DistInfo
) -> Judged:
    """Load a checkpoint and measure it; all ranks together."""
    from nanoproof.data.transitions.packing import ExampleLimits
    from nanoproof.model.checkpoint import load_model
    from nanoproof.model.compute import choose_compute
    from nanoproof.training.batches import TransitionSet
    from nanoproof.training.policy_metrics import policy_metrics

    model, tokenizer, manifest = load_model(path, dist.device, dist.dtype)
    choose_compute(dist.device, dist.dtype, compiled="off").apply(model)
    limits = ExampleLimits(sequence=min(batch.row_length, model.config.sequence_len))
    examples = TransitionSet(tokenizer, items, limits)
    metrics = policy_metrics(model, tokenizer, examples, batch, dist)
    if metrics is None:
        raise UserError(f"--data {options.data} has no {options.split} transition of at most {limits.sequence} tokens")
    if examples.too_long:
        log.info("%s: %d transitions left out as too long", path, examples.too_long)
    if options.show and dist.is_main:
        print(f"\n{path.with_suffix('.pt')}")
        distance = max(1, len(examples) // options.show)
        for line in shown(model, tokenizer, examples.transitions[::distance][: options.show]):
            print(line)
    return Judged(path, manifest["step"], metrics)


def shown(model: "GPT", tokenizer: Tokenizer, items: Sequence[Transition]) -> Iterator[str]:
    """Render each state, the tactic in the data, and the model's samples."""
    from nanoproof.inference.engine import Engine
    from nanoproof.inference.sampling import SamplingOptions

    shown_tokens = min(SHOWN_TOKENS, model.config.sequence_len // 2)  # the state needs room beside them
    prompts = [prompt_tokens(tokenizer, item.state, model.config.sequence_len - shown_tokens) for item in items]
    greedy = SamplingOptions(1, shown_tokens, temperature=GREEDY_TEMPERATURE)
    for item, answer in zip(items, Engine(model, tokenizer).generate(prompts, greedy, [0] * len(prompts))):
        # The engine drops a sample that does not end in time, as the search does.
        tactic = f"(no end in {shown_tokens} tokens)"
        if answer.samples:
            tactic = tokenizer.decode(answer.samples[0].tokens)
        yield f"\n{item.state}\n  data:  {item.tactic}  ({item.depth} to go)"
        yield f"  model: {tactic}  ({answer.value:.1f} to go)"


def metric_table(judged: Sequence[Judged], paint: Paint) -> list[str]:
    """Render a line for each metric and a column for each checkpoint."""
    names = [f">{item.path.parent.name}/{item.step}" for item in judged]
    scalars = [item.metrics.scalars() for item in judged]
    rows = []
    for metric in scalars[0]:
        rows.append((metric.replace("_", " "), *(_number(metric, values[metric]) for values in scalars)))
    return table(("", *names), rows, paint)


def _number(metric: str, value: float) -> str:
    if metric == "transitions":
        return f"{value:.0f}"
    if metric in PERCENTAGES:
        return f"{100 * value:.2f}%"
    return f"{value:.4f}"


def depth_table(judged: Judged, paint: Paint) -> list[str]:
    """Write values by depth: on transitions of that depth, and on those whose value the model says is that."""
    rows = []
    for row in judged.metrics.depths:
        # Means of nothing are no zeros: such cells stay empty.
        of_depth: tuple[str | None, ...] = (None, None, None, None)
        if row.count:
            errors = (f"{row.mean_error:+.2f}", f"{row.mean_absolute_error:.2f}", f"{row.mse:.3f}")
            of_depth = (f"{row.mean_predicted:.2f}", *errors)
        predicted: tuple[str | None, ...] = (None, None)
        if row.num_predicted:
            predicted = (f"{row.mean_value:.2f}", f"{row.mean_depth:.2f}")
        rows.append((row.depth, row.count, *of_depth, row.num_predicted, *predicted))
    headers = (">depth", ">has it", ">value", ">bias", ">error", ">MSE", ">says so", ">value", ">truth")
    title = f"values of {judged.path.parent.name}/{judged.step} by depth"
    error = f"expected calibration error {judged.metrics.value_calibration_error:.2f} tactics"
    return [f"{title} ({error})", *table(headers, rows, paint)]


def main(argv: list[str] | None = None) -> int:
    """Evaluate the checkpoints and print the metrics."""
    args = parse_args(argv)
    options, batch = from_args(PolicyEvalOptions, args), from_args(BatchOptions, args)
    dist = start_ranks(from_args(RunOptions, args))
    setup_logging(args.log_level, rank=dist.rank)
    try:
        paths = checkpoints(options.checkpoints.model_path)
        items = spread(load_transitions(options.data)[options.split == "valid"], options.max_examples)
        judged = [judge(path, items, options, batch, dist) for path in paths]
    finally:
        cleanup()
    if dist.is_main:
        lines = ["", f"{options.data} {options.split}, {dist.device.type}", *metric_table(judged, Paint())]
        for item in judged:
            lines += ["", *depth_table(item, Paint())]
        print_lines(lines)
        if options.json is not None:
            rows = [{"path": str(item.path), "step": item.step, **item.metrics.to_json()} for item in judged]
            data = {"data": options.data, "split": options.split, "versions": versions(), "checkpoints": rows}
            atomic_write_json(Path(options.json), data)
    return 0


if __name__ == "__main__":
    run_main(main)
