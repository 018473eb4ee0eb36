"""Forms that bind names or hold blocks: `fun`, `∀`, `∃`, `let`, `have`, `show`, `by`, `if`, `match`."""

from collections.abc import Callable

from nanolean import syntax as stx
from nanolean.lexer import IDENT
from nanolean.meta.lctx import INACCESSIBLE_MARK
from nanolean.notation import ARROW_PREC
from nanolean.parse_binders import BinderParser


class FormParser(BinderParser):
    """One method per form; each starts at the word that opens it."""

    def atom(self) -> stx.Term:
        """What can be an argument; it comes from the class that extends this one."""
        raise NotImplementedError

    def tactic_block(self) -> stx.TacticSeq:
        """The tactics after `by`; they come from the class that extends this one."""
        raise NotImplementedError

    # --- binders

    def at_dependent_arrow(self) -> bool:
        """Whether `(x y : T) →` stands here."""
        i = self.i + 1
        while self.texts[i] == "_" or self.kinds[i] == IDENT:
            i += 1
        if i == self.i + 1 or self.texts[i] != ":":
            return False
        open_brackets = 1
        while open_brackets:
            i += 1
            text = self.texts[i]
            if text in ("(", "{", "⦃", "⟨", "[", ".{", "@["):
                open_brackets += 1
            elif text in (")", "}", "⦄", "⟩", "]"):
                open_brackets -= 1
            elif text == "":
                return False
        return self.texts[i + 1] in ("→", "->")

    def dependent_arrow(self) -> stx.Forall:
        start = self.pos()
        binders = self.bracketed_binders()
        self.i += 1
        return stx.Forall(tuple(binders), self.term(ARROW_PREC), pos=start, end=self.last_end())

    def fun(self) -> stx.Fun | stx.FunAlts:
        start = self.pos()
        self.i += 1
        if self.texts[self.i] == "|":
            return stx.FunAlts(self.match_alternatives(), pos=start, end=self.last_end())
        binders, patterns = self.fun_binders()
        if not self.accept("=>", "↦"):
            self.fail("'=>'")
        body = self.term()
        for target, pattern in reversed(patterns):
            alt = stx.MatchAlt((pattern,), body, pos=pattern.pos, end=self.last_end())
            body = stx.Match(((None, target),), (alt,), pos=pattern.pos, end=self.last_end())
        return stx.Fun(binders, body, pos=start, end=self.last_end())

    def fun_binders(self) -> tuple[tuple[stx.Binder, ...], list[tuple[stx.Ident, stx.Term]]]:
        """The binders of `fun`; for each pattern among them a variable that the body takes apart."""
        binders: list[stx.Binder] = []
        patterns: list[tuple[stx.Ident, stx.Term]] = []
        while self.texts[self.i] not in ("=>", "↦") or not binders:
            if not self.at_term_pattern():
                end = self.i
                more = self.quantifier_binders(typed=True)
                binders.extend(more)
                if self.i == end or self.texts[self.i] not in ("⟨", "("):
                    break
                continue
            pattern = self.atom()
            # No text can contain this name, since it ends in the mark of inaccessible ones.
            name = f"x{INACCESSIBLE_MARK}{len(patterns) or ''}"
            binders.append(stx.Binder(name, pos=pattern.pos, end=pattern.end))
            patterns.append((stx.Ident(name, pos=pattern.pos, end=pattern.end), pattern))
        return tuple(binders), patterns

    def at_term_pattern(self) -> bool:
        """Whether `⟨p, q⟩` or `(p, q)` stands here rather than binders in parentheses."""
        if self.texts[self.i] != "(":
            return self.texts[self.i] == "⟨"
        depth, i = 0, self.i
        while self.texts[i]:
            text = self.texts[i]
            depth += (text in ("(", "⟨", "[", "{")) - (text in (")", "⟩", "]", "}"))
            if depth == 0 or (depth == 1 and text in (",", ":")):
                return text == ","
            i += 1
        return False

    def forall(self) -> stx.Forall:
        start = self.pos()
        self.i += 1
        binders = self.quantifier_binders(typed=False)
        predicate = self.binder_predicate(binders)
        self.expect(",")
        body = self.term()
        end = self.last_end()
        if predicate is not None:
            body = stx.Arrow(predicate, body, pos=predicate.pos, end=end)
        return stx.Forall(binders, body, pos=start, end=end)

    def exists(self) -> stx.Exists:
        start = self.pos()
        self.i += 1
        if self.texts[self.i] == "!":
            self.refuse("`∃!` is")
        binders = self.existential_binders()
        predicate = self.binder_predicate(binders)
        self.expect(",")
        body = self.term()
        end = self.last_end()
        if predicate is not None:
            body = stx.BinOp("∧", predicate, body, pos=predicate.pos, end=end)
        return stx.Exists(binders, body, pos=start, end=end)

    # --- blocks

    def local_definition(self, keyword: str) -> tuple[str, stx.Term | None, stx.Term]:
        """`x (a : A) : T := v` after `let` or `have`; the binders go into type and value."""
        if self.texts[self.i] == "⟨":
            self.refuse(f"a pattern after `{keyword}` here is")
        name = self.binder_name() if keyword == "let" or self.at_binder_name() else "this"
        start = self.pos()
        binders = self.signature_binders()
        type_ = self.term() if self.accept(":") else None
        self.expect(":=")
        value = self.term()
        if binders:
            end = self.last_end()
            type_ = stx.Forall(binders, type_, pos=start, end=end) if type_ is not None else None
            value = stx.Fun(binders, value, pos=start, end=end)
        return name, type_, value

    def let_or_have(self) -> stx.Term:
        start, keyword = self.pos(), self.texts[self.i]
        column, self.column = self.column, self.cols[self.i]
        self.i += 1
        if self.at_term_pattern():
            return self.destructuring(start, column)
        name, type_, value = self.local_definition(keyword)
        self.column = column
        if not self.accept(";") and not self.on_new_line():
            self.fail("';' or a new line")
        body = self.term()
        node = stx.Let if keyword == "let" else stx.Have
        return node(name, type_, value, body, pos=start, end=self.last_end())

    def destructuring(self, start: int, column: int) -> stx.Match:
        """`⟨p, q⟩ : T := v; b` after `let` or `have`."""
        pattern = self.atom()
        type_ = self.term() if self.accept(":") else None
        self.expect(":=")
        value = self.term()
        if type_ is not None:
            value = stx.TypeAscription(value, type_, pos=value.pos, end=value.end)
        self.column = column
        if not self.accept(";") and not self.on_new_line():
            self.fail("';' or a new line")
        body = self.term()
        alt = stx.MatchAlt((pattern,), body, pos=pattern.pos, end=self.last_end())
        return stx.Match(((None, value),), (alt,), pos=start, end=self.last_end())

    def suffices_term(self) -> stx.Have:
        """`suffices h : T from e; b` is `have h : T := b; e`."""
        start = self.pos()
        column, self.column = self.column, self.cols[self.i]
        self.i += 1
        name, type_, value = self.suffices_parts()
        self.column = column
        if not self.accept(";") and not self.on_new_line():
            self.fail("';' or a new line")
        return stx.Have(name, type_, self.term(), value, pos=start, end=self.last_end())

    def suffices_parts(self) -> tuple[str, stx.Term, stx.Term]:
        """`h : T from e` or `h : T by tactics`; the name is `this` when none is given."""
        name = self.equation_name() or "this"
        type_ = self.term()
        if self.texts[self.i] == "by":
            return name, type_, self.by()
        if not self.accept("from"):
            self.fail("'from' or 'by'")
        return name, type_, self.term()

    def show(self) -> stx.Show:
        start = self.pos()
        self.i += 1
        type_ = self.term()
        if self.texts[self.i] == "by":
            value: stx.Term = self.by()
        else:
            self.expect("from")
            value = self.term()
        return stx.Show(type_, value, pos=start, end=self.last_end())

    def by(self) -> stx.By:
        start = self.pos()
        self.i += 1
        return stx.By(self.tactic_block(), pos=start, end=self.last_end())

    def if_then_else(self) -> stx.If:
        start = self.pos()
        self.i += 1
        name = self.equation_name()
        condition = self.term()
        self.expect("then")
        then = self.term()
        self.expect("else")
        return stx.If(name, condition, then, self.term(), pos=start, end=self.last_end())

    def equation_name(self) -> str | None:
        """The `h :` before a term, or None."""
        if not self.at_binder_name() or self.texts[self.i + 1] != ":":
            return None
        name = self.binder_name()
        self.i += 1
        return name

    def match(self) -> stx.Match:
        self.i += 1
        return self.match_body(self.starts[self.i - 1], self.term)

    def match_body(self, start: int, read_rhs: Callable[[], stx.Term]) -> stx.Match:
        """What stands behind the word `match`; `read_rhs` reads the right side of an alternative."""
        targets = [(self.equation_name(), self.term())]
        while self.accept(","):
            targets.append((self.equation_name(), self.term()))
        self.expect("with")
        return stx.Match(tuple(targets), self.match_alternatives(read_rhs), pos=start, end=self.last_end())

    def match_alternatives(self, read_rhs: Callable[[], stx.Term] | None = None) -> tuple[stx.MatchAlt, ...]:
        """`| p, q => e` at least once, none to the left of the first; `| p | q => e` gives two alternatives."""
        if self.texts[self.i] != "|":
            self.fail("'|'")
        column, self.column = self.column, self.cols[self.i]
        alts: list[stx.MatchAlt] = []
        while self.texts[self.i] == "|" and self.cols[self.i] >= self.column:
            start = self.pos()
            rows: list[tuple[stx.Term, ...]] = []
            while self.accept("|"):
                row = [self.term()]
                while self.accept(","):
                    row.append(self.term())
                rows.append(tuple(row))
            self.expect("=>")
            rhs = self.term() if read_rhs is None else read_rhs()
            alts.extend(stx.MatchAlt(row, rhs, pos=start, end=self.last_end()) for row in rows)
        self.column = column
        return tuple(alts)
