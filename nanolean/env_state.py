"""`EnvState`: everything a command or a term can refer to, as an immutable value.

Beside the kernel's environment it holds what Lean keeps in extensions: attributes, open namespaces, the variables of
the section. Every `env` number of the REPL names one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from nanolean.kernel.declaration import ConstantInfo
from nanolean.kernel.env import Environment
from nanolean.kernel.expr import node_count, sweep
from nanolean.meta.instances import PROP_DECIDABLE
from nanolean.meta.store import MAX_EXPONENT, Caches, Classical
from nanolean.syntax import Binder

PP_UNIVERSES = "pp.universes"
TRACE_SIMP = "trace.Meta.Tactic.simp"
LACKS_LIBRARY = "nanolean.lacksLibrary"
"""Whether what is read imports a library that is not here. Its names must not be bound automatically, whatever the text
says of `autoImplicit`: so this option cannot be taken back."""
EXPONENTIATION = "exponentiation.threshold"


@dataclass(frozen=True, slots=True)
class OpenScope:
    """What a `namespace` or `section` adds until its `end`."""

    kind: str
    """"namespace", "section", or "" for the file itself."""
    name: str
    namespace: str
    """The full name of the current namespace inside, empty at the root."""
    opens: tuple[str, ...] = ()
    variables: tuple[Binder, ...] = ()
    variable_texts: tuple[str, ...] = ()
    """How `variables` were written, one text for each command."""
    universes: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    """Variables, of scopes around it too, that declarations take though they do not mention them."""
    options: tuple[tuple[str, bool | int | str], ...] = ()
    attributes: tuple[tuple[str, str, bool], ...] = ()
    """Attributes that hold until the end of the scope: name, constant, and whether it is taken away."""


@dataclass(frozen=True)
class EnvState:
    """An environment with attributes and scopes. `caches` and `memo` hold what can be computed again at any time."""

    env: Environment
    scopes: tuple[OpenScope, ...] = (OpenScope("", "", ""),)
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Attribute name -> the constants that carry it, in the order in which they got it."""
    protected: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    pending: str = ""
    """The definition whose body is elaborated and may mention itself; a constant here, but nothing may rest on it."""
    caches: Caches = field(default_factory=Caches, compare=False, repr=False)
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Indexes that others build over this state, such as the simp set."""

    @property
    def scope(self) -> OpenScope:
        """The innermost scope."""
        return self.scopes[-1]

    def option(self, name: str) -> bool | int | str | None:
        """Return the value that `set_option` gave an option in this scope or one around it, None for none."""
        for scope in reversed(self.scopes):
            for other, value in reversed(scope.options):
                if other == name:
                    return value
        return None

    @property
    def shows_universes(self) -> bool:
        """Whether constants are to be printed with their universe levels."""
        return bool(self.option(PP_UNIVERSES))

    @property
    def traces_simp(self) -> bool:
        """Whether `simp` is to say which rules it uses."""
        return bool(self.option(TRACE_SIMP) or self.option(f"{TRACE_SIMP}.rewrite"))

    def with_option(self, name: str, value: bool | int | str) -> EnvState:
        """Return the state with an option set until the end of the innermost scope."""
        return self.with_scope(replace(self.scope, options=(*self.scope.options, (name, value))))

    def tagged(self, attribute: str) -> tuple[str, ...]:
        """Return the constants that carry an attribute here, oldest first."""
        names = self.attributes.get(attribute, ())
        for scope in self.scopes:
            for other, name, erase in scope.attributes:
                if other == attribute:
                    names = _changed(names, name, erase)
        return names

    @property
    def classical(self) -> Classical:
        """Whether every proposition is decidable here, and whether that comes before or after all other instances."""
        if PROP_DECIDABLE in self.tagged("instance"):
            return "first"
        # A scoped instance of low priority in Lean: where its namespace is open, and where nothing else is found.
        opened = "Classical" in self.opened() or "Classical" in self.namespace_chain()
        return "last" if opened or PROP_DECIDABLE in self.tagged("low instance") else ""

    def get(self, name: str) -> ConstantInfo | None:
        """Return the constant of that full name."""
        return self.env.get(name)

    def with_env(self, env: Environment) -> EnvState:
        """Return the state over a larger environment."""
        return replace(self, env=env, caches=Caches(self.caches.max_exponent), memo={})

    def with_attribute(self, attribute: str, name: str, erase: bool = False) -> EnvState:
        """Return the state in which a constant carries an attribute, or no longer does."""
        names = _changed(self.attributes.get(attribute, ()), name, erase)
        state = replace(self, attributes={**self.attributes, attribute: names}, memo={})
        return state.with_env(state.env.with_irreducible(name)) if attribute == "irreducible" else state

    def with_local_attribute(self, attribute: str, name: str, erase: bool = False) -> EnvState:
        """Return the state in which a constant carries an attribute until the scope ends, or until then no longer."""
        scope = self.scope
        return self.with_scope(replace(scope, attributes=(*scope.attributes, (attribute, name, erase))))

    def with_scope(self, scope: OpenScope) -> EnvState:
        """Return the state with the innermost scope replaced."""
        return self.with_scopes((*self.scopes[:-1], scope))

    def push(self, scope: OpenScope) -> EnvState:
        """Return the state inside of a new scope."""
        return self.with_scopes((*self.scopes, scope))

    def pop(self) -> EnvState:
        """Return the state after the end of the innermost scope."""
        return self.with_scopes(self.scopes[:-1])

    def with_scopes(self, scopes: tuple[OpenScope, ...]) -> EnvState:
        """Return the state with other scopes, and new caches where their options change what computes."""
        state = replace(self, scopes=scopes)
        if [scope.attributes for scope in scopes] != [scope.attributes for scope in self.scopes]:
            state = replace(state, memo={})
        chosen = state.option(EXPONENTIATION)
        max_exponent = MAX_EXPONENT if chosen is None else int(chosen)
        return state if max_exponent == self.caches.max_exponent else replace(state, caches=Caches(max_exponent))

    def namespace_chain(self) -> list[str]:
        """Return the current namespace and its parents, innermost first, the root (empty) last."""
        parts = self.scope.namespace.split(".") if self.scope.namespace else []
        return [".".join(parts[:count]) for count in range(len(parts), -1, -1)]

    def opened(self) -> list[str]:
        """Return the opened namespaces, latest first."""
        return [name for scope in reversed(self.scopes) for name in reversed(scope.opens)]


def _changed(names: tuple[str, ...], name: str, erase: bool) -> tuple[str, ...]:
    rest = tuple(other for other in names if other != name)
    return rest if erase else (*rest, name)


GROWTH = 200_000
"""Terms that may be added to the intern table before the unused ones are dropped."""


class Sweeper:
    """Watches the table of terms from now on. Not for use while another thread makes terms."""

    def __init__(self, growth: int = GROWTH) -> None:
        self.growth = growth
        self._swept_at = node_count()

    def tidy(self, states: Iterable[EnvState]) -> None:
        """Drop unused terms if enough of them may have gathered; the caches of `states` are emptied then."""
        if node_count() - self._swept_at < self.growth:
            return
        for state in states:
            state.caches.clear()
        sweep()
        self._swept_at = node_count()
