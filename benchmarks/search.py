"""Simulations per second of the search with a Lean and a policy that cost nothing, against the plain transcription.

    python -m benchmarks.search [--num-simulations 4000] [--repeats 3] [--json PATH]

Both grow the same tree in the same random world (checked); a run before the timed ones fills the world's tables.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.plain_search import plain_search
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import or_node
from nanoproof.search.search import search
from tests.fakes.world import RandomLean, RandomPolicy, state


def rate(run: Callable[[], float], num_simulations: int, repeats: int) -> float:
    """Simulations per second of the median of `repeats` runs, after one that does not count."""
    run()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return num_simulations / statistics.median(seconds)


def compare(preset: str, num_simulations: int, repeats: int) -> dict[str, Any]:
    """Time both searches with the constants of `preset`; no tactic closes a branch, so neither ends early."""
    config = SearchConfig.preset(preset)  # type: ignore[arg-type]
    lean, policy = RandomLean(seed=1, num_states=1_000_000, close=0.0), RandomPolicy(seed=1)

    def ours() -> float:
        root = or_node(state(0))
        search(root, policy.again(), lean, config, num_simulations, SearchLog())
        return root.value_sum

    def baseline() -> float:
        return float(plain_search(state(0), policy.again(), lean, config, num_simulations)["W"])

    assert abs(ours() - baseline()) < 1e-6 * num_simulations, "the two searches grew different trees"
    rates = [rate(run, num_simulations, repeats) for run in (ours, baseline)]
    return {
        "name": f"search ({preset} constants)",
        "ratio": round(rates[0] / rates[1], 2),
        "ours": round(rates[0]),
        "baseline": round(rates[1]),
        "unit": "simulations/s",
        "hardware": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "details": {"num_simulations": num_simulations, "repeats": repeats, "samples_per_expansion": 6},
    }


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--num-simulations", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    args = parser.parse_args(argv)
    results = [compare(preset, args.num_simulations, args.repeats) for preset in ("default", "alphaproof")]
    for result in results:
        print(f"{result['name']}: {result['ours']} against {result['baseline']} {result['unit']}, {result['ratio']}x")
    if args.json is not None:
        args.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    main()
