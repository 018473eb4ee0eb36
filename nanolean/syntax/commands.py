"""Commands and the declarations that they hold."""

from dataclasses import field

from nanolean.syntax.terms import Binder, Command, Node, Term


class Modifiers(Node):
    """What stands before a declaration: attribute names (`simp`, `reducible`, ...), words such as `protected`, text."""

    attributes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    doc: str | None = None


class Signature(Node):
    """`name.{u} (a : A) : T`. `name` is None for `example`, whose span is then the word `example`; `type` is None when
    it is left out. `pos:end` spans the name: messages about the whole declaration point there."""

    name: str | None
    level_params: tuple[str, ...]
    binders: tuple[Binder, ...]
    type: Term | None
    groups: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False, kw_only=True)
    """Where the groups of binders, in brackets or bare names, begin and end."""
    type_span: tuple[int, int] | None = field(default=None, compare=False, repr=False, kw_only=True)
    stop: int = field(default=0, compare=False, repr=False, kw_only=True)
    """Where the whole signature ends."""


class TheoremCmd(Command):
    modifiers: Modifiers
    signature: Signature
    value: Term


class ExampleCmd(Command):
    modifiers: Modifiers
    signature: Signature
    value: Term


class DefCmd(Command):
    """`def` or (`abbrev` set) `abbrev`; the value is a term or the equations `| p => e`."""

    modifiers: Modifiers
    signature: Signature
    value: Term
    abbrev: bool = False


class AxiomCmd(Command):
    modifiers: Modifiers
    signature: Signature


class CtorStx(Node):
    """`| succ (n : Nat) : Nat`; the type is None when left out."""

    name: str
    binders: tuple[Binder, ...]
    type: Term | None


class InductiveCmd(Command):
    modifiers: Modifiers
    signature: Signature
    ctors: tuple[CtorStx, ...]
    deriving: tuple[str, ...] = ()


class StructureCmd(Command):
    """`structure S (p : A) : T where mk :: (x : B) ..`; `ctor` is `mk` when left out; fields are binders with types."""

    modifiers: Modifiers
    signature: Signature
    ctor: str
    fields: tuple[Binder, ...]
    deriving: tuple[str, ...] = ()


class DerivingCmd(Command):
    """`deriving instance C, D for T, U`."""

    classes: tuple[str, ...]
    names: tuple[str, ...]


class NamespaceCmd(Command):
    name: str


class SectionCmd(Command):
    name: str | None


class EndCmd(Command):
    name: str | None


class OpenCmd(Command):
    names: tuple[str, ...]
    scoped: bool = False
    """`open scoped A`: no names, only what is in force where `A` is open."""


class VariableCmd(Command):
    binders: tuple[Binder, ...]


class UniverseCmd(Command):
    names: tuple[str, ...]


class SetOptionCmd(Command):
    name: str
    value: bool | int | str


class IncludeCmd(Command):
    """`include x y`, and with `omit` set `omit x y`."""

    names: tuple[str, ...]
    omit: bool = False


class InCmd(Command):
    """`open A in cmd`: the first command holds for the second one alone."""

    first: Command
    second: Command


class AttributeCmd(Command):
    """`attribute [simp] a b`; an attribute to be erased starts with `-`."""

    attributes: tuple[str, ...]
    names: tuple[str, ...]


class PrintAxiomsCmd(Command):
    name: str


class PrintCmd(Command):
    name: str


class CheckCmd(Command):
    term: Term


class UnrunCmd(Command):
    """A command that only shows what Lean computes, which is nothing here: `#eval`."""

    word: str
