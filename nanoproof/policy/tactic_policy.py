"""The model as a policy: proof states become prompts, samples of the engine become tactics with counts and a value."""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from nanoproof.common.errors import UserError
from nanoproof.common.process import Closing
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import Completion
from nanoproof.inference.worker import EngineWorker, PendingCompletion, WorkerStats, compute_here
from nanoproof.lean.forbidden import banned_reason
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.prompt import prompt_tokens
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.search.policy import BadState, Suggestion

# -- From samples to distinct tactics --------------------------------------------------------------------------------

REPLACEMENT_CHARACTER = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class PolicyCounts:
    """Samples so far, and those left out: they did not end in time, were empty or no text, or are banned tactics."""

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
    """Merge samples with the same text: counts add, and so do the probabilities of different tokenizations."""
    spellings: dict[str, dict[tuple[int, ...], float]] = {}
    counts: Counter[str] = Counter()
    malformed = banned = 0
    for sample in completion.samples:
        text = tokenizer.decode(sample.tokens).strip()
        # Byte-level BPE may end in the middle of a character, or put one together wrongly.
        if not text or REPLACEMENT_CHARACTER in text:
            malformed += 1
        elif banned_reason(text) is not None:
            banned += 1
        else:
            # One tokenization that was drawn twice has its probability once; its draws are what `counts` tells.
            spellings.setdefault(text, {})[tuple(sample.tokens)] = sample.logprob
            counts[text] += 1
    suggestion = Suggestion(
        tactics=tuple(spellings),
        logprobs=tuple(log_sum(list(ways.values())) for ways in spellings.values()),
        counts=tuple(counts[text] for text in spellings),
        value=max(1.0, completion.value),  # a state that is open needs at least one tactic
        value_distribution=tuple(completion.value_distribution),
        num_dropped=completion.num_unfinished + malformed + banned,
    )
    sampled = len(completion.samples) + completion.num_unfinished
    return suggestion, PolicyCounts(sampled, completion.num_unfinished, malformed, banned)


def log_sum(logprobs: Sequence[float]) -> float:
    """Return the logarithm of a sum of probabilities, of which there must be one."""
    top = max(logprobs)  # taken out: exp of each alone may underflow to 0
    return top + math.log(sum(math.exp(logprob - top) for logprob in logprobs))


# -- The policy ------------------------------------------------------------------------------------------------------

MAX_PROMPT_TOKENS = 512
_MIN_SEED, _MAX_SEED = -(2**63), 2**64 - 1
"""The range of seeds that torch's generators take."""


class PolicyLoad(NamedTuple):
    """Steps of the engine and seconds spent in them so far; active samples and states, and states that wait."""

    steps: int
    busy_seconds: float
    rows: int
    states: int
    waiting: int


class TacticPolicy(Closing):
    """The model as a policy for any number of threads, whose states one worker batches.

    A state joins the batch that is being decoded at once and is answered when its own samples are done. What is drawn
    depends on the state, the sampling options and the caller's seed, not on other states.
    """

    def __init__(self, engine: Engine, sampling: SamplingConfig | None = None, *, threads: int | None = None) -> None:
        """Compute on `threads` CPU threads (default: `cpu_threads`). Raises ValueError if no prompt fits."""
        self.engine = engine
        self.sampling = sampling or SamplingConfig()
        self.check_sampling(self.sampling)
        self.counts = PolicyCounts()
        """Samples so far, by what became of them."""
        self._counting = threading.Lock()
        self.worker = EngineWorker(engine, lambda: compute_here(engine.model.device, threads))
        """What drives the engine: whoever else has texts for this network shares its batches."""

    def suggest(
        self,
        state_text: str,
        seed: int = 0,
        *,
        sampling: SamplingConfig | None = None,
        deadline: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Suggestion:
        """Suggest distinct tactics for the state, and its value; blocks.

        `deadline` is an instant of `time.monotonic()`, and `cancelled` is polled; `sampling` replaces the
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
        """Suggest tactics and values for several states; if one fails, its error is raised and there are none."""
        sampling = sampling or self.sampling
        prompts = [self._prompt(state, seed, sampling) for state, seed in zip(states, seeds, strict=True)]
        pending: list[PendingCompletion] = []
        try:
            for prompt, seed in zip(prompts, seeds):
                pending.append(self.worker.submit(prompt, sampling.options(), seed))
            return [self._answer(completion, deadline, cancelled) for completion in pending]
        except BaseException:
            # Nobody waits for the others any more; their rows in the batch are for other callers.
            for completion in pending:
                self.worker.cancel(completion)
            raise

    def pause(self, release: bool = False) -> None:
        """Start no more states (the model is about to change); returns when none is active.

        With `release` the memory for keys and values is free until `resume`.
        """
        self.worker.pause(release)

    def resume(self) -> None:
        """Continue, with the model's present weights."""
        self.worker.resume()

    def renew(self) -> None:
        """Take the model's present weights between two steps, without a pause: what is being decoded begins again.

        For an engine with weights of its own; returns once it has them.
        """
        self.worker.renew()

    def close(self, drain_seconds: float = 0.0) -> None:
        """End the worker; threads that still wait after `drain_seconds` get PolicyClosed."""
        deadline = time.monotonic() + drain_seconds
        while self.num_open and time.monotonic() < deadline:
            time.sleep(0.02)
        self.worker.close()

    @property
    def max_tactic_tokens(self) -> int:
        """Most tokens that a tactic may have: beside them the shortest prompt fits."""
        return self.engine.model.config.sequence_len - 2

    def check_sampling(self, sampling: SamplingConfig) -> None:
        """Raise ValueError if no prompt fits into the model beside the tokens to be sampled."""
        self._max_prompt_tokens(sampling)

    @property
    def stats(self) -> WorkerStats:
        """States so far, by what became of them, and the steps of the engine."""
        return self.worker.stats

    @property
    def num_open(self) -> int:
        """Number of states without answer yet."""
        return self.worker.num_open

    def report(self) -> dict[str, dict[str, Any]]:
        """Report what the engine did (`engine`) and how it is set up, with reasons (`decisions`)."""
        return {"engine": asdict(self.engine.stats), "decisions": self.engine.decisions()}

    def load(self) -> PolicyLoad:
        """Report how busy the model is now; cheap, and safe from any thread."""
        stats, active = self.worker.stats, self.engine.num_active
        waiting = max(0, self.num_open - active)  # a state may begin between the two readings
        return PolicyLoad(stats.steps, stats.busy_seconds, self.engine.num_rows, active, waiting)

    def _max_prompt_tokens(self, sampling: SamplingConfig) -> int:
        """Return the most tokens that a prompt and its marker may have."""
        longest = self.max_tactic_tokens
        if sampling.max_gen_tokens > longest:
            raise ValueError(
                f"sampling.max_gen_tokens must be <= {longest} for this model, got {sampling.max_gen_tokens}"
            )
        return min(MAX_PROMPT_TOKENS, self.engine.model.config.sequence_len - sampling.max_gen_tokens)

    def _prompt(self, state_text: str, seed: int, sampling: SamplingConfig) -> list[int]:
        """Make the prompt of a state, on the caller's thread. Raises BadState."""
        if not (isinstance(seed, int) and _MIN_SEED <= seed <= _MAX_SEED):
            raise BadState(f"seeds are integers of 64 bits, got {seed}")
        try:
            state_text.encode()  # of the part that is cut off, too: what is refused does not depend on the limit
            return prompt_tokens(self.engine.tokenizer, state_text, self._max_prompt_tokens(sampling))
        except UnicodeEncodeError as error:
            raise BadState(f"the state is not Unicode: lone surrogate at character {error.start}") from None
        except (UserError, ValueError) as error:
            raise BadState(str(error)) from error

    def _answer(
        self, completion: PendingCompletion, deadline: float | None, cancelled: Callable[[], bool] | None
    ) -> Suggestion:
        """Wait for a completion and decode it, on the caller's thread."""
        suggestion, counts = merge(self.engine.tokenizer, self.worker.result(completion, deadline, cancelled))
        with self._counting:
            self.counts += counts
        return suggestion
