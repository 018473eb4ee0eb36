"""AND/OR Monte-Carlo tree search (no torch, no HTTP)."""
