"""Reinforcement learning: matchmaker, collection, replay buffers, updates, evaluation and records."""
