"""Proof states, the Lean client, Lean servers and the embedded prover (no torch)."""
