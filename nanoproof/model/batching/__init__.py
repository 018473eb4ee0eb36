"""Continuous batching: requests that join and leave while others decode."""
