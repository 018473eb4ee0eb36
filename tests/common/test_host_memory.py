"""Freed memory is kept, so that a loop that takes and frees the same amounts does not fault for every page again."""

import platform
import subprocess
import sys

import pytest

from nanoproof.common.host_memory import SWITCH

LOOP = """
import resource
from nanoproof.common.host_memory import keep_freed_memory
said = keep_freed_memory()
sizes = [9 << 20] * 8
for _ in range(3):
    blocks = [bytearray(size) for size in sizes]
    del blocks
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    blocks = [bytearray(size) for size in sizes]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, said)
"""


@pytest.mark.nightly
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="these are settings of glibc")
@pytest.mark.parametrize("variable", [None, SWITCH, "MALLOC_TRIM_THRESHOLD_"])
def test_freed_memory_is_kept_unless_the_user_chose_otherwise(variable: str | None) -> None:
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    if variable is not None:
        environment[variable] = "system" if variable == SWITCH else "131072"
    done = subprocess.run(
        [sys.executable, "-c", LOOP], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    faults, said = done.stdout.split(maxsplit=1)
    if variable is None:
        assert int(faults) < 1000 and said.startswith("glibc's, keeping 512 MB")
    else:
        assert int(faults) > 1000 and said.startswith("the system's") and variable in said
