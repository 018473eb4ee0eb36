"""`repl`: a session at the terminal, or with input from a pipe."""

import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from nanolean.commands.messages import CommandResult, LineMap
from nanolean.commands.runner import run_text
from nanolean.env_state import EnvState
from nanolean.kernel.env import axioms_of
from nanolean.library.loader import cache_path, load_library
from nanolean.parser import ParseError, iter_commands, parse_tactic
from nanolean.proof_errors import ProofError
from nanolean.syntax import ExampleCmd, TheoremCmd
from nanolean.system import typed_lines, with_deep_stack
from nanolean.tactic_state import TacticState, proof_status, refusals, run_tactic
from nanolean.tools.export import header

HELP = """\
Outside of a proof: a theorem, `theorem add_zero (n : Nat) : n + 0 = n` or with `:= by` at its end, starts a proof;
every other command of Lean (def, #check, #print axioms, open, ...) runs. Input may continue over several lines.
Inside of a proof: a tactic. One of several lines ends with an empty line.
  goals        the goals as they are now
  undo         take the last tactic back (before the first one: leave the proof)
  history      the tactics so far, numbered
  proof        the proof as a text
  export FILE  write what this session has proved to a .lean file
  help, quit   these lines; the end"""

PROMPT, PROOF_PROMPT, MORE_PROMPT = "nanolean> ", "⊢ ", "... "
_PROVED = (TheoremCmd, ExampleCmd)


@dataclass
class Proof:
    """A proof that is being made: the text up to `:= by`, and the states after each tactic."""

    head: str
    states: list[TacticState]
    tactics: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The theorem with its tactics."""
        lines = [textwrap.indent(tactic, "  ") for tactic in self.tactics]
        return "\n".join([self.head, *(lines or ["  sorry"])])


class Session:
    """What has been declared and proved so far, and the proof at hand."""

    def __init__(self, base: EnvState) -> None:
        self.state = base
        self.texts: list[str] = []
        """The commands that were accepted, finished proofs included."""
        self.proof: Proof | None = None
        self.pending: list[str] = []
        """Lines of something that is not complete yet."""
        self.over = False

    @property
    def prompt(self) -> str:
        """What to ask the next line with."""
        if self.pending:
            return MORE_PROMPT
        return PROMPT if self.proof is None else PROOF_PROMPT

    def cancel(self) -> None:
        """Forget the lines of what is not complete yet."""
        self.pending = []

    def enter(self, line: str) -> str:
        """Take one line; answers what is to be shown, empty for nothing."""
        if not self.pending:
            if not line.strip():
                return ""
            word, _, rest = line.strip().partition(" ")
            if (word, bool(rest)) in _WORDS:
                return _WORDS[word, bool(rest)](self, rest.strip())
        try:
            return self._command(line) if self.proof is None else self._tactic(line)
        except ProofError as error:
            return f"error: {error.message}"

    # -- commands ------------------------------------------------------------------------------------------------

    def _command(self, line: str) -> str:
        self.pending.append(line)
        text = "\n".join(self.pending).strip()
        start = _start_of_proof(text)
        if start is None and line.strip() and _is_unfinished(text):
            return ""
        self.pending = []
        if start is not None:
            return self._begin(start)
        result = run_text(self.state, text, header=not self.texts)
        if not result.has_errors:
            self.state = result.state
            if not text.startswith("#"):
                self.texts.append(text)
        return _messages(result, text)

    def _begin(self, head: str) -> str:
        text = f"{head}\n  sorry"
        result = run_text(self.state, text, header=not self.texts)
        if result.has_errors or not result.sorries:
            return _messages(result, text)
        self.proof = Proof(head, [result.sorries[-1].state])
        return self._goals()

    # -- tactics -------------------------------------------------------------------------------------------------

    def _tactic(self, line: str) -> str:
        assert self.proof is not None
        more = bool(self.pending)
        if line.strip():
            self.pending.append(line)
        text = textwrap.dedent("\n".join(self.pending)).strip("\n").rstrip()
        if line.strip() and (more or _is_unfinished_tactic(text)):
            return ""
        self.pending = []
        with refusals():
            step = run_tactic(self.proof.states[-1], text)
        self.proof.states.append(step.state)
        self.proof.tactics.append(text)
        said = "".join(f"{note.text}\n" for note in step.notes)
        if step.state.goals:
            return said + self._goals()
        return said + self._finish(step.state)

    def _finish(self, state: TacticState) -> str:
        """The end of a proof: the whole text goes through the kernel."""
        assert self.proof is not None
        status = proof_status(state)
        if status != "Completed":
            return f"no goals, but the proof is not complete: {status} (`undo` takes the last tactic back)"
        text = self.proof.text
        result = run_text(self.state, text, header=not self.texts)
        if result.has_errors:
            return _messages(result, text) + "\n(`undo` takes the last tactic back)"
        self.state, self.proof = result.state, None
        self.texts.append(text)
        return "no goals: the proof is complete and checked"

    # -- words ---------------------------------------------------------------------------------------------------

    def _goals(self, rest: str = "") -> str:
        if self.proof is None:
            return "no proof at hand"
        return "\n\n".join(self.proof.states[-1].goal_texts()) or "no goals"

    def _undo(self, rest: str) -> str:
        if self.proof is None:
            return "no proof at hand"
        if not self.proof.tactics:
            self.proof = None
            return "left the proof"
        self.proof.tactics.pop()
        self.proof.states.pop()
        return self._goals()

    def _history(self, rest: str) -> str:
        if self.proof is None:
            return "\n\n".join(self.texts) or "nothing yet"
        return "\n".join(f"{i}. {tactic}" for i, tactic in enumerate(self.proof.tactics, 1)) or "nothing yet"

    def _proof(self, rest: str) -> str:
        if self.proof is not None:
            return self.proof.text
        return self.texts[-1] if self.texts else "no proof at hand"

    def _export(self, rest: str) -> str:
        if not rest:
            return "export needs the name of a file"
        if not self.texts:
            return "nothing to export: no theorem has been proved" + (" yet" if self.proof else "")
        own = [name for text in self.texts if (name := _theorem_name(text))]
        names = [name for name in own if name in self.state.env]
        axioms = sorted({axiom for name in names for axiom in axioms_of(self.state.env, name)})
        try:
            Path(rest).write_text("\n\n".join([header(names, [], axioms), *self.texts]) + "\n", encoding="utf-8")
        except OSError as error:
            return f"error: cannot write {rest}: {error.strerror}"
        return f"wrote {rest}"

    def _help(self, rest: str) -> str:
        return HELP

    def _quit(self, rest: str) -> str:
        self.over = True
        return ""


_WORDS = {
    ("goals", False): Session._goals,
    ("undo", False): Session._undo,
    ("history", False): Session._history,
    ("proof", False): Session._proof,
    ("export", False): Session._export,
    ("export", True): Session._export,
    ("help", False): Session._help,
    ("quit", False): Session._quit,
    ("exit", False): Session._quit,
}


def _messages(result: CommandResult, text: str) -> str:
    lines = LineMap(text)
    shown = []
    for message in result.messages:
        line, column = lines.place(message.pos)
        where = f"{line}:{column}: " if message.severity != "info" else ""
        shown.append(f"{where}{'' if message.severity == 'info' else message.severity + ': '}{message.text}")
    return "\n".join(shown)


def _start_of_proof(text: str) -> str | None:
    """The text up to `:= by` where it is a theorem whose proof is still to come, otherwise None."""
    head = text.removesuffix("by").rstrip() if text.endswith("by") else text
    head = head.removesuffix(":=").rstrip()
    if head != text and not text.endswith((":=", ":= by", ":=by")):
        return None
    commands = list(iter_commands(f"{head} := by\n  sorry"))
    if not commands or any(isinstance(command, ParseError) for command in commands):
        return None
    return f"{head} := by" if isinstance(commands[-1], _PROVED) and _is_unfinished(head) else None


def _is_unfinished(text: str) -> bool:
    """Whether a text breaks off in the middle of a command."""
    commands = list(iter_commands(text))
    last = commands[-1] if commands else None
    return isinstance(last, ParseError) and "unexpected end of input" in last.message


def _is_unfinished_tactic(text: str) -> bool:
    try:
        parse_tactic(text)
    except ParseError as error:
        return "unexpected end of input" in error.message
    return text.endswith((" by", "=>", " with")) or text in ("·", "by")


def _theorem_name(text: str) -> str | None:
    for command in iter_commands(text):
        if isinstance(command, TheoremCmd):
            return command.signature.name
    return None


GREETING = "NanoLean: a fragment of Lean 4. `help` says what there is, `quit` ends."


def run_terminal() -> int:
    """Read lines until `quit` or the end of the input. Ctrl-C forgets the line, and what it was the continuation of."""
    interactive = sys.stdin.isatty()
    if interactive:
        print(GREETING if cache_path().is_file() else f"{GREETING}\nBuilding the library, once: some seconds.")
    session = Session(with_deep_stack(load_library))
    with typed_lines("nanolean_history") as ask:
        while not session.over:
            try:
                line = ask(session.prompt)
                if line is None:
                    break
                answer = with_deep_stack(lambda line=line: session.enter(line), interruptible=True)  # type: ignore[misc]
            except KeyboardInterrupt:
                session.cancel()
                print("^C (line forgotten)")
                continue
            if answer:
                print(answer, flush=True)
        if session.pending:
            print(with_deep_stack(lambda: session.enter("")))
    return 0
