"""Metavariables, local contexts and unification."""
