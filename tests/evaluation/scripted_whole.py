"""`scripts.prover_eval --whole-proofs` over a scripted model and a scripted Lean that fails now and then.

`main` is that command, for a process that can be killed. The environment says how it is to go:
`COUNT` theorems; `SLOW` seconds for each check; `CRASHES` and `TIMEOUTS`, the shares of texts at which the Lean process
is lost, or takes more time than it has, the first time that it reads them; `DEAD`, a word at which it always is lost;
`REFUSED` ids of theorems; `COPIES`, how many distinct texts each theorem has at most. What is checked is appended to
the file `CHECKED`, what the model is asked to `ASKED`, the theorems that are refused to `REJECTED`.
"""

import hashlib
import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nanoproof.actors.fleet import Fleet
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.evaluation import command
from nanoproof.evaluation.plan import Target
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.lean.types import CheckReport, ProcessLost, ServerTimeout, Theorem, TheoremRejected
from nanoproof.search.policy import BadState, PolicyUnreachable
from scripts import prover_eval
from tests.fakes.lean import CLEAN, ScriptedLean, branch

WORDS = ("simp", "rfl", "omega", "trivial", "decide", "ring_nf")
RIGHT = "right"
_writing = threading.Lock()


def share(name: str) -> float:
    return float(os.environ.get(name, 0))


def note(variable: str, text: str) -> None:
    """Append a line to the file that the environment names."""
    if path := os.environ.get(variable):
        with _writing, open(path, "a", encoding="utf-8") as file:
            file.write(text.replace("\n", "\\n") + "\n")


def chance(*parts: object) -> float:
    """A number from 0 to 1 that depends on the parts."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


class Lean(ScriptedLean):
    """Accepts the texts in which `right` is a word. Of what each text meets the first time only this process knows."""

    met: set[str] = set()

    def start(self, theorem: Theorem) -> Any:
        if theorem.id in os.environ.get("REFUSED", "").split():
            note("REJECTED", theorem.id)
            raise TheoremRejected("scripted refusal of the statement")
        return branch("A")

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> CheckReport:
        if "nanoproof_" in source:  # the second and the third text of a proof
            return super().check(source)
        time.sleep(share("SLOW"))
        first, text = source not in self.met, source.partition(":= by")[2].strip()
        self.met.add(source)
        dead = os.environ.get("DEAD")
        if (first and chance("crash", source) < share("CRASHES")) or (dead and dead in text):
            raise ProcessLost("scripted crash")
        if seconds is not None and seconds < 300 and chance("timeout", source) < share("TIMEOUTS"):
            raise ServerTimeout("scripted timeout")
        note("CHECKED", source)
        wrong = CheckReport(("unsolved goals\n⊢ False", "and more"), 0, ())
        self.report = CLEAN if f"exact {RIGHT}" in text else wrong
        return super().check(source)


class Client:
    address = "scripted:1"

    def lease(self, timeout: float) -> Lean:
        return Lean({})


class Model:
    """Writes one of a few words and a number; one text in ten is right. A prompt with an error is repaired."""

    name = "scripted"

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        for prompt in prompts:
            note("ASKED", prompt)
            if "unreachable" in os.environ.get("MODEL", ""):
                raise PolicyUnreachable("scripted: no model there")
            if (bad := os.environ.get("BAD_PROMPT")) and f"theorem {bad} " in prompt:
                raise BadState("scripted: too long")
        return [self._samples(prompt, options, seed) for prompt, seed in zip(prompts, seeds, strict=True)]

    def _samples(self, prompt: str, options: GenerationOptions, seed: int) -> list[TextSample]:
        found = []
        for number in range(options.num_samples):
            rng = random.Random(f"{seed}/{number}")
            if "Lean says" in prompt and "unsolved goals" in prompt:
                text = f"exact {RIGHT} -- {rng.random()}"
            else:
                word = f"exact {RIGHT}" if rng.random() < 0.1 else rng.choice(WORDS)
                text = f"{word} -- {rng.randrange(int(os.environ.get('COPIES', 10**9)))}"
            fence = "\n```\nand so on" if rng.random() < 0.5 else ""
            found.append(TextSample(f"  {text}{fence}", -1.0, 5, True))
        return found

    def score(self, prompt: str, continuation: str) -> float:
        raise NotImplementedError

    def embed(self, texts: Sequence[str]) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        pass


@contextmanager
def open_model(spec: str, dist: Any, texts: Any = None, limits: Any = None) -> Iterator[Model]:
    yield Model()


def prompt(theorem: Theorem) -> str:
    return theorem.source.replace("\n  sorry", "\n")


def repair(theorem: Theorem, text: str, errors: Sequence[str]) -> str:
    return f"{text}\nLean says: {'; '.join(errors)}\n{prompt(theorem)}"


def prompts(*_: Any) -> Any:
    return prompt, repair


def scripted_theorems(split: str, lean_version: str | None = None) -> list[Theorem]:
    count = int(os.environ.get("COUNT", 5))
    return [Theorem(f"theorem t{number} : True := by\n  sorry", "scripted", f"t{number}") for number in range(count)]


def open_fleet(options: Any, dist: Any) -> Fleet:
    return Fleet([Client() for _ in range(int(os.environ.get("ACTORS", 4)))], None, "scripted", "scripted")  # type: ignore[list-item]


def targets_of(args: Any) -> list[Target]:
    return [Target(None, "scripted", Path(args.output_dir))]


def words(output_dir: Path, *more: object) -> list[str]:
    """A command line."""
    names = ["--whole-proofs", "--policy", "uniform", "--datasets", "scripted", "--device-type", "cpu"]
    return [*names, "--log-level", "error", "--output-dir", str(output_dir), *map(str, more)]


def main(argv: list[str] | None = None) -> int:
    sets.DATASETS["scripted"] = scripted_theorems
    command.open_fleet = open_fleet  # type: ignore[assignment]
    command.open_language_model = open_model  # type: ignore[assignment]
    command.whole_proof_prompts = prompts
    prover_eval.targets_of = targets_of
    return prover_eval.main(argv)
