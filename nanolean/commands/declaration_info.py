"""What a text declares, as clients of the Lean REPL that read `declarations` know it: the fields of LeanInteract.

Texts and places are those of the source. `constants` are the names in a piece of source as they are written there,
bound ones too, in their order.
"""

from collections.abc import Iterable
from typing import Any

from nanolean.commands.declarations import nodes_of
from nanolean.commands.header import full_name, universe_names
from nanolean.commands.messages import LineMap
from nanolean.env_state import EnvState
from nanolean.syntax import (
    AxiomCmd,
    Binder,
    Command,
    DefCmd,
    ExampleCmd,
    Ident,
    InductiveCmd,
    Modifiers,
    Signature,
    StructureCmd,
    TheoremCmd,
)

Json = dict[str, Any]

ROOT = "[anonymous]"
"""How Lean writes the empty name, as of the namespace outside of all."""
EXAMPLE = "_example"
"""The name that Lean gives to an `example`."""
KINDS: dict[type[Command], str] = {
    TheoremCmd: "theorem",
    ExampleCmd: "example",
    DefCmd: "definition",
    AxiomCmd: "axiom",
    InductiveCmd: "inductive",
    StructureCmd: "structure",
}


class DeclarationReader:
    """Describes the declarations of one text."""

    def __init__(self, text: str, lines: LineMap) -> None:
        self._text, self._lines = text, lines

    def describe(self, command: Command, before: EnvState) -> Json:
        """Describe a declaration, given the state before it."""
        signature, modifiers = _head(command)
        kind = KINDS[type(command)]
        if isinstance(command, DefCmd) and command.abbrev:
            kind = "abbrev"
        name = EXAMPLE if signature.name is None else signature.name
        description = {
            "pp": self._text[command.pos : command.end],
            "range": self._range(command.pos, command.end),
            "scope": _scope(before),
            "name": name,
            "fullName": full_name(before, name),
            "kind": kind,
            "modifiers": self._modifiers(modifiers),
            "signature": self._signature(signature, command.pos),
            "binders": self._binders(signature),
            "type": None,
            "value": None,
        }
        if signature.type is not None and signature.type_span is not None:
            description["type"] = self._piece(*signature.type_span, [signature.type])
        if isinstance(command, TheoremCmd | ExampleCmd | DefCmd):
            rest = self._text[signature.stop : command.end]
            start = command.end - len(rest.lstrip())
            description["value"] = self._piece(start, command.end, [command.value])
        return description

    def _signature(self, signature: Signature, start_of_declaration: int) -> Json:
        starts = [start for start, _ in signature.groups]
        if not starts and signature.type_span is None:
            nowhere = self._place(start_of_declaration)
            return {"pp": "", "constants": [], "range": {"synthetic": True, "start": nowhere, "finish": nowhere}}
        # Without binders it begins with the colon, which stands behind the name and its universes.
        start = starts[0] if starts else self._text.rindex(":", 0, (signature.type_span or (0, 0))[0])
        types = [] if signature.type is None else [signature.type]
        return self._piece(start, signature.stop, [*signature.binders, *types])

    def _binders(self, signature: Signature) -> Json | None:
        if not signature.groups:
            return None
        start, end = signature.groups[0][0], signature.groups[-1][1]
        return {
            "pp": self._text[start:end],
            "groups": [self._text[first:last] for first, last in signature.groups],
            "map": [self._binder(binder) for binder in signature.binders],
            "range": self._range(start, end),
        }

    def _binder(self, binder: Binder) -> Json:
        info = {"inst": "instImplicit", "strict": "strictImplicit"}.get(binder.info, binder.info)
        type_text = "_" if binder.type is None else self._text[binder.type.pos : binder.type.end]
        return {"id": binder.name, "type": type_text, "binderInfo": info}

    def _modifiers(self, modifiers: Modifiers) -> Json:
        doc = None
        if modifiers.doc is not None:
            start, end = modifiers.pos, self._text.index("-/", modifiers.pos) + len("-/")
            # Blanks behind `/--` belong to that token in Lean, those before `-/` to the text.
            content = self._text[start + len("/--") : end - len("-/")].lstrip()
            doc = {"content": content, "range": self._range(start, end)}
        return {
            "docString": doc,
            "visibility": "private" if "private" in modifiers.words else "regular",
            "computeKind": "noncomputable" if "noncomputable" in modifiers.words else "regular",
            "recKind": "default",
            "isProtected": "protected" in modifiers.words,
            "isUnsafe": False,
            "attributes": list(modifiers.attributes),
        }

    def _piece(self, start: int, end: int, parts: Iterable[Any]) -> Json:
        return {"pp": self._text[start:end], "constants": _names(parts), "range": self._range(start, end)}

    def _range(self, start: int, end: int) -> Json:
        return {"synthetic": False, "start": self._place(start), "finish": self._place(end)}

    def _place(self, offset: int) -> Json:
        line, column = self._lines.place(offset)
        return {"line": line, "column": column}


def _head(command: Command) -> tuple[Signature, Modifiers]:
    assert isinstance(command, TheoremCmd | ExampleCmd | DefCmd | AxiomCmd | InductiveCmd | StructureCmd)
    return command.signature, command.modifiers


def _names(parts: Iterable[Any]) -> list[str]:
    """Collect the names that are written in pieces of source, each once, in their order."""
    places: list[tuple[int, str]] = []
    for part in parts:
        for node in nodes_of(part):
            if isinstance(node, Ident | Binder) and node.name != "_":
                places.append((node.pos, node.name))
    names = dict.fromkeys(name for _, name in sorted(places))
    return list(names)


def _scope(state: EnvState) -> Json:
    variables = [text for scope in state.scopes for text in scope.variable_texts]
    return {
        "varDecls": [f"variable {' '.join(variables)}"] if variables else [],
        "includeVars": [],
        "omitVars": [],
        "levelNames": list(universe_names(state)),
        "currNamespace": state.scope.namespace or ROOT,
        "openDecl": [{"simple": {"ns": name, "except": []}} for name in state.opened()],
    }
