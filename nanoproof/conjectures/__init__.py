"""Conjectures inside reinforcement learning: the network states theorems, attempts them, and learns from both."""
