"""Terms: precedence climbing with Lean 4's precedences.

The parser never goes back: every choice is made by looking at most a few tokens ahead. Its classes extend each other:
cursor, binders, forms, terms, cases, tactics, commands.
"""

from collections.abc import Callable
from typing import cast

from nanolean import syntax as stx
from nanolean.meta.lctx import INACCESSIBLE_MARK
from nanolean.parser.lexer import FIELD, HOLE, IDENT, NO_COLUMN, NUM, value_of
from nanolean.parser.parse_forms import BRACKETS, CalcParser
from nanolean.syntax.notation import ARROW_PREC, ASCII, LEAD_PREC, MAX_PREC, NOT_PREC, OPERATORS

MAX_DIGITS = 1000
CDOTS = ("·", ".")
"""How `(· + 1)` is written; older files have the full stop, which Lean takes as well."""
_OPERATORS = OPERATORS | {spelling: OPERATORS[symbol] for spelling, symbol in ASCII.items()}
_OPERATORS["|>."] = OPERATORS["|>"]  # as an operator it takes no term on its right, but a field


class TermParser(CalcParser):
    """Operators, applications and atoms."""

    cdots: list[stx.Binder] | None = None
    """The arguments that `·` stands for in the parentheses that are read; None outside of any."""

    # --- operators and applications

    def term(self, prec: int = 0) -> stx.Term:
        """Parse a term whose operators bind at least as tightly as `prec`."""
        self.enter()
        start = self.starts[self.i]
        lhs = self.operand(prec)
        lhs_prec, chain = MAX_PREC, 0
        while (operator := _OPERATORS.get(self.texts[self.i])) is not None:
            op, own, least_left, right = operator
            if own < prec:
                break
            # `a = b = c` and `a < b < c` are mistakes in Lean: 50 on the left of an operator that takes 51 there.
            if lhs_prec < least_left:
                raise self.tokens.error(f"'{op}' cannot follow here without parentheses", self.pos())
            chain += 1
            self.check_chain(chain)
            self.i += 1
            if self.texts[self.i - 1] == "|>.":
                lhs = self.piped_field(lhs, start)
            else:
                lhs = self.combine(op, lhs, self.term(right), start)
            lhs_prec = own
        self.depth -= 1
        return lhs

    def combine(self, op: str, lhs: stx.Term, rhs: stx.Term, start: int) -> stx.Term:
        end = self.ends[self.i - 1]
        if op == "→":
            return stx.Arrow(lhs, rhs, pos=start, end=end)
        if op == "<|" or op == "|>":
            fn, arg = lhs, rhs
            if op == "|>":
                fn, arg = rhs, lhs
            # As in Lean, `f a <| b` is `f a b`: what is expected of `b` depends on `a`.
            if isinstance(fn, stx.AppStx):
                return stx.AppStx(fn.fn, (*fn.args, arg), pos=start, end=end)
            return stx.AppStx(fn, (arg,), pos=start, end=end)
        return stx.BinOp(op, lhs, rhs, pos=start, end=end)

    def operand(self, prec: int) -> stx.Term:
        """Parse a prefix form, or an atom with its arguments."""
        text, start = self.texts[self.i], self.starts[self.i]
        prefix_form = _PREFIX_FORMS.get(text)
        if prefix_form is not None:
            if prec > LEAD_PREC:
                self.fail("term")
            return prefix_form(self)
        if text in BRACKETS and prec <= ARROW_PREC and self.at_dependent_arrow():
            return self.dependent_arrow()
        # As in Lean, `-x ^ 2` is `-(x ^ 2)`, and `-x * y` is `(-x) * y`.
        if text == "-" and prec <= 75:
            return self.unary("-", 75)
        if text == "Type" or text == "Sort":
            return self.sort(with_level=True)
        head = self.atom()
        if not self.at_argument() and self.texts[self.i] != "..":
            return head
        if text == "(" and isinstance(head, stx.Ident) and head.explicit:
            self.refuse("an argument of `@f` in parentheses is")
        return self.applied(head, start)

    def applied(self, head: stx.Term, start: int) -> stx.Term:
        """Parse the arguments of a term that is read; without any it is the term."""
        args: list[stx.Term | stx.NamedArg] = []
        while self.at_argument():
            args.append(self.argument())
        ellipsis = self.texts[self.i] == ".." and self.spaced() and self.accept("..")
        if not args and not ellipsis:
            return head
        return stx.AppStx(head, tuple(args), ellipsis, pos=start, end=self.ends[self.i - 1])

    def piped_field(self, term: stx.Term, start: int) -> stx.Term:
        """Behind `e |>.`: `e |>.f a` is `(e).f a`."""
        if self.spaced():
            self.fail("field right after '|>.'")
        field: str | int
        if self.kinds[self.i] == NUM:
            field = self.small_projection(self.texts[self.i])
            self.i += 1
        else:
            field = self.name("name of a field")
        return self.applied(stx.ProjStx(term, field, pos=start, end=self.last_end()), start)

    def at_argument(self) -> bool:
        i = self.i
        is_cdot = self.texts[i] in CDOTS and self.cdots is not None
        if not (self.kinds[i] <= FIELD or self.texts[i] in _ATOM_FORMS or is_cdot):
            return False
        # `checkWsBefore` and `checkColGt`: `f(x)` is no application, and what begins a line of the block no argument.
        return self.starts[i] > self.ends[i - 1] and self.cols[i] > self.column

    def argument(self) -> stx.Term | stx.NamedArg:
        i = self.i
        if self.texts[i] != "(" or self.kinds[i + 1] != IDENT or self.texts[i + 2] != ":=":
            return self.atom()
        self.i += 3
        column, self.column = self.column, NO_COLUMN
        value = self.term()
        self.expect(")")
        self.column = column
        return stx.NamedArg(self.texts[i + 1], value, pos=self.starts[i], end=self.last_end())

    # --- atoms

    def atom(self) -> stx.Term:
        """Parse what can be an argument: names, numerals, brackets, each with its projections."""
        i = self.i
        kind, text, start = self.kinds[i], self.texts[i], self.starts[i]
        atom: stx.Term
        if kind == IDENT:
            self.i += 1
            levels = self.after(".{", self.levels)
            atom = stx.Ident(text, False, levels, pos=start, end=self.ends[self.i - 1])
        elif kind == NUM:
            atom = self.numeral()
        elif kind == HOLE:
            self.i += 1
            atom = stx.SyntheticHole(text[1:], pos=start, end=self.ends[i])
        elif kind == FIELD and not text[1].isdecimal():
            self.i += 1
            atom = stx.DotIdent(text[1:], pos=start, end=self.ends[i])
        elif text in CDOTS and self.cdots is not None:
            atom = self.cdot(self.cdots)
        else:
            form = _ATOM_FORMS.get(text)
            if form is None:
                self.fail("term")
            atom = form(self)
        # Without a blank: `f .x` is an argument.
        while self.kinds[self.i] == FIELD and self.starts[self.i] == self.ends[self.i - 1]:
            self.check_chain(self.i - i)
            part = self.texts[self.i][1:]
            field = self.small_projection(part) if part[0].isdecimal() else part
            self.i += 1
            atom = stx.ProjStx(atom, field, pos=start, end=self.ends[self.i - 1])
        return atom

    def small_projection(self, digits: str) -> int:
        # Fields count from 1.
        if len(digits) > 3 or digits[0] == "0":
            self.refuse(f"the projection '.{digits[:8]}' is")
        return int(digits)

    def numeral(self) -> stx.Num:
        text, start = self.texts[self.i], self.starts[self.i]
        if len(text) > MAX_DIGITS:
            self.refuse(f"a numeral of more than {MAX_DIGITS} digits is")
        self.i += 1
        if self.kinds[self.i] == FIELD and not self.spaced():
            self.refuse("a numeral with a decimal point is")
        return stx.Num(value_of(text), pos=start, end=self.last_end())

    def levels(self) -> tuple[stx.LevelStx, ...]:
        levels = [self.level()]
        while self.accept(","):
            levels.append(self.level())
        self.expect("}")
        return tuple(levels)

    def sort(self, with_level: bool = False) -> stx.SortStx:
        start, text = self.pos(), self.texts[self.i]
        self.i += 1
        # `Type u` takes its level as a function its argument; as an argument itself, `f Type u`, it takes none.
        level = self.level_atom() if with_level and text != "Prop" and self.at_level() else None
        return stx.SortStx(cast(stx.SortKind, text), level, pos=start, end=self.last_end())

    def explicit(self) -> stx.Ident:
        start = self.pos()
        self.i += 1
        if self.spaced():
            self.fail("identifier right after '@'")
        name = self.name()
        levels = self.after(".{", self.levels)
        return stx.Ident(name, True, levels, pos=start, end=self.last_end())

    def hole(self) -> stx.Hole:
        self.i += 1
        return stx.Hole(pos=self.starts[self.i - 1], end=self.ends[self.i - 1])

    def sorry(self) -> stx.SorryTerm:
        self.i += 1
        return stx.SorryTerm(pos=self.starts[self.i - 1], end=self.ends[self.i - 1])

    def parenthesis(self) -> stx.Term:
        start = self.pos()
        self.i += 1
        if self.texts[self.i] == ")":
            self.refuse("`()` is")
        column, self.column = self.column, NO_COLUMN
        # `expandCDot?` of Lean's Elab/BuiltinNotation.lean: a `·` belongs to the innermost parentheses around it.
        outer, self.cdots = self.cdots, []
        term = self.parts(start)
        if self.cdots:
            term = stx.Fun(tuple(self.cdots), term, pos=start, end=self.last_end())
        self.cdots = outer
        if self.accept(":"):
            type_ = self.term()
            self.expect(")")
            term = stx.TypeAscription(term, type_, pos=start, end=self.last_end())
        else:
            self.expect(")")
        self.column = column
        return term

    def cdot(self, cdots: list[stx.Binder]) -> stx.Ident:
        """Read a `·`, which stands for another argument of the function that its parentheses are."""
        start, end = self.pos(), self.ends[self.i]
        self.i += 1
        # No text can contain this name, so none that stands beside it is captured.
        name = f"x{INACCESSIBLE_MARK}{len(cdots) or ''}"
        cdots.append(stx.Binder(name, pos=start, end=end))
        return stx.Ident(name, pos=start, end=end)

    def parts(self, start: int) -> stx.Term:
        """`a`, or `a, b, c`, which is `Prod.mk a (Prod.mk b c)`."""
        parts = [self.term()]
        while self.accept(","):
            parts.append(self.term())
        if len(parts) == 1:
            return parts[0]
        # From the right, as `×` associates.
        result = parts.pop()
        while parts:
            part = parts.pop()
            fn = stx.Ident("Prod.mk", pos=part.pos, end=part.pos)
            result = stx.AppStx(fn, (part, result), pos=part.pos, end=self.last_end())
        assert isinstance(result, stx.AppStx)
        return stx.AppStx(result.fn, result.args, pos=start, end=self.last_end())

    def items(self, close: str) -> tuple[stx.Term, ...]:
        """`a, b, c` up to the closing bracket; the cursor is at the opening one."""
        self.i += 1
        column, self.column = self.column, NO_COLUMN
        items: list[stx.Term] = []
        while self.texts[self.i] != close:
            if items:
                self.expect(",")
            items.append(self.term())
        self.i += 1
        self.column = column
        return tuple(items)

    def anonymous_constructor(self) -> stx.AnonCtor:
        start = self.pos()
        return stx.AnonCtor(self.items("⟩"), pos=start, end=self.last_end())

    def where_fields(self) -> stx.StructLit:
        """Behind `def p : S where`: `x := a` in lines of one column."""
        start = self.pos()
        column, self.column = self.column, self.cols[self.i]
        fields: list[stx.NamedArg] = []
        while self.kinds[self.i] == IDENT and self.cols[self.i] == self.column:
            first, name = self.pos(), self.name("name of a field")
            if self.texts[self.i] != ":=":
                self.refuse("a field with arguments is")
            self.i += 1
            fields.append(stx.NamedArg(name, self.term(), pos=first, end=self.last_end()))
        self.column = column
        return stx.StructLit(tuple(fields), pos=start, end=self.last_end())

    def structure_literal(self) -> stx.StructLit:
        """`{ s with x := a, y := b : T }`; `{ x, y }` stands for `{ x := x, y := y }`."""
        start = self.pos()
        self.i += 1
        column, self.column = self.column, NO_COLUMN
        source, type_ = None, None
        at_source = self.texts[self.i] not in ("", "}")
        if at_source and self.texts[self.i + 1] not in (":=", ",", "}", "//", "|", ":", "..", "∈"):
            source = self.term()
            if self.texts[self.i] == ",":
                self.refuse("more than one term before `with` is")
            self.expect("with")
        self.column = self.cols[self.i]
        fields: list[stx.NamedArg] = []
        while self.texts[self.i] != "}":
            if fields and self.accept(":"):
                type_ = self.term()
                continue
            first, name = self.pos(), self.name("name of a field")
            if self.texts[self.i] in ("//", "|", ":", "..", "∈"):
                self.refuse(f"`{{ .. {self.texts[self.i]} .. }}` is")
            value: stx.Term = stx.Ident(name, pos=first, end=self.last_end())
            if self.accept(":="):
                value = self.term()
            fields.append(stx.NamedArg(name, value, pos=first, end=self.last_end()))
            # A new line is as good as a comma.
            if self.texts[self.i] not in (":", "}") and not self.accept(",") and not self.on_new_line():
                self.fail("',' or '}'")
        self.i += 1
        self.column = column
        return stx.StructLit(tuple(fields), source, type_, pos=start, end=self.last_end())

    def list_literal(self) -> stx.ListLit:
        start = self.pos()
        return stx.ListLit(self.items("]"), pos=start, end=self.last_end())

    def assumption(self) -> stx.TypeAscription:
        """`‹p›` stands for `(by assumption : p)`."""
        start = self.pos()
        self.i += 1
        type_ = self.term()
        self.expect("›")
        end = self.last_end()
        tactics = stx.TacticSeq((stx.AssumptionStx(pos=start, end=end),), pos=start, end=end)
        return stx.TypeAscription(stx.By(tactics, pos=start, end=end), type_, pos=start, end=end)

    def nomatch_term(self) -> stx.By:
        """`nomatch h, k` stands for the tactic of that name."""
        start = self.pos()
        self.i += 1
        terms = [self.term()]
        while self.accept(","):
            terms.append(self.term())
        end = self.last_end()
        tactics = stx.TacticSeq((stx.NomatchStx(tuple(terms), pos=start, end=end),), pos=start, end=end)
        return stx.By(tactics, pos=start, end=end)

    def nofun_term(self) -> stx.By:
        """`nofun` stands for the tactic of that name."""
        start = self.pos()
        self.i += 1
        end = self.last_end()
        return stx.By(stx.TacticSeq((stx.NofunStx(pos=start, end=end),), pos=start, end=end), pos=start, end=end)

    def unary(self, op: str, prec: int) -> stx.Unary:
        start = self.pos()
        self.i += 1
        return stx.Unary(op, self.term(prec), pos=start, end=self.last_end())


_PREFIX_FORMS: dict[str, Callable[[TermParser], stx.Term]] = {
    "∀": TermParser.forall,
    "forall": TermParser.forall,
    "∃": TermParser.exists,
    "exists": TermParser.exists,
    "let": TermParser.let_or_have,
    "have": TermParser.let_or_have,
    "show": TermParser.show,
    "by": TermParser.by,
    "if": TermParser.if_then_else,
    "match": TermParser.match,
    "calc": TermParser.calc,
    "suffices": TermParser.suffices_term,
    "nomatch": TermParser.nomatch_term,
}
_ATOM_FORMS: dict[str, Callable[[TermParser], stx.Term]] = {
    "(": TermParser.parenthesis,
    "⟨": TermParser.anonymous_constructor,
    "[": TermParser.list_literal,
    "{": TermParser.structure_literal,
    "_": TermParser.hole,
    "@": TermParser.explicit,
    "Prop": TermParser.sort,
    "Type": TermParser.sort,
    "Sort": TermParser.sort,
    "fun": TermParser.fun,
    "λ": TermParser.fun,
    "sorry": TermParser.sorry,
    "nofun": TermParser.nofun_term,
    "‹": TermParser.assumption,
    "¬": lambda parser: parser.unary("¬", NOT_PREC),
    "!": lambda parser: parser.unary("!", NOT_PREC),
}
