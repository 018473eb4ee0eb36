"""The local context of a goal: its hypotheses in order, as an immutable value that states can share.

Free variable ids are unique in the whole process and never change their type, so a type can be inferred from an id
alone and terms that mention the same id are the same node. `change`, `subst` and `rw at` therefore make a *new* id.
A user name that ends in `✝` is inaccessible: it is shown, but no source text can mention it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from nanolean.kernel.expr import Expr, FVar

INACCESSIBLE_MARK = "✝"

_fvar_ids = itertools.count(1)


def fresh_fvar_id() -> str:
    """Return an id that no other free variable of this process has."""
    return f"f{next(_fvar_ids)}"


def inaccessible(user_name: str) -> str:
    """Mark a name so that no source text can refer to it (`n` becomes `n✝`)."""
    return user_name if user_name.endswith(INACCESSIBLE_MARK) else user_name + INACCESSIBLE_MARK


@dataclass(frozen=True, slots=True)
class LocalDecl:
    """One hypothesis or local variable; `value` is set for `let`-like locals (`x : T := v`)."""

    fvar_id: str
    user_name: str
    type: Expr
    value: Expr | None = None
    info: str = "default"

    @property
    def fvar(self) -> Expr:
        """The term that stands for this local."""
        return FVar(self.fvar_id)

    @property
    def accessible(self) -> bool:
        """Whether source text can name it (shadowing aside)."""
        return not self.user_name.endswith(INACCESSIBLE_MARK)


class LocalContext:
    """Ordered local declarations; every change returns a new context."""

    __slots__ = ("by_id", "decls")

    def __init__(self, decls: Iterable[LocalDecl] = ()) -> None:
        self.decls: tuple[LocalDecl, ...] = tuple(decls)
        self.by_id: dict[str, LocalDecl] = {decl.fvar_id: decl for decl in self.decls}

    def __iter__(self) -> Iterator[LocalDecl]:
        return iter(self.decls)

    def __len__(self) -> int:
        return len(self.decls)

    def __contains__(self, fvar_id: str) -> bool:
        return fvar_id in self.by_id

    def get(self, fvar_id: str) -> LocalDecl | None:
        """Return the declaration of an id, or None where it is not in scope."""
        return self.by_id.get(fvar_id)

    def find(self, user_name: str) -> LocalDecl | None:
        """Return the latest declaration with this user name (earlier ones are shadowed)."""
        for decl in reversed(self.decls):
            if decl.user_name == user_name:
                return decl
        return None

    def add(self, *decls: LocalDecl) -> LocalContext:
        """Return the context with further declarations at its end."""
        return LocalContext(self.decls + decls)

    def remove(self, fvar_ids: Iterable[str]) -> LocalContext:
        """Return the context without some declarations (the caller sees to it that nothing left mentions them)."""
        gone = set(fvar_ids)
        return LocalContext(decl for decl in self.decls if decl.fvar_id not in gone)

    def rename(self, fvar_id: str, user_name: str) -> LocalContext:
        """Return the context in which one declaration shows another name."""
        return LocalContext(replace(d, user_name=user_name) if d.fvar_id == fvar_id else d for d in self.decls)

    def subset_of(self, other: LocalContext) -> bool:
        """Return whether every declaration here is in scope there too."""
        return self is other or self.by_id.keys() <= other.by_id.keys()


EMPTY_CONTEXT = LocalContext()
