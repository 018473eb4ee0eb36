"""Files in Lean's export format (version 3.1), read line by line and checked by the kernel into a fresh environment.

`check_export(lines)` accepts, refuses, or declines: what Lean has and this kernel has not (mutual and nested types,
strings, unsafe constants, `Nat` operations that are defined otherwise) says nothing about the file. Nothing in it is
believed. What the kernel derives itself (recursors, flags and numbers of inductive types, quotients) must come out as
it is written. Axioms count by name and statement; others are left out, so what uses them is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from nanolean.kernel.budget import BudgetExceeded, KernelError
from nanolean.kernel.declaration import (
    AxiomDecl,
    ConstantInfo,
    Constants,
    CtorDecl,
    CtorInfo,
    Declaration,
    DefDecl,
    InductiveDecl,
    InductiveInfo,
    OpaqueDecl,
    QuotDecl,
    RecInfo,
    TheoremDecl,
)
from nanolean.kernel.env import Environment
from nanolean.kernel.expr import (
    PROP,
    Const,
    Expr,
    FVar,
    Local,
    Sort,
    alpha_eq,
    arrow,
    collect_consts,
    erase,
    instantiate_level_params,
    mk_app,
    mk_pi,
)
from nanolean.kernel.level import ONE, LParam
from nanolean.kernel.reserved import COMPILED, NAT_OPERATIONS
from nanolean.kernel.typecheck import TypeChecker
from nanolean.ndjson.export_ndjson import QUOT_KINDS, closed_rule, has_numerals, is_recursive, is_reflexive
from nanolean.ndjson.ndjson_rows import (
    Declined,
    Refused,
    Tables,
    a_bool,
    a_list,
    a_number,
    a_word,
    expect_fields,
    record_of,
    shown,
)

Listed = tuple[int, Declaration, int | None]
"""A declaration: the line of it, and the height that its hints give it."""
Outcome = Literal["accepted", "refused", "declined"]
PERMITTED = ("propext", "Classical.choice", "Quot.sound")
FORMAT = re.compile(r"3\.1\.\d+")
STEPS = 20_000_000
"""Elementary steps of the kernel for one declaration."""
MAX_HEIGHT = 1 << 16
MAX_REASON = 400
KNOWN_HERE = frozenset(("Nat.add", "Nat.sub", "Nat.mul", "Nat.pow", "Nat.beq", "Nat.ble"))
DEFINED_OTHERWISE = frozenset((*NAT_OPERATIONS, *COMPILED)) - KNOWN_HERE
"""What Lean's kernel computes, and ours does not, or cannot see in Lean's definitions that it may."""


@dataclass(frozen=True)
class Verdict:
    """What was found, in which line if it is not accepted, and what has been checked until then."""

    outcome: Outcome
    reason: str
    line: int
    env: Environment
    left_out: tuple[str, ...]
    """Axioms that are not permitted; nothing that was checked uses them."""
    declarations: tuple[Listed, ...] = ()
    """What was checked, in its order."""


@dataclass
class Checked:
    """Declarations that the kernel has accepted in other files, by name, with what it made of them.

    A file that declares the same needs no second check of it. There is one declaration of a name, and each was checked
    beside others of these only. So where all that a declaration mentions is there and is from here, the kernel would
    look at the very terms that it has looked at before. That its dependencies are there is asked in every file.
    """

    declared: dict[str, tuple[Declaration, list[ConstantInfo], frozenset[str]]] = field(default_factory=dict)
    """By name: the declaration, its constants, and the other names that it needs."""
    recursors: dict[tuple[Any, ...], None] = field(default_factory=dict)
    """Types and rules of recursors that were seen to be the kernel's."""

    def forget(self, declared: int, recursors: int) -> None:
        """Go back to so many declarations and recursors."""
        for known, count in ((self.declared, declared), (self.recursors, recursors)):
            while len(known) > count:
                known.popitem()


def check_export(
    lines: Iterable[str],
    permitted: Iterable[str] | None = PERMITTED,
    steps: int = STEPS,
    checked: Checked | None = None,
) -> Verdict:
    """Read and check the lines of a file, each declaration with so many steps; `permitted` None permits all axioms.

    What `checked` has is not checked again, and it grows by a file that is accepted; one that is not accepted with its
    help has to be read again without. Raises nothing that a text can cause.
    """
    before = None if checked is None else (len(checked.declared), len(checked.recursors))
    reader = Reader(None if permitted is None else frozenset(permitted), steps, checked=checked)
    verdict = _verdict_on(reader, lines)
    if checked is not None and before is not None and verdict.outcome != "accepted":
        checked.forget(*before)
    return verdict


def _verdict_on(reader: Reader, lines: Iterable[str]) -> Verdict:
    try:
        for line in lines:
            reader.feed(line)
        reader.finish()
    except Refused as error:
        return reader.verdict("refused", str(error))
    except Declined as error:
        return reader.verdict("declined", str(error))
    return reader.verdict("accepted", "")


@dataclass
class Reader:
    """The tables of a file so far, and the environment that its declarations make. `feed` takes the next line."""

    permitted: frozenset[str] | None = frozenset(PERMITTED)
    steps: int = STEPS
    line: int = 0
    env: Environment = field(default_factory=Environment)
    tables: Tables = field(default_factory=Tables)
    left_out: frozenset[str] = frozenset()
    quotients: int = 0
    """How many of the four lines on quotients have been read."""
    checked: Checked | None = None
    """What need not be checked again; None from where the file says something else than the files before it."""
    declarations: list[Listed] = field(default_factory=list)
    """What was declared so far."""

    def copy(self) -> Reader:
        """Return a reader that continues from here without changing this one."""
        tables = self.tables.copy()
        state = (self.permitted, self.steps, self.line, self.env, tables, self.left_out, self.quotients)
        return Reader(*state, self.checked, list(self.declarations))

    def feed(self, text: str) -> None:
        """Read a line. Raises Refused or Declined, with a reason in one line."""
        self.line += 1
        if self.line > 1 and self.tables.add_common(text):
            return
        try:
            self._read(record_of(text))
        except BudgetExceeded as error:
            raise Declined(f"too much for this kernel: {error}") from None
        except KernelError as error:
            axioms = f"; not permitted: {', '.join(sorted(self.left_out))}" if self.left_out else ""
            raise Refused(f"{error}{axioms}") from None
        except RecursionError:
            raise Declined("too much for this kernel: a term is nested too deeply") from None

    def finish(self) -> None:
        """Say that there are no more lines. Raises Refused if some must be missing."""
        if self.line == 0:
            raise Refused("it is empty")
        self._no_quotients_missing()

    def verdict(self, outcome: Outcome, reason: str) -> Verdict:
        """Return the verdict on what has been read."""
        shown_reason = " ".join(reason.split())[:MAX_REASON]
        left_out = tuple(sorted(self.left_out))
        return Verdict(outcome, shown_reason, self.line, self.env, left_out, tuple(self.declarations))

    def _read(self, record: dict[str, Any]) -> None:
        if self.line == 1:
            _check_meta(record)
            return
        index = [key for key in ("in", "il", "ie") if key in record]
        kinds = [key for key in record if key not in index]
        if len(kinds) != 1 or len(index) > 1:
            raise Refused(f"a line says one thing, this one has {shown(list(record))}")
        if index:
            self.tables.add(index[0], record[index[0]], kinds[0], record[kinds[0]])
        elif kinds[0] in _DECLARATIONS:
            getattr(self, _DECLARATIONS[kinds[0]])(record[kinds[0]])
        else:
            raise Refused(f"{shown(kinds[0])} is not known, or has no number")

    def _no_quotients_missing(self) -> None:
        if 0 < self.quotients < len(QUOT_KINDS):
            raise Refused(f"{list(QUOT_KINDS)[self.quotients]} is missing")

    def _head(self, content: Any, *others: str) -> tuple[str, tuple[str, ...], Expr]:
        """Name, universe parameters and type of a declaration that has these and the `others`, nothing else."""
        expect_fields(content, "name", "levelParams", "type", *others)
        if "isUnsafe" in others and a_bool(content["isUnsafe"]):
            raise Declined("unsafe constants")
        name = self.tables.name(content["name"])
        if not name:
            raise Refused("a constant needs a name")
        if name in self.left_out:
            raise Refused(f"'{name}' has already been declared")
        return name, self.tables.list_of_names(content["levelParams"]), self.tables.expr(content["type"])

    def _add(self, decl: Declaration, height: int | None = 0) -> None:
        """Have the kernel check a declaration; it finds the heights of definitions itself."""
        self._no_quotients_missing()
        decl = self._add_known(decl)
        self.declarations.append((self.line, decl, height))

    def _add_known(self, decl: Declaration) -> Declaration:
        """Take a declaration from those that are checked, or check it; return the one that is kept."""
        name = name_of(decl)
        known = None if self.checked is None else self.checked.declared.get(name)
        if known is not None and known[0] != decl:
            self.checked = known = None
        if known is not None and name not in self.env and all(needed in self.env for needed in known[2]):
            self.env = self.env.add_unchecked(known[1])
            return known[0]
        try:
            self.env = self.env.add(decl, self.steps)
        except KernelError as error:
            if name in DEFINED_OTHERWISE:
                raise Declined(f"{name} is not defined as in NanoLean ({error})") from None
            raise
        if self.checked is not None:
            infos = [self.env[made] for made in names_made(decl)]
            self.checked.declared[name] = decl, infos, frozenset(names_used(decl))
        return decl

    def add_axiom(self, content: Any) -> None:
        """Read an axiom; one that is not permitted is checked and then left out."""
        name, params, type_ = self._head(content, "isUnsafe")
        decl = AxiomDecl(name, params, type_)
        if self.permitted is not None and name not in self.permitted:
            self._no_quotients_missing()
            self.env.add(decl, self.steps)
            self.left_out |= {name}
            return
        self._add(decl)
        if self.permitted is None:
            return
        if name in PERMITTED and not _has_its_statement(self.env, name):
            raise Refused(f"the axiom {name} does not say what it says in Lean")

    def add_definition(self, content: Any) -> None:
        """Read a definition."""
        name, params, type_, value = self._valued(content, "hints", "safety")
        height = _height_of(content["hints"])
        if a_word(content["safety"], "safe", "unsafe", "partial") != "safe":
            raise Declined(f"{content['safety']} definitions")
        self._add(DefDecl(name, params, type_, value, reducible=height is None), height)

    def add_theorem(self, content: Any) -> None:
        """Read a theorem."""
        self._add(TheoremDecl(*self._valued(content)))

    def add_opaque(self, content: Any) -> None:
        """Read an opaque constant."""
        self._add(OpaqueDecl(*self._valued(content, "isUnsafe")))

    def _valued(self, content: Any, *others: str) -> tuple[str, tuple[str, ...], Expr, Expr]:
        """Name, universe parameters, type and value of a declaration that has a value."""
        name, params, type_ = self._head(content, "value", "all", *others)
        self.tables.list_of_names(content["all"])  # those that were declared together, which says nothing to a kernel
        return name, params, type_, self.tables.expr(content["value"])

    def add_quotient(self, content: Any) -> None:
        """Read one of the four lines on quotients; the kernel has them all with the first."""
        name, params, type_ = self._head(content, "kind")
        kinds = list(QUOT_KINDS.items())
        if self.quotients == len(kinds) or (name, content["kind"]) != kinds[self.quotients]:
            raise Refused(f"the quotients are {', '.join(QUOT_KINDS)} in this order, once")
        if self.quotients == 0:
            self._add(QuotDecl())
        self.quotients += 1
        if params != self.env[name].level_params or not alpha_eq(type_, self.env[name].type):
            raise Refused(f"{name} does not have its type")

    def add_inductive(self, content: Any) -> None:
        """Read a type with its constructors and its recursor, and compare them with what the kernel made of it."""
        decl, ctor_params = self._inductive(content)
        self._add(decl)
        given, info = content["types"][0], self.env[decl.name]
        assert isinstance(info, InductiveInfo)
        self._compare_type(info, a_number(given["numIndices"]), given)
        for ctor, params, given_ctor in zip(info.ctors, ctor_params, content["ctors"], strict=True):
            self._compare_ctor(self.env[ctor], params, given_ctor)
        if len(content["recs"]) != 1:
            raise Refused(f"the inductive type {decl.name} has one recursor, not {len(content['recs'])}")
        self._compare_rec(info, content["recs"][0])

    def _inductive(self, content: Any) -> tuple[InductiveDecl, list[tuple[str, ...]]]:
        """The declaration of a type, and the universe parameters that its constructors are said to have."""
        expect_fields(content, "types", "ctors", "recs")
        types, ctors, _ = (a_list(content[key]) for key in ("types", "ctors", "recs"))
        if len(types) > 1:
            raise Declined("mutual inductive types")
        if len(types) != 1:
            raise Refused("an inductive declaration is of a type")
        numbers = ("numParams", "numIndices", "numNested")
        name, params, type_ = self._head(types[0], *numbers, "all", "ctors", "isRec", "isUnsafe", "isReflexive")
        num_params, _, nested = (a_number(types[0][key]) for key in numbers)
        if nested:
            raise Declined("nested inductive types")
        heads = [self._head(ctor, "induct", "cidx", "numParams", "numFields", "isUnsafe") for ctor in ctors]
        declared = tuple(CtorDecl(ctor, ctor_type) for ctor, _, ctor_type in heads)
        return InductiveDecl(name, params, num_params, type_, declared), [levels for _, levels, _ in heads]

    def _compare_type(self, info: InductiveInfo, num_indices: int, given: Any) -> None:
        ctors: list[Any] = [self.env[ctor] for ctor in info.ctors]
        said: list[Any] = [num_indices, a_bool(given["isRec"]), a_bool(given["isReflexive"])]
        said += [self.tables.list_of_names(given["all"]), self.tables.list_of_names(given["ctors"])]
        found = [info.num_indices, is_recursive(info, ctors), is_reflexive(info, ctors), (info.name,), info.ctors]
        if said != found:
            raise Refused(f"the inductive type {info.name} is not what is said of it")

    def _compare_ctor(self, ctor: Any, params: tuple[str, ...], given: Any) -> None:
        said: list[Any] = [params, self.tables.name(given["induct"])]
        said += [a_number(given[key]) for key in ("cidx", "numParams", "numFields")]
        if said != [ctor.level_params, ctor.induct, ctor.idx, ctor.num_params, ctor.num_fields]:
            raise Refused(f"the constructor {ctor.name} is not what is said of it")

    def _compare_rec(self, info: InductiveInfo, given: Any) -> None:
        numbers = ("numParams", "numIndices", "numMotives", "numMinors")
        name, params, type_ = self._head(given, *numbers, "all", "rules", "k", "isUnsafe")
        rec: Any = self.env[info.rec_name]
        said: list[Any] = [
            name,
            self.tables.list_of_names(given["all"]),
            a_bool(given["k"]),
            len(params),
            len(set(params)),
        ]
        said += [a_number(given[key]) for key in numbers]
        count = len(rec.level_params)
        found = [rec.name, (info.name,), rec.k, count, count, rec.num_params, rec.num_indices]
        rules = a_list(given["rules"])
        if said != [*found, rec.num_motives, rec.num_minors] or len(rules) != len(rec.rules):
            raise Refused(f"the recursor {rec.name} is not what is said of it")
        self._expect(rec, params, type_, rec.type)
        for place, (rule, known) in enumerate(zip(rules, rec.rules)):
            expect_fields(rule, "ctor", "nfields", "rhs")
            if (self.tables.name(rule["ctor"]), a_number(rule["nfields"])) != (known.ctor, known.num_fields):
                raise Refused(f"a rule of the recursor {rec.name} is not what is said of it")
            self._expect(rec, params, self.tables.expr(rule["rhs"]), closed_rule(self.env, rec, place))

    def _expect(self, rec: RecInfo, params: tuple[str, ...], given: Expr, made: Expr) -> None:
        """Refuse a term that does not equal the kernel's, up to the names of universe parameters."""
        question = (rec.name, params, given, made)
        if self.checked is not None and question in self.checked.recursors:
            return
        made = erase(instantiate_level_params(made, rec.level_params, [LParam(param) for param in params]))
        given = erase(given)
        checker = TypeChecker(self.env, budget=self.steps)
        if given is not made:
            same_type = checker.is_def_eq(checker.check(given), checker.check(made))
            if not same_type or not checker.is_def_eq(given, made):
                raise Refused(f"the recursor {rec.name} is another one")
        if self.checked is not None:
            self.checked.recursors[question] = None


def name_of(decl: Declaration) -> str:
    """Return the name that a declaration is about."""
    return "Quot" if isinstance(decl, QuotDecl) else decl.name


def names_made(decl: Declaration) -> list[str]:
    """List the names that are there after a declaration."""
    if isinstance(decl, QuotDecl):
        return list(QUOT_KINDS)
    if isinstance(decl, InductiveDecl):
        return [decl.name, f"{decl.name}.rec", *(ctor.name for ctor in decl.ctors)]
    return [decl.name]


def names_used(decl: Declaration) -> set[str]:
    """List the constants that a declaration mentions, its own excepted; literals mention `Nat`."""
    if isinstance(decl, QuotDecl):
        return {"Eq"}
    terms = [decl.type]
    if isinstance(decl, DefDecl | TheoremDecl | OpaqueDecl):
        terms.append(decl.value)
    elif isinstance(decl, InductiveDecl):
        terms += [ctor.type for ctor in decl.ctors]
    used: set[str] = set()
    for term in terms:
        used |= collect_consts(term)
        if has_numerals(term):
            used.add("Nat")
    return used - {decl.name} if isinstance(decl, InductiveDecl) else used


def _check_meta(record: dict[str, Any]) -> None:
    try:
        version = record["meta"]["format"]["version"]
    except (KeyError, TypeError):
        raise Refused("the first line must be the metadata, with the version of the format") from None
    if not isinstance(version, str) or not FORMAT.fullmatch(version):
        raise Declined(f"the version {shown(version)} of the format; this reads 3.1")


def _height_of(hints: Any) -> int | None:
    """The height of a definition by its hints, None for an abbreviation; they mean nothing to our kernel."""
    if isinstance(hints, dict):
        expect_fields(hints, "regular")
        height = a_number(hints["regular"])
        if height >= MAX_HEIGHT:
            raise Declined(f"a definition of the height {height}")
        return height
    return None if a_word(hints, "opaque", "abbrev") == "abbrev" else 0


_DECLARATIONS = {
    "axiom": "add_axiom",
    "def": "add_definition",
    "thm": "add_theorem",
    "opaque": "add_opaque",
    "quot": "add_quotient",
    "inductive": "add_inductive",
}
"""The methods of a reader that take the lines which declare something."""


# -- the statements of the axioms


def _has_its_statement(env: Constants, name: str) -> bool:
    """Whether an axiom of Lean, and what it speaks of, are what they are in Lean (quotients are the kernel's own)."""
    wanted = [(name, *_STATEMENTS[name]), *((other, *_STATEMENTS[other]) for other in _SPEAKS_OF[name])]
    return all(_says(env.get(constant), count, type_, ctors) for constant, count, type_, ctors in wanted)


def _says(info: ConstantInfo | None, num_levels: int, type_: Expr, ctors: tuple[str, ...]) -> bool:
    if info is None or len(info.level_params) != num_levels or getattr(info, "ctors", ()) != ctors:
        return False
    kinds = (InductiveInfo,) if ctors else (CtorInfo,) if info.kind == "ctor" else (ConstantInfo,)
    return isinstance(info, kinds) and alpha_eq(info.type_at((LParam("u"),) * num_levels), type_)


def _statements() -> dict[str, tuple[int, Expr, tuple[str, ...]]]:
    """How many universe parameters the axioms and what they speak of have, their types and constructors."""
    u = LParam("u")
    a, b, x, y = FVar("a"), FVar("b"), FVar("x"), FVar("y")
    props, alpha = [Local(a, "a", PROP), Local(b, "b", PROP)], Local(a, "α", Sort(u))
    points, relation = [Local(x, "x", a), Local(y, "y", a)], arrow(a, arrow(a, PROP))
    iff, nonempty = mk_app(Const("Iff"), a, b), mk_app(Const("Nonempty", (u,)), a)
    quot = mk_app(Const("Quot", (u,)), a, b)
    classes = [mk_app(Const("Quot.mk", (u,)), a, b, point) for point in (x, y)]
    equal = [
        mk_app(Const("Eq", (level,)), type_, *sides)
        for level, type_, sides in ((u, a, (x, x)), (ONE, PROP, (a, b)), (u, quot, classes))
    ]
    related = arrow(mk_app(b, x, y), equal[2])
    return {
        "Eq": (1, mk_pi([alpha], arrow(a, arrow(a, PROP))), ("Eq.refl",)),
        "Eq.refl": (1, mk_pi([alpha, points[0]], equal[0]), ()),
        "Iff": (0, arrow(PROP, arrow(PROP, PROP)), ("Iff.intro",)),
        "Iff.intro": (0, mk_pi(props, arrow(arrow(a, b), arrow(arrow(b, a), iff))), ()),
        "Nonempty": (1, mk_pi([alpha], PROP), ("Nonempty.intro",)),
        "Nonempty.intro": (1, mk_pi([alpha], arrow(a, nonempty)), ()),
        "propext": (0, mk_pi(props, arrow(iff, equal[1])), ()),
        "Classical.choice": (1, mk_pi([alpha], arrow(nonempty, a)), ()),
        "Quot.sound": (1, mk_pi([alpha, Local(b, "r", relation), *points], related), ()),
    }


_STATEMENTS = _statements()
_SPEAKS_OF = {
    "propext": ("Eq", "Eq.refl", "Iff", "Iff.intro"),
    "Classical.choice": ("Nonempty", "Nonempty.intro"),
    "Quot.sound": ("Eq", "Eq.refl"),
}
