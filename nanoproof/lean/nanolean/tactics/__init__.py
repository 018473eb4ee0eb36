"""The tactics of NanoLean; none of them is trusted."""
