"""Shared by the HTTP servers and clients: waitress with limits, JSON bodies, tokens, metrics, shutdown, retries."""
