"""Policies: from a proof state to tactics and a value, by a model, a policy server, or a baseline."""
