"""Commands: declarations, scopes, attributes and queries, run one after another over an `EnvState`."""
