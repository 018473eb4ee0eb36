"""NanoLean's kernel held against Lean's own: random declarations that both judge, as a program.

`python -m nanolean.tests.official LIBRARY KIND COUNT [SEED]` prints a line of JSON: how many declarations of which kind
(`mutants`, `types`, `levels`, `structures`) were accepted by whom, and the first of those that they judge differently.
A process of its own, as a mistake in what Lean's library is given ends it.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from nanolean.kernel.budget import BudgetExceeded, KernelError
from nanolean.kernel.declaration import CtorInfo, Declaration, RecInfo
from nanolean.kernel.env import DefDecl, Environment, InductiveDecl, OpaqueDecl, TheoremDecl, declaration_of
from nanolean.kernel.expr import Const, Expr, Lam, Proj, Sort, mk_app, mk_lambda, mk_pi
from nanolean.kernel.level import Level, Succ
from nanolean.system import with_deep_stack
from nanolean.tests.kernel_prelude import b, c, call, eq, inductive
from nanolean.tests.mutants import Mutator, claims
from nanolean.tests.random_families import NAME, FamilyMaker, environment, random_level
from nanolean.tools.lean_kernel import LeanGaveUp, LeanKernel, LeanRefused

STEPS = 100_000
SHOWN = 5
Question = tuple[list[Declaration], Declaration]
"""A declaration, and others that come before it: where these are not accepted by both, there is no question."""


class Both:
    """The same declarations in both kernels."""

    def __init__(self, kernel: LeanKernel, env: Environment) -> None:
        self.kernel, self.env = kernel, env
        self.official = kernel.empty
        infos = {info.name: info for info in env}
        for info in env:
            if not isinstance(info, CtorInfo | RecInfo) and not info.name.startswith("Quot."):
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
            field = mk_pi([b("x", c("PUnit", left))], c(NAME, *map(_param, params)))
            yield [], inductive(NAME, params, 0, Sort(right), (f"{NAME}.mk", field))


def _param(name: str) -> Level:
    from nanolean.kernel.level import LParam

    return LParam(name)


def _near(level: Level, rng: Random) -> Level:
    """The level with a small change somewhere, or none."""
    from nanolean.kernel.level import ONE, ZERO, IMax, Max

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
        if len(decl.ctors) != 1 or maker.indices:
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
    ctor: Any = env[decl.ctors[0].name]
    rec: Any = env[f"{NAME}.rec"]
    own = mk_app(c(NAME, *map(_param, decl.level_params)), *[param.fvar for param in maker.params])
    sort = maker.level
    s, t = b("s", own), b("t", own)
    binders = [*maker.params, s, t]
    fields: list[Expr] = [Proj(NAME, i, s.fvar) for i in range(ctor.num_fields)]
    made = mk_app(c(ctor.name, *map(_param, decl.level_params)), *[param.fvar for param in maker.params], *fields)
    nat = Const("Nat")
    match rng.randrange(4):
        case 0:
            type_, value = eq(own, s.fvar, made, level=sort), s.fvar
        case 1:
            type_, value = eq(own, s.fvar, t.fvar, level=sort), s.fvar
        case 2 if rec.large and ctor.num_fields:
            body = _constant_minor(rec, nat)
            if body is None:
                return None
            target = mk_app(
                c(rec.name, *([Succ(_zero())] if len(rec.level_params) > len(decl.level_params) else []), *map(_param, decl.level_params)),
                *[param.fvar for param in maker.params],
                Lam("x", own, nat),
                body(maker, own),
                s.fvar,
            )
            type_, value, own = eq(nat, target, Const("Nat.zero")), Const("Nat.zero"), nat
            sort = Succ(_zero())
        case _:
            if not ctor.num_fields:
                return None
            place = rng.randrange(ctor.num_fields)
            lam = mk_lambda(binders, Proj(NAME, place, s.fvar))
            return DefDecl("claim", decl.level_params, mk_pi(binders, rng.choice([nat, own, c("Bool")])), lam)
    proof = mk_app(c("Eq.refl", sort), own, value)
    return TheoremDecl("claim", decl.level_params, mk_pi(binders, type_), mk_lambda(binders, proof))


def _zero() -> Level:
    from nanolean.kernel.level import ZERO

    return ZERO


def _constant_minor(rec: Any, nat: Expr) -> Callable[[FamilyMaker, Expr], Expr] | None:
    """The minor premise that gives zero for all fields, by the recursor's own binders."""
    from nanolean.kernel.expr import instantiate

    def make(maker: FamilyMaker, own: Expr) -> Expr:
        type_: Any = rec.type
        for param in maker.params:
            type_ = instantiate(type_.body, param.fvar)
        type_ = instantiate(type_.body, Lam("x", own, nat))
        minor: Any = type_.type
        binders = []
        from nanolean.kernel.expr import Pi

        while isinstance(minor, Pi):
            local = b(f"m{len(binders)}", minor.type)
            binders.append(local)
            minor = instantiate(minor.body, local.fvar)
        return mk_lambda(binders, Const("Nat.zero"))

    return make


KINDS: dict[str, Callable[[Both, Random], Iterator[Question]]] = {
    "mutants": mutants,
    "types": types,
    "levels": levels,
    "structures": structures,
}


def compare(library: Path, kind: str, count: int, seed: str) -> dict[str, Any]:
    """Have both kernels judge so many declarations."""
    kernel = LeanKernel(library)
    if kind == "mutants":
        from nanolean.tests.library import base

        env = base().env
    else:
        env = environment()
    both = Both(kernel, env)
    seen: Counter[str] = Counter()
    worse: list[Any] = []
    kinds: Counter[str] = Counter()
    questions = KINDS[kind](both, Random(seed))
    while seen.total() < count:
        question = next(questions)
        answer = both.ask(question)
        if answer is None:
            continue
        ours, theirs = (word.split(":")[0] for word in answer)
        seen[f"{ours}/{theirs}"] += 1
        if ours == "accepted" and theirs == "refused" and len(worse) < SHOWN:
            worse.append([answer[1], str(question)[:1500]])
        if ours == "refused" and theirs == "accepted":
            kinds[answer[0][:60]] += 1
            if kinds[answer[0][:60]] == 1:
                worse.append([answer[0], str(question)[:1500]]) if len(worse) < 3 * SHOWN else None
    return {"kind": kind, "seed": seed, "seen": dict(seen), "only_theirs": dict(kinds.most_common(12)), "examples": worse}


def main() -> None:
    """Run the comparison that the command line asks for."""
    library, kind, count, *seed = sys.argv[1:]
    result = with_deep_stack(lambda: print(json.dumps(compare(Path(library), kind, int(count), *(seed or ["0"])), ensure_ascii=False)) or 0)
    sys.exit(result)


if __name__ == "__main__":
    main()
