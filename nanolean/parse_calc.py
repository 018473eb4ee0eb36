"""`calc`: a chain of relations, one step below the other."""

from nanolean import syntax as stx
from nanolean.lexer import FIELD
from nanolean.parse_forms import FormParser


class CalcParser(FormParser):
    """The steps behind the word `calc`, which is the same in terms and tactics."""

    def calc(self) -> stx.Calc:
        start = self.pos()
        self.i += 1
        return stx.Calc(self.calc_steps(), pos=start, end=self.last_end())

    def calc_steps(self) -> tuple[stx.CalcStep, ...]:
        """The first step, then those that begin on lines of their own, with `_` or to the right of the block."""
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
        self.column = self.cols[self.i]
        relation = self.term()
        proof = None
        if not first or self.texts[self.i] == ":=":
            self.expect(":=")
            proof = self.term()
        return stx.CalcStep(relation, proof, pos=start, end=self.last_end())
