"""A canonical text for a theorem's statement: equal for statements that differ only in names or in how they are bound.

Held-out statements must not be trained on under another name, so the key looks through: names of variables,
hypotheses and bound variables; whether something is bound before the colon, by `∀` or by `→`; grouping and order of
the leading variables, and variables that nothing mentions; `¬p` for `p → False`, `a ≠ b` for `¬a = b`, `a > b` and
`a ≥ b` for `b < a` and `b ≤ a`. The order of hypotheses counts.
"""

from dataclasses import dataclass

from nanoproof.lean.errors import SourceError
from nanoproof.lean.nanolean.parser import ParseError, parse_commands
from nanoproof.lean.nanolean.syntax import (
    AppStx,
    Arrow,
    Binder,
    BinOp,
    ExampleCmd,
    Exists,
    Forall,
    Fun,
    Ident,
    Num,
    ProjStx,
    Signature,
    SortStx,
    Term,
    TheoremCmd,
    TypeAscription,
    Unary,
)

_FALSE = "False"


def statement_key(source: str) -> str:
    """The canonical text of the last theorem or example of the source. Raises `SourceError` for text it cannot read."""
    try:
        commands = parse_commands(source)
    except ParseError as error:
        raise SourceError(f"line {error.line}, column {error.column}: {error.message}") from error
    for command in reversed(commands):
        if isinstance(command, TheoremCmd | ExampleCmd):
            return signature_key(command.signature)
    raise SourceError("the source holds no theorem and no example")


def signature_key(signature: Signature) -> str:
    """The canonical text of a parsed statement."""
    if signature.type is None:
        raise SourceError("the theorem has no stated type")
    return _Telescope.read(signature).key()


@dataclass
class _Telescope:
    """A statement as leading variables, hypotheses in order, and a conclusion. Every bound name is made unique."""

    variables: dict[str, str]
    hypotheses: list[object]
    conclusion: object

    @classmethod
    def read(cls, signature: Signature) -> "_Telescope":
        reader = _Reader()
        scope: dict[str, str] = {}
        found = cls({}, [], None)
        for binder in signature.binders:
            found._bind(reader, binder, scope)
        term = signature.type
        while True:
            if isinstance(term, Forall):
                for binder in term.binders:
                    found._bind(reader, binder, scope)
                term = term.body
            elif isinstance(term, Arrow):
                found.hypotheses.append(reader.read(term.domain, scope))
                term = term.codomain
            elif isinstance(term, Unary) and term.op == "¬":
                found.hypotheses.append(reader.read(term.arg, scope))
                found.conclusion = _FALSE
                return found
            elif isinstance(term, BinOp) and term.op == "≠":
                found.hypotheses.append(("=", reader.read(term.lhs, scope), reader.read(term.rhs, scope)))
                found.conclusion = _FALSE
                return found
            else:
                assert term is not None
                found.conclusion = reader.read(term, scope)
                return found

    def _bind(self, reader: "_Reader", binder: Binder, scope: dict[str, str]) -> None:
        kind = "Nat" if binder.type is None else _kind(binder.type)
        if kind is None:
            assert binder.type is not None
            self.hypotheses.append(reader.read(binder.type, scope))
            return
        scope[binder.name] = reader.fresh()
        self.variables[scope[binder.name]] = kind

    def key(self) -> str:
        """Variables get numbers in the order in which hypotheses and conclusion mention them."""
        numbers: dict[str, str] = {}
        bound: dict[str, str] = {}

        def text(e: object) -> str:
            if isinstance(e, tuple):
                if e[0] in ("∀", "∃", "λ"):
                    bound[e[1]] = f"b{len(bound)}"
                return "(" + " ".join(text(a) for a in e) + ")"
            name = str(e)
            if name in bound:
                return bound[name]
            if name in self.variables:
                return numbers.setdefault(name, f"v{len(numbers)}")
            return name

        parts = []
        for formula in [*self.hypotheses, self.conclusion]:
            bound.clear()
            parts.append(text(formula))
        kinds = [self.variables[name] for name in numbers]
        return " ".join(kinds) + " | " + " → ".join(parts)


def _kind(type_: Term) -> str | None:
    """The type as text if it is one of data, predicates or propositions; None if it is itself a proposition."""
    match type_:
        case Ident("Nat" | "Bool" as name):
            return name
        case SortStx(kind):
            return kind
        case Arrow(domain, codomain):
            left, right = _kind(domain), _kind(codomain)
            return f"({left}→{right})" if left and right else None
    return None


class _Reader:
    """Turns syntax into nested tuples with unique names for everything that is bound."""

    def __init__(self) -> None:
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%{self.count}"

    def read(self, term: Term, scope: dict[str, str]) -> object:
        """The term as tuples; names in scope are replaced by their unique ones."""
        match term:
            case Ident(name):
                head, dot, rest = name.partition(".")
                return scope.get(name) or (scope[head] + dot + rest if head in scope else name)
            case Num(value):
                return str(value)
            case SortStx(kind):
                return kind
            case TypeAscription(inner, _):
                return self.read(inner, scope)
            case AppStx(fn, args):
                return (self.read(fn, scope), *(self.read(a, scope) for a in args if isinstance(a, Term)))
            case ProjStx(inner, field):
                return (".", self.read(inner, scope), str(field))
            case Arrow(domain, codomain):
                return ("→", self.read(domain, scope), self.read(codomain, scope))
            case Unary("¬", inner):
                return ("→", self.read(inner, scope), _FALSE)
            case BinOp("≠", left, right):
                return ("→", ("=", self.read(left, scope), self.read(right, scope)), _FALSE)
            case BinOp(">" | "≥" as op, left, right):
                return ("<" if op == ">" else "≤", self.read(right, scope), self.read(left, scope))
            case BinOp(op, left, right):
                return (op, self.read(left, scope), self.read(right, scope))
            case Forall(binders, body):
                return self._quantifier("∀", binders, body, scope)
            case Exists(binders, body):
                return self._quantifier("∃", binders, body, scope)
            case Fun(binders, body):
                return self._quantifier("λ", binders, body, scope)
        raise SourceError(f"statement_key does not know {type(term).__name__}")

    def _quantifier(self, head: str, binders: tuple[Binder, ...], body: Term, scope: dict[str, str]) -> object:
        if not binders:
            return self.read(body, scope)
        first, rest = binders[0], binders[1:]
        kind = "Nat" if first.type is None else _kind(first.type)
        if kind is None and first.type is not None and head == "∀":
            return ("→", self.read(first.type, scope), self._quantifier(head, rest, body, scope))
        name = self.fresh()
        return (head, name, kind or "?", self._quantifier(head, rest, body, {**scope, first.name: name}))
