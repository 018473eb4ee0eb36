"""Commands of others, run to their end."""

import os
import signal
import subprocess


def run(words: list[str], cwd: str | None, seconds: float) -> tuple[int, str]:
    """Run a command; return its exit code and output. On a timeout, all processes that it started are killed."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, cwd=cwd, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace", start_new_session=True
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, stdout + stderr
