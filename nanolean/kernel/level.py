"""Universe levels: interned immutable nodes, so that equal levels are the same object.

`ZERO` and `ONE` are the levels of `Prop` and `Type`. `leq` and `equiv` compare as Lean's kernel does, by normal forms:
they hold for every value of the parameters, but do not find everything that does. `always_leq` and `always_equal`
decide that. What they permit, the first two must grant; what they forbid, the last two. Level metavariables are treated
as further parameters. Levels are walked as trees, so their size is bounded, and so is the work of a comparison: beyond
that `BudgetExceeded`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from nanolean.kernel.budget import Budget, BudgetExceeded

MAX_SIZE = 1_000
"""Nodes of the largest level, counted as a tree."""
COMPARISON_STEPS = 20_000
"""Elementary steps for the comparison of two levels."""

_TABLE: dict[tuple[Any, ...], Any] = {}


class Level:
    """A universe level; `has_param` and `has_mvar` tell whether a parameter or a metavariable occurs in it."""

    __slots__ = ("has_mvar", "has_param", "size")
    __match_args__: ClassVar[tuple[str, ...]] = ()
    has_param: bool
    has_mvar: bool
    size: int

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__class__, tuple(getattr(self, field) for field in self.__match_args__)

    def __repr__(self) -> str:
        return show_level(self)


def _intern(cls: type[Level], fields: tuple[Any, ...], has_param: bool, has_mvar: bool, size: int = 1) -> Any:
    if size > MAX_SIZE:
        raise BudgetExceeded("a universe level is too large")
    node = object.__new__(cls)
    for name, value in zip(cls.__match_args__, fields):
        setattr(node, name, value)
    node.has_param = has_param
    node.has_mvar = has_mvar
    node.size = size
    return _TABLE.setdefault((cls, *fields), node)


def _intern_pair(cls: type[Level], left: Level, right: Level) -> Any:
    has_param, has_mvar = left.has_param or right.has_param, left.has_mvar or right.has_mvar
    return _intern(cls, (left, right), has_param, has_mvar, left.size + right.size + 1)


class Zero(Level):
    """The level of `Prop`; use the constant `ZERO`."""

    __slots__ = ()

    def __new__(cls) -> "Zero":
        return _TABLE.get((cls,)) or _intern(cls, (), False, False)


class Succ(Level):
    """The next level."""

    __slots__ = ("of",)
    __match_args__ = ("of",)
    of: Level

    def __new__(cls, of: Level) -> "Succ":
        return _TABLE.get((cls, of)) or _intern(cls, (of,), of.has_param, of.has_mvar, of.size + 1)


class Max(Level):
    """The larger of two levels."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")
    left: Level
    right: Level

    def __new__(cls, left: Level, right: Level) -> "Max":
        return _TABLE.get((cls, left, right)) or _intern_pair(cls, left, right)


class IMax(Level):
    """Zero where `right` is zero, the larger of the two elsewhere: the level of a dependent function type."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")
    left: Level
    right: Level

    def __new__(cls, left: Level, right: Level) -> "IMax":
        return _TABLE.get((cls, left, right)) or _intern_pair(cls, left, right)


class LParam(Level):
    """A universe parameter of a declaration."""

    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str

    def __new__(cls, name: str) -> "LParam":
        return _TABLE.get((cls, name)) or _intern(cls, (name,), True, False)


class LMVar(Level):
    """A level that elaboration has yet to find; never part of a declaration."""

    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str

    def __new__(cls, name: str) -> "LMVar":
        return _TABLE.get((cls, name)) or _intern(cls, (name,), False, True)


ZERO = Zero()
ONE = Succ(ZERO)


def of_nat(value: int) -> Level:
    """Make the numeral level `value`."""
    level: Level = ZERO
    for _ in range(value):
        level = Succ(level)
    return level


def to_nat(level: Level) -> int | None:
    """Return the number that a closed level of successors denotes, None for any other level."""
    value = 0
    while level.__class__ is Succ:
        level = level.of
        value += 1
    return value if level is ZERO else None


def is_never_zero(level: Level) -> bool:
    """Return whether the level is positive for every value of its parameters."""
    match level:
        case Succ(_):
            return True
        case Max(left, right):
            return is_never_zero(left) or is_never_zero(right)
        case IMax(_, right):
            return is_never_zero(right)
        case _:
            return False


def split_offset(level: Level) -> tuple[Level, int]:
    """Split a level into `base + offset`, where the base is no successor."""
    offset = 0
    while level.__class__ is Succ:
        level, offset = level.of, offset + 1
    return level, offset


def mk_max(left: Level, right: Level) -> Level:
    """`max left right` with the simplifications that Lean's kernel makes whenever it puts one together."""
    if left is right or right is ZERO:
        return left
    if left is ZERO:
        return right
    if right.__class__ is Max and left in (right.left, right.right):
        return right
    if left.__class__ is Max and right in (left.left, left.right):
        return left
    (left_base, left_offset), (right_base, right_offset) = split_offset(left), split_offset(right)
    if left_base is right_base:
        return left if left_offset > right_offset else right
    return Max(left, right)


def mk_imax(left: Level, right: Level) -> Level:
    """`imax left right` with the simplifications that Lean's kernel makes."""
    if is_never_zero(right):
        return mk_max(left, right)
    if right is ZERO or left is ZERO or left is ONE or left is right:
        return right
    return IMax(left, right)


def substitute(level: Level, values: Mapping[Level, Level]) -> Level:
    """Replace parameters and metavariables of the level by the entries of `values`."""
    if not (level.has_param or level.has_mvar):
        return level
    match level:
        case Succ(of):
            return Succ(substitute(of, values))
        case Max(left, right):
            return mk_max(substitute(left, values), substitute(right, values))
        case IMax(left, right):
            return mk_imax(substitute(left, values), substitute(right, values))
        case _:
            return values.get(level, level)


def instantiate_level(level: Level, names: Sequence[str], levels: Sequence[Level]) -> Level:
    """Replace each parameter of `names` by the level at the same index."""
    if not level.has_param:
        return level
    return substitute(level, {LParam(name): value for name, value in zip(names, levels)})


def collect_level_params(level: Level, into: set[str]) -> None:
    """Add the names of the parameters of a level to a set."""
    if level.has_param:
        match level:
            case Succ(of):
                collect_level_params(of, into)
            case Max(left, right) | IMax(left, right):
                collect_level_params(left, into)
                collect_level_params(right, into)
            case LParam(name):
                into.add(name)


def _push_imax(level: Level, work: Budget) -> Level:
    """An equal level where the right side of every `imax` is a parameter or a metavariable."""
    work.spend()
    match level:
        case Succ(of):
            return Succ(_push_imax(of, work))
        case Max(left, right):
            return mk_max(_push_imax(left, work), _push_imax(right, work))
        case IMax(left, right):
            left, right = _push_imax(left, work), _push_imax(right, work)
            match right:
                case Max(a, b):
                    return mk_max(_push_imax(IMax(left, a), work), _push_imax(IMax(left, b), work))
                case IMax(a, b):
                    return mk_max(_push_imax(IMax(left, b), work), _push_imax(IMax(a, b), work))
                case _:
                    return mk_imax(left, right)
        case _:
            return level


def _find_imax_atom(level: Level) -> Level | None:
    """Some atom on the right side of an `imax` in a level that `_push_imax` has treated."""
    match level:
        case Succ(of):
            return _find_imax_atom(of)
        case Max(left, right):
            return _find_imax_atom(left) or _find_imax_atom(right)
        case IMax(_, right):
            return right
        case _:
            return None


def _offsets(level: Level, offset: int, into: dict[Level, int]) -> dict[Level, int]:
    """The arguments of a maximum as atom -> largest offset (atoms: ZERO, parameters, metavariables, `imax` nodes)."""
    while level.__class__ is Succ:
        level, offset = level.of, offset + 1
    match level:
        case Max(left, right):
            _offsets(left, offset, into)
            _offsets(right, offset, into)
        case _:
            into[level] = max(offset, into.get(level, 0))
    return into


def always_leq(left: Level, right: Level) -> bool:
    """Return whether `left` is at most `right` for every value of the parameters (complete: splits on zero or not)."""
    return _leq(left, right, Budget(COMPARISON_STEPS))


def _leq(left: Level, right: Level, work: Budget) -> bool:
    if left is right or left is ZERO:
        return True
    left, right = _push_imax(left, work), _push_imax(right, work)
    atom = _find_imax_atom(left) or _find_imax_atom(right)
    if atom is not None:
        for case in ({atom: ZERO}, {atom: Succ(atom)}):
            if not _leq(substitute(left, case), substitute(right, case), work):
                return False
        return True
    bounds = _offsets(right, 0, {})
    top = max(bounds.values())
    return all(
        bounds.get(base, -1) >= offset or (base is ZERO and offset <= top)
        for base, offset in _offsets(left, 0, {}).items()
    )


def always_equal(left: Level, right: Level) -> bool:
    """Return whether two levels are equal for every value of the parameters."""
    return left is right or (always_leq(left, right) and always_leq(right, left))


def simplify(level: Level) -> Level:
    """Return an equal level in a sorted form without redundant arguments, for unification."""
    level = _push_imax(level, Budget(COMPARISON_STEPS))
    arguments = _offsets(level, 0, {})
    constant = arguments.pop(ZERO, None)
    if constant is not None and not any(offset >= constant for offset in arguments.values()):
        arguments[ZERO] = constant
    result: Level | None = None
    for base, offset in sorted(arguments.items(), key=lambda item: (item[0] is not ZERO, show_level(item[0]))):
        for _ in range(offset):
            base = Succ(base)
        result = base if result is None else Max(result, base)
    assert result is not None
    return result


def _order(level: Level) -> tuple[Any, ...]:
    """A total order in which numbers come first and `base + 1` right after `base`."""
    base, offset = split_offset(level)
    match base:
        case Max(left, right) | IMax(left, right):
            key: tuple[Any, ...] = (2 if base.__class__ is Max else 3, _order(left), _order(right))
        case LParam(name):
            key = (4, name)
        case LMVar(name):
            key = (5, name)
        case _:
            key = (0,)
    return (*key, offset)


def _max_arguments(level: Level, into: list[Level]) -> None:
    if level.__class__ is Max:
        _max_arguments(level.left, into)
        _max_arguments(level.right, into)
    else:
        into.append(level)


def _add_offset(level: Level, offset: int) -> Level:
    for _ in range(offset):
        level = Succ(level)
    return level


_NORMAL_FORMS: dict[Level, Level] = {}


def _normal_form(level: Level, work: Budget) -> Level:
    """The normal form of Lean's kernel."""
    found = _NORMAL_FORMS.get(level)
    if found is not None:
        return found
    work.spend()
    base, offset = split_offset(level)
    if base.__class__ is IMax:
        found = _add_offset(mk_imax(_normal_form(base.left, work), _normal_form(base.right, work)), offset)
    elif base.__class__ is Max:
        arguments: list[Level] = []
        given: list[Level] = []
        _max_arguments(base, given)
        for argument in given:
            _max_arguments(_normal_form(argument, work), arguments)
        found = _add_offset_to_all(_without_redundant(sorted(arguments, key=_order)), offset)
    else:
        found = level
    _NORMAL_FORMS[level] = found
    return found


def _without_redundant(arguments: list[Level]) -> list[Level]:
    """Sorted arguments of a maximum without those that are below others: numbers, and smaller offsets of a base."""
    numbers = [argument for argument in arguments if split_offset(argument)[0] is ZERO]
    others = arguments[len(numbers) :]
    kept: list[Level] = []
    if numbers and not any(split_offset(other)[1] >= split_offset(numbers[-1])[1] for other in others):
        kept.append(numbers[-1])
    for argument in others:
        if kept and split_offset(kept[-1])[0] is split_offset(argument)[0]:
            kept.pop()
        kept.append(argument)
    return kept


def _add_offset_to_all(arguments: list[Level], offset: int) -> Level:
    result = _add_offset(arguments[-1], offset)
    for argument in reversed(arguments[:-1]):
        result = mk_max(_add_offset(argument, offset), result)
    return result


def normalize(level: Level) -> Level:
    """Return the normal form of Lean's kernel, in which inferred universes are printed. Raises `BudgetExceeded`."""
    return _normal_form(level, Budget(COMPARISON_STEPS))


def equiv(left: Level, right: Level) -> bool:
    """Return whether two levels are the same to Lean's kernel: whether they have the same normal form."""
    if left is right:
        return True
    work = Budget(COMPARISON_STEPS)
    return _normal_form(left, work) is _normal_form(right, work)


def leq(left: Level, right: Level) -> bool:
    """Return whether Lean's kernel finds that `left` is at most `right`."""
    return _at_most(left, right, Budget(COMPARISON_STEPS))


def _at_most(left: Level, right: Level, work: Budget) -> bool:
    """By the form of both, in the order of the kernel's cases; it looks at an `imax` as at its right side."""
    work.spend()
    left, right = _normal_form(left, work), _normal_form(right, work)
    if left is right or left is ZERO:
        return True
    if left.__class__ is Max:
        return _at_most(left.left, right, work) and _at_most(left.right, right, work)
    if right.__class__ is Max and (_at_most(left, right.left, work) or _at_most(left, right.right, work)):
        return True
    if left.__class__ is IMax:
        return _at_most(left.left, right, work) and _at_most(left.right, right, work)
    if right.__class__ is IMax:
        return _at_most(left, right.right, work)
    (left_base, left_offset), (right_base, right_offset) = split_offset(left), split_offset(right)
    if left_base is right_base or left_base is ZERO:
        return left_offset <= right_offset
    return left_offset == right_offset > 0 and _at_most(left_base, right_base, work)


def show_level(level: Level) -> str:
    """Print the level as Lean does, such as `max u (v+1)`."""
    number = to_nat(level)
    if number is not None:
        return str(number)
    match level:
        case Succ(_):
            offset = 0
            while level.__class__ is Succ:
                level, offset = level.of, offset + 1
            return f"{_show_atom(level)}+{offset}"
        case Max(left, right):
            return f"max {_show_atom(left)} {_show_atom(right)}"
        case IMax(left, right):
            return f"imax {_show_atom(left)} {_show_atom(right)}"
        case LParam(name):
            return name
        case LMVar(name):
            return f"?{name}"
        case _:
            raise AssertionError(f"not a level: {level.__class__}")


def _show_atom(level: Level) -> str:
    text = show_level(level)
    return text if text.isidentifier() or text.isdigit() or text.startswith("?") else f"({text})"
