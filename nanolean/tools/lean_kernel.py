"""Lean's own kernel, in the shared library `libleanshared` of an installed Lean, called through ctypes.

`LeanKernel(library).add(env, decl)` has it check a declaration of ours. A crash inside of the library ends the process,
so only the program of `judge` and tests load it. What is built for it is never freed: its objects are marked with the
reference count 0, by which Lean's runtime knows objects that stay.
"""

import ctypes
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nanolean.kernel.declaration import (
    AxiomDecl,
    CtorDecl,
    Declaration,
    DefDecl,
    InductiveDecl,
    OpaqueDecl,
    QuotDecl,
    TheoremDecl,
)
from nanolean.kernel.expr import HAVE, PROP, App, BVar, Const, Expr, Lam, Let, Lit, Pi, Proj, Sort, children
from nanolean.kernel.level import ZERO, IMax, Level, LParam, Max, Succ
from nanolean.ndjson.export_ndjson import decimal, split_name
from nanolean.system import UserError

TRIED = ("4.35.0",)
"""Versions of Lean whose functions were seen to take the arguments that are given here."""
MAX_SMALL = (1 << 63) - 1
"""The largest number that Lean keeps in a pointer."""
MAX_HEIGHT = (1 << 32) - 1
_INFOS = {"default": 0, HAVE: 0, "implicit": 1, "strict": 2, "inst": 3}
_SAFE = 1
_ABBREVIATION = 3
"""The hint `abbrev`, the second constant constructor of its type, as a pointer."""
_REFUSALS = (
    "it uses an unknown constant",
    "its name is taken",
    "its value has another type",
    "it has metavariables",
    "it has free variables",
    "a function is expected",
    "a type is expected",
    "the value of a let has another type",
    "a term has another type",
    "an argument has another type",
    "a projection is not valid",
    "the type of a theorem is not a proposition",
)
"""What Lean's kernel refuses, in the order of the constructors of `Kernel.Exception`; the next one carries a text."""
_WITH_TEXT = 12
_GAVE_UP = {13: "time", 14: "memory", 15: "depth", 16: "an interruption"}
_P, _U8, _U32, _SIZE, _TEXT = ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_char_p
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "lean_initialize": (None, ()),
    "lean_io_mark_end_initialization": (None, ()),
    "l_Lean_mkEmptyEnvironment": (_P, (_U32,)),
    "lean_elab_environment_to_kernel_env": (_P, (_P,)),
    "lean_add_decl": (_P, (_P, _SIZE, _SIZE, _P, _P)),
    "lean_alloc_object": (_P, (_SIZE,)),
    "lean_mk_string": (_P, (_TEXT,)),
    "lean_cstr_to_nat": (_P, (_TEXT,)),
    "lean_name_mk_string": (_P, (_P, _P)),
    "lean_name_mk_numeral": (_P, (_P, _P)),
    "lean_level_mk_zero": (_P, (_P,)),
    "lean_level_mk_succ": (_P, (_P,)),
    "lean_level_mk_max": (_P, (_P, _P)),
    "lean_level_mk_imax": (_P, (_P, _P)),
    "lean_level_mk_param": (_P, (_P,)),
    "lean_expr_mk_bvar": (_P, (_P,)),
    "lean_expr_mk_sort": (_P, (_P,)),
    "lean_expr_mk_const": (_P, (_P, _P)),
    "lean_expr_mk_app": (_P, (_P, _P)),
    "lean_expr_mk_lambda": (_P, (_P, _P, _P, _U8)),
    "lean_expr_mk_forall": (_P, (_P, _P, _P, _U8)),
    "lean_expr_mk_let": (_P, (_P, _P, _P, _P, _U8)),
    "lean_expr_mk_lit": (_P, (_P,)),
    "lean_expr_mk_proj": (_P, (_P, _P, _P)),
    "lean_mk_axiom_val": (_P, (_P, _P, _P, _U8)),
    "lean_mk_definition_val": (_P, (_P, _P, _P, _P, _P, _U8, _P)),
    "lean_mk_theorem_val": (_P, (_P, _P, _P, _P, _P)),
    "lean_mk_opaque_val": (_P, (_P, _P, _P, _P, _U8, _P)),
    "lean_mk_inductive_decl": (_P, (_P, _P, _P, _U8)),
    "lean_mk_reducibility_hints_regular": (_P, (_U32,)),
}
"""The functions that are called, with what they return and take, as in the versions of `TRIED`."""


class LeanRefused(Exception):
    """Lean's kernel does not take the declaration."""


class LeanGaveUp(Exception):
    """Lean's kernel did not decide: the limits of its own were met."""


def box(value: int) -> int:
    """Return a small number, or a constructor without arguments, as the pointer that stands for it in Lean."""
    return value << 1 | 1


class LeanKernel:
    """The kernel of a library. Environments are pointers, and adding to one leaves it as it was."""

    def __init__(self, library: Path) -> None:
        """Load it, and see it accept a true declaration and refuse a false one; UserError where it does not."""
        try:
            self._lib = ctypes.CDLL(str(library))
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(self._lib, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            raise UserError(f"{library} cannot be used as Lean's library: {error}") from None
        self._lib.lean_initialize()
        self._lib.lean_io_mark_end_initialization()
        self.version = self._read_version()
        self._names: dict[str, int] = {"": box(0)}
        self._levels: dict[Level, int] = {}
        self._exprs: dict[Expr, int] = {}
        self.empty = self._empty_environment()
        self._try_out(library)

    def _read_version(self) -> str:
        """The version that the library says it has, empty where it does not say."""
        try:
            numbers = [_P.in_dll(self._lib, f"l_Lean_version_{part}").value for part in ("major", "minor", "patch")]
        except ValueError:
            return ""
        return ".".join(str((number or 0) >> 1) for number in numbers)

    def _empty_environment(self) -> int:
        result = self._lib.l_Lean_mkEmptyEnvironment(0)
        if _tag(result) != 0:
            raise UserError("Lean's library makes no empty environment")
        return int(self._lib.lean_elab_environment_to_kernel_env(_field(result, 0)))

    def _try_out(self, library: Path) -> None:
        """Have a true and a false declaration judged, of a type, a definition and a theorem."""
        unit, proof = Const("Probe"), Const("Probe.intro")
        try:
            env = self.add(self.empty, InductiveDecl("Probe", (), 0, PROP, (CtorDecl("Probe.intro", unit),)))
            self.add(env, TheoremDecl("probe", (), Pi("h", unit, unit), Lam("h", unit, BVar(0))))
        except (LeanRefused, LeanGaveUp) as error:
            raise UserError(
                f"{library} does not judge as Lean's kernel does: it refuses a true theorem ({error})"
            ) from None
        everything = Pi("p", PROP, BVar(0))
        for false in (TheoremDecl("probe", (), everything, proof), TheoremDecl("probe", (), Sort(ZERO), unit)):
            try:
                self.add(env, false)
            except LeanRefused:
                continue
            raise UserError(f"{library} does not judge as Lean does: it accepts a false theorem")

    # -- objects of Lean's runtime: reference count (4 bytes), size (2), number of fields (1), constructor (1), fields

    def _keep(self, address: int) -> int:
        """Mark a new object as one that stays."""
        if not address & 1:
            ctypes.c_int32.from_address(address).value = 0
        return address

    def _ctor(self, tag: int, *fields: int) -> int:
        size = 8 + 8 * len(fields)
        address = int(self._lib.lean_alloc_object(size))
        ctypes.c_uint16.from_address(address + 4).value = size
        ctypes.c_uint8.from_address(address + 6).value = len(fields)
        ctypes.c_uint8.from_address(address + 7).value = tag
        for place, field in enumerate(fields):
            ctypes.c_uint64.from_address(address + 8 + 8 * place).value = field
        return self._keep(address)

    def _list(self, items: Iterable[int]) -> int:
        result = box(0)
        for item in reversed(list(items)):
            result = self._ctor(1, item, result)
        return result

    def _nat(self, value: int) -> int:
        return box(value) if value <= MAX_SMALL else self._keep(self._lib.lean_cstr_to_nat(decimal(value).encode()))

    def name(self, name: str) -> int:
        """Return a name."""
        known = self._names.get(name)
        if known is None:
            known = box(0)
            for part, numeric in split_name(name):
                if numeric:
                    known = self._keep(self._lib.lean_name_mk_numeral(known, self._nat(int(part))))
                else:
                    text = self._keep(self._lib.lean_mk_string(part.encode()))
                    known = self._keep(self._lib.lean_name_mk_string(known, text))
            self._names[name] = known
        return known

    def level(self, level: Level) -> int:
        """Return a level."""
        known = self._levels.get(level)
        if known is None:
            match level:
                case Succ(of):
                    known = self._lib.lean_level_mk_succ(self.level(of))
                case Max(left, right):
                    known = self._lib.lean_level_mk_max(self.level(left), self.level(right))
                case IMax(left, right):
                    known = self._lib.lean_level_mk_imax(self.level(left), self.level(right))
                case LParam(name):
                    known = self._lib.lean_level_mk_param(self.name(name))
                case _:
                    known = self._lib.lean_level_mk_zero(box(0))
            self._levels[level] = self._keep(known)
        return known

    def expr(self, e: Expr) -> int:
        """Return a term."""
        known = self._exprs
        stack = [e]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            missing = [child for child in children(node) if child not in known]
            if missing:
                stack += missing
                continue
            stack.pop()
            known[node] = self._keep(self._node(node))
        return known[e]

    def _node(self, e: Any) -> int:
        """A term whose parts are there."""
        at, lib, cls = self._exprs, self._lib, e.__class__
        result: Any
        if cls is App:
            result = lib.lean_expr_mk_app(at[e.fn], at[e.arg])
        elif cls is Lam or cls is Pi:
            make = lib.lean_expr_mk_lambda if cls is Lam else lib.lean_expr_mk_forall
            result = make(self.name(e.name), at[e.type], at[e.body], _INFOS.get(e.info, 0))
        elif cls is BVar:
            result = lib.lean_expr_mk_bvar(self._nat(e.idx))
        elif cls is Const:
            result = lib.lean_expr_mk_const(self.name(e.name), self._list(map(self.level, e.levels)))
        elif cls is Sort:
            result = lib.lean_expr_mk_sort(self.level(e.level))
        elif cls is Lit:
            result = lib.lean_expr_mk_lit(self._ctor(0, self._nat(e.value)))
        elif cls is Proj:
            result = lib.lean_expr_mk_proj(self.name(e.struct), self._nat(e.idx), at[e.expr])
        elif cls is Let:
            result = lib.lean_expr_mk_let(self.name(e.name), at[e.type], at[e.value], at[e.body], 0)
        else:
            raise LeanRefused(f"not a term of a declaration: {e}")
        return int(result)

    # -- declarations

    def add(self, env: int, decl: Declaration, height: int | None = 0) -> int:
        """Return the environment with a declaration added; `height` is a definition's, None that of an abbreviation.

        Raises LeanRefused, or LeanGaveUp where Lean's kernel does not decide.
        """
        made = self._declaration(decl, height)
        _retain(env)
        result = int(self._lib.lean_add_decl(env, 0, 0, made, box(0)))
        if _tag(result) == 1:
            return _field(result, 0)
        raise _exception(_field(result, 0))

    def _declaration(self, decl: Declaration, height: int | None) -> int:
        """An object of Lean's type `Declaration`, whose constructors the tags are."""
        lib, nil = self._lib, box(0)
        if isinstance(decl, QuotDecl):
            return box(4)
        name, params, type_ = self.name(decl.name), self._list(map(self.name, decl.level_params)), self.expr(decl.type)
        alone = self._ctor(1, name, nil)
        match decl:
            case AxiomDecl():
                return self._ctor(0, self._keep_value(lib.lean_mk_axiom_val(name, params, type_, 0)))
            case DefDecl():
                hints = _ABBREVIATION if height is None else self._keep(lib.lean_mk_reducibility_hints_regular(height))
                value = lib.lean_mk_definition_val(name, params, type_, self.expr(decl.value), hints, _SAFE, alone)
                return self._ctor(1, self._keep_value(value))
            case TheoremDecl():
                value = lib.lean_mk_theorem_val(name, params, type_, self.expr(decl.value), alone)
                return self._ctor(2, self._keep_value(value))
            case OpaqueDecl():
                value = lib.lean_mk_opaque_val(name, params, type_, self.expr(decl.value), 0, alone)
                return self._ctor(3, self._keep_value(value))
        ctors = self._list([self._ctor(0, self.name(ctor.name), self.expr(ctor.type)) for ctor in decl.ctors])
        types = self._list([self._ctor(0, name, type_, ctors)])
        return self._keep(int(lib.lean_mk_inductive_decl(params, self._nat(decl.num_params), types, 0)))

    def _keep_value(self, address: int) -> int:
        """Keep what the functions `lean_mk_..._val` make, with the object of name and type that it holds."""
        self._keep(_field(address, 0))
        return self._keep(address)


def _tag(address: int) -> int:
    return ctypes.c_uint8.from_address(address + 7).value


def _field(address: int, place: int) -> int:
    return ctypes.c_uint64.from_address(address + 8 + 8 * place).value


def _retain(address: int) -> None:
    """Count one more owner of an object, unless it stays anyway."""
    count = ctypes.c_int32.from_address(address)
    if count.value > 0:
        count.value += 1
    elif count.value < 0:  # it is shared between threads, and counted downwards
        count.value -= 1


def _exception(address: int) -> Exception:
    """What a `Kernel.Exception` says."""
    if address & 1:
        return LeanGaveUp(f"Lean's kernel stopped for {_GAVE_UP.get(address >> 1, 'an unknown reason')}")
    tag = _tag(address)
    if tag == _WITH_TEXT:
        return LeanRefused(_text(_field(address, 0)))
    if tag == 0:
        return LeanRefused(f"{_REFUSALS[0]}, {_shown_name(_field(address, 1))}")
    return LeanRefused(_REFUSALS[tag] if tag < len(_REFUSALS) else f"Lean's kernel refuses it for reason {tag}")


def _text(address: int) -> str:
    """A string: size in bytes with the final zero, capacity, length, and the bytes."""
    size = ctypes.c_uint64.from_address(address + 8).value
    return ctypes.string_at(address + 32, size - 1).decode(errors="replace")


def _shown_name(address: int) -> str:
    parts: list[str] = []
    while not address & 1:
        last = _field(address, 1)
        parts.append(_text(last) if _tag(address) == 1 else str(last >> 1))
        address = _field(address, 0)
    return ".".join(reversed(parts))
