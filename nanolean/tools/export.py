"""`export`: proofs as `.lean` files that stand alone for stock Lean.

What the library shares with Lean's core is used by name. What only the library has (`library/beyond_core.txt`) is
brought along, in a namespace of its own so that the file also passes `check` here.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nanolean.commands.runner import run_text
from nanolean.env_state import EnvState
from nanolean.kernel.env import axioms_of
from nanolean.library.loader import load_library
from nanolean.library.texts import Declared, beyond_core, declarations, library_declarations
from nanolean.parser.lexer import Tokens, without_header
from nanolean.system import UserError, atomic_write_text
from nanolean.tools.check import read_text

LEAN_VERSION = "4.33"
"""The Lean whose core has the names and statements that the library follows."""
NAMESPACE = "NanoLean"


def export(sources: Sequence[str], out: Path) -> int:
    """Write library theorems (by name) or the theorems of files to one `.lean` file.

    Raises UserError for a name that the library does not have, a file whose proofs do not hold, or a proof that needs
    to see inside of a definition that Lean's core makes in another way (such as `Nat.mod`).
    """
    base = load_library()
    known = library_declarations()
    files = [source for source in sources if source.endswith(".lean")]
    names = [source for source in sources if not source.endswith(".lean")]
    for name in names:
        if name not in known:
            raise UserError(f"{name} is neither a declaration of the library nor a .lean file")
    texts = [checked_text(base, Path(file)) for file in files]
    text = standalone(base, known, names, texts)
    problems = [message for message in run_text(base, text).messages if message.severity == "error"]
    if problems:
        reason = problems[0].text.splitlines()[0]
        raise UserError(f"not exported: the proof holds only inside of the library's own files ({reason})")
    try:
        atomic_write_text(out, text)
    except OSError as error:
        raise UserError(f"cannot write {out}: {error.strerror}") from None
    print(f"wrote {out}: {', '.join([*names, *files])}")
    return 0


def checked_text(base: EnvState, file: Path) -> str:
    """Read a file in which everything is proved, without its header; UserError for another one."""
    text = read_text(file)
    result = run_text(base, text, header=True)
    if result.has_errors or result.sorries:
        raise UserError(f"{file} has errors or `sorry`; see `check {file}`")
    return without_header(text)


def standalone(base: EnvState, known: dict[str, Declared], names: Sequence[str], texts: Sequence[str]) -> str:
    """Return the text of a file with the named library declarations and further texts, and with all they need."""
    state = base
    for text in texts:
        state = run_text(state, text).state
    own = [info.name for info in declarations(state, base)]
    written = "\n".join([*texts, *(known[name].text for name in names)])
    needed = needed_beyond_core(state, known, [*names, *own], written)
    brought = [name for name in known if name in needed and name not in names]
    axioms = sorted({axiom for name in [*names, *own] for axiom in axioms_of(state.env, name)})
    parts = [header([*names, *own], brought, axioms)]
    body = [placed(known[name]) for name in known if name in needed or name in names]
    body += [text.strip() for text in texts]
    if brought or names:
        opened = sorted({namespace for name in (*brought, *names) if (namespace := name.rpartition(".")[0])})
        opens = [f"open {' '.join(opened)}"] if opened else []
        body = [f"namespace {NAMESPACE}", *opens, *body, f"end {NAMESPACE}"]
    return "\n\n".join([*parts, *body]) + "\n"


def needed_beyond_core(state: EnvState, known: dict[str, Declared], names: Iterable[str], text: str) -> set[str]:
    """Return the library declarations beyond Lean's core that the named ones, which stand in `text`, need.

    What only tactics put into the proof terms is not needed, since Lean's tactics find their own way: a declaration
    counts where the text says its name, or where `simp` uses it.
    """
    exact, prefixes = beyond_core()
    simp = frozenset(state.tagged("simp"))
    needed: set[str] = set()
    reached = set(names)
    stack = list(reached)
    while stack:
        for name in state.env[stack.pop()].mentions - reached:
            reached.add(name)
            if name not in known:
                stack.append(name)
                continue
            ours = name in exact or name.startswith(prefixes)
            if ours and (name in simp or name.rpartition(".")[2] in _words(text)):
                needed.add(name)
                stack.append(name)
                text += "\n" + known[name].text
    return needed


def _words(text: str) -> set[str]:
    """The last parts of the names in a text."""
    return {word.rpartition(".")[2] for word in Tokens(text).texts}


def placed(declared: Declared) -> str:
    """Wrap a declaration into the scope that its text was written in."""
    if not declared.opening:
        return declared.text
    opening, closing = declared.opening, declared.closing
    if any(line.startswith(("variable", "universe", "open")) for line in opening) and not closing:
        opening, closing = ("section", *opening), ("end",)
    return "\n".join([*opening, declared.text, *closing])


def header(names: Sequence[str], brought: Sequence[str], axioms: Sequence[str]) -> str:
    """Return the comment at the top of an exported file."""
    lines = [
        f"Proved in NanoLean, for Lean {LEAN_VERSION} or a later one with the same names in its core; imports nothing.",
        f"Declarations: {', '.join(names) or 'none with a name'}.",
        f"Axioms: {', '.join(axioms) or 'none'}.",
    ]
    if brought:
        lines.append(f"Brought along, since Lean's core does not have them: {', '.join(brought)}.")
    return "/-\n" + "\n".join(lines) + "\n-/"
