"""Actors: threads that prove theorems on Lean processes, for reinforcement learning and evaluation."""
