"""One's own Lean repositories: traced, kept in a store, learned from, and their `sorry`s proved."""
