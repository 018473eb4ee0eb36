"""Tactics and the blocks they stand in.

Lean's position rule: the tactics of one block share the column of the first one and are separated by new lines or `;`;
what belongs to a tactic stands to the right of that column. Alternatives (`| ..`) never stand to the left of the first
one, which is how a nested `cases` gives the outer alternatives back.
"""

from collections.abc import Callable

from nanolean import syntax as stx
from nanolean.cursor import NO_COLUMN
from nanolean.lexer import IDENT, NUM, STRING
from nanolean.parse_context import ContextParser


class TacticParser(ContextParser):
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
        text, start = self.texts[self.i], self.pos()
        form = _TACTICS.get(text)
        if form is None:
            if text in UNSUPPORTED:
                self.refuse(f"the tactic `{text}` is")
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

    # --- goals and combinators

    def calc_tactic(self, start: int) -> stx.Tactic:
        return stx.CalcStx(self.calc_steps(), pos=start, end=self.last_end())

    def match_tactic(self, start: int) -> stx.Tactic:
        """`match e with | p => tactics` gives the term whose right sides are `by` blocks (or holes)."""
        return stx.RefineStx(self.match_body(start, self.block_or_hole), pos=start, end=self.last_end())

    def block_or_hole(self) -> stx.Term:
        start = self.pos()
        rhs = self.alternative_rhs()
        if isinstance(rhs, stx.TacticSeq):
            return stx.By(rhs, pos=start, end=self.last_end())
        return rhs if isinstance(rhs, stx.SyntheticHole) else stx.SyntheticHole("_", pos=start, end=self.last_end())

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
        depth = self.small_number() if self.kinds[self.i] == NUM and self.indented() else None
        return stx.CongrStx(depth, pos=start, end=self.last_end())

    def trace(self, start: int) -> stx.Tactic:
        """`trace "text"`."""
        text = self.texts[self.i]
        if self.kinds[self.i] != STRING:
            self.refuse("`trace` of anything but a string is")
        if "\\" in text:
            self.refuse("a string with escapes is")
        self.i += 1
        return stx.TraceStx(text[1:-1], pos=start, end=self.last_end())

    def rotate(self, start: int) -> stx.Tactic:
        node = stx.RotateLeftStx if self.texts[self.i - 1] == "rotate_left" else stx.RotateRightStx
        count = self.small_number() if self.kinds[self.i] == NUM and self.indented() else 1
        return node(count, pos=start, end=self.last_end())

    def iterate(self, start: int) -> stx.Tactic:
        count = self.small_number() if self.kinds[self.i] == NUM else None
        return stx.IterateStx(count, self.tactic_seq(), pos=start, end=self.last_end())

    def repeat_prime(self, start: int) -> stx.Tactic:
        once = self.texts[self.i - 1] == "repeat1'"
        return stx.RepeatPrimeStx(self.tactic_seq(), once, pos=start, end=self.last_end())

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
        return stx.FirstStx(self.tactic_alternatives(), pos=start, end=self.last_end())

    def solve(self, start: int) -> stx.Tactic:
        return stx.SolveStx(self.tactic_alternatives(), pos=start, end=self.last_end())

    def tactic_alternatives(self) -> tuple[stx.TacticSeq, ...]:
        """`| t | u` at least once, none to the left of the first."""
        column, self.column = self.column, self.cols[self.i]
        if self.texts[self.i] != "|":
            self.fail("'|'")
        alts: list[stx.TacticSeq] = []
        while self.texts[self.i] == "|" and self.cols[self.i] >= self.column:
            self.i += 1
            alts.append(self.tactic_seq())
        self.column = column
        return tuple(alts)


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


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


UNSUPPORTED = _names(
    "exact? apply? rw? simp? simp_all? simpa? decide? grind? solve_by_elim simp_arith simp_all_arith simp! dsimp "
    "conv delta norm_cast push_cast exact_mod_cast rw_mod_cast native_decide bv_decide bv_omega bv_normalize "
    "false_or_by_contra apply_assumption apply_rules "
    "infer_instance haveI letI let_to_have case' repeat1 ac_nf ac_nf0 subst_eqs eq_refl apply_rfl expose_names stop "
    "fail trace_state dbg_trace sleep checkpoint run_tac show_term unhygienic fun_cases fun_induction mvcgen simp_wf "
    "decreasing_tactic decreasing_with get_elem_tactic set_option open as_aux_lemma refine_lift refine_lift' "
    "with_reducible with_reducible_and_instances with_unfolding_all symm_saturate"
)
"""Tactics of Lean that NanoLean does not have; anything else is unknown to Lean core too."""

_TACTICS: dict[str, _Form] = {
    "intro": TacticParser.intro,
    "intros": TacticParser.intros,
    "rintro": TacticParser.rintro,
    "exact": _with_term(stx.ExactStx),
    "apply": _with_term(stx.ApplyStx),
    "refine": _with_term(stx.RefineStx),
    "specialize": _with_term(stx.SpecializeStx),
    "show": TacticParser.show_tactic,
    "change": TacticParser.change,
    "have": TacticParser.have,
    "let": TacticParser.have,
    "suffices": TacticParser.suffices,
    "calc": TacticParser.calc_tactic,
    "match": TacticParser.match_tactic,
    "if": TacticParser.if_tactic,
    "generalize": TacticParser.generalize,
    "exists": TacticParser.exists_terms,
    "by_cases": TacticParser.by_cases,
    "cases": TacticParser.cases,
    "induction": TacticParser.induction,
    "rcases": TacticParser.rcases,
    "obtain": TacticParser.obtain,
    "rw": TacticParser.rewrite,
    "rewrite": TacticParser.rewrite,
    "rwa": TacticParser.rwa,
    "simp": TacticParser.simp,
    "simp_all": TacticParser.simp_all,
    "simpa": TacticParser.simpa,
    "unfold": TacticParser.unfold,
    "symm": TacticParser.symm,
    "split": TacticParser.split,
    "revert": TacticParser.revert,
    "rename_i": TacticParser.rename_i,
    "subst": TacticParser.subst,
    "subst_vars": _word(stx.SubstVarsStx),
    "injection": TacticParser.injection,
    "injections": TacticParser.injections,
    "clear": TacticParser.clear,
    "rename": TacticParser.rename,
    "nomatch": TacticParser.nomatch,
    "nofun": _word(stx.NofunStx),
    "funext": TacticParser.funext,
    "ext": TacticParser.ext,
    "ext1": TacticParser.ext,
    "congr": TacticParser.congr,
    "and_intros": _word(stx.AndIntrosStx),
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
    "admit": _word(stx.SorryStx),
    "trace": TacticParser.trace,
    "skip": _word(stx.SkipStx),
    "done": _word(stx.DoneStx),
    "case": TacticParser.case,
    "next": TacticParser.next,
    "first": TacticParser.first,
    "solve": TacticParser.solve,
    "all_goals": _with_block(stx.AllGoalsStx),
    "any_goals": _with_block(stx.AnyGoalsStx),
    "focus": _with_block(stx.FocusStx),
    "try": _with_block(stx.TryStx),
    "repeat": _with_block(stx.RepeatStx),
    "repeat'": TacticParser.repeat_prime,
    "repeat1'": TacticParser.repeat_prime,
    "iterate": TacticParser.iterate,
    "fail_if_success": _with_block(stx.FailIfSuccessStx),
    "·": _with_block(stx.BulletStx),
    "(": TacticParser.parenthesized,
    "{": TacticParser.braces,
}
