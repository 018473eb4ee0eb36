"""The library: its text, `*.lean`, how that becomes a state, and the cache in which that is kept."""
