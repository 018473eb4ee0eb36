"""NanoLean's kernel held against Lean's own: random declarations that both judge, as a program.

`python -m nanolean.tests.official LIBRARY KIND[,KIND..] COUNT [SEED]` prints a line of JSON for each kind (`mutants`,
`types`, `equalities`, `levels`, `structures`): how many declarations were accepted by whom, and the first of those that
they judge differently.
A process of its own, as a mistake in what Lean's library is given ends it.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from nanolean.kernel.budget import BudgetExceeded, KernelError
from nanolean.kernel.declaration import CtorInfo, Declaration, DefInfo, QuotInfo, RecInfo
from nanolean.kernel.env import DefDecl, Environment, InductiveDecl, OpaqueDecl, TheoremDecl, declaration_of
from nanolean.kernel.expr import (
    Const,
    Expr,
    Lam,
    Pi,
    Proj,
    Sort,
    instantiate,
    instantiate_level_params,
    mk_app,
    mk_lambda,
    mk_pi,
)
from nanolean.kernel.level import ONE, ZERO, IMax, Level, LParam, Max, Succ
from nanolean.kernel.typecheck import TypeChecker
from nanolean.system import with_deep_stack
from nanolean.tests.kernel_prelude import BOOL, NAT, b, c, eq, inductive
from nanolean.tests.library import base
from nanolean.tests.mutants import Mutator, claims, random_place, rebuild
from nanolean.tests.random_families import NAME, FamilyMaker, environment, random_level
from nanolean.tools.lean_kernel import LeanGaveUp, LeanKernel, LeanRefused

STEPS = 100_000
SHOWN = 12
MAX_SHOWN = 1500
Question = tuple[list[Declaration], Declaration]
"""A declaration, and others that come before it: where these are not accepted by both, there is no question."""


class Both:
    """The same declarations in both kernels."""

    def __init__(self, kernel: LeanKernel, env: Environment) -> None:
        self.kernel, self.env = kernel, env
        self.official = kernel.empty
        infos = {info.name: info for info in env}
        for info in env:
            comes_along = isinstance(info, CtorInfo | RecInfo) or (isinstance(info, QuotInfo) and info.name != "Quot")
            if not comes_along:
                self.official = kernel.add(self.official, declaration_of(info, infos))

    def ours(self, env: Environment, decl: Declaration) -> tuple[str, Environment]:
        """What our kernel says, and the environment with the declaration."""
        try:
            return "accepted", env.add(decl, STEPS)
        except BudgetExceeded:
            return "given up", env
        except KernelError as error:
            return f"refused: {error}", env

    def theirs(self, env: int, decl: Declaration) -> tuple[str, int]:
        """What Lean's kernel says."""
        try:
            return "accepted", self.kernel.add(env, decl)
        except LeanGaveUp:
            return "given up", env
        except LeanRefused as error:
            return f"refused: {error}", env

    def ask(self, question: Question) -> tuple[str, str] | None:
        """What both say of a declaration."""
        before, decl = question
        env, official = self.env, self.official
        for other in before:
            our_word, env = self.ours(env, other)
            their_word, official = self.theirs(official, other)
            if our_word != "accepted" or their_word != "accepted":
                return None
        return self.ours(env, decl)[0], self.theirs(official, decl)[0]


def mutants(both: Both, rng: Random) -> Iterator[Question]:
    """Terms of the library with something in a wrong place."""
    pool = claims(both.env)
    mutator = Mutator(both.env, pool, rng)
    while True:
        claim = rng.choice(pool)
        value = mutator.mutant(claim, claim.value, rng.choice([1, 1, 1, 2, 3]))
        if value is not None:
            yield [], OpaqueDecl("mutant", claim.level_params, claim.type, value)


def types(both: Both, rng: Random) -> Iterator[Question]:
    """Random inductive types."""
    while True:
        yield [], FamilyMaker(rng).declaration()


def equalities(both: Both, rng: Random) -> Iterator[Question]:
    """Whether a definition equals its value, in which others are unfolded and, half of the time, something changed."""
    pool = claims(both.env, ("def",))
    mutator = Mutator(both.env, pool, rng)
    while True:
        claim = rng.choice(pool)
        value: Expr | None = claim.value
        for _ in range(rng.randrange(4)):
            value = _unfolded(both.env, claim.value if value is None else value, rng)
        if value is not None and rng.random() < 0.5:
            value = mutator.mutant(claim, value, 1)
        if value is None:
            continue
        level = TypeChecker(both.env).sort_of(claim.type)
        left = c(claim.name, *map(LParam, claim.level_params))
        proof = mk_app(c("Eq.refl", level), claim.type, left)
        yield [], TheoremDecl("claim", claim.level_params, eq(claim.type, left, value, level), proof)


def _unfolded(env: Environment, e: Expr, rng: Random) -> Expr:
    """The term with the value of a constant in the place of the constant, where the draws find one."""
    for _ in range(20):
        path, place = random_place(e, rng)
        info = env.get(place.name) if isinstance(place, Const) else None
        if isinstance(place, Const) and isinstance(info, DefInfo):
            value = instantiate_level_params(info.value, info.level_params, place.levels)
            return rebuild(e, path, value)
    return e


def levels(both: Both, rng: Random) -> Iterator[Question]:
    """Whether two levels are equal, and whether one is at most the other."""
    params = ("u", "v", "w")
    while True:
        left, right = random_level(rng), _near(random_level(rng), rng)
        if rng.random() < 0.6:
            right = _near(left, rng)
        if rng.random() < 0.5:
            alpha = b("α", Sort(left))
            type_ = mk_pi([alpha], Sort(right))
            yield [], DefDecl("f", params, type_, mk_lambda([alpha], alpha.fvar))
        else:
            field = mk_pi([b("x", c("PUnit", left))], c(NAME, *map(LParam, params)))
            yield [], inductive(NAME, params, 0, Sort(right), (f"{NAME}.mk", field))


def _near(level: Level, rng: Random) -> Level:
    """The level with a small change somewhere, or none."""
    part = random_level(rng, 1)
    changes: list[Callable[[], Level]] = [
        lambda: level,
        lambda: Max(level, part),
        lambda: Max(part, level),
        lambda: IMax(level, part),
        lambda: IMax(part, level),
        lambda: IMax(rng.choice([ZERO, ONE]), level),
        lambda: Succ(level),
        lambda: _inside(level, rng),
    ]
    return rng.choice(changes)()


def _inside(level: Any, rng: Random) -> Level:
    """The level with its parts changed or exchanged."""
    parts = [getattr(level, name) for name in level.__match_args__]
    if not parts or not isinstance(parts[0], Level):
        return random_level(rng, 1)
    if len(parts) == 2 and rng.random() < 0.5:
        parts.reverse()
    place = rng.randrange(len(parts))
    parts[place] = _near(parts[place], rng) if rng.random() < 0.6 else parts[place]
    result: Level = level.__class__(*parts)
    return result


def structures(both: Both, rng: Random) -> Iterator[Question]:
    """Types with one constructor, and claims that hold by eta, by projections, or where there are no fields."""
    while True:
        maker = FamilyMaker(rng)
        decl = maker.declaration()
        if len(decl.ctors) != 1:
            continue
        env = both.ours(both.env, decl)[1]
        info = env.get(NAME)
        if info is None:
            continue
        for _ in range(3):
            claim = _claim(env, maker, decl, rng)
            if claim is not None:
                yield [decl], claim


def _claim(env: Environment, maker: FamilyMaker, decl: InductiveDecl, rng: Random) -> Declaration | None:
    """Something about elements `s` and `t` of a type with one constructor, at indices that are variables.

    None where the drawn kind does not apply.
    """
    ctor: Any = env[decl.ctors[0].name]
    levels = [LParam(name) for name in decl.level_params]
    params = [param.fvar for param in maker.params]
    own = mk_app(c(NAME, *levels), *params, *[index.fvar for index in maker.indices])
    s, t = b("s", own), b("t", own)
    binders = [*maker.params, *maker.indices, s, t]
    kind = rng.choice(["eta", "no fields", "recursor", "projection"])
    if kind in ("recursor", "projection") and not ctor.num_fields:
        return None
    if kind == "recursor" and maker.indices:
        return None
    if kind == "projection":
        value = mk_lambda(binders, Proj(NAME, rng.randrange(ctor.num_fields), s.fvar))
        return DefDecl("claim", decl.level_params, mk_pi(binders, rng.choice([NAT, own, BOOL])), value)
    type_, left, right, sort = own, s.fvar, t.fvar, maker.level
    if kind == "eta":
        fields = [Proj(NAME, place, s.fvar) for place in range(ctor.num_fields)]
        right = mk_app(c(ctor.name, *levels), *params, *fields)
    elif kind == "recursor":
        rec: Any = env[f"{NAME}.rec"]
        if not rec.large:
            return None
        type_, right, sort = NAT, c("Nat.zero"), ONE
        left = mk_app(c(rec.name, ONE, *levels), *params, Lam("x", own, NAT), _zero_of_fields(rec, params, own), s.fvar)
    proof = mk_app(c("Eq.refl", sort), type_, right)
    return TheoremDecl(
        "claim", decl.level_params, mk_pi(binders, eq(type_, left, right, sort)), mk_lambda(binders, proof)
    )


def _zero_of_fields(rec: Any, params: list[Any], own: Expr) -> Expr:
    """The minor premise of a recursor into numbers that gives zero for all fields."""
    type_: Any = rec.type
    for param in params:
        type_ = instantiate(type_.body, param)
    minor: Any = instantiate(type_.body, Lam("x", own, NAT)).type  # type: ignore[attr-defined]
    binders = []
    while isinstance(minor, Pi):
        binders.append(b(f"m{len(binders)}", minor.type))
        minor = instantiate(minor.body, binders[-1].fvar)
    return mk_lambda(binders, c("Nat.zero"))


KINDS: dict[str, Callable[[Both, Random], Iterator[Question]]] = {
    "mutants": mutants,
    "types": types,
    "equalities": equalities,
    "levels": levels,
    "structures": structures,
}


def compare(both: Both, kind: str, count: int, seed: str) -> dict[str, Any]:
    """Have both kernels judge so many declarations."""
    seen: Counter[str] = Counter()
    only_theirs: Counter[str] = Counter()
    wrong: list[tuple[str, str]] = []
    questions = KINDS[kind](both, Random(seed))
    while seen.total() < count:
        question = next(questions)
        answer = both.ask(question)
        if answer is None:
            continue
        ours, theirs = (said.partition(":")[0] for said in answer)
        seen[f"{ours}/{theirs}"] += 1
        if ours == "accepted" and theirs == "refused":
            wrong.append((answer[1], str(question)[:MAX_SHOWN]))
        if ours == "refused" and theirs == "accepted":
            only_theirs[re.sub(r"'[^']*'", "_", answer[0])[:60]] += 1
    shown = {"only_theirs": dict(only_theirs.most_common(SHOWN)), "wrong": wrong[:SHOWN]}
    return {"kind": kind, "seed": seed, "seen": dict(seen), **shown}


def main() -> int:
    """Run the comparisons that the command line asks for."""
    library, kinds, count, *seed = sys.argv[1:]
    kernel = LeanKernel(Path(library))
    over_library, over_little = cache(lambda: Both(kernel, base().env)), cache(lambda: Both(kernel, environment()))
    for kind in kinds.split(","):
        both = over_library() if kind in ("mutants", "equalities") else over_little()
        result = compare(both, kind, int(count), *(seed or ["0"]))
        print(json.dumps(result, ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(with_deep_stack(main))
