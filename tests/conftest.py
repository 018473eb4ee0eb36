"""Shared by all tests: one thread for torch, and a home of its own for what is written by default."""

import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def nanoproof_home(tmp_path_factory):
    """`$NANOPROOF_HOME` of the tests; the library's cache in it is shared by all of them."""
    if "NANOPROOF_HOME" not in os.environ:
        os.environ["NANOPROOF_HOME"] = str(tmp_path_factory.mktemp("home"))
    return os.environ["NANOPROOF_HOME"]
