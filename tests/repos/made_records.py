"""Records as tracing would find them, for tests of what is done with them."""

from collections.abc import Sequence

from nanoproof.repos.traced_files import Position, Premise, Provenance, TracedFile, TracedTactic, TracedTheorem


def used(name: str, path: str = "A.lean", line: int | None = 1) -> Provenance:
    """A premise at a line of a file; without a line its place is not known."""
    places = (None, None) if line is None else (Position(line, 1), Position(line, 20))
    return Provenance(name, path, *places)


def tactic(text: str, before: str, after: str, *names: str) -> TracedTactic:
    """A tactic that names premises: each name in its text is marked."""
    marked = text
    for name in names:
        marked = marked.replace(name, f"<a>{name}</a>")
    return TracedTactic(text, before, after, marked, tuple(map(used, names)))


def chain(*texts: str) -> tuple[TracedTactic, ...]:
    """Tactics each of which goes on from the one before, the last one to no goals."""
    states = [*(f"n : Nat\n⊢ P {i} n" for i in range(len(texts))), "no goals"]
    return tuple(tactic(text, states[i], states[i + 1]) for i, text in enumerate(texts))


def theorem(
    name: str,
    path: str = "A.lean",
    line: int = 1,
    tactics: Sequence[TracedTactic] = (),
    sorries: int = 0,
    statement: str | None = None,
) -> TracedTheorem:
    """A theorem of two lines."""
    text = f"theorem {name} : P" if statement is None else statement
    names = tuple(dict.fromkeys(premise.full_name for each in tactics for premise in each.premises))
    return TracedTheorem(name, path, Position(line, 1), Position(line + 1, 9), text, tuple(tactics), names, sorries)


def file(path: str, theorems: Sequence[TracedTheorem] = (), imports: Sequence[str] = (), **kwargs: str) -> TracedFile:
    """A file that declares its theorems as premises."""
    premises = [Premise(each.full_name, each.statement, each.start, each.end, "theorem") for each in theorems]
    return TracedFile(path, tuple(imports), tuple(premises), tuple(theorems), **kwargs)
