"""Theorem sets: statements, splits, whitelists, overlaps."""
