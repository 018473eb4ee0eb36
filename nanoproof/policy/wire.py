"""The JSON of the policy service, as server and client both read it."""

import dataclasses
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt, ValidationError, model_validator

from nanoproof.common.errors import first_problem
from nanoproof.gpt.tokenizer import NUM_VALUE_BINS
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.search.policy import Suggestion

SAMPLING_FIELDS = tuple(field.name for field in dataclasses.fields(SamplingConfig))
_FIELDS = ("tactics", "logprobs", "counts", "value", "value_distribution", "num_dropped")


class _Answer(BaseModel):
    """A suggestion as a server sends it: the lists must fit together and hold what they should."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    tactics: list[str] = []
    logprobs: list[float] = []
    counts: list[PositiveInt] = []
    value: float
    value_distribution: list[float] | None = None
    num_dropped: NonNegativeInt = 0

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(set(self.tactics)) != len(self.tactics):
            raise ValueError("tactics must be distinct texts")
        if not len(self.tactics) == len(self.logprobs) == len(self.counts):
            raise ValueError("there must be as many logprobs and counts as tactics")
        if len(self.value_distribution or ()) not in (0, NUM_VALUE_BINS):
            raise ValueError(f"value_distribution must have {NUM_VALUE_BINS} numbers or none")
        return self


def sampling_to_json(sampling: SamplingConfig) -> dict[str, Any]:
    """The fields of a request that say how to sample."""
    return {name: getattr(sampling, name) for name in SAMPLING_FIELDS}


def suggestion_to_json(suggestion: Suggestion) -> dict[str, Any]:
    """One answer; its numbers are read back without loss."""
    return {name: getattr(suggestion, name) for name in _FIELDS}


def suggestion_from_json(data: Any) -> Suggestion:
    """Read one answer. Raises ValueError if it is none."""
    try:
        answer = _Answer.model_validate(data)
    except ValidationError as error:
        raise ValueError(first_problem(error)) from error
    lists = (tuple(answer.tactics), tuple(answer.logprobs), tuple(answer.counts))
    return Suggestion(*lists, answer.value, tuple(answer.value_distribution or ()), answer.num_dropped)
