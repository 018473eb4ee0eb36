"""Measure the monitor on many runs and on a long one: a list of 200 runs, and the pages of a run of a million attempts.

    python -m benchmarks.monitor_scale [--runs 200] [--attempts 1000000] [--folder DIR] [--keep] [--json PATH]

The runs are made first, which takes some minutes; with `--folder`, those that `--keep` left there are taken. Times are
those of answers to one viewer, by the wall clock and by the monitor's processor time, which other load does not
distort; the memory is the monitor's, with the long run open. The baseline of the list is one that looks at every file
anew: the first request after the start.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import requests

from benchmarks.monitor import processor_seconds, time_of
from benchmarks.monitor_run import make_run
from nanoproof.monitor.server import start_monitor_process

STEPS, REPEATS = 300, 15
LONG = "rl/long"
QUESTIONS = (
    "overview",
    "series?max_points=500",
    "theorems",
    "theorems?q=swap&sort=seconds&order=desc",
    "attempts?size=50",
    "attempts?outcome=proven&page=100",
    "actors",
    "timeline?last=300&max=8000",
    "evaluations",
    "samples",
    "logs",
)


def make_small_run(path: Path, number: int) -> None:
    """The folder of a run that has ended: what it is, its metrics, some events."""
    path.mkdir(parents=True)
    start = time.time() - 3600.0 * (number + 1)
    stage = ("sft", "rl")[number % 2]
    meta = {
        "command": [f"/x/nanoproof/{stage}.py", "--seed", str(number)],
        "started": time.strftime("%Y-%m-%dT%H:%M:%S+0000", time.gmtime(start)),
        "versions": {"nanoproof": f"{number:040x}"},
        "hardware": {"host": "a"},
    }
    (path / "meta.json").write_text(json.dumps(meta))
    (path / "args.json").write_text(json.dumps({"seed": number, "num_steps": STEPS}))
    rows = ({"step": step, "time": start + step, "loss": 2 / step, "grad_norm": 1.0} for step in range(1, STEPS + 1))
    (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    event = {"time": start + STEPS, "kind": "evaluation", "step": STEPS, "dataset": "nanolean", "split": "valid"}
    (path / "events.jsonl").write_text(json.dumps({**event, "solved": number % 64, "total": 64}) + "\n")
    (path / "finished").touch()


def make_folder(folder: Path, runs: int, attempts: int) -> None:
    """Write what is not there yet."""
    for number in range(runs):
        path = folder / ("sft", "rl")[number % 2] / f"run_{number:03}"
        if not path.exists():
            make_small_run(path, number)
    if not (folder / LONG).exists():
        make_run(folder / LONG, attempts, 200).close()


def measure(folder: Path) -> dict[str, Any]:
    """Milliseconds (median by the wall clock, by the processor) of each question, memory in megabytes."""
    monitor = start_monitor_process(0)
    monitor.show_runs(folder)
    assert monitor.pid is not None
    process, session = psutil.Process(monitor.pid), requests.Session()
    try:
        requests.get(f"{monitor.address}/api/note", timeout=120)  # it has started
        first = 1000 * time_of(lambda: session.get(f"{monitor.address}/api/runs", timeout=120))
        times = {"runs": ask(session, process, f"{monitor.address}/api/runs")}
        begun = time.perf_counter()
        early: list[float] = []
        while True:  # the page while the log of attempts is being read
            early.append(1000 * time_of(lambda: session.get(f"{monitor.address}/api/overview?run={LONG}", timeout=120)))
            overview = session.get(f"{monitor.address}/api/overview?run={LONG}", timeout=120).json()
            if overview["indexing"]["done"]:
                break
            time.sleep(1.0)
        read = {"wall_seconds": time.perf_counter() - begun, "processor_seconds": processor_seconds(process)}
        for question in QUESTIONS:
            mark = "&" if "?" in question else "?"
            times[question] = ask(session, process, f"{monitor.address}/api/{question}{mark}run={LONG}")
        memory = process.memory_info().rss / 1e6
    finally:
        monitor.close()
    return {
        "first_list": first,
        "times": times,
        "while_reading": [statistics.median(early), max(early)],
        "read": read,
        "memory": memory,
        "attempts": overview["attempts"],
    }


def ask(session: requests.Session, process: psutil.Process, url: str) -> dict[str, float]:
    """Ask the same again and again."""
    before = processor_seconds(process)
    times = [1000 * time_of(lambda: session.get(url, timeout=120)) for _ in range(REPEATS)]
    busy = 1000 * (processor_seconds(process) - before) / REPEATS
    size = len(session.get(url, timeout=120).content)
    return {"median": statistics.median(times), "slowest": max(times), "processor": busy, "kilobytes": size / 1000}


def report(found: dict[str, Any], runs: int) -> list[str]:
    """The table, for docs/benchmarks.md."""
    lines = ["| request | median ms | slowest ms | processor ms | kB |", "|---|---|---|---|---|"]
    for question, one in found["times"].items():
        name = f"`/api/{question}`" + (f", {runs} runs" if question == "runs" else "")
        cells = f"{one['median']:.0f} | {one['slowest']:.0f} | {one['processor']:.0f} | {one['kilobytes']:.0f}"
        lines.append(f"| {name} | {cells} |")
    read, (usual, worst) = found["read"], found["while_reading"]
    return [
        *lines,
        "",
        f"The first list took {found['first_list']:.0f} ms. All {found['attempts']:,} attempts were read after "
        f"{read['wall_seconds']:.0f} s ({read['processor_seconds']:.0f} s of the processor, with the start); "
        f"meanwhile the overview took {usual:.0f} ms, {worst:.0f} at most. Memory: {found['memory']:.0f} MB.",
    ]


def main(argv: list[str] | None = None) -> None:
    """Make the runs, measure, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="Where the runs are or are made (default: a folder of its own).")
    parser.add_argument("--keep", action="store_true", help="Leave the runs there.")
    parser.add_argument("--json", type=Path, help="Write the results to this file too.")
    options = parser.parse_args(argv)
    folder = options.folder or Path(tempfile.mkdtemp())
    try:
        make_folder(folder, options.runs, options.attempts)
        found = measure(folder)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(report(found, options.runs)))
    if options.json:
        listed = found["times"]["runs"]["median"]
        record = {
            "name": "monitor: list of many runs",
            "ratio": found["first_list"] / listed,
            "ours": listed,
            "baseline": found["first_list"],
            "unit": "ms",
            "hardware": f"{platform.machine()}, {os.cpu_count()} cores",
            "details": found,
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
