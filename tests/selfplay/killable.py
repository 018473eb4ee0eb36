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

from nanoproof import rl
from nanoproof.common import run_dir
from nanoproof.data import theorems as sets
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.lean.theorem import Theorem
from nanoproof.policy.tactic_policy import PolicyLoad
from nanoproof.selfplay import collection, eval_files
from nanoproof.selfplay.buffers import Buffers
from nanoproof.selfplay.collect import CollectSource, Experience
from nanoproof.selfplay.fleet import Fleet
from nanoproof.selfplay.loop import ReinforcementLearning
from nanoproof.selfplay.matchmaker import Matchmaker, MatchmakerConfig
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.training import small

COUNT = 12
SCRIPT = {f"A{n}": {"step": (f"B{n}",)} for n in range(COUNT - 2)} | {f"B{n}": {"close": ()} for n in range(COUNT - 2)}
WINDOWS = {"replay": 9, "negative": 7}
PHASES = ("collect", "exchange", "train", "save", "evaluate")


def theorems(split: str = "train", lean_version: str | None = None) -> list[Theorem]:
    """The last two cannot be proved."""
    return [Theorem(f"theorem t{n} : A{n} := by sorry", "scripted", f"t{n}") for n in range(COUNT)]


def words(model: Path, run_path: Path) -> list[str]:
    """The command line of a run."""
    flags = {
        **{"model-path": model, "run-dir": run_path, "sft-data": model / "data.jsonl", "datasets": "scripted"},
        **{"eval-datasets": "scripted", "max-eval-theorems": 6, "num-simulations-eval": 4, "eval-every": "2steps"},
        **{"collect-transitions": 12, "target-examples-per-step": 8, "row-length": 128, "save-every": "1steps"},
        **{"replay-buffer-window-size": WINDOWS["replay"], "negative-buffer-window-size": WINDOWS["negative"]},
        **{"negative-fraction": 0.2, "mm-base-simulations": 4, "num-steps": 1000, "monitor-port": "none"},
        **{"device-type": "cpu", "log-level": "warning"},
    }
    return [str(word) for name, value in flags.items() for word in (f"--{name}", value)] + ["--no-eval-start"]


def describe(experience: Experience) -> str:
    """A digest of all that the attempts have taught."""
    buffers = [experience.buffers.replay.entries(), experience.buffers.negative.entries()]
    known = [experience.attempts, experience.proofs, experience.matchmaker.standings(), buffers]
    return hashlib.sha256(repr(known).encode()).hexdigest()


def new_experience() -> Experience:
    matchmaker = Matchmaker(COUNT, MatchmakerConfig(base_simulations=4))
    return Experience(theorems(), matchmaker, Buffers(WINDOWS["replay"], WINDOWS["negative"]))


class SlowLean(ScriptedLean):
    """Starts at the state of its theorem, and takes a millisecond for each call."""

    def start(self, theorem: Theorem) -> Any:
        return branch(theorem.id.replace("t", "A"))

    def apply(self, branch: Any, tactics: Sequence[str]) -> Any:
        time.sleep(0.001)
        return super().apply(branch, tactics)


class Slot:
    address = "scripted:1"

    def lease(self, timeout: float) -> SlowLean:
        return SlowLean(SCRIPT)


class Policy(ScriptedPolicy):
    """Knows the tactics of all states; can be told to rest, as that of a network."""

    def __init__(self) -> None:
        super().__init__({}, default=suggestion(["wrong", "step", "close"], 2.0))

    def pause(self, **_: Any) -> None: ...

    def resume(self) -> None: ...

    def load(self) -> PolicyLoad:
        return PolicyLoad(0, 0, 0, 0, 0.0)

    def close(self) -> None: ...


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
    """Scripted Lean, scripted policy, and lines on stdout."""
    torch.set_num_threads(1)
    sets.DATASETS["scripted"] = theorems
    run_dir.code_revision = lambda: "test"
    rl.open_fleet = lambda *_: Fleet([Slot(), Slot()], None, "scripted", EMBEDDED_LEAN)  # type: ignore[list-item]
    rl.ReinforcementLearning = Told  # type: ignore[misc]
    eval_files.plot_curve = lambda *_: None  # matplotlib takes longer than all the rest
    collection.model_policy = lambda *_, **__: Policy()  # type: ignore[assignment]
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
