"""Facts that follow from hypotheses by an argument that everybody knows, stated and proved in one step.

That a function grows follows from its growing at each step, that nothing falls for ever from its having a first value,
and that no list of all predicates is complete by the diagonal. Each is an induction or a term that the goal does not
show, so that neither its shape nor a fact applied forward leads there.
"""

from collections.abc import Callable, Iterator, Mapping

from nanoproof.policy import printed_types as printed
from nanoproof.policy.number_steps import NUMBERS
from nanoproof.policy.printed_types import Tokens
from nanoproof.policy.statement_definitions import Definitions, application

_BY_INDUCTION = "by intro {names} <;> induction {over} <;> grind"
_DIAGONALS: dict[Tokens, str] = {("Prop",): "¬ {value}", ("Nat",): "{value} + 1", ("ℕ",): "{value} + 1"}
"""What differs from a value of each type."""


class FactSteps:
    """The steps for one goal: its target, the types of the hypotheses that can be named, and a maker of new names."""

    def __init__(self, target: Tokens, types: Mapping[str, Tokens], fresh: Callable[..., list[str]]) -> None:
        self._target, self._fresh = target, fresh
        self._newest = tuple(reversed(tuple(types.items())))

    def monotone(self) -> Iterator[str]:
        """Yield that values grow with the number where a hypothesis says so of `n` and `n + 1`, or that they fall.

        What falls strictly at every step would fall below 0, which ends the proof.
        """
        new, i, j, between = self._fresh("h", "i", "j", "hij")
        for _, type_ in self._newest:
            fact = printed.read_fact(type_)
            if len(fact.arguments) != 1 or fact.arguments[0].type not in NUMBERS or not fact.arguments[0].name:
                continue
            variable = fact.arguments[0].name
            for relation in ("<", "≤"):
                sides = printed.split_at(fact.conclusion, (relation,))
                if len(sides) != 2 or not printed.is_term(fact.conclusion, (relation,)):
                    continue
                left, right = sides
                following = (variable, "+", "1")
                grows = printed.instance(left, {variable: following}) == right
                falls = printed.instance(right, {variable: following}) == left
                value = left if grows else right
                at_i, at_j, at_0 = [
                    printed.text_of(printed.instance(value, {variable: number})) for number in ((i,), (j,), ("0",))
                ]
                if grows or (falls and relation == "≤"):
                    claim = f"{at_i} {relation} {at_j}" if grows else f"{at_j} ≤ {at_i}"
                    fact_text = f"∀ {i} {j}, {i} {relation} {j} → {claim}"
                    proof = _BY_INDUCTION.format(names=f"{i} {j} {between}", over=between)
                    if not self._is_known(claim, i, j):
                        yield f"have {new} : {fact_text} := {proof}"
                elif falls:
                    lower = f"∀ {i}, {at_i} + {i} ≤ {at_0}"
                    proof = _BY_INDUCTION.format(names=i, over=i)
                    yield f"have {new} : {lower} := ({proof}) <;> have {new} := {new} ({at_0} + 1) <;> omega"

    def _is_known(self, claim: str, *variables: str) -> bool:
        """Tell whether a hypothesis says it already, under whatever names."""
        wanted = printed.tokens_of(claim)
        for _, type_ in self._newest:
            fact = printed.read_fact(type_)
            names = [argument.name for argument in fact.arguments if argument.name]
            renamed = {name: (variable,) for name, variable in zip(names, variables)}
            if len(names) == len(variables) and printed.instance(fact.conclusion, renamed) == wanted:
                return True
        return False

    def common_divisors(self) -> Iterator[str]:
        """Yield that a greatest common divisor divides both numbers, or what it is to divide it."""
        known = {type_ for _, type_ in self._newest}
        left, right = self._fresh("h", "h")
        for type_ in (self._target, *known):
            for place, token in enumerate(type_):
                numbers = application(type_[place + 1 :])[:2] if token == "Nat.gcd" else []
                if len(numbers) < 2 or printed.bound_names(type_).intersection(*numbers):
                    continue
                divisor = (token, *printed.in_brackets(numbers[0]), *printed.in_brackets(numbers[1]))
                if (*divisor, "∣", *numbers[0]) not in known:
                    first, second = [printed.argument_text(number) for number in numbers]
                    both = f"And.intro (Nat.gcd_dvd_left {first} {second}) (Nat.gcd_dvd_right {first} {second})"
                    yield f"obtain ⟨{left}, {right}⟩ := {both}"
        if "∣" in self._target and self._target[self._target.index("∣") + 1 :][:1] == ("Nat.gcd",):
            yield "apply Nat.dvd_gcd"

    def transitive(self, definitions: Definitions) -> Iterator[str]:
        """Yield that a relation which the statement defines by rules, such as a closure, is transitive, if it is."""
        new, a, b, c, first, second = self._fresh("h", "a", "b", "c", "h", "h")
        for type_ in dict.fromkeys([self._target, *(type_ for _, type_ in self._newest)]):
            relation = definitions.predicate(type_)
            arguments = application(type_[1:])
            if relation is None or len(arguments) < 2:
                continue
            head = printed.text_of([relation.name, *(printed.argument_text(argument) for argument in arguments[:-2])])
            ab, bc, ac = [f"{head} {x} {y}" for x, y in ((a, b), (b, c), (a, c))]
            rules = ", ".join(relation.rules)
            either = " | ".join(f"(induction {over} <;> grind [{rules}])" for over in (first, second))
            if not self._is_known(ac, a, b, c):
                proof = f"by intro {a} {b} {c} {first} {second} <;> first | {either}"
                yield f"have {new} : ∀ {a} {b} {c}, {ab} → {bc} → {ac} := {proof}"

    def diagonal(self) -> Iterator[str]:
        """Yield the contradiction where a hypothesis says that each function on a type has a number, or name, of it."""
        x, a, ha, new = self._fresh("x", "a", "ha", "h")
        for name, type_ in self._newest:
            fact = printed.read_fact(type_)
            if len(fact.arguments) != 1 or fact.conclusion[:1] != ("∃",):
                continue
            function = fact.arguments[0]
            bound, body = printed.read_binders(fact.conclusion[1:])
            sides = printed.split_at(body, ("=",))
            differs = _DIAGONALS.get(function.type[-1:])
            if len(bound) != 1 or len(sides) != 2 or "→" not in function.type or differs is None:
                continue
            listed = next((side for side in sides if side != (function.name,)), ())
            if (function.name,) in sides and listed[-1:] == (bound[0].name,):
                head = printed.text_of(listed[:-1])
                other = differs.format(value=f"{head} {x} {x}")
                at_it = f"obtain ⟨{a}, {ha}⟩ := {name} (fun {x} => {other}) <;> have {new} := congrFun {ha} {a}"
                yield f"{at_it} <;> grind"
