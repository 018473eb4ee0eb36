"""Tactics that rewrite and where they do it: `rw`, `simp` and its family, `unfold`, `change`, `at h ⊢`."""

from nanolean import syntax as stx
from nanolean.cursor import NO_COLUMN
from nanolean.lexer import IDENT, NUM
from nanolean.parse_cases import CaseParser


class RewritingParser(CaseParser):
    """One method per form of tactic; each starts behind the tactic's own word, whose offset is `start`."""

    # --- shared parts

    def location(self) -> stx.Location:
        start = self.pos()
        if not self.accept("at"):
            return stx.Location(pos=start, end=start)
        if self.accept("*"):
            return stx.Location((), True, True, pos=start, end=self.last_end())
        first = self.i
        while self.kinds[self.i] == IDENT and self.indented():
            self.i += 1
        hyps = tuple(self.texts[first : self.i])
        goal = self.accept("⊢")
        if not hyps and not goal:
            self.fail("hypothesis, '⊢' or '*'")
        return stx.Location(hyps, goal, pos=start, end=self.last_end())

    def arrow_before(self) -> bool:
        """Whether `←` was there."""
        return self.accept("←", "<-")

    def simp_list(self) -> tuple[tuple[stx.SimpLemma, ...], bool]:
        """The optional `[h, ← g, -k, *]` and whether `*` was in it."""
        lemmas: list[stx.SimpLemma] = []
        star = False
        if self.texts[self.i] != "[" or not self.indented():
            return (), False
        self.i += 1
        column, self.column = self.column, NO_COLUMN
        while self.texts[self.i] != "]":
            if lemmas or star:
                self.expect(",")
            start = self.pos()
            if self.texts[self.i] in ("↓", "↑"):
                self.refuse("`↓` or `↑` before a simp lemma is")
            if self.accept("*"):
                star = True
            elif self.accept("-"):
                lemmas.append(stx.SimpLemma(self.atom(), erase=True, pos=start, end=self.last_end()))
            else:
                symm = self.arrow_before()
                lemmas.append(stx.SimpLemma(self.term(), symm, pos=start, end=self.last_end()))
        self.i += 1
        self.column = column
        return tuple(lemmas), star

    def no_options(self, tactic: str) -> None:
        if self.texts[self.i] in ("(", "+", "-"):
            self.refuse(f"options of `{tactic}` are")

    # --- rewriting

    def rewrite(self, start: int) -> stx.Tactic:
        try_rfl = self.texts[self.i - 1] != "rewrite"
        occurrences = self.occurrences() if self.texts[self.i] == "(" else None
        self.expect("[")
        column, self.column = self.column, NO_COLUMN
        rules: list[stx.RwRule] = []
        while self.texts[self.i] != "]":
            if rules:
                self.expect(",")
            rule_start = self.pos()
            symm = self.arrow_before()
            rules.append(stx.RwRule(symm, self.term(), pos=rule_start, end=self.last_end()))
        self.i += 1
        self.column = column
        return stx.RwStx(tuple(rules), self.location(), try_rfl, occurrences, pos=start, end=self.last_end())

    def rwa(self, start: int) -> stx.Tactic:
        """`rwa [h]` is `(rw [h]; assumption)`."""
        rewrite = self.rewrite(start)
        end = self.last_end()
        seq = stx.TacticSeq((rewrite, stx.AssumptionStx(pos=start, end=end)), pos=start, end=end)
        return stx.ParenStx(seq, pos=start, end=end)

    def occurrences(self) -> stx.Occurrences:
        """`(occs := .pos [1, 2])` or `(occs := .neg [1])`."""
        start = self.pos()
        self.i += 1
        if self.texts[self.i] != "occs":
            self.refuse("options of `rw` other than `occs` are")
        self.i += 1
        self.expect(":=")
        if self.texts[self.i] not in (".pos", ".neg"):
            self.fail("'.pos' or '.neg'")
        positive = self.texts[self.i] == ".pos"
        self.i += 1
        self.expect("[")
        numbers: list[int] = []
        while self.kinds[self.i] == NUM:
            numbers.append(self.small_number())
            if not self.accept(","):
                break
        self.expect("]")
        self.expect(")")
        return stx.Occurrences(positive, tuple(numbers), pos=start, end=self.last_end())

    def simp(self, start: int) -> stx.Tactic:
        self.no_options("simp")
        only = self.accept("only")
        lemmas, star = self.simp_list()
        return stx.SimpStx(only, lemmas, star, self.location(), pos=start, end=self.last_end())

    def simpa(self, start: int) -> stx.Tactic:
        self.no_options("simpa")
        only = self.accept("only")
        lemmas, star = self.simp_list()
        using = self.term() if self.accept("using") else None
        return stx.SimpaStx(only, lemmas, star, using, pos=start, end=self.last_end())

    def simp_all(self, start: int) -> stx.Tactic:
        self.no_options("simp_all")
        only = self.accept("only")
        lemmas, star = self.simp_list()
        if star:
            raise self.tokens.error("`simp_all` uses all hypotheses, it takes no `*`", start)
        return stx.SimpAllStx(only, lemmas, pos=start, end=self.last_end())

    def grind(self, start: int) -> stx.Tactic:
        self.no_options("grind")
        only = self.accept("only")
        lemmas, star = self.simp_list()
        if star:
            raise self.tokens.error("`grind` uses all hypotheses, it takes no `*`", start)
        return stx.GrindStx(only, lemmas, pos=start, end=self.last_end())

    def unfold(self, start: int) -> stx.Tactic:
        names = [self.name()]
        while self.kinds[self.i] == IDENT and self.indented():
            names.append(self.name())
        return stx.UnfoldStx(tuple(names), self.location(), pos=start, end=self.last_end())

    def change(self, start: int) -> stx.Tactic:
        type_ = self.term()
        if self.texts[self.i] == "with":
            self.refuse("`change .. with ..` is")
        return stx.ChangeStx(type_, self.location(), pos=start, end=self.last_end())

    def symm(self, start: int) -> stx.Tactic:
        return stx.SymmStx(self.location(), pos=start, end=self.last_end())

    def split(self, start: int) -> stx.Tactic:
        return stx.SplitStx(self.location(), pos=start, end=self.last_end())
