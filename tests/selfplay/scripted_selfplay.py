"""`python -m nanoproof.selfplay` over a scripted model and a scripted Lean, with real training of a tiny network.

`main` plays an experiment to its end, in processes of its own that are killed on the way. It is given network, data,
folder and points, as `conjecture:1 verify:30 train:2`.

Each `POINT:N` kills a process (SIGKILL) at the N-th time that it comes to a point: `conjecture` and `proof`, when the
model is asked for one; `gather`, when the log of attempts was put in order; `verify`, when Lean is asked; `write`,
before a training set is written; `train`, before a step; `tensors`, when a file of a checkpoint was written; and
`trained`, after a training. The file `CHECKED` of the environment has what Lean was asked about.
"""

import os
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from nanoproof import sft
from nanoproof.actors.fleet import Fleet
from nanoproof.evaluation import command, results
from nanoproof.evaluation.sample_files import SampleFiles
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.model import checkpoint
from nanoproof.selfplay import __main__ as selfplay
from nanoproof.selfplay import rounds
from nanoproof.training import finetuning
from tests.evaluation import scripted_whole
from tests.evaluation.scripted_whole import RIGHT, chance

LEMMAS = ("lem_a", "lem_b", "lem_c")


class Points:
    """Counts how often each point was reached, and kills this process at one of them."""

    def __init__(self, point: str = "", number: int = 0) -> None:
        self.point, self.number = point, number
        self.seen: Counter[str] = Counter()

    def reach(self, point: str) -> None:
        self.seen[point] += 1
        if point == self.point and self.seen[point] == self.number:
            os.kill(os.getpid(), signal.SIGKILL)


POINTS = Points()


class Lean(scripted_whole.Lean):
    """Also says which lemmas a proof uses, and refuses statements that hold the word `ill`."""

    def start(self, theorem: Any) -> Any:
        return super().start(theorem) if " ill" not in theorem.source else _refuse()

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> Any:
        if "nanoproof_" not in source:
            POINTS.reach("verify")
        return super().check(source, seconds)

    def used_constants(self, source: str, seconds: float | None = None) -> tuple[str, ...]:
        proved = re.sub(r"nanoproof_\w+", "", source[source.index("theorem") :])
        return tuple(lemma for lemma in LEMMAS if chance("uses", lemma, proved) < 0.6)


def _refuse() -> Any:
    raise scripted_whole.TheoremRejected("scripted refusal of the statement")


class Client:
    address = "scripted:1"

    def lease(self, timeout: float) -> Lean:
        return Lean({})


class Model(scripted_whole.Model):
    """Proves each statement with a chance of its own, and states conjectures."""

    def _samples(self, prompt: str, options: GenerationOptions, seed: int) -> list[TextSample]:
        conjecturing = "<hard theorem>" in prompt
        POINTS.reach("conjecture" if conjecturing else "proof")
        found = []
        for number in range(options.num_samples):
            rng = random.Random(f"{seed}/{number}")
            found.append(self._conjecture(rng) if conjecturing else self._proof(prompt, rng))
        return [TextSample(text, -1.0, 5, True) for text in found]

    def _conjecture(self, rng: random.Random) -> str:
        kind = rng.choice(["fine"] * 6 + ["ill", ":= by"])
        number = rng.randrange(40)
        return kind if kind == ":= by" else f"theorem c{number} : {'True ∧ ill' if kind == 'ill' else f'{number} = x'}"

    def _proof(self, prompt: str, rng: random.Random) -> str:
        easy = chance("easy", prompt) ** 2
        return f"exact {RIGHT} -- {rng.randrange(4)}" if rng.random() < easy else f"simp -- {rng.randrange(4)}"

    def embed(self, texts: Sequence[str]) -> Any:
        return np.array([[chance(text, axis) - 0.5 for axis in range(4)] for text in texts], np.float32)


@contextmanager
def open_model(spec: str, dist: Any, texts: Any = None, limits: Any = None) -> Iterator[Model]:
    yield Model()


def open_fleet(options: Any, dist: Any) -> Fleet:
    return Fleet([Client() for _ in range(2)], None, "scripted", "scripted")  # type: ignore[list-item]


def patches() -> list[tuple[Any, str, Any]]:
    """What is replaced: (module, name, what it is replaced by)."""
    write_rows, train_step, train = rounds.write_rows, finetuning.train_step, sft.main
    gather, write_tensors = SampleFiles._gather, checkpoint._write_tensors

    def written(*args: Any) -> None:
        POINTS.reach("write")
        write_rows(*args)

    def gathered(files: SampleFiles) -> None:
        gather(files)
        POINTS.reach("gather")

    def wrote(*args: Any) -> str:
        digest = write_tensors(*args)
        POINTS.reach("tensors")
        return digest

    def stepped(*args: Any) -> dict[str, float]:
        POINTS.reach("train")
        return train_step(*args)

    def trained(values: Mapping[str, Any]) -> int:
        code = train(values)
        POINTS.reach("trained")
        return code

    return [
        # As in all tests (tests/conftest.py): each process would import matplotlib, which takes longer than a round.
        (results, "plot_curve", lambda summary, file: file.touch()),
        (command, "open_fleet", open_fleet),
        (command, "open_language_model", open_model),
        (rounds, "open_language_model", open_model),
        (SampleFiles, "_gather", gathered),
        (rounds, "write_rows", written),
        (checkpoint, "_write_tensors", wrote),
        (finetuning, "train_step", stepped),
        (sft, "main", trained),
    ]


def words(model: Path, dataset: Path, experiment: Path, *more: object) -> list[str]:
    """A command line."""
    lemmas = dataset.with_name("lemmas.json")
    found = ["--model-path", str(model), "--dataset-config", str(dataset), "--exp-dir", str(experiment)]
    found += ["--theorem-dict", str(lemmas), "--held-out", "none", "--device-type", "cpu", "--batch", "16"]
    return [*found, "--rounds", "3", "--samples-first", "12", "--samples", "12", "--time-decay", "0", *map(str, more)]


def main(arguments: Sequence[str]) -> int:
    """Play, killed at each of the points in turn, and then to the end; returns the last exit code."""
    model, dataset, experiment, *points = arguments
    line = words(Path(model), Path(dataset), Path(experiment))
    for point in [*points, ""]:
        child = os.fork()
        if child == 0:
            name, _, number = point.partition(":")
            POINTS.point, POINTS.number = name, int(number or 0)
            for module, attribute, value in patches():
                setattr(module, attribute, value)
            code = 1
            try:
                code = selfplay.main(line)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if point and not os.WIFSIGNALED(status):
            print(f"{point} was never reached", file=sys.stderr)
            return 1
    return os.waitstatus_to_exitcode(status)
