"""Commands: declarations, scopes, attributes and questions, run one after another over an `EnvState`."""
