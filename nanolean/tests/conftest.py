"""Shared by the tests of NanoLean: Ctrl-C as at a terminal, and a home for the library's cache, built once."""

import os
import signal
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

from nanolean.library import loader, texts

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script; processes would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The same draws each time, so that a change is not refused for what it did not touch; nightly runs draw others, more.
always_alike = "NANOPROOF_NIGHTLY" not in os.environ
settings.register_profile(
    "any machine",
    max_examples=40 if always_alike else 100,
    deadline=None,
    derandomize=always_alike,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def nanoproof_home(tmp_path_factory):
    """`$NANOPROOF_HOME` of the tests; the library's cache in it is shared by all of them."""
    if "NANOPROOF_HOME" not in os.environ:
        os.environ["NANOPROOF_HOME"] = str(tmp_path_factory.mktemp("home"))
    return os.environ["NANOPROOF_HOME"]


@pytest.fixture(scope="module")
def library_read_once():
    """Commands that are called in this process read the library, and check it again, once for all of them."""
    opened = cache(loader.open_library)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nanolean.tools.export.library_declarations", cache(texts.library_declarations))
        patch.setattr("nanolean.tools.check.open_library", lambda distrust=False: opened(distrust=distrust))
        for tool in ("export", "certificates"):
            patch.setattr(f"nanolean.tools.{tool}.load_library", lambda distrust=False: opened(distrust=distrust).state)
        yield
