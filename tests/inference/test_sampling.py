"""First tokens follow sequential sampling with a cap; later tokens follow their probabilities."""

from collections import Counter
from itertools import permutations

import pytest
import torch

from nanoproof.inference.sampling import Noise, SamplingOptions, first_tokens, next_tokens

P = torch.tensor([0.6, 0.3, 0.1])
TRIALS = 20_000


def drawn(num_samples: int, cap: int | None) -> Counter[tuple[int, ...]]:
    """How often each multiset of first tokens is drawn."""
    copies = cap or num_samples
    generator = torch.Generator().manual_seed(0)
    arrivals = torch.empty(TRIALS, 3, copies).exponential_(generator=generator).cumsum(dim=-1)
    rows = first_tokens(P.log().expand(TRIALS, 3), arrivals, num_samples)
    return Counter(tuple(sorted(row)) for row in rows.tolist())


def expected(num_samples: int, cap: int) -> dict[tuple[int, ...], float]:
    """Probability of each multiset when tokens are drawn one after the other and leave after `cap` draws."""
    result: dict[tuple[int, ...], float] = {}

    def go(chosen: tuple[int, ...], probability: float) -> None:
        if len(chosen) == num_samples:
            key = tuple(sorted(chosen))
            result[key] = result.get(key, 0.0) + probability
            return
        left = [token for token in range(3) if chosen.count(token) < cap]
        total = sum(float(P[token]) for token in left)
        for token in left:
            go((*chosen, token), probability * float(P[token]) / total)

    go((), 1.0)
    return result


@pytest.mark.parametrize(("num_samples", "cap"), [(2, 1), (3, 2), (4, 2), (3, 3)])
def test_first_tokens_are_drawn_one_after_the_other_until_their_cap(num_samples: int, cap: int) -> None:
    counts, theory = drawn(num_samples, cap), expected(num_samples, cap)
    assert set(counts) <= set(theory)
    for key, probability in theory.items():
        assert counts[key] / TRIALS == pytest.approx(probability, abs=0.015), key


def test_all_samples_are_served_when_tokens_are_scarcer_than_the_cap_allows() -> None:
    options = SamplingOptions(num_samples=7, max_new_tokens=4, first_token_cap=1)
    noise = Noise.draw([1], 3, options, torch.device("cpu"))
    tokens = first_tokens(P.log().unsqueeze(0), noise.arrivals_SVC, 7)
    assert max(Counter(tokens[0].tolist()).values()) == 3


def test_noise_depends_on_each_seed_alone() -> None:
    options = SamplingOptions(num_samples=2, max_new_tokens=4, first_token_cap=1)
    both = Noise.draw([5, 6], 10, options, torch.device("cpu"))
    for index, seed in enumerate((5, 6)):
        alone = Noise.draw([seed], 10, options, torch.device("cpu"))
        assert torch.equal(alone.arrivals_SVC[0], both.arrivals_SVC[index])
        assert torch.equal(alone.uniforms_TSK[:, 0], both.uniforms_TSK[:, index])


def test_next_tokens_follow_their_probabilities() -> None:
    uniforms = torch.rand(TRIALS, generator=torch.Generator().manual_seed(1))
    frequencies = next_tokens(P.expand(TRIALS, 3), uniforms).bincount(minlength=3) / TRIALS
    torch.testing.assert_close(frequencies, P, atol=0.015, rtol=0)


def test_impossible_tokens_are_never_next() -> None:
    for order in permutations([0.0, 0.0, 1.0]):
        probabilities = torch.tensor(order).expand(3, 3)
        tokens = next_tokens(probabilities, torch.tensor([0.0, 0.5, 1.0 - 2**-24]))
        assert tokens.tolist() == [order.index(1.0)] * 3
