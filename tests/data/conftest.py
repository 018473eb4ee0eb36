"""A small data set `nanolean`, with some proofs of the library (nightly all), made once for all tests of data."""

from pathlib import Path

import pytest

from nanolean.data.make import QUOTAS, Quota, make
from nanolean.tests.library import NIGHTLY
from nanoproof.data.nanolean import held_out_keys
from nanoproof.data.transitions.leantree import goal_object
from tests.data.library_part import make_library_part
from tests.helpers import made_once

SMALL = {name: Quota((3, 3, 2), tuple(map(min, (2, 2, 2, 2, 1, 1), quota.stated))) for name, quota in QUOTAS.items()}
SMALL["nat_identity"] = Quota((3, 3, 2), ())  # hardly any of its easy statements is left by the solvers


@pytest.fixture(scope="session")
def held_out() -> frozenset[str]:
    return held_out_keys()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, held_out: frozenset[str]) -> Path:
    """The folder of `train.jsonl`, `transitions.jsonl` and `manifest.json`."""

    def make_small(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            if not NIGHTLY:
                patch.setattr("nanolean.data.make.make_library", make_library_part)
            # One worker: each reads the library anew, which takes as long as a family.
            make(folder, lambda: held_out, 3, goal_object, workers=1, quotas=SMALL, exercises_each=0)

    return made_once(tmp_path_factory, "nanolean", make_small)
