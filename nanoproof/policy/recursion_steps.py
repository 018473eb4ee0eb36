"""Inductions and case splits that no variable of the goal shows, and what such an induction ends with.

Where every smaller thing is asked for, the induction is over the size that a hypothesis compares by. Where a list is
filtered, whether its first element stays depends on a Boolean that stands nowhere in the goal. What exists for `n + 1`
is what exists for `n`, or the next.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product

from nanoproof.policy import printed_types as printed
from nanoproof.policy.number_steps import NUMBERS
from nanoproof.policy.printed_types import Tokens
from nanoproof.policy.statement_definitions import Definitions

_DIVIDES_PRODUCTS = ("Nat.dvd_mul_left_of_dvd", "Nat.dvd_mul_right_of_dvd")
MOST_SPLITS = 3
"""Booleans that are split at once: eight cases."""


def in_list(names: Sequence[str]) -> str:
    """Write what `simp_all` and `grind` are given: ` [f, g]`, or nothing."""
    return f" [{', '.join(names)}]" if names else ""


def closing_cases(rules: str, splits: bool) -> str:
    """Write what closes each case of most inductions over definitions; `rules` are `[f, g]` or nothing.

    Where a definition has an `if`, its cases are those of the claim, and with `splits` it is taken apart by them.
    """
    split = f" <;> (repeat' split) <;> (try simp_all{rules})" if splits else ""
    return f"first | (simp_all{rules}{split} <;> first | omega | grind) | grind{rules}"


class RecursionSteps:
    """The steps for one goal: its target, the types of the hypotheses that can be named, and a maker of new names."""

    def __init__(self, target: Tokens, types: Mapping[str, Tokens], fresh: Callable[..., list[str]]) -> None:
        self._target, self._types, self._fresh = target, types, fresh
        self._in_induction = printed.in_induction(types)
        self._numbers: list[str] = []
        for name, type_ in types.items():
            if type_ in NUMBERS:
                self._numbers.append(name)

    def recursed_on(self, places: Mapping[str, int]) -> list[str]:
        """Return the variables in the goal that its functions recur on, whose inductions compute with them.

        `places` says which argument a function recurs on. A power recurs on its exponent.
        """
        known = {**places, "^": 0}
        variables: dict[str, None] = {}
        for start, token in enumerate(self._target):
            place = known.get(token)
            if place is None:
                continue
            arguments = printed.arguments_of(self._target, start)
            if len(arguments) <= place or not known.keys().isdisjoint(arguments[place]):
                continue  # what is inside of another call, that one recurs on
            inside = [name for name in arguments[place] if name in self._types]
            # Lean's addition recurs on its second number, and `++` on its first list.
            if "+" in arguments[place]:
                inside.reverse()
            for name in inside:
                variables[name] = None
        return list(variables)

    def lemmas_inside(
        self, definitions: Definitions, functions: Sequence[str], recursed_on: Sequence[str]
    ) -> Iterator[str]:
        """Yield what is proved by an induction of its own inside of another one."""
        if self._in_induction and functions:
            rules = in_list(definitions.rules(functions))
            closing = closing_cases(rules, any(name in definitions.conditional for name in functions))
            yield from self._missing_lemmas(functions, closing)
            computing = f"simp only [{', '.join(definitions.equations(functions))}]"
            yield from self._over_another(computing, recursed_on, closing)

    def kept_by(self, definitions: Definitions, functions: Sequence[str]) -> Iterator[str]:
        """Yield that a function keeps a predicate of the statement, where an induction's hypothesis is one value of it.

        With `ih : Sorted (sort l)` and the goal `Sorted (insert x (sort l))`: by the rules that make a list sorted.
        """
        t, holds = self._fresh("t", "h")
        for name, type_ in self._types.items():
            predicate = definitions.predicate(type_)
            if predicate is None or not name.startswith("ih") or self._target[:1] != type_[:1] or self._target == type_:
                continue
            value = type_[1:]
            lemma = _replaced(self._target, value, (t,))
            if t in lemma and value[:1] == ("(",):
                rules = ", ".join([*definitions.rules(functions), *predicate.rules])
                claim = f"∀ {t}, {type_[0]} {t} → {printed.text_of(lemma)}"
                yield f"exact (by intro {t} {holds} <;> induction {holds} <;> grind [{rules}] : {claim}) _ {name}"

    def _over_another(self, computing: str, recursed_on: Sequence[str], closing: str) -> Iterator[str]:
        """Yield the induction over another variable that is left once an induction's hypothesis has been used.

        Of `plus (n + 1) m = plus m (n + 1)`, computed and rewritten, `plus m n + 1 = plus m (n + 1)` is left, which
        holds for any `n` and `m`. With the hypothesis in the context, that about `m` would be an implication.
        """
        hypotheses = [name for name in self._types if name.startswith("ih")]
        target = printed.text_of(self._target)
        if len(recursed_on) < 2:
            return
        for variable in recursed_on:
            about_it = [name for name in hypotheses if variable in self._types[name]]
            is_the_one_before = f"({variable} + 1)" in target or f":: {variable})" in target
            if not about_it or is_the_one_before:
                continue
            induction = f"clear {' '.join(hypotheses)} <;> induction {variable} <;> {closing}"
            yield f"{computing} <;> rw [{about_it[-1]}] <;> {induction}"
            yield induction

    def _missing_lemmas(self, functions: Sequence[str], closing: str) -> Iterator[str]:
        """Yield the lemma that an induction's step needs: the goal, for any value of what its hypothesis is about.

        With `ih : rev (rev xs) = xs` and the goal `rev (snoc (rev xs) x) = x :: xs` it is
        `∀ t, rev (snoc t x) = x :: rev t`, whose instance at `rev xs` is the goal by the hypothesis.
        """
        new, t = self._fresh("h", "t")
        for name, type_ in self._types.items():
            sides = printed.sides(type_, "=")
            if not name.startswith("ih") or sides is None:
                continue
            for known, replaced in (sides, sides[::-1]):
                for value in self._inner_values(known, functions):
                    by_variable = _replaced(known, value, (t,))
                    lemma = _replaced(_replaced(self._target, value, (t,)), replaced, printed.in_brackets(by_variable))
                    of_induction = self._types.keys() & set(value)
                    if t in lemma and of_induction.isdisjoint(lemma):
                        claim = f"∀ {t}, {printed.text_of(lemma)}"
                        yield f"have {new} : {claim} := by intro {t} <;> induction {t} <;> {closing}"

    def _inner_values(self, term: Tokens, functions: Sequence[str]) -> Iterator[Tokens]:
        """Yield the values of functions in brackets that a term and the goal have: `(rev xs)`."""
        for place, token in enumerate(term):
            if token == "(" and term[place + 1] in functions:
                value = term[place : printed.closing(term, place) + 1]
                if len(value) < len(term) and value in _runs_of(self._target, len(value)):
                    yield value

    def measure_inductions(self) -> Iterator[str]:
        """Yield strong inductions over `m x` where a hypothesis compares values of `m` with `<`."""
        if self._in_induction:
            return
        size, compared, hypothesis = self._fresh("k", "hk", "ih")
        for measure in self._measures():
            for variable, type_ in self._types.items():
                is_value = not printed.is_proposition(type_) and type_ not in NUMBERS and "→" not in type_
                if variable in self._target and is_value and self._takes(measure, type_):
                    over = f"{compared} : {measure} {variable} using Nat.strongRecOn generalizing {variable}"
                    yield f"induction {over} with | _ {size} {hypothesis} => ?_"

    def _measures(self) -> list[str]:
        """Return the functions to numbers of which a hypothesis says that one value is below another: `m y < m x`."""
        measures: dict[str, None] = {}
        for type_ in self._types.values():
            for place, token in enumerate(type_):
                is_below = token == "<" and place >= 2 and len(type_) > place + 1
                if is_below and type_[place - 2] == type_[place + 1] and printed.is_name(type_[place + 1]):
                    measures[type_[place + 1]] = None
        return list(measures)

    def _takes(self, measure: str, type_: Tokens) -> bool:
        """Tell whether a function of the context takes such values; one of the statement's own may take any."""
        known = self._types.get(measure)
        return known is None or (known[: len(type_) + 1] == (*type_, "→") and known[len(type_) + 1 :] in NUMBERS)

    def filter_cases(self) -> Iterator[str]:
        """Yield a case for each Boolean of the first element where a list with one is filtered."""
        if "List.filter" not in self._target or "::" not in self._target:
            return
        # What is no variable, such as `f x :: l`, has no Boolean that could be split by its name.
        first = printed.stripped((self._target[self._target.index("::") - 1],))
        if first[0] not in self._types:
            return
        predicates = []
        for name, type_ in self._types.items():
            if type_ == (*self._types[first[0]], "→", "Bool") and name in self._target:
                predicates.append(name)
        splits = []
        for name, new in zip(predicates[:MOST_SPLITS], self._fresh(*["h"] * MOST_SPLITS)):
            splits.append(f"cases {new} : {name} {first[0]}")
        if splits:
            yield " <;> ".join([*splits, "simp_all [List.filter]"])
        yield "simp only [List.filter]"

    def bounded_inductions(self, rules: Sequence[str]) -> Iterator[str]:
        """Yield inductions over `h : a ≤ n`, which `a < n` is as well: from the first number on, by steps of one."""
        if self._in_induction:
            return
        for name, type_ in reversed(tuple(self._types.items())):
            sides = printed.sides(type_, "≤") or printed.sides(type_, "<")
            if sides is None or len(sides[1]) != 1:
                continue
            larger = sides[1][0]
            if self._types.get(larger) in NUMBERS and larger in self._target and larger not in sides[0]:
                hypothesis = self._fresh("ih")[0]
                if "∣" in self._target:
                    # As `m! ∣ n!`: what divides a factor divides the product.
                    yield f"induction {name} <;> simp_all [{', '.join([*rules, *_DIVIDES_PRODUCTS])}]"
                yield f"induction {name} with | refl => ?_ | @step {larger} {name} {hypothesis} => ?_"

    def last_values(self, rules: Sequence[str]) -> Iterator[str]:
        """Yield the cases of `k ≤ n + 1` in an induction: its hypothesis is about `k ≤ n`, and `k = n + 1` is left."""
        if not self._in_induction:
            return
        new = self._fresh("h")[0]
        for type_ in self._types.values():
            for relation in ("≤", "<"):
                sides = printed.sides(type_, relation)
                if sides is None or len(sides[0]) != 1 or sides[1][1:] != ("+", "1") or sides[0][0] not in self._types:
                    continue
                smaller, before = sides[0][0], sides[1][0]
                last = f"{before} + 1" if relation == "≤" else before
                cases = f"rcases (by omega : {smaller} {relation} {before} ∨ {smaller} = {last}) with {new} | rfl"
                if "∣" in self._target:
                    yield f"{cases} <;> simp_all{in_list([*rules, *_DIVIDES_PRODUCTS])}"
                yield cases

    def strong_inductions(self) -> Iterator[str]:
        """Yield strong inductions over numbers that a hypothesis is about, for any others that it relates them to.

        That of all `n` with `P n` there is a least one, or that `a * a = 2 * (b * b)` has no other solution than 0.
        """
        if self._in_induction:
            return
        hypothesis = self._fresh("ih")[0]
        for type_ in reversed(tuple(self._types.values())):
            related = [name for name in self._numbers if name in type_]
            if not related or type_ in NUMBERS or type_[:1] == ("∀",):
                continue
            for name in related:
                others = [other for other in related if other != name and other not in self._target]
                if name in self._target and others:
                    over = f"generalizing {' '.join(others)} with"
                elif name not in self._target and len(related) == 1:
                    over = "with"
                elif name not in self._target and len(related) == 2:
                    # As `a * a = 2 * (b * b)` is about `a` first, whatever is claimed of `b`.
                    over = f"generalizing {related[1 - related.index(name)]} with"
                else:
                    continue
                yield f"induction {name} using Nat.strongRecOn {over} | _ {name} {hypothesis} => ?_"

    def descent(self) -> Iterator[str]:
        """Yield a strong induction's hypothesis for `m` where the goal is about `2 * m`, with a factor beside it."""
        positive, smaller = self._fresh("h", "h")
        for name, type_ in self._types.items():
            fact = printed.read_fact(type_)
            named = fact.names
            if not name.startswith("ih") or len(named) != 2 or not fact.premises:
                continue
            bound = printed.split_at(fact.premises[0].type, ("<",))
            if len(bound) != 2 or len(bound[1]) != 3 or bound[1][1] != "*" or bound[1][2] not in self._numbers:
                continue
            value = bound[1][2]
            # Which number has the other factor the equation says, but its text does not tell: `grind` finds out.
            for other in reversed(self._numbers):
                if other == value or bound[0] != (named[0],):
                    continue
                values = {named[0]: value, named[1]: other}
                proofs = ["(by omega)", *["(by grind)"] * (len(fact.premises) - 1)]
                remaining = iter(proofs)
                term = [name]
                for argument in fact.arguments:
                    term.append(values[argument.name] if argument.name else next(remaining, "_"))
                ways = ["omega", f"(have {smaller} := {' '.join(term)} <;> omega)"]
                for equation, about in self._types.items():
                    if value in about and printed.sides(about, "=") is not None:
                        # Of `(2 * k) ^ 2 = 2 * (2 * m) ^ 2` with `k = 0` is left that a square is 0.
                        ways.append(f"(rw [{positive}, eq_comm] at {equation} <;> simp_all [Nat.pow_two])")
                cases = f"rcases Nat.eq_zero_or_pos {value} with {positive} | {positive}"
                yield f"{cases} <;> first | {' | '.join(ways)}"

    def quotients(self) -> Iterator[str]:
        """Yield a strong induction's hypothesis for `n / 2` where `n` is even; where it is odd, `n = 2 ^ 0 * n`."""
        new = self._fresh("h")[0]
        for type_ in reversed(tuple(self._types.values())):
            sides = printed.sides(type_, "=")
            if sides is None or len(sides[0]) != 3 or sides[0][1] != "%" or sides[0][0] not in self._numbers:
                continue
            number, _, divisor = sides[0]
            for name, known in self._types.items():
                fact = printed.read_fact(known)
                smaller = printed.split_at(fact.premises[0].type, ("<",)) if fact.premises else []
                if not name.startswith("ih") or len(smaller) != 2 or smaller[1] != (number,):
                    continue
                # That the quotient is smaller, and what else is asked of it, follows from the remainder.
                if sides[1] == ("0",):
                    proofs = " (by omega)" * len(fact.premises)
                    yield f"have {new} := {name} ({number} / {divisor}){proofs}"
                elif self._target[:1] == ("∃",) and "^" in self._target:
                    yield f"exact ⟨0, {number} / {divisor}, by simp <;> omega⟩"

    def power_inductions(self) -> Iterator[str]:
        """Yield the induction by which a number divides powers, or they leave a remainder: `17 ∣ 3 * 5 ^ (2 * n + 1)`.

        Taken apart, the powers are those of the hypothesis times numerals, which `omega` knows how to divide.
        """
        is_about_powers = "^" in self._target and ("∣" in self._target or "%" in self._target)
        for variable, type_ in reversed(tuple(self._types.items())):
            if is_about_powers and type_ in NUMBERS and variable in self._target:
                yield f"induction {variable} <;> simp_all [Nat.mul_add, Nat.pow_add] <;> omega"

    def next_witnesses(self) -> Iterator[str]:
        """Yield the witnesses of an induction's hypothesis, or the next ones, for an existential about numbers.

        Which it is depends on whether what is below a bound still is: `n < (s + 1) * (s + 1)`.
        """
        if self._target[:1] != ("∃",):
            return
        bound, body = printed.read_binders(self._target[1:])
        names = []
        for argument in bound:
            names.append(argument.name)
            if argument.type and argument.type not in NUMBERS:
                return
        # What came last is what the hypothesis was taken apart to.
        known = self._numbers[-len(names) :]
        if not names or len(names) > 2 or len(known) != len(names):
            return
        # They came out of one hypothesis, and what else it said is about all of them.
        if not any(set(known) <= set(type_) for type_ in self._types.values() if printed.is_proposition(type_)):
            return
        following: list[tuple[str, ...]] = [tuple(known)]
        for steps in islice(product(("{} + 1", "{}"), repeat=len(names)), 2 ** len(names) - 1):
            following.append(tuple(step.format(name) for step, name in zip(steps, known)))
        if len(names) == 2:
            # A quotient that goes up begins with the rest 0, as in `n = t k + r` with `r ≤ k`.
            following[1] = (f"{known[0]} + 1", "0")
        attempts = " | ".join(f"exact ⟨{', '.join(values)}, by grind [Nat.pow_succ]⟩" for values in following)
        new = self._fresh("h")[0]
        first = tuple(known) if len(names) == 1 else (known[0], f"{known[1]} + 1")
        values = {name: printed.tokens_of(value) for name, value in zip(names, first)}
        for part in reversed(printed.split_at(body, ("∧",))):
            if "<" in part or "≤" in part:
                condition = printed.text_of(printed.instance(printed.stripped(part), values))
                yield f"by_cases {new} : {condition} <;> (try first | {attempts})"
        yield f"first | {attempts}"


def _runs_of(tokens: Tokens, length: int) -> Iterator[Tokens]:
    for start in range(len(tokens) - length + 1):
        yield tokens[start : start + length]


def _replaced(tokens: Tokens, part: Tokens, by: Tokens) -> Tokens:
    """Replace a part of a text wherever it is."""
    written: list[str] = []
    place = 0
    while place < len(tokens):
        if tokens[place : place + len(part)] == part:
            written += by
            place += len(part)
        else:
            written.append(tokens[place])
            place += 1
    return tuple(written)
