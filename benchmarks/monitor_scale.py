"""Measure the monitor on many runs and on a long one: a list of 200 runs, and the pages of a run of a million attempts.

    python -m benchmarks.monitor_scale [--runs 200] [--attempts 1000000] [--folder DIR] [--json PATH]

The runs are made first, which takes some minutes; with `--folder` they stay there, and are taken the next time. Times
are those of answers to one viewer; the memory is the monitor's, with the long run open.
"""

import json
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import requests

from benchmarks.measurement import clock_seconds, plain_parser, result, write_results
from benchmarks.monitor import ask, used_by
from benchmarks.monitor_run import make_run
from nanoproof.common.files import json_line
from nanoproof.monitor.server import start_monitor_process

STEPS, REPEATS = 300, 15
LONG = "rl/long"
QUESTIONS = """
    overview series?max_points=500 theorems theorems?q=swap&sort=seconds&order=desc attempts?size=50
    attempts?outcome=proven&page=100 actors timeline?last=300&max=8000 evaluations samples logs
"""


def make_small_run(path: Path, number: int) -> None:
    """Write the folder of a run that has ended: what it is, its metrics, some events."""
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
    with (path / "metrics.jsonl").open("w") as metrics:
        for step in range(1, STEPS + 1):
            metrics.write(json_line({"step": step, "time": start + step, "loss": 2 / step, "grad_norm": 1.0}))
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
    """Measure each question in milliseconds (median by the wall clock, by the processor), and memory in megabytes."""
    monitor = start_monitor_process(0)
    monitor.show_runs(folder)
    assert monitor.pid is not None
    process, session = psutil.Process(monitor.pid), requests.Session()
    try:
        requests.get(f"{monitor.address}/api/note", timeout=120)  # it has started
        # The list's baseline: a monitor that looked at every file anew would take as long each time.
        first = 1000 * clock_seconds(lambda: session.get(f"{monitor.address}/api/runs", timeout=120))
        times = {"runs": ask(session, process, f"{monitor.address}/api/runs", REPEATS)}
        begun = time.perf_counter()
        early: list[float] = []
        while True:  # the page while the log of attempts is being read
            url = f"{monitor.address}/api/overview?run={LONG}"
            early.append(1000 * clock_seconds(partial(session.get, url, timeout=120)))
            overview = session.get(url, timeout=120).json()
            if overview["indexing"]["done"]:
                break
            time.sleep(1.0)
        read = {"wall_seconds": time.perf_counter() - begun, "processor_seconds": used_by(process)}
        for question in QUESTIONS.split():
            mark = "&" if "?" in question else "?"
            times[question] = ask(session, process, f"{monitor.address}/api/{question}{mark}run={LONG}", REPEATS)
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


def report(measured: dict[str, Any], runs: int) -> list[str]:
    """Return the table, for docs/benchmarks.md."""
    lines = ["| request | median ms | slowest ms | processor ms | kB |", "|---|---|---|---|---|"]
    for question, row in measured["times"].items():
        name = f"`/api/{question}`" + (f", {runs} runs" if question == "runs" else "")
        cells = f"{row['median']:.0f} | {row['slowest']:.0f} | {row['processor']:.0f} | {row['kilobytes']:.0f}"
        lines.append(f"| {name} | {cells} |")
    read, (usual, worst) = measured["read"], measured["while_reading"]
    return [
        *lines,
        "",
        f"The first list took {measured['first_list']:.0f} ms. All {measured['attempts']:,} attempts were read after "
        f"{read['wall_seconds']:.0f} s ({read['processor_seconds']:.0f} s of the processor, with the start); "
        f"meanwhile the overview took {usual:.0f} ms, {worst:.0f} at most. Memory: {measured['memory']:.0f} MB.",
    ]


def main(argv: list[str] | None = None) -> None:
    """Make the runs, measure, and write the results."""
    parser = plain_parser(__doc__, "Write the results to this file too.")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="Where the runs are, are made and stay (default: they go).")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        make_folder(folder, options.runs, options.attempts)
        measured = measure(folder)
    print("\n".join(report(measured, options.runs)))
    listed, first = measured["times"]["runs"]["median"], measured["first_list"]
    write_results(options.json, result("monitor: list of many runs", "ms", listed, first, first / listed, measured))


if __name__ == "__main__":
    main()
