"""A REPL that sleeps instead of computing: `python sleeping_repl.py IMPORT_SECONDS TACTIC_SECONDS [lean] [repl]`.

The first command takes as long as an import. `endless` is a tactic without an end; what stops it are the limits named:
`lean`, the tactic that `nanoproof.lean.server.backend` defines, and `repl`, the `timeout` of forks. Without them it
ends with its process, as in the official REPL. Needs nothing but Python, so that its own start costs little.
"""

import json
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

GOAL = "p q : Prop\nhp : p\nhq : q\n⊢ p ∧ q"
LIMITED = re.compile(r"nanoproof_within (\d+)\n")
SLEEP = re.compile(r"\(?sleep (\d+)")
FOR_EVER = 1e6


def requests() -> Iterator[dict[str, Any]]:
    """Yield the requests on standard input."""
    pending = ""
    for line in sys.stdin:
        pending += line
        if not line.strip() and pending.strip():
            yield json.loads(pending)
            pending = ""


def command(text: str, env: int, limits: list[str]) -> dict[str, Any]:
    """Return the answer to a command."""
    # Such a Lean refuses the definition of the tactic that would stop others, and the server does without.
    if "elab" in text and "lean" not in limits:
        return {"env": env, "messages": [{"severity": "error", "data": "unknown namespace `Lean`"}]}
    answer: dict[str, Any] = {"env": env}
    if "sorry" in text:
        answer["sorries"] = [{"proofState": 0, "goal": GOAL}]
    return answer


def tactic(request: dict[str, Any], seconds: float, limits: list[str]) -> dict[str, Any]:
    """Return the answer to a tactic, after the time that it takes or may take."""
    text, ends = request["tactic"], [(FOR_EVER, "")]
    limited = LIMITED.match(text)
    if limited:
        text = text[limited.end() :]
        ends.append((int(limited[1]) / 1000, "Lean error:\nthe tactic timed out and was stopped"))
    if "repl" in limits and "timeout" in request:
        ends.append((request["timeout"] / 1000, "Operation timed out"))
    takes = FOR_EVER if text == "endless" else seconds
    slept = SLEEP.match(text)
    if slept:
        takes = int(slept[1]) / 1000
    stop, why = min(ends)
    time.sleep(min(takes, stop))
    if takes > stop:
        return {"message": why}
    return {"proofState": 1, "goals": [GOAL], "proofStatus": "Incomplete: open goals remain"}


def main() -> None:
    """Answer until the input ends."""
    import_seconds, tactic_seconds, limits = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    for number, request in enumerate(requests()):
        if number == 0:
            time.sleep(import_seconds)
        if "cmd" in request:
            answer = command(request["cmd"], number, limits)
        else:
            answer = tactic(request, tactic_seconds, limits)
        print(json.dumps(answer) + "\n", flush=True)


if __name__ == "__main__":
    main()
