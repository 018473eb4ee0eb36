"""What all benchmarks share: their command line, ways that take turns, times, and the form of a result.

A result says what is ours, what a plain baseline did in the same run, and the ratio of both. A figure without a
baseline depends on the machine and its other load more than on the code; the ratio of two that met the same load holds.
Nothing here needs torch.
"""

import argparse
import platform
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from nanoproof.common.config import Parser, add_flags
from nanoproof.common.files import atomic_write_json
from nanoproof.model.tokenizer import available_cores

# Cores that this process may use: a container is given fewer than the machine has.
HARDWARE = f"{platform.machine()}, {available_cores()} cores, Python {platform.python_version()}"

K = TypeVar("K")
T = TypeVar("T")
Figure = float | None
Result = dict[str, Any]
"""With `name`, `ratio`, `ours`, `baseline`, `unit`, `hardware` and `details`."""


# -- the command line ------------------------------------------------------------------------------------------------


def plain_parser(text: str | None, json_help: str = "write the results to this file") -> argparse.ArgumentParser:
    """Return a parser whose description is the first line of a module's text, with `--json`."""
    parser = argparse.ArgumentParser(description=first_line(text))
    parser.add_argument("--json", type=Path, help=json_help)
    return parser


def parser_of(name: str, text: str | None, *groups: type) -> Parser:
    """Return a parser for `python -m benchmarks.NAME` with the options of some dataclasses."""
    parser = Parser(prog=f"python -m benchmarks.{name}", description=first_line(text))
    for options in groups:
        add_flags(parser, options)
    return parser


def first_line(text: str | None) -> str:
    """Return the first line of a module's text, which python -OO leaves out."""
    return (text or "").partition("\n")[0]


# -- times -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spent:
    """Seconds of a call by the clock, and by the processor over all threads of this process.

    Other load lengthens the first and hardly the second; but the second does not see that threads work side by side,
    and counts those that spin while they wait.
    """

    clock: float
    processor: float


def spent(run: Callable[[], object]) -> Spent:
    """Time one call."""
    clock, processor = time.perf_counter(), time.process_time()
    run()
    return Spent(time.perf_counter() - clock, time.process_time() - processor)


def processor_seconds(run: Callable[[], object], times: int = 1) -> float:
    """Return the mean processor time of a call, over so many of them."""
    started = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - started) / times


def clock_seconds(run: Callable[[], object]) -> float:
    """Return the time of a call by the clock."""
    return spent(run).clock


@dataclass(frozen=True)
class Rate:
    """Of a call: how much of something by second of the clock, and by second of the processor over all threads."""

    clock: float
    processor: float


def rate(run: Callable[[], object], amount: float) -> Rate:
    """Time a call that takes so much of something. That its answer is freed again is part of it."""
    seconds = spent(run)
    return Rate(amount / seconds.clock, amount / seconds.processor)


def counted_rate(run: Callable[[], int]) -> Rate:
    """Time a call that returns how much it made."""
    counts: list[int] = []
    seconds = spent(lambda: counts.append(run()))
    return Rate(counts[0] / seconds.clock, counts[0] / seconds.processor)


def typical_rates(
    rates: Mapping[str, Sequence[Rate]], digits: int | None = None
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Return for each way: the median by the clock, the best by the clock, and the median by the processor."""
    clock, best, processor = {}, {}, {}
    for way, runs in rates.items():
        by_clock = [run.clock for run in runs]
        clock[way] = round(statistics.median(by_clock), digits)
        best[way] = round(max(by_clock), digits)
        processor[way] = round(statistics.median(run.processor for run in runs), digits)
    return clock, best, processor


def in_turns(ways: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """Let every way run once in each round, so that other load on the machine meets all of them alike."""
    answers: defaultdict[str, list[T]] = defaultdict(list)
    for _ in range(rounds):
        for way, run in ways.items():
            answers[way].append(run())
    return answers


def medians(values: Mapping[str, Sequence[float]], digits: int | None = None) -> dict[str, float]:
    """Return the median of each way: one round that something disturbed does not move it."""
    return rounded({way: statistics.median(of_way) for way, of_way in values.items()}, digits)


def rounded(figures: Mapping[K, float], digits: int | None) -> dict[K, float]:
    """Return figures with so many digits behind the point."""
    return {name: round(value, digits) for name, value in figures.items()}


def in_threads(targets: Iterable[Callable[[], object]], meanwhile: Callable[[], object] = lambda: None) -> None:
    """Run all targets at the same time, and something in this thread; returns when all have ended."""
    threads = []
    for target in targets:
        threads.append(threading.Thread(target=target))
        threads[-1].start()
    meanwhile()
    for thread in threads:
        thread.join()


def folder_bytes(folder: Path) -> int:
    """Return the size of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


# -- results ---------------------------------------------------------------------------------------------------------


def result(
    name: str, unit: str, ours: Figure, baseline: Figure, ratio: Figure, details: Any, hardware: str = HARDWARE
) -> Result:
    """Return a result in the form of all benchmarks; None is what was not measured."""
    # The ratio is given, as only the measure knows its direction: rates are divided by the baseline's, and the
    # baseline's times by ours, so that more than 1 is better. Costs of a part, which only ours has, are above 1.
    figures = {"name": name, "ratio": ratio, "ours": ours, "baseline": baseline, "unit": unit}
    return {**figures, "hardware": hardware, "details": details}


def compared(row: Result) -> str:
    """Return a result as the line that is printed of it."""
    return f"{row['name']}: {row['ours']} against {row['baseline']} {row['unit']}, {row['ratio']}x"


def write_results(path: Path | str | None, results: Any) -> None:
    """Write what `--json` asks for."""
    if path is not None:
        atomic_write_json(Path(path), results)
