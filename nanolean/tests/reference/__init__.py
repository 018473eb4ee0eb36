"""A second type checker, for tests only: slow, short, and made from the type theory's description by other methods.

Sources: Mario Carneiro, *The Type Theory of Lean* (master's thesis, Carnegie Mellon University, 2019), for typing,
definitional equality, inductive types with their recursors, large elimination, K and quotients; Chris Bailey, *Type
Checking in Lean 4*, for projections, eta of structures and literals; the Lean reference manual ("The Type System",
"Inductive Types") for universes and for what eliminates into which; Andreas Abel, *Normalization by Evaluation:
Dependent Types and Impredicativity* (habilitation thesis, 2013), for equality that is directed by types.

What it shares with the kernel is the data: terms, levels and constants are read, nothing of the kernel is called. Where
the kernel substitutes in terms without names, this checker gives every binder a name and evaluates terms in
environments; where the kernel compares terms and tries eta where it is stuck, two values are compared here as their
type says (functions at a fresh argument, structures by their fields, proofs not at all); levels are no terms but the
vector of their values on a grid of assignments; literals are numbers of successors, without arithmetic; recursors and
their rules are made from the constructors, and what the kernel made is only compared with them.

Modules: `terms` (names and levels), `values` (what terms evaluate to), `machine` (evaluation), `families` (inductive
types and their recursors), `judge` (types and equality), `admission` (which inductive types are allowed), `quotients`,
`theory` (declarations).
"""

from nanolean.tests.reference.theory import Reference, Theory
from nanolean.tests.reference.values import OutOfFuel, Refused

__all__ = ["OutOfFuel", "Reference", "Refused", "Theory"]
