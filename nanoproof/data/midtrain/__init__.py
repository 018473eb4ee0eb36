"""Data sets for midtraining."""
