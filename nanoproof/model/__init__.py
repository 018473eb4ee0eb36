"""The network: tokenizer, Transformer, optimizer, checkpoints."""
