"""Any language model as a policy: states become prompts of a format, and texts become tactics with counts."""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, replace
from typing import Any, Protocol

from nanoproof.common.process import Closing
from nanoproof.inference.language_model import (
    GenerationOptions,
    LanguageModel,
    TextSample,
    Written,
    has_values,
    write_valued,
)
from nanoproof.inference.value_head import expected_tactics
from nanoproof.inference.worker import POLL_SECONDS, WorkerStats
from nanoproof.lean.forbidden import banned_reason
from nanoproof.lean.types import Theorem
from nanoproof.policy.prompt_formats import PromptFormat
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.tactic_policy import REPLACEMENT_CHARACTER, PolicyCounts, log_sum
from nanoproof.retrieval.corpus import CorpusPremise
from nanoproof.retrieval.premises import Retriever, fitting
from nanoproof.search.policy import BadState, Policy, PolicyCancelled, PolicyTimeout, Suggestion, policy_for

LONGEST_TACTIC = 4096
"""Most tokens that a tactic may have, where the model sets no limit of its own."""
CONSTANT_VALUE = 1.0
SAME_LOGPROB = 1e-3
"""Samples with one text whose log-probabilities are closer than this are one tokenization of it: endpoints round, and
other texts in a batch change the last bits.
"""


@dataclass(frozen=True)
class Value:
    """How many tactics a state still needs, as one expects."""

    tactics: float
    distribution: tuple[float, ...] = ()


class ValueSource(Protocol):
    """Says how far states are from being proved. Any number of threads may ask."""

    def value(self, state_text: str) -> Value:
        """Return the value of a state; blocks. Raises PolicyError."""
        ...


class PolicyValue:
    """The values of a policy that has a value head."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def value(self, state_text: str) -> Value:
        """Ask the policy, and leave its tactics aside."""
        suggestion = self._policy.suggest(state_text)
        return Value(suggestion.value, suggestion.value_distribution)


class ReadsValues(Protocol):
    """A model that says of prompts how far they are from a proof, without writing anything."""

    def values(self, prompts: Sequence[str]) -> list[tuple[float, ...]]:
        """Return the probabilities of 1, 2, ... tactics for each prompt. Raises PolicyError."""
        ...


class HeadValue:
    """The value head of a model of others, which reads a state as its format writes it."""

    def __init__(self, model: ReadsValues, how: PromptFormat) -> None:
        self._model, self._how = model, how

    def value(self, state_text: str) -> Value:
        """Return what the head says of a state."""
        (distribution,) = self._model.values([self._how.prompt(state_text, ())])
        return Value(max(1.0, expected_tactics(distribution)), distribution)


class ValuedPolicy:
    """A policy whose values come from elsewhere."""

    def __init__(self, policy: Policy, values: ValueSource) -> None:
        self._policy, self._values = policy, values

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest the policy's tactics, with the other value."""
        value = self._values.value(state_text)
        suggestion = self._policy.suggest(state_text, seed)
        return replace(suggestion, value=max(1.0, value.tactics), value_distribution=value.distribution)

    def for_theorem(self, theorem: Theorem) -> Policy:
        """Return the policy for a theorem, with the same values."""
        return ValuedPolicy(policy_for(self._policy, theorem), self._values)


class RetrievingPolicy:
    """A policy that is given the premises which a retriever finds for each state."""

    def __init__(
        self, policy: "TextPolicy", retriever: Retriever, budget: int, theorem: str = "", count: int | None = None
    ) -> None:
        """`budget` is that of `--retrieve-tokens`; `theorem`, by its name, decides which premises may be used.

        At most `count` of those that are retrieved are given, by default all.
        """
        self._policy, self._retriever, self._budget, self._theorem = policy, retriever, budget, theorem
        self._count = count

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest tactics for a state with its premises."""
        premises = self._retriever.premises(state_text, self._theorem)[: self._count]
        return self._policy.suggest_with(state_text, premises, self._budget, seed)

    def for_theorem(self, theorem: Theorem) -> Policy:
        """Return the policy that is given the premises which this theorem may use."""
        return RetrievingPolicy(self._policy, self._retriever, self._budget, theorem.id, self._count)


def merge_texts(samples: Sequence[TextSample], read: Callable[[str], str]) -> tuple[Suggestion, PolicyCounts]:
    """Merge samples whose texts `read` to the same tactic: counts add, and so do probabilities of different texts.

    Where a model gives no log-probabilities, a tactic's share of the samples stands for its probability. The value is
    one tactic.
    """
    # For each tactic and each text that reads to it: the log-probabilities of its tokenizations. A text may come in
    # several, whose tokens endpoints do not tell.
    spellings: dict[str, dict[str, list[float]]] = {}
    counts: Counter[str] = Counter()
    unfinished = malformed = banned = 0
    for sample in samples:
        if not sample.finished:
            unfinished += 1
            continue
        tactic = read(sample.text)
        if not tactic or REPLACEMENT_CHARACTER in tactic:
            malformed += 1
        elif banned_reason(tactic) is not None:
            banned += 1
        else:
            counts[tactic] += 1
            tokenizations = spellings.setdefault(tactic, {}).setdefault(sample.text, [])
            if sample.logprob is not None and _is_new(sample.logprob, tokenizations):
                tokenizations.append(sample.logprob)

    logprobs = []
    has_logprobs = all(sample.logprob is not None for sample in samples)
    for tactic, texts in spellings.items():
        if has_logprobs:
            # At most 0: what an endpoint rounds may add up to more than 1.
            of_all_texts = [logprob for tokenizations in texts.values() for logprob in tokenizations]
            logprobs.append(min(0.0, log_sum(of_all_texts)))
        else:
            logprobs.append(math.log(counts[tactic] / len(samples)))
    dropped = unfinished + malformed + banned
    ordered = tuple(counts[tactic] for tactic in spellings)
    suggestion = Suggestion(tuple(spellings), tuple(logprobs), ordered, CONSTANT_VALUE, num_dropped=dropped)
    return suggestion, PolicyCounts(len(samples), unfinished, malformed, banned)


def _is_new(logprob: float, tokenizations: Sequence[float]) -> bool:
    return all(abs(logprob - other) > SAME_LOGPROB for other in tokenizations)


class TextPolicy(Closing):
    """A language model as a policy, for any number of threads; what is drawn is the model's affair.

    `first_token_occurrences_cap` of the sampling options does not count: samples are independent.
    """

    def __init__(
        self,
        model: LanguageModel,
        how: PromptFormat,
        sampling: SamplingConfig | None = None,
        values: ValueSource | None = None,
    ) -> None:
        """`how` is a format for tactics. Without `values` the model's own value head counts, and without one every
        state has the value of one tactic."""
        assert how.kind == "tactic", f"{how.name} is no format for tactics"
        self.model, self.format, self.values = model, how, values
        self.sampling = sampling or SamplingConfig()
        self._lock = threading.Lock()
        self.counts, self.stats = PolicyCounts(), WorkerStats()
        self.num_open = 0
        """Number of states without answer yet."""
        # As many as a server lets requests in (`max_requests`): each only waits for the model.
        self._threads = ThreadPoolExecutor(max_workers=512, thread_name_prefix="text-policy")

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest distinct tactics for a state, and its value; blocks. Raises PolicyError."""
        return self._ask([state_text], [seed], self.sampling)[0]

    def suggest_with(
        self, state_text: str, premises: Sequence[CorpusPremise], budget: int, seed: int = 0
    ) -> Suggestion:
        """Suggest as `suggest` does, with premises (the best first) in the prompt where they fit into a budget.

        The value is that of the state alone.
        """
        texts = fitting(premises, state_text, budget, self.model.num_tokens, self.format.marked)
        return self._ask([state_text], [seed], self.sampling, [texts])[0]

    def suggest_all(
        self,
        states: Sequence[str],
        seeds: Sequence[int],
        *,
        sampling: SamplingConfig | None = None,
        deadline: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> list[Suggestion]:
        """Suggest tactics and values for several states, all or none.

        At the `deadline` (of `time.monotonic()`), or when `cancelled()`, polled twice a second, the call ends with
        PolicyTimeout or PolicyCancelled; the model still writes what it has begun.
        """
        sampling = sampling or self.sampling
        if deadline is None and cancelled is None:
            return self._ask(states, seeds, sampling)
        # On another thread, as a model of others cannot be interrupted, and the caller need not wait for it.
        pending = self._threads.submit(self._ask, states, seeds, sampling)
        while True:
            left = POLL_SECONDS
            if deadline is not None:
                left = min(left, deadline - time.monotonic())
            try:
                return pending.result(max(0.0, left))
            except NotYet:
                self._end_early(pending, deadline, cancelled)

    def _end_early(
        self, pending: "Future[list[Suggestion]]", deadline: float | None, cancelled: Callable[[], bool] | None
    ) -> None:
        if pending.done():  # it was the call itself that ran out of time
            return
        late = deadline is not None and time.monotonic() >= deadline
        if late or (cancelled is not None and cancelled()):
            pending.cancel()
            if late:
                raise PolicyTimeout("the model did not answer before the deadline")
            raise PolicyCancelled("the request was cancelled")

    def _ask(
        self,
        states: Sequence[str],
        seeds: Sequence[int],
        sampling: SamplingConfig,
        premises: Sequence[Sequence[str]] | None = None,
    ) -> list[Suggestion]:
        self._count(len(states))
        began = time.perf_counter()
        answered = 0
        try:
            if premises is None:
                premises = [()] * len(states)
            prompts = [self._prompt(state, texts) for state, texts in zip(states, premises, strict=True)]
            options = GenerationOptions(
                num_samples=sampling.num_sampled_tactics,
                max_new_tokens=sampling.max_gen_tokens,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                stop=self.format.stop,
            )
            answers = write_valued(self.model, prompts, options, seeds)
            values = self._values_of(states, answers)
            merged = [merge_texts(written.samples, self.format.answer) for written in answers]
            answered = len(states)
        finally:
            self._count(-len(states), answered, time.perf_counter() - began)
        with self._lock:
            for _, counts in merged:
                self.counts += counts
        suggestions = []
        for (suggestion, _), value in zip(merged, values, strict=True):
            tactics_left = max(1.0, value.tactics)
            suggestions.append(replace(suggestion, value=tactics_left, value_distribution=value.distribution))
        return suggestions

    def _values_of(self, states: Sequence[str], answers: Sequence[Written]) -> list[Value]:
        """Return the values of states: of the source that was given, else of the model's own head, else one tactic."""
        values = []
        for state, written in zip(states, answers, strict=True):
            if self.values is not None:
                values.append(self.values.value(state))
            elif written.value:
                values.append(Value(expected_tactics(written.value), written.value))
            else:
                values.append(Value(CONSTANT_VALUE))
        return values

    def _prompt(self, state: str, premises: Sequence[str] = ()) -> str:
        try:
            state.encode()
        except UnicodeEncodeError as error:
            raise BadState(f"the state is not Unicode: lone surrogate at character {error.start}") from None
        return self.format.prompt(state, premises)

    def _count(self, more: int, answered: int = 0, seconds: float = 0.0) -> None:
        """Count `more` states that begin, or, where it is negative, that end; `answered` of these have an answer."""
        with self._lock:
            self.num_open += more
            old, ended = self.stats, -min(0, more)
            self.stats = replace(
                old,
                asked=old.asked + max(0, more),
                answered=old.answered + answered,
                failed=old.failed + ended - answered,
                steps=old.steps + (ended > 0),
                busy_seconds=old.busy_seconds + seconds,
            )

    # -- what a server asks of its policy ----------------------------------------------------------------------------

    @property
    def max_tactic_tokens(self) -> int:
        """Most tokens that a tactic may have."""
        return LONGEST_TACTIC

    def check_sampling(self, sampling: SamplingConfig) -> None:
        """Raise ValueError for options that the model can never heed."""
        if sampling.max_gen_tokens > LONGEST_TACTIC:
            raise ValueError(f"sampling.max_gen_tokens must be <= {LONGEST_TACTIC}, got {sampling.max_gen_tokens}")

    def report(self) -> dict[str, dict[str, Any]]:
        """Report how the model is asked (`decisions`); of its insides (`engine`) nothing is known."""
        decisions = {"prompt_format": self.format.name, "model": self.model.name, "values": self.value_source}
        return {"engine": {}, "decisions": decisions}

    @property
    def value_source(self) -> str:
        """Say where values come from, for the log."""
        if self.values is not None:
            return "of --value-model"
        if has_values(self.model):
            return "of the model's own value head"
        return "none: every state counts as one tactic from a proof, and the search goes by the policy alone"

    def close(self, drain_seconds: float = 0.0) -> None:
        """End, after `drain_seconds` at most for states under way; the model stays open."""
        deadline = time.monotonic() + drain_seconds
        while self.num_open and time.monotonic() < deadline:
            time.sleep(0.02)
        self._threads.shutdown(wait=False, cancel_futures=True)
