"""Our Lean server: LeanTree's HTTP API over processes that speak the Lean REPL protocol."""
