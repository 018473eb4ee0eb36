"""A server of the Model Context Protocol: agents prove, try and check on a Lean project through it."""
