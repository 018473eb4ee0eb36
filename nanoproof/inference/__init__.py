"""Inference: the engine (prefill, KV cache, decoding), its worker thread, and policies over HTTP."""
