"""Terms: precedence climbing with Lean 4's precedences.

The parser never goes back: every choice is made by looking at most a few tokens ahead. `by` blocks and the columns that
end them are in `parse_tactics`, which extends the class below.
"""

from collections.abc import Callable

from . import syntax as stx
from .cursor import NO_COLUMN
from .lexer import FIELD, HOLE, IDENT, NUM
from .parse_binders import BRACKETS, BinderParser

MAX_DIGITS = 1000
MAX_PREC = 1024  # what can be an argument
LEAD_PREC = 1023  # `∀ x, p` and the like: an operand, but no argument without parentheses
ARROW_PREC = 25

# token -> (canonical text, own precedence, least precedence of the left side, precedence of the right side)
OPERATORS: dict[str, tuple[str, int, int, int]] = {
    "→": ("→", ARROW_PREC, 0, ARROW_PREC),
    "<|": ("<|", 10, 0, 10),
    "|>": ("|>", 10, 10, 11),
    "↔": ("↔", 20, 21, 21),
    "∨": ("∨", 30, 31, 30),
    "||": ("||", 30, 30, 31),
    "∧": ("∧", 35, 36, 35),
    "×": ("×", 35, 36, 35),
    "&&": ("&&", 35, 35, 36),
    **{op: (op, 50, 51, 51) for op in ("=", "≠", "==", "!=", "<", ">", "≤", "≥", "∣")},
    **{op: (op, 65, 65, 66) for op in ("+", "-", "++")},
    "::": ("::", 67, 68, 67),
    **{op: (op, 70, 70, 71) for op in ("*", "/", "%")},
    "^": ("^", 75, 76, 75),
    "▸": ("▸", 75, 75, 75),
    "∘": ("∘", 90, 91, 90),
}
_SPELLINGS = {"->": "→", "$": "<|", "<->": "↔", "\\/": "∨", "/\\": "∧", "<=": "≤", ">=": "≥"}
OPERATORS.update({spelling: OPERATORS[op] for spelling, op in _SPELLINGS.items()})


class TermParser(BinderParser):
    """One method per form of term."""

    def tactic_block(self) -> stx.TacticSeq:
        """The tactics after `by`."""
        raise NotImplementedError

    # --- operators and applications

    def term(self, prec: int = 0) -> stx.Term:
        """A term whose operators bind at least as tightly as `prec`."""
        self.enter()
        start = self.starts[self.i]
        lhs = self.operand(prec)
        lhs_prec, chain = MAX_PREC, 0
        while (operator := OPERATORS.get(self.texts[self.i])) is not None:
            op, own, least_left, right = operator
            if own < prec:
                break
            if lhs_prec < least_left:
                raise self.tokens.error(f"'{op}' cannot follow here without parentheses", self.pos())
            chain += 1
            self.check_chain(chain)
            self.i += 1
            lhs = self.combine(op, lhs, self.term(right), start)
            lhs_prec = own
        self.depth -= 1
        return lhs

    def combine(self, op: str, lhs: stx.Term, rhs: stx.Term, start: int) -> stx.Term:
        end = self.ends[self.i - 1]
        if op == "→":
            return stx.Arrow(lhs, rhs, pos=start, end=end)
        if op == "<|" or op == "|>":
            fn, arg = (lhs, rhs) if op == "<|" else (rhs, lhs)
            # As in Lean, `f a <| b` is `f a b`.
            fn, args = (fn.fn, fn.args) if isinstance(fn, stx.AppStx) else (fn, ())
            return stx.AppStx(fn, (*args, arg), pos=start, end=end)
        return stx.BinOp(op, lhs, rhs, pos=start, end=end)

    def operand(self, prec: int) -> stx.Term:
        """A prefix form, or an atom with its arguments."""
        text, start = self.texts[self.i], self.starts[self.i]
        prefix_form = _PREFIX_FORMS.get(text)
        if prefix_form is not None:
            if prec > LEAD_PREC:
                self.fail("term")
            return prefix_form(self)
        if text in BRACKETS and prec <= ARROW_PREC and self.at_dependent_arrow():
            return self.dependent_arrow()
        if text == "-" and prec <= 75:
            return self.unary("-", 75)
        if text == "Type" or text == "Sort":
            return self.sort(with_level=True)
        head = self.atom()
        if not self.at_argument():
            return head
        if text == "(" and isinstance(head, stx.Ident) and head.explicit:
            self.refuse("an argument of `@f` in parentheses is")
        args = [self.argument()]
        while self.at_argument():
            args.append(self.argument())
        return stx.AppStx(head, tuple(args), pos=start, end=self.ends[self.i - 1])

    def at_argument(self) -> bool:
        i = self.i
        if not (self.kinds[i] <= FIELD or self.texts[i] in _ATOM_FORMS):
            return False
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
        """What can be an argument: names, numerals, brackets, each with its projections."""
        i = self.i
        kind, text, start = self.kinds[i], self.texts[i], self.starts[i]
        atom: stx.Term
        if kind == IDENT:
            self.i += 1
            levels = self.levels() if self.texts[self.i] == ".{" else None
            atom = stx.Ident(text, False, levels, pos=start, end=self.ends[self.i - 1])
        elif kind == NUM:
            atom = self.numeral()
        elif kind == HOLE:
            self.i += 1
            atom = stx.SyntheticHole(text[1:], pos=start, end=self.ends[i])
        elif kind == FIELD and not text[1].isdecimal():
            self.i += 1
            atom = stx.DotIdent(text[1:], pos=start, end=self.ends[i])
        else:
            form = _ATOM_FORMS.get(text)
            if form is None:
                self.fail("term")
            atom = form(self)
        while self.kinds[self.i] == FIELD and self.starts[self.i] == self.ends[self.i - 1]:
            self.check_chain(self.i - i)
            part = self.texts[self.i][1:]
            field = self.small_projection(part) if part[0].isdecimal() else part
            self.i += 1
            atom = stx.ProjStx(atom, field, pos=start, end=self.ends[self.i - 1])
        return atom

    def small_projection(self, digits: str) -> int:
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
        return stx.Num(int(text), pos=start, end=self.last_end())

    def levels(self) -> tuple[stx.LevelStx, ...]:
        self.i += 1
        levels = [self.level()]
        while self.accept(","):
            levels.append(self.level())
        self.expect("}")
        return tuple(levels)

    def sort(self, with_level: bool = False) -> stx.SortStx:
        start, text = self.pos(), self.texts[self.i]
        self.i += 1
        level = self.level_atom() if with_level and text != "Prop" and self.at_level() else None
        kind: stx.SortKind = "Prop" if text == "Prop" else "Type" if text == "Type" else "Sort"
        return stx.SortStx(kind, level, pos=start, end=self.last_end())

    def explicit(self) -> stx.Ident:
        start = self.pos()
        self.i += 1
        if self.spaced():
            self.fail("identifier right after '@'")
        name = self.name()
        levels = self.levels() if self.texts[self.i] == ".{" else None
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
        if self.texts[self.i] in (")", "·"):
            self.refuse("`()` is" if self.texts[self.i] == ")" else "`·` for an argument is")
        column, self.column = self.column, NO_COLUMN
        term = self.term()
        if self.accept(":"):
            type_ = self.term()
            self.expect(")")
            term = stx.TypeAscription(term, type_, pos=start, end=self.last_end())
        elif self.texts[self.i] == ",":
            self.refuse("the pair `(a, b)` is")
        else:
            self.expect(")")
        self.column = column
        return term

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

    def unary(self, op: str, prec: int) -> stx.Unary:
        start = self.pos()
        self.i += 1
        return stx.Unary(op, self.term(prec), pos=start, end=self.last_end())

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

    def fun(self) -> stx.Fun:
        start = self.pos()
        self.i += 1
        if self.texts[self.i] == "|":
            self.refuse("`fun` with alternatives is")
        binders = self.quantifier_binders(typed=True)
        if not self.accept("=>", "↦"):
            self.fail("'=>'")
        return stx.Fun(binders, self.term(), pos=start, end=self.last_end())

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
        if self.texts[self.i] in ("⟨", "("):
            self.refuse(f"a pattern after `{keyword}` (`obtain` and `cases` take them apart) is")
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

    def let_or_have(self) -> stx.Let | stx.Have:
        start, keyword = self.pos(), self.texts[self.i]
        column, self.column = self.column, self.cols[self.i]
        self.i += 1
        name, type_, value = self.local_definition(keyword)
        self.column = column
        if not self.accept(";") and not self.on_new_line():
            self.fail("';' or a new line")
        body = self.term()
        node = stx.Let if keyword == "let" else stx.Have
        return node(name, type_, value, body, pos=start, end=self.last_end())

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
        start = self.pos()
        self.i += 1
        targets = [(self.equation_name(), self.term())]
        while self.accept(","):
            targets.append((self.equation_name(), self.term()))
        self.expect("with")
        return stx.Match(tuple(targets), self.match_alternatives(), pos=start, end=self.last_end())

    def match_alternatives(self) -> tuple[stx.MatchAlt, ...]:
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
            rhs = self.term()
            alts.extend(stx.MatchAlt(row, rhs, pos=start, end=self.last_end()) for row in rows)
        self.column = column
        return tuple(alts)


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
}
_ATOM_FORMS: dict[str, Callable[[TermParser], stx.Term]] = {
    "(": TermParser.parenthesis,
    "⟨": TermParser.anonymous_constructor,
    "[": TermParser.list_literal,
    "_": TermParser.hole,
    "@": TermParser.explicit,
    "Prop": TermParser.sort,
    "Type": TermParser.sort,
    "Sort": TermParser.sort,
    "fun": TermParser.fun,
    "λ": TermParser.fun,
    "sorry": TermParser.sorry,
    "‹": TermParser.assumption,
    "¬": lambda parser: parser.unary("¬", 40),
    "!": lambda parser: parser.unary("!", 40),
}
