"""Lean without torch: source text, proof states, clients and servers of REPL processes, the embedded prover."""
