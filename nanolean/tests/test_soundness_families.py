"""Random inductive types and random levels: kernel and second checker agree, in what they admit and in recursors.

`NANOPROOF_NIGHTLY=1 pytest ...` takes the full number, 20 twenty times as many; `NANOPROOF_SEED` draws others.
"""

from collections import Counter
from itertools import product
from random import Random

from nanolean.kernel.budget import KernelError
from nanolean.kernel.env import recheck
from nanolean.kernel.level import always_equal, always_leq, equiv, leq, simplify
from nanolean.tests.library import SEED, sized
from nanolean.tests.random_families import FamilyMaker, environment, random_level
from nanolean.tests.reference import OutOfFuel, Refused, Theory
from nanolean.tests.reference.terms import grid, value
from nanolean.tests.test_kernel_cases import claims

FUEL = 20_000


def test_random_inductive_types_are_admitted_by_both_or_by_none():
    env, seen, unsafe = environment(), Counter[tuple[bool, bool | None]](), []
    theory = Theory(FUEL)
    theory.declare_all(env)
    known = dict(theory.entries)
    for number in range(sized(400)):
        decl = FamilyMaker(Random(f"{SEED}:{number}")).declaration()
        try:
            infos, admitted = list(env.add(decl))[len(env) :], True
        except KernelError:
            infos, admitted = claims(decl), False
        second = verdict(theory, infos) if admitted else theory.admits(infos)
        theory.entries = dict(known)
        seen[admitted, second] += 1
        if admitted and second is False:
            unsafe.append((number, decl))
    assert not unsafe, unsafe[:2]
    assert seen[True, True] > 0.2 * seen.total() and seen[False, False] > 0.3 * seen.total(), seen
    assert seen[True, None] + seen[False, True] + seen[False, None] <= 0.01 * seen.total(), seen


def verdict(theory: Theory, infos: list) -> bool | None:
    """Whether the second checker admits a type and makes the same recursor for it."""
    try:
        for info in infos:
            theory.declare(info, {other.name: other for other in infos})
    except Refused:
        return False
    except OutOfFuel:
        return None
    return True


def test_levels_are_compared_as_their_values_on_a_grid():
    """The kernel's decision against the grid that the second checker uses, and against one that is finer."""
    params = ("u", "v", "w")
    small, fine = grid(params), dict(zip(params, zip(*product(range(7), repeat=3))))
    rng = Random(SEED)
    seen: Counter[tuple[bool, bool]] = Counter()
    for _ in range(sized(1_000)):
        left, right = random_level(rng), random_level(rng)
        if rng.random() < 0.3:
            right = (
                simplify(left) if rng.random() < 0.5 else type(left)(*(getattr(left, n) for n in left.__match_args__))
            )
        vectors = value(left, small, 27), value(right, small, 27)
        below = all(a <= b for a, b in zip(*vectors))
        same = vectors[0] == vectors[1]
        assert always_leq(left, right) is below and always_equal(left, right) is same, (left, right)
        assert (below or not leq(left, right)) and (same or not equiv(left, right)), (left, right)
        finer = value(left, fine, 343), value(right, fine, 343)
        assert all(a <= b for a, b in zip(*finer)) is below
        seen[below, same] += 1
    assert min(seen.values()) > 0.05 * seen.total() and len(seen) == 3


def test_what_both_admit_is_checked_again():
    env = environment()
    for number in range(sized(60)):
        try:
            recheck(env.add(FamilyMaker(Random(f"{SEED}:{number}")).declaration()))
        except KernelError as error:
            assert "claimed" not in str(error) and "missing" not in str(error)
