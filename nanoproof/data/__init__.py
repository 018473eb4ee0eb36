"""Data sets, loaders and packing."""
