"""Problems about lists: identities by the laws of `++`, `reverse`, `map` and `length`, and recursion along a list."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nanolean.data.generate_equations import Law, Rewrite, instances, least_arguments
from nanolean.data.problem import Formula, Problem, Step, Term, chain, num, raw, show, subterms, var, variables

_A, _B, _C, _F = var("?a"), var("?b"), var("?c"), var("?f")
NIL = var("[]")  # in this notation a name like others
MAX_TERM_CHARACTERS = 44
MAX_TURNS = 2
"""Laws of addition in one walk along lengths; more of them would only make the proof longer."""
REVERSIBLE = {"List.append_assoc", "List.reverse_append", "List.map_append"}


def _append(s: Term, t: Term) -> Term:
    return ("++", s, t)


def _call(name: str, *args: Term) -> Term:
    return ("fn", f"List.{name}", *args)


def _law(name: str, parameters: tuple[str, ...], left: Term, right: Term) -> Law:
    return Law(f"List.{name}", parameters, left, right, "list")


LAWS = (
    _law("append_nil", ("?a",), _append(_A, NIL), _A),
    _law("nil_append", ("?a",), _append(NIL, _A), _A),
    _law("append_assoc", ("?a", "?b", "?c"), _append(_append(_A, _B), _C), _append(_A, _append(_B, _C))),
    _law("cons_append", (), _append(("::", _A, _B), _C), ("::", _A, _append(_B, _C))),
    _law("reverse_nil", (), _call("reverse", NIL), NIL),
    _law("reverse_reverse", ("?a",), _call("reverse", _call("reverse", _A)), _A),
    _law(
        "reverse_append",
        (),
        _call("reverse", _append(_A, _B)),
        _append(_call("reverse", _B), _call("reverse", _A)),
    ),
    _law(
        "map_append",
        (),
        _call("map", _F, _append(_A, _B)),
        _append(_call("map", _F, _A), _call("map", _F, _B)),
    ),
    _law("map_cons", (), _call("map", _F, ("::", _A, _B)), ("::", ("app", _F, _A), _call("map", _F, _B))),
    _law("map_nil", (), _call("map", _F, NIL), NIL),
    _law("map_reverse", (), _call("map", _F, _call("reverse", _A)), _call("reverse", _call("map", _F, _A))),
    _law(
        "length_append",
        (),
        _call("length", _append(_A, _B)),
        ("+", _call("length", _A), _call("length", _B)),
    ),
    _law("length_cons", (), _call("length", ("::", _A, _B)), ("+", _call("length", _B), num(1))),
    _law("length_reverse", (), _call("length", _call("reverse", _A)), _call("length", _A)),
)
_ADD_COMM = Law("Nat.add_comm", ("?a", "?b"), ("+", _A, _B), ("+", _B, _A), "add")
_ADD_ASSOC = Law("Nat.add_assoc", ("?a", "?b", "?c"), ("+", ("+", _A, _B), _C), ("+", _A, ("+", _B, _C)), "add")


def list_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Make a problem of one of the kinds below."""
    kinds: list[Callable[[random.Random, int], Problem | None]] = [_identity, _identity, _recursion]
    if difficulty > 1:
        kinds += [_recursion, _additive, _predicate]
    return rng.choice(kinds)(rng, difficulty)


# ---- identities


@dataclass(frozen=True)
class Letters:
    """The names of one problem about lists."""

    lists: tuple[str, ...]
    element: str
    bound: tuple[str, str]
    function: str

    @classmethod
    def draw(cls, rng: random.Random) -> "Letters":
        """Three lists, one element, an element and a list for what is bound, a function."""
        lists = rng.choice((("xs", "ys", "zs"), ("l", "m", "k"), ("as", "bs", "cs"), ("l1", "l2", "l3")))
        element = rng.choice("ab") if lists[0] != "as" else "x"
        return cls(lists, element, rng.choice((("x", "t"), ("y", "t"), ("b", "u"))), rng.choice("fg"))


def _identity(rng: random.Random, difficulty: int) -> Problem | None:
    """A term of lists and what a walk by the laws makes of it."""
    letters = Letters.draw(rng)
    start = _seed_term(rng, letters, difficulty)
    laws = [*LAWS, *([_ADD_COMM, _ADD_ASSOC] if start[1] == "List.length" else [])]
    used = _walk(rng, start, laws, rng.randint(max(1, 2 * difficulty - 2), 2 * difficulty + 1))
    if not used:
        return None
    end = start
    for rewrite in used:
        end = rewrite.apply(end)
    left, right = (start, end) if rng.random() < 0.8 else (end, start)
    goal: Formula = ("=", left, right)
    tactics = _rewriting_proof(goal, used, laws)
    if tactics is None or any(
        t[0] in ("fn", "++") and not variables(t) - {letters.function, "[]"} for t in subterms(goal)
    ):
        return None
    names = [name for name in letters.lists if name in variables(goal)]
    return Problem("lists", _binders(letters, names, goal), (), goal, chain(tactics))


def _seed_term(rng: random.Random, letters: Letters, difficulty: int) -> Term:
    leaves: list[Term] = [var(name) for name in letters.lists[: rng.randint(2, 3)]]
    leaves += [NIL] if rng.random() < 0.3 else []
    if rng.random() < 0.4:
        leaves.append(("::", var(letters.element), rng.choice(leaves)))

    def grow(size: int) -> Term:
        if size <= 1:
            return rng.choice(leaves)
        if rng.random() < 0.25:
            return _call("reverse", grow(size - 1))
        cut = rng.randint(1, size - 1)
        return _append(grow(cut), grow(size - cut))

    term = grow(rng.randint(2, 3 + (difficulty > 2)))
    outside = rng.random()
    if outside < 0.35:
        return _call("length", term)
    if outside < 0.6:
        return _call("map", var(letters.function), term)
    return _call("reverse", term) if outside < 0.8 else term


def _walk(rng: random.Random, start: Term, laws: list[Law], length: int) -> list[Rewrite]:
    """Random rewriting without coming back to a term, as long as it goes."""
    term, seen = start, {start}
    used: list[Rewrite] = []
    for _ in range(length):
        options = [r for r in _options(term, laws) if r.apply(term) not in seen]
        options = [r for r in options if len(show(r.apply(term))) <= MAX_TERM_CHARACTERS]
        if sum(r.law.startswith("Nat.") for r in used) >= MAX_TURNS:
            options = [r for r in options if not r.law.startswith("Nat.")]
        forward = [r for r in options if not r.backward and not r.law.startswith("Nat.")]
        if not options:
            break
        chosen = rng.choice(forward if forward and rng.random() < 0.75 else options)
        term = chosen.apply(term)
        seen.add(term)
        used.append(chosen)
    return used


def _options(term: Term, laws: list[Law]) -> Iterator[Rewrite]:
    for law in laws:
        yield from instances(term, law, backward=False)
        if law.name in REVERSIBLE:
            yield from instances(term, law, backward=True)


def _rewriting_proof(goal: Formula, used: list[Rewrite], laws: list[Law]) -> list[str] | None:
    """The walk as `rw` steps with as few arguments as hit the right place; None unless the last one closes the goal."""
    by_name = {law.name: law for law in laws}
    tactics = []
    for rewrite in used:
        if goal[1] == goal[2] or rewrite.apply(goal) == goal:
            return None
        count = least_arguments(goal, rewrite, by_name[rewrite.law])
        if count is None:
            return None
        tactics.append(rewrite.tactic(count))
        goal = rewrite.apply(goal)
    return tactics if goal[1] == goal[2] else None


def _binders(letters: Letters, lists: list[str], goal: Formula) -> tuple[tuple[str, str], ...]:
    """`(α : Type)`, a function, an element and lists, as far as the goal mentions them."""
    words = variables(goal)
    binders = [("α", "Type")]
    if letters.function in words:
        binders += [("β", "Type"), (letters.function, "α → β")]
    if letters.element in words:
        binders.append((letters.element, "α"))
    return (*binders, *((name, "List α") for name in lists))


# ---- recursion along a list


@dataclass(frozen=True)
class Recursion:
    """A problem by induction on the list `l`: the letters, and names for what is given."""

    letters: Letters
    f: str
    h0: str
    hs: str

    @classmethod
    def draw(cls, rng: random.Random) -> "Recursion":
        """Random letters; the recursive function is called otherwise than the plain one."""
        letters = Letters.draw(rng)
        f = rng.choice([name for name in ("f", "F", "s") if name != letters.function])
        return cls(letters, f, *rng.choice((("h0", "hs"), ("h", "h1"), ("hn", "hc"))))

    def equations(self, start: str, follow: str) -> tuple[tuple[str, Formula], ...]:
        """`f [] = start` and `∀ x t, f (x :: t) = follow`."""
        x, t = self.letters.bound
        return (
            (self.h0, raw(f"{self.f} [] = {start}")),
            (self.hs, raw(f"∀ {x} {t}, {self.f} ({x} :: {t}) = {follow}")),
        )

    def proof(self, nil: list[str], cons: list[str]) -> Step:
        """Induction on the first list."""
        x, t = self.letters.bound
        tactic = f"induction {self.letters.lists[0]} with | nil => ?_ | cons {x} {t} ih => ?_"
        return Step(tactic, (chain(nil), chain(cons)))


def _recursion(rng: random.Random, difficulty: int) -> Problem | None:
    """A function given by its equations is `length`, `reverse`, `map g`, `· ++ m` or the identity."""
    r = Recursion.draw(rng)
    xs, ys, _ = r.letters.lists
    (x, t), g, f = r.letters.bound, r.letters.function, r.f
    type_, binders = "List α → List α", []
    match rng.randrange(5 if difficulty > 1 else 3):
        case 0:
            type_, start, follow, closed = "List α → Nat", "0", f"{f} {t} + 1", f"{xs}.length"
            laws = ["List.length_nil", "List.length_cons"]
        case 1:
            start, follow, closed, laws = (
                ys,
                f"{x} :: {f} {t}",
                f"{xs} ++ {ys}",
                ["List.nil_append", "List.cons_append"],
            )
            binders = [(ys, "List α")]
        case 2:
            start, follow, closed, laws = "[]", f"{x} :: {f} {t}", xs, []
        case 3:
            start, follow, closed = "[]", f"{f} {t} ++ [{x}]", f"{xs}.reverse"
            laws = ["List.reverse_nil", "List.reverse_cons"]
        case _:
            type_, start, follow, closed = "List α → List β", "[]", f"{g} {x} :: {f} {t}", f"List.map {g} {xs}"
            laws, binders = ["List.map_nil", "List.map_cons"], [("β", "Type"), (g, "α → β")]
    endings = [f"rw [{law}]" for law in laws] or ["", ""]
    nil = [tactic for tactic in (f"rw [{r.h0}]", endings[0]) if tactic]
    cons = [tactic for tactic in (f"rw [{r.hs}]", "rw [ih]", endings[1]) if tactic]
    variables = (("α", "Type"), *binders, (f, type_), (xs, "List α"))
    return Problem("lists", variables, r.equations(start, follow), raw(f"{f} {xs} = {closed}"), r.proof(nil, cons))


def _additive(rng: random.Random, difficulty: int) -> Problem | None:
    """What a recursive function makes of `l ++ m`: sums, counts, reversed lists."""
    del difficulty
    r = Recursion.draw(rng)
    xs, ys, _ = r.letters.lists
    (x, t), f = r.letters.bound, r.f
    split = [f"rw [List.cons_append, {r.hs}, {r.hs}]", "rw [ih]"]
    nil = [f"rw [List.nil_append, {r.h0}]"]
    element, binders = "α", []
    match rng.randrange(5):
        case 0:
            c = rng.choice(("1", "2", "c"))
            start, follow, whole = "0", f"{f} {t} + {c}", f"{f} {xs} + {f} {ys}"
            nil, cons = [*nil, "rw [Nat.zero_add]"], [*split, "rw [Nat.add_right_comm]"]
            binders = [("c", "Nat")] if c == "c" else []
        case 1:
            element, start, follow, whole = "Nat", "0", f"{x} + {f} {t}", f"{f} {xs} + {f} {ys}"
            nil, cons = [*nil, "rw [Nat.zero_add]"], [*split, "rw [Nat.add_assoc]"]
        case 2:
            element, start, follow, whole = "Nat", "1", f"{x} * {f} {t}", f"{f} {xs} * {f} {ys}"
            nil, cons = [*nil, "rw [Nat.one_mul]"], [*split, "rw [Nat.mul_assoc]"]
        case 3:
            start, follow, whole = "[]", f"{f} {t} ++ [{x}]", f"{f} {ys} ++ {f} {xs}"
            nil, cons = [*nil, "rw [List.append_nil]"], [*split, "rw [List.append_assoc]"]
        case _:
            start, follow, whole = "[]", f"{x} :: {f} {t}", f"{f} {xs} ++ {f} {ys}"
            nil, cons = [*nil, "rw [List.nil_append]"], [*split, "rw [List.cons_append]"]
    result = "Nat" if start in ("0", "1") else f"List {element}"
    types = [("α", "Type")] if element == "α" else []
    variables = (*types, (f, f"List {element} → {result}"), *binders, (xs, f"List {element}"), (ys, f"List {element}"))
    goal = raw(f"{f} ({xs} ++ {ys}) = {whole}")
    return Problem("lists", variables, r.equations(start, follow), goal, r.proof(nil, cons))


def _predicate(rng: random.Random, difficulty: int) -> Problem | None:
    """A predicate that holds of `[]`, or of `m`, and is handed on by `::`."""
    r = Recursion.draw(rng)
    xs, ys, _ = r.letters.lists
    (x, t), p, q = r.letters.bound, *rng.choice((("P", "Q"), ("S", "T"), ("A", "B")))
    variables: tuple[tuple[str, str], ...] = (("α", "Type"), (p, "List α → Prop"), (xs, "List α"))
    step = (r.hs, raw(f"∀ {x} {t}, {p} {t} → {p} ({x} :: {t})"))
    succ = [f"apply {r.hs}", "exact ih"] if rng.random() < 0.5 else [f"exact {r.hs} {x} {t} ih"]
    match rng.randrange(3 if difficulty > 2 else 2):
        case 0:
            given = ((r.h0, raw(f"{p} []")), step)
            return Problem("lists", variables, given, raw(f"{p} {xs}"), r.proof([f"exact {r.h0}"], succ))
        case 1:
            given = ((r.h0, raw(f"{p} {ys}")), step)
            proof = r.proof(["rw [List.nil_append]", f"exact {r.h0}"], ["rw [List.cons_append]", *succ])
            return Problem("lists", (*variables, (ys, "List α")), given, raw(f"{p} ({xs} ++ {ys})"), proof)
        case _:
            hq = "hq"
            other = (hq, raw(f"∀ {t}, {p} {t} → {q} {t}"))
            variables = (("α", "Type"), (p, "List α → Prop"), (q, "List α → Prop"), (xs, "List α"))
            proof = Step(f"apply {hq}", (r.proof([f"exact {r.h0}"], succ),))
            return Problem("lists", variables, ((r.h0, raw(f"{p} []")), step, other), raw(f"{q} {xs}"), proof)
