"""Attention behind one contract (`contract.py`) with several paths, and the choice between them (`choose.py`)."""
