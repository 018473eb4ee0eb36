"""Binders: `(a b : T)`, `{x}`, `[inst : C]`, `x y : T`, `x < n`, and universe levels."""

from typing import NoReturn

from nanolean import syntax as stx
from nanolean.cursor import NO_COLUMN, Cursor
from nanolean.lexer import IDENT, NUM

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
        """The binders of the group at the cursor, which is an opening bracket; `typed` if `(x)` is no such group."""
        close, info = BRACKETS[self.texts[self.i]]
        self.i += 1
        column, self.column = self.column, NO_COLUMN
        if info == "inst" and not (self.at_binder_name() and self.texts[self.i + 1] == ":"):
            start = self.pos()
            binders = [stx.Binder("_", self.term(), "inst", pos=start, end=self.last_end())]
        else:
            first = self.i
            names = self.binder_names()
            if not names:
                self.fail("identifier")
            if typed and info == "default" and self.texts[self.i] != ":":
                self.fail("':'")
            type_ = self.term() if self.accept(":") else None
            binders = [
                stx.Binder(name, type_, info, pos=self.starts[first + k], end=self.ends[first + k])
                for k, name in enumerate(names)
            ]
        if self.texts[self.i] == ":=":
            self.refuse("default values of arguments are")
        self.expect(close)
        self.column = column
        return binders

    def signature_binders(self) -> tuple[stx.Binder, ...]:
        """Binders before the `:` of a declaration: groups in brackets and bare names."""
        binders: list[stx.Binder] = []
        while self.texts[self.i] in BRACKETS or self.at_binder_name():
            if self.at_binder_name():
                binders.append(self.bare_binder())
            else:
                binders.extend(self.bracketed_binders())
            self.check_chain(len(binders))
        return tuple(binders)

    def bare_binder(self) -> stx.Binder:
        start = self.pos()
        return stx.Binder(self.binder_name(), pos=start, end=self.last_end())

    def quantifier_binders(self, typed: bool) -> tuple[stx.Binder, ...]:
        """What stands between `∀` or `fun` and its body: `x y : T`, or names and groups in brackets."""
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
        return self.with_type(binders) if not grouped else tuple(binders)

    def existential_binders(self) -> tuple[stx.Binder, ...]:
        """What stands between `∃` and its body: `x y : T`, or groups `(x y : T)`, not both."""
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
        """The bare binders with the type that may follow them all."""
        if self.accept(":"):
            type_ = self.term()
            binders = [stx.Binder(b.name, type_, pos=b.pos, end=b.end) for b in binders]
        return tuple(binders)

    def binder_predicate(self, binders: tuple[stx.Binder, ...]) -> stx.BinOp | None:
        """The `x < n` of `∀ x < n, p`, read after `x`; None when there is no such thing."""
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
        """A numeral that counts something (universes, goals), not a term."""
        if self.kinds[self.i] != NUM:
            self.fail("numeral")
        if len(self.texts[self.i]) > 3:
            self.refuse("a number of this size here is")
        self.i += 1
        return int(self.texts[self.i - 1])
