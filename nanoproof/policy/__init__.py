"""Prompts, sampling and batching: from a proof state to tactics and a value."""
