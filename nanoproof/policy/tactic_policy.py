"""The policies a search can ask: the model, and two that need no model and serve as baselines."""

import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

import torch

from nanoproof.common.suggestion import Suggestion
from nanoproof.gpt.engine import Completion, Engine
from nanoproof.lean.banned import banned_reason
from nanoproof.policy.batcher import Batcher, BatcherStats
from nanoproof.policy.prompt import prompt_tokens
from nanoproof.policy.sampling import SamplingConfig

MAX_PROMPT_TOKENS = 512
REPLACEMENT_CHARACTER = "�"

GENERAL_TACTICS = (
    "rfl",
    "assumption",
    "intro h",
    "intro x",
    "constructor",
    "simp",
    "simp_all",
    "contradiction",
    "exfalso",
    "left",
    "right",
    "omega",
    "decide",
    "trivial",
    "symm",
    "subst_vars",
)


@dataclass(frozen=True)
class PolicyCounts:
    """What became of the samples so far: those that did not end in time, were empty or not text, or are banned."""

    sampled: int = 0
    unfinished: int = 0
    malformed: int = 0
    banned: int = 0


def cpu_threads() -> int:
    """Half of the cores: the others are for Lean.

    Threads of one computation wait for each other, so that one busy core more than there are makes them crawl: on two
    cores, with one Lean process at work, two threads answered 13 states per second and one answered 109.
    """
    return max(1, (os.cpu_count() or 2) // 2)


class TacticPolicy:
    """The model as a policy: any number of threads may ask, and one worker answers them in batches.

    What is drawn depends on the state and the caller's seed, not on which states shared its batch.
    """

    def __init__(
        self,
        engine: Engine,
        sampling: SamplingConfig | None = None,
        *,
        max_batch: int = 64,
        batch_wait: float = 0.0,
        threads: int | None = None,
    ) -> None:
        """`batch_wait`: seconds a batch waits for company. `threads`: CPU threads that compute, see `cpu_threads`.

        Raises ValueError if no prompt would have room.
        """
        self._engine = engine
        self._sampling = sampling or SamplingConfig()
        room = engine.model.config.sequence_len - self._sampling.max_gen_tokens
        if room < 2:
            raise ValueError(
                f"sampling.max_gen_tokens must be < {engine.model.config.sequence_len - 1} for this model, "
                f"got {self._sampling.max_gen_tokens}"
            )
        self._max_prompt = min(MAX_PROMPT_TOKENS, room)
        self._counts = PolicyCounts()
        chosen = cpu_threads() if threads is None else threads
        self._batcher: Batcher[tuple[str, int], Suggestion] = Batcher(
            self._compute, max_batch, batch_wait, prepare=lambda: torch.set_num_threads(chosen)
        )

    def __enter__(self) -> "TacticPolicy":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Distinct tactics for the state, and its value; blocks. Raises BatcherClosed after `close`."""
        return self._batcher.ask((state_text, seed))

    def pause(self) -> None:
        """Start no more batches (the model is about to change); returns when none is in work."""
        self._batcher.pause()

    def resume(self) -> None:
        """Go on, with the model's present weights."""
        self._batcher.pause()
        self._engine.refresh()
        self._batcher.resume()

    def close(self) -> None:
        """End the worker; threads that wait get BatcherClosed."""
        self._batcher.close()

    @property
    def counts(self) -> PolicyCounts:
        return self._counts

    @property
    def batches(self) -> BatcherStats:
        return self._batcher.stats

    def _compute(self, requests: Sequence[tuple[str, int]]) -> list[Suggestion]:
        prompts = [prompt_tokens(self._engine.tokenizer, state, self._max_prompt) for state, _ in requests]
        completions = self._engine.generate(prompts, self._sampling.options(), [seed for _, seed in requests])
        return [self._suggestion(completion) for completion in completions]

    def _suggestion(self, completion: Completion) -> Suggestion:
        """Merge samples with the same text: counts add, and so do the probabilities of different spellings."""
        spellings: dict[str, dict[tuple[int, ...], float]] = {}
        counts: Counter[str] = Counter()
        malformed = banned = 0
        for sample in completion.samples:
            text = self._engine.tokenizer.decode(sample.tokens).strip()
            if not text or REPLACEMENT_CHARACTER in text:
                malformed += 1
            elif banned_reason(text) is not None:
                banned += 1
            else:
                spellings.setdefault(text, {})[tuple(sample.tokens)] = sample.logprob
                counts[text] += 1
        self._counts = PolicyCounts(
            self._counts.sampled + len(completion.samples) + completion.num_unfinished,
            self._counts.unfinished + completion.num_unfinished,
            self._counts.malformed + malformed,
            self._counts.banned + banned,
        )
        return Suggestion(
            tactics=tuple(spellings),
            logprobs=tuple(_log_sum(list(ways.values())) for ways in spellings.values()),
            counts=tuple(counts[text] for text in spellings),
            value=max(1.0, completion.value),
            value_distribution=tuple(completion.value_distribution),
            num_dropped=completion.num_unfinished + malformed + banned,
        )


def _log_sum(logprobs: list[float]) -> float:
    top = max(logprobs)
    return top + math.log(sum(math.exp(logprob - top) for logprob in logprobs))


class UniformPolicy:
    """Always the same tactics with the same probability: what a search alone achieves with general tactics."""

    def __init__(self, tactics: Sequence[str] = GENERAL_TACTICS, value: float = 1.0) -> None:
        """`value` is the number of tactics every state is said to need. Raises ValueError without tactics."""
        if not tactics:
            raise ValueError("a uniform policy needs at least one tactic")
        distinct = tuple(dict.fromkeys(tactics))
        logprob = -math.log(len(distinct))
        self._suggestion = Suggestion(distinct, (logprob,) * len(distinct), (1,) * len(distinct), value)

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """The same for every state and seed."""
        return self._suggestion


class SolverOnlyPolicy(UniformPolicy):
    """Suggests the finishers and nothing else: the score that solvers reach without a model."""

    def __init__(self, finishers: Sequence[str]) -> None:
        """Raises ValueError without finishers."""
        super().__init__(finishers)
