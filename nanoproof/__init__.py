"""nanoproof: an open automated theorem prover for Lean 4."""
