"""NanoLean: a small embedded prover for a fragment of Lean 4."""
