"""`grind`: a bounded search for a proof by contradiction, by congruence closure, E-matching, arithmetic and cases."""

from nanolean.tactics.grind import tactic

__all__ = ["tactic"]
