"""The tactics `simp`, `simp_all`, `simpa` and `ac_rfl`; what the simplifier may use, and what it traces."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from nanolean.elab.api import Postponed, elab_term
from nanolean.elab.names import resolve_constant
from nanolean.elab.session import Note
from nanolean.kernel.declaration import DefInfo
from nanolean.kernel.expr import Const, Expr, FVar, Lam, MVar, Pi, abstract, alpha_eq, collect_mvars, mk_app
from nanolean.kernel.level import ZERO
from nanolean.meta.lctx import LocalContext, inaccessible
from nanolean.meta.matchers import equation_names
from nanolean.proof_errors import ElabError, TacticError
from nanolean.syntax import (
    AcRflStx,
    AssumptionStx,
    DsimpStx,
    Ident,
    SimpAllStx,
    SimpaStx,
    SimpLemma,
    SimpStx,
    Tactic,
    TacticSeq,
    Term,
    TraceStx,
)
from nanolean.tactics.closing import assumption_tactic
from nanolean.tactics.constructors import mk_false_elim
from nanolean.tactics.core import TacticContext, proposition_ids, tactic
from nanolean.tactics.eq_proof import FALSE, TRUE, Step, match_eq, mk_of_eq_true, mk_refl
from nanolean.tactics.goals import assert_hyp, change_target, replace_hyp, replace_target, retype_hyp, try_clear
from nanolean.tactics.simp_engine import DefinitionalSimplifier, Simplifier
from nanolean.tactics.simp_procs import DEFAULT_PROCS, Proc, find_proc, reduce_arith, reduce_projection
from nanolean.tactics.simp_rules import Rule, RuleIndex, make_rules, rules_of_constant, rules_of_equations

TraceRewrite = Callable[[Rule | None, Expr, Expr], None]
"""(rule, None for a procedure; term before; term after)"""


@tactic(TraceStx)
def trace_tactic(ctx: TacticContext, stx: TraceStx) -> None:
    """`trace "text"`: say a text as a message; the goals stay.

    ```lean
    example (p : Prop) (hp : p) : p := by
      trace "now the hypothesis"
    ```
    """
    _say(ctx, stx, "trace", stx.text)


def simp_trace(ctx: TacticContext, stx: Tactic | None) -> TraceRewrite | None:
    """Return the callback for the rewriting steps of `simp`, None if nobody asked."""
    return partial(_tell, ctx, stx) if stx is not None and ctx.state.traces_simp else None


def _tell(ctx: TacticContext, stx: Tactic, rule: Rule | None, before: Expr, after: Expr) -> None:
    if rule is None:
        sides = match_eq(before)
        name = "eq_self" if sides is not None and sides[2] is sides[3] else "simproc"
    elif rule.name:
        local = ctx.lctx.get(rule.name)
        name = rule.name if local is None else local.user_name
    else:
        name = ctx.show(rule.proof)
    text = f"[Meta.Tactic.simp.rewrite] {name}:1000:\n      {ctx.show(before)}\n    ==>\n      {ctx.show(after)}"
    _say(ctx, stx, "simp", text)


def _say(ctx: TacticContext, stx: Tactic, word: str, text: str) -> None:
    ctx.session.notes.append(Note("trace", text, stx.pos, stx.pos + len(word)))


NO_PROGRESS = "`simp` made no progress"
ALWAYS = ("eq_self", "iff_self")
"""Rules that `simp only` uses unasked, as in Lean."""
MEMO = "simp set"
MAX_ROUNDS = 20
"""How often `simp_all` goes through the hypotheses."""


@dataclass
class SimpSet:
    """What one call may use."""

    base: RuleIndex
    own: list[Rule] = field(default_factory=list)
    procs: list[Proc] = field(default_factory=list)
    erased: set[str] = field(default_factory=set)
    unfold: set[str] = field(default_factory=set)
    star: bool = False
    stx: Tactic | None = None
    """The call, which traces are about."""
    disch: TacticSeq | None = None
    """The tactics that prove conditions of rules."""

    def simplifier(self, ctx: TacticContext, extra: Sequence[Rule] = (), without: str | None = None) -> Simplifier:
        """Make a simplifier for the main goal; `without` is a hypothesis that may not be used (on itself)."""
        # A hypothesis rewrites itself to `True`, and would be gone.
        rules = [rule for rule in (*self.own, *extra) if rule.name != without]
        indexes = [RuleIndex(rules), self.base] if rules else [self.base]
        return Simplifier(
            ctx.mctx,
            ctx.lctx,
            indexes,
            tuple(self.procs),
            frozenset(self.erased),
            frozenset(self.unfold),
            simp_trace(ctx, self.stx),
            partial(_prove, ctx, self.disch) if self.disch is not None else None,
        )

    def definitional(self, ctx: TacticContext) -> DefinitionalSimplifier:
        """Make a simplifier for the main goal that only takes steps by definition."""
        procs = [proc for proc in self.procs if proc in (reduce_arith, reduce_projection)]
        names = frozenset(self.erased), frozenset(self.unfold)
        return DefinitionalSimplifier(ctx.mctx, ctx.lctx, [RuleIndex(self.own), self.base], procs, *names)


def _prove(ctx: TacticContext, tactics: TacticSeq, prop: Expr, lctx: LocalContext) -> Expr | None:
    """Run the tactics of `simp (disch := ..)` on a condition; None where they do not prove it."""
    mctx, session = ctx.mctx, ctx.session
    goal = mctx.fresh_mvar(prop, lctx, "synthetic")
    watch, session.watch = session.watch, None

    def run() -> None:
        session.run_block(session, goal.id, tactics, tactics.pos, tactics.end)

    try:
        proved = ctx.attempt(run)
    finally:
        session.watch = watch
    proof = mctx.instantiate(goal)
    return proof if proved and not proof.has_mvar else None


@dataclass(frozen=True)
class DefaultSet:
    """What the attribute `simp` gives: rules from theorems, and definitions to be unfolded."""

    index: RuleIndex
    definitions: frozenset[str]


def default_set(ctx: TacticContext) -> DefaultSet:
    """Everything tagged `simp`; kept with the environment."""
    known = ctx.state.memo.get(MEMO)
    if not isinstance(known, DefaultSet):
        infos = [ctx.state.env[name] for name in ctx.state.tagged("simp")]
        # `@[simp] def f` means to unfold `f`, as in Lean.
        definitions = frozenset(info.name for info in infos if isinstance(info, DefInfo))
        rules: list[Rule] = []
        for info in infos:
            rules += rules_of_equations(ctx.state.env, info) if isinstance(info, DefInfo) else rules_of_constant(info)
        known = DefaultSet(RuleIndex(rules), definitions)
        ctx.state.memo[MEMO] = known
    return known


def make_set(ctx: TacticContext, only: bool, lemmas: Sequence[SimpLemma], star: bool) -> SimpSet:
    """Read `only` and the list in brackets."""
    if only:
        known = [ctx.state.env[name] for name in ALWAYS if name in ctx.state.env]
        index = RuleIndex(rule for info in known for rule in rules_of_constant(info))
        result = SimpSet(index, procs=[reduce_projection], star=star)
    else:
        default = default_set(ctx)
        result = SimpSet(default.index, procs=list(DEFAULT_PROCS), unfold=set(default.definitions), star=star)
    for lemma in lemmas:
        try:
            _add_lemma(ctx, result, lemma)
        except (ElabError, TacticError) as error:
            raise error.at(lemma.pos, lemma.end) from None
    return result


def _add_lemma(ctx: TacticContext, result: SimpSet, lemma: SimpLemma) -> None:
    term = lemma.term
    if isinstance(term, Ident) and not term.explicit and term.levels is None:
        decl = ctx.lctx.find(term.name)
        if decl is not None:
            if lemma.erase:
                result.erased.add(decl.fvar_id)
            elif decl.value is not None and not ctx.mctx.is_prop(ctx.type_of(decl)):
                result.unfold.add(decl.fvar_id)
            else:
                _add_rules(result, make_rules(decl.fvar_id, decl.fvar, ctx.type_of(decl), (), lemma.symm), lemma)
            return
        # `h.left` with a local `h` is a term and no name of a constant.
        field_of_local = "." in term.name and ctx.lctx.find(term.name.split(".")[0]) is not None
        if not field_of_local and _add_constant(ctx, result, lemma, term.name):
            return
    if lemma.erase:
        raise TacticError("only names can be erased from the simp set")
    _add_term(ctx, result, lemma)


def _add_constant(ctx: TacticContext, result: SimpSet, lemma: SimpLemma, written: str) -> bool:
    """Add, unfold or erase what a global name means; False where it means nothing."""
    names = resolve_constant(ctx.state, written)
    if not names:
        return _add_proc(ctx, result, lemma, written)
    if len(names) > 1:
        raise TacticError(f"ambiguous identifier `{written}`, possible interpretations: [{', '.join(names)}]")
    info = ctx.state.env[names[0]]
    if lemma.erase:
        if info.name not in ctx.state.tagged("simp"):
            raise TacticError(f"`{written}` does not have the `[simp]` attribute")
        result.erased.add(info.name)
        result.erased.update(equation_names(ctx.state.env, info.name))
        result.unfold.discard(info.name)
    # A definition that is a proof is a rule like a theorem; any other is unfolded.
    elif isinstance(info, DefInfo) and not ctx.mctx.is_prop(info.type):
        if lemma.symm:
            raise TacticError(f"Invalid `←` modifier: `{written}` is a declaration name to be unfolded")
        result.unfold.add(info.name)
        # Computing comes first; the equations are for a match on a recursive call, which only rewriting may decide.
        result.own += rules_of_equations(ctx.state.env, info)
    elif info.kind in ("theorem", "axiom", "def", "ctor", "opaque") and ctx.mctx.is_prop(info.type):
        _add_rules(result, rules_of_constant(info, lemma.symm), lemma)
    else:
        raise TacticError(f"Cannot simplify with `{written}`: it is neither a proposition nor a definition")
    return True


def _add_proc(ctx: TacticContext, result: SimpSet, lemma: SimpLemma, written: str) -> bool:
    proc = find_proc(ctx.mctx, written)
    if proc is None:
        return False
    if lemma.erase:
        result.procs = [other for other in result.procs if other is not proc]
    else:
        result.procs.append(proc)
    return True


def _add_term(ctx: TacticContext, result: SimpSet, lemma: SimpLemma) -> None:
    mctx = ctx.mctx
    elaborated = elab_term(ctx.session, ctx.lctx, lemma.term, None, holes="natural")
    proof = mctx.instantiate(elaborated.term)
    type_ = mctx.instantiate(mctx.infer_type(proof))
    if not mctx.is_prop(type_):
        raise TacticError(f"Cannot simplify with\n  {ctx.show(proof)}\nwhich is not a proof")
    open_ = list(dict.fromkeys([*collect_mvars(type_), *collect_mvars(proof)]))
    if open_:
        proof, type_ = _close_over(ctx, open_, proof, type_)
    _add_rules(result, make_rules("", proof, type_, (), lemma.symm), lemma)


def _close_over(ctx: TacticContext, open_: list[str], proof: Expr, type_: Expr) -> tuple[Expr, Expr]:
    """Bind the metavariables that elaboration has left in a proof: they are arguments of the rule."""
    mctx = ctx.mctx
    types = {mvar_id: mctx.instantiate(mctx.decl(mvar_id).type) for mvar_id in open_}
    # The types of some mention others, which have to be bound further out.
    open_.sort(key=lambda mvar_id: sum(other in collect_mvars(types[mvar_id]) for other in open_))
    for place in range(len(open_) - 1, -1, -1):
        mvar = MVar(open_[place])
        domain = types[open_[place]]
        proof = Lam("x", domain, abstract(proof, [mvar]))
        type_ = Pi("x", domain, abstract(type_, [mvar]))
    return proof, type_


def _add_rules(result: SimpSet, rules: Iterable[Rule], lemma: SimpLemma) -> None:
    new_rules = list(rules)
    if not new_rules:
        what = "←-" if lemma.symm else ""
        raise TacticError(f"Invalid {what}simp theorem: it gives no equation to rewrite with")
    result.own += new_rules


# -- results -----------------------------------------------------------------------------------------------------------


@tactic(SimpStx)
def simp_tactic(ctx: TacticContext, stx: SimpStx) -> None:
    """`simp [h, ← g, -k] at l`: rewrite with all `@[simp]` lemmas and those in the list until nothing changes.

    `True` closes the goal, `False` in a hypothesis too. `*` stands for all hypotheses, a definition is unfolded,
    `-k` takes a lemma away. `simp only [..]` uses the list alone. It rewrites under binders and computes numbers;
    lemmas that turn around apply only where the term becomes smaller in a fixed order. It is refused when it
    changes nothing.

    ```lean
    example (a b : Nat) (p : Prop) (h : p) : a + 0 = b ∧ True := by
      simp
    ```

    ```lean
    example (a b c : Nat) : c + (b + a) = a + b + c := by
      simp only [Nat.add_comm, Nat.add_left_comm]
    ```

    `(disch := t)` proves the conditions of lemmas by the tactic `t`, in place of `simp` itself.

    Differs from Lean: the simp set is this library's, so Lean may go further, above all on lists. No `+arith` and other
    options, `simp?`, `↓`.
    """
    rules = make_set(ctx, stx.only, stx.lemmas, stx.star)
    rules.stx, rules.disch = stx, stx.disch
    location = stx.location
    if location.wildcard:
        ids, goal_too = proposition_ids(ctx), True
    else:
        ids, goal_too = [ctx.hyp(name).fvar_id for name in location.hyps], location.goal
    # With several places it is enough that one changes, as in Lean.
    progress = False
    for fvar_id in ids:
        done = simp_hyp(ctx, rules, fvar_id)
        if done is None:
            return
        progress = done or progress
    if goal_too:
        progress = simp_goal(ctx, rules) or progress
    if not progress:
        raise TacticError(NO_PROGRESS)


@tactic(DsimpStx)
def dsimp_tactic(ctx: TacticContext, stx: DsimpStx) -> None:
    """`dsimp [f] at l`: `simp` by what holds by definition alone: lemmas proved by `rfl`, definitions, `let`, numbers.

    ```lean
    def double (n : Nat) : Nat := n + n

    example (n : Nat) : (fun x => double x + 0) n = 2 * n := by
      dsimp [double]
    ```

    Differs from Lean: the simp set is this library's, and which lemmas hold by `rfl` too.
    """
    rules = make_set(ctx, stx.only, stx.lemmas, star=False)
    mctx, location = ctx.mctx, stx.location
    hyps = proposition_ids(ctx)
    if not location.wildcard:
        hyps = []
        for name in location.hyps:
            hyps.append(ctx.hyp(name).fvar_id)
    progress = False
    while hyps:
        decl = ctx.lctx.by_id[hyps.pop(0)]
        old = ctx.type_of(decl)
        new = rules.definitional(ctx).run(old).expr
        if new is FALSE:
            ctx.close(mk_false_elim(mctx, ctx.target, decl.fvar))
            return
        if not alpha_eq(new, old):
            goal, moved = retype_hyp(mctx, ctx.main, decl.fvar_id, new)
            ctx.replace_main([goal])
            hyps, progress = [moved.get(fvar_id, fvar_id) for fvar_id in hyps], True
    if location.goal or location.wildcard or not location.hyps:
        progress = _dsimp_goal(ctx, rules) or progress
    if not progress:
        raise TacticError("`dsimp` made no progress")


def _dsimp_goal(ctx: TacticContext, rules: SimpSet) -> bool:
    """Simplify the goal by definition, and close it where it is `True` or an equation of equal sides then."""
    mctx, old = ctx.mctx, ctx.target
    new = rules.definitional(ctx).run(old).expr
    sides = match_eq(new)
    if new is TRUE:
        ctx.close(Const("True.intro"))
        return True
    if sides is not None:
        with mctx.with_transparency("reducible"):
            closes = mctx.is_def_eq(sides[2], sides[3])
        if closes:
            ctx.close(mk_refl(mctx, sides[2]))
            return True
    if alpha_eq(new, old):
        return False
    ctx.replace_main([change_target(mctx, ctx.main, new)])
    return True


def star_rules(ctx: TacticContext) -> list[Rule]:
    """Rules from all hypotheses of the main goal that are proofs."""
    rules: list[Rule] = []
    for fvar_id in proposition_ids(ctx):
        decl = ctx.lctx.by_id[fvar_id]
        rules += make_rules(fvar_id, decl.fvar, ctx.type_of(decl))
    return rules


def simp_goal(ctx: TacticContext, rules: SimpSet) -> bool:
    """Simplify the main goal, closing it when it becomes `True`; False where nothing changes."""
    target = ctx.target
    step = rules.simplifier(ctx, star_rules(ctx) if rules.star else ()).run(target)
    if step.expr is TRUE:
        ctx.close(Const("True.intro") if step.proof is None else mk_of_eq_true(target, step.proof))
        return True
    if unchanged(target, step):
        return False
    ctx.replace_main([replace_target(ctx.mctx, ctx.main, step.expr, step.proof)])
    return True


def unchanged(e: Expr, step: Step) -> bool:
    """Return whether a step changes nothing."""
    return step.expr is e or alpha_eq(step.expr, e)


def simp_hyp(ctx: TacticContext, rules: SimpSet, fvar_id: str) -> bool | None:
    """Simplify a hypothesis; None when it becomes `False`, which closes the goal; False where nothing changes."""
    mctx = ctx.mctx
    decl = ctx.lctx.by_id[fvar_id]
    old = ctx.type_of(decl)
    if not mctx.is_prop(old):
        raise TacticError(f"`simp at {decl.user_name}`: only propositions are simplified")
    extra = star_rules(ctx) if rules.star else ()
    step = rules.simplifier(ctx, extra, without=fvar_id).run(old)
    if unchanged(old, step):
        return False
    proof: Expr = decl.fvar
    if step.proof is not None:
        proof = mk_app(Const("Eq.mp", (ZERO,)), old, step.expr, step.proof, decl.fvar)
    if step.expr is FALSE:
        ctx.close(mk_false_elim(mctx, ctx.target, proof))
        return None
    if step.expr is TRUE:
        # What says nothing any more is removed, as in Lean.
        ctx.replace_main([try_clear(mctx, ctx.main, [fvar_id])])
        return True
    _, goal = replace_hyp(mctx, ctx.main, fvar_id, step.expr, proof)
    ctx.replace_main([goal])
    return True


@tactic(SimpAllStx)
def simp_all_tactic(ctx: TacticContext, stx: SimpAllStx) -> None:
    """`simp_all`: simplify the goal and all hypotheses with each other until nothing changes.

    ```lean
    example (p q r : Prop) (h : p) (h1 : p → q) (h2 : q → r) : r := by
      simp_all
    ```
    """
    rules = make_set(ctx, stx.only, stx.lemmas, star=True)
    progress = False
    for _ in range(MAX_ROUNDS):
        changed = False
        # Each with the others as rules, which may have become simpler meanwhile: until nothing changes.
        for fvar_id in proposition_ids(ctx):
            if fvar_id not in ctx.lctx:
                continue
            done = simp_hyp(ctx, rules, fvar_id)
            if done is None:
                return
            changed = changed or done
        progress = progress or changed
        if not changed:
            break
    # The goal last, when the hypotheses say all that they can.
    before = len(ctx.goals)
    progress = simp_goal(ctx, rules) or progress
    if not progress and len(ctx.goals) == before:
        raise TacticError("`simp_all` made no progress")


AC_RULES = (
    "eq_self",
    "Nat.add_assoc",
    "Nat.add_comm",
    "Nat.add_left_comm",
    "Nat.mul_assoc",
    "Nat.mul_comm",
    "Nat.mul_left_comm",
    "and_assoc",
    "and_comm",
    "and_left_comm",
    "or_assoc",
    "or_comm",
    "or_left_comm",
)


@tactic(AcRflStx)
def ac_rfl_tactic(ctx: TacticContext, stx: AcRflStx) -> None:
    """`ac_rfl`: prove an equation whose sides differ in the order and brackets of `+`, `*`, `∧` or `∨`.

    ```lean
    example (a b c d : Nat) : a + b + (c + d) = d + (b + c) + a := by
      ac_rfl
    ```

    Differs from Lean: Lean asks a type class which operations these are.
    """
    # Rules that permute fire towards the smaller term only, so they sort: both sides become the same sum.
    infos = [ctx.state.env[name] for name in AC_RULES if name in ctx.state.env]
    index = RuleIndex(rule for info in infos for rule in rules_of_constant(info))
    target = ctx.target
    if match_eq(target) is None:
        raise ctx.with_goal("Tactic `ac_rfl` failed: the goal is not an equation")
    step = Simplifier(ctx.mctx, ctx.lctx, [index]).run(target)
    if step.expr is not TRUE or step.proof is None:
        raise ctx.with_goal("Tactic `ac_rfl` failed: the sides are not equal up to associativity and commutativity")
    ctx.close(mk_of_eq_true(target, step.proof))


@tactic(SimpaStx)
def simpa_tactic(ctx: TacticContext, stx: SimpaStx) -> None:
    """`simpa [..] using e`: simplify the goal and the type of `e`, which must then agree; without `using` an
    assumption closes.

    ```lean
    example (a b : Nat) (h : a + 0 = b) : a = b * 1 := by
      simpa using h
    ```
    """
    rules = make_set(ctx, stx.only, stx.lemmas, stx.star)
    rest = len(ctx.goals) - 1
    simp_goal(ctx, rules)
    if len(ctx.goals) == rest:
        return
    if stx.using is not None:
        _use(ctx, rules, stx.using)
        return
    # Lean's `simpa` without `using` takes a hypothesis called `this`, if there is one.
    this = ctx.lctx.find("this")
    if this is not None and simp_hyp(ctx, rules, this.fvar_id) is None:
        return
    assumption_tactic(ctx, AssumptionStx())


def _use(ctx: TacticContext, rules: SimpSet, term: Term) -> None:
    mctx = ctx.mctx
    postponed = Postponed(ctx.session, ctx.lctx, term)
    value, shown = postponed.term, ctx.show(postponed.term)
    # In `simpa using h _` the goal tells what `_` is; `simp` itself gives no value to it, as in Lean, where it works
    # one level deeper.
    open_ids = [i for i in collect_mvars(value) if mctx.decl(i).kind == "natural"]
    for mvar_id in open_ids:
        mctx.set_kind(mvar_id, "synthetic", mctx.decl(mvar_id).user_name)
    if isinstance(value, FVar) and value.id in ctx.lctx:
        fvar_id = value.id
    else:
        type_ = mctx.instantiate(mctx.infer_type(value))
        fvar_id, goal = assert_hyp(mctx, ctx.main, inaccessible("h"), type_, value)
        ctx.replace_main([goal])
    before = [decl.fvar_id for decl in ctx.lctx]
    closed = mctx.is_prop(mctx.fvars[fvar_id].type) and simp_hyp(ctx, rules, fvar_id) is None
    for mvar_id in open_ids:
        mctx.set_kind(mvar_id, "natural", mctx.decl(mvar_id).user_name)
    if closed:
        ctx.goals += postponed.finish("goals").goals
        return
    new = [decl for decl in ctx.lctx if decl.fvar_id not in before]
    # A simplified hypothesis is a new local; unchanged, it is still the old one.
    proof: Expr = new[0].fvar if new else FVar(fvar_id)
    type_, target = mctx.instantiate(mctx.infer_type(proof)), ctx.target
    if not mctx.is_def_eq(target, type_):
        raise TacticError(
            f"Type mismatch: After simplification, term\n  {shown}\nhas type\n  {ctx.show(type_)}\n"
            f"but is expected to have type\n  {ctx.show(target)}"
        )
    if isinstance(proof, FVar) and proof.id not in ctx.lctx:
        # The hypothesis became `True` and was cleared; so was the goal.
        raise TacticError("Tactic `simpa` failed: the term simplifies to `True`, which does not prove the goal")
    ctx.close(proof)
    ctx.goals += postponed.finish("goals").goals
