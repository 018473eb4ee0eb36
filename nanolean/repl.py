"""The Lean REPL protocol over a stream: JSON requests separated by blank lines, JSON answers followed by one.

Beyond the official protocol: malformed requests get an answer and the process continues, a `timeout` is accepted (the
budget is a number of steps, not a time), and `{"prune": [proof states]}` or `{"prune_all": true}` forgets states, so
that a process can serve one user after another. A pickle is a script, the commands and tactics that lead to a state, so
loading one takes as long as running it.

With `"declarations": true` the answer describes the declarations of the text in the fields that LeanInteract reads.

Three more keys of a command are for whole files, which import each other by being run one after another:
`"module": true` runs the text as a file of its own and closes its scopes at the end; `"prelude": true` does so over
nothing instead of the library, as Lean does for a file that begins with `prelude`; and with `"constants": true` the
answer lists all constants that are new, each with the constants in its type and value as the kernel has them.
"""

from __future__ import annotations

import json
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

from nanolean.commands.declaration_info import DeclarationReader
from nanolean.commands.earlier_runs import EarlierRuns
from nanolean.commands.messages import CommandResult, LineMap, Message, SorryGoal
from nanolean.commands.runner import run_text
from nanolean.elab.session import Note
from nanolean.env_state import EnvState, Sweeper
from nanolean.kernel.declaration import QuotDecl, ValueInfo
from nanolean.kernel.env import Environment
from nanolean.kernel.expr import collect_consts
from nanolean.library.loader import at_root
from nanolean.proof_errors import ProofError
from nanolean.tactic_state import StepRecord, TacticState, proof_status, refusals, run_tactic

# -- Scripts: how a state was reached, which is what pickling writes ---------------------------------------------------

FORMAT = "nanolean-script-1"

GoalList = Literal["sorries", "roots", "steps"]


class PickleError(Exception):
    """A file cannot be written, or is not what `save_script` writes."""


@dataclass(frozen=True)
class Start:
    """The goal that a proof state began with: the number `index` of one of the lists that the last command gave."""

    list: GoalList
    index: int


@dataclass(frozen=True)
class Step:
    """A tactic, and which state followed: what it left open (`sorry` is None), or the goal of one of its `sorry`s."""

    tactic: str
    sorry: int | None = None


@dataclass(frozen=True)
class Script:
    """How to reach an environment (by `commands`) or from there a proof state."""

    commands: tuple[str, ...] = ()
    start: Start | None = None
    steps: tuple[Step, ...] = ()
    of_modules: bool = False
    """Whole files were run as modules on the way, which a pickle cannot tell."""

    def then(self, tactic: str, sorry: int | None = None) -> Script:
        """Return the script extended by one step."""
        return replace(self, steps=(*self.steps, Step(tactic, sorry)))

    def at(self, goals: GoalList, index: int) -> Script:
        """Return the script that begins a proof at a goal that its last command gave."""
        return replace(self, start=Start(goals, index))


def save_script(script: Script, path: Path) -> None:
    """Write a script; a file that is there is replaced at once or not at all. Raises `PickleError`."""
    if script.of_modules:
        raise PickleError(f"cannot write {path}: what rests on commands with `module` is not pickled")
    content = asdict(script)
    del content["of_modules"]
    text = json.dumps({"format": FORMAT, **content}, ensure_ascii=False)
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)
    except (OSError, ValueError) as error:
        raise PickleError(f"cannot write {path}: {error}") from None


def load_script(path: Path) -> Script:
    """Read a script. Raises `PickleError`."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PickleError(f"cannot read {path}: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PickleError(f"cannot read {path}: it is not in the format {FORMAT}")
    try:
        return _script(data)
    except (KeyError, TypeError, ValueError) as error:
        raise PickleError(f"cannot read {path}: it is damaged ({error})") from None


def _script(data: dict[str, Any]) -> Script:
    start = data["start"]
    if start is not None:
        if start["list"] not in ("sorries", "roots", "steps"):
            raise ValueError("list")
        start = Start(start["list"], _number(start["index"]))
    steps = [Step(_text(s["tactic"]), None if s["sorry"] is None else _number(s["sorry"])) for s in data["steps"]]
    return Script(tuple(_text(command) for command in data["commands"]), start, tuple(steps))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise TypeError("a number is expected")
    return value


# -- Requests and answers ----------------------------------------------------------------------------------------------

Json = dict[str, Any]

UNKNOWN_ENV = "Unknown environment."
UNKNOWN_STATE = "Unknown proof state."


class Repl:
    """Environments and proof states by number, as the official REPL keeps them.

    Each is kept with the script that leads to it, which is what pickling writes.
    """

    def __init__(self, base: EnvState) -> None:
        self.base = base
        self.envs: dict[int, EnvState] = {}
        self.states: dict[int, TacticState] = {}
        self._env_scripts: dict[int, Script] = {}
        self._state_scripts: dict[int, Script] = {}
        self._next_env = 0
        self._next_state = 0
        self._sweeper = Sweeper()
        self._earlier = EarlierRuns()

    # -- requests ------------------------------------------------------------------------------------------------

    def answer_text(self, text: str) -> Json:
        """Answer one request, given as JSON text."""
        try:
            request = json.loads(text)
        except (ValueError, RecursionError) as error:
            return {"message": f"Could not parse JSON:\n{error}"}
        if not isinstance(request, dict):
            return {"message": "Could not parse JSON:\nan object is expected"}
        return self.answer(request)

    def answer(self, request: Json) -> Json:
        """Answer one request."""
        try:
            for key, kinds, handle in self._forms():
                if key in request and all(isinstance(request.get(name), kind) for name, kind in kinds.items()):
                    return handle(request)
        except PickleError as error:
            return {"message": str(error)}
        return {"message": "Could not parse as a valid JSON command:\n" + json.dumps(request, ensure_ascii=False)}

    def _forms(self) -> tuple[tuple[str, dict[str, type], Callable[[Json], Json]], ...]:
        """The forms of requests: the key that marks them, the required keys with their types, and the handler."""
        return (
            ("cmd", {"cmd": str}, self._command),
            ("path", {"path": str}, self._file),
            ("tactic", {"tactic": str, "proofState": int}, self._tactic),
            ("pickleTo", {"pickleTo": str}, self._pickle),
            ("unpickleEnvFrom", {"unpickleEnvFrom": str}, self._unpickle_env),
            ("unpickleProofStateFrom", {"unpickleProofStateFrom": str}, self._unpickle_state),
            ("prune", {"prune": list}, self._prune),
            ("prune_all", {}, self._prune),
        )

    def _file(self, request: Json) -> Json:
        return {"message": "`path` is not supported: NanoLean reads no files for a command; send the text as `cmd`"}

    def _command(self, request: Json) -> Json:
        number = request.get("env")
        state = self.base if number is None else self.envs.get(number) if isinstance(number, int) else None
        if state is None:
            return {"message": UNKNOWN_ENV}
        if request.get("infotree") is not None:
            return {"message": "`infotree` is not supported: NanoLean keeps no info trees"}
        all_tactics, root_goals = request.get("allTactics") is True, request.get("rootGoals") is True
        text = request["cmd"]
        prelude = request.get("prelude") is True and number is None
        as_module = prelude or request.get("module") is True
        before = EnvState(Environment()) if prelude else state
        made_by = Script() if number is None else self._env_scripts[number]
        script = Script((*made_by.commands, text), of_modules=made_by.of_modules or as_module)
        is_file = number is None and not prelude
        watch, declarations = all_tactics or root_goals, request.get("declarations") is True
        # What is read over another environment is mostly one theorem.
        earlier = self._earlier if is_file and not watch and not declarations else None
        result = run_text(before, text, is_file, watch, earlier)
        if as_module:
            result.state = _end_of_module(result.state)
        lines = LineMap(text)
        answer: Json = {}
        sorries = self._goals(result.sorries, "sorries", script, lines)
        if root_goals:
            sorries += self._goals(result.roots, "roots", script, lines)
        if sorries:
            answer["sorries"] = sorries
        if all_tactics:
            answer["tactics"] = self._steps(result.steps, script, text, lines)
        if result.messages:
            answer["messages"] = [message_json(lines, message) for message in result.messages]
        if declarations:
            reader = DeclarationReader(text, lines)
            answer["declarations"] = [reader.describe(command, state) for command, state in result.declared]
        if request.get("constants") is True:
            answer["constants"] = _new_constants(before.env, result.state.env)
        answer["env"] = self._keep_env(result.state, script)
        self._sweeper.tidy([self.base, *self.envs.values()])
        return answer

    def _goals(self, goals: list[SorryGoal], kind: GoalList, script: Script, lines: LineMap) -> list[Json]:
        return [
            {
                "proofState": self._keep(goal.state, script.at(kind, index)),
                "pos": position_json(lines, goal.pos),
                "goal": goal.goal,
                "endPos": position_json(lines, goal.end),
            }
            for index, goal in enumerate(goals)
        ]

    def _steps(self, steps: list[StepRecord], script: Script, text: str, lines: LineMap) -> list[Json]:
        return [
            {
                "tactic": text[step.pos : step.end],
                "proofState": self._keep(step.before, script.at("steps", index)),
                "pos": position_json(lines, step.pos),
                "endPos": position_json(lines, step.end),
                "goals": "\n\n".join(step.before.goal_texts()),
                "usedConstants": list(step.constants),
            }
            for index, step in enumerate(steps)
        ]

    def _tactic(self, request: Json) -> Json:
        number, tactic = request["proofState"], request["tactic"]
        state = self.states.get(number)
        if state is None:
            return {"message": UNKNOWN_STATE}
        try:
            with refusals():
                step = run_tactic(state, tactic, recover=True)
                status, goals = proof_status(step.state), step.state.goal_texts()
                sorry_goals = [sorry.goal_texts()[0] for sorry in step.sorries]
        except ProofError as error:
            return {"message": f"Lean error:\n{error.message}"}
        script = self._state_scripts[number]
        answer: Json = {}
        if step.sorries:
            answer["sorries"] = [
                {"proofState": self._keep(sorry, script.then(tactic, index)), "goal": goal}
                for index, (sorry, goal) in enumerate(zip(step.sorries, sorry_goals))
            ]
        traces = [note.text for note in step.notes if note.severity == "trace"]
        messages = [note_json(note) for note in step.notes if note.severity != "trace"]
        if messages:
            answer["messages"] = messages
        if traces:
            answer["traces"] = traces
        answer["proofStatus"] = status
        answer["proofState"] = self._keep(step.state, script.then(tactic))
        answer["goals"] = goals
        self._sweeper.tidy([self.base, *self.envs.values()])
        return answer

    # -- pickling ------------------------------------------------------------------------------------------------

    def _pickle(self, request: Json) -> Json:
        path = Path(request["pickleTo"])
        env, state = request.get("env"), request.get("proofState")
        if isinstance(state, int):
            if state not in self.states:
                return {"message": UNKNOWN_STATE}
            save_script(self._state_scripts[state], path)
            return self._show_state(self.states[state], self._state_scripts[state])
        if not isinstance(env, int) or env not in self.envs:
            return {"message": UNKNOWN_ENV}
        save_script(self._env_scripts[env], path)
        return {"env": env}

    def _unpickle_env(self, request: Json) -> Json:
        script = load_script(Path(request["unpickleEnvFrom"]))
        if script.start is not None:
            raise PickleError("the file holds a proof state, not an environment")
        result = self._replay_commands(script)
        return {"env": self._keep_env(self.base if result is None else result.state, script)}

    def _unpickle_state(self, request: Json) -> Json:
        script = load_script(Path(request["unpickleProofStateFrom"]))
        result = self._replay_commands(script)
        if script.start is None or result is None:
            raise PickleError("the file holds an environment, not a proof state")
        try:
            if script.start.list == "steps":
                state = result.steps[script.start.index].before
            else:
                goals = result.sorries if script.start.list == "sorries" else result.roots
                state = goals[script.start.index].state
            with refusals():
                for step in script.steps:
                    done = run_tactic(state, step.tactic, recover=True)
                    state = done.state if step.sorry is None else done.sorries[step.sorry]
        except (IndexError, ProofError) as error:
            raise PickleError(f"the steps in the file do not lead to a proof state any more: {error}") from None
        return self._show_state(state, script)

    def _replay_commands(self, script: Script) -> CommandResult | None:
        result, state = None, self.base
        for index, text in enumerate(script.commands):
            watch = script.start is not None and script.start.list != "sorries" and index == len(script.commands) - 1
            result = run_text(state, text, header=index == 0, watch=watch)
            state = result.state
        return result

    def _show_state(self, state: TacticState, script: Script) -> Json:
        return {
            "proofStatus": proof_status(state),
            "proofState": self._keep(state, script),
            "goals": state.goal_texts(),
        }

    # -- memory --------------------------------------------------------------------------------------------------

    def _prune(self, request: Json) -> Json:
        before = len(self.states)
        if request.get("prune_all"):
            for table in (self.states, self._state_scripts, self.envs, self._env_scripts):
                table.clear()
        else:
            for number in request.get("prune", ()):
                if isinstance(number, int):
                    self.states.pop(number, None)
                    self._state_scripts.pop(number, None)
        self._sweeper.tidy([self.base, *self.envs.values()])
        return {"pruned": before - len(self.states), "proofStates": len(self.states)}

    def _keep(self, state: TacticState, script: Script) -> int:
        number = self._next_state
        self._next_state += 1
        self.states[number] = state
        self._state_scripts[number] = script
        return number

    def _keep_env(self, state: EnvState, script: Script) -> int:
        number = self._next_env
        self._next_env += 1
        self.envs[number] = state
        self._env_scripts[number] = script
        return number


def _end_of_module(state: EnvState) -> EnvState:
    """Return the state after the end of a file: no scope is open, and quotients are there as soon as `Eq` is."""
    state = at_root(state)
    if "Eq" in state.env and "Quot" not in state.env:
        state = state.with_env(state.env.add(QuotDecl()))
    return state


def _new_constants(before: Environment, after: Environment) -> list[Json]:
    """List the constants that are new, with those that their types and values mention, sorted."""
    listed = []
    for info in after:
        if info.name not in before:
            used = collect_consts(info.type)
            if isinstance(info, ValueInfo):
                used |= collect_consts(info.value)
            listed.append({"name": info.name, "kind": info.kind, "usedConstants": sorted(used)})
    return listed


def position_json(lines: LineMap, offset: int) -> Json:
    """Encode a position as the protocol does: lines from 1, columns from 0 in characters."""
    line, column = lines.place(offset)
    return {"line": line, "column": column}


def message_json(lines: LineMap, message: Message) -> Json:
    """Encode a message of a command."""
    return {
        "severity": message.severity,
        "pos": position_json(lines, message.pos),
        "endPos": position_json(lines, message.end),
        "data": message.text,
    }


def note_json(note: Note) -> Json:
    """Encode a message of a tactic, whose text has no position in a file."""
    nowhere = {"line": 0, "column": 0}
    return {"severity": note.severity, "pos": nowhere, "endPos": nowhere, "data": note.text}


def read_requests(stream: IO[str]) -> Iterator[str]:
    """Yield the requests of a stream: runs of lines that are not blank."""
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
    for text in read_requests(source):
        try:
            answer = repl.answer_text(text)
        except Exception as error:  # a bug of ours must not take the other states of this process with it
            traceback.print_exc()
            answer = {"message": f"internal error: {type(error).__name__}: {error}"}
        sink.write(json.dumps(answer, ensure_ascii=False) + "\n\n")
        sink.flush()
