"""Checks of a machine, the home directory and Lean: `python -m nanoproof.doctor`."""
