"""Which statements are no question: those that one tactic without arguments proves."""

from collections.abc import Callable

from nanolean.env_state import EnvState
from nanolean.errors import ProofError
from nanolean.tactic_state import TacticState, run_tactic
from nanoproof.data.nanolean.replay import start

FINISHERS = ("rfl", "assumption", "contradiction", "decide", "simp", "omega", "grind")
FINISHER_STEPS = 50_000
"""Elementary steps that each may take, a fraction of what a proof may."""


def finisher_of(state: TacticState) -> str | None:
    """The first of the finishers that proves the goal alone, None if none does."""
    for tactic in FINISHERS:
        try:
            if not run_tactic(state, tactic, FINISHER_STEPS).state.goals:
                return tactic
        except ProofError:
            continue
    return None


def is_trivial(library: EnvState, source: str) -> bool:
    """Whether a finisher proves the theorem of the source alone. Raises ReplayError if it does not elaborate."""
    return finisher_of(start(library, source)) is not None


def trivial_filter(library: EnvState) -> Callable[[str], bool]:
    """`is_trivial` over one library."""
    return lambda source: is_trivial(library, source)
