"""Commands of others, run to their end."""

import os
import signal
import subprocess


def run(command: list[str], cwd: str | None, seconds: float) -> tuple[int, str]:
    """Run a command; return its exit code and output. On a timeout, all processes that it started are killed."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=cwd, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace", start_new_session=True
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        # The command alone would leave its children with the pipes; it leads a session, so its group is all of them.
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, stdout + stderr
