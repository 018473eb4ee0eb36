"""Self-play: a model states conjectures that it can barely prove, and learns from their proofs."""
