"""Inference: the engine (prefill, KV cache, continuous batching) and its worker thread."""
