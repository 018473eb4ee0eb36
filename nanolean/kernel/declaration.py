"""Declarations (what one asks the kernel to add) and constants (what it has accepted), and a persistent set of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeVar

from nanolean.kernel.budget import KernelError
from nanolean.kernel.expr import Const, Expr, collect_consts, instantiate_level_params
from nanolean.kernel.level import Level, LParam


@dataclass(frozen=True)
class AxiomDecl:
    """Postulate `name : type`."""

    name: str
    level_params: tuple[str, ...]
    type: Expr


@dataclass(frozen=True)
class DefDecl:
    """Define `name : type := value`; `reducible` is a hint for elaboration and means nothing to the kernel."""

    name: str
    level_params: tuple[str, ...]
    type: Expr
    value: Expr
    reducible: bool = False


@dataclass(frozen=True)
class TheoremDecl:
    """Prove `name : type` by `value`; the type must be a proposition, the value is unfolded only by the kernel."""

    name: str
    level_params: tuple[str, ...]
    type: Expr
    value: Expr


@dataclass(frozen=True)
class OpaqueDecl:
    """Define `name : type := value` without ever unfolding it."""

    name: str
    level_params: tuple[str, ...]
    type: Expr
    value: Expr


class CtorDecl(NamedTuple):
    """A constructor; its type begins with the parameters of the inductive type."""

    name: str
    type: Expr


@dataclass(frozen=True)
class InductiveDecl:
    """An inductive type whose first `num_params` arguments are parameters and whose other arguments are indices."""

    name: str
    level_params: tuple[str, ...]
    num_params: int
    type: Expr
    ctors: tuple[CtorDecl, ...]


@dataclass(frozen=True)
class QuotDecl:
    """Add `Quot`, `Quot.mk`, `Quot.lift` and `Quot.ind`; needs `Eq`."""


Declaration = AxiomDecl | DefDecl | TheoremDecl | OpaqueDecl | InductiveDecl | QuotDecl


@dataclass(frozen=True, eq=False)
class ConstantInfo:
    """A constant that the kernel has accepted."""

    kind: ClassVar[str] = ""

    name: str
    level_params: tuple[str, ...]
    type: Expr
    _types: dict[tuple[Level, ...], Expr] = field(default_factory=dict, init=False, repr=False)

    def type_at(self, levels: tuple[Level, ...]) -> Expr:
        """Return the type with the universe parameters replaced; computed once for each tuple of levels."""
        if not self.level_params:
            return self.type
        found = self._types.get(levels)
        if found is None:
            found = self._types[levels] = instantiate_level_params(self.type, self.level_params, levels)
        return found

    def as_const(self) -> Const:
        """Return the constant applied to its own universe parameters (for use inside of its declaration)."""
        return Const(self.name, tuple(LParam(name) for name in self.level_params))

    @cached_property
    def mentions(self) -> frozenset[str]:
        """The constants that this one directly rests on."""
        return frozenset(collect_consts(self.type))


@dataclass(frozen=True, eq=False)
class AxiomInfo(ConstantInfo):
    """A postulate."""

    kind: ClassVar[str] = "axiom"


@dataclass(frozen=True, eq=False)
class ValueInfo(ConstantInfo):
    """A constant with a value: definition, theorem or opaque."""

    value: Expr
    _values: dict[tuple[Level, ...], Expr] = field(default_factory=dict, init=False, repr=False)

    def value_at(self, levels: tuple[Level, ...]) -> Expr:
        """Return the value with the universe parameters replaced; computed once for each tuple of levels."""
        if not self.level_params:
            return self.value
        found = self._values.get(levels)
        if found is None:
            found = self._values[levels] = instantiate_level_params(self.value, self.level_params, levels)
        return found

    @cached_property
    def mentions(self) -> frozenset[str]:
        """The constants that this one directly rests on."""
        return frozenset(collect_consts(self.type) | collect_consts(self.value))


@dataclass(frozen=True, eq=False)
class DefInfo(ValueInfo):
    """A definition."""

    kind: ClassVar[str] = "def"

    reducible: bool = False
    height: int = 1
    """One more than the largest height among the definitions in the value; higher ones are unfolded first."""
    computes_literals: bool = False
    """It is an operation on `Nat` whose equations were checked, so the kernel may compute it with Python numbers."""
    irreducible: bool = False
    """A hint for elaboration: do not unfold. It means nothing to the kernel."""


@dataclass(frozen=True, eq=False)
class TheoremInfo(ValueInfo):
    """A theorem; unfolded only by the kernel."""

    kind: ClassVar[str] = "theorem"


@dataclass(frozen=True, eq=False)
class OpaqueInfo(ValueInfo):
    """A constant whose value is never unfolded."""

    kind: ClassVar[str] = "opaque"


@dataclass(frozen=True, eq=False)
class InductiveInfo(ConstantInfo):
    """An inductive type."""

    kind: ClassVar[str] = "inductive"

    num_params: int
    num_indices: int
    ctors: tuple[str, ...]
    rec_name: str
    is_recursive: bool
    is_structure: bool
    """One constructor, no indices, not recursive: has projections and eta."""
    is_prop: bool

    @cached_property
    def mentions(self) -> frozenset[str]:
        """The constants that this one directly rests on."""
        return frozenset(collect_consts(self.type) | set(self.ctors))


@dataclass(frozen=True, eq=False)
class CtorInfo(ConstantInfo):
    """A constructor, the `idx`-th of the inductive type `induct`."""

    kind: ClassVar[str] = "ctor"

    induct: str
    idx: int
    num_params: int
    num_fields: int


class RecRule(NamedTuple):
    """How a recursor computes on one constructor.

    `rhs` is the body under binders for the parameters, the motive, the minor premises and the fields, in that order
    from the outside in; it has these as loose indices.
    """

    ctor: str
    num_fields: int
    rhs: Expr


@dataclass(frozen=True, eq=False)
class RecInfo(ConstantInfo):
    """A recursor. Its arguments are parameters, motive, minor premises, indices, major premise."""

    kind: ClassVar[str] = "rec"

    induct: str
    num_params: int
    num_motives: int
    num_minors: int
    num_indices: int
    rules: tuple[RecRule, ...]
    k: bool
    """Computes on any major premise whose type fits its only constructor, which has no fields (proofs of `Eq`)."""
    large: bool
    """Eliminates into any universe (then the first universe parameter is the target's), not only into `Prop`."""
    _rhs: dict[tuple[int, tuple[Level, ...]], Expr] = field(default_factory=dict, init=False, repr=False)

    @property
    def major_idx(self) -> int:
        """The position of the major premise among the arguments."""
        return self.num_params + self.num_motives + self.num_minors + self.num_indices

    def rhs_at(self, rule_idx: int, levels: tuple[Level, ...]) -> Expr:
        """Return the right side of a rule with the universe parameters replaced."""
        found = self._rhs.get((rule_idx, levels))
        if found is None:
            found = instantiate_level_params(self.rules[rule_idx].rhs, self.level_params, levels)
            self._rhs[rule_idx, levels] = found
        return found


@dataclass(frozen=True, eq=False)
class QuotInfo(ConstantInfo):
    """One of the four constants of quotients."""

    kind: ClassVar[str] = "quot"


Self = TypeVar("Self", bound="Constants")


class Constants:
    """A persistent set of constants: adding gives a new set and leaves the old one as it was."""

    __slots__ = ("_infos",)

    def __init__(self, infos: dict[str, ConstantInfo] | None = None) -> None:
        self._infos = infos or {}

    def get(self, name: str) -> ConstantInfo | None:
        """Return the constant of that name, None where there is none."""
        return self._infos.get(name)

    def __getitem__(self, name: str) -> ConstantInfo:
        info = self._infos.get(name)
        if info is None:
            raise KernelError(f"unknown constant '{name}'")
        return info

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def __iter__(self) -> Iterator[ConstantInfo]:
        return iter(self._infos.values())

    def __len__(self) -> int:
        return len(self._infos)

    def names(self) -> Sequence[str]:
        """Return all names, in the order in which they were added."""
        return list(self._infos)

    def add_unchecked(self: Self, infos: Iterable[ConstantInfo]) -> Self:
        """Return the set with more constants, trusted as they are (a library that was checked when it was built)."""
        return self.__class__({**self._infos, **{info.name: info for info in infos}})
