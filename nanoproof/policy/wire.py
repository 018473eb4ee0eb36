"""The JSON of the policy service, as server and client both read it."""

import dataclasses
import math
from typing import Any

from nanoproof.gpt.tokenizer import NUM_VALUE_BINS
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.search.policy import Suggestion

SAMPLING_FIELDS = tuple(field.name for field in dataclasses.fields(SamplingConfig))
_FIELDS = ("tactics", "logprobs", "counts", "value", "value_distribution", "num_dropped")


def sampling_to_json(sampling: SamplingConfig) -> dict[str, Any]:
    """The fields of a request that say how to sample."""
    return {name: getattr(sampling, name) for name in SAMPLING_FIELDS}


def sampling_from_json(body: dict[str, Any], default: SamplingConfig) -> SamplingConfig:
    """How a request wants its samples; what it leaves out is as in `default`. Raises ValueError."""
    given = {name: body[name] for name in SAMPLING_FIELDS if name in body}
    for name, value in given.items():
        whole = name != "temperature"
        if value is None and name == "first_token_occurrences_cap":
            continue
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            raise ValueError(f"`{name}` must be {'an integer' if whole else 'a number'}, got {str(value)[:50]!r}")
    return dataclasses.replace(default, **given)


def suggestion_to_json(suggestion: Suggestion) -> dict[str, Any]:
    """One answer; its numbers are read back without loss."""
    return {name: getattr(suggestion, name) for name in _FIELDS}


def suggestion_from_json(data: Any) -> Suggestion:
    """Read one answer. Raises ValueError if it is none: the lists must fit together and hold what they should."""
    if not isinstance(data, dict) or not all(isinstance(data.get(name, []), list) for name in _FIELDS[:3]):
        raise ValueError("a suggestion must be an object with lists")
    tactics, logprobs, counts = (tuple(data.get(name, ())) for name in _FIELDS[:3])
    bins = data.get("value_distribution") or []
    if not all(isinstance(tactic, str) for tactic in tactics) or len(set(tactics)) != len(tactics):
        raise ValueError("tactics must be distinct texts")
    if not len(tactics) == len(logprobs) == len(counts):
        raise ValueError("there must be as many logprobs and counts as tactics")
    if not isinstance(bins, list) or len(bins) not in (0, NUM_VALUE_BINS):
        raise ValueError(f"value_distribution must have {NUM_VALUE_BINS} numbers or none")
    if not all(map(_is_number, (*logprobs, *bins, data.get("value")))):
        raise ValueError("logprobs and values must be numbers")
    if not all(_is_count(count) and count > 0 for count in counts) or not _is_count(data.get("num_dropped", 0)):
        raise ValueError("counts must be positive integers")
    return Suggestion(tactics, logprobs, counts, float(data["value"]), tuple(bins), data.get("num_dropped", 0))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
