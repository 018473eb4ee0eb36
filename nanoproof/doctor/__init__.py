"""What is here and what is not, each with the command that mends it: `python -m nanoproof.doctor`."""
