"""Steps that the shape of a goal asks for, by its text alone: what is introduced, split, witnessed, applied, chained.

The first move of most exercises is written in what is to be shown: `∀` is introduced, `∧` split, `a ∣ c` reached over a
hypothesis `a ∣ b`. Recursive definitions ask for an induction whose cases `simp` closes with them: that is one tactic,
and most of what a textbook asks about trees and lists is proved by it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from nanoproof.policy import printed_types as printed
from nanoproof.policy.number_steps import NUMBERS, NumberSteps
from nanoproof.policy.printed_types import Fact, Tokens
from nanoproof.policy.recursion_steps import closing_cases, in_list
from nanoproof.policy.statement_definitions import Definitions, is_data, unfolded

MOST_VALUES = 3
"""Booleans of which each has two cases."""
MOST_WITNESSES = 4
"""Variables of the context that are tried for an existential: a network that has learned which ones names terms."""
_CHAINS = {
    "≤": ("Nat.le_trans",),
    "<": ("Nat.lt_of_lt_of_le", "Nat.lt_of_le_of_lt"),
    "∣": ("Nat.dvd_trans",),
}
"""What joins two relations to one that has its first and last side."""


class GoalSteps:
    """The steps for one goal: its target, the types of the hypotheses that can be named, what the statement defines."""

    def __init__(
        self, target: Tokens, types: Mapping[str, Tokens], definitions: Definitions, fresh: Callable[..., list[str]]
    ) -> None:
        """`fresh` makes new names of wanted ones."""
        self._numbers = NumberSteps(target, types, fresh)
        # What came last is what the proof is at.
        self._newest = tuple(reversed(tuple(types.items())))
        self._types = types
        self._definitions, self._fresh = definitions, fresh
        self._target = target
        self._meant = unfolded(definitions, target)

    def shaped(self) -> Iterator[str]:
        """Yield what introduces, splits or witnesses the goal, and facts whose conclusion it is."""
        meant = self._meant
        fact = printed.read_fact(meant)
        connectives = len(printed.split_at(meant, ("∧", "∨", "↔")))
        if fact.arguments and (meant[:1] == ("∀",) or connectives == 1):
            wanted = []
            for argument in fact.arguments:
                wanted.append(argument.name or "h")
            yield f"intro {' '.join(self._fresh(*wanted))}"
        elif meant[:1] == ("∃",):
            yield from self._witnesses()
        elif len(printed.split_at(meant, ("↔",))) == 2 or len(printed.split_at(meant, ("∧",))) > 1:
            yield "constructor"
        elif connectives > 1:
            yield "left"
            yield "right"
        sides = printed.split_at(meant, ("=",))
        if len(sides) == 2 and printed.is_term(meant, ("=",)):
            if len(sides[0]) == 1 and "→" in self._types.get(sides[0][0], ()):
                yield f"funext {self._fresh('x')[0]}"
            if ("Nat.gcd",) in (sides[0][:1], sides[1][:1]):
                yield "apply Nat.dvd_antisymm"
        yield from self._filled_in()
        yield from self._backwards()
        yield from self._chained()

    def _witnesses(self) -> Iterator[str]:
        """Yield `⟨t, ?_⟩` for an existential, `t` a variable or what a linear equation says."""
        bound, body = printed.read_binders(self._meant[1:])
        if len(printed.split_at(body, ("=",))) == 2 and printed.is_term(body, ("=",)):
            # Lean finds what makes the sides the same, where only their ends differ.
            yield f"exact ⟨{'_, ' * len(bound)}rfl⟩"
        for argument in bound[:1]:
            yield from self._numbers.solutions(argument.name, body)
            divisor = _divisor(body, argument.name)
            if divisor is not None:
                # `e = c * k + d`: the quotient is the witness, whether `c` divides is arithmetic.
                term, number = divisor
                quotient = f"{printed.argument_text(term)} / {number}"
                for name, type_ in self._newest:
                    if self._definitions.predicate(type_) is not None and not set(term).isdisjoint(type_):
                        # An own `Ev n`, by rules: in each of them `omega` knows what the quotient is.
                        yield f"exact ⟨{quotient}, by induction {name} <;> omega⟩"
                yield f"exact ⟨{quotient}, by omega⟩"
        for name, type_ in self._newest:
            if printed.is_proposition(type_):
                # The witness is what the hypothesis is about.
                yield f"exact ⟨_, {name}⟩"
        count = 0
        for name, type_ in self._newest:
            of_type = not bound or not bound[0].type or bound[0].type == type_
            if of_type and is_data(self._definitions, type_):
                count += 1
                if count <= MOST_WITNESSES:
                    yield f"refine ⟨{name}, ?_⟩"
        if bound and bound[0].type in ((), *NUMBERS):
            yield from self._numbers.larger()
            for name, type_ in self._newest:
                # The factor of `f n = c * n` is `f 1`.
                if name in body and type_ in (("Nat", "→", "Nat"), ("ℕ", "→", "ℕ")):
                    yield f"refine ⟨{name} 1, ?_⟩"

    def _filled_in(self) -> Iterator[str]:
        """Yield hypotheses that say what the goal leaves open, such as `R a ?b`; no solver chooses what that is."""
        unknown = frozenset(token for token in self._target if token.startswith("?"))
        for name, type_ in self._newest:
            if unknown and printed.fit(self._target, type_, unknown, {}) is not None:
                yield f"exact {name}"

    def _backwards(self) -> Iterator[str]:
        """Yield `apply` for hypotheses whose conclusion is the goal, and for constructors of the goal's predicate."""
        for name, type_ in self._newest:
            fact = printed.read_fact(unfolded(self._definitions, type_))
            if not fact.arguments or len(printed.split_at(self._target, ("∧", "∨", "→"))) > 1:
                continue
            if printed.fit(fact.conclusion, self._target, fact.variables, {}) is not None:
                yield f"apply {name}"
            elif (direction := _direction(fact, self._target)) is not None:
                holes = ["_" for argument in fact.arguments if argument.explicit]
                yield f"refine ({' '.join([name, *holes])}).{direction} ?_"
            elif fact.conclusion == ("False",) and self._target != ("False",):
                yield f"refine absurd ?_ {name}"
        inductive = self._definitions.predicate(self._target)
        if inductive is not None:
            for constructor, _, _ in inductive.constructors:
                yield f"apply {inductive.name}.{constructor}"

    def _chained(self) -> Iterator[str]:
        """Yield the transitivity of the goal's relation with hypotheses that have one of its sides."""
        for relation, lemmas in _CHAINS.items():
            sides = printed.split_at(self._target, (relation,))
            if len(sides) != 2 or not printed.is_term(self._target, (relation,)):
                continue
            for name, type_ in self._newest:
                for other in _CHAINS:
                    ends = printed.split_at(type_, (other,))
                    if len(ends) != 2 or not printed.is_term(type_, (other,)) or (other == "∣") != (relation == "∣"):
                        continue
                    for lemma in lemmas:
                        if ends[0] == sides[0] and ends[1] != sides[1]:
                            yield f"refine {lemma} {name} ?_"
                        elif ends[1] == sides[1] and ends[0] != sides[0]:
                            yield f"refine {lemma} ?_ {name}"
            if relation == "∣":
                yield from self._summands(*sides)
                yield from _of_division(sides[1])

    def _summands(self, divisor: Tokens, summand: Tokens) -> Iterator[str]:
        """Yield that a number divides a summand, where it divides a sum and the other summand."""
        divided: dict[Tokens, str] = {}
        for name, type_ in self._newest:
            sides = printed.split_at(type_, ("∣",))
            if len(sides) == 2 and sides[0] == divisor:
                divided[printed.stripped(sides[1])] = name
        for total, name in divided.items():
            first, *rest = printed.split_at(total, ("+",))
            if rest == [summand] and printed.stripped(first) in divided:
                yield f"exact (Nat.dvd_add_right {divided[printed.stripped(first)]}).mp {name}"

    def by_two(self, functions: Sequence[str]) -> Iterator[str]:
        """Yield inductions for what recurs on `n + 2`, such as the numbers of Fibonacci: for `n` and `n + 1` at once.

        An induction over `n` alone knows of only one of the two values before. `functions` are the statement's own that
        the goal or a hypothesis has.
        """
        recurs = any(name in functions for name in self._definitions.by_two)
        for _, type_ in self._newest:
            recurs = recurs or (type_[:1] == ("∀",) and ("+", "2", ")") in zip(type_, type_[1:], type_[2:]))
        if not recurs or printed.in_induction(dict(self._newest)):
            return
        names = self._rewritten_with(functions)
        x = self._fresh("x")[0]
        for variable, type_ in self._newest:
            is_list = type_[:1] == ("List",)
            if not (is_list or type_ in NUMBERS) or not _is_about(self._target, variable):
                continue
            # `h : 0 < n` is a premise of the claim: it is shown for each number that it holds of.
            premises: list[str] = []
            claim = self._target
            for name, premise in self._newest:
                if _is_about(premise, variable):
                    premises.insert(0, name)
                    claim = printed.joined("→", [premise, claim])
            following = printed.instance(claim, {variable: (variable, "+", "1")})
            both = printed.text_of(printed.joined("∧", [claim, following]))
            if is_list:
                # `l.length` is one token, of which `l` is a part.
                text = printed.text_of(printed.in_brackets(claim))
                longer = re.sub(rf"(?<![\w.']){re.escape(variable)}(?![\w'])", f"({x} :: {variable})", text)
                both = f"{text} ∧ ∀ {x}, {longer}"
            step = f"refine (?_ : {both}).1"
            if premises:
                step = f"revert {' '.join(premises)} <;> {step}"
            # What is left for each `x` does not depend on it, but `omega` takes no `∀`.
            arithmetic = "intros <;> omega" if is_list else "omega"
            yield f"{step} <;> induction {variable} <;> first | (simp_all{names} <;> {arithmetic}) | grind{names}"
            yield step

    def closing(self, functions: Sequence[str], inductions: Sequence[str]) -> Iterator[str]:
        """Yield whole proofs of what `simp` closes: alone, or in each case of an induction or case split.

        `functions` are the statement's own that the goal or a hypothesis has, `inductions` are the tactics without
        their alternatives.
        """
        names = self._rewritten_with(functions)
        rules = self._rules()
        defined = self._definitions.rules(functions)
        if rules:
            # The rules are what the cases of an induction over them, or their inversion, are closed by.
            yield f"grind [{', '.join([*defined, *rules])}]"
        yield f"simp_all{names}"
        conditional = any(name in functions for name in self._definitions.conditional)
        predicate = self._definitions.predicate(self._target)
        for induction in inductions:
            if predicate is not None:
                constructors = [f"{predicate.name}.{constructor}" for constructor, _, _ in predicate.constructors]
                yield f"{induction} <;> simp_all [{', '.join(['Nat.mul_add', *defined, *constructors])}]"
            yield f"{induction} <;> {closing_cases(names, conditional)}"
            for helper in self._definitions.helpers_of(functions):
                # `fold (a + b) = plus' (fold a) (fold b)`: which of the helper's cases it is, no induction says.
                yield f"{induction} <;> simp_all{names} <;> unfold {helper} <;> split <;> simp_all{names}"
            for function in functions:
                if function in self._definitions.nested:
                    others = list(defined)
                    others.remove(function)
                    simp = f"simp_all{in_list(others)}"
                    yield f"{induction} <;> {simp} <;> unfold {function} <;> split <;> {simp}"
            others = induction.partition(" generalizing ")[2].split()
            lists = [name for name in others if self._types[name][:1] == ("List",)]
            if functions and len(others) == 1:
                lists = others
            elif len(lists) > 1:
                # Of `a ++ b = c ++ d` with `a.length = c.length` it is `c` that is taken apart beside `a`.
                lists = self._compared_with(induction.split()[1], lists)
            if len(lists) == 1:
                # A function of two arguments that recurses on both, such as a maximum, or an equation of two lists.
                cases = f"first | (simp_all{names} <;> first | omega | grind) | grind{names}"
                yield f"{induction} <;> cases {lists[0]} <;> {cases}"
            if rules:
                yield f"{induction} <;> grind [{', '.join([*defined, *rules])}]"
        yield from self._of_booleans()
        finite = self._finite()
        if finite:
            splits = " <;> ".join(f"cases {name}" for name in finite)
            yield f"{splits} <;> rfl"
            yield f"{splits} <;> simp_all{names}"

    def _compared_with(self, variable: str, lists: Sequence[str]) -> list[str]:
        """Return the lists of which a hypothesis says something beside a variable alone: `a.length = c.length`."""
        compared: list[str] = []
        for _, type_ in self._newest:
            mentioned = printed.mentioned(type_)
            beside = [name for name in lists if name in mentioned]
            if variable in mentioned and len(beside) == 1:
                compared = beside
        return compared

    def _finite(self) -> list[str]:
        """Return the variables of the goal whose types are so many constants and no more."""
        names = []
        for name, type_ in self._types.items():
            inductive = self._definitions.inductive(type_)
            if inductive is None or len(type_) > 1 or name not in self._target or not inductive.constructors:
                continue
            if not any(arguments for _, arguments, _ in inductive.constructors):
                names.append(name)
        return names

    def _rewritten_with(self, functions: Sequence[str]) -> str:
        """Write what `simp` and `grind` are given: functions, and what a power of `n + 1` is where the goal has one."""
        names = self._definitions.rules(functions)
        if "^" in self._target:
            names.append("Nat.pow_succ")
        if self._is_applied_to_a_sum(functions):
            # Of `f (m + n)` for `m + 1` or `n + 1` a definition says something once it is `f (m + n + 1)`.
            names += ["Nat.succ_add", "← Nat.add_assoc"]
        return in_list(names)

    def _is_applied_to_a_sum(self, functions: Sequence[str]) -> bool:
        """Tell whether a function of the goal has an argument `m + n` of variables."""
        for place, token in enumerate(self._target):
            if token not in functions:
                continue
            for argument in printed.arguments_of(self._target, place):
                summands = printed.split_at(argument, ("+",))
                if len(summands) > 1 and all(self._types.get(summand[0]) in NUMBERS for summand in summands[:2]):
                    return True
        return False

    def _of_booleans(self) -> Iterator[str]:
        """Yield a proof by cases where the goal is about a function from `Bool` to `Bool`: it has two values."""
        for function, type_ in self._newest:
            if type_ == ("Bool", "→", "Bool") and function in self._target:
                of_true, of_false = self._fresh("htrue", "hfalse")
                step = f"cases {of_true} : {function} true <;> cases {of_false} : {function} false"
                for name, other in self._newest:
                    if other == ("Bool",):
                        step += f" <;> cases {name}"
                if self._target[:1] == ("∃",):
                    yield f"{step} <;> first | exact ⟨true, by grind⟩ | exact ⟨false, by grind⟩"
                yield f"{step} <;> simp_all"

    def boolean_values(self) -> Iterator[str]:
        """Yield a case for each Boolean value of functions in an equation of Booleans: `(!f m) = (f m == !f n)`."""
        if printed.sides(self._target, "=") is None or {"!", "==", "!=", "&&", "||"}.isdisjoint(self._target):
            return
        splits: dict[str, None] = {}
        for function, signature in self._definitions.signatures:
            for place, token in enumerate(self._target):
                if token == function and signature.conclusion == ("Bool",):
                    arguments = printed.arguments_of(self._target, place)
                    splits[" ".join(["cases", token, *map(printed.argument_text, arguments)])] = None
        if 0 < len(splits) <= MOST_VALUES:
            yield " <;> ".join([*splits, "simp_all"])

    def _rules(self) -> list[str]:
        """Return the rules of the statement's own predicates that the goal or a hypothesis is about."""
        rules: list[str] = []
        for type_ in (self._target, *(type_ for _, type_ in self._newest)):
            inductive = self._definitions.predicate(type_)
            if inductive is not None:
                rules += [rule for rule in inductive.rules if rule not in rules]
        return rules


def _is_about(type_: Tokens, variable: str) -> bool:
    return variable in type_ and variable not in printed.bound_names(type_)


def _direction(fact: Fact, target: Tokens) -> str | None:
    """Return the direction of an equivalence that has the target on its other side, as in `∀ x y, P x y ↔ Q x y`."""
    sides = printed.split_at(fact.conclusion, ("↔",))
    if len(sides) != 2:
        return None
    for side, direction in zip(sides, ("mpr", "mp")):
        if printed.fit(printed.stripped(side), target, fact.variables, {}) is not None:
            return direction
    return None


def _of_division(multiple: Tokens) -> Iterator[str]:
    """Yield what shows that a number divides a sum or a product."""
    if len(printed.split_at(multiple, ("+",))) > 1:
        yield "apply Nat.dvd_add"
    elif len(printed.split_at(multiple, ("*",))) > 1:
        yield "refine Nat.dvd_trans ?_ (Nat.dvd_mul_right _ _)"
        yield "refine Nat.dvd_trans ?_ (Nat.dvd_mul_left _ _)"
        yield "apply Nat.mul_dvd_mul"


def _divisor(body: Tokens, variable: str) -> tuple[Tokens, str] | None:
    """Read `e = c * k` or `e = c * k + d` with a numeral `c` for the variable `k`: returns `e` and `c`, else None.

    `k + k` is `2 * k`.
    """
    sides = printed.split_at(body, ("=",))
    if len(sides) != 2 or not printed.is_term(body, ("=",)):
        return None
    for term, multiple in (sides, sides[::-1]):
        summands = printed.split_at(multiple, ("+",))
        if variable not in term and summands[:2] == [(variable,), (variable,)]:
            return term, "2"
        product = printed.split_at(summands[0], ("*",))
        if len(product) == 2 and variable not in term and (variable,) in product:
            factor = product[0]
            if factor == (variable,):
                factor = product[1]
            if len(factor) == 1 and factor[0].isdigit():
                return term, factor[0]
    return None
