"""Binders, and forms that bind names or hold blocks: `fun`, `∀`, `∃`, `let`, `have`, `by`, `if`, `match`, `calc`."""

from collections.abc import Callable
from typing import NoReturn

from nanolean import syntax as stx
from nanolean.meta.lctx import INACCESSIBLE_MARK
from nanolean.parser.lexer import DOC, EOF, FIELD, IDENT, NO_COLUMN, NUM, Cursor
from nanolean.syntax.notation import ARROW_PREC

MAX_LEVEL = 32  # as in Lean
BRACKETS: dict[str, tuple[str, stx.BinderInfo]] = {
    "(": (")", "default"),
    "{": ("}", "implicit"),
    "⦃": ("⦄", "strict"),
    "[": ("]", "inst"),
}
BINDER_PREDICATES = ("<", "≤", ">", "≥", "≠", "∈", "∉")


class BinderParser(Cursor):
    """Reads binders; terms come from the class that extends it."""

    def term(self, prec: int = 0) -> stx.Term:
        raise NotImplementedError

    def bracketed_binders(self, typed: bool = False) -> list[stx.Binder]:
        """Parse the binders of the group at the cursor, an opening bracket; `typed` if `(x)` is no such group."""
        close, info = BRACKETS[self.texts[self.i]]
        self.i += 1
        column, self.column = self.column, NO_COLUMN
        # `[Add α]` has no name, `[inst : Add α]` has one: only the colon tells.
        if info == "inst" and not (self.at_binder_name() and self.texts[self.i + 1] == ":"):
            start = self.pos()
            binders = [stx.Binder("_", self.term(), "inst", pos=start, end=self.last_end())]
        else:
            first = self.i
            names = self.binder_names()
            if not names:
                self.fail("identifier")
            # `fun (x) => b` has a term in parentheses: no type is taken for granted there.
            if typed and info == "default" and self.texts[self.i] != ":":
                self.fail("':'")
            type_ = self.after(":", self.term)
            binders = [
                stx.Binder(name, type_, info, pos=self.starts[first + k], end=self.ends[first + k])
                for k, name in enumerate(names)
            ]
        if self.texts[self.i] == ":=":
            self.refuse("default values of arguments are")
        self.expect(close)
        self.column = column
        return binders

    def signature_binders(self, groups: list[tuple[int, int]] | None = None) -> tuple[stx.Binder, ...]:
        """Binders before the `:` of a declaration: groups in brackets and bare names, whose spans go to `groups`."""
        binders: list[stx.Binder] = []
        while self.texts[self.i] in BRACKETS or self.at_binder_name():
            start = self.pos()
            if self.at_binder_name():
                binders.append(self.bare_binder())
            else:
                binders.extend(self.bracketed_binders())
            self.check_chain(len(binders))
            if groups is not None:
                groups.append((start, self.last_end()))
        return tuple(binders)

    def bare_binder(self) -> stx.Binder:
        start = self.pos()
        return stx.Binder(self.binder_name(), pos=start, end=self.last_end())

    def quantifier_binders(self, typed: bool) -> tuple[stx.Binder, ...]:
        """Parse the binders between `∀` or `fun` and its body: `x y : T`, or names and groups in brackets."""
        binders: list[stx.Binder] = []
        grouped = False
        while True:
            if self.at_binder_name():
                binders.append(self.bare_binder())
            elif self.texts[self.i] in BRACKETS:
                binders.extend(self.bracketed_binders(typed))
                grouped = True
            else:
                break
        if not binders:
            self.no_binder()
        # A type at the end is that of bare names alone: behind a group, a colon is a mistake.
        return self.with_type(binders) if not grouped else tuple(binders)

    def existential_binders(self) -> tuple[stx.Binder, ...]:
        """Parse the binders between `∃` and its body: `x y : T`, or groups `(x y : T)`, not both."""
        binders: list[stx.Binder] = []
        while self.texts[self.i] == "(":
            binders.extend(self.bracketed_binders(typed=True))
        if binders:
            return tuple(binders)
        while self.at_binder_name():
            binders.append(self.bare_binder())
        if not binders:
            self.no_binder()
        return self.with_type(binders)

    def no_binder(self) -> NoReturn:
        if self.texts[self.i] == "⟨":
            self.refuse("patterns in binders are")
        self.fail("identifier or '('")

    def with_type(self, binders: list[stx.Binder]) -> tuple[stx.Binder, ...]:
        """Parse the type that may follow bare binders; return the binders with it."""
        if self.accept(":"):
            type_ = self.term()
            binders = [stx.Binder(b.name, type_, pos=b.pos, end=b.end) for b in binders]
        return tuple(binders)

    def binder_predicate(self, binders: tuple[stx.Binder, ...]) -> stx.BinOp | None:
        """Parse the `x < n` of `∀ x < n, p`, after `x`; None if there is none."""
        # `∀ x < n, p` is `∀ x, x < n → p`, and `∃ x < n, p` is `∃ x, x < n ∧ p`: of one name, and without a type.
        op = self.texts[self.i]
        binder = binders[0]
        if op not in BINDER_PREDICATES or len(binders) > 1 or binder.type is not None or binder.name == "_":
            return None
        self.i += 1
        variable = stx.Ident(binder.name, pos=binder.pos, end=binder.end)
        bound = self.term()
        return stx.BinOp(op, variable, bound, pos=binder.pos, end=self.last_end())

    # --- universe levels

    def at_level(self) -> bool:
        # As an argument: behind a blank (`checkWsBefore`), and in the block (`checkColGt`).
        at_atom = self.kinds[self.i] in (IDENT, NUM) or self.texts[self.i] in ("_", "(")
        return at_atom and self.spaced() and self.indented()

    def level_atom(self) -> stx.LevelStx:
        start, text = self.pos(), self.texts[self.i]
        if text == "(":
            self.i += 1
            level = self.level()
            self.expect(")")
            return level
        if text == "_":
            self.i += 1
            return stx.LevelHole(pos=start, end=self.last_end())
        if self.kinds[self.i] == NUM:
            return stx.LevelNum(self.level_number(), pos=start, end=self.last_end())
        return stx.LevelName(self.name("universe level"), pos=start, end=self.last_end())

    def level(self) -> stx.LevelStx:
        """`u`, `1`, `max u v`, with `+ 1` behind any of them."""
        self.enter()
        start, text = self.pos(), self.texts[self.i]
        level: stx.LevelStx
        if text in ("max", "imax"):
            self.i += 1
            args = [self.level_atom()]
            while self.at_level():
                args.append(self.level_atom())
            level = stx.LevelMax(tuple(args), text == "imax", pos=start, end=self.last_end())
        else:
            level = self.level_atom()
        offset = 0
        while self.accept("+"):
            offset += self.level_number()
        if offset:
            level = stx.LevelAdd(level, offset, pos=start, end=self.last_end())
        self.depth -= 1
        return level

    def level_number(self) -> int:
        number = self.small_number()
        if number > MAX_LEVEL:
            raise self.tokens.error(f"universe levels end at {MAX_LEVEL}", self.starts[self.i - 1])
        return number

    def small_number(self) -> int:
        """Parse a numeral that counts something (universes, goals), not a term."""
        if self.kinds[self.i] != NUM:
            self.fail("numeral")
        if len(self.texts[self.i]) > 3 or not self.texts[self.i].isdecimal():
            self.refuse("a number of this size here is")
        self.i += 1
        return int(self.texts[self.i - 1])


_ATTRIBUTES_WITH_ARGUMENTS = frozenset({"deprecated", "grind", "norm_cast", "inherit_doc"})
"""Attributes that do nothing here, whose arguments are passed over."""
_MODIFIERS = (("private", "protected"), ("meta", "noncomputable"))
_PUBLIC_MODIFIERS = (("public",), ("protected",), ("meta", "noncomputable"))
"""The words before a declaration in their order, at most one of each group."""


class ModifierParser(BinderParser):
    """What stands before a declaration: its documentation, attributes and words."""

    def modifiers(self) -> stx.Modifiers:
        start = self.pos()
        doc = None
        if self.kinds[self.i] == DOC:
            doc = self.texts[self.i]
            self.i += 1
        attributes = self.after("@[", self.attributes) or ()
        # In this order and no other, as Lean's `declModifiers` has them. Of a single file all is public.
        groups: tuple[tuple[str, ...], ...] = _MODIFIERS
        if self.texts[self.i] == "public":
            groups = _PUBLIC_MODIFIERS
        words = [self.texts[self.i - 1] for group in groups if self.accept(*group)]
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
            if self.accept("instance"):
                names.append(f"{before}instance")
                if self.accept("low") or (self.kinds[self.i] == NUM and self.small_number() < 1000):
                    names[-1] = f"{before}low instance"  # an instance that states no priority has 1000
                continue
            name = self.name("name of an attribute")
            names.append(before + name)
            if name in _ATTRIBUTES_WITH_ARGUMENTS or (name in ("simp", "ext") and self.at_priority()):
                self.skip_arguments()
        self.expect("]")
        return tuple(names)

    def at_priority(self) -> bool:
        """Whether an order among lemmas follows, which changes no proof: `simp 900`, `simp high`, `simp ↓`."""
        return self.kinds[self.i] == NUM or self.texts[self.i] in ("high", "low", "↓")

    def skip_arguments(self) -> None:
        """Go to the `,` or `]` behind an attribute's arguments: `deprecated foo (since := "2025-01-01")`."""
        depth = 0
        while self.kinds[self.i] != EOF and (depth or self.texts[self.i] not in (",", "]")):
            depth += (self.texts[self.i] in ("(", "[")) - (self.texts[self.i] in (")", "]"))
            self.i += 1


class FormParser(BinderParser):
    """One method per form; each starts at the word that opens it."""

    in_conv = False
    """Whether the steps of a `conv` are read."""

    def atom(self) -> stx.Term:
        """Parse what can be an argument; implemented by the class that extends this one."""
        raise NotImplementedError

    def tactic_block(self) -> stx.TacticSeq:
        """Parse the tactics after `by`; implemented by the class that extends this one."""
        raise NotImplementedError

    # --- binders

    def at_dependent_arrow(self) -> bool:
        """Return whether `(x y : T) →` stands here."""
        # Lean tries the arrow first and goes back. Here the closing bracket is looked for, and the arrow behind it.
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
        # As Lean expands it: `fun ⟨a, b⟩ => e` is `fun x => match x with | ⟨a, b⟩ => e`. The last pattern is innermost.
        for target, pattern in reversed(patterns):
            alt = stx.MatchAlt((pattern,), body, pos=pattern.pos, end=self.last_end())
            body = stx.Match(((None, target),), (alt,), pos=pattern.pos, end=self.last_end())
        return stx.Fun(binders, body, pos=start, end=self.last_end())

    def fun_binders(self) -> tuple[tuple[stx.Binder, ...], list[tuple[stx.Ident, stx.Term]]]:
        """Parse the binders of `fun`; for each pattern among them a variable that the body takes apart."""
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
        """Return whether `⟨p, q⟩` or `(p, q)` stands here rather than binders in parentheses."""
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
        # `have : p := h` names it `this`; a `let` has to be named.
        name = self.binder_name() if keyword == "let" or self.at_binder_name() else "this"
        start = self.pos()
        binders = self.signature_binders()
        type_ = self.after(":", self.term)
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
        type_ = self.after(":", self.term)
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
        # `e` may use `h`, and `b` proves it: value and body of the `have` change places.
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
        in_conv, self.in_conv = self.in_conv, False  # a `by` in a term of `conv` is as any other
        tactics = self.tactic_block()
        self.in_conv = in_conv
        return stx.By(tactics, pos=start, end=self.last_end())

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
        """Parse the `h :` before a term; None if there is none."""
        if not self.at_binder_name() or self.texts[self.i + 1] != ":":
            return None
        name = self.binder_name()
        self.i += 1
        return name

    def match(self) -> stx.Match:
        self.i += 1
        return self.match_body(self.starts[self.i - 1], self.term)

    def match_body(self, start: int, read_rhs: Callable[[], stx.Term]) -> stx.Match:
        """Parse what follows the word `match`; `read_rhs` parses the right side of an alternative."""
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
            # `| p | q => e` has the right side twice, each time with the variables of its own pattern.
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


class CalcParser(FormParser):
    """The steps behind the word `calc`, which is the same in terms and tactics."""

    def calc(self) -> stx.Calc:
        start = self.pos()
        self.i += 1
        return stx.Calc(self.calc_steps(), pos=start, end=self.last_end())

    def calc_steps(self) -> tuple[stx.CalcStep, ...]:
        """Parse the first step, then those that begin on lines of their own, with `_` or to the right of the block."""
        outer = self.column
        steps = [self.calc_step(first=True)]
        while self.on_new_line() and (self.texts[self.i] == "_" or self.at_explicit_step(outer)):
            self.check_chain(len(steps))
            steps.append(self.calc_step())
        self.column = outer
        return tuple(steps)

    def at_explicit_step(self, outer: int) -> bool:
        return self.cols[self.i] > outer and (self.kinds[self.i] <= FIELD or self.texts[self.i] in ("(", "¬", "∃", "∀"))

    def calc_step(self, first: bool = False) -> stx.CalcStep:
        start = self.pos()
        # The proof of a step may stand on lines below, to the right of where the step begins.
        self.column = self.cols[self.i]
        relation = self.term()
        proof = None
        # The first step may be a term alone, for `_ = b` to go on from.
        if not first or self.texts[self.i] == ":=":
            self.expect(":=")
            proof = self.term()
        return stx.CalcStep(relation, proof, pos=start, end=self.last_end())
