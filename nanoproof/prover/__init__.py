"""From one theorem to one checked attempt."""
