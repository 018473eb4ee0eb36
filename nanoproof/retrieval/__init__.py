"""Premise retrieval: which declarations of a library may help with a proof state."""
