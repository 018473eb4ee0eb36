"""`deriving DecidableEq, BEq, ..` and `@[ext]` of structures: Lean text that is written here, and read as any other.

The definitions are Lean's in name and in what they compute. Of the other classes nothing is made: what would need
their instances (`#eval`, `default`) is refused where it stands.
"""

from dataclasses import dataclass, replace

from nanolean.commands.declarations import run_declaration
from nanolean.commands.messages import CommandResult
from nanolean.elab.names import constant_name
from nanolean.env_state import EnvState, OpenScope
from nanolean.kernel.declaration import CtorInfo, InductiveInfo
from nanolean.kernel.expr import Const, Expr, Pi, Sort, collect_fvars, get_app_fn, instantiate
from nanolean.kernel.level import ZERO, LParam
from nanolean.kernel.typecheck import TypeChecker
from nanolean.meta.lctx import EMPTY_CONTEXT
from nanolean.parser import parse_commands
from nanolean.printer import pp_expr
from nanolean.proof_errors import ElabError, ProofError
from nanolean.syntax import DefCmd, DerivingCmd, Node, TheoremCmd

WITHOUT_EFFECT = ("Repr", "Inhabited", "Nonempty", "Hashable", "Ord", "ReflBEq", "LawfulBEq", "SizeOf", "ToExpr")


@dataclass(frozen=True)
class Field:
    """An explicit field of a constructor: a proof, or a part of the type itself (`tail` of a list), or another."""

    name: str
    is_proof: bool
    recurs: bool
    depends: bool
    """Whether its type mentions another field."""


class Family:
    """An inductive type without indices, taken apart for the texts about it."""

    def __init__(self, state: EnvState, name: str, at: Node, class_name: str) -> None:
        self.env, self.name, self.at, self.class_name = state.env, name, at, class_name
        info = state.get(name)
        if not isinstance(info, InductiveInfo):
            raise ElabError(f"`{name}` is not an inductive type", at.pos, at.end)
        self.info = info
        prefix, _, self.last = name.rpartition(".")
        self.prefix = f"{prefix}." if prefix else ""
        checker = TypeChecker(state.env)
        self.params: list[Expr] = []
        self.binders = ""
        type_: Expr = info.type
        for i in range(info.num_params):
            assert isinstance(type_, Pi)
            if not isinstance(type_.type, Sort):
                raise self.refused()
            self.params.append(checker.open_local(type_.type))
            self.binders += f" {{p{i} : {pp_expr(type_.type, EMPTY_CONTEXT, state.env)}}}"
            type_ = instantiate(type_.body, self.params[-1])
        # As Lean's handlers: families with indices are another story, and proofs are all equal.
        if not isinstance(type_, Sort) or type_.level is ZERO:
            raise self.refused()
        self.type = f"_root_.{name}" + "".join(f" p{i}" for i in range(info.num_params))
        levels = [LParam(level) for level in info.level_params]
        self.ctors = {ctor: self._fields(checker, ctor, tuple(levels)) for ctor in info.ctors}

    def _fields(self, checker: TypeChecker, ctor: str, levels: tuple[LParam, ...]) -> list[Field]:
        info = self.env[ctor]
        assert isinstance(info, CtorInfo)
        type_ = info.type_at(levels)
        for param in self.params:
            assert isinstance(type_, Pi)
            type_ = instantiate(type_.body, param)
        fields: list[Field] = []
        own: set[str] = set()
        while isinstance(type_, Pi):
            if type_.info != "default":
                raise self.refused()
            head, is_proof = get_app_fn(type_.type), checker.sort_of(type_.type) is ZERO
            recurs = isinstance(head, Const) and head.name == self.name
            fields.append(Field(type_.name, is_proof, recurs, bool(own & collect_fvars(type_.type).keys())))
            local = checker.open_local(type_.type)
            own.add(local.id)
            type_ = instantiate(type_.body, local)
        return fields

    def refused(self) -> ElabError:
        """Return Lean's error for a type that a class has no handler for."""
        text = f"None of the deriving handlers for class `{self.class_name}` applied to `{self.name}`"
        return ElabError(text, self.at.pos, self.at.end)

    @property
    def head(self) -> str:
        """Universes and parameters of the definitions, with equality decided on the parameters."""
        levels = f".{{{', '.join(self.info.level_params)}}}" if self.info.level_params else ""
        instances = "".join(f" [DecidableEq p{i}]" for i in range(self.info.num_params))
        return f"{levels}{self.binders}{instances}"

    def patterns(self, ctor: str, letter: str) -> str:
        """The constructor with variables for its fields."""
        names = "".join(f" {letter}{i}" for i in range(len(self.ctors[ctor])))
        return f".{ctor.rpartition('.')[2]}{names}"


def decidable_eq(family: Family) -> list[str]:
    """Return the texts for `deriving DecidableEq`."""
    name = f"_root_.{family.prefix}instDecidableEq{family.last}"
    text = f"def {name}.decEq{family.head} : (x y : {family.type}) → Decidable (x = y)\n"
    for ctor, fields in family.ctors.items():
        for other in family.ctors:
            value = "isFalse nofun"
            if other == ctor:
                value = _compare(name, fields)
            text += f"  | {family.patterns(ctor, 'a')}, {family.patterns(other, 'b')} => {value}\n"
    return [text, f"def {name}{family.head} : DecidableEq ({family.type}) := fun x y => {name}.decEq x y"]


def _compare(name: str, fields: list[Field]) -> str:
    places = [i for i, field in enumerate(fields) if not field.is_proof]
    value = f"isTrue (by {''.join(f'subst h{i}; ' for i in places)}rfl)"
    for i in reversed(places):
        no = f"isFalse (fun h => h{i} (by injection h))"
        if fields[i].recurs:
            value = f"(match {name}.decEq a{i} b{i} with | isTrue h{i} => {value} | isFalse h{i} => {no})"
        else:
            value = f"(if h{i} : a{i} = b{i} then {value} else {no})"
    return value


def boolean_eq(family: Family) -> list[str]:
    """Return the text for `deriving BEq`."""
    name = f"_root_.{family.prefix}instBEq{family.last}.beq"
    text = f"def {name}{family.head} : {family.type} → {family.type} → Bool\n"
    for ctor, fields in family.ctors.items():
        tests: list[str] = []
        for i, field in enumerate(fields):
            if not field.is_proof:
                tests.append(f"{name} a{i} b{i}" if field.recurs else f"(a{i} == b{i})")
        value = " && ".join(tests) or "true"
        text += f"  | {family.patterns(ctor, 'a')}, {family.patterns(ctor, 'b')} => {value}\n"
    return [text if len(family.ctors) == 1 else f"{text}  | _, _ => false"]


def extensionality(family: Family) -> list[str]:
    """Return the texts for `@[ext]` of a structure."""
    levels = f".{{{', '.join(family.info.level_params)}}}" if family.info.level_params else ""
    ((ctor, fields),) = family.ctors.items()
    parts = [field.name for field in fields if not field.is_proof]
    if any(field.depends and not field.is_proof for field in fields):
        raise ElabError("`@[ext]` of a structure with dependent fields is not supported", family.at.pos, family.at.end)
    stated = f"{levels}{family.binders} {{x' y' : {family.type}}}"
    cases = [f"cases {var}' with | {family.patterns(ctor, letter)[1:]} =>\n  " for var, letter in ("xa", "yb")]
    steps = [f"have h{i} : a{i} = b{i} := {field.name}\n  " for i, field in enumerate(fields) if not field.is_proof]
    uses = [f"subst h{i}\n  " for i, field in enumerate(fields) if not field.is_proof]
    given = "".join(f" ({part} : x'.{part} = y'.{part})" for part in parts)
    proof = f"by\n  {''.join([*cases, *steps, *uses])}rfl"
    texts = [f"theorem _root_.{family.name}.ext{stated}{given} : x' = y' := {proof}"]
    if parts:
        both = " ∧ ".join(f"x'.{part} = y'.{part}" for part in parts)
        rest = ["h" + ".2" * i + (".1" if i < len(parts) - 1 else "") for i in range(len(parts))]
        back = f"fun h => _root_.{family.name}.ext {' '.join(rest)}"
        there = "fun h => h ▸ " + ("rfl" if len(parts) == 1 else f"⟨{', '.join('rfl' for _ in parts)}⟩")
        texts.append(f"theorem _root_.{family.name}.ext_iff{stated} : x' = y' ↔ {both} := ⟨{there}, {back}⟩")
    return texts


HANDLERS = {"DecidableEq": decidable_eq, "BEq": boolean_eq, "ext": extensionality}


def derive(result: CommandResult, name: str, class_name: str, at: Node) -> None:
    """Declare what a class, or the attribute `ext`, asks for."""
    if class_name in WITHOUT_EFFECT:
        return
    if class_name not in HANDLERS:
        text = f"No deriving handlers have been implemented for class `{class_name}`"
        raise ElabError(text, at.pos, at.end)
    family = Family(result.state, name, at, class_name)
    # Where nothing is open: no name in the texts may mean another thing than here.
    scopes = result.state.scopes
    state = replace(result.state, scopes=(OpenScope("", "", ""),))
    for text in HANDLERS[class_name](family):
        inner = CommandResult(state, text)
        for command in parse_commands(text):
            assert isinstance(command, DefCmd | TheoremCmd)
            try:
                run_declaration(inner, command)
            except ProofError:
                raise family.refused() from None
        # A field has a type of which nothing decides equality, such as functions.
        if inner.has_errors:
            raise family.refused()
        state = inner.state
    result.state = replace(state, scopes=scopes)
    if class_name == "ext":
        result.state = result.state.with_attribute("ext", f"{name}.ext")
    elif class_name == "BEq":
        result.state = result.state.with_attribute("instance", f"{family.prefix}instBEq{family.last}.beq")


def run_deriving(result: CommandResult, cmd: DerivingCmd) -> None:
    """Run `deriving instance C for T`."""
    for written in cmd.names:
        for class_name in cmd.classes:
            derive(result, constant_name(result.state, written), class_name, cmd)
