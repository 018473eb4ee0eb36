"""The kernel's errors: a refusal, or a computation that was too large for its budget."""

import sys

RECURSION_LIMIT = 60_000


class KernelError(Exception):
    """The kernel refuses a term or a declaration; the message says why."""


class BudgetExceeded(KernelError):
    """A computation ran out of its deterministic step budget, or went too deep."""


def allow_deep_recursion() -> None:
    """Let Python recurse as deep as the kernel may need; calls among its functions use no C stack."""
    if sys.getrecursionlimit() < RECURSION_LIMIT:
        sys.setrecursionlimit(RECURSION_LIMIT)


class Meter:
    """Counts the nodes that walks over terms make, for all budgets: walks are pure and know no budget."""

    __slots__ = ("nodes",)

    def __init__(self) -> None:
        self.nodes = 0


METER = Meter()
NODES_PER_STEP = 2


class Budget:
    """A counter of elementary steps that several parts of one computation share; walks over terms cost steps too."""

    __slots__ = ("_seen", "left")

    def __init__(self, steps: int) -> None:
        self.left = steps
        self._seen = METER.nodes

    def spend(self, steps: int = 1) -> None:
        """Take `steps` away, and what walks have cost since; raises `BudgetExceeded` when nothing is left."""
        walked = METER.nodes - self._seen
        if walked >= NODES_PER_STEP:
            self._seen = METER.nodes
            steps += walked // NODES_PER_STEP
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded("maximum number of steps exceeded")
