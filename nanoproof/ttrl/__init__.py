"""Test-time learning: a copy of the network learns from variants of one theorem until it proves that theorem."""
