"""The Lean server: LeanTree's HTTP API over a pool of processes that speak the Lean REPL protocol."""
