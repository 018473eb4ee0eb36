"""The commands of `python -m nanolean`, apart from the REPL protocol."""
