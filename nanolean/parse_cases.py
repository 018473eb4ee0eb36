"""Taking things apart: `cases`, `induction`, `rcases`, `obtain`, their alternatives and patterns."""

from nanolean import syntax as stx
from nanolean.cursor import NO_COLUMN
from nanolean.lexer import HOLE, IDENT
from nanolean.parse_terms import TermParser


class CaseParser(TermParser):
    """Each tactic starts behind its own word, whose offset is `start`."""

    def tactic_seq(self) -> stx.TacticSeq:
        """The tactics of an alternative; they come from the class that extends this one."""
        raise NotImplementedError

    def some_names(self) -> tuple[str, ...]:
        names = self.binder_names()
        if not names:
            self.fail("identifier")
        return names

    def case_targets(self) -> tuple[stx.CaseTarget, ...]:
        targets: list[stx.CaseTarget] = []
        while not targets or self.accept(","):
            start = self.pos()
            name = self.equation_name()
            targets.append(stx.CaseTarget(self.term(), name, pos=start, end=self.last_end()))
        return tuple(targets)

    def cases(self, start: int) -> stx.Tactic:
        targets = self.case_targets()
        using = self.term() if self.accept("using") else None
        alts = self.alternatives() if self.accept("with") else None
        return stx.CasesStx(targets, alts, using, pos=start, end=self.last_end())

    def induction(self, start: int) -> stx.Tactic:
        targets = self.case_targets()
        using = self.term() if self.accept("using") else None
        generalizing = self.some_names() if self.accept("generalizing") else ()
        alts = self.alternatives() if self.accept("with") else None
        return stx.InductionStx(targets, alts, using, generalizing, pos=start, end=self.last_end())

    def alternatives(self) -> tuple[stx.InductionAlt, ...]:
        """`| ctor names => rhs` at least once, none to the left of the first."""
        if self.texts[self.i] != "|":
            if self.kinds[self.i] == IDENT:
                self.refuse("a tactic before the alternatives is")
            self.fail("'|'")
        column, self.column = self.column, self.cols[self.i]
        alts: list[stx.InductionAlt] = []
        while self.texts[self.i] == "|" and self.cols[self.i] >= self.column:
            start = self.pos()
            heads: list[tuple[str, tuple[str, ...], bool]] = []
            while self.accept("|"):
                explicit = self.accept("@")
                ctor = "_" if self.accept("_") else self.name("name of a constructor")
                heads.append((ctor, self.binder_names(), explicit))
            self.expect("=>")
            rhs = self.alternative_rhs()
            end = self.last_end()
            alts.extend(
                stx.InductionAlt(ctor, names, rhs, explicit, pos=start, end=end) for ctor, names, explicit in heads
            )
        self.column = column
        return tuple(alts)

    def alternative_rhs(self) -> stx.TacticSeq | stx.Hole | stx.SyntheticHole:
        start = self.pos()
        if self.accept("_"):
            return stx.Hole(pos=start, end=self.last_end())
        if self.kinds[self.i] == HOLE:
            self.i += 1
            return stx.SyntheticHole(self.texts[self.i - 1][1:], pos=start, end=self.last_end())
        return self.tactic_seq()

    def rcases(self, start: int) -> stx.Tactic:
        targets = self.case_targets()
        pattern = self.typed_pattern() if self.accept("with") else None
        return stx.RcasesStx(targets, pattern, pos=start, end=self.last_end())

    def obtain(self, start: int) -> stx.Tactic:
        pattern = None if self.texts[self.i] in (":", ":=") else self.pattern_alternatives()
        type_ = self.term() if self.accept(":") else None
        if type_ is None:
            self.expect(":=")
            value: stx.Term | None = self.term()
        else:
            value = self.term() if self.accept(":=") else None
        return stx.ObtainStx(pattern, type_, value, pos=start, end=self.last_end())

    def typed_pattern(self) -> stx.RcasesPattern:
        start = self.pos()
        pattern = self.pattern_alternatives()
        if self.accept(":"):
            return stx.PatTyped(pattern, self.term(), pos=start, end=self.last_end())
        return pattern

    def pattern_alternatives(self) -> stx.RcasesPattern:
        start = self.pos()
        alts = [self.pattern()]
        while self.accept("|"):
            alts.append(self.pattern())
        return alts[0] if len(alts) == 1 else stx.PatAlts(tuple(alts), pos=start, end=self.last_end())

    def pattern(self) -> stx.RcasesPattern:
        self.enter()
        start = self.pos()
        column, self.column = self.column, NO_COLUMN
        pattern: stx.RcasesPattern
        if self.accept("⟨"):
            items: list[stx.RcasesPattern] = []
            while not self.accept("⟩"):
                if items:
                    self.expect(",")
                items.append(self.typed_pattern())
            pattern = stx.PatTuple(tuple(items), pos=start, end=self.last_end())
        elif self.accept("("):
            pattern = self.typed_pattern()
            self.expect(")")
        elif self.accept("-"):
            pattern = stx.PatName("-", pos=start, end=self.last_end())
        elif self.at_binder_name():
            pattern = stx.PatName(self.binder_name(), pos=start, end=self.last_end())
        else:
            self.fail("pattern")
        self.column = column
        self.depth -= 1
        return pattern
