"""The commands of `python -m nanolean`: what a person does with NanoLean, beside the protocol."""
