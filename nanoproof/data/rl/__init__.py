"""Theorem sets for reinforcement learning, one module each."""
