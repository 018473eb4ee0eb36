"""`nanoproof.rl` over a Lean that sleeps, as one torchrun agent among several starts it.

`SPAN` is a folder: while it holds `frozen_<rank>`, that rank's Lean says nothing, so that a step lasts until it is told
otherwise.
"""

import os
import time
from pathlib import Path
from unittest import mock

from nanoproof.actors.fleet import Fleet
from nanoproof.common import rank_watch
from nanoproof.common.errors import run_main
from nanoproof.rl import __main__ as rl
from nanoproof.rl import learner
from tests.rl import scripted_rl


class Session(scripted_rl.Session):
    def apply(self, branch, tactics):
        while (Path(os.environ["SPAN"]) / f"frozen_{os.environ['RANK']}").exists():
            time.sleep(0.05)
        return super().apply(branch, tactics)


class Slot(scripted_rl.Slot):
    def lease(self, timeout):
        return Session(scripted_rl.SCRIPT)


def main():
    rank_watch.BEAT_SECONDS = 0.2
    with (
        scripted_rl.scripted(),
        mock.patch.object(rl, "open_fleet", lambda *_: Fleet([Slot(), Slot()], None, "scripted", None)),
        mock.patch.object(learner, "model_policy", scripted_rl.Policy),
    ):
        return rl.main()


if __name__ == "__main__":
    run_main(main)
