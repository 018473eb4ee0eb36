"""Command-line tools; run as modules from the repository root."""

import nanoproof  # noqa: F401 (what it says of a package that is missing comes before a script imports one)
