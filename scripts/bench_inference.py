"""Measure inference: states and tokens per second, latency and memory, beside baselines and the machine's limits.

python -m scripts.bench_inference --json inference.json                  # a small random network
python -m scripts.bench_inference --model-path pretrain/my-run --parts phases policy
python -m scripts.bench_inference --parts lengths waiting --threads 1    # what a longer prompt and more threads cost
python -m scripts.bench_inference --device-type cuda --parts device --markdown inference.md
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.inference_options import Load, NetworkSize
from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, to_dict, validated
from nanoproof.common.distributed import DistInfo, choose_device, choose_dtype
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_json, atomic_write_text
from nanoproof.common.option_groups import CheckpointOption, DeviceOption
from nanoproof.inference.model_options import EngineLimits

# What imports torch comes after the options, which may be mistyped.
if TYPE_CHECKING:
    from benchmarks.inference_parts import Bench, Result

PARTS = ("plain", "transformers", "phases", "policy", "lengths", "waiting", "device")


@validated("benchmark")
class InferenceBenchmark:
    """Inference benchmark."""

    parts: tuple[str, ...] = opt(
        ("plain", "transformers", "phases", "policy"), "What to measure.", choices=PARTS, metavar="PART"
    )
    checkpoint: CheckpointOption = group(
        CheckpointOption, model_path=change(help="Checkpoint to measure (none: random weights of the size below).")
    )
    device: DeviceOption = group(DeviceOption)
    threads: int = opt(2, "CPU threads of torch; several crawl where other processes compete for the cores.", min=1)
    lengths: tuple[int, ...] = opt((64, 128, 256, 512), "Prompt lengths of the part `lengths`.", min=2)
    waiting: tuple[int, ...] = opt((64, 256, 1024), "Numbers of threads of the part `waiting`.", min=1)
    json: str | None = opt(None, "File to write the results to.")
    markdown: str | None = opt(None, "File to write the results to as tables.")


def run_parts(options: InferenceBenchmark, bench: "Bench") -> "list[Result]":
    """Run the selected parts; print each result as soon as it is there."""
    from benchmarks import inference_parts

    baselines, skipped = choose_baselines(options)
    if skipped is not None:
        print(f"transformers: skipped ({skipped})", flush=True)
    runs: dict[str, Callable[[], list[Result]]] = {
        "plain": lambda: inference_parts.against(bench, baselines),
        "phases": lambda: inference_parts.measure_phases(bench),
        "policy": lambda: inference_parts.measure_policy(bench),
        "lengths": lambda: inference_parts.measure_lengths(bench, options.lengths),
        "waiting": lambda: inference_parts.measure_waiting(bench, options.waiting),
        "device": lambda: inference_parts.measure_device(bench, baselines or ("plain",)),
    }
    # `plain` measures our engine beside the baselines, and `device` does that itself on its own sizes.
    chosen = set(options.parts)
    if baselines and "device" not in chosen:
        chosen.add("plain")
    results = []
    for name, run in runs.items():
        if name in chosen:
            for result in run():
                print(inference_parts.format_result(result), flush=True)
                results.append(result)
    return results


def choose_baselines(options: InferenceBenchmark) -> tuple[tuple[str, ...], str | None]:
    """Return the selected baselines, and why `transformers` is not among them though it was selected."""
    from benchmarks.hf_inference import missing_for_transformers

    baselines = tuple(name for name in ("plain", "transformers") if name in options.parts)
    reason = missing_for_transformers()
    if options.checkpoint.model_path is not None:
        reason = "its GPT-2 has random weights, which cannot be compared with a checkpoint's"
    if "transformers" not in baselines or reason is None:
        return baselines, None
    return baselines[:-1], reason


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = Parser(prog="python -m scripts.bench_inference", description=(__doc__ or "").splitlines()[0])
    for options_class in (InferenceBenchmark, Load, NetworkSize, EngineLimits):
        add_flags(parser, options_class)
    args = parser.parse_args(argv)
    options = from_args(InferenceBenchmark, args)
    import torch

    from benchmarks import inference_parts

    device, reason = choose_device(options.device.device_type)
    dist = DistInfo(0, 0, 1, device, reason, *choose_dtype(device))
    torch.set_num_threads(options.threads)
    logging.getLogger("transformers").setLevel(logging.ERROR)  # its warnings would stand between the results
    load, size, limits = from_args(Load, args), from_args(NetworkSize, args), from_args(EngineLimits, args)
    settings: dict[str, Any] = {**to_dict(options), **to_dict(load), **to_dict(size), **to_dict(limits)}
    bench = inference_parts.Bench(load, size, limits, dist, options.threads, options.checkpoint.model_path)
    results = []
    for result in run_parts(options, bench):
        # Each with all settings: rows of several files are put side by side.
        results.append({**result, "details": {**settings, **result["details"]}})
    if options.markdown is not None:
        atomic_write_text(Path(options.markdown), inference_parts.table(results) + "\n")
    if options.json is not None:
        atomic_write_json(Path(options.json), results)
    return 0


if __name__ == "__main__":
    run_main(main)
