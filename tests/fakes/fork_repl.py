"""A REPL process as LeanTree's servers need it, over NanoLean: `python -m tests.fakes.fork_repl`.

What it adds to the official protocol was read off the fork: `goalInfo` of each sorry, `goalInfos`, `mctxAfter` and
`stepVerification` of each step, `proofStatus` that is always "N/A", and a `timeout` in milliseconds. The tactic
`never_ends` ends only when its timeout does, as does `rfl` on a goal that names something slow. `#eval` knows Lean's
version and the end of the process.
"""

import json
import os
import re
import sys
import time
from typing import Any

from nanolean.library.loader import load_library
from nanolean.repl import Repl, read_requests
from nanolean.system import with_deep_stack
from nanoproof.lean.types import parse_goal

NEVER_ENDS = "never_ends"
VERSION = "4.27.0"
UNLIMITED_MS = float(os.environ.get("FORK_REPL_UNLIMITED_MS", "600000"))
"""How long what never ends takes without a limit."""
_METAVARIABLE = re.compile(r"\?([^\W\d][\w.]*)")


class ForkRepl:
    """Answers as the fork does; all but its own fields are NanoLean's."""

    def __init__(self, repl: Repl) -> None:
        self.repl = repl
        self.goals = 0

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.never_ends(request):
            time.sleep(request.get("timeout", UNLIMITED_MS) / 1000)
            return {"message": "Operation timed out"}
        command = request.get("cmd", "")
        if command.startswith("#eval") and "IO.Process.exit" in command:
            os._exit(1)
        if command == "#eval Lean.versionString":
            place = {"line": 1, "column": 0}
            message = {"severity": "info", "pos": place, "endPos": place, "data": f'"{VERSION}"'}
            return {"env": self.repl.answer({**request, "cmd": ""})["env"], "messages": [message]}
        answer = self.repl.answer(request)
        for gap in answer.get("sorries", ()):
            gap["goalInfo"] = self.info(gap["goal"])
        if "tactic" in request and "proofState" in answer:
            return self.step(answer)
        return answer

    def never_ends(self, request: dict[str, Any]) -> bool:
        if request.get("tactic") == "rfl" and request["proofState"] in self.repl.states:
            return "slow" in self.repl.states[request["proofState"]].goal_texts()[0]
        return request.get("tactic") == NEVER_ENDS

    def step(self, answer: dict[str, Any]) -> dict[str, Any]:
        status = answer["proofStatus"]
        infos = [self.info(goal) for goal in answer["goals"]]
        ids = {info["username"]: info["id"] for info in infos}
        decls = [
            {
                "mvarId": info["id"],
                "userName": info["username"],
                "type": info["type"],
                "mvarsInType": [ids[name] for name in _METAVARIABLE.findall(info["type"]) if name in ids],
                "value": "N/A",
            }
            for info in infos
        ]
        right = status == "Completed" or "open goals" in status
        own = {"proofStatus": "N/A", "stepVerification": "OK" if right else f"Error: {status}"}
        return {**answer, "traces": [], "goalInfos": infos, "mctxAfter": {"decls": decls}, **own}

    def info(self, text: str) -> dict[str, Any]:
        goal = parse_goal(text)
        self.goals += 1
        hyps = [
            {"username": hyp.user_name, "type": hyp.type, "value": hyp.value, "id": f"_uniq.{i}", "isProof": "data"}
            for i, hyp in enumerate(goal.hypotheses)
        ]
        name = goal.tag or "[anonymous]"
        return {"username": name, "type": goal.type, "hyps": hyps, "id": f"_uniq.g{self.goals}"}


def serve() -> None:
    """Answer requests until the input ends."""
    fork = ForkRepl(Repl(load_library()))
    for text in read_requests(sys.stdin):
        print(json.dumps(fork.answer(json.loads(text)), ensure_ascii=False) + "\n", flush=True)


if __name__ == "__main__":
    with_deep_stack(serve)
