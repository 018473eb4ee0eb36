"""Data sets for pretraining, one module each."""
