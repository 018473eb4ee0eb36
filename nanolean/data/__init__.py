"""The generator of data: true statements with proofs, replayed through the prover, and keys that tell them apart."""
