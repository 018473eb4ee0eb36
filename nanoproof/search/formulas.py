"""The formulas of the search, with the constants of one configuration and tables of what depends on counts only."""

from math import inf, log, sqrt

from nanoproof.search.config import SearchConfig


class Formulas:
    """What selection and back-up compute; one object per search.

    The score of a value is `q(x) = gamma^(-1-x)` clipped to [0, 1]: 1 where one tactic finishes, less the more tactics
    are needed. With `discount = gamma^(-V)` of a node, its score for an OR parent, where `x = -1 + V`, is `discount`,
    for an AND parent, where `x = V`, it is `discount / gamma`, and its unvisited children, of which
    `x = V - penalty`, have `discount * fresh_discount`.

    `exploration[N]` is `c(N) * sqrt(N)` with `c(N) = c_init + log((N + c_base + 1) / c_base)`; `cover` makes the table
    long enough.
    """

    def __init__(self, config: SearchConfig) -> None:
        self.config = config
        self.fresh_discount = config.gamma ** (config.unvisited_penalty - 1.0)
        self.exploration: list[float] = []
        self._expand_at: list[float] = []
        self.cover(64)

    def cover(self, visits: int) -> None:
        """Make `exploration` reach beyond N = `visits`."""
        table, c_init, c_base = self.exploration, self.config.c_init, self.config.c_base
        for n in range(len(table), visits + 1):
            table.append((c_init + log((n + c_base + 1) / c_base)) * sqrt(n))

    def expand_at(self, expansions: int) -> float:
        """Progressive sampling: the least N for which an OR node of E expansions is expanded again, `E <= C * N^alpha`.

        Infinite if there is none.
        """
        while len(self._expand_at) <= expansions:
            self._expand_at.append(self._least_visits(len(self._expand_at)))
        return self._expand_at[expansions]

    def _least_visits(self, expansions: int) -> float:
        c, alpha = self.config.progressive_c, self.config.progressive_alpha
        if expansions == 0:
            return 0
        if c == 0 or alpha == 0:
            return 0 if expansions <= c else inf
        try:
            visits = max(0, int((expansions / c) ** (1 / alpha)) - 1)
        except OverflowError:
            return inf
        while expansions > c * visits**alpha:
            visits += 1
        return visits
