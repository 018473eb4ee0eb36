"""The interactive console: the policy suggests tactics for a state or a theorem; one of them, or one's own, is applied.

`Console.enter` maps a line to the text to show; there is no terminal here. With a Lean session a theorem starts a
proof, in which tactics are tried and applied; without, tactics are suggested for states (to their line with `⊢`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write_text
from nanoproof.common.terminal import shorten, table
from nanoproof.lean.types import Branch, LeanError, LeanSession, TacticApplied, TacticFailed, Theorem
from nanoproof.prover.check import check_proof
from nanoproof.prover.cli_input import is_unfinished, lean_words, parse_theorem
from nanoproof.prover.linearize import layouts
from nanoproof.prover.proof import Step
from nanoproof.search.policy import Policy, Suggestion
from nanoproof.search.render import shorten as shorten_state

HELP = """\
theorem t (p : Prop) : p → p   start a proof (on one line or several; `:= by sorry` may be left out)
h : p                          a state as Lean prints it, up to its line with ⊢: tactics for it, without Lean
⊢ p
3                              apply the third of the tactics that are shown
intro h                        apply a tactic of your own
:more                          other samples for the same state
:value                         how far the policy takes the state to be from a proof
:goals :tree :proof            the goals now; the proof so far as a tree, and as Lean text
:undo                          take the last tactic back
:export FILE                   write what was proved to a .lean file
:new                           leave this proof or state
:raw                           text in, continuation out (again: back to tactics)
:help :quit                    these lines; the end"""

_DECLARATIONS = ("theorem", "lemma", "example")
_TACTIC_WIDTH = 44
_RESULT_WIDTH = 60
_BAR = 30


@dataclass(frozen=True)
class _Snapshot:
    """A proof in progress: the open branches, the next one last, the steps so far, and the checked text at the end."""

    open: tuple[Branch, ...]
    steps: tuple[Step, ...] = ()
    source: str = ""


@dataclass
class Console:
    """The state of the console: pending lines and the current proof. `:raw` needs `continue_text`."""

    policy: Policy
    session: LeanSession | None
    embedded: bool = False
    continue_text: Callable[[str], str] | None = None
    raw: bool = False
    over: bool = False
    pending: list[str] = field(default_factory=list)
    state: str = ""
    theorem: Theorem | None = None
    proved: list[str] = field(default_factory=list)
    _history: list[_Snapshot] = field(default_factory=list)
    _num_suggestions: int = 0
    """How often tactics were suggested for the present state: the seed of the next ones."""
    _suggestion: Suggestion | None = None

    @property
    def prompt(self) -> str:
        """The prompt of the next line."""
        if self.pending:
            return "... "
        if self.raw:
            return "text> "
        if self.theorem is not None:
            return "tactic> "
        return "state> "

    def forget(self) -> None:
        """Drop the lines of an incomplete theorem or state (Ctrl-C)."""
        self.pending = []

    def enter(self, line: str) -> str:
        """Process one line; returns the text to show, empty for none. An error is one line too."""
        try:
            return self._enter(line)
        except (LeanError, UserError) as error:
            return f"error: {' '.join(str(error).split())}"

    def _enter(self, line: str) -> str:
        word, _, rest = line.strip().partition(" ")
        # As in NanoLean's REPL; they are no tactics.
        if not rest and not self.raw:
            word = {"help": ":help", "quit": ":quit", "exit": ":quit"}.get(word, word)
        if word in _COMMANDS and not self.pending:
            return _COMMANDS[word](self, rest.strip())
        if word.startswith(":") and not self.pending:
            return f"error: there is no {word}; :help says what there is"
        is_blank = not line.strip()
        if self.raw:
            assert self.continue_text is not None
            return "" if is_blank else self.continue_text(line)
        if self.theorem is not None and not self.pending:
            return "" if is_blank else self._tactic(line.strip())
        return self._begin(line)

    # -- states and theorems -------------------------------------------------------------------------------------

    def _begin(self, line: str) -> str:
        """Collect the lines of a theorem or of a state."""
        if line.strip() or self.pending:
            self.pending.append(line)
        text = "\n".join(self.pending).strip()
        if not text:
            self.pending = []
            return ""
        if text.split(None, 1)[0] in _DECLARATIONS:
            # An empty line ends a theorem however it looks: what is missing is then an error, and not waited for.
            if line.strip() and is_unfinished(text):
                return ""
            self.pending = []
            return self._start(parse_theorem(text, self.embedded))
        if not line.startswith("⊢") and line.strip():
            return ""
        self.pending = []
        if "⊢" not in text:
            raise UserError("a theorem begins with `theorem`, and a state ends with its line `⊢ ...`")
        self.state, self._num_suggestions = text, 0
        return self._suggest()

    def _start(self, theorem: Theorem) -> str:
        if self.session is None:
            raise UserError("there is no Lean here to start a theorem; a state can be asked about")
        branch = self.session.start(theorem)
        self.theorem, self._history = theorem, [_Snapshot((branch,))]
        return self._show()

    # -- tactics -------------------------------------------------------------------------------------------------

    def _tactic(self, text: str) -> str:
        """Apply a tactic, given by its number or as text, to the next open branch."""
        assert self.session is not None
        if text.isdecimal():
            tactics: tuple[str, ...] = ()
            if self._suggestion is not None:
                tactics = self._suggestion.tactics
            if not 1 <= int(text) <= len(tactics):
                raise UserError(f"there is no tactic {text}; {len(tactics)} are shown")
            text = tactics[int(text) - 1]
        now = self._history[-1]
        if not now.open:
            raise UserError("the proof is complete; :export FILE writes it, :new begins another, :undo goes back")
        branch, rest = now.open[-1], now.open[:-1]
        (result,) = self.session.apply(branch, [text])
        if isinstance(result, TacticFailed):
            return f"{result.kind}: {_message(result)}"
        step = Step(text, len(result.branches), branch.state.text, len(branch.state.goals))
        self._history.append(_Snapshot((*rest, *reversed(result.branches)), (*now.steps, step)))
        return self._show()

    def _show(self) -> str:
        """Show the goals, with tactics for the next; the checked text where nothing is open."""
        now = self._history[-1]
        if not now.open:
            return self._finish(now)
        self.state, self._num_suggestions = now.open[-1].state.text, 0
        shown = self.state
        if len(now.open) > 1:
            shown += f"\n({len(now.open) - 1} more branches are open)"
        return f"{shown}\n\n{self._suggest()}"

    def _finish(self, now: _Snapshot) -> str:
        assert self.theorem is not None and self.session is not None
        self._suggestion, self.state = None, ""
        for text in layouts(now.steps):
            verdict = check_proof(self.session, self.theorem, text)
            if verdict.accepted:
                self._history[-1] = replace(now, source=verdict.source)
                self.proved.append(verdict.source)
                return f"no goals: the proof is complete and checked\n\n{verdict.source}"
        return f"no goals, but the whole text is refused: {verdict.reason} (:undo takes the last tactic back)"

    def _suggest(self) -> str:
        """Show the policy's tactics for the state, likeliest first, with their results in Lean."""
        sampled = self.policy.suggest(self.state, self._num_suggestions)
        self._num_suggestions += 1
        order = sorted(range(len(sampled.tactics)), key=lambda i: -sampled.logprobs[i])
        suggestion = replace(
            sampled,
            tactics=tuple(sampled.tactics[i] for i in order),
            logprobs=tuple(sampled.logprobs[i] for i in order),
            counts=tuple(sampled.counts[i] for i in order),
        )
        self._suggestion = suggestion  # by whose numbers the user may apply one
        verdicts = [""] * len(order)
        if self.theorem is not None and self.session is not None:
            results = self.session.apply(self._history[-1].open[-1], suggestion.tactics)
            verdicts = [_result(result) for result in results]
        rows = []
        columns = zip(suggestion.tactics, suggestion.logprobs, suggestion.counts, verdicts, strict=True)
        for number, (tactic, logprob, count, verdict) in enumerate(columns, 1):
            rows.append((number, shorten(tactic, _TACTIC_WIDTH), f"{logprob:.2f}", count, verdict))
        foot = f"value: about {suggestion.value:.1f} tactics to go"
        if suggestion.num_dropped:
            foot += f", {suggestion.num_dropped} samples dropped"
        heading = ["#", "tactic", ">logprob", "count", "Lean" if any(verdicts) else ""]
        return "\n".join([*table(heading, rows), foot])

    # -- commands ------------------------------------------------------------------------------------------------

    def _more(self, rest: str) -> str:
        self._require_state()
        return self._suggest()

    def _value(self, rest: str) -> str:
        self._require_state()
        if self._suggestion is None:
            raise UserError("the policy has not answered yet; :more asks it again")
        lines = [f"about {self._suggestion.value:.2f} tactics to go"]
        top = max(self._suggestion.value_distribution, default=0.0)
        for tactics, probability in enumerate(self._suggestion.value_distribution, 1):
            if probability >= 0.01:
                bar = "█" * max(1, round(_BAR * probability / top))
                lines.append(f"{tactics:>3}  {100 * probability:5.1f}%  {bar}")
        return "\n".join(lines)

    def _goals(self, rest: str) -> str:
        if self.theorem is None:
            return self.state or "nothing at hand"
        open_branches = reversed(self._history[-1].open)  # the next one first
        return "\n\n".join(branch.state.text for branch in open_branches) or "no goals"

    def _tree(self, rest: str) -> str:
        self._require_proof()
        lines: list[str] = []
        # Depths of the branches that no step has worked on, the next one last; in the end those of the open branches.
        depths = [0]
        for step in self._history[-1].steps:
            depth = depths.pop()
            lines.append(f"{'  ' * depth}{shorten_state(step.state)}   {shorten(step.tactic, _TACTIC_WIDTH)}")
            depths += [depth + 1] * step.branches
        for depth, branch in zip(reversed(depths), reversed(self._history[-1].open), strict=True):
            lines.append(f"{'  ' * depth}{shorten_state(branch.state.text)}   open")
        return "\n".join(lines)

    def _proof(self, rest: str) -> str:
        self._require_proof()
        now = self._history[-1]
        return now.source or "\n".join(step.tactic for step in now.steps) or "no tactic yet"

    def _undo(self, rest: str) -> str:
        self._require_proof()
        if len(self._history) == 1:
            return self._new("")
        if self._history.pop().source:
            self.proved.pop()
        return self._show()

    def _new(self, rest: str) -> str:
        self.theorem, self.state, self._history, self._suggestion = None, "", [], None
        return "left the proof"

    def _export(self, rest: str) -> str:
        if not rest:
            raise UserError(":export needs the name of a file")
        if not self.proved:
            raise UserError("nothing has been proved yet")
        with cannot(f"write {rest}"):
            atomic_write_text(Path(rest), "\n\n".join(self.proved) + "\n")
        return f"wrote {rest}"

    def _raw(self, rest: str) -> str:
        if self.continue_text is None:
            raise UserError("there is no model here that continues text; give --model-path")
        self.raw = not self.raw
        return "text in, continuation out; :raw goes back" if self.raw else "back to tactics"

    def _help(self, rest: str) -> str:
        return HELP

    def _quit(self, rest: str) -> str:
        self.over = True
        return ""

    def _require_state(self) -> None:
        if not self.state:
            raise UserError("there is no state at hand; type one, or a theorem")

    def _require_proof(self) -> None:
        if self.theorem is None:
            raise UserError("there is no proof at hand; a theorem starts one")


_COMMANDS: dict[str, Callable[[Console, str], str]] = {
    ":more": Console._more,
    ":value": Console._value,
    ":goals": Console._goals,
    ":tree": Console._tree,
    ":proof": Console._proof,
    ":undo": Console._undo,
    ":new": Console._new,
    ":export": Console._export,
    ":raw": Console._raw,
    ":help": Console._help,
    ":quit": Console._quit,
    ":q": Console._quit,
}


def _result(result: TacticApplied | TacticFailed) -> str:
    """Describe the result of a tactic on one line."""
    if isinstance(result, TacticFailed):
        return shorten(f"✗ {_message(result)}", _RESULT_WIDTH)
    if not result.branches:
        return "✓ closes the goal"
    goals = "  |  ".join(shorten_state(branch.state.text) for branch in result.branches)
    return shorten(f"✓ {goals}", _RESULT_WIDTH)


def _message(result: TacticFailed) -> str:
    return " ".join(lean_words(result.message).split())
