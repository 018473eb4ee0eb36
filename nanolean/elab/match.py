"""Elaboration of `match` and of patterns after `fun`, `let` and others; the matchers that they become."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from nanolean.elab.elaborator import Elaborator, elaborates
from nanolean.elab.match_tree import Alternative, MatchTree
from nanolean.elab.names import collect_level_mvars
from nanolean.elab.patterns import SUBSTITUTED, Pattern, PatternReader
from nanolean.elab.session import Session
from nanolean.kernel.declaration import DefDecl, DefInfo
from nanolean.kernel.expr import (
    PROP,
    Const,
    Expr,
    FVar,
    Pi,
    Sort,
    alpha_eq,
    collect_fvars,
    collect_level_params_of,
    collect_mvars,
    instantiate,
    mk_app,
    replace_levels,
)
from nanolean.kernel.level import Level, LParam, substitute
from nanolean.kernel.reduce import beta
from nanolean.meta.bind import replace_fvar
from nanolean.meta.generalize import kabstract
from nanolean.meta.lctx import LocalContext, LocalDecl, inaccessible
from nanolean.meta.matchers import as_matcher
from nanolean.meta.mctx import MetaContext
from nanolean.proof_errors import ElabError, ProofError
from nanolean.syntax import (
    By,
    CaseTarget,
    ContradictionStx,
    ExactStx,
    FunAlts,
    Ident,
    Match,
    MatchAlt,
    Node,
    PatName,
    RcasesStx,
    SyntheticHole,
    Tactic,
    TacticSeq,
    Term,
)


@dataclass(frozen=True)
class Row:
    """The patterns of one alternative and their variables, in order."""

    patterns: tuple[Pattern, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Coverage:
    """What the alternatives leave out (texts), and which of them are never reached."""

    missing: tuple[str, ...]
    redundant: tuple[int, ...]


@dataclass(frozen=True)
class MatcherCall:
    """A matcher, to be applied to the motive, the terms and the alternatives."""

    params: tuple[Expr, ...]
    levels: tuple[Level, ...]
    name: str
    to_prop: bool

    def apply(self, level: Level, motive: Expr, args: Sequence[Expr]) -> Expr:
        """Apply the matcher; `level` is the universe of the result."""
        # A matcher into `Prop` has no parameter for the universe of the result.
        levels = self.levels if self.to_prop else (level, *self.levels)
        return mk_app(Const(self.name, levels), *self.params, motive, *args)


class MatcherMaker:
    """Makes the matcher for targets (locals, types closed over each other and the context) and rows of patterns."""

    def __init__(self, session: Session, lctx: LocalContext, targets: Sequence[str], to_prop: bool) -> None:
        self.session = session
        self.mctx = session.mctx
        self.targets = list(targets)
        self.params = self._find_params(lctx)
        # A matcher is a closed constant: it takes over what its targets' types rest on, and their universes, as
        # parameters.
        types = [self.mctx.instantiate(self.mctx.fvars[i].type) for i in [*self.params, *self.targets]]
        outer: list[Level] = []
        for e in types:
            outer += map(LParam, sorted(collect_level_params_of(e)))
        for e in types:
            outer += collect_level_mvars(e)
        self.outer_levels: tuple[Level, ...] = tuple(dict.fromkeys(outer))
        self.level = LParam("_motive")
        # `u_1`, `u_2`, .. as Lean's Meta/Closure.lean names them, whatever those of the declaration are called, so that
        # equal matches give equal matchers.
        names = [f"u_{i + 2}" for i in range(len(self.outer_levels))]
        self.to_prop = to_prop
        self.level_params: tuple[str, ...] = tuple(names)
        olds: tuple[Level, ...] = self.outer_levels
        if not to_prop:
            self.level_params, olds = ("u_1", *names), (self.level, *olds)
        self.renaming: dict[Level, Level] = {old: LParam(new) for old, new in zip(olds, self.level_params)}
        sort = PROP if to_prop else Sort(self.level)
        self.motive = self.mctx.fresh_local("motive", self.mctx.mk_pi(self.targets, sort))

    def _find_params(self, lctx: LocalContext) -> list[str]:
        """Ids of the locals of the context that the types of the targets rest on."""
        wanted: set[str] = set()
        todo = list(self.targets)
        while todo:
            type_ = self.mctx.instantiate(self.mctx.fvars[todo.pop()].type)
            for fvar_id in collect_fvars(type_):
                if fvar_id not in wanted and fvar_id not in self.targets:
                    wanted.add(fvar_id)
                    todo.append(fvar_id)
        return [decl.fvar_id for decl in lctx if decl.fvar_id in wanted]

    def make(self, rows: Sequence[Row]) -> tuple[MatcherCall | None, Coverage]:
        """Make the matcher, None where cases are missing."""
        mctx = self.mctx
        alternatives, ids = [], []
        for i, row in enumerate(rows):
            result = mk_app(self.motive.fvar, *[pattern.shape for pattern in row.patterns])
            local = mctx.fresh_local(f"h_{i + 1}", mctx.mk_pi(list(row.ids), result))
            ids.append(local.fvar_id)
            alternatives.append(Alternative(row.patterns, row.ids, local.fvar))
        binders = [*self.params, self.motive.fvar_id, *self.targets, *ids]
        lctx = LocalContext(mctx.fvars[fvar_id] for fvar_id in binders)
        target = mk_app(self.motive.fvar, *[FVar(i) for i in self.targets])
        goal = mctx.fresh_mvar(target, lctx, "synthetic")
        tree = MatchTree(mctx, alternatives, partial(contradicts, self.session))
        tree.solve(goal.id, self.targets)
        redundant = tuple(i for i in range(len(rows)) if i not in tree.used)
        coverage = Coverage(tuple(", ".join(e.text() for e in examples) for examples in tree.missing), redundant)
        # The tree is not closed, or an alternative would be lost without a word.
        if tree.missing or redundant:
            return None, coverage
        type_ = self._close(mctx.mk_pi(binders, target))
        value = self._close(mctx.mk_lambda(binders, goal))
        return self._call(type_, value), coverage

    def _close(self, e: Expr) -> Expr:
        e = self.mctx.instantiate(e)
        return replace_levels(e, lambda level: substitute(level, self.renaming))

    def _call(self, type_: Expr, value: Expr) -> MatcherCall:
        """An application of the matcher with this value, which is defined if there is none yet."""
        params = tuple(FVar(fvar_id) for fvar_id in self.params)
        env = self.session.state.env
        # Lean shares matchers between declarations too (`mkMatcherAuxDefinition`): two `match`es of one shape are then
        # equal without unfolding.
        for info in env:
            if ".match_" in info.name and isinstance(info, DefInfo) and as_matcher(info) is not None:
                same = info.level_params == self.level_params and alpha_eq(info.value, value)
                if same and alpha_eq(info.type, type_):
                    return MatcherCall(params, self.outer_levels, info.name, self.to_prop)
        owner = self.session.decl_name or "_example"
        number = 1
        while (name := f"{owner}.match_{number}") in env:
            number += 1
        self.session.add_auxiliary(DefDecl(name, self.level_params, type_, value))
        return MatcherCall(params, self.outer_levels, name, self.to_prop)


def contradicts(session: Session, goal: str) -> bool:
    """Close a case that no alternative covers by `contradiction` (`processLeaf` of Lean's Meta/Match/Match.lean)."""
    mark, watch = session.mctx.save(), session.watch
    session.watch = None
    session.blocks.append(goal)
    try:
        with session.recovering(False):
            session.run_block(session, goal, TacticSeq((ContradictionStx(),)), 0, 0)
    except ProofError:
        session.mctx.restore(mark)
        return False
    finally:
        session.watch = watch
        session.blocks.pop()
    return True


def without_lets(session: Session, lctx: LocalContext, e: Expr) -> Expr:
    """Replace `let` locals of the term by their values."""
    for decl in reversed(lctx.decls):
        if decl.value is not None:
            e = replace_fvar(e, decl.fvar_id, session.mctx.instantiate(decl.value))
    return e


@dataclass(frozen=True)
class Target:
    """A term that is matched, and the name for the equation with the pattern, if one was given."""

    value: Expr
    equation: str | None = None


@elaborates(Match)
def elab_match(self: Elaborator, stx: Match, expected: Expr | None) -> Expr:
    """`match a, h : b with | p, q => e`; waits until the type of the result is known."""
    if expected is not None and self.known_head(expected) is None and stx is not self.forced:
        return self.wait(stx, expected)
    targets = [Target(self.elab(term), name) for name, term in stx.targets]
    return match_on(self, stx, targets, stx.alts, self.type_or_fresh(expected))


@elaborates(FunAlts)
def elab_fun_alternatives(self: Elaborator, stx: FunAlts, expected: Expr | None) -> Expr:
    """`fun | p, q => e`: a function of as many arguments as there are patterns, which matches them."""
    type_ = self.known_head(expected)
    if type_ is None:
        if stx is not self.forced:
            return self.wait(stx, expected)
        raise ElabError("Failed to infer the type of the function that is defined by alternatives", stx.pos, stx.end)
    outer, ids = self.lctx, []
    try:
        for _ in stx.alts[0].patterns:
            type_ = self.mctx.whnf_pi(type_)
            if not isinstance(type_, Pi):
                assert expected is not None
                text = "Too many patterns in match alternative: the type of the function has no argument for each"
                raise ElabError(f"{text}\n  {self.show(expected)}", stx.alts[0].pos, stx.alts[0].end)
            decl = self.mctx.fresh_local(inaccessible("x"), type_.type, info=type_.info)
            self.lctx = self.lctx.add(decl)
            ids.append(decl.fvar_id)
            type_ = instantiate(type_.body, decl.fvar)
        body = match_on(self, stx, [Target(FVar(fvar_id)) for fvar_id in ids], stx.alts, type_)
        return self.mctx.mk_lambda(ids, body)
    finally:
        self.lctx = outer


def match_on(self: Elaborator, stx: Node, targets: Sequence[Target], alts: Sequence[MatchAlt], expected: Expr) -> Expr:
    """Make the term that matches the targets against the alternatives, with a result of the expected type."""
    self.resume()
    case = _Case(self, stx, targets, expected)
    rows = [case.read(alt) for alt in alts]
    return case.finish(alts, rows)


def _dependents(mctx: MetaContext, lctx: LocalContext, targets: Sequence[Target]) -> list[LocalDecl]:
    """The hypotheses that speak of matched variables (`h : n ≠ 0` of `match n with`).

    They are matched too, by their names, and so say in each alternative what they say of its pattern (`generalize` of
    `elabMatchAltViews` in Lean's Elab/Match.lean).
    """
    matched: set[str] = set()
    for target in targets:
        if isinstance(target.value, FVar):
            matched.add(target.value.id)
    moved: dict[str, LocalDecl] = {}
    for decl in lctx if matched else ():
        mentioned = collect_fvars(mctx.instantiate(decl.type)).keys()
        if decl.value is None and decl.fvar_id not in matched and mentioned & (matched | moved.keys()):
            moved[decl.fvar_id] = decl
    return list(moved.values())


def substituted(rhs: Term, patterns: Sequence[Ident]) -> Term:
    """Return a right side that first takes the equations of the patterns `rfl` for what they say."""
    if isinstance(rhs, SyntheticHole):
        raise ElabError("a goal `?_` behind a pattern `rfl` is not supported", rhs.pos, rhs.end)
    steps: list[Tactic] = []
    for pattern in patterns:
        # Without a width: these tactics are nobody's.
        at = pattern.pos
        target = CaseTarget(Ident(SUBSTITUTED, pos=at, end=at), pos=at, end=at)
        steps.append(RcasesStx((target,), PatName("rfl", pos=at, end=at), pos=at, end=at))
    steps.append(ExactStx(rhs, pos=rhs.pos, end=rhs.pos))
    return By(TacticSeq(tuple(steps), pos=rhs.pos, end=rhs.end), pos=rhs.pos, end=rhs.end)


class _Case:
    """One match while it is elaborated."""

    def __init__(self, elaborator: Elaborator, stx: Node, targets: Sequence[Target], expected: Expr) -> None:
        self.elaborator = elaborator
        self.mctx = mctx = elaborator.mctx
        self.stx = stx
        self.targets = [Target(mctx.instantiate(target.value), target.equation) for target in targets]
        self.hyps = _dependents(mctx, elaborator.lctx, self.targets)
        for decl in self.hyps:
            self.targets.append(Target(decl.fvar))
        self.locals: list[str] = []
        for i, target in enumerate(self.targets):
            type_ = without_lets(elaborator.session, elaborator.lctx, mctx.instantiate(mctx.infer_type(target.value)))
            # The constructors of an unknown type are unknown; Lean refuses it here as well.
            if collect_mvars(type_):
                raise ElabError(
                    "Invalid match expression: The type of a matched term is not known:\n  "
                    f"{elaborator.show(target.value)} : {elaborator.show(type_)}",
                    stx.pos,
                    stx.end,
                )
            # Later targets may have earlier ones in their types, which then speak of the locals that stand for these.
            self.locals.append(mctx.fresh_local(f"x_{i + 1}", self._generalize(type_, i)).fvar_id)
        self.expected = mctx.instantiate(expected)
        self.motive = mctx.mk_lambda(self.locals, self._result(self._generalize(self.expected, len(self.targets))))

    def _generalize(self, e: Expr, count: int) -> Expr:
        """The term with the first targets replaced by their locals."""
        for target, fvar_id in zip(self.targets[:count], self.locals):
            e = instantiate(kabstract(self.mctx, e, target.value), FVar(fvar_id))
        return e

    def _result(self, type_: Expr) -> Expr:
        """`h : target = local → type_` for the targets whose equation has a name."""
        for target, fvar_id in reversed(list(zip(self.targets, self.locals))):
            if target.equation is not None:
                equation = self.elaborator.mk_equation(target.value, FVar(fvar_id))
                type_ = Pi(target.equation, equation, type_)
        return type_

    def read(self, alt: MatchAlt) -> tuple[Row, Expr]:
        """Elaborate an alternative: return its patterns, and its right side as a function of their variables."""
        count = len(self.targets) - len(self.hyps)
        if len(alt.patterns) != count:
            wrong = "Too many"
            if len(alt.patterns) < count:
                wrong = "Not enough"
            numbers = f"Expected {count}, but found {len(alt.patterns)}"
            raise ElabError(f"{wrong} patterns in match alternative: {numbers}", alt.pos, alt.end)
        self_, outer = self.elaborator, self.elaborator.lctx
        try:
            self_.lctx = outer.remove(decl.fvar_id for decl in self.hyps)
            reader = PatternReader(self_)
            patterns: list[Pattern] = []
            wanted: list[Term | str] = [*alt.patterns, *[decl.user_name for decl in self.hyps]]
            for fvar_id, stx in zip(self.locals, wanted):
                type_ = self.mctx.fvars[fvar_id].type
                for other, pattern in zip(self.locals, patterns):
                    type_ = replace_fvar(type_, other, pattern.expr)
                patterns.append(reader.variable(stx, type_) if isinstance(stx, str) else reader.read(stx, type_))
            result = beta(self.motive, [pattern.expr for pattern in patterns])
            if reader.equations:
                alt = replace(alt, rhs=substituted(alt.rhs, reader.equations))
            function = self._right_side(alt, reader.ids, result)
        finally:
            self_.lctx = outer
        return Row(tuple(patterns), tuple(reader.ids)), function

    def _right_side(self, alt: MatchAlt, ids: list[str], result: Expr) -> Expr:
        self_ = self.elaborator
        hyps = []
        for target in self.targets:
            if target.equation is None:
                continue
            assert isinstance(result, Pi)
            name = inaccessible("h") if target.equation == "_" else target.equation
            decl = self.mctx.fresh_local(name or "", result.type)
            self_.lctx = self_.lctx.add(decl)
            hyps.append(decl.fvar_id)
            result = instantiate(result.body, decl.fvar)
        body = self_.elab_as(alt.rhs, result)
        return self.mctx.mk_lambda([*ids, *hyps], body)

    def finish(self, alts: Sequence[MatchAlt], rows: Sequence[tuple[Row, Expr]]) -> Expr:
        """Return the whole term, once all alternatives have been read."""
        level = self.mctx.sort_level(self.expected)
        if level is None:
            raise ElabError("type expected", self.stx.pos, self.stx.end)
        self_ = self.elaborator
        # For a proof the cases may be on propositions, whose recursors lead into `Prop` only.
        to_prop = self.mctx.is_prop(self.expected)
        maker = MatcherMaker(self_.session, self_.lctx, self.locals, to_prop)
        call, coverage = maker.make([row for row, _ in rows])
        if coverage.missing:
            raise ElabError("Missing cases:\n" + "\n".join(coverage.missing), self.stx.pos, self.stx.end)
        if call is None:
            alt = alts[coverage.redundant[0]]
            row, _ = rows[coverage.redundant[0]]
            shown = ", ".join(self.elaborator.show(pattern.shape) for pattern in row.patterns)
            raise ElabError(
                f"Redundant alternative: Any expression matching\n  {shown}\n"
                "will match one of the preceding alternatives",
                alt.pos,
                alt.end,
            )
        functions = [function for _, function in rows]
        values = [target.value for target in self.targets]
        # The motive of `match h : e with` asks for `e = pattern`, which at the target itself is `rfl`.
        refls = [self_.mk_refl(target.value) for target in self.targets if target.equation is not None]
        return mk_app(call.apply(level, self.motive, [*values, *functions]), *refls)
