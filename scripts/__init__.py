"""Command-line tools; run as modules from the repository root."""
