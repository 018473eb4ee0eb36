"""What the kernel raises: a refusal, or a computation that was too large for its budget."""

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


class Budget:
    """A counter of elementary steps that several parts of one computation share."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int = 1) -> None:
        """Take `steps` away; raises `BudgetExceeded` when nothing is left."""
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded("maximum number of steps exceeded")
