"""A program that speaks the Lean REPL's protocol and answers from a script, misbehaving on cue.

    python scripted_repl.py SCRIPT.json [LOG]

The script holds
- "theorems": {part of a command: goal text, or an effect}: commands with `sorry` that contain the part start there;
- "commands": {part of a command: effect}: looked at first;
- "tactics": {goal text: {tactic: [goal texts] or effect}}: what a tactic does to the first goal.
An effect is {"error": text}, {"answer": whole answer}, {"write": what goes to standard output as it is},
{"do": one of MISBEHAVIOURS} or, with {"flag": path, ...}, any of these until the file `path` exists (it is created),
and {"then": ...} afterwards.
`rotate_left k`, `focus (tactic)` and `skip` work as in Lean; everything else is an unknown tactic.

"limits" lists what this REPL has against tactics that take too long: "lean" (it takes the definition of the tactic that
stops another one) and "repl" (it heeds `timeout`). Both stop `sleep` and the effect {"slow": true} at once; the effect
{"slow": "deaf"} is nothing that Lean can stop. Where nothing stops it, `slow` never ends, and `sleep` takes no time.
With "heeds": true the effect {"do": "hang"} ends when a `timeout` does, in the fork's words.
Each request is appended to LOG as a line.
"""

import json
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

DEFINITION = re.compile(r'^elab "nanoproof_within " limit:num', re.MULTILINE)
LIMITED = re.compile(r"nanoproof_within \d+\n")
SLEEP = re.compile(r"\(?sleep \d+")


class Refused(Exception):
    """The scripted Lean refuses."""


class Raw(Exception):
    """Answer exactly this."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer


class Slow(Exception):
    """The tactic takes its time, and leaves goals in the end (None: it has no end)."""

    def __init__(self, is_deaf: bool, goals: list[str] | None) -> None:
        self.is_deaf = is_deaf
        self.goals = goals


class Silent(Exception):
    """Answer nothing (more)."""


def crash() -> None:
    """End with a status and last words of its own."""
    print("the scripted process crashes", file=sys.stderr, flush=True)
    os._exit(7)


def late_chatter() -> None:
    """Answer once, and once more when nobody waits for it."""
    print('{"env": 0}\n', flush=True)
    time.sleep(0.1)
    print('{"env": 1}\n', flush=True)
    time.sleep(600)


def half() -> None:
    """Stop in the middle of an answer and end."""
    print('{"env": 0, "messages": [', end="", flush=True)
    os._exit(3)


def stall() -> None:
    """Stop in the middle of an answer and stay."""
    print('{"env": 0, "messages": [', end="", flush=True)
    time.sleep(600)


def flood() -> None:
    """Answer without an end."""
    while True:
        print("x" * 65536, end="", flush=True)


def noise() -> None:
    """Write more to standard error than a pipe holds, and then answer."""
    print("noise " * 50_000 + "the end of the noise", file=sys.stderr, flush=True)
    raise Raw({"env": 0})


def close_input() -> None:
    """Answer, and read nothing any more."""
    os.close(0)
    print('{"env": 0}\n', flush=True)
    time.sleep(600)


MISBEHAVIOURS: dict[str, Callable[[], object]] = {
    "crash": crash,
    "hang": lambda: time.sleep(600),
    "garbage": lambda: print("this is no JSON\n", flush=True),
    "chatter": lambda: print('{"env": 0}\n\n{"env": 1}\n', flush=True),
    "late chatter": late_chatter,
    "half": half,
    "stall": stall,
    "flood": flood,
    "noise": noise,
    "close input": close_input,
}


def perform(effect: Any) -> list[str]:
    """The goals of an effect, if it has any."""
    if isinstance(effect, list):
        return effect
    if "flag" in effect:
        flag = Path(effect["flag"])
        if flag.exists():
            return perform(effect["then"])
        flag.touch()
    if "error" in effect:
        raise Refused(effect["error"])
    if "answer" in effect:
        raise Raw(effect["answer"])
    if "write" in effect:
        sys.stdout.buffer.write(effect["write"].encode("latin-1"))
        sys.stdout.flush()
        raise Silent
    MISBEHAVIOURS[effect["do"]]()
    sys.exit(0)


class ScriptedRepl:
    """The state of one process: its proof states, and the environments and states that know the tactic with a limit."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self.states: list[list[str]] = []
        self.envs = 0
        self.timeout: float | None = None
        self.limits: list[str] = script.get("limits", [])
        self.knowing_envs: set[int] = set()
        self.knowing_states: set[int] = set()

    def answer(self, request: dict[str, Any]) -> Any:
        """The answer to one request."""
        try:
            if "cmd" in request:
                return self.command(request["cmd"], request.get("env"))
            if "tactic" in request:
                self.timeout = request.get("timeout") if self.script.get("heeds") else None
                return self.tactic(request["proofState"], request["tactic"], "timeout" in request)
            if request.get("prune_all"):
                self.states.clear()
                return {"pruned": True}
            return {"message": "unknown request"}
        except Raw as raw:
            return raw.answer
        except Refused as refused:
            return {"message": f"Lean error:\n{refused}"}

    def command(self, text: str, env: int | None) -> dict[str, Any]:
        """Run a command: scripted, or a theorem with a `sorry`, or accepted without a word."""
        self.envs += 1
        answer: dict[str, Any] = {"env": self.envs - 1}
        for part, effect in self.script.get("commands", {}).items():
            if part in text:
                perform(effect)
        if DEFINITION.search(text) and "lean" not in self.limits:
            return answer | {"messages": [{"severity": "error", "data": "unknown namespace `Lean`"}]}
        if DEFINITION.search(text) or env in self.knowing_envs:
            self.knowing_envs.add(answer["env"])
        for part, goal in {**self.script.get("theorems", {}), "example : True := by sorry": "⊢ True"}.items():
            if part in text and "sorry" in text:
                goals = [goal] if isinstance(goal, str) else perform(goal)
                position = {"line": 1, "column": 0}
                answer["sorries"] = [
                    {"pos": position, "endPos": position, "goal": goals[0], "proofState": self.add(goals)}
                ]
                if answer["env"] in self.knowing_envs:
                    self.knowing_states.add(len(self.states) - 1)
                break
        return answer

    def tactic(self, state: int, text: str, has_timeout: bool) -> dict[str, Any]:
        """Run a tactic on a proof state."""
        if state >= len(self.states):
            return {"message": "Unknown proof state."}
        limited = LIMITED.match(text)
        if limited and state not in self.knowing_states:
            raise Refused("<input>:1:1: unknown tactic")
        try:
            goals = self.run(self.states[state], text[limited.end() :] if limited else text)
        except Refused as refused:
            raise Refused(str(refused).replace("<input>:1:", f"<input>:{2 if limited else 1}:")) from None
        except Slow as slow:
            if limited and not slow.is_deaf:
                raise Refused("the tactic timed out and was stopped") from None
            if has_timeout and "repl" in self.limits:
                return {"message": "Operation timed out"}
            if slow.goals is None:
                time.sleep(600)
            goals = slow.goals or []
        status = "Incomplete: open goals remain" if goals else "Completed"
        number = self.add(goals)
        if state in self.knowing_states:
            self.knowing_states.add(number)
        return {"proofState": number, "goals": goals, "proofStatus": status}

    def run(self, goals: list[str], text: str) -> list[str]:
        """The goals that a tactic leaves."""
        if text.startswith("rotate_left "):
            count = int(text.split()[1])
            return goals[count:] + goals[:count]
        if text.startswith("focus (") and text.endswith(")"):
            inner = text[len("focus (") : -1].rstrip("\n").replace("\n       ", "\n")
            return self.run(goals[:1], inner) + goals[1:]
        if text == "skip":
            return goals
        if SLEEP.match(text):
            raise Slow(False, goals)
        scripted = self.script.get("tactics", {}).get(goals[0], {})
        if text not in scripted:
            raise Refused("<input>:1:1: unknown tactic")
        effect = scripted[text]
        if isinstance(effect, dict) and "all" in effect:
            return effect["all"]
        if self.timeout is not None and isinstance(effect, dict) and effect.get("do") == "hang":
            time.sleep(self.timeout / 1000)
            raise Raw({"message": "Operation timed out"})
        if isinstance(effect, dict) and "slow" in effect:
            raise Slow(effect["slow"] == "deaf", None)
        return perform(effect) + goals[1:]

    def add(self, goals: list[str]) -> int:
        """Number a new proof state."""
        self.states.append(goals)
        return len(self.states) - 1


def main() -> None:
    """Answer requests until the input ends."""
    script = json.loads(Path(sys.argv[1]).read_text())
    log = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    repl = ScriptedRepl(script)
    pending = ""
    for line in sys.stdin:
        if line.strip():
            pending += line
            continue
        if not pending:
            continue
        request, pending = json.loads(pending), ""
        if log:
            with log.open("a") as file:
                file.write(json.dumps(request) + "\n")
        with suppress(Silent):
            print(json.dumps(repl.answer(request), indent=1, ensure_ascii=False) + "\n", flush=True)


if __name__ == "__main__":
    main()
