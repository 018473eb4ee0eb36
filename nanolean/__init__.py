"""NanoLean: a small embedded prover for a fragment of Lean 4."""

__version__ = "0.1.0"
