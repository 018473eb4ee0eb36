"""Tactics that change the hypotheses: `intro`, `rintro`, `have`, `let`, `suffices`, `generalize`, `clear`, ..."""

from nanolean import syntax as stx
from nanolean.lexer import IDENT
from nanolean.parse_rewriting import RewritingParser


class ContextParser(RewritingParser):
    """One method per form of tactic; each starts behind the tactic's own word, whose offset is `start`."""

    # --- introducing

    def intro(self, start: int) -> stx.Tactic:
        first = self.i
        names = self.binder_names()
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
        """What `intro` and `have` take apart as `match` does: names, `⟨x, h⟩`, and in front `(x : T)`."""
        start = self.pos()
        typed = self.texts[self.i] == "("
        pattern = self.pattern()
        if isinstance(pattern, stx.PatTyped) and isinstance(pattern.pattern, stx.PatName) and typed:
            return pattern
        self.check_match_pattern(pattern, start)
        return pattern

    def check_match_pattern(self, pattern: stx.RcasesPattern, start: int) -> None:
        inner = pattern.items if isinstance(pattern, stx.PatTuple) else ()
        for item in inner:
            self.check_match_pattern(item, start)
        named = isinstance(pattern, stx.PatName) and pattern.name not in ("rfl", "-")
        if not isinstance(pattern, stx.PatTuple) and not named:
            raise self.tokens.error(
                "a pattern of this form here (`rintro` and `obtain` take it) is not supported", start
            )

    def intros(self, start: int) -> stx.Tactic:
        return stx.IntrosStx(self.binder_names(), pos=start, end=self.last_end())

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
        if self.texts[self.i] == "⟨":
            pattern = self.intro_pattern()
            pattern_type = self.term() if self.accept(":") else None
            self.expect(":=")
            return stx.HavePatternStx(pattern, pattern_type, self.term(), pos=start, end=self.last_end())
        name, type_, value = self.local_definition(keyword)
        node = stx.HaveStx if keyword == "have" else stx.LetStx
        return node(name, type_, value, pos=start, end=self.last_end())

    def suffices(self, start: int) -> stx.Tactic:
        name, type_, value = self.suffices_parts()
        return stx.SufficesStx(name, type_, value, pos=start, end=self.last_end())

    def show_tactic(self, start: int) -> stx.Tactic:
        type_ = self.term()
        if self.texts[self.i] in ("from", "by"):
            self.refuse(f"the tactic `show .. {self.texts[self.i]} ..` (write `exact show ..`) is")
        return stx.ShowStx(type_, pos=start, end=self.last_end())

    def exists_terms(self, start: int) -> stx.Tactic:
        terms = [self.term()]
        while self.accept(","):
            terms.append(self.term())
        return stx.ExistsStx(tuple(terms), pos=start, end=self.last_end())

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
        if self.texts[self.i] == "at":
            self.refuse("`generalize .. at ..` is")
        return stx.GeneralizeStx(tuple(args), pos=start, end=self.last_end())

    def subst(self, start: int) -> stx.Tactic:
        terms = [self.atom()]
        while self.at_argument():
            terms.append(self.atom())
        return stx.SubstStx(tuple(terms), pos=start, end=self.last_end())

    def injection(self, start: int) -> stx.Tactic:
        term = self.term()
        names = self.some_names() if self.accept("with") else ()
        return stx.InjectionStx(term, names, pos=start, end=self.last_end())

    def nomatch(self, start: int) -> stx.Tactic:
        terms = [self.term()]
        while self.accept(","):
            terms.append(self.term())
        return stx.NomatchStx(tuple(terms), pos=start, end=self.last_end())

    # --- names

    def injections(self, start: int) -> stx.Tactic:
        return stx.InjectionsStx(self.binder_names(), pos=start, end=self.last_end())

    def revert(self, start: int) -> stx.Tactic:
        return stx.RevertStx(self.some_names(), pos=start, end=self.last_end())

    def clear(self, start: int) -> stx.Tactic:
        return stx.ClearStx(self.some_names(), pos=start, end=self.last_end())

    def rename_i(self, start: int) -> stx.Tactic:
        return stx.RenameIStx(self.some_names(), pos=start, end=self.last_end())

    def rename(self, start: int) -> stx.Tactic:
        type_ = self.term()
        self.expect("=>")
        return stx.RenameStx(type_, self.binder_name(), pos=start, end=self.last_end())

    def funext(self, start: int) -> stx.Tactic:
        return stx.FunextStx(self.some_names(), pos=start, end=self.last_end())

    def ext(self, start: int) -> stx.Tactic:
        once = self.texts[self.i - 1] == "ext1"
        patterns = self.rintro_patterns(0)
        return stx.ExtStx(patterns, once, pos=start, end=self.last_end())
