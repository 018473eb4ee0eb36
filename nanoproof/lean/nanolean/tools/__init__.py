"""The commands of `python -m nanoproof.lean.nanolean`: what a person does with NanoLean, beside the protocol."""
