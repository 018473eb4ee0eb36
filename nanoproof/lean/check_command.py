"""The command that checks a whole text and asks for axioms and statements, and how Lean's answer is read.

The text is followed, for each of its theorems, by `#print axioms _root_.NAME` and `#check _root_.NAME`, each on a line
of its own: NAME alone may mean several, as `foo` does where the text ends within `namespace A` and `A.foo` is there
too, or behind `open Nat` where there is a `Nat.foo`. Only a message at the position of such a query, and about its
name, counts as the answer: whatever the text itself prints cannot be taken for it.

Where the end of a text alone is in question, as with a proof of a file's hundredth theorem, nothing is asked about what
comes before: the axioms of a theorem are those of all that it uses, so a proof by a false lemma is seen by its own. To
ask about each theorem each time makes the work for a file quadratic in their number.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nanoproof.lean.declarations import declared_names
from nanoproof.lean.source import name_examples
from nanoproof.lean.types import CheckReport, ProtocolError

_AXIOMS = re.compile(
    r"'(?P<name>[^\n]+)' (?:does not depend on any axioms|depends on axioms:\s*\[(?P<axioms>[^\[\]]*)\])"
)
# Lean writes the name of a private theorem with that of its module here, which is `_stdin` or none in a REPL.
_PRIVATE = re.compile(r"\A_private\.(?:[^\s]+?\.)?0\.")
# The word alone, and not `sorry.x` or `sorry'`: what is warned of may have such a name.
_GAP_WARNING = re.compile(r"(?<![\w.])sorry(?!\w|\.\w|'[`\w])")
_SEVERITIES = frozenset({"error", "warning", "info", "information", "trace"})


@dataclass(frozen=True)
class CheckCommand:
    """The `text` to send; the queries about `names[i]` are on line `first_line + 2 * i` and the next one.

    A `sorry` before line `since_line` is not in question: by another name (`sorryAx`, `stop`) it has no axiom in place.
    """

    text: str
    names: tuple[str, ...]
    first_line: int
    since_line: int = 0

    @classmethod
    def build(cls, source: str, header: str = "", since: int = 0) -> "CheckCommand":
        """Build the command that checks `header` and `source`, with queries for each theorem, `example`s included.

        Only theorems that begin at the offset `since` of the source or behind it are asked about.
        """
        text = name_examples(source)
        names = tuple(declared_names(text))
        since_line = 0
        if since:
            before = declared_names(name_examples(source[:since]))
            names = names[len(before) :]
            since_line = source.count("\n", 0, since) + 1
        if header:
            text = f"{header}\n\n{text}"
            since_line += header.count("\n") + 2
        queries = []
        for name in names:
            queries += [f"#print axioms _root_.{name}", f"#check _root_.{name}"]
        return cls("\n".join([text, "", *queries]), names, text.count("\n") + 3, since_line)

    def read_answer(self, answer: Any) -> CheckReport:
        """Read a REPL's answer; raises `ProtocolError` if it is incomplete or contradicts itself."""
        if not isinstance(answer, Mapping) or not isinstance(answer.get("env"), int) or "message" in answer:
            raise ProtocolError(f"not the answer to a command: {str(answer)[:200]!r}")
        return self.read_messages(_objects(answer, "messages"), sum(map(self._counts, _objects(answer, "sorries"))))

    def _counts(self, entry: Mapping[str, Any]) -> bool:
        """Tell whether a message or `sorry` is about what is asked; one whose place is not told is."""
        line = _position(entry)[0]
        return line == 0 or line >= self.since_line

    def read_messages(self, messages: Sequence[Mapping[str, Any]], gaps: int = 0) -> CheckReport:
        """Read Lean's messages; `gaps` is the number of `sorry`s that the REPL lists. Raises `ProtocolError`."""
        errors: list[str] = []
        error_positions: list[tuple[int, int]] = []
        warned = 0
        answers: dict[int, list[str]] = {}
        for message in messages:
            (line, column), text, severity = _position(message), message.get("data"), message.get("severity")
            if not isinstance(severity, str) or severity not in _SEVERITIES or not isinstance(text, str):
                raise ProtocolError(f"not a message of Lean: {str(message)[:200]!r}")
            if severity == "error":
                errors.append(text)
                error_positions.append((line, column))
            elif severity == "warning":
                warned += _GAP_WARNING.search(text) is not None and self._counts(message)
            elif severity != "trace" and line >= self.first_line:
                answers.setdefault(line, []).append(text)
        axioms: set[str] = set()
        axioms_of: list[tuple[str, tuple[str, ...]]] = []
        statements: list[tuple[str, str]] = []
        for number, name in enumerate(self.names):
            line = self.first_line + 2 * number
            try:
                rests_on = _axioms(name, answers.get(line, []))
            except ProtocolError:
                if errors:  # the theorem is not there, or the query was read as part of what is wrong
                    continue
                raise
            axioms_of.append((name, tuple(sorted(rests_on))))
            if not errors:
                axioms |= rests_on
                statements.append((name, _statement(name, answers.get(line + 1, []))))
        gaps = max(gaps, warned, int("sorryAx" in axioms))
        return CheckReport(
            errors=tuple(errors),
            sorries=gaps,
            axioms=tuple(sorted(axioms)),
            statements=tuple(statements),
            error_positions=tuple(error_positions),
            axioms_of=tuple(axioms_of),
        )


def _objects(answer: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    entries = answer.get(key)
    if entries is None:
        return []
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ProtocolError(f"`{key}` is no list of objects: {str(entries)[:200]!r}")
    return entries


def _position(message: Mapping[str, Any]) -> tuple[int, int]:
    """Return line (from 1) and column (from 0) of a message, each 0 if it is not known."""
    position = message.get("pos")
    if not isinstance(position, Mapping):
        return 0, 0
    line, column = position.get("line"), position.get("column")
    return line if isinstance(line, int) else 0, column if isinstance(column, int) else 0


def _axioms(name: str, answers: list[str]) -> set[str]:
    """Read the axioms of a theorem from the one message at the position of its query."""
    report = _AXIOMS.fullmatch(answers[0].strip()) if len(answers) == 1 else None
    if report is None or _PRIVATE.sub("", _bare(report["name"])) != _bare(name):
        raise ProtocolError(f"the axioms of {name} are not reported: {str(answers)[:200]}")
    axioms = report["axioms"] or ""  # None: it does not depend on any
    return {axiom.strip() for axiom in axioms.split(",")} - {""}


def _statement(name: str, answers: list[str]) -> str:
    """Read the statement of a theorem; Lean may leave open namespaces out of its name."""
    if len(answers) != 1 or _bare(name).rpartition(".")[2] not in _bare(answers[0]):
        raise ProtocolError(f"the statement of {name} is not reported: {str(answers)[:200]}")
    return answers[0].strip()


def _bare(name: str) -> str:
    """Return a name without the quotes that its components may have."""
    return name.replace("«", "").replace("»", "").removeprefix("_root_.")
