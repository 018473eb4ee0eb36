"""Checks of the doctor that break, each in a process of its own, which torch and pytest would make slow to start."""

import os
import signal
import time

from nanoproof.doctor.report import CheckInputs, Finding


def fails(asked: CheckInputs) -> list[Finding]:
    raise RuntimeError("no luck")


def crashes(asked: CheckInputs) -> list[Finding]:
    os.kill(os.getpid(), signal.SIGSEGV)
    return []


def hangs(asked: CheckInputs) -> list[Finding]:
    time.sleep(600)
    return []


def chatters(asked: CheckInputs) -> list[Finding]:
    print("noise")
    os.write(1, b"more noise\n")
    return [Finding("luck", "ok", asked.lean_servers[0])]
