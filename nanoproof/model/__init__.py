"""The network: tokenizer, Transformer, optimizer, checkpoints, inference engine."""
