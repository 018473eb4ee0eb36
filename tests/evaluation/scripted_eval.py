"""`scripts.prover_eval` over a scripted Lean, with a data set called `scripted`: an evaluation without servers.

Run as a module it is that command, so that it can be killed and torchrun can start it. The environment says how it is
to go: `SLOW` seconds for each call of Lean, `REFUSED` ids of theorems that are refused, `ACTORS` of each rank.
"""

import os
import time

from nanoproof.actors.fleet import Fleet
from nanoproof.common.errors import run_main
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.evaluation import command
from nanoproof.lean.types import Theorem, TheoremRejected
from scripts import prover_eval
from tests.fakes.lean import ScriptedLean

COUNT = 40
SCRIPT = {"A": {"intro h": ("B",)}, "B": {"rfl": ()}}


class Session(ScriptedLean):
    """Every theorem with an even number has a proof of two steps, the others have none."""

    def start(self, theorem):
        time.sleep(float(os.environ.get("SLOW", 0)))
        if theorem.id in os.environ.get("REFUSED", "").split():
            raise TheoremRejected("scripted refusal of the statement")
        self.root = "A" if int(theorem.id[1:]) % 2 == 0 else "C"
        return super().start(theorem)


class Client:
    address = "scripted:1"

    def lease(self, timeout):
        return Session(SCRIPT)


def scripted_theorems(split, lean_version=None):
    return [Theorem(f"theorem t{number} : True := by sorry", "scripted", f"t{number}") for number in range(COUNT)]


def open_fleet(options, dist):
    return Fleet([Client() for _ in range(int(os.environ.get("ACTORS", 2)))], None, "scripted", "scripted")


def words(output_dir, *more):
    """A command line."""
    names = ["--policy", "uniform", "--datasets", "scripted", "--num-simulations", "4", "--device-type", "cpu"]
    return [*names, "--log-level", "error", "--output-dir", str(output_dir), *map(str, more)]


def main(argv=None):
    sets.DATASETS["scripted"] = scripted_theorems
    command.open_fleet = open_fleet
    return prover_eval.main(argv)


if __name__ == "__main__":
    run_main(main)
