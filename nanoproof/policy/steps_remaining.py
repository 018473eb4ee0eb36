"""Steps remaining: a regression model (as LeanProgress) that says how many tactics a goal needs after a candidate.

A model of transformers reads goal, earlier tactics and a candidate as one text, and writes a number. A search asks it
for the candidates of each state that it expands, and weighs them by log-probability and steps remaining. Which model
counts is said by `--progress-model` or, as LeanDojo's users know it, by LEANPROGRESS_MODEL; without one nothing
changes.
"""

import math
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.hf_loading import first_line, load_tokenizer, load_weights, loading, transformers_library
from nanoproof.lean.types import Theorem
from nanoproof.policy.policy_options import DEVICE_VARIABLE, MAX_LENGTH, TEMPLATE, TEMPLATE_VARIABLE, ProgressOptions
from nanoproof.search.policy import Policy, Suggestion, policy_for

ROWS = 64
"""Candidates that are scored at a time."""
_PLACE = re.compile(r"\{(goal|prefix|tactic)\}")


def progress_text(goal: str, tactic: str, prefix: str | None = None, template: str = TEMPLATE) -> str:
    """Write what the model reads; what stands in goal or tactic is never taken for a place of the template."""
    parts = {"goal": goal.strip(), "prefix": (prefix or "").strip(), "tactic": tactic.strip()}
    # In one pass, as `str.format` and chains of `replace` would read a `{tactic}` that stands in a goal.
    return _PLACE.sub(lambda place: parts[place[1]], template)


class Scorer:
    """A trained model of the steps remaining. Any number of threads may ask."""

    def __init__(self, model_path: str | Path, device: str | None = None, template: str | None = None) -> None:
        """Load a folder or an id of the hub; `device` None or "auto" is the best there is.

        Raises UserError for what cannot be loaded, is no regression model, or for a template without goal or tactic.
        """
        self.template = template or TEMPLATE
        missing = [name for name in ("{goal}", "{tactic}") if name not in self.template]
        if missing:
            raise UserError(f"{TEMPLATE_VARIABLE} has no {missing[0]}; expected {{goal}}, {{tactic}} and {{prefix}}")
        self.source = local_or_id(str(model_path))
        library = transformers_library()
        name = f"the progress model {model_path}"
        with loading(name, folder=self.source):
            model = load_weights(library.AutoModelForSequenceClassification, self.source, name=name)
            self._tokenizer = load_tokenizer(library, self.source, name)
            self._model = model.to(_device(device)).float().eval()
        if self._model.config.num_labels != 1:
            labels = self._model.config.num_labels
            raise UserError(f"the progress model {model_path} tells {labels} classes apart; expected one number")
        self.max_length = room_of(self._model, self._tokenizer)
        self._lock = threading.Lock()

    @torch.inference_mode()
    def steps_remaining(self, goal: str, tactics: Sequence[str], prefix: str | None = None) -> list[float]:
        """Return a number for each tactic, 0 or more. Raises UserError where the model's output is not finite."""
        texts = [progress_text(goal, tactic, prefix, self.template) for tactic in tactics]
        steps: list[float] = []
        for first in range(0, len(texts), ROWS):
            # Fast tokenizers keep padding and truncation as a state of their own, and refuse a second thread.
            with self._lock:
                rows = self._tokenizer(
                    texts[first : first + ROWS],
                    padding=True,
                    truncation=True,
                    max_length=self.max_length,
                    return_tensors="pt",
                )
                logits_R = self._model(**rows.to(self._model.device)).logits[:, 0].float()
            steps += logits_R.clamp(min=0.0).tolist()  # a regression knows nothing of the bound
        if not all(map(math.isfinite, steps)):
            raise UserError(f"the progress model {self.source}: its output is not finite")
        return steps


def local_or_id(source: str) -> str:
    """Return the folder of a model where there is one, with `~` expanded, else the id as it is."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        return str(folder)
    return source


def room_of(model: Any, tokenizer: Any, wanted: int = MAX_LENGTH) -> int:
    """Return how many tokens a text may have: at most what tokenizer and network take."""
    limits = [wanted]
    # Either may be missing; a tokenizer that knows no limit has one of 30 digits.
    for limit in (tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None)):
        if isinstance(limit, int) and limit > 0:
            limits.append(limit)
    return min(limits)


def _device(name: str | None) -> torch.device:
    if name not in (None, "", "auto"):
        try:
            return torch.empty(0, device=name).device
        except (RuntimeError, AssertionError) as error:
            raise UserError(f"{DEVICE_VARIABLE} {name}: {first_line(error)}") from error
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


# -- In search -------------------------------------------------------------------------------------------------------


class StepsRemaining(Protocol):
    """What says how many tactics a goal needs after each candidate."""

    def steps_remaining(self, goal: str, tactics: Sequence[str], prefix: str | None = None) -> list[float]:
        """Return a number for each tactic, 0 or more."""
        ...


def weighed(suggestion: Suggestion, steps: Sequence[float], weight: float) -> Suggestion:
    """Order candidates by log-probability minus `weight` times steps remaining, the best first.

    log p'(t) = log p(t) - weight * steps(t) + c, with c such that the candidates together keep their probability: what
    the search makes of the rest, and of states, stays as it was.
    """
    if not suggestion.tactics:
        return suggestion
    lowered = [logprob - weight * left for logprob, left in zip(suggestion.logprobs, steps, strict=True)]
    shift = _log_sum(suggestion.logprobs) - _log_sum(lowered)
    # `sorted` is stable: of equals the policy's order stays.
    order = sorted(range(len(lowered)), key=lambda index: -lowered[index])
    return replace(
        suggestion,
        tactics=tuple(suggestion.tactics[index] for index in order),
        logprobs=tuple(min(0.0, lowered[index] + shift) for index in order),
        counts=tuple(suggestion.counts[index] for index in order),
    )


def _log_sum(values: Sequence[float]) -> float:
    largest = max(values)  # taken out: exp of each alone may underflow to 0
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))


class ProgressPolicy:
    """A policy whose candidates are weighed by the steps remaining after them."""

    def __init__(self, policy: Policy, scorer: StepsRemaining, weight: float) -> None:
        self.policy, self._scorer, self._weight = policy, scorer, weight

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest the policy's tactics in their new order; earlier tactics (the prefix) are not known here."""
        suggestion = self.policy.suggest(state_text, seed)
        return weighed(suggestion, self._scorer.steps_remaining(state_text, suggestion.tactics), self._weight)

    def for_theorem(self, theorem: Theorem) -> Policy:
        """Return the policy for a theorem, weighed alike."""
        return ProgressPolicy(policy_for(self.policy, theorem), self._scorer, self._weight)


def open_weighing(policy: Policy, options: ProgressOptions) -> Policy:
    """Return the policy, weighed by the model that options or environment name, if any; raises as `Scorer` does."""
    scorer = open_scorer(options)
    if scorer is None:
        return policy
    return ProgressPolicy(policy, scorer, options.progress_weight)


def open_scorer(options: ProgressOptions) -> Scorer | None:
    """Load the model that options or environment name; None without one. Raises UserError as `Scorer` does."""
    source = options.source
    if source is None:
        return None
    return Scorer(source, os.environ.get(DEVICE_VARIABLE), os.environ.get(TEMPLATE_VARIABLE))
