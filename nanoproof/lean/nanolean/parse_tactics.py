"""Tactics and the blocks they stand in.

Lean's position rule: the tactics of one block share the column of the first one and are separated by new lines or `;`;
what belongs to a tactic stands to the right of that column. Alternatives (`| ..`) never stand to the left of the first
one, which is how a nested `cases` gives the outer alternatives back.
"""

from collections.abc import Callable

from nanoproof.lean.nanolean import syntax as stx
from nanoproof.lean.nanolean.cursor import NO_COLUMN
from nanoproof.lean.nanolean.lexer import IDENT, NUM
from nanoproof.lean.nanolean.parse_cases import CaseParser


class TacticParser(CaseParser):
    """One method per form of tactic; each starts behind the tactic's own word, whose offset is `start`."""

    # --- blocks

    def tactic_block(self) -> stx.TacticSeq:
        """After `by`: nested blocks are indented; an empty block leaves its goal open."""
        if self.texts[self.i] not in _TACTICS and self.kinds[self.i] != IDENT:
            return stx.TacticSeq((), pos=self.last_end(), end=self.last_end())
        if not self.indented():
            if self.column == 0:
                return stx.TacticSeq((), pos=self.last_end(), end=self.last_end())
            self.fail("'{' or an indented tactic sequence")
        return self.tactic_seq()

    def tactic_seq(self) -> stx.TacticSeq:
        """Tactics of one column, at least one; `{ .. }` in front is the whole sequence."""
        self.enter()
        start = self.pos()
        column, self.column = self.column, self.cols[self.i]
        if self.texts[self.i] == "{":
            tactics = [self.tactic_form()]
        else:
            tactics = [self.tactic()]
            while self.accept(";") or (self.at_next_line() and self.at_tactic()):
                tactics.append(self.tactic())
        self.column = column
        self.depth -= 1
        return stx.TacticSeq(tuple(tactics), pos=start, end=self.last_end())

    def at_next_line(self) -> bool:
        return self.cols[self.i] == self.column and self.on_new_line()

    def at_tactic(self) -> bool:
        return self.texts[self.i] in _TACTICS or self.kinds[self.i] == IDENT

    def tactic(self) -> stx.Tactic:
        """One tactic with the `<;>` behind it."""
        start = self.pos()
        tactic = self.tactic_form()
        chain = 0
        while self.accept("<;>"):
            chain += 1
            self.check_chain(chain)
            tactic = stx.AndThenStx(tactic, self.tactic_form(), pos=start, end=self.last_end())
        return tactic

    def tactic_form(self) -> stx.Tactic:
        form = _TACTICS.get(self.texts[self.i])
        start = self.pos()
        if form is None:
            if self.kinds[self.i] == IDENT:
                raise self.tokens.error("unknown tactic", start)
            self.fail("tactic")
        self.i += 1
        return form(self, start)

    def bracketed_seq(self, close: str) -> stx.TacticSeq:
        column, self.column = self.column, NO_COLUMN
        tactics = self.tactic_seq()
        self.expect(close)
        self.column = column
        return tactics

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

    # --- introducing and rewriting

    def intro(self, start: int) -> stx.Tactic:
        names = self.binder_names()
        if self.texts[self.i] in ("⟨", "(") and self.indented():
            self.refuse("`intro` with a pattern or a type (`obtain` and `cases` take hypotheses apart) is")
        return stx.IntroStx(names, pos=start, end=self.last_end())

    def intros(self, start: int) -> stx.Tactic:
        return stx.IntrosStx(self.binder_names(), pos=start, end=self.last_end())

    def rewrite(self, start: int) -> stx.Tactic:
        try_rfl = self.texts[self.i - 1] == "rw"
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
        return stx.RwStx(tuple(rules), self.location(), try_rfl, pos=start, end=self.last_end())

    def simp(self, start: int) -> stx.Tactic:
        self.no_options("simp")
        only = self.accept("only")
        lemmas, star = self.simp_list()
        return stx.SimpStx(only, lemmas, star, self.location(), pos=start, end=self.last_end())

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

    # --- terms and hypotheses

    def exists_terms(self, start: int) -> stx.Tactic:
        terms = [self.term()]
        while self.accept(","):
            terms.append(self.term())
        return stx.ExistsStx(tuple(terms), pos=start, end=self.last_end())

    def have(self, start: int) -> stx.Tactic:
        name, type_, value = self.local_definition("have")
        return stx.HaveStx(name, type_, value, pos=start, end=self.last_end())

    def by_cases(self, start: int) -> stx.Tactic:
        name = self.equation_name()
        return stx.ByCasesStx(name, self.term(), pos=start, end=self.last_end())

    def revert(self, start: int) -> stx.Tactic:
        return stx.RevertStx(self.some_names(), pos=start, end=self.last_end())

    def rename_i(self, start: int) -> stx.Tactic:
        return stx.RenameIStx(self.some_names(), pos=start, end=self.last_end())

    def subst(self, start: int) -> stx.Tactic:
        terms = [self.atom()]
        while self.at_argument():
            terms.append(self.atom())
        return stx.SubstStx(tuple(terms), pos=start, end=self.last_end())

    def injection(self, start: int) -> stx.Tactic:
        term = self.term()
        names = self.some_names() if self.accept("with") else ()
        return stx.InjectionStx(term, names, pos=start, end=self.last_end())

    def rotate(self, start: int) -> stx.Tactic:
        node = stx.RotateLeftStx if self.texts[self.i - 1] == "rotate_left" else stx.RotateRightStx
        count = self.small_number() if self.kinds[self.i] == NUM and self.indented() else 1
        return node(count, pos=start, end=self.last_end())

    # --- combinators

    def parenthesized(self, start: int) -> stx.Tactic:
        return stx.ParenStx(self.bracketed_seq(")"), pos=start, end=self.last_end())

    def braces(self, start: int) -> stx.Tactic:
        return stx.BraceStx(self.bracketed_seq("}"), pos=start, end=self.last_end())

    def case(self, start: int) -> stx.Tactic:
        tags: list[tuple[str, tuple[str, ...]]] = []
        while not tags or self.accept("|"):
            tag = "_" if self.accept("_") else self.name("case tag")
            tags.append((tag, self.binder_names()))
        self.expect("=>")
        return stx.CaseStx(tuple(tags), self.tactic_seq(), pos=start, end=self.last_end())

    def next(self, start: int) -> stx.Tactic:
        names = self.binder_names()
        self.expect("=>")
        return stx.NextStx(names, self.tactic_seq(), pos=start, end=self.last_end())

    def first(self, start: int) -> stx.Tactic:
        column, self.column = self.column, self.cols[self.i]
        if self.texts[self.i] != "|":
            self.fail("'|'")
        alts: list[stx.TacticSeq] = []
        while self.texts[self.i] == "|" and self.cols[self.i] >= self.column:
            self.i += 1
            alts.append(self.tactic_seq())
        self.column = column
        return stx.FirstStx(tuple(alts), pos=start, end=self.last_end())


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
    "exact": _with_term(stx.ExactStx),
    "apply": _with_term(stx.ApplyStx),
    "refine": _with_term(stx.RefineStx),
    "specialize": _with_term(stx.SpecializeStx),
    "show": _with_term(stx.ShowStx),
    "change": TacticParser.change,
    "have": TacticParser.have,
    "exists": TacticParser.exists_terms,
    "by_cases": TacticParser.by_cases,
    "cases": TacticParser.cases,
    "induction": TacticParser.induction,
    "rcases": TacticParser.rcases,
    "obtain": TacticParser.obtain,
    "rw": TacticParser.rewrite,
    "rewrite": TacticParser.rewrite,
    "simp": TacticParser.simp,
    "simp_all": TacticParser.simp_all,
    "unfold": TacticParser.unfold,
    "symm": TacticParser.symm,
    "split": TacticParser.split,
    "revert": TacticParser.revert,
    "rename_i": TacticParser.rename_i,
    "subst": TacticParser.subst,
    "injection": TacticParser.injection,
    "rotate_left": TacticParser.rotate,
    "rotate_right": TacticParser.rotate,
    "assumption": _word(stx.AssumptionStx),
    "rfl": _word(stx.RflStx),
    "constructor": _word(stx.ConstructorStx),
    "left": _word(stx.LeftStx),
    "right": _word(stx.RightStx),
    "exfalso": _word(stx.ExfalsoStx),
    "contradiction": _word(stx.ContradictionStx),
    "decide": _word(stx.DecideStx),
    "trivial": _word(stx.TrivialStx),
    "ac_rfl": _word(stx.AcRflStx),
    "omega": _word(stx.OmegaStx),
    "grind": TacticParser.grind,
    "sorry": _word(stx.SorryStx),
    "skip": _word(stx.SkipStx),
    "done": _word(stx.DoneStx),
    "case": TacticParser.case,
    "next": TacticParser.next,
    "first": TacticParser.first,
    "all_goals": _with_block(stx.AllGoalsStx),
    "any_goals": _with_block(stx.AnyGoalsStx),
    "focus": _with_block(stx.FocusStx),
    "try": _with_block(stx.TryStx),
    "repeat": _with_block(stx.RepeatStx),
    "·": _with_block(stx.BulletStx),
    "(": TacticParser.parenthesized,
    "{": TacticParser.braces,
}
