"""Runs of reinforcement learning that can be killed, and say what they do until then.

`serve` makes a network in the folder it is given, takes command lines (lists of words) and forks a process for each,
one after the other: nothing is imported twice, what torch imports at its first use included. Lean and the policy are
scripted, the network is tiny. What a process does goes into a pipe: phases as they begin, attempts once they are
logged, and after each change of the experience what it is then.
"""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from nanoproof.common import run_dir
from nanoproof.rl import __main__ as rl
from nanoproof.rl import collection, loop
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import CollectSource, Experience
from nanoproof.rl.loop import ReinforcementLearning
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from tests.rl import scripted_rl
from tests.training import small

HEARERS: list[Connection] = []
"""Whom a process tells what it does."""
WINDOWS = {"replay": 9, "negative": 7}
PHASES = ("collect", "exchange", "train", "save", "evaluate")


def words(model: Path, run_path: Path) -> list[str]:
    """The command line of a run."""
    options: dict[str, object] = {
        **{"max_eval_theorems": 6, "eval_every": "2steps", "collect_transitions": 12, "target_examples_per_step": 8},
        **{"replay_buffer_window_size": WINDOWS["replay"], "negative_buffer_window_size": WINDOWS["negative"]},
        **{"negative_fraction": 0.2, "save_every": "1steps", "num_steps": 1000},
    }
    return scripted_rl.words(model, run_path, **options)


def describe(experience: Experience) -> str:
    """A digest of all that the attempts have taught."""
    kept = experience.buffers
    buffers = [buffer.entries() for buffer in (kept.replay, kept.negative)]
    known = [experience.attempts, experience.proofs, experience.matchmaker.standings(), buffers]
    return hashlib.sha256(repr(known).encode()).hexdigest()


def new_experience() -> Experience:
    matchmaker = Matchmaker(scripted_rl.COUNT, MatchmakerConfig(base_simulations=4))
    buffers = Buffers(WINDOWS["replay"], WINDOWS["negative"])
    return Experience(scripted_rl.theorems(), matchmaker, buffers)


def tell(*what: Any) -> None:
    """One message, whole or not at all: a pipe takes this much in one piece."""
    for hearer in HEARERS:
        hearer.send(list(what))


class Told(ReinforcementLearning):
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "phase":
            tell("phase", value)


def telling(method: Callable[..., Any], say: Callable[..., None]) -> Callable[..., Any]:
    """The method, which says something once it is done."""

    def wrapped(self: Any, *args: Any) -> Any:
        result = method(self, *args)
        say(self, result)
        return result

    return wrapped


def patch() -> None:
    """Have runs tell what they do, and do nothing that takes long."""
    torch.set_num_threads(1)
    run_dir.code_revision = lambda: "test"
    loop.ReinforcementLearning = Told  # type: ignore[misc]
    CollectSource.finish = telling(  # type: ignore[method-assign]
        CollectSource.finish, lambda source, _: tell("attempt", source.step, source._sequence - 1)
    )
    collection.Collection._relearn = telling(  # type: ignore[method-assign]
        collection.Collection._relearn, lambda found, step: tell("learned", step - 1, describe(found.experience))
    )
    collection.Collection.exchange = telling(  # type: ignore[method-assign]
        collection.Collection.exchange, lambda one, _: tell("learned", one.source.step - 1, describe(one.experience))
    )
    learn = Experience.learn

    def slow_learn(self: Experience, step: int, attempts: Sequence[Any]) -> int:
        time.sleep(0.01 if len(attempts) > 1 else 0)  # a run has more to learn
        return learn(self, step, attempts)

    Experience.learn = slow_learn  # type: ignore[method-assign]


def serve(folder: Path, lines: Connection, hearer: Connection) -> None:
    """Run one command line after the other, until the other end of their pipe is closed."""
    patch()
    HEARERS.append(hearer)
    small.save_model(folder)
    tell("ready")
    with scripted_rl.scripted(), suppress(EOFError):
        while True:
            line = lines.recv()
            child = os.fork()
            if child == 0:
                try:
                    os._exit(rl.main(line))
                except BaseException as error:
                    tell("failed", repr(error)[:2000])
                    os._exit(1)
            tell("began", child)
            tell("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
