"""Single tactics: those that take things apart, rewrite, or change the hypotheses."""

from nanolean import syntax as stx
from nanolean.parser.lexer import HOLE, IDENT, NO_COLUMN, NUM, STRING
from nanolean.parser.parse_terms import TermParser


class CaseParser(TermParser):
    """Each tactic starts behind its own word, whose offset is `start`."""

    def tactic_seq(self) -> stx.TacticSeq:
        """Parse the tactics of an alternative; implemented by the class that extends this one."""
        raise NotImplementedError

    def some_names(self) -> tuple[str, ...]:
        names = self.binder_names()
        if not names:
            self.fail("identifier")
        return names

    def name_or_hole(self, what: str) -> str:
        """A name, or the `_` that stands for whatever is left."""
        return "_" if self.accept("_") else self.name(what)

    def case_targets(self) -> tuple[stx.CaseTarget, ...]:
        targets: list[stx.CaseTarget] = []
        while not targets or self.accept(","):
            start = self.pos()
            name = self.equation_name()
            targets.append(stx.CaseTarget(self.term(), name, pos=start, end=self.last_end()))
        return tuple(targets)

    def cases(self, start: int) -> stx.Tactic:
        targets = self.case_targets()
        using = self.after("using", self.term)
        alts = self.after("with", self.alternatives)
        return stx.CasesStx(targets, alts, using, pos=start, end=self.last_end())

    def induction(self, start: int) -> stx.Tactic:
        targets = self.case_targets()
        using = self.after("using", self.term)
        generalizing = self.some_names() if self.accept("generalizing") else ()
        alts = self.after("with", self.alternatives)
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
                heads.append((self.name_or_hole("name of a constructor"), self.binder_names(), explicit))
            # An alternative that leaves goals open is reported from here to its end.
            arrow = self.pos()
            self.expect("=>")
            rhs = self.alternative_rhs()
            end = self.last_end()
            for ctor, names, explicit in heads:
                alts.append(stx.InductionAlt(ctor, names, rhs, explicit, arrow=arrow, pos=start, end=end))
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
        pattern = self.after("with", self.typed_pattern)
        return stx.RcasesStx(targets, pattern, pos=start, end=self.last_end())

    def obtain(self, start: int) -> stx.Tactic:
        pattern = None if self.texts[self.i] in (":", ":=") else self.pattern_alternatives()
        type_ = self.after(":", self.term)
        # `obtain ⟨x, h⟩ : p` without a value makes `p` a goal.
        if type_ is None:
            self.expect(":=")
            value: stx.Term | None = self.term()
        else:
            value = self.after(":=", self.term)
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
            parts = [pattern]
            while self.accept(","):  # a pair
                parts.append(self.typed_pattern())
            if len(parts) > 1:
                pattern = stx.PatTuple(tuple(parts), pos=start, end=self.last_end())
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
        goal = self.turnstile()
        if not hyps and not goal:
            self.fail("hypothesis, '⊢' or '*'")
        return stx.Location(hyps, goal, pos=start, end=self.last_end())

    def turnstile(self) -> bool:
        """Parse an optional `⊢`, in ASCII `|-` without a blank in it; return whether there was one."""
        if self.texts[self.i] == "|" and self.texts[self.i + 1] == "-" and self.ends[self.i] == self.starts[self.i + 1]:
            self.i += 2
            return True
        return self.accept("⊢")

    def arrow_before(self) -> bool:
        """Parse an optional `←`; return whether there was one."""
        return self.accept("←", "<-")

    def simp_list(self) -> tuple[tuple[stx.SimpLemma, ...], bool]:
        """Parse the optional `[h, ← g, -k, *]`; return its lemmas and whether `*` was in it."""
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
        # Lean's `optConfig` has `colGt`: a parenthesis that begins a line of the block is the next tactic.
        if self.texts[self.i] in ("(", "+", "-") and self.indented():
            self.refuse(f"options of `{tactic}` are")

    # --- rewriting

    def rewrite(self, start: int) -> stx.Tactic:
        # `rw` is `rewrite`, and then `rfl` where that closes the goal.
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

    def options(self, tactic: str, known: tuple[str, ...]) -> set[str]:
        """Parse `+foo -bar` in front of what a tactic takes; return those that are on."""
        on = set()
        while self.texts[self.i] in ("+", "-") and self.kinds[self.i + 1] == IDENT and self.indented():
            is_on, name = self.accept("+") or not self.accept("-"), self.texts[self.i]
            if name not in known:
                self.refuse(f"the option `{name}` of `{tactic}` is")
            self.i += 1
            on |= {name} if is_on else set()
        self.no_options(tactic)
        return on

    def decide(self, start: int) -> stx.Tactic:
        options = self.options("decide", ("revert", "kernel"))
        return stx.DecideStx("revert" in options, "kernel" in options, pos=start, end=self.last_end())

    def simp(self, start: int) -> stx.Tactic:
        disch = None
        if self.texts[self.i] == "(" and self.texts[self.i + 1] in ("disch", "discharger") and self.indented():
            self.i += 2
            self.expect(":=")
            column, self.column = self.column, NO_COLUMN
            disch = self.tactic_seq()
            self.column = column
            self.expect(")")
        self.options("simp", ())
        only = self.accept("only")
        lemmas, star = self.simp_list()
        return stx.SimpStx(only, lemmas, star, self.location(), disch, pos=start, end=self.last_end())

    def dsimp(self, start: int) -> stx.Tactic:
        self.options("dsimp", ())
        only = self.accept("only")
        lemmas, _ = self.simp_list()  # `*` adds hypotheses, none of which holds by definition
        return stx.DsimpStx(only, lemmas, self.location(), pos=start, end=self.last_end())

    def simpa(self, start: int) -> stx.Tactic:
        self.options("simpa", ())
        only = self.accept("only")
        lemmas, star = self.simp_list()
        using = self.after("using", self.term)
        return stx.SimpaStx(only, lemmas, star, using, pos=start, end=self.last_end())

    def simp_all(self, start: int) -> stx.Tactic:
        self.options("simp_all", ())
        only = self.accept("only")
        lemmas, star = self.simp_list()
        if star:
            raise self.tokens.error("`simp_all` uses all hypotheses, it takes no `*`", start)
        return stx.SimpAllStx(only, lemmas, pos=start, end=self.last_end())

    def grind(self, start: int) -> stx.Tactic:
        self.options("grind", ())
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


class ContextParser(RewritingParser):
    """One method per form of tactic; each starts behind the tactic's own word, whose offset is `start`."""

    # --- introducing

    def block_or_hole(self) -> stx.Term:
        """The right side of an alternative of `match`: tactics as a `by` block, or a hole."""
        start = self.pos()
        rhs = self.alternative_rhs()
        if isinstance(rhs, stx.TacticSeq):
            return stx.By(rhs, pos=start, end=self.last_end())
        return rhs if isinstance(rhs, stx.SyntheticHole) else stx.SyntheticHole("_", pos=start, end=self.last_end())

    def calc_tactic(self, start: int) -> stx.Tactic:
        return stx.CalcStx(self.calc_steps(), pos=start, end=self.last_end())

    def match_tactic(self, start: int) -> stx.Tactic:
        """`match e with | p => tactics` gives the term whose right sides are `by` blocks (or holes)."""
        return stx.RefineStx(self.match_body(start, self.block_or_hole), pos=start, end=self.last_end())

    def if_tactic(self, start: int) -> stx.Tactic:
        """`if h : p then tactics else tactics` gives the term with `by` blocks."""
        name = self.equation_name()
        if name is None:
            self.refuse("the tactic `if` without a name for the hypothesis is")
        condition = self.term()
        self.expect("then")
        then = self.block_or_hole()
        self.expect("else")
        otherwise = self.block_or_hole()
        choice = stx.If(name, condition, then, otherwise, pos=start, end=self.last_end())
        return stx.RefineStx(choice, pos=start, end=self.last_end())

    def congr(self, start: int) -> stx.Tactic:
        return stx.CongrStx(self.indented_number(), pos=start, end=self.last_end())

    def trace(self, start: int) -> stx.Tactic:
        """`trace "text"`."""
        text = self.texts[self.i]
        if self.kinds[self.i] != STRING:
            self.refuse("`trace` of anything but a string is")
        # They are printed as they stand: an escape would be printed as two characters.
        if "\\" in text:
            self.refuse("a string with escapes is")
        self.i += 1
        return stx.TraceStx(text[1:-1], pos=start, end=self.last_end())

    def intro(self, start: int) -> stx.Tactic:
        if self.texts[self.i] == "|" and self.cols[self.i] >= self.column:
            return stx.IntroMatchStx(self.match_alternatives(self.block_or_hole), pos=start, end=self.last_end())
        first = self.i
        names = self.binder_names()
        # Names alone are the usual case. Otherwise all is read again, as patterns.
        if not self.at_pattern():
            return stx.IntroStx(names, pos=start, end=self.last_end())
        self.i = first
        patterns: list[stx.RcasesPattern] = []
        while self.at_pattern():
            patterns.append(self.intro_pattern())
        return stx.IntroPatternsStx(tuple(patterns), pos=start, end=self.last_end())

    def at_pattern(self) -> bool:
        at = self.at_binder_name() or self.texts[self.i] in ("⟨", "(", "-")
        return at and self.indented()

    def intro_pattern(self) -> stx.RcasesPattern:
        """Parse a pattern of `intro` and `have`, as of `match`: names, `⟨x, h⟩`, and in front `(x : T)`."""
        start = self.pos()
        typed = self.texts[self.i] == "("
        pattern = self.pattern()
        if isinstance(pattern, stx.PatTyped) and isinstance(pattern.pattern, stx.PatName) and typed:
            return pattern
        self.check_match_pattern(pattern, start)
        return pattern

    def check_match_pattern(self, pattern: stx.RcasesPattern, start: int) -> None:
        if isinstance(pattern, stx.PatTuple):
            for item in pattern.items:
                self.check_match_pattern(item, start)
            return
        # `-` is a pattern of rcases alone.
        if not isinstance(pattern, stx.PatName) or pattern.name == "-":
            raise self.tokens.error(
                "a pattern of this form here (`rintro` and `obtain` take it) is not supported", start
            )

    def rintro(self, start: int) -> stx.Tactic:
        return stx.RintroStx(self.rintro_patterns(1), pos=start, end=self.last_end())

    def rintro_patterns(self, least: int) -> tuple[stx.RcasesPattern, ...]:
        """Patterns one after another; `(x y : T)` gives several."""
        patterns: list[stx.RcasesPattern] = []
        while len(patterns) < least or self.at_pattern():
            group = self.typed_names() if self.texts[self.i] == "(" else ()
            patterns.extend(group or (self.pattern(),))
        if self.texts[self.i] == ":":
            self.refuse("a type behind the patterns is")
        return tuple(patterns)

    def typed_names(self) -> tuple[stx.RcasesPattern, ...]:
        """`(x y : T)` with at least two names, otherwise nothing."""
        i = self.i + 1
        while self.texts[i] == "_" or self.kinds[i] == IDENT:
            i += 1
        if self.texts[i] != ":" or i < self.i + 3:
            return ()
        start = self.pos()
        self.i += 1
        names = self.texts[self.i : i]
        self.i = i + 1
        type_ = self.term()
        self.expect(")")
        end = self.last_end()
        return tuple(stx.PatTyped(stx.PatName(name, pos=start, end=end), type_, pos=start, end=end) for name in names)

    # --- terms

    def have(self, start: int) -> stx.Tactic:
        keyword = self.texts[self.i - 1]
        if self.texts[self.i] == "⟨" or (self.texts[self.i] == "(" and self.at_term_pattern()):
            pattern = self.intro_pattern()
            pattern_type = self.after(":", self.term)
            self.expect(":=")
            return stx.HavePatternStx(pattern, pattern_type, self.term(), pos=start, end=self.last_end())
        name, type_, value = self.local_definition(keyword)
        node = stx.LetStx if keyword == "let" else stx.HaveStx
        return node(name, type_, value, pos=start, end=self.last_end())

    def replace(self, start: int) -> stx.Tactic:
        have = self.have(start)
        names = [have.name] if isinstance(have, stx.HaveStx) else []
        todo = [have.pattern] if isinstance(have, stx.HavePatternStx) else []
        while todo:
            pattern = todo.pop()
            if isinstance(pattern, stx.PatTuple):
                todo += pattern.items
            elif isinstance(pattern, stx.PatName):
                names.append(pattern.name)
        return stx.ReplaceStx(have, tuple(names), pos=start, end=self.last_end())

    def suffices(self, start: int) -> stx.Tactic:
        name, type_, value = self.suffices_parts()
        return stx.SufficesStx(name, type_, value, pos=start, end=self.last_end())

    def show_tactic(self, start: int) -> stx.Tactic:
        type_ = self.term()
        if self.texts[self.i] in ("from", "by"):
            self.refuse(f"the tactic `show .. {self.texts[self.i]} ..` (write `exact show ..`) is")
        return stx.ShowStx(type_, pos=start, end=self.last_end())

    def terms(self) -> tuple[stx.Term, ...]:
        """Terms with commas between them."""
        terms = [self.term()]
        while self.accept(","):
            terms.append(self.term())
        return tuple(terms)

    def by_cases(self, start: int) -> stx.Tactic:
        name = self.equation_name()
        return stx.ByCasesStx(name, self.term(), pos=start, end=self.last_end())

    def generalize(self, start: int) -> stx.Tactic:
        args: list[stx.Generalization] = []
        while not args or self.accept(","):
            arg_start = self.pos()
            equation_name = self.equation_name()
            term = self.term(51)
            self.expect("=")
            name = self.binder_name()
            args.append(stx.Generalization(equation_name, term, name, pos=arg_start, end=self.last_end()))
        location = self.location()
        return stx.GeneralizeStx(tuple(args), location, pos=start, end=self.last_end())

    def subst(self, start: int) -> stx.Tactic:
        terms = [self.atom()]
        while self.at_argument():
            terms.append(self.atom())
        return stx.SubstStx(tuple(terms), pos=start, end=self.last_end())

    def injection(self, start: int) -> stx.Tactic:
        term = self.term()
        names = self.some_names() if self.accept("with") else ()
        return stx.InjectionStx(term, names, pos=start, end=self.last_end())

    # --- names

    def rename(self, start: int) -> stx.Tactic:
        type_ = self.term()
        self.expect("=>")
        return stx.RenameStx(type_, self.binder_name(), pos=start, end=self.last_end())

    def ext(self, start: int) -> stx.Tactic:
        once = self.texts[self.i - 1] == "ext1"
        patterns = self.rintro_patterns(0)
        return stx.ExtStx(patterns, once, pos=start, end=self.last_end())

    def indented_number(self) -> int | None:
        """Parse a numeral, if there is one that belongs to this tactic."""
        return self.small_number() if self.kinds[self.i] == NUM and self.indented() else None

    def rotate(self, start: int) -> stx.Tactic:
        node = stx.RotateLeftStx if self.texts[self.i - 1] == "rotate_left" else stx.RotateRightStx
        count = self.indented_number()
        if count is None:
            count = 1
        return node(count, pos=start, end=self.last_end())

    def iterate(self, start: int) -> stx.Tactic:
        count = self.small_number() if self.kinds[self.i] == NUM else None
        return stx.IterateStx(count, self.tactic_seq(), pos=start, end=self.last_end())

    def repeat_prime(self, start: int) -> stx.Tactic:
        once = self.texts[self.i - 1] == "repeat1'"
        return stx.RepeatPrimeStx(self.tactic_seq(), once, pos=start, end=self.last_end())

    # --- conv

    def conv(self, start: int) -> stx.Tactic:
        hyp = self.after("at", self.name)
        pattern = self.after("in", self.term)
        self.expect("=>")
        outer, self.in_conv = self.in_conv, True
        steps = self.tactic_seq()
        self.in_conv = outer
        return stx.ConvStx(hyp, pattern, steps, pos=start, end=self.last_end())

    def conv_part(self, start: int) -> stx.Tactic:
        kind = self.texts[self.i - 1]
        number = self.small_number() if kind == "arg" else 0
        return stx.ConvGoStx(kind, number, pos=start, end=self.last_end())

    def conv_intro(self, start: int) -> stx.Tactic:
        return stx.ConvGoStx("intro", names=self.binder_names(), pos=start, end=self.last_end())

    def conv_enter(self, start: int) -> stx.Tactic:
        """`enter [1, x]` is `(arg 1; intro x)`, and what follows happens there."""
        self.expect("[")
        steps: list[stx.ConvGoStx] = []
        while not steps or self.accept(","):
            first = self.pos()
            if self.kinds[self.i] == NUM:
                steps.append(stx.ConvGoStx("arg", self.small_number(), pos=first, end=self.last_end()))
            else:
                steps.append(stx.ConvGoStx("intro", names=(self.binder_name(),), pos=first, end=self.last_end()))
        self.expect("]")
        return stx.ConvEnterStx(tuple(steps), pos=start, end=self.last_end())
