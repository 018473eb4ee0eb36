"""The trusted kernel of NanoLean; imports nothing from the rest of it."""
