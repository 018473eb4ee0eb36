"""One-sided matching of rule patterns, for `simp`: fast, without metavariables.

A pattern is a term whose loose bound variables are the rule's arguments (`BVar(0)` is the last one) and whose universe
parameters are open. Under binders only Miller patterns match (`p x` with `x` bound). Numbers match up to `n + k`, and
reducible definitions in the term are unfolded where that helps.
"""

from nanolean.kernel.expr import (
    PROP,
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Pi,
    Proj,
    Sort,
    abstract,
    alpha_eq,
    collect_fvars,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
    mk_app,
    replace_levels,
)
from nanolean.kernel.level import Level, LParam, Succ, equiv, substitute
from nanolean.meta.assign import eta_reduce
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import mk_offset, nat_offset


class Match:
    """The arguments and universe levels found so far for one rule with `count` arguments.

    Without `open_levels` the universe parameters in the pattern stand for themselves (rules from hypotheses).
    """

    __slots__ = ("args", "count", "functions", "levels", "locals", "mctx", "open_levels")

    def __init__(self, mctx: MetaContext, count: int, open_levels: bool) -> None:
        self.mctx = mctx
        self.count = count
        self.open_levels = open_levels
        self.args: list[Expr | None] = [None] * count
        self.levels: dict[Level, Level] = {}
        self.locals: list[str] = []
        """Ids of the locals that stand for the binders around the place that is matched now."""
        self.functions = False
        """Some argument is a function found under a binder, so that filled patterns need beta reduction."""

    def fill(self, pattern: Expr) -> Expr | None:
        """Put levels and arguments into the pattern; None while one that it needs is missing."""
        # Levels first: the arguments have universe parameters of the theorem at hand, which may be named like the
        # rule's (`u`) and are other ones.
        if pattern.has_lparam and self.levels:
            pattern = replace_levels(pattern, lambda level: substitute(level, self.levels))
        if pattern.loose:
            values = self.args[::-1]
            if any(value is None and has_loose_bvar(pattern, idx) for idx, value in enumerate(values)):
                return None
            # PROP stands where the pattern has no such variable.
            pattern = instantiate(pattern, *[PROP if value is None else value for value in values])
        return pattern

    # -- terms -------------------------------------------------------------------------------------------------------

    def match(self, pattern: Expr, e: Expr) -> bool:
        """Return whether the term is an instance of the pattern."""
        if not (pattern.loose or (pattern.has_lparam and self.open_levels)):
            return pattern is e or alpha_eq(pattern, e) or self._equal(pattern, e)
        if isinstance(pattern, App):
            return self._match_app(pattern, e)
        if isinstance(pattern, BVar):
            return self._assign(pattern.idx, e)
        if isinstance(pattern, Const):
            return isinstance(e, Const) and e.name == pattern.name and self._match_levels(pattern.levels, e.levels)
        if isinstance(pattern, Lam | Pi):
            return isinstance(e, Lam | Pi) and e.__class__ is pattern.__class__ and self._match_binder(pattern, e)
        if isinstance(pattern, Sort):
            return isinstance(e, Sort) and self._match_level(pattern.level, e.level)
        if isinstance(pattern, Proj):
            return isinstance(e, Proj) and e.idx == pattern.idx and self.match(pattern.expr, e.expr)
        return False

    def _equal(self, a: Expr, b: Expr) -> bool:
        with self.mctx.with_transparency("reducible"):
            return self.mctx.is_def_eq(a, b)

    def _match_binder(self, pattern: Lam | Pi, e: Lam | Pi) -> bool:
        if not self.match(pattern.type, e.type):
            return False
        local = self.mctx.fresh_local(e.name, e.type)
        self.locals.append(local.fvar_id)
        matched = self.match(instantiate(pattern.body, local.fvar), instantiate(e.body, local.fvar))
        self.locals.pop()
        return matched

    def _match_app(self, pattern: App, e: Expr) -> bool:
        head, pattern_args = get_app_fn_args(pattern)
        if isinstance(head, BVar):
            return self._match_function(head.idx, pattern_args, e)
        fn, args = get_app_fn_args(e)
        if self._match_spine(head, pattern_args, fn, args):
            return True
        if isinstance(fn, Const):
            # `a > b` against a rule about `<`: reducible definitions of the term are seen through, as Lean's
            # discrimination trees do.
            if getattr(head, "name", None) != fn.name and getattr(self.mctx.env.get(fn.name), "reducible", False):
                return self.match(pattern, self.mctx.whnf(e, "reducible"))
            return self._match_offset(pattern, e)
        return not isinstance(e, App) and self._match_offset(pattern, e)

    def _match_spine(self, head: Expr, pattern_args: list[Expr], fn: Expr, args: list[Expr]) -> bool:
        if len(args) != len(pattern_args):
            return False
        if isinstance(head, Const):
            if not isinstance(fn, Const) or head.name != fn.name:
                return False
        elif not head.loose and head is not fn:
            return False
        # Copies, as a part may have matched before another failed.
        before, levels = list(self.args), dict(self.levels)
        if self.match(head, fn) and all(self.match(p, a) for p, a in zip(pattern_args, args)):
            return True
        self.args, self.levels = before, levels
        return False

    def _match_offset(self, pattern: Expr, e: Expr) -> bool:
        """`p + 3` against `x + 5` or `7`, `succ p` against `x + 1`."""
        base, plus = nat_offset(self.mctx, pattern)
        if base is None or plus == 0:
            return False
        rest, available = nat_offset(self.mctx, e)
        return available >= plus and self.match(base, mk_offset(rest, available - plus))

    def _match_function(self, idx: int, pattern_args: list[Expr], e: Expr) -> bool:
        """`?f x y` with distinct bound `x`, `y`: `f := fun x y => e`; else, argument by argument from the last one."""
        ids = [arg.id for arg in pattern_args if isinstance(arg, FVar) and arg.id in self.locals]
        if len(ids) == len(pattern_args) == len(set(ids)):
            fn = e
            for fvar_id in reversed(ids):
                decl = self.mctx.fvars[fvar_id]
                fn = Lam(decl.user_name, decl.type, abstract(fn, [FVar(fvar_id)]))
            # A Miller pattern has one solution. Anything else is matched as by first-order approximation.
            self.functions = True
            return self._assign(idx, eta_reduce(fn))
        fn_, args = get_app_fn_args(e)
        split = len(args) - len(pattern_args)
        if split < 0 or not self._assign(idx, mk_app(fn_, *args[:split])):
            return False
        return all(self.match(p, a) for p, a in zip(pattern_args, args[split:]))

    def _assign(self, idx: int, e: Expr) -> bool:
        # An argument of the rule cannot mention a variable that is bound inside of the term.
        if self.locals and e.has_fvar and not set(self.locals).isdisjoint(collect_fvars(e)):
            return False
        place = self.count - 1 - idx
        old = self.args[place]
        if old is None:
            self.args[place] = e
            return True
        return old is e or alpha_eq(old, e) or self._equal(old, e)

    def infer_missing(self, types: tuple[Expr, ...], level_count: int) -> None:
        """Find arguments and levels that occur only in the types of arguments, from those that are known."""
        if len(self.levels) == level_count and all(arg is not None for arg in self.args):
            return
        # From the last: its type speaks of those before it, `p : Nat.Prime n` tells `n`.
        for place in range(self.count - 1, -1, -1):
            arg = self.args[place]
            type_ = types[place]
            if arg is None or not (type_.loose or type_.has_lparam):
                continue
            inner = Match(self.mctx, place, self.open_levels)
            inner.args, inner.levels = self.args[:place], self.levels
            if inner.match(type_, self.mctx.infer_type(arg)):
                self.args[:place] = inner.args

    def well_typed(self, types: tuple[Expr, ...]) -> bool:
        """Return whether the known arguments have the types that the rule asks for (`match` looks at shapes only)."""
        for place, arg in enumerate(self.args):
            if arg is None:
                continue
            inner = Match(self.mctx, place, self.open_levels)
            inner.args, inner.levels = self.args[:place], self.levels
            wanted = inner.fill(types[place])
            if wanted is not None and not self.mctx.is_def_eq(wanted, self.mctx.infer_type(arg)):
                return False
        return True

    # -- levels ------------------------------------------------------------------------------------------------------

    def _match_levels(self, patterns: tuple[Level, ...], levels: tuple[Level, ...]) -> bool:
        return all(self._match_level(p, level) for p, level in zip(patterns, levels))

    def _match_level(self, pattern: Level, level: Level) -> bool:
        if not (pattern.has_param and self.open_levels):
            return equiv(pattern, level)
        if isinstance(pattern, LParam):
            old = self.levels.setdefault(pattern, level)
            return old is level or equiv(old, level)
        if isinstance(pattern, Succ) and isinstance(level, Succ):
            return self._match_level(pattern.of, level.of)
        return equiv(substitute(pattern, self.levels), level)
