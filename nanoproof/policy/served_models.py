"""The models that a server offers by name, as models that continue text, suggest tactics with scores, and embed.

Each was opened through `open_model`. What is asked of one runs on a thread of its own, so that the caller may leave.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import is_foreign
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import GenerationOptions, LanguageModel, TextSample
from nanoproof.inference.open_model import CachedModel, as_text, open_model
from nanoproof.inference.own_model import OwnModel
from nanoproof.inference.worker import POLL_SECONDS
from nanoproof.lean.forbidden import banned_reason
from nanoproof.policy.policy_options import OWN_FORMAT, TextModelOptions
from nanoproof.policy.prompt import prefix_text
from nanoproof.policy.prompt_formats import FORMATS, PromptFormat, known_format
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.tactic_policy import REPLACEMENT_CHARACTER, TacticPolicy
from nanoproof.policy.text_policy import HeadValue, TextPolicy, Value, ValueSource
from nanoproof.search.policy import BadState, PolicyCancelled, PolicyClosed, PolicyTimeout

T = TypeVar("T")

# -- Steps remaining -------------------------------------------------------------------------------------------------


class StepsScorer(Protocol):
    """Says how many tactics a goal still needs once a tactic was run. Any number of threads may ask."""

    def steps_remaining(self, goal: str, tactics: Sequence[str], prefix: str | None = None) -> list[float]:
        """Return a number for each tactic, 0 or more; `prefix` is what the tactics begin with. Raises PolicyError."""
        ...


class OwnValue:
    """The value head of a network of ours."""

    def __init__(self, model: OwnModel) -> None:
        self._model = model

    def value(self, state_text: str) -> Value:
        """Return the number of tactics that the network expects."""
        return Value(self._model.values([prefix_text(state_text)])[0])


class ValueScorer:
    """A value of goals as a scorer. It reads the goal alone, so all tactics of a goal have the same number."""

    def __init__(self, values: ValueSource) -> None:
        self._values = values

    def steps_remaining(self, goal: str, tactics: Sequence[str], prefix: str | None = None) -> list[float]:
        """Return the goal's value for each tactic."""
        if not tactics:
            return []
        return [self._values.value(goal).tactics] * len(tactics)


# -- A model with a name ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """A tactic with its score: the model's probability of it, or with a scorer the reward, minus the steps left."""

    output: str
    score: float
    model_score: float | None = None
    steps_remaining: float | None = None
    reward: float | None = None


@dataclass(frozen=True)
class ServedModel:
    """A model under the name that requests have for it.

    `how` is the format that asks it for tactics and `sampling` how these are sampled; `how` None where it is unknown.
    """

    name: str
    model: LanguageModel
    how: PromptFormat | None
    sampling: SamplingConfig
    scorer: StepsScorer | None = None

    @cached_property
    def inner(self) -> LanguageModel:
        """The model itself, without a cache around it."""
        if isinstance(self.model, CachedModel):
            return self.model.model
        return self.model

    @cached_property
    def plain(self) -> LanguageModel:
        """The model without control tokens in prompts."""
        return as_text(self.model)

    def reading(self, parse_special: bool) -> LanguageModel:
        """Return the model for prompts with control tokens, or without. Raises BadState if it knows none."""
        if parse_special and not getattr(self.inner, "special", False):
            raise BadState(f"parse_special: model {self.name} reads no control tokens")
        if not parse_special:
            return self.plain
        return self.model

    def candidates(
        self,
        goal: str,
        prefix: str | None = None,
        use_reward: bool = False,
        cancelled: Callable[[], bool] | None = None,
    ) -> list[Candidate]:
        """Suggest tactics for a goal that begin with `prefix`, each once, by their scores, the best first.

        A tactic's score is its probability, the highest of those of its samples; its share of the samples where the
        model tells none. With `use_reward` it is minus the number of steps left; at equal ones the model's score
        decides. Raises BadState, UserError, and what the model raises.
        """
        if use_reward and self.scorer is None:
            raise BadState(f"use_reward: there is no scorer of the steps remaining for model {self.name}")
        if self.how is None:
            raise BadState(
                f"it is not known how model {self.name} is asked for a tactic: serve it with --prompt-format"
            )
        how, begun = self.how, prefix or ""
        self._check_prefix(how, begun)
        options = GenerationOptions(
            num_samples=self.sampling.num_sampled_tactics,
            max_new_tokens=self.sampling.max_gen_tokens,
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            stop=how.stop,
        )
        # The goal is a caller's text: its `<|...|>` are markers only where the format writes some itself.
        model = self.model if how.special else self.plain
        # Seed 0: who asks twice for one goal, as editors do, gets the same tactics.
        samples = generate(model, [how.prompt(goal, ()) + begun], options, [0], cancelled)[0]
        scores = merged_scores(samples, lambda text: how.answer(begun + text))
        if not use_reward or self.scorer is None:
            candidates = [Candidate(output, score) for output, score in scores.items()]
        else:
            steps = self.scorer.steps_remaining(goal, list(scores), prefix)
            candidates = [
                Candidate(output, score=-left, model_score=score, steps_remaining=left, reward=-left)
                for (output, score), left in zip(scores.items(), steps, strict=True)
            ]
        return sorted(candidates, key=lambda candidate: (-candidate.score, -(candidate.model_score or 0.0)))

    def _check_prefix(self, how: PromptFormat, begun: str) -> None:
        """Raise BadState if this model cannot go on from the beginning of an answer."""
        if not begun:
            return
        # A chat template closes the prompt, and an encoder reads it apart from what the decoder writes.
        if how.chat or (isinstance(self.inner, HFModel) and self.inner.encoder_decoder):
            raise BadState(f"prefix: model {self.name} writes answers of its own, it goes on with nothing")
        # A marker in it would end the state that the model reads, and begin another one.
        if how.special and "<|" in begun:
            raise BadState("prefix: it may hold no control tokens (<|...|>)")


def merged_scores(samples: Sequence[TextSample], read: Callable[[str], str]) -> dict[str, float]:
    """Return the score of each distinct tactic that samples read to: see `ServedModel.candidates`.

    What did not end, is empty or no text, or is a tactic that no proof may use, is left out.
    """
    scores: dict[str, float] = {}
    for sample in samples:
        if not sample.finished:
            continue
        tactic = read(sample.text)
        if not tactic or REPLACEMENT_CHARACTER in tactic or banned_reason(tactic) is not None:
            continue
        if sample.logprob is None:
            scores[tactic] = scores.get(tactic, 0.0) + 1 / len(samples)
        else:
            scores[tactic] = max(scores.get(tactic, 0.0), math.exp(min(0.0, sample.logprob)))
    return scores


def generate(
    model: LanguageModel,
    prompts: Sequence[str],
    options: GenerationOptions,
    seeds: Sequence[int],
    cancelled: Callable[[], bool] | None,
) -> list[list[TextSample]]:
    """Continue prompts; where the model is ours, samples are dropped when `cancelled()`."""
    if isinstance(model, OwnModel):
        return model.generate(prompts, options, seeds, cancelled=cancelled)
    return model.generate(prompts, options, seeds)


# -- All of them -----------------------------------------------------------------------------------------------------


class ServedModels:
    """Models by name, in order: the first is the default. Any number of threads may ask."""

    def __init__(self, models: Sequence[ServedModel], threads: int = 64) -> None:
        """Raises UserError for a name that two of them have."""
        for name, count in Counter(model.name for model in models).items():
            if count > 1:
                raise UserError(f"--model {name}=...: there is another model of this name")
        self.by_name: Mapping[str, ServedModel] = {model.name: model for model in models}
        self.created = int(time.time())
        self._threads = ThreadPoolExecutor(threads, "served-model")

    def find(self, name: str | None) -> ServedModel | None:
        """Return the model of this name, without a name the first one; None if there is none."""
        if name is not None:
            return self.by_name.get(name)
        return next(iter(self.by_name.values()))

    def submit(self, work: Callable[[Callable[[], bool]], T], ended: Callable[[], None]) -> "ModelCall[T]":
        """Begin `work` on a thread; it is given a function that tells whether nobody waits any more.

        `ended` is called when it has ended. Raises PolicyClosed after `close`.
        """
        return ModelCall(self._threads, work, ended)

    def close(self) -> None:
        """Begin nothing more; what has begun ends with its model."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class ModelCall(Generic[T]):
    """Work for a model that has begun."""

    def __init__(
        self, threads: ThreadPoolExecutor, work: Callable[[Callable[[], bool]], T], ended: Callable[[], None]
    ) -> None:
        self._left = threading.Event()
        try:
            self._pending: Future[T] = threads.submit(work, self._left.is_set)
        except RuntimeError as error:  # the pool of threads is shut down
            ended()
            raise PolicyClosed("the server is closed") from error
        self._pending.add_done_callback(lambda _: ended())

    def done_within(self, seconds: float) -> bool:
        """Wait for the end; returns False if `seconds` passed before."""
        return bool(wait([self._pending], timeout=seconds).done)

    def result(self, deadline: float, cancelled: Callable[[], bool]) -> T:
        """Wait until `deadline` (of `time.monotonic()`), or until `cancelled()`, polled twice a second.

        Raises PolicyTimeout or PolicyCancelled then, and what the work raises.
        """
        while not self.done_within(max(0.0, min(POLL_SECONDS, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                self.leave()
                raise PolicyTimeout("the model did not answer before the deadline")
            if cancelled():
                self.leave()
                raise PolicyCancelled("the request was cancelled")
        try:
            return self._pending.result()
        except CancelledError as error:
            raise PolicyClosed("the server was closed") from error

    def leave(self) -> None:
        """Wait no more: a model of ours drops what it has begun."""
        self._left.set()
        self._pending.cancel()


# -- Opening ---------------------------------------------------------------------------------------------------------


def served_policy(
    name: str, spec: str, policy: TacticPolicy | TextPolicy, scorer: StepsScorer | None = None
) -> ServedModel:
    """Return the model of a policy, which stays open as long as the policy; without a `scorer` it has `scorer_of`."""
    if isinstance(policy, TextPolicy):
        scorer = scorer or scorer_of(policy.model, policy.values, policy.format)
        return ServedModel(name, policy.model, policy.format, policy.sampling, scorer)
    # The policy's worker: texts and tactics share batches, and the memory for keys and values is there once.
    own = OwnModel(spec, policy.engine.model, policy.engine.tokenizer, worker=policy.worker)
    return ServedModel(name, own, FORMATS[OWN_FORMAT], policy.sampling, scorer or scorer_of(own))


def scorer_of(
    model: LanguageModel, values: ValueSource | None = None, how: PromptFormat | None = None
) -> StepsScorer | None:
    """Return a scorer by other `values` where there are any, else by the model's own value head, if it has one.

    `how` is how a model of others is asked for tactics, as its head was trained.
    """
    inner = model.model if isinstance(model, CachedModel) else model
    if values is None and isinstance(inner, OwnModel):
        values = OwnValue(inner)
    if values is None and isinstance(inner, HFModel) and inner.has_values and how is not None:
        values = HeadValue(inner, how)
    if values is None:
        return None
    return ValueScorer(values)


@contextmanager
def open_served_model(
    name: str,
    spec: str,
    sampling: SamplingConfig,
    options: TextModelOptions,
    dist: DistInfo,
    threads: int | None,
    scorer: StepsScorer | None = None,
) -> Iterator[ServedModel]:
    """Open one more model of a server. Without a known format it continues texts and suggests no tactics."""
    how: PromptFormat | None = FORMATS[OWN_FORMAT]
    if is_foreign(spec):
        # The model's own format first: `--prompt-format` is one for all models of the server.
        how = known_format(spec, "tactic")
        if how is None and options.prompt_format is not None:
            how = options.format_for(spec)
        sampling = replace(sampling, max_gen_tokens=options.model_tactic_tokens)
    with open_model(
        spec,
        options.backend,
        chat=how is not None and how.chat,
        system="" if how is None else how.system,
        special=None if how is None else how.special,
        device=dist.device,
        dtype=dist.dtype,
        threads=threads,
    ) as model:
        yield ServedModel(name, model, how, sampling, scorer or scorer_of(model, how=how))
