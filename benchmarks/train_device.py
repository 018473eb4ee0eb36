"""The training stages on one device: which cases are measured, and the table of what came out.

The cases run in a process of their own, which is replaced after an error, so that what fails in one leaves the others
alone: it stands in the table with its reason, as does what a device cannot do.
"""

import multiprocessing
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

import torch

from benchmarks.measurement import Result, result
from benchmarks.train_measures import Case, DeviceOptions, measure
from nanoproof.common.config import to_dict
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import code_revision
from nanoproof.model.network_options import ATTENTION_CHOICES

PATHS = [name for name in ATTENTION_CHOICES if name != "auto"]
# Of pretraining and attention the path that torch has by itself; of finetuning two padded rows for each transition.
BASELINES = {
    "pretrain": Case("pretrain", "sdpa"),
    "sft": Case("plain sft"),
    "plain sft": Case("plain sft"),
    "attention": Case("attention", "sdpa"),
}
"""What the cases of a part are compared with."""


def cases() -> list[Case]:
    """Return the lines of the table."""
    pretrain, sft, attention = (map(partial(Case, part), PATHS) for part in ("pretrain", "sft", "attention"))
    plain = Case("plain sft")
    special = [Case("pretrain"), Case("pretrain", compiled="off"), Case("pretrain", fp8=True)]
    return [*special, *pretrain, Case("sft"), *sft, plain, *attention]


def new_process() -> ProcessPoolExecutor:
    """Start a new process for the measurements."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def measure_device(device_type: str, options: DeviceOptions) -> list[Result]:
    """Measure all cases on a device, in the form of the benchmarks' results."""
    figures: dict[Case, dict[str, Any]] = {}
    pool = new_process()
    try:
        for case in cases():
            try:
                figures[case] = pool.submit(measure, case, device_type, options).result()
            except UserError as error:
                figures[case] = {"error": str(error)}
            # A kernel that fails leaves a device that nothing more can be done with; a process that the kernel killed
            # is gone. Both are the case's, and the next one gets a new process.
            except (RuntimeError, BrokenProcessPool) as error:
                figures[case] = {"error": (str(error).strip() or type(error).__name__).splitlines()[0]}
                pool.shutdown()
                pool = new_process()
            print(f"{describe_case(case)}: {format_case(figures[case])}", flush=True)
    finally:
        pool.shutdown()
    return [result_of(case, figures, options) for case in figures]


def describe_case(case: Case) -> str:
    """Describe a case in words."""
    ways = [f"attention {case.attention}"]
    if case.compiled == "off":
        ways.append("not compiled")
    if case.fp8:
        ways.append("fp8")
    return f"{case.part} ({', '.join(ways)})"


def format_case(figures: dict[str, Any]) -> str:
    """Format the figures of a case as one line."""
    return str(figures["error"]) if "error" in figures else f"{figures['rate']:,.0f} {figures['unit']}"


def rate_of(figures: dict[str, Any]) -> float | None:
    """Return the rate of a case; None if it did not run."""
    return round(figures["rate"], 1) if "rate" in figures else None


def result_of(case: Case, figures: dict[Case, dict[str, Any]], options: DeviceOptions) -> Result:
    """Return a case beside the baseline of its part; no ratio where one of them did not run."""
    own, base = figures[case], figures[BASELINES[case.part]]
    ours, baseline = rate_of(own), rate_of(base)
    ratio = round(own["rate"] / base["rate"], 2) if ours and baseline else None
    hardware = f"{own.get('device', base.get('device'))}, {platform.machine()}, torch {torch.__version__}"
    unit: Any = own.get("unit", base.get("unit"))  # of neither where both failed
    return result(describe_case(case), unit, ours, baseline, ratio, {**to_dict(options), **own}, hardware)


def _or_dash(figure: float | None, form: str) -> str:
    return "-" if figure is None else form.format(figure)


def markdown(results: list[Result]) -> str:
    """Render the results as a table for docs/benchmarks.md, with date, revision and device."""
    device = "nothing ran"
    for row in reversed(results):
        if row["ours"] is not None:
            device = row["hardware"]
    revision = code_revision()[:7]
    lines = [
        f"{time.strftime('%Y-%m-%d')}, revision `{revision}`, `benchmarks/train.py --device`, {device}",
        "",
        "| case | rate | to baseline | MFU | peak memory | rows | attention | compile | fp8 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results:
        details = row["details"]
        if row["ours"] is None:
            lines.append(f"| {row['name']} | - | - | - | - | - | {details['error']} | | |")
            continue
        # Of the maker's figure, which no product of matrices reaches: 80% of it is what one H200 gave.
        share = _or_dash(details.get("mfu"), "{:.1%}")
        memory, ratio = _or_dash(details["peak_gib"], "{:.1f} GiB"), _or_dash(row["ratio"], "{}")
        cells = [row["name"], f"{row['ours']:,} {row['unit']}", ratio, share, memory, str(details["rows"])]
        lines.append(f"| {' | '.join([*cells, details['attention'], details['compile'], details['fp8']])} |")
    return "\n".join(lines)
