"""Reinforcement learning over a scripted Lean and a scripted policy, in this process or in others of one or more ranks.

The process of `Runs` is forked from the one that has imported torch for all tests (`start_forked`), and forks one for
each rank of a run: nothing is imported twice. It is asked for a run by its ranks, its command line, and the seconds
that a call of Lean takes; with `loses` Lean has no more than that to say of finished texts. It answers with the numbers
of the processes, and with their exit codes once all ended.
"""

import gc
import importlib
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from nanoproof.actors.fleet import Fleet
from nanoproof.common.errors import run_main
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.evaluation import results
from nanoproof.lean.types import ProtocolError, Theorem
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.policy.tactic_policy import PolicyLoad
from nanoproof.rl import __main__ as rl
from nanoproof.rl import hub_learner, learner
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.helpers import free_port, start_forked
from tests.training import small

COUNT = 12
SCRIPT = {f"A{n}": {"step": (f"B{n}",)} for n in range(COUNT - 2)} | {f"B{n}": {"close": ()} for n in range(COUNT - 2)}
SCRIPT |= {f"A{COUNT - 1}": {"step": ("H", "hopeless")}, "H": {"step": ("I",)}, "I": {"close": ()}}


def theorems(split: str = "train", lean_version: str | None = None) -> list[Theorem]:
    """The last two cannot be proved; of the last one, a subgoal can."""
    return [Theorem(f"theorem t{n} : A{n} := by sorry", "scripted", f"t{n}") for n in range(COUNT)]


class Session(ScriptedLean):
    """Starts at the state of its theorem or subgoal; a call takes `SLOW` seconds. `LOSES`: said of finished texts."""

    def start(self, theorem: Theorem) -> Any:
        is_subgoal = "theorem subgoal_" in theorem.source
        return branch(theorem.source.split()[-4] if is_subgoal else theorem.id.replace("t", "A"))

    def apply(self, branch: Any, tactics: Sequence[str]) -> Any:
        time.sleep(float(os.environ.get("SLOW", 0.001)))
        return super().apply(branch, tactics)

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> Any:
        if reason := os.environ.get("LOSES"):
            raise ProtocolError(reason)
        return super().check(source)


class Slot:
    address = "scripted:1"

    def lease(self, timeout: float) -> Session:
        return Session(SCRIPT)


class Policy(ScriptedPolicy):
    """Knows the tactics of all states. `log` says when it rested."""

    log: list[str]

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__({}, default=suggestion(["wrong", "step", "close"], 2.0))
        Policy.log = []

    def pause(self, release: bool = False) -> None:
        self.log.append("pause")

    def resume(self) -> None:
        self.log.append("resume")

    def renew(self) -> None:
        self.log.append("renew")

    def load(self) -> PolicyLoad:
        return PolicyLoad(0, 0.0, 0, 0, 0)

    def close(self) -> None: ...


@contextmanager
def scripted() -> Iterator[None]:
    """`rl.main` runs over scripts meanwhile."""
    fleet = Fleet([Slot(), Slot()], None, "scripted", None)  # type: ignore[list-item]
    with (
        mock.patch.dict(sets.DATASETS, scripted=theorems, twin=theorems),
        mock.patch.object(rl, "open_fleet", lambda *_: fleet),
        mock.patch.object(learner, "model_policy", Policy),
        mock.patch.object(hub_learner.HubLearner, "make_policy", Policy),
        mock.patch.object(results, "plot_curve"),  # matplotlib takes longer than all the rest
    ):
        yield


def make_model(folder: Path) -> Path:
    """A network to start from, and the SFT data."""
    tokenizer = small.tokenizer()
    small.write_leantree(folder / "data.jsonl", small.transitions())
    save_checkpoint(folder, 0, small.model(tokenizer), tokenizer, extra={"stage": "sft"})
    return folder


def words(model: Path, run_path: Path, **options: object) -> list[str]:
    """The command line of a run."""
    values: dict[str, object] = {
        **{"model_path": model, "run_dir": run_path, "sft_data": model / "data.jsonl", "datasets": "scripted"},
        **{"eval_datasets": "scripted", "num_simulations_eval": 4, "max_eval_theorems": 4, "eval_start": False},
        **{"collect_transitions": 6, "target_examples_per_step": 6, "row_length": 128, "save_every": "never"},
        **{"mm_base_simulations": 4, "num_steps": 2, "monitor_port": "none", "eval_every": "never"},
        **{"device_type": "cpu", "log_level": "warning", **options},
    }
    line = []
    for name, value in values.items():
        flag = name.replace("_", "-")
        line += [f"--{'' if value else 'no-'}{flag}"] if isinstance(value, bool) else [f"--{flag}", str(value)]
    return line


USED_LATE = ("torch._dynamo", "torch.distributed.tensor")
HUB_USED_LATE = (
    "transformers.models.llama.modeling_llama",
    "peft",
    "torch.distributed.fsdp",
    "torch.distributed.checkpoint",
)
"""What a run of our network imports when it is under way, and a run of a model of transformers besides."""


class Runs:
    """Runs that can be given signals. What they are forked from imports `modules` once for all of them."""

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = start_forked(serve, theirs, [*USED_LATE, *modules])
        theirs.close()  # so that its end is the end of the pipe

    def start(self, argv: Sequence[str], ranks: int = 1, slow: float = 0.001, loses: str = "") -> list[int]:
        """Start a run; returns the processes of its ranks."""
        self._pipe.send({"ranks": ranks, "argv": list(argv), "slow": slow, "loses": loses})
        return self._answer()

    def codes(self) -> list[int]:
        """Wait for the run to end."""
        return self._answer()

    def _answer(self) -> list[int]:
        numbers: list[int] = self._pipe.recv()
        return numbers

    def close(self) -> None:
        self._pipe.close()
        self._process.join(30)
        self._process.kill()


def run_rank(wanted: dict[str, Any], place: dict[str, int]) -> None:
    """Be a rank of a run, in a process of its own."""
    os.environ.update({name: str(value) for name, value in place.items()})
    os.environ.update(MASTER_ADDR="127.0.0.1", SLOW=str(wanted["slow"]), LOSES=wanted["loses"])
    os.dup2(2, 1)
    try:
        run_main(lambda: rl.main(wanted["argv"]))
    except SystemExit as error:
        os._exit(int(error.code or 0))
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(1)


def serve(pipe: Connection, modules: Sequence[str]) -> None:
    """Fork the ranks of the runs that are asked for, until the other end of the pipe is closed."""
    torch.set_num_threads(1)
    for name in modules:
        importlib.import_module(name)  # once for all that are forked: it takes longer than the rest of a run
    gc.freeze()  # else each of them would walk, and so copy, all of that whenever it collects garbage
    with scripted(), suppress(EOFError):
        while True:
            wanted = pipe.recv()
            port, ranks, children = free_port(), wanted["ranks"], []
            for rank in range(ranks):
                child = os.fork()
                if child == 0:
                    pipe.close()
                    run_rank(wanted, {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "MASTER_PORT": port})
                children.append(child)
            pipe.send(children)
            pipe.send([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
