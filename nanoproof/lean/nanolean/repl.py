"""The Lean REPL protocol over a stream: JSON requests separated by blank lines, JSON answers followed by one.

Beyond the official protocol: malformed requests get an answer and the process goes on, a `timeout` is accepted (the
budget is a number of steps, not a time), and `{"prune": [proof states]}` or `{"prune_all": true}` forgets states, so
that a process can serve one user after another.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from typing import IO, Any

from nanoproof.lean.nanolean.commands.messages import CommandResult, LineMap, Message
from nanoproof.lean.nanolean.commands.runner import run_text
from nanoproof.lean.nanolean.elab.session import Note
from nanoproof.lean.nanolean.env_state import EnvState
from nanoproof.lean.nanolean.errors import ProofError
from nanoproof.lean.nanolean.kernel.expr import node_count, sweep
from nanoproof.lean.nanolean.tactic_state import TacticState, proof_status, refusals, run_tactic

Json = dict[str, Any]

SWEEP_GROWTH = 500_000
"""Terms that may be added to the intern table before the unused ones are dropped."""


class Repl:
    """Environments and proof states by number, as the official REPL keeps them."""

    def __init__(self, base: EnvState) -> None:
        self.base = base
        self.envs: dict[int, EnvState] = {}
        self.states: dict[int, TacticState] = {}
        self._next_env = 0
        self._next_state = 0
        self._swept_at = node_count()

    # -- requests ------------------------------------------------------------------------------------------------

    def answer_text(self, text: str) -> Json:
        """The answer to one request, given as JSON text."""
        try:
            request = json.loads(text)
        except (ValueError, RecursionError) as error:
            return {"message": f"Could not parse JSON:\n{error}"}
        if not isinstance(request, dict):
            return {"message": "Could not parse JSON:\nan object is expected"}
        return self.answer(request)

    def answer(self, request: Json) -> Json:
        """The answer to one request."""
        if isinstance(request.get("cmd"), str):
            return self._command(request)
        if isinstance(request.get("tactic"), str) and isinstance(request.get("proofState"), int):
            return self._tactic(request)
        if "prune" in request or "prune_all" in request:
            return self._prune(request)
        return {"message": "Could not parse as a valid JSON command:\n" + json.dumps(request, ensure_ascii=False)}

    def _command(self, request: Json) -> Json:
        number = request.get("env")
        state = self.base if number is None else self.envs.get(number) if isinstance(number, int) else None
        if state is None:
            return {"message": "Unknown environment."}
        text = request["cmd"]
        result = run_text(state, text)
        answer: Json = self._told(result, LineMap(text))
        answer["env"] = self._next_env
        self.envs[self._next_env] = result.state
        self._next_env += 1
        self._tidy()
        return answer

    def _told(self, result: CommandResult, lines: LineMap) -> Json:
        answer: Json = {}
        if result.sorries:
            answer["sorries"] = [
                {
                    "proofState": self._keep(goal.state),
                    "pos": _place(lines, goal.pos),
                    "goal": goal.goal,
                    "endPos": _place(lines, goal.end),
                }
                for goal in result.sorries
            ]
        if result.messages:
            answer["messages"] = [_message(lines, message) for message in result.messages]
        return answer

    def _tactic(self, request: Json) -> Json:
        state = self.states.get(request["proofState"])
        if state is None:
            return {"message": "Unknown proof state."}
        try:
            with refusals():
                step = run_tactic(state, request["tactic"], recover=True)
                status, goals = proof_status(step.state), step.state.goal_texts()
                sorry_goals = [sorry.goal_texts()[0] for sorry in step.sorries]
        except ProofError as error:
            return {"message": f"Lean error:\n{error.message}"}
        answer: Json = {}
        if step.sorries:
            answer["sorries"] = [
                {"proofState": self._keep(sorry), "goal": goal} for sorry, goal in zip(step.sorries, sorry_goals)
            ]
        if step.notes:
            answer["messages"] = [_note(note) for note in step.notes]
        answer["proofStatus"] = status
        answer["proofState"] = self._keep(step.state)
        answer["goals"] = goals
        self._tidy()
        return answer

    def _prune(self, request: Json) -> Json:
        before = len(self.states)
        if request.get("prune_all"):
            self.states.clear()
            self.envs.clear()
        else:
            numbers = request.get("prune")
            for number in numbers if isinstance(numbers, list) else []:
                if isinstance(number, int):
                    self.states.pop(number, None)
        self._tidy()
        return {"pruned": before - len(self.states), "proofStates": len(self.states)}

    # -- memory --------------------------------------------------------------------------------------------------

    def _keep(self, state: TacticState) -> int:
        number = self._next_state
        self._next_state += 1
        self.states[number] = state
        return number

    def _tidy(self) -> None:
        """Drop terms that nothing refers to once enough of them may have gathered."""
        if node_count() - self._swept_at < SWEEP_GROWTH:
            return
        for state in [self.base, *self.envs.values()]:
            state.caches.clear()
        sweep()
        self._swept_at = node_count()


def _place(lines: LineMap, offset: int) -> Json:
    line, column = lines.place(offset)
    return {"line": line, "column": column}


def _message(lines: LineMap, message: Message) -> Json:
    return {
        "severity": message.severity,
        "pos": _place(lines, message.pos),
        "endPos": _place(lines, message.end),
        "data": message.text,
    }


def _note(note: Note) -> Json:
    nowhere = {"line": 0, "column": 0}
    return {"severity": note.severity, "pos": nowhere, "endPos": nowhere, "data": note.text}


def requests(stream: IO[str]) -> Iterator[str]:
    """The requests of a stream: runs of lines that are not blank."""
    lines: list[str] = []
    for line in stream:
        if line.strip():
            lines.append(line)
        elif lines:
            yield "".join(lines)
            lines = []
    if lines:
        yield "".join(lines)


def serve(base: EnvState, source: IO[str], sink: IO[str]) -> None:
    """Answer requests until the stream ends."""
    repl = Repl(base)
    for text in requests(source):
        try:
            answer = repl.answer_text(text)
        except Exception as error:  # a bug of ours must not take the other states of this process with it
            traceback.print_exc()
            answer = {"message": f"internal error: {type(error).__name__}: {error}"}
        sink.write(json.dumps(answer, ensure_ascii=False) + "\n\n")
        sink.flush()
