"""The elaborator: one object per term, which dispatches on syntax and keeps what must wait.

Elaborating a part that needs to know its type first (`fun` without binder types, `⟨..⟩`, `.intro`, `by`) makes a
placeholder, a synthetic metavariable, and puts the part on a waiting list. `resume` tries the list again; at the end
everything is forced, tactic blocks last. The rules for single forms live in `terms`, `application`,
`operators`, `match`, `calc`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nanolean.elab.session import Session
from nanolean.kernel.budget import BudgetExceeded, KernelError
from nanolean.kernel.expr import (
    PROP,
    Const,
    Expr,
    MVar,
    Pi,
    Sort,
    collect_mvars,
    get_app_fn,
    instantiate,
    mk_app,
)
from nanolean.kernel.level import ONE, Level
from nanolean.meta.assign import occurs_in
from nanolean.meta.instances import synthesize
from nanolean.meta.lctx import LocalContext, LocalDecl, inaccessible
from nanolean.proof_errors import ElabError
from nanolean.syntax import AppStx, By, Fun, Hole, Ident, SyntheticHole, Term, TypeAscription

BOOL = Const("Bool")


@dataclass
class Waiting:
    """A part that waits for its type, or a tactic block."""

    mvar_id: str
    stx: Term
    lctx: LocalContext
    type: Expr
    operands: tuple[Expr, ...] = ()
    """For an operator: types none of which is known; it waits for one of them."""


class Elaborator:
    """Turns one piece of syntax into a term; see `elab_term` in `elab.api` for the way in."""

    def __init__(self, session: Session, lctx: LocalContext) -> None:
        self.session = session
        self.mctx = session.mctx
        self.lctx = lctx
        self.forced: Term | None = None
        """The waiting part that is elaborated now and may not wait again."""
        self.waiting: list[Waiting] = []
        self.holes: list[tuple[str, Term]] = []
        """Natural metavariables that come from `_` or implicit arguments, with the syntax to blame."""
        self.instances: list[tuple[str, Term]] = []
        """Metavariables for instances that are still to be found, with the syntax to blame."""
        self.goals: list[str] = []
        """The `?_` of the term, in order."""
        self.named_goals: dict[str, str] = {}

    # -- the way in ----------------------------------------------------------------------------------------------

    def elab(self, stx: Term, expected: Expr | None = None) -> Expr:
        """Elaborate a term; `expected` guides, but the result may have another type."""
        self.mctx.budget.spend()
        rule = RULES.get(stx.__class__)
        if rule is None:
            raise ElabError(f"this form of term is not supported: {stx.__class__.__name__}", stx.pos, stx.end)
        goals, lctx = len(self.goals), self.lctx
        try:
            implicit = self._implicit_binders(stx, expected)
            if implicit is None:
                return rule(self, stx, expected)
            return self._implicit_lambda(rule, stx, implicit)
        except ElabError as error:
            error.at(stx.pos, stx.end)
            if not self.session.recover:
                raise error from None
            # Error recovery, `exceptionToSorry` of Lean's Elab/Term.lean: the part becomes a `sorry` that is no warning
            # of its own, and the rest of the text is still checked.
            self.session.report(error)
            self.lctx = lctx
            del self.goals[goals:]
            return self.session.synthetic_sorry(self.type_or_fresh(expected))
        except BudgetExceeded:
            raise
        except KernelError as error:
            raise ElabError(str(error), stx.pos, stx.end) from None

    def _implicit_binders(self, stx: Term, expected: Expr | None) -> Pi | None:
        """The expected type if it begins with `{x}` or `[x]`, which a term of this form does not see."""
        # Implicit lambdas, `useImplicitLambda` of Lean's Elab/Term.lean: `fun h => ..` proves `∀ {n}, p n → q n`.
        if sees_implicit_binders(stx):
            return None
        type_ = self.known_head(expected)
        if isinstance(type_, Pi) and type_.info in ("implicit", "inst"):
            return type_
        return None

    def _implicit_lambda(self, rule: Rule, stx: Term, type_: Expr) -> Expr:
        """`fun {x} [y] => e` for a term `e` that is written without these binders."""
        outer, ids = self.lctx, []
        try:
            while isinstance(type_, Pi) and type_.info != "default":
                if type_.info == "strict":
                    raise ElabError("a binder `⦃x⦄` behind `{x}` or `[x]` is not supported here; use `by`")
                # The term was written without these binders and cannot mean one by its name.
                decl = self.mctx.fresh_local(inaccessible(type_.name), type_.type, info=type_.info)
                self.lctx = self.lctx.add(decl)
                ids.append(decl.fvar_id)
                body = instantiate(type_.body, decl.fvar)
                type_ = self.known_head(body) or body
            return self.mctx.mk_lambda(ids, self.ensure_type(rule(self, stx, body), body, stx))
        finally:
            self.lctx = outer

    def elab_as(self, stx: Term, expected: Expr) -> Expr:
        """Elaborate a term, which must have the expected type."""
        return self.ensure_type(self.elab(stx, expected), expected, stx)

    def elab_type(self, stx: Term) -> Expr:
        """Elaborate a term that must be a type."""
        e = self.elab(stx)
        sort = self.mctx.whnf(self.mctx.infer_type(e))
        if isinstance(sort, Sort):
            return e
        # The sort of a type that is still a metavariable, as `α` in `fun (x : _) => x`.
        if self.mctx.is_def_eq(sort, Sort(self.mctx.fresh_level())):
            return e
        # A `Bool` in the place of a type means that it is true: `CoeSort Bool Prop` of Lean's core.
        if sort is BOOL:
            return self.bool_to_prop(e)
        raise ElabError(f"type expected, got\n  ({self.show(e)} : {self.show(sort)})", stx.pos, stx.end)

    # -- checking ------------------------------------------------------------------------------------------------

    def ensure_type(self, e: Expr, expected: Expr, stx: Term) -> Expr:
        """`e`, or a coercion of it, with the expected type; raises where the types do not agree."""
        coerced = self.coerce(e, expected, stx)
        if coerced is not None:
            return coerced
        types = self.two_types(self.mctx.infer_type(e), expected)
        raise ElabError(f"Type mismatch\n  {self.show(e)}\n{types}", stx.pos, stx.end)

    def two_types(self, type_: Expr, expected: Expr, behind: str = "") -> str:
        """Say that something has one type and should have another, in Lean's words.

        Their sorts are named where these differ: a proof was given for a number, or the like. `behind` goes on with the
        sentence.
        """
        # The words are those of `mkHasTypeButIsExpectedMsg` in Lean's Meta/Check.lean.
        given, wanted = f"has type\n  {self.show(type_)}", f"but is expected to have type\n  {self.show(expected)}"
        sort, wanted_sort = self.mctx.infer_type(type_), self.mctx.infer_type(expected)
        if self.mctx.is_def_eq(sort, wanted_sort):
            text, gap = f"{given}\n{wanted}", "\n"
        else:
            text = f"{given}\nof sort `{self.show(sort)}` {wanted}\nof sort `{self.show(wanted_sort)}`"
            gap = " "
        if behind:
            text += gap + behind
        return text

    def coerce(self, e: Expr, expected: Expr, stx: Term) -> Expr | None:
        """`e` where its type agrees, its coercion between `Bool` and `Prop` where that helps, otherwise None."""
        type_ = self.mctx.infer_type(e)
        if self.mctx.is_def_eq(expected, type_):
            return e
        # An operator that waits for the type of an operand may know it by now, and is what does not fit yet.
        if any(item.operands for item in self.waiting):
            self.resume()
            if self.mctx.is_def_eq(expected, type_):
                return e
        if self.mctx.whnf(type_) is BOOL and self.mctx.whnf(expected) is PROP:
            return self.bool_to_prop(e)
        # `decPropToBool` of Lean's core: a decidable proposition where a `Bool` is expected is `decide p`.
        if type_ is PROP and self.mctx.instantiate(expected) is BOOL and "Decidable.decide" in self.session.state.env:
            instance = self.fresh_instance(mk_app(Const("Decidable"), e), stx)
            return mk_app(Const("Decidable.decide"), e, instance)
        return None

    def bool_to_prop(self, e: Expr) -> Expr:
        """`e = true`."""
        return mk_app(Const("Eq", (ONE,)), BOOL, e, Const("Bool.true"))

    def mk_equation(self, lhs: Expr, rhs: Expr) -> Expr:
        """`lhs = rhs`."""
        type_ = self.mctx.infer_type(lhs)
        return mk_app(Const("Eq", (self.level_of(type_),)), type_, lhs, rhs)

    def mk_refl(self, e: Expr) -> Expr:
        """`Eq.refl e`."""
        type_ = self.mctx.infer_type(e)
        return mk_app(Const("Eq.refl", (self.level_of(type_),)), type_, e)

    def level_of(self, type_: Expr) -> Level:
        """Return the universe of a type."""
        level = self.mctx.sort_level(type_)
        if level is None:
            raise ElabError(f"type expected, got\n  {self.show(type_)}")
        return level

    def show(self, e: Expr) -> str:
        """Print a term as Lean does in the present context."""
        return self.session.show(e, self.lctx)

    def show_unfitting(self, e: Expr) -> str:
        """Print an application whose last argument does not fit: not as that argument with a dot behind it."""
        return self.session.show(e, self.lctx, dotted=False)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Undo everything that was elaborated inside if an `ElabError` leaves the block."""
        # The lists are not on the trail of metavariables, so they are copied.
        mark, lctx, sorries = self.mctx.save(), self.lctx, len(self.session.sorries)
        waiting, holes = list(self.waiting), list(self.holes)
        goals, named_goals = list(self.goals), dict(self.named_goals)
        instances = list(self.instances)
        try:
            # An error must be seen here: recovered from, a failed trial would pass for a success.
            with self.session.recovering(False):
                yield
        except ElabError:
            self.mctx.restore(mark)
            self.lctx, self.waiting, self.holes = lctx, waiting, holes
            self.goals, self.named_goals, self.instances = goals, named_goals, instances
            del self.session.sorries[sorries:]
            raise

    # -- making --------------------------------------------------------------------------------------------------

    def fresh_type(self) -> Expr:
        """Make a metavariable for a type that is not known yet."""
        return self.mctx.fresh_mvar(Sort(self.mctx.fresh_level()), self.lctx)

    def type_or_fresh(self, expected: Expr | None) -> Expr:
        """Return the expected type, or a metavariable for one where nothing is expected."""
        if expected is None:
            return self.fresh_type()
        return expected

    def fresh_hole(self, type_: Expr | None, stx: Term) -> Expr:
        """Make a metavariable for a term that unification is to find; errors name `stx` if it does not."""
        mvar = self.mctx.fresh_mvar(self.type_or_fresh(type_), self.lctx)
        self.holes.append((mvar.id, stx))
        return mvar

    def fresh_instance(self, type_: Expr, stx: Term) -> Expr:
        """Make an instance of a class, found now or once its type is known."""
        mvar = self.mctx.fresh_mvar(type_, self.lctx)
        self.instances.append((mvar.id, stx))
        self.find_instances()
        return mvar

    def find_instances(self) -> None:
        """Look for the instances whose types are known by now."""
        waiting = []
        for place, (mvar_id, stx) in enumerate(self.instances):
            if self.mctx.is_assigned(mvar_id):
                # a binder that was put around the place has made it a function of the bound variable
                head = get_app_fn(self.mctx.instantiate(MVar(mvar_id)))
                if not isinstance(head, MVar) or self.mctx.is_assigned(head.id):
                    continue
                mvar_id = head.id
            decl = self.mctx.decl(mvar_id)
            type_ = self.mctx.instantiate(decl.type)
            # A class of an unknown type has too many instances: Lean postpones it as well (a stuck instance problem).
            if collect_mvars(type_):
                waiting.append((mvar_id, stx))
                continue
            value = synthesize(self.mctx, type_, decl.lctx)
            if value is None:
                text = self.session.show(type_, decl.lctx)
                if self.session.recover:  # told once, and not again when the next ones are looked for
                    self.mctx.assign(mvar_id, self.session.synthetic_sorry(type_))
                    self.instances = [*waiting, *self.instances[place + 1 :]]
                raise ElabError(f"failed to synthesize instance of type class\n  {text}", stx.pos, stx.end)
            self.mctx.assign(mvar_id, value)
        self.instances = waiting

    @contextmanager
    def local(self, name: str, type_: Expr, value: Expr | None = None, info: str = "default") -> Iterator[LocalDecl]:
        """Inside, a new local is in scope."""
        outer = self.lctx
        decl = self.mctx.fresh_local(name, type_, value, info)
        self.lctx = outer.add(decl)
        try:
            yield decl
        finally:
            self.lctx = outer

    # -- waiting -------------------------------------------------------------------------------------------------

    def wait(self, stx: Term, expected: Expr | None, operands: tuple[Expr, ...] = ()) -> Expr:
        """Make a placeholder for a part that is elaborated later; an operator waits for the types of its operands."""
        type_ = self.type_or_fresh(expected)
        # Synthetic, so that unification cannot give a value to what is still to be elaborated.
        mvar = self.mctx.fresh_mvar(type_, self.lctx, "synthetic")
        self.waiting.append(Waiting(mvar.id, stx, self.lctx, type_, operands))
        return mvar

    def known_head(self, expected: Expr | None) -> Expr | None:
        """Return the expected type in weak head normal form if its head is known, otherwise None."""
        if expected is None:
            return None
        type_ = self.mctx.whnf(self.mctx.instantiate(expected))
        return None if isinstance(get_app_fn(type_), MVar) else type_

    def resume(self) -> None:
        """Elaborate the waiting parts whose type is known by now, as long as that helps; tactic blocks wait on."""
        self.find_instances()
        self._resume(self._is_ready)

    def _is_ready(self, item: Waiting) -> bool:
        if item.operands:
            return any(self.known_head(type_) is not None for type_ in item.operands)
        return not isinstance(item.stx, By) and self.known_head(item.type) is not None

    def _resume(self, ready: Callable[[Waiting], bool]) -> bool:
        any_progress = False
        progress = True
        while progress:
            progress = False
            for item in list(self.waiting):
                # Elaborating one part may have elaborated others.
                if item in self.waiting and ready(item):
                    self.waiting.remove(item)
                    self.fill(item, self._elab_waiting(item))
                    progress = any_progress = True
        return any_progress

    def _elab_waiting(self, item: Waiting) -> Expr:
        outer, self.lctx = self.lctx, item.lctx
        try:
            return self.elab_as(item.stx, self.mctx.instantiate(item.type))
        except ElabError as error:
            if not self.session.recover:
                raise
            self.session.report(error)
            return self.session.synthetic_sorry(self.mctx.instantiate(item.type))
        finally:
            self.lctx = outer

    def fill(self, item: Waiting, value: Expr) -> None:
        """Give a placeholder its value."""
        value = self.mctx.instantiate(value)
        # Elaborated against its own placeholder a part may come to mention it.
        if value.has_mvar and any(occurs_in(self.mctx, item.mvar_id, other) for other in collect_mvars(value)):
            raise ElabError("the term occurs in itself", item.stx.pos, item.stx.end)
        self.mctx.assign(item.mvar_id, value)

    def force(self) -> None:
        """Elaborate everything that waits: first what became known, then the rest as it is, tactic blocks last."""
        self.resume()
        # `synthesizeSyntheticMVars` of Lean's Elab/SyntheticMVars.lean: one part is forced at a time, since it may tell
        # the types of others. Tactic blocks run when unification has found all it can, or they would see goals with
        # holes.
        while parts := [item for item in self.waiting if not isinstance(item.stx, By)]:
            # Operators last: an operator that is forced without a type is an error.
            item = next((item for item in parts if not item.operands), parts[0])
            self.waiting.remove(item)
            self.forced = item.stx
            value = self._elab_waiting(item)
            self.fill(item, value)
            self.resume()
        while self.waiting:
            item = self.waiting.pop(0)
            assert isinstance(item.stx, By)
            self.session.run_block(self.session, item.mvar_id, item.stx.tactics, item.stx.pos, item.stx.end)


def sees_implicit_binders(stx: Term) -> bool:
    """Return whether the term is elaborated against `∀ {x}, p` as it is, without introducing the binders."""
    # `blockImplicitLambda` of Lean's Elab/Term.lean.
    match stx:
        case By() | Hole() | SyntheticHole() | TypeAscription():
            return True
        case Ident(explicit=explicit) | AppStx(fn=Ident(explicit=explicit)):
            return explicit
        case Fun(binders=binders):
            return any(binder.info in ("implicit", "inst") for binder in binders)
    return False


Rule = Callable[[Elaborator, Any, Expr | None], Expr]
RULES: dict[type[Term], Rule] = {}
"""How to elaborate each form of syntax; the modules of this package register their rules with `elaborates`."""


def elaborates(*forms: type[Term]) -> Callable[[Rule], Rule]:
    """Register a rule for forms of syntax."""

    def register(rule: Rule) -> Rule:
        for form in forms:
            RULES[form] = rule
        return rule

    return register
