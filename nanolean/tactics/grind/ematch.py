"""E-matching: instances of theorems at terms of the graph, found modulo the equalities known there."""

from __future__ import annotations

from collections.abc import Iterator

from nanolean.kernel.expr import (
    App,
    BVar,
    Expr,
    Lit,
    get_app_fn,
    get_app_fn_args,
    instantiate_rev,
    mk_app,
    replace_levels,
)
from nanolean.kernel.level import Level, LParam, substitute
from nanolean.meta.reduce import const_name
from nanolean.tactics.eq_proof import mk_eq, mk_eq_refl
from nanolean.tactics.grind.normal import mk_plus, split_offset
from nanolean.tactics.grind.state import State, Theorem
from nanolean.tactics.matching import Match
from nanolean.tactics.unfolding import unfold_by_equation

MAX_GENERATION = 6
"""How often an instance may come out of terms of an instance."""
MAX_INSTANCES = 150
"""How many instances one branch may make."""
MAX_PER_ROUND = 60
"""How many instances one round may make."""

Todo = tuple[tuple[Expr, Expr], ...]


def instantiate_theorems(state: State) -> bool:
    """Make the instances that the graph as it is now triggers; whether there was a new one."""
    before = len(state.instances)
    graph = state.graph
    limit = min(MAX_INSTANCES, before + MAX_PER_ROUND)
    new: list[tuple[Theorem, Match, int]] = []
    for theorem in state.theorems:
        for match, generation in _matches(state, theorem):
            if len(state.instances) >= limit:
                break
            # Instances at equal arguments say the same; counted by class, each is made once.
            key = (theorem.key, *[graph.root.get(arg, arg) if arg is not None else None for arg in match.args])
            if generation <= MAX_GENERATION and key not in state.instances:
                state.instances.add(key)
                new.append((theorem, match, generation))
    # Added after all were found: a new instance would change the terms that are being walked over.
    for theorem, match, generation in new:
        _add_instance(state, theorem, match, generation)
    return len(state.instances) > before


def _matches(state: State, theorem: Theorem) -> Iterator[tuple[Match, int]]:
    """Ways to match all patterns of a theorem, with the generation of what they come from plus one."""
    matcher = Matcher(state)
    start = Match(state.mctx, len(theorem.types), bool(theorem.level_params))
    yield from _all_patterns(matcher, theorem.patterns, start, theorem.generation)


def _all_patterns(
    matcher: Matcher, patterns: tuple[Expr, ...], match: Match, generation: int
) -> Iterator[tuple[Match, int]]:
    if not patterns:
        yield match, generation + 1
        return
    graph = matcher.state.graph
    fn, _ = get_app_fn_args(patterns[0])
    for e in graph.heads.get(const_name(fn) or fn, ()):
        signature = graph.signature(e)
        # Of congruent terms one is enough.
        if signature is None or graph.table.get(signature) is not e:
            continue
        for next_match in matcher.at_node(patterns[0], e, (), match):
            yield from _all_patterns(matcher, patterns[1:], next_match, max(generation, graph.generation[e]))


class Matcher:
    """Matching of patterns against classes of one state's graph."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.graph = state.graph

    def at_node(self, pattern: Expr, e: Expr, rest: Todo, match: Match) -> Iterator[Match]:
        """Ways to match an application pattern with this very term, and then the rest with the classes named there."""
        self.state.mctx.budget.spend(2)
        fn, pattern_args = get_app_fn_args(pattern)
        shape = self.graph.shapes(e)
        if len(shape.args) != len(pattern_args) or not isinstance(shape.head, Expr):
            return
        new = _copy(match)
        if fn is not shape.head and not new.match(fn, shape.head):
            return
        free = set(shape.free)
        for i, (p, arg) in enumerate(zip(pattern_args, shape.args)):
            # Types and proofs are matched as they stand: the graph has no classes of them.
            if i not in free and not new.match(p, arg):
                return
        todo = tuple((p, arg) for i, (p, arg) in enumerate(zip(pattern_args, shape.args)) if i in free)
        yield from self.all(todo + rest, new)

    def all(self, todo: Todo, match: Match) -> Iterator[Match]:
        """Ways to match each pattern with the class of its term."""
        if not todo:
            yield match
            return
        (pattern, e), rest = todo[0], todo[1:]
        if isinstance(pattern, BVar):
            place = match.count - 1 - pattern.idx
            old = match.args[place]
            if old is None:
                match = _copy(match)
                match.args[place] = e
            if old is None or self.graph.same(old, e):
                yield from self.all(rest, match)
        elif not pattern.loose and not (pattern.has_lparam and match.open_levels):
            if self.graph.same(pattern, e):
                yield from self.all(rest, match)
        elif isinstance(pattern, App):
            # Modulo equality: `f (g x)` matches `f a` where `a = g b` is known.
            for member in self.graph.members[self.graph.root[e]]:
                yield from self.at_node(pattern, member, rest, match)
            yield from self._offset(pattern, e, rest, match)
        elif match.match(pattern, e):
            yield from self.all(rest, match)

    def _offset(self, pattern: Expr, e: Expr, rest: Todo, match: Match) -> Iterator[Match]:
        """`p + 1` against `5` or `x + 3`."""
        base, plus = split_offset(pattern)
        value = self.graph.value.get(self.graph.root[e])
        if not plus or value is None:
            return
        smaller = _subtract(value, plus)
        if smaller is not None:
            self.graph.add(smaller, self.graph.generation[e])
            yield from self.all(((base, smaller), *rest), match)


def _subtract(value: Expr, plus: int) -> Expr | None:
    """What `plus` must be added to for a literal or offset, where that is not the last summand itself."""
    if isinstance(value, Lit):
        return Lit(value.value - plus) if value.value >= plus else None
    base, offset = split_offset(value)
    if offset <= plus:
        return None
    return mk_plus(base, offset - plus)


def _copy(match: Match) -> Match:
    new = Match(match.mctx, match.count, match.open_levels)
    new.args, new.levels = list(match.args), dict(match.levels)
    return new


# -- instances ---------------------------------------------------------------------------------------------------------


def _add_instance(state: State, theorem: Theorem, match: Match, generation: int) -> None:
    """Assume what a theorem says of the matched terms; nothing where its variables are not all determined."""
    match.infer_missing(theorem.types, len(theorem.level_params))
    levels = _levels(theorem, match)
    if levels is None:
        return
    mctx = state.mctx
    values: list[Expr] = []
    premises: list[str] = []
    for place, type_ in enumerate(theorem.types):
        expected = instantiate_rev(_put_levels(type_, match.levels), values)
        if theorem.is_hyp[place]:
            local = mctx.fresh_local("h", expected)
            premises.append(local.fvar_id)
            values.append(local.fvar)
            continue
        arg = match.args[place]
        # Patterns are matched without types; an instance at a wrong one would be no term.
        if arg is None or not mctx.is_def_eq(expected, mctx.infer_type(arg)):
            return
        values.append(arg)
    statement = instantiate_rev(_put_levels(theorem.body, match.levels), values)
    state.add_fact(
        mctx.mk_pi(premises, statement),
        lambda ex: mctx.mk_lambda(premises, mk_app(theorem.proof(ex, levels), *values)),
        generation,
    )


def _levels(theorem: Theorem, match: Match) -> tuple[Level, ...] | None:
    levels: list[Level] = []
    for name in theorem.level_params:
        level = match.levels.get(LParam(name))
        if level is None:
            return None
        levels.append(level)
    return tuple(levels)


def _put_levels(e: Expr, levels: dict[Level, Level]) -> Expr:
    """The part of a theorem at these levels; before arguments are put in, whose own parameters may have its names."""
    if not levels or not e.has_lparam:
        return e
    return replace_levels(e, lambda level: substitute(level, levels))


MAX_UNFOLDINGS = 60
"""How many calls one branch unfolds."""


def unfold_definitions(state: State) -> bool:
    """Use the equations of the chosen definitions at all terms where that is new; whether there was one."""
    graph = state.graph
    progress = False
    for name in state.definitions:
        for e in graph.heads.get(name, ()):
            # `f x` unfolds where `x = 0` is known, as `f 0`: congruence gives `f x = f 0`.
            for call in dict.fromkeys((_with_values(state, e), e)):
                if call in state.unfolded or len(state.unfolded) >= MAX_UNFOLDINGS:
                    continue
                state.unfolded.add(call)
                if graph.generation[e] < MAX_GENERATION and _unfold(state, call, graph.generation[e]):
                    progress = True
                    break
    return progress


def _with_values(state: State, e: Expr) -> Expr:
    """The call with arguments replaced by the constructors or literals that they are equal to."""
    graph = state.graph
    shape = graph.shapes(e)
    args = [graph.value.get(graph.root[arg], arg) if i in shape.free else arg for i, arg in enumerate(shape.args)]
    return mk_app(get_app_fn(e), *args)


def _unfold(state: State, call: Expr, generation: int) -> bool:
    """Assume the equation that the call is an instance of; False where there is none."""
    mctx = state.mctx
    body = unfold_by_equation(mctx, call)
    if body is None:
        return False
    type_ = mctx.infer_type(call)
    level = mctx.sort_level(type_)
    assert level is not None
    state.add_fact(mk_eq(level, type_, call, body), lambda ex: mk_eq_refl(level, type_, call), generation + 1)
    return True
