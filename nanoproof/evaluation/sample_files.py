"""Whole proofs as an evaluation has them: its options, its results with a line for each sample, what they sum up to."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from nanoproof.common.config import change, check, group, opt, to_dict, validated
from nanoproof.common.files import atomic_write, json_line, read_text
from nanoproof.evaluation.results import RESULTS, SUMMARY, EvalSettings, EvaluationFiles, read_attempts, result_files
from nanoproof.evaluation.summary import pass_rates, summarize, theorem_key
from nanoproof.inference.language_model import WHOLE_PROOF_TOKENS, GenerationOptions
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.whole_proof import PATIENCE

_ABSENT, _ERROR, _DONE = range(3)
"""What is there of a sample, a byte of it for each: nothing, an error, a verdict."""

# -- Options ---------------------------------------------------------------------------------------------------------


@validated("whole")
class WholeProofOptions:
    """Whole proofs."""

    whole_proofs: bool = opt(False, "Sample whole proofs in place of a search.")
    samples: int = opt(32, "Whole proofs sampled for each theorem.", min=1)
    generation: GenerationOptions = group(
        GenerationOptions,
        "proof-",
        without=("num_samples",),
        max_new_tokens=change(
            default=WHOLE_PROOF_TOKENS,
            help="Tokens of a whole proof, its end included; of a network of ours at most half of what it reads.",
            advanced=True,
        ),
        temperature=change(help="Temperature of whole proofs; 0 takes the likeliest token.", advanced=True),
        top_p=change(advanced=True),
        stop=change(help="A whole proof ends before the first of these texts.", advanced=True),
    )
    repair: int = opt(
        0, "How often a proof that Lean refuses goes back to the model, with the errors.", min=0, advanced=True
    )
    proof_seconds: float = opt(
        200.0,
        f"How long Lean may take over a whole proof; what gets no verdict has {PATIENCE:g} times as long, alone.",
        above=0,
        advanced=True,
    )
    samples_at_once: int = opt(32, "Samples of a theorem that are generated at a time.", min=1, constant=True)
    theorems_at_once: int = opt(8, "Theorems whose proofs are generated at a time.", min=1, constant=True)
    premise_names: str | None = opt(
        None,
        "File with a theorem's name per line, to find the premises of proofs where Lean servers do not report them.",
        metavar="FILE",
        advanced=True,
    )

    def __post_init__(self) -> None:
        check(self.whole_proofs or self.repair == 0, "--repair is for --whole-proofs")

    def settings(self) -> dict[str, Any]:
        """Return what decides which proofs are sampled, by the names of the flags."""
        plain = to_dict(self)
        # Neither changes a sample or its verdict. `samples_at_once` does: samples share a seed with their piece.
        del plain["theorems_at_once"], plain["premise_names"]
        return plain

    def ended_by(self, stop: tuple[str, ...]) -> Self:
        """Return these options with the texts that end a proof of a model, unless there are others already."""
        return self if self.generation.stop else replace(self, generation=replace(self.generation, stop=stop))

    def known_names(self) -> list[str]:
        """Read the names of theorems. Raises UserError if the file cannot be read."""
        return [] if self.premise_names is None else read_text(Path(self.premise_names).expanduser()).split()


# -- Results ---------------------------------------------------------------------------------------------------------


def _state(attempt: Attempt) -> int:
    return _ERROR if attempt.outcome == "error" else _DONE


class SampleFiles(EvaluationFiles):
    """The directory of an evaluation by whole proofs, with a line of `results.jsonl` for each sample.

    Sample s of theorem t has the number `s * len(theorems) + t`.
    """

    def __init__(self, path: Path, theorems: Sequence[Theorem], settings: EvalSettings) -> None:
        super().__init__(path, theorems, settings)
        assert settings.whole is not None
        self.samples: int = settings.whole["samples"]
        self._index = {key: index for index, key in enumerate(self._keys)}
        self._tally: dict[str, Any] = {}
        """What became of all samples; `_proven` says how many of each theorem are proofs. `attempts` counts both."""
        self._proven: list[int] = []

    @property
    def total(self) -> int:
        """Return how many samples there are to be."""
        return self.samples * len(self.theorems)

    def records(self) -> Iterator[tuple[int, Attempt]]:
        """Read the samples so far, by their numbers. Raises UserError for what is no attempt."""
        for file in result_files(self.path):
            for attempt in read_attempts(file):
                index = self._index.get(theorem_key(attempt.theorem))
                if index is not None and attempt.sample < self.samples:
                    yield attempt.sample * len(self.theorems) + index, attempt

    def progress(self) -> str:
        """Describe what is done, errors not counted, and what of it is solved."""
        done, solved = set(), set()
        for number, attempt in self.records():
            if attempt.outcome != "error":
                done.add(number)
            if attempt.outcome == "proven":
                solved.add(number % len(self.theorems))
        return f"{len(done):,} of {self.total:,} samples are done ({len(solved)} theorems solved)"

    def known(self) -> Iterator[tuple[int, Attempt]]:
        """Read the samples that have a verdict, and those that have none though their text is known."""
        states = self._states()
        for number, attempt in self.records():
            if (attempt.outcome == "error") == (states[number] == _ERROR):
                yield number, attempt

    def _states(self) -> bytearray:
        states = bytearray(self.total)
        for number, attempt in self.records():
            states[number] = max(states[number], _state(attempt))
        return states

    def _missing(self) -> list[int]:
        """List the samples without a verdict.

        Of an evaluation that was cut off the refusal of a statement is the verdict on its samples; one that is over is
        continued to try those again, too.
        """
        states = self._states()
        if not (self.path / SUMMARY).exists():
            for number, attempt in self.records():
                if attempt.refused:
                    states[number] = _DONE
        return [number for number, state in enumerate(states) if state != _DONE]

    def _gather(self) -> None:
        """Write one line for each known sample to `results.jsonl`: its verdict, or the last error."""
        # The files are read twice, since the records of millions of samples are no load for a memory: first to choose
        # a line for each, then to copy it.
        self.path.mkdir(parents=True, exist_ok=True)
        chosen = np.full(self.total, -1, dtype=np.int64)
        states = bytearray(self.total)
        for line, (number, attempt) in enumerate(self.records()):
            state = _state(attempt)
            if state > states[number] or state == states[number] == _ERROR:
                chosen[number], states[number] = line, state

        def write(file: Any) -> None:
            for line, (number, attempt) in enumerate(self.records()):
                if chosen[number] == line:
                    file.write(json_line(attempt.to_json()).encode("utf-8"))

        atomic_write(self.path / RESULTS, write)
        for file in result_files(self.path):
            if file.name != RESULTS:
                file.unlink()

    def attempts(self) -> dict[str, Attempt]:
        """Read one attempt for each theorem: the first that proves it, with what all samples of it took together.

        Its simulations are the samples up to the first in order that proves it.
        """
        chosen: dict[str, Attempt] = {}
        counts, seconds = [Counter[str]() for _ in self.theorems], [Counter[str]() for _ in self.theorems]
        proven: list[list[int]] = [[] for _ in self.theorems]
        outcomes, refusals = Counter[str](), Counter[str]()
        without_verdict = 0
        for number, attempt in self.records():
            index = number % len(self.theorems)
            key = self._keys[index]
            counts[index].update(attempt.counts)
            seconds[index].update(attempt.seconds)
            earlier = chosen.get(key)
            if earlier is None or (earlier.outcome != "proven" and attempt.outcome != "error"):
                chosen[key] = replace(attempt, text="", failed_tactics=())  # all that is long in a sample
            outcomes[attempt.outcome] += 1
            if attempt.outcome == "proven":
                proven[index].append(attempt.sample)
            elif attempt.outcome == "unproven":
                refusals[attempt.stop_reason] += 1
            elif attempt.outcome == "error" and not attempt.refused:
                without_verdict += 1
        sums = sum(counts, Counter[str]())
        self._proven = list(map(len, proven))
        self._tally = {
            "proven": outcomes["proven"],
            "without_verdict": without_verdict,
            "refusals": dict(refusals.most_common()),
        }
        for name in ("copies", "tokens", "repairs", "cut_off"):
            self._tally[name] = sums[name]
        merged: dict[str, Attempt] = {}
        for key, attempt in chosen.items():
            index = self._index[key]
            used = min(proven[index], default=self.samples - 1) + 1
            merged[key] = replace(
                attempt,
                counts={**counts[index], "simulations": used},
                seconds={name: round(value, 4) for name, value in seconds[index].items()},
            )
        return merged

    def _numbers(self, attempts: Sequence[Attempt], seconds: float) -> dict[str, Any]:
        pass_at = pass_rates(self.samples, self._proven)
        whole = {"samples": self.samples, **self._tally, "pass_at": pass_at}
        return {**summarize(attempts, self.samples, seconds), "whole_proofs": whole}
