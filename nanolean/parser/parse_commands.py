"""Tactic blocks, and commands: declarations, scopes and the few questions that NanoLean answers."""

from collections.abc import Callable, Iterator
from typing import Any

from nanolean import syntax as stx
from nanolean.parser.lexer import (
    BAD,
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
    value_of,
)
from nanolean.parser.parse_forms import BRACKETS, ModifierParser
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
            while self.accept(";") or (self.cols[self.i] == self.column and self.on_new_line() and self.at_tactic()):
                # Its `allowTrailingSep`: a semicolon may end the block, whose lines do not begin left of it.
                if self.cols[self.i] < self.column or not (self.at_tactic() or self.texts[self.i] in UNSUPPORTED):
                    break
                tactics.append(self.tactic())
        self.column, self.in_block, self.cdots = column, in_block, cdots
        self.depth -= 1
        return stx.TacticSeq(tuple(tactics), pos=start, end=self.last_end())

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


_Form = Callable[[Any, int], Any]
"""What reads the rest of a form behind its word, given the parser and where the word starts."""


def _parts(node: Callable[..., stx.Node], *parts: Callable[[Any], Any]) -> _Form:
    """Make the form of a node that is a word and these parts, one after another."""
    return lambda parser, start: node(*[part(parser) for part in parts], pos=start, end=parser.last_end())


_TACTICS: dict[str, _Form] = {
    "intro": TacticParser.intro,
    "intros": _parts(stx.IntrosStx, TacticParser.binder_names),
    "rintro": TacticParser.rintro,
    "exact": _parts(stx.ExactStx, TacticParser.term),
    "apply": _parts(stx.ApplyStx, TacticParser.term),
    "refine": _parts(stx.RefineStx, TacticParser.term),
    "specialize": _parts(stx.SpecializeStx, TacticParser.term),
    "show": TacticParser.show_tactic,
    "change": TacticParser.change,
    "have": TacticParser.have,
    "let": TacticParser.have,
    "replace": TacticParser.replace,
    "suffices": TacticParser.suffices,
    "calc": _parts(stx.CalcStx, TacticParser.calc_steps),
    "conv": TacticParser.conv,
    "match": TacticParser.match_tactic,
    "if": TacticParser.if_tactic,
    "generalize": TacticParser.generalize,
    "exists": _parts(stx.ExistsStx, TacticParser.terms),
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
    "revert": _parts(stx.RevertStx, TacticParser.some_names),
    "rename_i": _parts(stx.RenameIStx, TacticParser.some_names),
    "subst": TacticParser.subst,
    "subst_vars": _parts(stx.SubstVarsStx),
    "injection": TacticParser.injection,
    "injections": _parts(stx.InjectionsStx, TacticParser.binder_names),
    "clear": _parts(stx.ClearStx, TacticParser.some_names),
    "rename": TacticParser.rename,
    "nomatch": _parts(stx.NomatchStx, TacticParser.terms),
    "nofun": _parts(stx.NofunStx),
    "funext": _parts(stx.FunextStx, TacticParser.some_names),
    "ext": TacticParser.ext,
    "ext1": TacticParser.ext,
    "congr": _parts(stx.CongrStx, TacticParser.indented_number),
    "and_intros": _parts(stx.AndIntrosStx),
    "rotate_left": TacticParser.rotate,
    "rotate_right": TacticParser.rotate,
    "assumption": _parts(stx.AssumptionStx),
    "rfl": _parts(stx.RflStx),
    "constructor": _parts(stx.ConstructorStx),
    "left": _parts(stx.LeftStx),
    "right": _parts(stx.RightStx),
    "exfalso": _parts(stx.ExfalsoStx),
    "contradiction": _parts(stx.ContradictionStx),
    "decide": TacticParser.decide,
    "infer_instance": TacticParser.infer_instance,
    "classical": TacticParser.classical,
    "trivial": _parts(stx.TrivialStx),
    "ac_rfl": _parts(stx.AcRflStx),
    "omega": _parts(stx.OmegaStx),
    "grind": TacticParser.grind,
    "sorry": _parts(stx.SorryStx),
    "admit": _parts(stx.SorryStx),
    "trace": TacticParser.trace,
    "skip": _parts(stx.SkipStx),
    "done": _parts(stx.DoneStx),
    "case": TacticParser.case,
    "case'": TacticParser.case,
    "next": TacticParser.next,
    "first": _parts(stx.FirstStx, TacticParser.tactic_alternatives),
    "solve": _parts(stx.SolveStx, TacticParser.tactic_alternatives),
    "all_goals": _parts(stx.AllGoalsStx, TacticParser.tactic_seq),
    "any_goals": _parts(stx.AnyGoalsStx, TacticParser.tactic_seq),
    "focus": _parts(stx.FocusStx, TacticParser.tactic_seq),
    "try": _parts(stx.TryStx, TacticParser.tactic_seq),
    "repeat": _parts(stx.RepeatStx, TacticParser.tactic_seq),
    "repeat'": TacticParser.repeat_prime,
    "repeat1'": TacticParser.repeat_prime,
    "iterate": TacticParser.iterate,
    "fail_if_success": _parts(stx.FailIfSuccessStx, TacticParser.tactic_seq),
    "·": _parts(stx.BulletStx, TacticParser.tactic_seq),
    "(": _parts(stx.ParenStx, lambda parser: parser.bracketed_seq(")")),
    "{": _parts(stx.BraceStx, lambda parser: parser.bracketed_seq("}")),
}


_CONV: dict[str, _Form] = {
    **dict.fromkeys(("lhs", "rhs", "arg"), TacticParser.conv_part),
    **dict.fromkeys(("intro", "ext", "funext"), TacticParser.conv_intro),
    "enter": TacticParser.conv_enter,
    "pattern": lambda parser, start: stx.ConvGoStx("pattern", term=parser.term(), pos=start, end=parser.last_end()),
    **{name: _TACTICS[name] for name in ("rw", "rewrite", "simp", "unfold", "change", "skip", "done", "rfl", "·", "(")},
}
"""What `conv` takes."""


class CommandParser(ModifierParser, TacticParser):
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
            # `@[expose] public section`: what it says of code, and of what others see, has no meaning here.
            bare = set(modifiers.attributes) <= {"expose"} and modifiers.doc is None
            if bare and set(modifiers.words) <= {"public", "meta", "noncomputable"} and self.accept("section"):
                self.depth -= 1
                return self.section(start)
            if form is None:
                if self.texts[self.i] in COMMAND_WORDS and self.texts[self.i] not in _SCOPE_FORMS:
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

    def optional_name(self) -> str | None:
        return self.name() if self.kinds[self.i] == IDENT else None

    def section(self, start: int) -> stx.Command:
        return stx.SectionCmd(self.optional_name(), pos=start, end=self.last_end())

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

    def set_option(self, start: int) -> stx.Command:
        name = self.name("name of an option")
        value: bool | int
        if self.accept("true", "false"):
            value = self.texts[self.i - 1] == "true"
        elif self.kinds[self.i] == NUM and len(self.texts[self.i]) < 20:
            value = value_of(self.texts[self.i])
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

    def unrun(self, start: int) -> stx.Command:
        """`#eval f 3`, up to the next command: what it shows may be in any syntax."""
        word = self.texts[self.i - 1]
        while self.kinds[self.i] not in (EOF, BAD) and not self.at_command():
            self.i += 1
        return stx.UnrunCmd(word, pos=start, end=self.last_end())


_DECLARATION_FORMS: dict[str, Callable[[CommandParser, int, stx.Modifiers], stx.Command]] = {
    "theorem": CommandParser.theorem,
    "example": CommandParser.example,
    "def": CommandParser.definition,
    "abbrev": CommandParser.definition,
    "axiom": CommandParser.axiom,
    "inductive": CommandParser.inductive,
    "structure": CommandParser.structure,
}
_SCOPE_FORMS: dict[str, _Form] = {
    "namespace": _parts(stx.NamespaceCmd, CommandParser.name),
    "section": CommandParser.section,
    "end": _parts(stx.EndCmd, CommandParser.optional_name),
    "open": CommandParser.open,
    "variable": CommandParser.variable,
    "universe": _parts(stx.UniverseCmd, CommandParser.some_names),
    "set_option": CommandParser.set_option,
    "attribute": CommandParser.attribute,
    "include": CommandParser.include,
    "deriving": CommandParser.deriving,
    "omit": CommandParser.include,
    "#print": CommandParser.print,
    "#check": _parts(stx.CheckCmd, CommandParser.term),
    **dict.fromkeys(("#eval", "#reduce", "#synth", "#where", "#version"), CommandParser.unrun),
}
