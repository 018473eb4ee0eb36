"""Text corpora: documents, rows and batches of tokens."""
