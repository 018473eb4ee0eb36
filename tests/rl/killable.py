"""Runs of reinforcement learning that can be killed, and say what they do until then.

Run as a module it makes a network in the folder it is given, reads command lines (JSON lists of words) and forks a
process for each, one after the other: nothing is imported twice, what torch imports at its first use included. Lean and
the policy are scripted, the network is tiny. What a process does is told on stdout, in JSON lines that begin with `@`:
phases as they begin, attempts once they are logged, and after each change of the experience what it is then.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from nanoproof.common import run_dir
from nanoproof.rl import __main__ as rl
from nanoproof.rl import collection
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import CollectSource, Experience
from nanoproof.rl.loop import ReinforcementLearning
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from tests.rl import scripted_rl
from tests.training import small

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
    """One line, whole or not at all: a pipe takes this much in one piece."""
    os.write(1, f"@{json.dumps(what)}\n".encode())


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
    """Lines on stdout, and nothing that takes long."""
    torch.set_num_threads(1)
    run_dir.code_revision = lambda: "test"
    rl.ReinforcementLearning = Told  # type: ignore[misc]
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


def main() -> None:
    patch()
    small.save_model(Path(sys.argv[1]))
    tell("ready")
    with scripted_rl.scripted():
        for line in sys.stdin:
            child = os.fork()
            if child == 0:
                try:
                    os._exit(rl.main(json.loads(line)))
                except BaseException as error:
                    tell("failed", repr(error)[:2000])
                    os._exit(1)
            tell("began", child)
            tell("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
