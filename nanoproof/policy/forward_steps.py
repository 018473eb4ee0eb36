"""Facts applied forward to what the context has: `have h2 := h x h1`, of hypotheses and of lemmas.

Of the cuts in proofs that people write a third are lemmas applied forward and a quarter terms such as `ih 1`: both are
there to be found, by what fits the text of a premise.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise, product

from nanoproof.policy import printed_types as printed
from nanoproof.policy.number_steps import NUMBERS
from nanoproof.policy.printed_types import Argument, Fact, Tokens
from nanoproof.policy.statement_definitions import Definitions, is_data, unfolded
from nanoproof.retrieval.corpus import CorpusPremise

OMEGA = "(by omega)"
"""Proves a premise about numbers that no hypothesis states: what a strong induction asks for at each use."""
ARITHMETIC = ("<", "≤", ">", "≥", "=")
FORWARD = (
    ("Nat.dvd_antisymm", "theorem t {m n : Nat} (h : m ∣ n) (h' : n ∣ m) : m = n"),
    ("Nat.dvd_trans", "theorem t {a b c : Nat} (h : a ∣ b) (h' : b ∣ c) : a ∣ c"),
    ("Nat.le_of_dvd", "theorem t {m n : Nat} (h : 0 < n) (h' : m ∣ n) : m ≤ n"),
    ("Nat.mul_le_mul", "theorem t {p q m n : Nat} (h : p ≤ m) (h' : q ≤ n) : p * q ≤ m * n"),
    ("Nat.eq_of_mul_eq_mul_left", "theorem t {a b c : Nat} (h : 0 < a) (h' : a * b = a * c) : b = c"),
)
"""Lemmas of Lean's core that join two hypotheses to what `omega` and `grind` do not see: divisors and products."""
MOST_OF_A_FACT = 4
"""Applications of one fact, and values of one variable: more are seldom right and crowd out other facts."""


class ForwardSteps:
    """The steps for one goal: its target, the types of the hypotheses that can be named, what the statement defines."""

    def __init__(
        self,
        target: Tokens,
        types: Mapping[str, Tokens],
        definitions: Definitions,
        new: str,
        take_apart: Callable[[str, Tokens, str], str | None],
    ) -> None:
        """`new` names what is found, unless `take_apart` writes the step that takes a term of such a type apart."""
        self._target, self._types, self._definitions = target, types, definitions
        self._new, self._take_apart = new, take_apart

    def applied(self) -> Iterator[str]:
        """Yield `have := h x h'`: hypotheses applied to variables and to other hypotheses."""
        new = self._new
        ranked: list[tuple[int, str]] = []
        for name, written in reversed(tuple(self._types.items())):
            # `hf : Surjective f` is applied like what it says.
            type_ = unfolded(self._definitions, written)
            fact = printed.read_fact(type_)
            if not fact.arguments or not printed.is_proposition(type_):
                continue
            for term, conclusion in islice(self._applications(name, fact, True), MOST_OF_A_FACT):
                apart = self._take_apart(term, conclusion, new)
                if conclusion == ("False",):
                    yield f"exact ({term}).elim"
                elif apart is not None:
                    ranked.append((self._relevance(conclusion), apart))
                else:
                    ranked.append((self._relevance(conclusion), f"have {new} := {term}"))
        # Stable: of facts that say as much about the goal those that came last are tried first.
        ranked.sort(key=lambda entry: -entry[0])
        yield from (step for _, step in ranked)

    def lemmas_applied(self, lemmas: Sequence[CorpusPremise]) -> Iterator[str]:
        """Yield `have := L h`: lemmas whose premises the context has."""
        new = self._new
        known = [(lemma.full_name, lemma.code) for lemma in lemmas]
        for name, code in (*known, *FORWARD):
            fact = printed.read_declared(code)
            if fact is None or not fact.premises:
                continue
            for term, conclusion in islice(self._applications(name, fact, False), 2):
                yield self._take_apart(term, conclusion, new) or f"have {new} := {term}"

    def _relevance(self, conclusion: Tokens) -> int:
        return len(set(conclusion) & set(self._target))

    def _applications(self, name: str, fact: Fact, by_omega: bool) -> Iterator[tuple[str, Tokens]]:
        """Yield a fact applied to all of its arguments, with what it then says.

        Premises are hypotheses that fit, or with `by_omega` relations of numbers that it may prove; variables that
        these leave open are what the goal has where the conclusion would be, or variables of the context.
        """
        for known, proofs in self._premises(fact, fact.arguments, {}, by_omega):
            # Of `h : n ≠ 0` alone nothing says that `n = 0` could hold.
            if proofs and all(proof == OMEGA for proof in proofs) and not (by_omega and fact.variables):
                continue
            for values in self._values(fact, known):
                if OMEGA in proofs and _asks_for_less_than_itself(fact, values):
                    continue
                term = [name]
                remaining = iter(proofs)
                for argument in fact.arguments:
                    if not argument.explicit:
                        continue
                    if argument.name:
                        term.append(printed.argument_text(values.get(argument.name, ("_",))))
                    else:
                        term.append(next(remaining))
                if len(term) > 1:
                    # Of `∀ y, ∃ x, f x = y` at an `x` of the context the bound one is another.
                    taken = set(chain.from_iterable(values.values()))
                    apart = {name: (f"{name}'",) for name in printed.bound_names(fact.conclusion) & taken}
                    yield " ".join(term), printed.instance(printed.instance(fact.conclusion, apart), values)

    def _premises(
        self, fact: Fact, arguments: Sequence[Argument], known: Mapping[str, Tokens], by_omega: bool
    ) -> Iterator[tuple[dict[str, Tokens], list[str]]]:
        """Yield what proves each explicit premise, with what the variables are by that."""
        premises = [argument for argument in arguments if not argument.name and argument.explicit]
        if not premises:
            yield dict(known), []
            return
        first, rest = premises[0], premises[1:]
        # Only what no hypothesis states is left to `omega`, or each premise would come twice.
        fits = False
        for hypothesis, type_ in self._types.items():
            fitted = printed.fit(first.type, printed.stripped(type_), fact.variables, known)
            if fitted is not None:
                fits = True
                for values, proofs in self._premises(fact, rest, fitted, by_omega):
                    yield values, [hypothesis, *proofs]
        by_arithmetic: list[Mapping[str, Tokens]] = []
        if not fits and by_omega and any(symbol in first.type for symbol in ARITHMETIC):
            by_arithmetic.append(known)
        elif not fits and by_omega and first.type[1:2] == ("∣",) and first.type[0] in fact.variables:
            # Of a number that leaves 0 modulo 2, `h : ∀ d, d ∣ p → d = 1 ∨ d = p` says something at 2.
            for number in self._moduli():
                by_arithmetic.append({**known, first.type[0]: (number,)})
        for assumed in by_arithmetic:
            for values, proofs in self._premises(fact, rest, assumed, by_omega):
                yield values, [OMEGA, *proofs]

    def _moduli(self) -> list[str]:
        """Return the numerals by which a hypothesis says what a remainder is."""
        moduli: dict[str, None] = {}
        for type_ in self._types.values():
            for symbol, number in pairwise(type_):
                if symbol == "%" and number.isdigit():
                    moduli[number] = None
        return list(moduli)

    def _values(self, fact: Fact, known: Mapping[str, Tokens]) -> Iterator[dict[str, Tokens]]:
        """Yield values of all explicit variables of a fact, of which some are known."""
        unknown = [a for a in fact.arguments if a.name and a.explicit and a.name not in known]
        if not unknown:
            yield dict(known)
            return
        seen: list[dict[str, Tokens]] = []
        for values in self._from_goal(fact, known):
            if values not in seen and all(argument.name in values for argument in unknown):
                seen.append(values)
                yield values
        # Terms of the goal are likelier than variables that happen to have the type.
        choices = []
        for argument in unknown:
            names: list[Tokens] = []
            for name, type_ in self._types.items():
                # What an own definition says has often no type for its variables: `∀ y, ∃ x, f x = y`.
                is_value = not argument.type and "→" not in type_ and is_data(self._definitions, type_)
                if is_value or type_ == argument.type:
                    names.append((name,))
            names = names[:MOST_OF_A_FACT]
            # `f (x + y) = f x + f y` says what `f 0` is at 0, and nothing in the state has that term.
            if argument.type in NUMBERS:
                names.append(("0",))
            choices.append(names)
        for chosen in product(*choices):
            values = {**known, **{argument.name: value for argument, value in zip(unknown, chosen)}}
            if values not in seen:
                yield values

    def _from_goal(self, fact: Fact, known: Mapping[str, Tokens]) -> Iterator[dict[str, Tokens]]:
        """Yield values by which the conclusion, or a side of its relation, is a part of the goal."""
        parts = [fact.conclusion, *printed.split_at(fact.conclusion, printed.RELATIONS, 1)]
        bound = printed.bound_names(self._target)
        for part in parts:
            for values in printed.occurrences(printed.stripped(part), self._target, fact.variables, known):
                if not any(bound.intersection(value) for value in values.values()):
                    yield values


def _asks_for_less_than_itself(fact: Fact, values: Mapping[str, Tokens]) -> bool:
    """Tell whether a fact with these values has a premise `n < n`, as a strong induction's hypothesis has at `n`."""
    for premise in fact.premises:
        sides = printed.sides(printed.instance(premise.type, values), "<")
        if sides is not None and sides[0] == sides[1]:
            return True
    return False
