"""The monitor beside a believable simulated run. `python tests/test_cli.py` starts both, to look at and to work on."""

import argparse
import sys
import tempfile
import threading
from pathlib import Path

import pytest
import requests

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a program it is not started from the repository

from nanoproof.monitor.server import start_monitor
from tests.fakes.simulated_run import show_until_interrupted, write_history


@pytest.mark.nightly
def test_a_simulated_run_goes_on_and_is_shown(tmp_path: Path) -> None:
    run = write_history(tmp_path / "run", 120.0, actors=2, theorems=20)
    monitor = start_monitor(0)
    monitor.show(run.path, every_seconds=0)

    def steps() -> int:
        return len(requests.get(monitor.address + "/api/series", timeout=30).json()["steps"])

    before = steps()
    run.catch_up(run.now + 120.0)
    run.close()
    after = steps()
    monitor.close()
    assert after > before > 0


def main() -> None:
    """Until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Start the monitor with a simulated live run.")
    parser.add_argument("--port", type=int, default=5050, help="Port of the monitor; 0 takes a free one.")
    parser.add_argument("--hours", type=float, default=3.0, help="How long the run has been going on.")
    parser.add_argument("--token", help="Token that the monitor asks for.")
    parser.add_argument("--dir", type=Path, help="Where to write the run (default: a temporary directory).")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        path = options.dir or Path(temporary) / "simulated"
        run = write_history(path, 3600 * options.hours)
        over = threading.Event()
        worker = threading.Thread(target=run.go_on, args=(over.is_set,))
        worker.start()
        try:
            show_until_interrupted(path, options.port, f"simulated run in {path}", options.token)
        finally:
            over.set()
            worker.join()


if __name__ == "__main__":
    main()
