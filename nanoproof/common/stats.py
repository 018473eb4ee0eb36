"""Statistics for reports."""

import math
import operator
import random
from collections.abc import Sequence


def wilson(solved: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson score interval for a proportion (Wilson 1927), 95% by default; (0, 1) when nothing was tried."""
    if total == 0:
        return 0.0, 1.0
    rate = solved / total
    centre = rate + z * z / (2 * total)
    spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided exact McNemar test: the p-value of so uneven discordant pairs if both were equally good.

    It is the binomial test of `only_first` successes in `only_first + only_second` fair trials; 1 without any.
    """
    trials = only_first + only_second
    tail = sum(math.comb(trials, count) for count in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / 2**trials)


def paired_difference(only_first: int, only_second: int, total: int, z: float = 1.959964) -> tuple[float, float, float]:
    """How much larger the second of two paired proportions is, with its interval, 95% by default.

    The interval is Wald's after half a pair was added to each of the four cells (Agresti and Min 2005); (0, -1, 1) when
    nothing was tried.
    """
    if total == 0:
        return 0.0, -1.0, 1.0
    first, second, count = only_first + 0.5, only_second + 0.5, total + 2
    centre = (second - first) / count
    spread = z * math.sqrt(max(0.0, first + second - (second - first) ** 2 / count)) / count
    return (only_second - only_first) / total, max(-1.0, centre - spread), min(1.0, centre + spread)


def sign_flip_test(differences: Sequence[float], draws: int = 10_000) -> float:
    """Two-sided paired permutation test: the p-value of so large a mean if each difference might as well be negative.

    All sign patterns are tried where there are no more than `draws`, else that many random ones (always the same).
    """
    nonzero = [difference for difference in differences if difference]
    limit = abs(sum(nonzero)) - 1e-9
    if 2 ** len(nonzero) <= draws:
        patterns = [
            [1 if pattern >> i & 1 else -1 for i in range(len(nonzero))] for pattern in range(2 ** len(nonzero))
        ]
        extreme = sum(abs(sum(map(operator.mul, signs, nonzero))) >= limit for signs in patterns)
        return extreme / len(patterns)
    rng = random.Random(0)
    extreme = sum(abs(sum(rng.choice((-1, 1)) * value for value in nonzero)) >= limit for _ in range(draws))
    return (extreme + 1) / (draws + 1)


def pass_at_k(runs: int, solved: int, k: int) -> float:
    """Unbiased estimate of the probability that one of `k` runs succeeds, `solved` of `runs` did (Chen et al. 2021)."""
    assert 0 <= solved <= runs and 1 <= k <= runs
    return 1.0 - math.comb(runs - solved, k) / math.comb(runs, k)
