"""The model as a policy: what the search asks, what the prover's threads share, and what the HTTP service serves."""

import math
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple

import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import Completion
from nanoproof.inference.worker import EngineWorker, Question, WorkerStats
from nanoproof.lean.forbidden import banned_reason
from nanoproof.model.tokenizer import Tokenizer, available_cores
from nanoproof.policy.prompt import prompt_tokens
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.search.policy import BadState, Suggestion

REPLACEMENT_CHARACTER = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class PolicyCounts:
    """What became of the samples so far: those that did not end in time, were empty or not text, or are banned."""

    sampled: int = 0
    unfinished: int = 0
    malformed: int = 0
    banned: int = 0

    def __add__(self, other: "PolicyCounts") -> "PolicyCounts":
        return PolicyCounts(
            self.sampled + other.sampled,
            self.unfinished + other.unfinished,
            self.malformed + other.malformed,
            self.banned + other.banned,
        )


def merge(tokenizer: Tokenizer, completion: Completion) -> tuple[Suggestion, PolicyCounts]:
    """Merge samples with the same text: counts add, and so do the probabilities of different spellings."""
    spellings: dict[str, dict[tuple[int, ...], float]] = {}
    counts: Counter[str] = Counter()
    malformed = banned = 0
    for sample in completion.samples:
        text = tokenizer.decode(sample.tokens).strip()
        if not text or REPLACEMENT_CHARACTER in text:
            malformed += 1
        elif banned_reason(text) is not None:
            banned += 1
        else:
            spellings.setdefault(text, {})[tuple(sample.tokens)] = sample.logprob
            counts[text] += 1
    suggestion = Suggestion(
        tactics=tuple(spellings),
        logprobs=tuple(_log_sum(list(ways.values())) for ways in spellings.values()),
        counts=tuple(counts[text] for text in spellings),
        value=max(1.0, completion.value),
        value_distribution=tuple(completion.value_distribution),
        num_dropped=completion.num_unfinished + malformed + banned,
    )
    sampled = len(completion.samples) + completion.num_unfinished
    return suggestion, PolicyCounts(sampled, completion.num_unfinished, malformed, banned)


def _log_sum(logprobs: list[float]) -> float:
    top = max(logprobs)
    return top + math.log(sum(math.exp(logprob - top) for logprob in logprobs))


MAX_PROMPT_TOKENS = 512
_LEAST_SEED, _MOST_SEED = -(2**63), 2**64 - 1
"""What a generator of random numbers takes."""


def cpu_threads() -> int:
    """Half of the cores that this process may use, shared among the ranks of this machine: the others are for Lean.

    Threads of one computation wait for each other, so that one busy core more than there are makes them crawl: on two
    cores, with one Lean process at work, two threads answered 13 states per second and one answered 109.
    """
    return max(1, available_cores() // (2 * int(os.environ.get("LOCAL_WORLD_SIZE", 1))))


class PolicyLoad(NamedTuple):
    """Steps of the engine and seconds spent in them so far; samples and states in work, and states that wait."""

    steps: int
    busy_seconds: float
    rows: int
    states: int
    waiting: int


class TacticPolicy:
    """The model as a policy: any number of threads may ask, and one worker answers them together.

    A question joins what is being decoded at once and is answered when its own samples are done. What is drawn depends
    on the state, the way of sampling and the caller's seed, not on who else asks.
    """

    def __init__(self, engine: Engine, sampling: SamplingConfig | None = None, *, threads: int | None = None) -> None:
        """`threads`: CPU threads that compute, see `cpu_threads`. Raises ValueError if no prompt would have room."""
        self.engine = engine
        self.sampling = sampling or SamplingConfig()
        chosen = cpu_threads() if threads is None else threads
        self._room(self.sampling)
        self._counts = PolicyCounts()
        self._counting = threading.Lock()

        def prepare() -> None:
            torch.set_num_threads(chosen)
            if engine.model.device.type == "cuda":
                torch.cuda.set_device(engine.model.device)  # a thread's own; each begins with the first

        self._worker = EngineWorker(engine, prepare)

    def __enter__(self) -> "TacticPolicy":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def suggest(
        self,
        state_text: str,
        seed: int = 0,
        *,
        sampling: SamplingConfig | None = None,
        deadline: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Suggestion:
        """Distinct tactics for the state, and its value; blocks.

        `deadline` is an instant of `time.monotonic()`, and `cancelled` is asked now and then; `sampling` replaces the
        policy's own. Raises BadState, PolicyTimeout, PolicyCancelled, PolicyClosed, or ModelFailed.
        """
        return self.suggest_all([state_text], [seed], sampling=sampling, deadline=deadline, cancelled=cancelled)[0]

    def suggest_all(
        self,
        states: Sequence[str],
        seeds: Sequence[int],
        *,
        sampling: SamplingConfig | None = None,
        deadline: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> list[Suggestion]:
        """`suggest` for several states at once; if one of them has no answer, none has, and its error is raised."""
        sampling = sampling or self.sampling
        prompts = [self._prompt(state, seed, sampling) for state, seed in zip(states, seeds, strict=True)]
        questions: list[Question] = []
        try:
            for prompt, seed in zip(prompts, seeds):
                questions.append(self._worker.ask(prompt, sampling.options(), seed))
            return [self._answer(question, deadline, cancelled) for question in questions]
        except BaseException:
            for question in questions:
                self._worker.withdraw(question)
            raise

    def pause(self, release: bool = False) -> None:
        """Begin no more questions (the model is about to change); returns when none is in work.

        With `release` the memory for keys and values is free until `resume`.
        """
        self._worker.pause(release)

    def resume(self) -> None:
        """Go on, with the model's present weights."""
        self._worker.resume()

    def close(self, drain_seconds: float = 0.0) -> None:
        """End the worker; threads that still wait after `drain_seconds` get PolicyClosed."""
        deadline = time.monotonic() + drain_seconds
        while self.num_open and time.monotonic() < deadline:
            time.sleep(0.02)
        self._worker.close()

    @property
    def longest(self) -> int:
        """Tokens that a tactic may have at most: beside them there is room for the shortest prompt."""
        return self.engine.model.config.sequence_len - 2

    def check_sampling(self, sampling: SamplingConfig) -> None:
        """Raise ValueError if the model has no room for a prompt beside what is to be sampled."""
        self._room(sampling)

    @property
    def counts(self) -> PolicyCounts:
        """What became of the samples."""
        return self._counts

    @property
    def stats(self) -> WorkerStats:
        """What became of the questions."""
        return self._worker.stats

    @property
    def num_open(self) -> int:
        """Questions that have no answer yet."""
        return self._worker.num_open

    def load(self) -> PolicyLoad:
        """How busy the model is now; cheap, and may be asked from any thread."""
        stats, active = self._worker.stats, self.engine.num_active
        waiting = max(0, self.num_open - active)
        return PolicyLoad(stats.steps, stats.busy_seconds, self.engine.num_rows, active, waiting)

    def _room(self, sampling: SamplingConfig) -> int:
        """Tokens that a prompt and its marker may have."""
        if sampling.max_gen_tokens > self.longest:
            raise ValueError(
                f"sampling.max_gen_tokens must be <= {self.longest} for this model, got {sampling.max_gen_tokens}"
            )
        return min(MAX_PROMPT_TOKENS, self.engine.model.config.sequence_len - sampling.max_gen_tokens)

    def _prompt(self, state_text: str, seed: int, sampling: SamplingConfig) -> list[int]:
        """The prompt, made on the thread of who asks. Raises BadState."""
        if not (isinstance(seed, int) and _LEAST_SEED <= seed <= _MOST_SEED):
            raise BadState(f"seeds are integers of 64 bits, got {seed}")
        try:
            state_text.encode()  # the part that is cut off counts too
            return prompt_tokens(self.engine.tokenizer, state_text, self._room(sampling))
        except UnicodeEncodeError as error:
            raise BadState(f"the state is not Unicode: lone surrogate at character {error.start}") from None
        except (UserError, ValueError) as error:
            raise BadState(str(error)) from error

    def _answer(self, question: Question, deadline: float | None, cancelled: Callable[[], bool] | None) -> Suggestion:
        """The answer, put into words on the thread of who asks."""
        suggestion, counts = merge(self.engine.tokenizer, self._worker.answer(question, deadline, cancelled))
        with self._counting:
            self._counts += counts
        return suggestion
