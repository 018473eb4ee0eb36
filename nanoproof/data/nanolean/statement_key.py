"""A canonical text for a theorem's statement: equal for statements that differ only in names or in how they are bound.

Held-out statements must not be trained on under another name, so the key looks through: names of variables,
hypotheses and bound variables; whether something is bound before the colon, by `∀` or by `→`; grouping and order of
the leading variables, and variables that nothing mentions; notation, implicit arguments and universes; `¬p` for
`p → False`, `a ≠ b` for `¬a = b`, `a > b` and `a ≥ b` for `b < a` and `b ≤ a`. The order of hypotheses counts.
It is computed from the statement as NanoLean elaborates it.
"""

from dataclasses import dataclass, field

from nanolean.commands.messages import LineMap
from nanolean.commands.runner import run_text
from nanolean.kernel.declaration import Constants, TheoremInfo
from nanolean.kernel.errors import KernelError
from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,
    Pi,
    Proj,
    Sort,
    arrow,
    get_app_fn_args,
    instantiate,
    mk_app,
    replace,
)
from nanolean.kernel.level import ZERO
from nanolean.kernel.typecheck import TypeChecker
from nanolean.parser import parse_commands
from nanolean.syntax import TheoremCmd
from nanoproof.data.nanolean.replay import library
from nanoproof.lean.errors import SourceError

_FALSE = Const("False")
_TURNED = {"Nat.gt": "Nat.lt", "Nat.ge": "Nat.le"}


def statement_key(source: str) -> str:
    """The canonical text of the last theorem of the source, over the library.

    Raises `SourceError` for text that holds none or does not elaborate.
    """
    result = run_text(library(), source)
    for message in result.messages:
        if message.severity == "error":
            line, column = LineMap(source).place(message.pos)
            raise SourceError(f"line {line}, column {column}: {message.text}")
    names = [command.signature.name for command in parse_commands(source) if isinstance(command, TheoremCmd)]
    if not names:
        raise SourceError("the source holds no theorem")
    env = result.state.env
    return type_key(env, env[str(names[-1])].type)


def library_keys() -> frozenset[str]:
    """The canonical texts of all theorems of the library."""
    env = library().env
    return frozenset(type_key(env, info.type) for info in env if isinstance(info, TheoremInfo))


def type_key(env: Constants, type_: Expr) -> str:
    """The canonical text of a closed proposition."""
    types: dict[str, Expr] = {}
    hypotheses: list[Expr] = []
    conclusion = replace(type_, _plain)
    while isinstance(conclusion, Pi):
        local = FVar(f"#{len(types)}")
        if _binds_a_proof(env, types, conclusion.type):
            hypotheses.append(conclusion.type)
        types[local.id] = conclusion.type
        conclusion = instantiate(conclusion.body, local)
    reader = _Reader(types)
    parts = [reader.text(formula) for formula in [*hypotheses, conclusion]]
    return " ".join(reader.kinds()) + " | " + " → ".join(parts)


def _binds_a_proof(env: Constants, types: dict[str, Expr], type_: Expr) -> bool:
    try:
        return TypeChecker(env, {name: (kind, None) for name, kind in types.items()}).is_prop(type_)
    except KernelError as error:
        raise SourceError(f"the statement cannot be read: {error}") from error


def _plain(e: Expr) -> Expr | None:
    """Negations as implications, relations turned one way."""
    fn, args = get_app_fn_args(e)
    if not isinstance(fn, Const):
        return None
    args = [replace(arg, _plain) for arg in args]
    if fn.name == "Not" and len(args) == 1:
        return arrow(args[0], _FALSE)
    if fn.name == "Ne" and len(args) == 3:
        return arrow(mk_app(Const("Eq", fn.levels), *args), _FALSE)
    if fn.name in _TURNED and len(args) == 2:
        return mk_app(Const(_TURNED[fn.name]), args[1], args[0])
    return None


@dataclass
class _Reader:
    """Terms as text; leading variables get numbers in the order in which they are mentioned."""

    types: dict[str, Expr]
    numbers: dict[str, str] = field(default_factory=dict)

    def kinds(self) -> list[str]:
        """The types of the mentioned variables, by number; a type may mention further variables."""
        kinds: list[str] = []
        while len(kinds) < len(self.numbers):
            kinds.append(self.text(self.types[list(self.numbers)[len(kinds)]]))
        return kinds

    def text(self, e: Expr) -> str:
        """The term with implicit arguments, without names and universes; bound variables are de Bruijn indices."""
        match e:
            case FVar(name):
                return self.numbers.setdefault(name, f"v{len(self.numbers)}")
            case BVar(index):
                return f"#{index}"
            case Const(name, _):
                return name
            case Lit(value):
                return str(value)
            case Sort(level):
                return "Prop" if level is ZERO else "Type"
            case App():
                fn, args = get_app_fn_args(e)
                return "(" + " ".join(self.text(part) for part in (fn, *args)) + ")"
            case Pi(_, type_, body):
                return f"(∀ {self.text(type_)} {self.text(body)})"
            case Lam(_, type_, body):
                return f"(λ {self.text(type_)} {self.text(body)})"
            case Let(_, type_, value, body):
                return f"(let {self.text(type_)} {self.text(value)} {self.text(body)})"
            case Proj(_, index, of):
                return f"({self.text(of)}.{index})"
        raise SourceError(f"the statement holds {e}")
