"""From what the engine sampled to what the search is told: texts, without what is no tactic to try, each once."""

import math
from collections import Counter
from dataclasses import dataclass

from nanoproof.gpt.batching.request import Completion
from nanoproof.gpt.tokenizer import Tokenizer
from nanoproof.lean.banned import banned_reason
from nanoproof.search.policy import Suggestion

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
