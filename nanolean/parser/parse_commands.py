"""Tactic blocks, and commands: declarations, scopes and the few questions that NanoLean answers."""

from collections.abc import Callable, Iterator

from nanolean import syntax as stx
from nanolean.parser.lexer import (
    COMMAND_WORDS,
    DOC,
    EOF,
    FIELD,
    IDENT,
    MATHLIB,
    NO_COLUMN,
    NUM,
    UNSUPPORTED,
    ParseError,
)
from nanolean.parser.parse_forms import BRACKETS
from nanolean.parser.parse_tactics import ContextParser


class TacticParser(ContextParser):
    """One method per form of tactic; each starts behind the tactic's own word, whose offset is `start`."""

    # --- blocks

    def tactic_block(self) -> stx.TacticSeq:
        """After `by`: nested blocks are indented, the outermost need not be; an empty block leaves its goal open."""
        if not self.at_tactic():
            return stx.TacticSeq((), pos=self.last_end(), end=self.last_end())
        if not self.indented() and (self.in_block or self.column != 0):
            self.fail("'{' or an indented tactic sequence")
        return self.tactic_seq()

    def tactic_seq(self) -> stx.TacticSeq:
        """Tactics of one column, at least one; `{ .. }` in front is the whole sequence."""
        self.enter()
        start = self.pos()
        column, self.column = self.column, self.cols[self.i]
        in_block, self.in_block = self.in_block, True
        # Behind `by` a `·` is a bullet.
        cdots, self.cdots = self.cdots, None
        if self.texts[self.i] == "{":
            tactics = [self.tactic_form()]
        else:
            tactics = [self.tactic()]
            # Lean's `sepByIndent`: a tactic on a new line is of this block if it stands in the column of the first.
            while self.accept(";") or (self.at_next_line() and self.at_tactic()):
                # Its `allowTrailingSep`: a semicolon may end the block, whose lines do not begin left of it.
                if self.cols[self.i] < self.column or not (self.at_tactic() or self.texts[self.i] in UNSUPPORTED):
                    break
                tactics.append(self.tactic())
        self.column, self.in_block, self.cdots = column, in_block, cdots
        self.depth -= 1
        return stx.TacticSeq(tuple(tactics), pos=start, end=self.last_end())

    def at_next_line(self) -> bool:
        return self.cols[self.i] == self.column and self.on_new_line()

    def at_tactic(self) -> bool:
        return self.texts[self.i] in _TACTICS or self.texts[self.i] == "." or self.kinds[self.i] in (IDENT, FIELD)

    def tactic(self) -> stx.Tactic:
        """Parse one tactic with the `<;>` behind it."""
        start = self.pos()
        tactic = self.tactic_form()
        chain = 0
        while self.accept("<;>"):
            chain += 1
            self.check_chain(chain)
            # To the left: `t <;> u <;> v` is `(t <;> u) <;> v`.
            tactic = stx.AndThenStx(tactic, self.tactic_form(), pos=start, end=self.last_end())
        return tactic

    def tactic_form(self) -> stx.Tactic:
        start = self.pos()
        if self.kinds[self.i] == FIELD:  # `.exact h`: a bullet without a space
            self.tokens.split_dot(self.i)
        text = self.texts[self.i]
        forms = _CONV if self.in_conv else _TACTICS
        form = forms.get("·" if text == "." else text)  # older files write the bullet as a full stop
        if form is None:
            if text in UNSUPPORTED:
                self.refuse(f"the tactic `{text}` is")
            if text in MATHLIB:
                raise self.tokens.error(f"unknown tactic: `{text}` is one of Mathlib, which NanoLean lacks", start)
            if self.kinds[self.i] == IDENT:
                raise self.tokens.error("unknown tactic", start)
            self.fail("tactic")
        self.i += 1
        return form(self, start)

    def bracketed_seq(self, close: str) -> stx.TacticSeq:
        # Brackets say where the block ends, and so columns outside of them do not (Lean's `withoutPosition`).
        column, self.column = self.column, NO_COLUMN
        tactics = self.tactic_seq()
        self.expect(close)
        self.column = column
        return tactics

    # --- goals and combinators

    def parenthesized(self, start: int) -> stx.Tactic:
        return stx.ParenStx(self.bracketed_seq(")"), pos=start, end=self.last_end())

    def braces(self, start: int) -> stx.Tactic:
        return stx.BraceStx(self.bracketed_seq("}"), pos=start, end=self.last_end())

    def infer_instance(self, start: int) -> stx.Tactic:
        return stx.ExactStx(stx.Ident("inferInstance", pos=start, end=self.last_end()), pos=start, end=self.last_end())

    def classical(self, start: int) -> stx.Tactic:
        """`classical` takes the lines behind it to the end of its block, or none, as before a semicolon."""
        here = self.last_end()
        if self.at_tactic() and self.cols[self.i] >= self.column:
            return stx.ClassicalStx(self.tactic_seq(), pos=start, end=self.last_end())
        return stx.ClassicalStx(stx.TacticSeq((), pos=here, end=here), pos=start, end=here)

    def case(self, start: int) -> stx.Tactic:
        closes = self.texts[self.i - 1] == "case"
        tags: list[tuple[str, tuple[str, ...]]] = []
        while not tags or self.accept("|"):
            tags.append((self.name_or_hole("case tag"), self.binder_names()))
        self.expect("=>")
        return stx.CaseStx(tuple(tags), self.tactic_seq(), closes, pos=start, end=self.last_end())

    def next(self, start: int) -> stx.Tactic:
        names = self.binder_names()
        self.expect("=>")
        return stx.NextStx(names, self.tactic_seq(), pos=start, end=self.last_end())

    def first(self, start: int) -> stx.Tactic:
        return stx.FirstStx(self.tactic_alternatives(), pos=start, end=self.last_end())

    def solve(self, start: int) -> stx.Tactic:
        return stx.SolveStx(self.tactic_alternatives(), pos=start, end=self.last_end())

    def tactic_alternatives(self) -> tuple[stx.TacticSeq, ...]:
        """`| t | u` at least once, none to the left of the first."""
        column, self.column = self.column, self.cols[self.i]
        if self.texts[self.i] != "|":
            self.fail("'|'")
        alts: list[stx.TacticSeq] = []
        while self.texts[self.i] == "|" and self.cols[self.i] >= self.column:
            self.i += 1
            alts.append(self.tactic_seq())
        self.column = column
        return tuple(alts)


_Form = Callable[[TacticParser, int], stx.Tactic]


def _word(node: Callable[..., stx.Tactic]) -> _Form:
    """A tactic that is one word."""
    return lambda parser, start: node(pos=start, end=parser.last_end())


def _with_term(node: Callable[..., stx.Tactic]) -> _Form:
    """A tactic that takes one term."""
    return lambda parser, start: node(parser.term(), pos=start, end=parser.last_end())


def _with_block(node: Callable[..., stx.Tactic]) -> _Form:
    """A tactic that takes a block."""
    return lambda parser, start: node(parser.tactic_seq(), pos=start, end=parser.last_end())


_TACTICS: dict[str, _Form] = {
    "intro": TacticParser.intro,
    "intros": TacticParser.intros,
    "rintro": TacticParser.rintro,
    "exact": _with_term(stx.ExactStx),
    "apply": _with_term(stx.ApplyStx),
    "refine": _with_term(stx.RefineStx),
    "specialize": _with_term(stx.SpecializeStx),
    "show": TacticParser.show_tactic,
    "change": TacticParser.change,
    "have": TacticParser.have,
    "let": TacticParser.have,
    "replace": TacticParser.replace,
    "suffices": TacticParser.suffices,
    "calc": TacticParser.calc_tactic,
    "conv": TacticParser.conv,
    "match": TacticParser.match_tactic,
    "if": TacticParser.if_tactic,
    "generalize": TacticParser.generalize,
    "exists": TacticParser.exists_terms,
    "by_cases": TacticParser.by_cases,
    "cases": TacticParser.cases,
    "induction": TacticParser.induction,
    "rcases": TacticParser.rcases,
    "obtain": TacticParser.obtain,
    "rw": TacticParser.rewrite,
    "rewrite": TacticParser.rewrite,
    "rwa": TacticParser.rwa,
    "simp": TacticParser.simp,
    "dsimp": TacticParser.dsimp,
    "simp_all": TacticParser.simp_all,
    "simpa": TacticParser.simpa,
    "unfold": TacticParser.unfold,
    "symm": TacticParser.symm,
    "split": TacticParser.split,
    "revert": TacticParser.revert,
    "rename_i": TacticParser.rename_i,
    "subst": TacticParser.subst,
    "subst_vars": _word(stx.SubstVarsStx),
    "injection": TacticParser.injection,
    "injections": TacticParser.injections,
    "clear": TacticParser.clear,
    "rename": TacticParser.rename,
    "nomatch": TacticParser.nomatch,
    "nofun": _word(stx.NofunStx),
    "funext": TacticParser.funext,
    "ext": TacticParser.ext,
    "ext1": TacticParser.ext,
    "congr": TacticParser.congr,
    "and_intros": _word(stx.AndIntrosStx),
    "rotate_left": TacticParser.rotate,
    "rotate_right": TacticParser.rotate,
    "assumption": _word(stx.AssumptionStx),
    "rfl": _word(stx.RflStx),
    "constructor": _word(stx.ConstructorStx),
    "left": _word(stx.LeftStx),
    "right": _word(stx.RightStx),
    "exfalso": _word(stx.ExfalsoStx),
    "contradiction": _word(stx.ContradictionStx),
    "decide": TacticParser.decide,
    "infer_instance": TacticParser.infer_instance,
    "classical": TacticParser.classical,
    "trivial": _word(stx.TrivialStx),
    "ac_rfl": _word(stx.AcRflStx),
    "omega": _word(stx.OmegaStx),
    "grind": TacticParser.grind,
    "sorry": _word(stx.SorryStx),
    "admit": _word(stx.SorryStx),
    "trace": TacticParser.trace,
    "skip": _word(stx.SkipStx),
    "done": _word(stx.DoneStx),
    "case": TacticParser.case,
    "case'": TacticParser.case,
    "next": TacticParser.next,
    "first": TacticParser.first,
    "solve": TacticParser.solve,
    "all_goals": _with_block(stx.AllGoalsStx),
    "any_goals": _with_block(stx.AnyGoalsStx),
    "focus": _with_block(stx.FocusStx),
    "try": _with_block(stx.TryStx),
    "repeat": _with_block(stx.RepeatStx),
    "repeat'": TacticParser.repeat_prime,
    "repeat1'": TacticParser.repeat_prime,
    "iterate": TacticParser.iterate,
    "fail_if_success": _with_block(stx.FailIfSuccessStx),
    "·": _with_block(stx.BulletStx),
    "(": TacticParser.parenthesized,
    "{": TacticParser.braces,
}


_CONV: dict[str, _Form] = {
    **dict.fromkeys(("lhs", "rhs", "arg"), TacticParser.conv_part),
    **dict.fromkeys(("intro", "ext", "funext"), TacticParser.conv_intro),
    "enter": TacticParser.conv_enter,
    "pattern": lambda parser, start: stx.ConvGoStx("pattern", term=parser.term(), pos=start, end=parser.last_end()),
    **{name: _TACTICS[name] for name in ("rw", "rewrite", "simp", "unfold", "change", "skip", "done", "rfl", "·", "(")},
}
"""What `conv` takes."""


_MODIFIERS = (("private", "protected"), ("noncomputable",))
"""The words before a declaration in their order, at most one of each group."""


class CommandParser(TacticParser):
    """One method per form of command."""

    begun = 0
    """The first token of the command that `commands` gave last."""

    def commands(self) -> Iterator[stx.Command | ParseError]:
        """Parse all commands; after an error parsing resumes at the next word that starts a command."""
        while self.kinds[self.i] != EOF:
            first = self.begun = self.i
            # Column 0 is where the next command begins: a term goes on to the right of it only.
            self.depth, self.column, self.in_block, self.in_conv, self.cdots = 0, 0, False, False, None
            try:
                yield self.command()
            except ParseError as error:
                yield error
                # As in Lean: one mistake, and on with the next command. At least one token is passed over, or it would
                # be the same mistake for ever.
                self.i = max(self.i, first + 1)
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
            # `noncomputable section`: what it says of code has no meaning here, as nothing is compiled.
            bare = not modifiers.attributes and modifiers.doc is None
            if bare and modifiers.words == ("noncomputable",) and self.accept("section"):
                self.depth -= 1
                return self.section(start)
            if form is None:
                if self.texts[self.i] in COMMAND_WORDS:
                    self.refuse(f"the command `{self.texts[self.i]}` is")
                self.fail("command")
            self.i += 1
            command = form(self, start, modifiers)
        # Any command may stand before `in`, as in Lean; what it declares would stay.
        if self.accept("in"):
            command = stx.InCmd(command, self.command(), pos=start, end=self.last_end())
        self.depth -= 1
        return command

    # --- declarations

    def modifiers(self) -> stx.Modifiers:
        start = self.pos()
        doc = None
        if self.kinds[self.i] == DOC:
            doc = self.texts[self.i]
            self.i += 1
        attributes = self.after("@[", self.attributes) or ()
        # In this order and no other, as Lean's `declModifiers` has them.
        words = [self.texts[self.i - 1] for group in _MODIFIERS if self.accept(*group)]
        return stx.Modifiers(attributes, tuple(words), doc, pos=start, end=self.last_end())

    def attributes(self) -> tuple[str, ...]:
        """`simp, -foo, local ext]`; the cursor is behind the opening bracket."""
        names: list[str] = []
        while not names or self.accept(","):
            before = ""
            if self.accept("-"):  # `-simp` takes an attribute away
                before = "-"
            elif self.accept("local"):
                before = "local "
            elif self.texts[self.i] == "scoped":
                self.refuse("a `scoped` attribute is")
            if not self.accept("instance"):
                names.append(before + self.name("name of an attribute"))
            elif self.accept("low") or (self.kinds[self.i] == NUM and self.small_number() < 1000):
                names.append(f"{before}low instance")  # an instance that states no priority has 1000
            else:
                names.append(f"{before}instance")
        self.expect("]")
        return tuple(names)

    def signature(self, named: bool = True, typed: bool = False) -> stx.Signature:
        """`name.{u} (a : A) : T`; the type must be there if `typed`."""
        name = None
        if named:
            name = self.name("name of the declaration")
        # Messages about a declaration stand at its name; those about an example at that word, which is before this.
        start, end = self.starts[self.i - 1], self.ends[self.i - 1]
        level_params: list[str] = []
        if self.accept(".{"):
            while not level_params or self.accept(","):
                level_params.append(self.binder_name())
            self.expect("}")
        groups: list[tuple[int, int]] = []
        binders = self.signature_binders(groups)
        if typed and self.texts[self.i] != ":":
            self.fail("':'")
        type_, type_span = None, None
        if self.accept(":"):
            type_start = self.pos()
            type_ = self.term()
            type_span = (type_start, self.last_end())
        return stx.Signature(
            name,
            tuple(level_params),
            binders,
            type_,
            groups=tuple(groups),
            type_span=type_span,
            stop=self.last_end(),
            pos=start,
            end=end,
        )

    def value(self) -> stx.Term:
        """`:= e` or the equations `| p => e`."""
        start = self.pos()
        if self.accept("where"):
            value: stx.Term = self.where_fields()
        elif self.texts[self.i] == "|":
            value = stx.FunAlts(self.match_alternatives(), pos=start, end=self.last_end())
        else:
            if not self.accept(":="):
                self.fail("':=' or '|'")
            value = self.term()
        # Each of them would change what is declared: passed over, another theorem would be proved than is written.
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
        # Lean takes it with or without.
        self.accept("where")
        ctors: list[stx.CtorStx] = []
        while self.texts[self.i] == "|" or (self.kinds[self.i] == DOC and self.texts[self.i + 1] == "|"):
            if self.kinds[self.i] == DOC:
                self.i += 1
            self.i += 1
            ctor_start = self.pos()
            name = self.name("name of a constructor")
            binders = self.signature_binders()
            type_ = self.after(":", self.term)
            ctors.append(stx.CtorStx(name, binders, type_, pos=ctor_start, end=self.last_end()))
        return stx.InductiveCmd(
            modifiers, signature, tuple(ctors), self.deriving_clause(), pos=start, end=self.last_end()
        )

    def deriving_clause(self) -> tuple[str, ...]:
        """Parse the optional `deriving A, B` behind a type."""
        # `deriving instance` is the next command.
        if self.texts[self.i] != "deriving" or self.texts[self.i + 1] == "instance":
            return ()
        self.i += 1
        return self.class_names()

    def class_names(self) -> tuple[str, ...]:
        names = [self.name("name of a class")]
        while self.accept(","):
            names.append(self.name("name of a class"))
        return tuple(names)

    def deriving(self, start: int) -> stx.Command:
        self.expect("instance")
        classes = self.class_names()
        self.expect("for")
        return stx.DerivingCmd(classes, self.class_names(), pos=start, end=self.last_end())

    def structure(self, start: int, modifiers: stx.Modifiers) -> stx.Command:
        signature = self.signature()
        if self.texts[self.i] == "extends":
            self.refuse("`extends` is")
        ctor = "mk"
        fields: tuple[stx.Binder, ...] = ()
        if self.accept("where"):
            # `where mk :: (x : Nat)` names the constructor.
            if self.kinds[self.i] == IDENT and self.texts[self.i + 1] == "::":
                ctor = self.binder_name()
                self.i += 1
            fields = self.structure_fields()
        return stx.StructureCmd(
            modifiers, signature, ctor, fields, self.deriving_clause(), pos=start, end=self.last_end()
        )

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

    def optional_name(self) -> str | None:
        return self.name() if self.kinds[self.i] == IDENT else None

    def section(self, start: int) -> stx.Command:
        return stx.SectionCmd(self.optional_name(), pos=start, end=self.last_end())

    def end(self, start: int) -> stx.Command:
        return stx.EndCmd(self.optional_name(), pos=start, end=self.last_end())

    def open(self, start: int) -> stx.Command:
        scoped = self.accept("scoped")
        names = [self.name("namespace")]
        while self.kinds[self.i] == IDENT:
            names.append(self.name())
        if self.texts[self.i] in ("hiding", "renaming"):
            self.refuse(f"`open .. {self.texts[self.i]}` is")
        if self.texts[self.i] == "(":
            self.refuse("`open` of single names is")
        return stx.OpenCmd(tuple(names), scoped, pos=start, end=self.last_end())

    def include(self, start: int) -> stx.Command:
        omit = self.texts[self.i - 1] == "omit"
        if omit and self.texts[self.i] == "[":
            self.refuse("`omit` of an instance is")
        return stx.IncludeCmd(self.some_names(), omit, pos=start, end=self.last_end())

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
        return stx.SetOptionCmd(name, value, pos=start, end=self.last_end())

    def attribute(self, start: int) -> stx.Command:
        self.expect("[")
        attributes = self.attributes()
        names = [self.name()]
        while self.kinds[self.i] == IDENT:
            names.append(self.name())
        return stx.AttributeCmd(attributes, tuple(names), pos=start, end=self.last_end())

    def print(self, start: int) -> stx.Command:
        # `axioms` is no reserved word: without a name behind it, it is itself what is printed.
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
    "include": CommandParser.include,
    "deriving": CommandParser.deriving,
    "omit": CommandParser.include,
    "#print": CommandParser.print,
    "#check": CommandParser.check,
}
