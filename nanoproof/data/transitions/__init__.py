"""Transitions: reading, augmenting and packing proof steps."""
