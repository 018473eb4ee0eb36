"""How fast training is: packed finetuning against plain finetuning here, and the stages on a GPU.

python -m benchmarks.train --json train.json                       # a small network on CPU, packed against plain
python -m benchmarks.train --device cuda --markdown train.md       # depth 20: pretraining, finetuning, attention, fp8
python -m benchmarks.train --device cpu --depth 2 --aspect-ratio 32 --head-dim 32 --sequence-len 128 --vocab-size 512
"""

from operator import attrgetter
from pathlib import Path

from benchmarks.measurement import parser_of, write_results
from benchmarks.train_device import DeviceOptions, markdown, measure_device
from benchmarks.train_sft import SFTComparison, compare_all
from nanoproof.common.config import from_args, opt, options_of, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_text


@validated("benchmark")
class TrainBenchmark:
    """Training benchmark."""

    device: str | None = opt(
        None, "Measure the stages on this device (cuda, cpu); none compares packed with plain finetuning on CPU."
    )
    json: str | None = opt(None, "File to write the results to.")
    markdown: str | None = opt(None, "File to write the table of --device to.")


def check_flags(options: TrainBenchmark, given: set[str]) -> None:
    """Refuse flags of the measurement that is not run."""
    of_device = {"markdown", *map(attrgetter("dest"), options_of(DeviceOptions))}
    of_comparison = set(map(attrgetter("dest"), options_of(SFTComparison)))
    if options.device is None and given & of_device:
        flag = min(given & of_device).replace("_", "-")
        raise UserError(f"--{flag} needs --device")
    if options.device is not None and given & of_comparison:
        raise UserError(
            f"--{min(given & of_comparison).replace('_', '-')} is for the comparison; it clashes with --device"
        )


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = parser_of("train", __doc__, TrainBenchmark, SFTComparison, DeviceOptions)
    args = parser.parse_args(argv)
    options = from_args(TrainBenchmark, args)
    check_flags(options, {name for name, value in vars(args).items() if value != parser.get_default(name)})
    if options.device is None:
        results = compare_all(from_args(SFTComparison, args))
        for row in results:
            print(
                f"{row['name']}: {row['ours']} {row['unit']} against {row['baseline']} plain, "
                f"ratio {row['ratio']} ({row['hardware']})"
            )
    else:
        results = measure_device(options.device, from_args(DeviceOptions, args))
        table = markdown(results)
        print(table)
        if options.markdown is not None:
            atomic_write_text(Path(options.markdown), table + "\n")
    write_results(options.json, results)
    return 0


if __name__ == "__main__":
    run_main(main)
