"""A canonical text for a theorem's statement: equal for statements that differ only in names or in how they are bound.

Held-out statements must not be trained on under another name, so the key looks through: names of variables,
hypotheses and bound variables; whether something is bound before the colon, by `∀` or by `→`; grouping and order of
the leading variables, and variables that nothing mentions; notation, implicit arguments and universes; `¬p` for
`p → False`, `a ≠ b` for `¬a = b`, `a > b` and `a ≥ b` for `b < a` and `b ≤ a`. The order of hypotheses counts.
It is computed from the statement as NanoLean elaborates it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property

from nanolean.commands.messages import LineMap
from nanolean.data.problem import Step
from nanolean.data.replay import library, read_statement
from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import Constants, TheoremInfo
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
from nanolean.library.loader import library_files
from nanolean.parser import parse_commands
from nanolean.syntax import BulletStx, By, CasesStx, InductionAlt, InductionStx, Tactic, TacticSeq, Term, TheoremCmd

_FALSE = Const("False")
_TURNED = {"Nat.gt": "Nat.lt", "Nat.ge": "Nat.le"}
_PLAIN = {"Not": 1, "Ne": 3, **dict.fromkeys(_TURNED, 2)}
"""What is said in other words, with the number of arguments."""


class StatementError(Exception):
    """A text that states no theorem that elaborates, so that it has no key."""


def statement_key(source: str) -> str:
    """Return the canonical text of the last theorem of the source, over the library.

    Raises `StatementError` for text that holds none or does not elaborate.
    """
    return type_key(*elaborated(source))


def shape_key(source: str) -> str:
    """Return the key of the last theorem of the source with numbers for the names that the source itself declares.

    Equal for theorems about definitions that differ in their names, and for some whose definitions differ: what is kept
    out by it is at least all that says the same. Raises `StatementError` as `statement_key` does.
    """
    env, type_ = elaborated(source)
    return type_key(env, type_, declared_in(env))


def declared_in(env: Constants) -> frozenset[str]:
    """Return the names that an environment has and the library lacks."""
    known = library().env
    return frozenset(info.name for info in env if known.get(info.name) is None)


def elaborated(source: str) -> tuple[Constants, Expr]:
    """Elaborate the last theorem of the source over the library; returns the environment and the statement.

    Raises `StatementError` for text that holds none or does not elaborate.
    """
    result = read_statement(source)
    for message in result.messages:
        if message.severity == "error":
            line, column = LineMap(source).place(message.pos)
            raise StatementError(f"line {line}, column {column}: {message.text}")
    names = [command.signature.name for command in parse_commands(source) if isinstance(command, TheoremCmd)]
    if not names:
        raise StatementError("the source holds no theorem")
    env = result.state.env
    return env, env[str(names[-1])].type


def library_keys() -> frozenset[str]:
    """Return the canonical texts of all theorems of the library."""
    env = library().env
    return frozenset(type_key(env, info.type) for info in env if isinstance(info, TheoremInfo))


def type_key(env: Constants, type_: Expr, nameless: frozenset[str] = frozenset()) -> str:
    """Return the canonical text of a closed proposition; constants in `nameless` are numbered as they are mentioned."""
    types: dict[str, Expr] = {}
    hypotheses: list[Expr] = []
    conclusion = replace(type_, _plain)
    while isinstance(conclusion, Pi):
        local = FVar(f"#{len(types)}")
        if _binds_a_proof(env, types, conclusion.type):
            hypotheses.append(conclusion.type)
        types[local.id] = conclusion.type
        conclusion = instantiate(conclusion.body, local)
    reader = _Reader(types, nameless)
    parts = [reader.text(formula) for formula in [*hypotheses, conclusion]]
    return " ".join(reader.kinds()) + " | " + " → ".join(parts)


def _binds_a_proof(env: Constants, types: dict[str, Expr], type_: Expr) -> bool:
    try:
        return TypeChecker(env, {name: (kind, None) for name, kind in types.items()}).is_prop(type_)
    except KernelError as error:
        raise StatementError(f"the statement cannot be read: {error}") from error


def _plain(e: Expr) -> Expr | None:
    """Negations as implications, relations turned one way."""
    fn, args = get_app_fn_args(e)
    if fn.__class__ is not Const or _PLAIN.get(fn.name) != len(args):
        return None
    args = [replace(arg, _plain) for arg in args]
    if fn.name == "Not":
        return arrow(args[0], _FALSE)
    if fn.name == "Ne":
        return arrow(mk_app(Const("Eq", fn.levels), *args), _FALSE)
    return mk_app(Const(_TURNED[fn.name]), args[1], args[0])


@dataclass
class _Reader:
    """Terms as text; leading variables get numbers in the order in which they are mentioned."""

    types: dict[str, Expr]
    nameless: frozenset[str] = frozenset()
    numbers: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)

    def kinds(self) -> list[str]:
        """Return the types of the mentioned variables, by number; a type may mention further variables."""
        kinds: list[str] = []
        while len(kinds) < len(self.numbers):
            kinds.append(self.text(self.types[list(self.numbers)[len(kinds)]]))
        return kinds

    def text(self, e: Expr) -> str:
        """Render the term with implicit arguments, without names and universes; bound variables are indices."""
        match e:
            case FVar(name):
                return self.numbers.setdefault(name, f"v{len(self.numbers)}")
            case BVar(index):
                return f"#{index}"
            case Const(name, _):
                if name in self.nameless:
                    return self.constants.setdefault(name, f"D{len(self.constants)}")
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
        raise StatementError(f"the statement holds {e}")


UNIVERSES = "universe u v w"
NO_DATA = ("26_data.lean",)
"""Files of the library that came after the data sets: their proofs are no training data, so that the sets stay."""


@dataclass(frozen=True)
class Entry:
    """A theorem with its proof by tactics; `source` states it with `sorry`."""

    name: str
    source: str
    proof: Step

    @cached_property
    def key(self) -> str:
        """What is equal for equal statements."""
        return statement_key(f"{UNIVERSES}\n{self.renamed_source()}")

    def renamed_source(self) -> str:
        """Return the statement as a theorem of this name."""
        statement = self.source.split(" ", 1 if self.source.startswith("example ") else 2)[-1]
        return f"theorem {self.name} {statement}"


class NotSingleTactics(Exception):
    """A proof that cannot be taken apart into single tactics on one line each."""


def library_proofs() -> Iterator[Entry]:
    """Yield the tactic proofs of the library in order."""
    for path in library_files():
        if path.name in NO_DATA:
            continue
        for entry in tactic_proofs(path.read_text(encoding="utf-8")):
            yield Entry(entry.name, f"{UNIVERSES}\n{entry.source}", entry.proof)


def tactic_proofs(text: str) -> Iterator[Entry]:
    """Yield the proofs of a file, stated as examples, but for those with several lines of tactics inside of a term."""
    for command in _theorems(text):
        if isinstance(command.value, tuple):
            continue  # proved by equations
        statement = text[command.signature.end : command.value.pos].rstrip().removesuffix(":=").strip()
        try:
            if isinstance(command.value, By):
                proof = _steps(command.value.tactics, text)
            else:
                proof = Step("exact " + _one_line(command.value, text))
        except NotSingleTactics:
            continue
        source = f"example {statement} := by\n  sorry"
        yield Entry(command.signature.name or "", source, proof)


def _theorems(text: str) -> Iterator[TheoremCmd]:
    for command in parse_commands(text):
        if isinstance(command, TheoremCmd):
            yield command


def proof_of(command: TheoremCmd, text: str) -> Step:
    """Return a theorem's proof by tactics as a tree. Raises `NotSingleTactics`."""
    if not isinstance(command.value, By):
        raise NotSingleTactics
    return _steps(command.value.tactics, text)


def _steps(seq: TacticSeq, text: str) -> Step:
    """A sequence as a tree: bullets after a tactic prove the goals that it left, what follows proves the last one."""
    tactics = list(seq.tactics)
    if not tactics or isinstance(tactics[0], BulletStx):
        raise NotSingleTactics
    first, rest = tactics[0], tactics[1:]
    if isinstance(first, CasesStx | InductionStx) and first.alts is not None:
        if rest:
            raise NotSingleTactics
        return _structured(first, first.alts, text)
    bullets: list[Step] = []
    while rest and isinstance(rest[0], BulletStx):
        bullet = rest.pop(0)
        assert isinstance(bullet, BulletStx)
        bullets.append(_steps(bullet.tactics, text))
    if rest:
        bullets.append(_steps(TacticSeq(tuple(rest)), text))
    return Step(_one_line(first, text), tuple(bullets))


def _structured(tactic: CasesStx | InductionStx, alts: tuple[InductionAlt, ...], text: str) -> Step:
    """`induction n with | zero => .. | succ n ih => ..` as one tactic whose alternatives are new goals."""
    head = " ".join(text[tactic.pos : alts[0].pos].split()).removesuffix("|").rstrip()
    parts = [head]
    children = []
    for alt in alts:
        if not isinstance(alt.rhs, TacticSeq) or alt.explicit:
            raise NotSingleTactics
        parts.append("| " + " ".join([alt.ctor, *alt.names]) + " => ?_")
        children.append(_steps(alt.rhs, text))
    return Step(" ".join(parts), tuple(children))


def _one_line(node: Tactic | Term, text: str) -> str:
    """The text of a tactic or term; lines are joined where that changes nothing: no block in it is longer than one."""
    written = text[node.pos : node.end].strip()
    if "\n" in written and any(len(block.tactics) > 1 for block in _blocks(node)):
        raise NotSingleTactics
    return " ".join(written.split())


def _blocks(node: object) -> Iterator[TacticSeq]:
    """The tactic blocks inside of a piece of syntax."""
    if isinstance(node, TacticSeq):
        yield node
    if is_dataclass(node):
        for field in fields(node):
            yield from _blocks(getattr(node, field.name))
    elif isinstance(node, tuple):
        for part in node:
            yield from _blocks(part)
