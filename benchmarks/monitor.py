"""Measure what the monitor costs a run, and how fast it responds.

    python -m benchmarks.monitor [--parts viewers answers] [--viewers 50] [--seconds 20] [--run DIR]

viewers  A stand-in for a run (status, timeline, attempts, metrics of 2 ranks with 16 actors each) writes at the rate of
         a real one and has the monitor as its child. By turns nobody and `--viewers` pages look at it: live updates all
         the time, and overview, series and theorems asked for anew every five seconds. Counted is processor time, of
         the run's process and of the monitor's.
answers  The time of each answer on a run of 100,000 attempts and 1,000 evaluations (benchmarks/monitor_run.py makes it;
         --run takes one that is there), while nobody else asks.
"""

import argparse
import http.client
import multiprocessing
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import psutil
import requests

from benchmarks.measurement import clock_seconds, first_line
from benchmarks.monitor_run import make_run
from nanoproof.monitor.server import MonitorProcess, start_monitor_process
from tests.fakes.simulated_run import write_history

ROUNDS = 3
PAGE_SECONDS = 5.0
PAGE = ("/api/overview", "/api/series", "/api/theorems")
WARMUP_SECONDS = 3.0


# -- viewers -----------------------------------------------------------------------------------------------------


def stand_in(path: str, pipe: Connection) -> None:
    """Write a run beside its monitor, as a process of its own; sends the address and the monitor's process id."""
    run = write_history(Path(path), 60.0, actors=16)
    monitor = start_monitor_process(0)
    monitor.show(Path(path))
    pipe.send((monitor.address, monitor.pid))
    run.go_on(pipe.poll, tick=1.0)
    monitor.close()


class Viewers:
    """Threads of this process that look at a monitor as the page does."""

    def __init__(self, address: str, count: int) -> None:
        self._address, self._over = address, threading.Event()
        self._received = [0] * count
        self._threads = [threading.Thread(target=self._look, args=(number,)) for number in range(count)]
        # One after the other, as people come, and not in a rush that the server's backlog would have to hold.
        for thread in self._threads:
            thread.start()
            time.sleep(0.01)

    def _look(self, number: int) -> None:
        host = urlsplit(self._address)
        stream = http.client.HTTPConnection(str(host.hostname), host.port, timeout=30)
        stream.request("GET", "/api/stream")
        answer = stream.getresponse()
        # At other times than the others: all at once they would be a load that comes every five seconds.
        asked = time.monotonic() + PAGE_SECONDS * (number % 10) / 10
        while not self._over.is_set():
            self._received[number] += len(answer.read1(1 << 16))
            if time.monotonic() > asked:
                asked = time.monotonic() + PAGE_SECONDS
                for url_path in PAGE:
                    self._received[number] += len(requests.get(self._address + url_path, timeout=30).content)
        stream.close()

    @property
    def received(self) -> int:
        """Bytes that all of them got."""
        return sum(self._received)

    def close(self) -> None:
        """Disconnect all viewers."""
        self._over.set()
        for thread in self._threads:
            thread.join()


def used_by(process: psutil.Process) -> float:
    """Return the processor seconds of another process."""
    times = process.cpu_times()
    return float(times.user + times.system)


def measure_viewers(count: int, seconds: float) -> dict[str, Any]:
    """Measure shares of a core, by turns without viewers and with them."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with tempfile.TemporaryDirectory() as folder:
        process = context.Process(target=stand_in, args=(f"{folder}/run", theirs))
        process.start()
        address, pid = ours.recv()
        watched = {"run": psutil.Process(process.pid), "monitor": psutil.Process(pid)}
        shares: defaultdict[str, list[float]] = defaultdict(list)
        received = 0
        time.sleep(WARMUP_SECONDS)
        for _ in range(ROUNDS):
            for who, number in (("alone", 0), ("watched", count)):
                viewers = Viewers(address, number)
                # A page asks for everything when it is opened: that is over when the counting begins.
                time.sleep(WARMUP_SECONDS)
                before, started = {name: used_by(of) for name, of in watched.items()}, time.monotonic()
                time.sleep(seconds)
                passed = time.monotonic() - started
                for name, of in watched.items():
                    shares[f"{name} {who}"].append((used_by(of) - before[name]) / passed)
                viewers.close()
                received += viewers.received
        memory = watched["monitor"].memory_info().rss
        ours.send("over")
        process.join(30)
    return {"shares": shares, "memory": memory, "received": received / ROUNDS / (seconds + WARMUP_SECONDS)}


# -- answers -----------------------------------------------------------------------------------------------------


def api_requests(address: str) -> list[str]:
    """Return the requests of the pages, with names of this run."""

    def get(url_path: str) -> Any:
        return requests.get(address + url_path, timeout=60).json()

    theorem = get("/api/theorems?outcome=proven")["items"][0]
    attempts = get("/api/attempts?size=500")["items"]
    attempt = "/api/attempts/{rank}/{step}/{seq}".format(**attempts[-1])
    trees = []
    for row in attempts:
        if row["tree"]:
            trees.append("/api/attempts/{rank}/{step}/{seq}/tree".format(**row))
    # The dearest answers that this run has: its largest tree, a page far back, a list that is searched and sorted.
    largest = max(trees, key=lambda url_path: get(url_path)["nodes"])
    rows = [row["name"] for row in get("/api/evaluations?size=1000")["items"] if row["dataset"] == "simulated"]
    return [
        *("/api/run", "/api/overview", "/api/series", "/api/actors", "/api/timeline", "/api/theorems"),
        *("/api/theorems?q=swap&sort=seconds&order=desc", "/api/theorems?sort=tactics&order=asc&page=300"),
        "/api/theorem?" + urlencode({"dataset": theorem["dataset"], "id": theorem["id"]}),
        *("/api/attempts", "/api/attempts?outcome=error&page=10", attempt, largest),
        *("/api/samples", "/api/train-samples", "/api/calibration", "/api/evaluations?size=1000"),
        *(f"/api/evaluations/{rows[0]}", f"/api/evaluations/diff?a={rows[0]}&b={rows[-1]}", "/api/logs", "/api/trace"),
    ]


def measure_answers(path: Path, repeats: int) -> dict[str, Any]:
    """Measure the milliseconds of each answer, and of the processor for it, and the time to read all of the run."""
    started = time.perf_counter()
    monitor = start_monitor_process(0)
    try:
        monitor.show(path)
        # A user waits for the first answer; the log of attempts is read beside that.
        first = clock_seconds(lambda: requests.get(monitor.address + "/api/overview", timeout=60))
        while not requests.get(monitor.address + "/api/run", timeout=60).json()["indexing"]["done"]:
            time.sleep(0.05)
        return {"first": first, "ready": time.perf_counter() - started, "rows": measure_requests(monitor, repeats)}
    finally:
        monitor.close()


def measure_requests(monitor: MonitorProcess, repeats: int) -> dict[str, Any]:
    """Return each request with its times and its size."""
    rows: dict[str, Any] = {}
    assert monitor.pid is not None
    process = psutil.Process(monitor.pid)
    with requests.Session() as session:
        for url_path in api_requests(monitor.address):
            label = url_path if len(url_path) < 60 else url_path.split("?")[0] + "?…"
            rows[label] = ask(session, process, monitor.address + url_path, repeats)
    rows["memory"] = process.memory_info().rss
    return rows


def ask(session: requests.Session, process: psutil.Process, url: str, repeats: int) -> dict[str, float]:
    """Ask the same again and again on one connection; milliseconds of the clock and of the monitor's process."""
    # The slowest is of the machine as much as of the monitor; the processor's time is what other load hardly moves.
    before = used_by(process)
    times = [1000 * clock_seconds(lambda: session.get(url, timeout=120)) for _ in range(repeats)]
    busy = 1000 * (used_by(process) - before) / repeats
    size = len(session.get(url, timeout=120).content)
    return {"median": statistics.median(times), "slowest": max(times), "processor": busy, "kilobytes": size / 1000}


# -- report ------------------------------------------------------------------------------------------------------


def report_viewers(measured: dict[str, Any], count: int) -> list[str]:
    lines = [
        "",
        f"| share of a core, median of {ROUNDS} rounds (each) | no viewer | {count} viewers |",
        "|---|---|---|",
    ]
    for name in ("run", "monitor"):
        cells = []
        for who in ("alone", "watched"):
            shares = measured["shares"][f"{name} {who}"]
            rounds = ", ".join(f"{100 * share:.1f}" for share in shares)
            cells.append(f"{100 * statistics.median(shares):.1f}% ({rounds})")
        lines.append(f"| the {name}'s process | {' | '.join(cells)} |")
    memory, received = measured["memory"] / 1e6, measured["received"] / 1e6
    return [*lines, "", f"The monitor took {memory:.0f} MB; the viewers got {received:.1f} MB per second."]


def report_answers(measured: dict[str, Any]) -> list[str]:
    lines = ["", "| question | median ms | slowest ms | processor ms | kB |", "|---|---|---|---|---|"]
    memory = measured["rows"].pop("memory")
    for url_path, row in measured["rows"].items():
        cells = f"{row['median']:.1f} | {row['slowest']:.1f} | {row['processor']:.1f} | {row['kilobytes']:.0f}"
        lines.append(f"| `{url_path}` | {cells} |")
    times = f"first answer after {measured['first']:.1f} s, all read after {measured['ready']:.1f} s"
    return [*lines, "", f"From the start of the process: {times}, {memory / 1e6:.0f} MB."]


def main(argv: list[str] | None = None) -> None:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--parts", nargs="+", choices=("viewers", "answers"), default=["viewers", "answers"])
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0, help="Length of each turn.")
    parser.add_argument("--repeats", type=int, default=20, help="How often each question is asked.")
    parser.add_argument("--run", type=Path, help="A run to ask about (default: one is made).")
    parser.add_argument("--attempts", type=int, default=100_000)
    parser.add_argument("--evaluations", type=int, default=1000)
    options = parser.parse_args(argv)
    lines: list[str] = []
    if "viewers" in options.parts:
        lines += report_viewers(measure_viewers(options.viewers, options.seconds), options.viewers)
    if "answers" in options.parts:
        with tempfile.TemporaryDirectory() as folder:
            path = options.run or Path(folder) / "run"
            if options.run is None:
                make_run(path, options.attempts, options.evaluations).close()
            lines += report_answers(measure_answers(path, options.repeats))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
