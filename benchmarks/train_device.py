"""The training stages on one device: which cases are measured, and the table of what came out.

The cases run in a process of their own, which is replaced after an error, so that what fails in one leaves the others
alone: it stands in the table with its reason, as does what a device cannot do.
"""

import multiprocessing
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import torch

from benchmarks.train_measures import Case, DeviceOptions, measure
from nanoproof.common.config import to_dict
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import code_revision
from nanoproof.model.network_options import ATTENTION_CHOICES

PATHS = [name for name in ATTENTION_CHOICES if name != "auto"]
BASELINES = {
    "pretrain": Case("pretrain", "sdpa"),
    "sft": Case("plain sft"),
    "plain sft": Case("plain sft"),
    "attention": Case("attention", "sdpa"),
}
"""What the cases of a part are compared with."""


def cases() -> list[Case]:
    """Return the lines of the table."""
    return [
        Case("pretrain"),
        Case("pretrain", compiled="off"),
        Case("pretrain", fp8=True),
        *(Case("pretrain", name) for name in PATHS),
        Case("sft"),
        *(Case("sft", name) for name in PATHS),
        Case("plain sft"),
        *(Case("attention", name) for name in PATHS),
    ]


def new_process() -> ProcessPoolExecutor:
    """Start a new process for the measurements."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def measure_device(device_type: str, options: DeviceOptions) -> list[dict[str, Any]]:
    """Measure all cases on a device, in the form of the benchmarks' results."""
    figures: dict[Case, dict[str, Any]] = {}
    pool = new_process()
    try:
        for case in cases():
            try:
                figures[case] = pool.submit(measure, case, device_type, options).result()
            except UserError as error:
                figures[case] = {"error": str(error)}
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
    words = [f"attention {case.attention}"]
    words += ["not compiled"] if case.compiled == "off" else []
    words += ["fp8"] if case.fp8 else []
    return f"{case.part} ({', '.join(words)})"


def format_case(figures: dict[str, Any]) -> str:
    """Format the figures of a case as one line."""
    return figures["error"] if "error" in figures else f"{figures['rate']:,.0f} {figures['unit']}"


def result_of(case: Case, figures: dict[Case, dict[str, Any]], options: DeviceOptions) -> dict[str, Any]:
    """Return a case beside the baseline of its part; no ratio where one of them did not run."""
    own, base = figures[case], figures[BASELINES[case.part]]
    rates = [round(one["rate"], 1) if "rate" in one else None for one in (own, base)]
    return {
        "name": describe_case(case),
        "ratio": round(own["rate"] / base["rate"], 2) if all(rates) else None,
        "ours": rates[0],
        "baseline": rates[1],
        "unit": own.get("unit", base.get("unit")),
        "hardware": f"{own.get('device', base.get('device'))}, {platform.machine()}, torch {torch.__version__}",
        "details": {**to_dict(options), **own},
    }


def markdown(results: list[dict[str, Any]]) -> str:
    """Render the results as a table for docs/benchmarks.md, with date, revision and device."""
    done = [result for result in results if result["ours"] is not None]
    device = done[0]["hardware"] if done else "nothing ran"
    revision = code_revision()[:7]
    lines = [
        f"{time.strftime('%Y-%m-%d')}, revision `{revision}`, `benchmarks/train.py --device`, {device}",
        "",
        "| case | rate | to baseline | MFU | peak memory | rows | attention | compile | fp8 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        details = result["details"]
        if result["ours"] is None:
            lines.append(f"| {result['name']} | - | - | - | - | - | {details['error']} | | |")
            continue
        share = "-" if details.get("mfu") is None else f"{100 * details['mfu']:.1f}%"
        memory = "-" if details["peak_gib"] is None else f"{details['peak_gib']:.1f} GiB"
        ratio = "-" if result["ratio"] is None else f"{result['ratio']}"
        words = [result["name"], f"{result['ours']:,} {result['unit']}", ratio, share, memory, str(details["rows"])]
        lines.append(f"| {' | '.join([*words, details['attention'], details['compile'], details['fp8']])} |")
    return "\n".join(lines)
