"""What NanoLean answers, as one digest, and the processor time that it takes: is a faster one the same prover?

    git worktree add /tmp/before v2; python -m benchmarks.nanolean_answers --against /tmp/before --pairs 3

Every state of the benchmark's reference proofs gets what a search without solvers tries there: `grind`, tactics drawn
from all proofs, most of which are refused, as a policy's are, and its own. The digest is over all answers, goals and
messages, but for the numbers of metavariables. With `--against` another checkout does the same in turns with this one,
each in a process of its own, and the ratios are printed by pair.
"""

import argparse
import hashlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.nanolean import Proof, reference_proofs
from nanolean.kernel.budget import allow_deep_recursion
from nanolean.library.loader import load_library
from nanolean.repl import Repl
from nanoproof.common.run_dir import REPO_ROOT

NUMBERS = re.compile(r"\?m\.\d+")
"""Unnamed metavariables in messages: their numbers count on from whatever the process did before."""
FINISHERS = ("grind",)
"""What `--disable-solvers`, as in the quickstart, tries at each new leaf."""


class Workload:
    """Plays proofs with foreign tactics at each state; keeps the digest, and processor seconds by tactic."""

    def __init__(self, proofs: list[Proof], foreign: int, seed: int) -> None:
        self.repl = Repl(load_library())
        self.digest = hashlib.sha256()
        self.seconds: dict[str, float] = defaultdict(float)
        self.answers = 0
        self._foreign = foreign
        self._random = random.Random(seed)
        self._tactics = sorted({tactic for proof in proofs for tactic in proof.tactics})

    def play(self, proof: Proof) -> None:
        """Run a proof; at each of its states other tactics are tried first, which changes nothing for the next."""
        # As a policy without much training would: most of what is tried at a state is refused there.
        answer = self._ask("(statement)", {"cmd": proof.source})
        number = answer["sorries"][0]["proofState"]
        for tactic in proof.tactics:
            drawn = self._random.sample(self._tactics, min(self._foreign, len(self._tactics)))
            for other in [*FINISHERS, *drawn]:
                self._ask(other, {"tactic": other, "proofState": number})
            answer = self._ask(tactic, {"tactic": tactic, "proofState": number})
            number = answer["proofState"]
        self.repl.answer({"prune_all": True})

    def _ask(self, tactic: str, request: dict[str, Any]) -> dict[str, Any]:
        # Processor time of the answer alone: the digest is ours, and would be the same on both sides.
        started = time.process_time()
        answer = self.repl.answer(request)
        self.seconds[tactic.split()[0]] += time.process_time() - started
        self.digest.update(NUMBERS.sub("?m", json.dumps(answer, sort_keys=True)).encode())
        self.answers += 1
        return answer


def run_here(theorems: int, foreign: int, seed: int) -> dict[str, Any]:
    """Run the workload in this process and return digest, number of answers, and seconds in all and by tactic."""
    allow_deep_recursion()
    proofs = reference_proofs(theorems)
    work = Workload(proofs, foreign, seed)
    for proof in proofs:
        work.play(proof)
    slowest = sorted(work.seconds.items(), key=lambda item: -item[1])[:12]
    total = sum(work.seconds.values())
    return {"digest": work.digest.hexdigest(), "answers": work.answers, "seconds": total, "by_tactic": slowest}


def run_checkout(checkout: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Run the workload with the `nanolean` of a checkout, by this script; returns what `run_here` does."""
    # The script is this one, so that a checkout from before it existed can be measured, and it imports nothing of
    # `benchmarks` that is younger than the checkout may be; -P, as a folder with our own nanolean.py would come first.
    path = os.pathsep.join([str(checkout), str(REPO_ROOT)])
    options = ["--theorems", str(args.theorems), "--foreign", str(args.foreign), "--seed", str(args.seed), "--json"]
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).resolve()), *options],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def compare(args: argparse.Namespace) -> int:
    """Measure both checkouts in turns; exit code 1 if their answers differ."""
    ratios = []
    for pair in range(args.pairs):
        before, now = run_checkout(args.against.resolve(), args), run_checkout(REPO_ROOT, args)
        if before["digest"] != now["digest"]:
            print(f"the answers differ: {before['digest'][:16]} there, {now['digest'][:16]} here")
            return 1
        # In pairs, and the median of their ratios: load that comes and goes meets both of a pair.
        ratios.append(before["seconds"] / now["seconds"])
        print(f"pair {pair + 1}: {before['seconds']:.2f} s there, {now['seconds']:.2f} s here, {ratios[-1]:.2f}x")
    print(f"the same {now['answers']} answers ({now['digest'][:16]}), median {statistics.median(ratios):.2f}x")
    return 0


def main(argv: list[str] | None = None) -> int:
    """Print digest and times of this checkout, or compare it with another one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--theorems", type=int, default=100, help="how many of the benchmark's theorems to run")
    parser.add_argument("--foreign", type=int, default=6, help="how many tactics of other proofs to try at each state")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--against", type=Path, help="another checkout of the project to compare with")
    parser.add_argument("--pairs", type=int, default=3, help="how often both are measured, in turns")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    args = parser.parse_args(argv)
    if args.against is not None:
        return compare(args)
    result = run_here(args.theorems, args.foreign, args.seed)
    if args.json:
        print(json.dumps(result))
        return 0
    print(f"{result['answers']} answers in {result['seconds']:.2f} s of processor time, digest {result['digest'][:16]}")
    for tactic, seconds in result["by_tactic"]:
        print(f"  {tactic:<14}{seconds:8.2f} s{100 * seconds / result['seconds']:7.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
