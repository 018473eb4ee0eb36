"""Declarations: what may be added to what is there, and `Reference`, which checks terms over the kernel's constants."""

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from nanolean.kernel.declaration import (
    ConstantInfo,
    Constants,
    CtorInfo,
    DefInfo,
    InductiveInfo,
    QuotInfo,
    RecInfo,
    TheoremInfo,
    ValueInfo,
)
from nanolean.kernel.node import Expr
from nanolean.tests.reference.admission import Admission, describe
from nanolean.tests.reference.families import Family
from nanolean.tests.reference.judge import Judge
from nanolean.tests.reference.machine import Entry
from nanolean.tests.reference.quotients import check_equality, quotient_types
from nanolean.tests.reference.terms import Reader, grid, level_names
from nanolean.tests.reference.values import OutOfFuel, Refused, Scope

Claims = Mapping[str, ConstantInfo]


class Theory:
    """Declared constants. Each declaration may take so many steps."""

    def __init__(self, fuel: int) -> None:
        self.fuel = fuel
        self.entries: dict[str, Entry] = {}
        self.reader = Reader()

    def declare_all(self, infos: Iterable[ConstantInfo]) -> None:
        """Check constants one after another, from nothing; raises `Refused` or `OutOfFuel` for the first that fails."""
        claims = {info.name: info for info in infos}
        for info in claims.values():
            self.declare(info, claims)

    def declare(self, info: ConstantInfo, claims: Claims) -> None:
        """Check a constant and add it, an inductive type with its constructors and its recursor."""
        try:
            entries = self._admitted(info, claims)
        except RecursionError:
            raise OutOfFuel from None
        for name in entries:
            if name in self.entries:
                raise Refused(f"{name} is declared twice")
        self.entries.update(entries)

    def judge(self, params: Iterable[str], entries: Mapping[str, Entry] | None = None) -> tuple[Judge, Scope]:
        """A judge for a declaration with these universe parameters, and its outermost scope."""
        levels = grid(params)
        return Judge(self.entries if entries is None else entries, 3 ** len(levels), self.fuel), Scope({}, levels)

    def _admitted(self, info: ConstantInfo, claims: Claims) -> dict[str, Entry]:
        if len(set(info.level_params)) != len(info.level_params):
            raise Refused("a universe parameter is declared twice")
        if info.name in ("Nat.zero", "Nat.succ") and not isinstance(info, CtorInfo):
            raise Refused("what literals stand for is made by constructors")
        match info:
            case InductiveInfo():
                return self._inductive(info, claims)
            case CtorInfo() | RecInfo():
                owner = claims.get(info.induct)
                if info.name not in self.entries or not isinstance(owner, InductiveInfo) or info.name not in of(owner):
                    raise Refused(f"{info.name} belongs to no type")
                return {}
            case QuotInfo():
                return self._quotient(info)
        judge, scope = self.judge(info.level_params)
        type_ = self.reader.read(info.type)
        level = judge.check_type(type_, scope)
        if isinstance(info, TheoremInfo) and any(level):
            raise Refused("a theorem that is no proposition")
        if isinstance(info, ValueInfo):
            judge.expect(self.reader.read(info.value), judge.evaluate(type_, scope), scope)
        return {info.name: entry(self.reader, info)}

    def admits(self, infos: Sequence[ConstantInfo]) -> bool | None:
        """Whether an inductive type, given with its constructors, is allowed; None where that takes too long."""
        try:
            self._family(infos[0], infos[1:])
        except Refused:
            return False
        except (OutOfFuel, RecursionError):
            return None
        return True

    def _family(self, info: ConstantInfo, ctors: Sequence[ConstantInfo | None]) -> tuple[Family, Entry]:
        assert isinstance(info, InductiveInfo)
        family = describe(self.reader, info, ctors)
        own = Entry(info.level_params, family.type)
        judge, scope = self.judge(info.level_params, ChainMap({info.name: own}, self.entries))
        admission = Admission(judge, scope, family)
        admission.check_terms(self.reader, [ctor.type for ctor in ctors if ctor is not None])
        admission.analyse()
        return family, own

    def _inductive(self, info: InductiveInfo, claims: Claims) -> dict[str, Entry]:
        ctors = [claims.get(name) for name in info.ctors]
        family, own = self._family(info, ctors)
        found = admitted(family, own)
        if len(found) != len(family.ctors) + 2 or found.keys() & self.entries.keys():
            raise Refused("a name is used twice")
        recursor = claims.get(family.recursor)
        judge, scope = self.judge(family.recursor_params, ChainMap(found, self.entries))
        Admission(judge, scope, family).compare(self.reader, info, ctors, recursor)
        return found

    def _quotient(self, info: QuotInfo) -> dict[str, Entry]:
        check_equality(self.entries)
        expected = quotient_types().get(info.name)
        if expected is None or len(expected[0]) != len(info.level_params):
            raise Refused(f"{info.name} is no constant of quotients")
        params, type_ = expected
        judge, scope = self.judge(params)
        claimed = self.reader.read(info.type)
        levels = dict(zip(info.level_params, scope.levels.values()))
        judge.check_type(claimed, Scope({}, levels))
        if not judge.same_type(judge.evaluate(claimed, Scope({}, levels)), judge.evaluate(type_, scope)):
            raise Refused(f"{info.name} has another type")
        return {info.name: entry(self.reader, info)}


def of(info: InductiveInfo) -> set[str]:
    """The names that come with an inductive type."""
    return {*info.ctors, f"{info.name}.rec"}


def entry(reader: Reader, info: ConstantInfo) -> Entry:
    """A constant that stands for itself, or unfolds."""
    value = reader.read(info.value) if isinstance(info, DefInfo) else None
    proof = reader.read(info.value) if isinstance(info, TheoremInfo) else None
    return Entry(info.level_params, reader.read(info.type), value, None, isinstance(info, QuotInfo), proof)


def admitted(family: Family, own: Entry) -> dict[str, Entry]:
    """The constants of an inductive type."""
    entries = {family.name: own._replace(family=family)}
    for ctor in family.ctors:
        entries[ctor.name] = Entry(family.level_params, ctor.type)
    entries[family.recursor] = Entry(family.recursor_params, None, None, family)
    return entries


class _Trusted(Mapping[str, Entry]):
    """The constants of an environment, read when they are asked for and not checked; recursors are made here again."""

    def __init__(self, env: Constants) -> None:
        self.env = env
        self.reader = Reader()
        self._entries: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        found = self._entries.get(name)
        if found is None:
            info = self.env.get(name)
            if info is None:
                raise KeyError(name)
            if isinstance(info, CtorInfo | RecInfo):
                info = self.env[info.induct]
            self._add(info)
            found = self._entries[name]
        return found

    def _add(self, info: ConstantInfo) -> None:
        if not isinstance(info, InductiveInfo):
            self._entries[info.name] = entry(self.reader, info)
            return
        family = describe(self.reader, info, [self.env.get(name) for name in info.ctors])
        own = self._entries[info.name] = Entry(info.level_params, family.type)
        levels = grid(info.level_params)
        Admission(Judge(self, 3 ** len(levels), 100_000), Scope({}, levels), family).analyse()
        self._entries.update(admitted(family, own))

    def __iter__(self) -> Iterator[str]:
        return iter(self.env.names())

    def __len__(self) -> int:
        return len(self.env)


_trusted = cache(_Trusted)


class Reference:
    """Checks closed terms over the constants of an environment, with so many steps for each of them."""

    def __init__(self, env: Constants, fuel: int) -> None:
        self.entries = _trusted(env)
        self.fuel = fuel

    def has_type(self, e: Expr, type_: Expr) -> bool:
        """Whether a closed term has a closed type; raises `OutOfFuel`."""
        try:
            levels = grid(sorted(level_names(e) | level_names(type_)))
            judge, scope = Judge(self.entries, 3 ** len(levels), self.fuel), Scope({}, levels)
            wanted = self.entries.reader.read(type_)
            judge.check_type(wanted, scope)
            judge.expect(self.entries.reader.read(e), judge.evaluate(wanted, scope), scope)
        except Refused:
            return False
        except RecursionError:
            raise OutOfFuel from None
        return True
