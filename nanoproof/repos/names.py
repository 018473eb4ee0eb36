"""Which constants the text of a tactic or a term names, and where they are declared: the premises of a proof."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from nanoproof.lean import lexical
from nanoproof.lean.declarations import Declaration
from nanoproof.repos.traced_files import Provenance
from nanoproof.repos.trees import Ran

_IDENT = re.compile(rf"{lexical.NAME_BEGINS}(?:«[^«»\n]*»|{lexical.ATOM})(?:\.(?:«[^«»\n]*»|{lexical.ATOM}))*")
"""A name with its parts, each an atom or in «», that does not begin inside of another name."""
_LOCALS = re.compile(r"^([^\s⊢:][^:\n]*?) :", re.MULTILINE)
"""The names of the hypotheses of a goal, several before a colon."""
_TACTIC_WORDS = frozenset({"rfl", "left", "right", "trivial", "absurd", "symm", "congr", "funext", "ext"})
"""Tactics that constants have the names of, where a term may stand as well."""


@dataclass(frozen=True)
class Names:
    """The names that the project and its libraries declare, with their places."""

    declared: Mapping[str, Provenance]
    namespaces: frozenset[str]
    hidden: frozenset[str] = frozenset()
    """Paths of files that the file at hand does not import."""

    @classmethod
    def of(cls, declared: Mapping[str, Provenance]) -> "Names":
        """Return names with the namespaces that they are in."""
        namespaces: set[str] = set()
        for name in declared:
            outer = name.rpartition(".")[0]
            while outer and outer not in namespaces:
                namespaces.add(outer)
                outer = outer.rpartition(".")[0]
        return cls(declared, frozenset(namespaces))

    def without(self, paths: Iterable[str]) -> "Names":
        """Return the names without those of some files."""
        return replace(self, hidden=frozenset(paths))

    def knows(self, name: str) -> bool:
        """Tell whether a name can be used in the file at hand."""
        place = self.declared.get(name)
        return place is not None and place.path not in self.hidden

    def resolve(self, text: str, declaration: Declaration, used: frozenset[str]) -> tuple[str, str] | None:
        """Find the constant that an identifier names, and the part of the identifier that does (`h` of `h.symm`).

        `used` are further constants that it may name. None if it names nothing that is known.
        """
        parts = re.findall(r"«[^»]*»|[^.]+", text.removeprefix("_root_."))
        # Lean's order: the namespaces around, innermost first, then the root, then what is opened. The longest part
        # of the name that is a constant counts; what is behind it are fields.
        prefixes = [*declaration.namespaces, "", *reversed(self._opened(declaration))]
        for count in range(len(parts), 0, -1):
            stem = ".".join(parts[:count])
            for prefix in prefixes:
                name = stem
                if prefix:
                    name = f"{prefix}.{stem}"
                if name in used or self.knows(name):
                    return name, text[: len(text) - len(text.removeprefix("_root_."))] + stem
        return None

    def _opened(self, declaration: Declaration) -> list[str]:
        """List the namespaces that are open at a declaration, in order.

        `open B` is also that of a namespace around it or of one that is open: `open A B`, `namespace A open B`.
        """
        opened: list[str] = []
        for name in declaration.opens:
            within = [f"{outer}.{name}" for outer in (*opened, *declaration.namespaces)]
            opened += [name, *(full for full in within if full in self.namespaces)]
        return opened

    def provenance(self, name: str) -> Provenance:
        """Return where a constant is declared: for a constructor or the like, where its type is."""
        outer = name
        while outer:
            if (place := self.declared.get(outer)) is not None:
                return Provenance(name, place.path, place.start, place.end)
            outer = outer.rpartition(".")[0]
        return Provenance(name, "", None, None)

    def mark(self, ran: Ran, declaration: Declaration) -> tuple[str, tuple[Provenance, ...]]:
        """Put `<a>` and `</a>` around each premise that a tactic names; return its text, and where each is declared."""
        used = frozenset(ran.constants or ())
        # A hypothesis hides a constant of its name.
        local: set[str] = set()
        for names in _LOCALS.findall("\n".join(ran.before)):
            local.update(names.split())
        pieces, premises, position = [], [], 0
        for match in _IDENT.finditer(lexical.mask(ran.text)):
            if match.group().split(".")[0] in local or _is_tactic_word(ran.text, match):
                continue
            resolved = self.resolve(match.group(), declaration, used)
            if resolved is None:
                continue
            name, written = resolved
            end = match.start() + len(written)
            pieces += [ran.text[position : match.start()], f"<a>{ran.text[match.start() : end]}</a>"]
            premises.append(self.provenance(name))
            position = end
        return "".join([*pieces, ran.text[position:]]), tuple(premises)

    def named_in(self, text: str, declaration: Declaration) -> set[str]:
        """List the constants that a text names."""
        names = set()
        for identifier in _IDENT.findall(lexical.mask(text)):
            resolved = self.resolve(identifier, declaration, frozenset())
            if resolved is not None:
                names.add(resolved[0])
        return names


def _is_tactic_word(text: str, match: re.Match[str]) -> bool:
    """Tell whether a word is that of a tactic, such as `rfl` or `right`, not of a constant of the same name."""
    before = text[: match.start()].rstrip(" ")
    if "." in match.group():
        return False
    if not before or before[-1] in "\n;·" or before.endswith("<;>"):
        return True
    # Behind an arrow, `by` or a bar stands a term or a tactic: there it is one only if there is a tactic of that name.
    return match.group() in _TACTIC_WORDS and re.search(r"(?:=>|(?<![\w.'])by|[|(])\Z", before) is not None
