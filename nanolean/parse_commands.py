"""Commands: declarations, scopes and the few questions (`#print axioms`) that NanoLean answers."""

from collections.abc import Callable, Iterator

from nanolean import syntax as stx
from nanolean.lexer import COMMAND_WORDS, DOC, EOF, IDENT, NUM, ParseError
from nanolean.parse_binders import BRACKETS
from nanolean.parse_tactics import TacticParser

_MODIFIERS = (("private", "protected"), ("noncomputable",))
"""The words before a declaration in their order, at most one of each group."""


class CommandParser(TacticParser):
    """One method per form of command."""

    def commands(self) -> Iterator[stx.Command | ParseError]:
        """All commands; behind an error reading goes on at the next word that starts a command."""
        while self.kinds[self.i] != EOF:
            first = self.i
            self.depth, self.column = 0, 0
            try:
                yield self.command()
            except ParseError as error:
                yield error
                self.i = max(self.i, first + 1) if self.kinds[first] != EOF else first
                while self.kinds[self.i] != EOF and not self.at_command():
                    self.i += 1

    def at_command(self) -> bool:
        return self.texts[self.i] in COMMAND_WORDS or self.texts[self.i] == "@[" or self.kinds[self.i] == DOC

    def command(self) -> stx.Command:
        self.enter()
        start, text = self.pos(), self.texts[self.i]
        scope_form = _SCOPE_FORMS.get(text)
        if scope_form is not None:
            self.i += 1
            command = scope_form(self, start)
        else:
            modifiers = self.modifiers()
            form = _DECLARATION_FORMS.get(self.texts[self.i])
            if form is None:
                if self.texts[self.i] in COMMAND_WORDS:
                    self.refuse(f"the command `{self.texts[self.i]}` is")
                self.fail("command")
            self.i += 1
            command = form(self, start, modifiers)
        self.depth -= 1
        return command

    # --- declarations

    def modifiers(self) -> stx.Modifiers:
        start = self.pos()
        doc = None
        if self.kinds[self.i] == DOC:
            doc = self.texts[self.i]
            self.i += 1
        attributes = self.attributes() if self.accept("@[") else ()
        words = [self.texts[self.i - 1] for group in _MODIFIERS if self.accept(*group)]
        return stx.Modifiers(attributes, tuple(words), doc, pos=start, end=self.last_end())

    def attributes(self) -> tuple[str, ...]:
        """`simp, -foo]`; the cursor is behind the opening bracket."""
        names: list[str] = []
        while not names or self.accept(","):
            minus = "-" if self.accept("-") else ""
            names.append(minus + self.name("name of an attribute"))
        self.expect("]")
        return tuple(names)

    def signature(self, named: bool = True, typed: bool = False) -> stx.Signature:
        """`name.{u} (a : A) : T`; the type must be there if `typed`."""
        start, end = (self.pos(), self.ends[self.i]) if named else (self.starts[self.i - 1], self.ends[self.i - 1])
        name = self.name("name of the declaration") if named else None
        level_params: list[str] = []
        if self.accept(".{"):
            while not level_params or self.accept(","):
                level_params.append(self.binder_name())
            self.expect("}")
        binders = self.signature_binders()
        if typed and self.texts[self.i] != ":":
            self.fail("':'")
        type_ = self.term() if self.accept(":") else None
        return stx.Signature(name, tuple(level_params), binders, type_, pos=start, end=end)

    def value(self) -> stx.Term:
        """`:= e` or the equations `| p => e`."""
        start = self.pos()
        if self.texts[self.i] == "|":
            value: stx.Term = stx.FunAlts(self.match_alternatives(), pos=start, end=self.last_end())
        else:
            if not self.accept(":="):
                self.fail("':=' or '|'")
            value = self.term()
        if self.texts[self.i] in ("where", "termination_by", "decreasing_by", "deriving"):
            self.refuse(f"`{self.texts[self.i]}` after a declaration is")
        return value

    def theorem(self, start: int, modifiers: stx.Modifiers) -> stx.Command:
        signature = self.signature(typed=True)
        return stx.TheoremCmd(modifiers, signature, self.value(), pos=start, end=self.last_end())

    def example(self, start: int, modifiers: stx.Modifiers) -> stx.Command:
        signature = self.signature(named=False)
        return stx.ExampleCmd(modifiers, signature, self.value(), pos=start, end=self.last_end())

    def definition(self, start: int, modifiers: stx.Modifiers) -> stx.Command:
        abbrev = self.texts[self.i - 1] == "abbrev"
        signature = self.signature()
        return stx.DefCmd(modifiers, signature, self.value(), abbrev, pos=start, end=self.last_end())

    def axiom(self, start: int, modifiers: stx.Modifiers) -> stx.Command:
        return stx.AxiomCmd(modifiers, self.signature(typed=True), pos=start, end=self.last_end())

    def inductive(self, start: int, modifiers: stx.Modifiers) -> stx.Command:
        signature = self.signature()
        self.accept("where")
        ctors: list[stx.CtorStx] = []
        while self.texts[self.i] == "|" or (self.kinds[self.i] == DOC and self.texts[self.i + 1] == "|"):
            self.i += 1 if self.texts[self.i] == "|" else 2
            ctor_start = self.pos()
            name = self.name("name of a constructor")
            binders = self.signature_binders()
            type_ = self.term() if self.accept(":") else None
            ctors.append(stx.CtorStx(name, binders, type_, pos=ctor_start, end=self.last_end()))
        if self.texts[self.i] == "deriving":
            self.refuse("`deriving` is")
        return stx.InductiveCmd(modifiers, signature, tuple(ctors), pos=start, end=self.last_end())

    def structure(self, start: int, modifiers: stx.Modifiers) -> stx.Command:
        signature = self.signature()
        if self.texts[self.i] == "extends":
            self.refuse("`extends` is")
        ctor = "mk"
        fields: tuple[stx.Binder, ...] = ()
        if self.accept("where"):
            if self.kinds[self.i] == IDENT and self.texts[self.i + 1] == "::":
                ctor = self.binder_name()
                self.i += 1
            fields = self.structure_fields()
        if self.texts[self.i] == "deriving":
            self.refuse("`deriving` is")
        return stx.StructureCmd(modifiers, signature, ctor, fields, pos=start, end=self.last_end())

    def structure_fields(self) -> tuple[stx.Binder, ...]:
        """`x y : A` in lines of one column, or groups in brackets."""
        self.column = self.cols[self.i]
        fields: list[stx.Binder] = []
        while True:
            if self.kinds[self.i] == DOC:
                self.i += 1
            if self.texts[self.i] in BRACKETS:
                fields.extend(self.bracketed_binders())
            elif self.at_binder_name():
                names = [self.bare_binder()]
                while self.at_binder_name():
                    names.append(self.bare_binder())
                self.expect(":")
                type_ = self.term()
                fields.extend(stx.Binder(b.name, type_, pos=b.pos, end=b.end) for b in names)
            else:
                return tuple(fields)

    # --- scopes and questions

    def namespace(self, start: int) -> stx.Command:
        return stx.NamespaceCmd(self.name(), pos=start, end=self.last_end())

    def section(self, start: int) -> stx.Command:
        name = self.name() if self.kinds[self.i] == IDENT else None
        return stx.SectionCmd(name, pos=start, end=self.last_end())

    def end(self, start: int) -> stx.Command:
        name = self.name() if self.kinds[self.i] == IDENT else None
        return stx.EndCmd(name, pos=start, end=self.last_end())

    def open(self, start: int) -> stx.Command:
        names = [self.name("namespace")]
        while self.kinds[self.i] == IDENT:
            if self.texts[self.i] in ("hiding", "renaming"):
                self.refuse(f"`open .. {self.texts[self.i]}` is")
            names.append(self.name())
        if self.texts[self.i] == "(":
            self.refuse("`open` of single names is")
        inner = self.command() if self.accept("in") else None
        return stx.OpenCmd(tuple(names), inner, pos=start, end=self.last_end())

    def variable(self, start: int) -> stx.Command:
        binders: list[stx.Binder] = []
        while self.texts[self.i] in BRACKETS:
            binders.extend(self.bracketed_binders())
        if not binders:
            self.fail("'('")
        return stx.VariableCmd(tuple(binders), pos=start, end=self.last_end())

    def universe(self, start: int) -> stx.Command:
        names = self.binder_names()
        if not names:
            self.fail("identifier")
        return stx.UniverseCmd(names, pos=start, end=self.last_end())

    def set_option(self, start: int) -> stx.Command:
        name = self.name("name of an option")
        value: bool | int
        if self.accept("true", "false"):
            value = self.texts[self.i - 1] == "true"
        elif self.kinds[self.i] == NUM and len(self.texts[self.i]) < 20:
            value = int(self.texts[self.i])
            self.i += 1
        else:
            self.fail("'true', 'false' or a numeral")
        inner = self.command() if self.accept("in") else None
        return stx.SetOptionCmd(name, value, inner, pos=start, end=self.last_end())

    def attribute(self, start: int) -> stx.Command:
        self.expect("[")
        attributes = self.attributes()
        names = [self.name()]
        while self.kinds[self.i] == IDENT:
            names.append(self.name())
        return stx.AttributeCmd(attributes, tuple(names), pos=start, end=self.last_end())

    def print(self, start: int) -> stx.Command:
        axioms = self.texts[self.i] == "axioms" and self.kinds[self.i + 1] == IDENT
        if axioms:
            self.i += 1
        node = stx.PrintAxiomsCmd if axioms else stx.PrintCmd
        return node(self.name(), pos=start, end=self.last_end())

    def check(self, start: int) -> stx.Command:
        return stx.CheckCmd(self.term(), pos=start, end=self.last_end())


_DECLARATION_FORMS: dict[str, Callable[[CommandParser, int, stx.Modifiers], stx.Command]] = {
    "theorem": CommandParser.theorem,
    "example": CommandParser.example,
    "def": CommandParser.definition,
    "abbrev": CommandParser.definition,
    "axiom": CommandParser.axiom,
    "inductive": CommandParser.inductive,
    "structure": CommandParser.structure,
}
_SCOPE_FORMS: dict[str, Callable[[CommandParser, int], stx.Command]] = {
    "namespace": CommandParser.namespace,
    "section": CommandParser.section,
    "end": CommandParser.end,
    "open": CommandParser.open,
    "variable": CommandParser.variable,
    "universe": CommandParser.universe,
    "set_option": CommandParser.set_option,
    "attribute": CommandParser.attribute,
    "#print": CommandParser.print,
    "#check": CommandParser.check,
}
