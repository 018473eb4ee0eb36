"""Steps that need no invention: what a proof state itself says may be done with it, by its text alone.

An existential is taken apart, an equation rewritten with, a fact applied to what is there, an induction made over what
the goal is about. Of the cuts in proofs that people write, more than half are of this kind, and a network that was
never shown one does not write it. Each kind has a list, the likeliest first, and the lists are merged in turn, so that
a long one does not crowd out the others.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice, pairwise, zip_longest

from nanoproof.lean.lexical import CLOSING, OPENING
from nanoproof.lean.types import Goal, Hypothesis, ProtocolError, parse_state
from nanoproof.policy import printed_types as printed
from nanoproof.policy.certificate_steps import CertificateSteps
from nanoproof.policy.divisor_steps import DivisorSteps
from nanoproof.policy.fact_steps import FactSteps
from nanoproof.policy.forward_steps import MOST_OF_A_FACT, ForwardSteps
from nanoproof.policy.goal_steps import GoalSteps
from nanoproof.policy.number_steps import NUMBERS, NumberSteps
from nanoproof.policy.printed_types import Fact, Tokens
from nanoproof.policy.product_steps import ProductSteps
from nanoproof.policy.recursion_steps import RecursionSteps, in_list
from nanoproof.policy.statement_definitions import KNOWN, Definitions, Inductive, application, unfolded
from nanoproof.retrieval.corpus import CorpusPremise

LONGEST_STEP = 340
"""Characters; what is longer is not what people write, nor what a network learns from."""
_NEGATIONS = {"∀": ("Classical.not_forall", ("x", "h")), "→": ("Classical.not_imp", ("h", "h"))}
"""What the negation of a proposition says, by its connective, and the names of what it is taken apart to."""
_IF = re.compile(r"(?<![\w.'])if\s+(?:(?P<name>\w+)\s*:\s*)?(?P<condition>.+?)\s+then(?![\w.'])", re.DOTALL)
_NAMES = ("h", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9")


def steps(
    state_text: str, definitions: Definitions | None = None, lemmas: Sequence[CorpusPremise] = (), most: int = 32
) -> list[str]:
    """List at most so many distinct steps for the first goal of a state, the likeliest first.

    `lemmas` may be applied forward to its hypotheses. A text that is no proof state has none.
    """
    try:
        goals = parse_state(state_text).goals
    except ProtocolError:
        return []
    if not goals:
        return []
    enumeration = _Enumeration(goals[0], definitions or Definitions())
    kinds = enumeration.kinds(lemmas)
    in_turn = chain.from_iterable(zip_longest(*kinds))
    distinct = dict.fromkeys(step for step in in_turn if step is not None and len(step) <= LONGEST_STEP)
    return list(islice(distinct, most))


class _Enumeration:
    """The steps of one goal."""

    def __init__(self, goal: Goal, definitions: Definitions) -> None:
        self._dotted = (*definitions.functions, "Nat.gcd", "Nat.Coprime")
        self._target = self._read(goal.type)
        self._mentioned = printed.mentioned(self._target)
        # Inaccessible names cannot be written; of two with one name only the last can be meant.
        by_name = {hypothesis.user_name: hypothesis for hypothesis in goal.hypotheses}
        self._hypotheses: list[Hypothesis] = []
        for hypothesis in by_name.values():
            if printed.is_name(hypothesis.user_name):
                self._hypotheses.append(hypothesis)
        self._types: dict[str, Tokens] = {}
        for hypothesis in self._hypotheses:
            self._types[hypothesis.user_name] = self._read(hypothesis.type)
        self._definitions = definitions.with_stated(self._types)
        # Of instances only the type is known: `inst✝ : Nonempty α` has no name that could be written.
        self._nonempty: list[Tokens] = []
        for hypothesis in goal.hypotheses:
            if hypothesis.type.startswith("Nonempty "):
                self._nonempty.append(printed.tokens_of(hypothesis.type))
        self._used = set(by_name)

    def _read(self, text: str) -> Tokens:
        return printed.undotted(printed.tokens_of(text), self._dotted)

    def kinds(self, lemmas: Sequence[CorpusPremise]) -> list[list[str]]:
        """Return the steps of each kind; the kinds that are almost always right come first.

        `steps` takes the first of each list, then the second of each: what shares a list waits for what is before it.
        """
        about = (self._target, self._types, self._fresh)
        goal = GoalSteps(self._target, self._types, self._definitions, self._fresh)
        numbers, facts, products = NumberSteps(*about), FactSteps(*about), ProductSteps(*about)
        certificates, recursions, divisors = CertificateSteps(*about), RecursionSteps(*about), DivisorSteps(*about)
        definitions, functions = self._definitions, self._own_functions()
        forward = ForwardSteps(self._target, self._types, definitions, self._new_hypothesis(), self._take_apart)
        of_numbers = chain(
            numbers.without_subtraction(),
            numbers.divided(),
            numbers.rearranged(),
            numbers.quotients(),
            numbers.bounded(),
        )
        recursed_on = recursions.recursed_on(dict(definitions.recursive_places))
        inductions = [*recursions.measure_inductions(), *self._inductions(recursed_on)]
        return [
            [
                *products.cancelled(),
                *products.divided(),
                *divisors.whole_proofs(),
                *divisors.proper_divisors(definitions.propositions),
                *certificates.two_coins(),
                *certificates.quotient_with_remainder(),
                *numbers.parts_of_modulus(),
                *products.ordered(),
                *facts.invariants(definitions),
                *facts.inverses(),
                *products.means(),
                *recursions.power_inductions(),
            ],
            [
                *goal.by_two(functions),
                *goal.boolean_values(),
                *facts.polarities(definitions, functions),
                *recursions.kept_by(definitions, functions),
                *recursions.last_values(definitions.rules(functions)),
                *recursions.next_witnesses(),
                *recursions.descent(),
                *recursions.quotients(),
                *certificates.multiplied(definitions.rules(functions)),
                *products.maxima(),
            ],
            [
                *recursions.lemmas_inside(definitions, functions, recursed_on),
                *facts.generalized(definitions, functions),
            ],
            list(self._taken_apart()),
            list(goal.closing(functions, self._whole_inductions(inductions))),
            list(goal.shaped()),
            [*certificates.congruences(), *self._rewritten()],
            [*self._generalized(), *inductions],
            [*of_numbers, *numbers.differences()],
            list(chain(facts.diagonal(), facts.monotone(), facts.common_divisors(), forward.applied())),
            [
                *facts.transitive(definitions),
                *facts.lengths(),
                *recursions.bounded_inductions(definitions.rules(functions)),
                *recursions.strong_inductions(),
            ],
            [*recursions.filter_cases(), *self._split_conditions()],
            list(self._unfolded()),
            list(forward.lemmas_applied(lemmas)),
            list(self._cases(recursed_on)),
        ]

    def _fresh(self, *wanted: str) -> list[str]:
        """Return a new name for each that is wanted: itself, or with a number."""
        names: list[str] = []
        for name in wanted:
            self._named(name, names)
        return names

    def _new_hypothesis(self) -> str:
        return next((name for name in _NAMES if name not in self._used), "this")

    # -- taking apart ------------------------------------------------------------------------------------------------

    def _taken_apart(self) -> Iterator[str]:
        """Yield `obtain` for existentials and conjunctions, `rcases` for disjunctions; those that came last first."""
        divisions: list[str] = []
        for type_ in self._nonempty:
            if self._target[:1] == ("∃",) and type_[1:] not in self._types.values():
                yield f"obtain ⟨{self._fresh('x')[0]}⟩ := ‹{printed.text_of(type_)}›"
        for name, written in reversed(self._types.items()):
            type_ = unfolded(self._definitions, written)
            step = self._take_apart(name, type_, name)
            if step is not None:
                yield step
            elif len(printed.split_at(type_, ("×",))) == 2 and name in self._mentioned:
                yield f"obtain ⟨{', '.join(self._fresh('a', 'b'))}⟩ := {name}"
            elif len(printed.split_at(type_, ("∣",))) == 2 and printed.is_term(type_, ("∣",)):
                # `a ∣ b` is `∃ c, b = a * c` by definition.
                k, hk = self._fresh("k", "hk")
                if self._substitutes((*printed.split_at(type_, ("∣",))[1], "=", "0")):
                    divisions.append(f"obtain ⟨{k}, rfl⟩ := {name}")
                divisions.append(f"obtain ⟨{k}, {hk}⟩ := {name}")
            else:
                yield from self._chosen(name, type_)
                yield from self._inverted(name, written)
        yield from divisions

    def _chosen(self, name: str, type_: Tokens) -> Iterator[str]:
        """Yield the function that chooses for each `y` an `x` of `∀ y, ∃ x, f x = y`, where the goal asks for one."""
        fact = printed.read_fact(type_)
        if (
            self._asks_for_function()
            and len(fact.variables) == len(fact.arguments) == 1
            and fact.conclusion[:1] == ("∃",)
        ):
            g, hg = self._fresh("g", "hg")
            yield f"obtain ⟨{g}, {hg}⟩ := Classical.skolem.mp {name}"

    def _asks_for_function(self) -> bool:
        """Tell whether the goal is that there is something which it applies to an argument."""
        bound, body = printed.read_binders(self._target[1:]) if self._target[:1] == ("∃",) else ([], ())
        wanted = set()
        for argument in bound:
            wanted.add(argument.name)
        return any(token in wanted and printed.arguments_of(body, place) for place, token in enumerate(body))

    def _inverted(self, name: str, type_: Tokens) -> Iterator[str]:
        """Yield a case for each rule by which a hypothesis may hold that is about more than variables: few are left."""
        inductive = self._definitions.predicate(type_)
        if inductive is not None and any(len(argument) > 1 for argument in application(type_[1:])):
            yield f"rcases {name} with {self._rules(name, inductive)}"

    def _take_apart(self, term: str, type_: Tokens, reused: str) -> str | None:
        """Return the step that takes a proof of a proposition apart; None where there is nothing to take apart.

        The sides of a disjunction are called `reused`; those that are existentials are taken apart as well.
        """
        type_ = printed.stripped(type_)
        pattern = self._pattern(type_, [])
        if pattern.startswith("⟨"):
            return f"obtain {pattern} := {term}"
        for negated, (lemma, parts) in _NEGATIONS.items():
            inner = printed.stripped(type_[1:])
            if type_[:1] == ("¬",) and (inner[:1] == (negated,) or printed.sides(inner, negated) is not None):
                names: list[str] = []
                written = [self._named(part, names) for part in parts]
                return f"obtain ⟨{', '.join(written)}⟩ := {lemma}.mp {term if printed.is_name(term) else f'({term})'}"
        sides = printed.split_at(type_, ("∨",))
        if len(sides) > 1 and printed.is_term(type_, ("∨", "∧", "¬", *printed.RELATIONS)):
            patterns = []
            for side in sides:
                pattern = self._pattern(unfolded(self._definitions, side), [])
                patterns.append(pattern if pattern.startswith("⟨") else reused)
            return f"rcases {term} with {' | '.join(patterns)}"
        return None

    def _pattern(self, type_: Tokens, names: list[str]) -> str:
        """Return the pattern that takes a proposition apart, `⟨x, hx⟩`, or a name for what is not to be; adds names."""
        type_ = printed.stripped(type_)
        if type_[:1] == ("∃",):
            bound, rest = printed.read_binders(type_[1:])
            parts = []
            for argument in bound:
                if argument.name:
                    parts.append(self._named(argument.name, names))
                else:
                    parts.append(self._named("h", names))
            # `⟨x, y, h⟩` is `⟨x, ⟨y, h⟩⟩`: what is last needs no brackets of its own.
            return f"⟨{', '.join([*parts, *self._conjuncts(rest, names)])}⟩"
        conjuncts = self._conjuncts(type_, names)
        if len(conjuncts) > 1:
            return f"⟨{', '.join(conjuncts)}⟩"
        return conjuncts[0]

    def _conjuncts(self, type_: Tokens, names: list[str]) -> list[str]:
        type_ = printed.stripped(type_)
        is_conjunction = type_[:1] not in (("∀",), ("∃",)) and len(printed.split_at(type_, ("→", "↔", "∨"))) == 1
        parts = [type_]
        if is_conjunction:
            parts = printed.split_at(type_, ("∧",))
        if len(parts) == 1 and type_[:1] != ("∃",):
            return ["rfl" if self._substitutes(type_) else self._named("h", names)]
        patterns = [self._pattern(part, names) for part in parts]
        patterns[-1] = patterns[-1].removeprefix("⟨").removesuffix("⟩")
        return patterns

    def _substitutes(self, type_: Tokens) -> bool:
        """Tell whether a proposition says what a variable of the context is: that takes its place, as with `subst`."""
        for variable, value in printed.both_ways(printed.split_at(type_, ("=",))):
            if len(variable) == 1 and variable[0] in self._types and variable[0] not in value:
                return not printed.is_proposition(self._types[variable[0]]) and printed.is_term(type_, ("=",))
        return False

    def _named(self, wanted: str, names: list[str]) -> str:
        name = wanted
        number = 0
        while name in self._used or name in names:
            number += 1
            name = f"{wanted}{number}"
        names.append(name)
        return name

    # -- rewriting ---------------------------------------------------------------------------------------------------

    def _rewritten(self) -> Iterator[str]:
        """Yield `rw` with equations and equivalences of the context, both ways, where the goal has a side of them."""
        later: list[str] = []
        last: list[str] = []
        for name, type_ in reversed(self._types.items()):
            fact = printed.read_fact(type_)
            if len(printed.split_at(fact.conclusion, ("∧", "∨"))) > 1:
                continue
            for symbol in ("=", "↔"):
                sides = printed.split_at(fact.conclusion, (symbol,), 1)
                if len(sides) != 2:
                    continue
                if self._is_in_goal(sides[0], fact):
                    yield f"rw [{name}]"
                # Backwards a variable that only the other side has cannot be known.
                if self._is_in_goal(sides[1], fact) and not fact.variables:
                    # One token, such as the `1` of `f 0 = 1`, is in many goals by chance.
                    (later if len(sides[1]) > 1 else last).append(f"rw [← {name}]")
                break
        yield from later
        # What rewrites no goal may rewrite another hypothesis, such as `h : x = 3` in `h' : x < y`.
        for name, type_ in reversed(self._types.items()):
            fact = printed.read_fact(type_)
            sides = printed.split_at(fact.conclusion, ("=",), 1)
            if len(sides) != 2 or len(printed.split_at(fact.conclusion, ("∧", "∨", "↔"))) > 1:
                continue
            for other, other_type in reversed(self._types.items()):
                occurrence = next(printed.occurrences(sides[0], other_type, fact.variables, {}), None)
                if other != name and occurrence is not None:
                    yield f"rw [{name}] at {other}"
        yield from last

    def _is_in_goal(self, side: Tokens, fact: Fact) -> bool:
        side = printed.stripped(side)
        return next(printed.occurrences(side, self._target, fact.variables, {}), None) is not None

    # -- induction and cases -----------------------------------------------------------------------------------------

    def _inductions(self, recursed_on: Sequence[str]) -> Iterator[str]:
        """Yield inductions over variables of the goal, those that it recurs on first, and over inductive predicates."""
        over_predicates: list[list[str]] = []
        over_recursion: dict[str, list[str]] = {}
        over_data: list[str] = []
        over_numbers: list[str] = []
        strong: list[str] = []
        over_exponents: list[str] = []
        later: list[str] = []
        in_hypotheses: set[str] = set()
        exponents: set[str] = set()
        for type_ in self._types.values():
            if printed.is_proposition(type_):
                in_hypotheses |= printed.mentioned(type_)
                for symbol, following in pairwise(type_):
                    if symbol == "^":
                        exponents.add(following)
        for name, type_ in self._types.items():
            inductive = self._definitions.inductive(type_)
            if inductive is None or not any(any(recursive) for _, _, recursive in inductive.constructors):
                continue
            is_predicate = inductive.is_predicate
            if name not in self._mentioned and not is_predicate:
                # As in `h : p ∣ a ^ n`, of which the goal says nothing of `n`.
                if name in in_hypotheses:
                    step = f"induction {name} with {self._alternatives(name, inductive, True)}"
                    (over_exponents if name in exponents else later).append(step)
                continue
            alternatives = self._alternatives(name, inductive, True)
            # What a hypothesis is about cannot be generalized beside it.
            others = [other for other in self._generalizable(name) if other not in type_]
            generalized = [f"induction {name} generalizing {' '.join(others)} with {alternatives}"] if others else []
            # The stronger hypothesis first: what the plain one proves it proves too, by one application more.
            both = [*generalized, f"induction {name} with {alternatives}"]
            if is_predicate:
                over_predicates.append(both)
            elif name in recursed_on:
                over_recursion[name] = both
            else:
                (over_numbers if type_ in NUMBERS else over_data).extend(both)
            # In the form that a search can run: one tactic, whose only case is a new goal.
            if inductive.name in ("Nat", "ℕ"):
                hypothesis = self._fresh("ih")[0]
                over = " ".join(["generalizing", *others]) + " " if others else ""
                strong.append(f"induction {name} using Nat.strongRecOn {over}with | _ {name} {hypothesis} => ?_")
        # What a predicate says by rules is proved by its rules, before the numbers in it; the newest is nearest it.
        yield from chain.from_iterable(reversed(over_predicates))
        yield from over_exponents
        for name in recursed_on:
            yield from over_recursion.get(name, [])
        # Functions on lists and trees recur on these, whatever numbers they have beside them.
        yield from over_data
        yield from over_numbers
        yield from strong
        yield from later

    def _generalizable(self, variable: str) -> list[str]:
        """Return the other variables of the goal for any values of which an induction may be made.

        Of what a fact for all numbers is about, such as the `m` of `∀ n, t (n + 1) = t n + f (m + n)`, the induction's
        hypothesis would have that fact as a premise.
        """
        names = []
        in_facts: set[str] = set()
        for type_ in self._types.values():
            if type_[:1] == ("∀",):
                in_facts |= set(type_) - printed.bound_names(type_)
        for name, type_ in self._types.items():
            # Of `α : Type` there may be elements, such as the start of an iterated function.
            is_data = self._definitions.inductive(type_) is not None and not printed.is_proposition(type_)
            is_element = len(type_) == 1 and self._types.get(type_[0], ())[:1] == ("Type",)
            if name != variable and name in self._mentioned and (is_data or is_element) and name not in in_facts:
                names.append(name)
        return names

    def _generalized(self) -> Iterator[str]:
        """Yield a variable for a value of an own function that another one is applied to, and the induction over it.

        Inside of an induction this states the lemma that is missing: of `total (snoc (rv xs) x) = x + total (rv xs)`
        that it holds for any list.
        """
        if not printed.in_induction(self._types):
            return
        rules = in_list(self._definitions.rules(self._own_functions()))
        for name in self._definitions.functions:
            for place, token in enumerate(self._target[1:], 1):
                if token != name or self._target[place - 1] != "(":
                    continue
                value = self._target[place : printed.closing(self._target, place - 1)]
                if len(value) > 1 and self._target.count("(") > 1:
                    new = self._fresh("t")[0]
                    step = f"generalize {printed.text_of(value)} = {new}"
                    yield f"{step} <;> induction {new} <;> simp_all{rules} <;> omega"
                    yield step
                break

    def _alternatives(self, variable: str, inductive: Inductive, induction: bool) -> str:
        """Write `| zero => ?_ | succ n ih => ?_` with new names."""
        parts = []
        for constructor, arguments, recursive in inductive.constructors:
            wanted = list(arguments)
            if inductive.name in ("Nat", "ℕ") and arguments:
                wanted = [variable]
            elif inductive.name == "List" and arguments:
                wanted = ["x", variable]
            hypotheses = ["ih"] * sum(recursive)
            if not induction:
                hypotheses = []
            # The variable itself is free again: each case has what it is made of in its place.
            self._used.discard(variable)
            names = self._fresh(*wanted, *hypotheses)
            self._used.add(variable)
            parts.append(" ".join(["|", constructor, *names, "=> ?_"]))
        return " ".join(parts)

    def _rules(self, hypothesis: str, inductive: Inductive) -> str:
        """Write `_ | ⟨n, h⟩` with new names, for `rcases`, which takes names also of rules that do not apply."""
        patterns = []
        for _, arguments, _ in inductive.constructors:
            self._used.discard(hypothesis)
            names = self._fresh(*arguments)
            self._used.add(hypothesis)
            patterns.append(f"⟨{', '.join(names)}⟩" if len(names) > 1 else "".join(names) or "_")
        return " | ".join(patterns)

    def _cases(self, recursed_on: Sequence[str]) -> Iterator[str]:
        """Yield case splits by the constructors of variables in the goal, and of hypotheses by inductive predicates."""
        # Of a number the first case is seldom what a proof is about, unless a function computes by it.
        order = [*recursed_on, *self._types]
        for name, type_ in sorted(self._types.items(), key=lambda item: (item[1] in NUMBERS, order.index(item[0]))):
            inductive = self._definitions.inductive(type_)
            if inductive is None or not inductive.constructors:
                continue
            if self._definitions.predicate(type_) is not None:
                # By which rules it can hold depends on what it is about; `cases` takes no alternative of another rule.
                yield f"rcases {name} with {self._rules(name, inductive)}"
            elif name in self._mentioned or inductive not in KNOWN:
                yield f"cases {name} with {self._alternatives(name, inductive, False)}"
        # Two numbers are one before the other, or a number is even or odd: nothing in the state says so.
        numbers = [name for name, type_ in self._types.items() if type_ in NUMBERS]
        new = self._new_hypothesis()
        for first, second in combinations(numbers[:MOST_OF_A_FACT], 2):
            yield f"rcases Nat.lt_or_ge {first} {second} with {new} | {new}"
        for name in numbers[:MOST_OF_A_FACT]:
            yield f"rcases Nat.mod_two_eq_zero_or_one {name} with {new} | {new}"

    def _split_conditions(self) -> Iterator[str]:
        """Yield `by_cases` for the conditions of each `if`, and `split`, which needs no name for them."""
        for type_ in (self._target, *self._types.values()):
            variables = printed.read_fact(type_).variables
            for match in _IF.finditer(printed.text_of(type_)):
                condition = printed.tokens_of(match["condition"])
                # Of a variable that is bound there nothing can be said outside.
                if not variables.intersection(condition):
                    yield f"by_cases {self._new_hypothesis()} : {match['condition']}"
        yield from self._undecided()
        yield from self._quantified_parts()
        # Lean finds the `if` or `match` itself, also where its condition holds a bound variable.
        if "if" in self._target or "match" in self._target:
            yield "split"

    def _quantified_parts(self) -> Iterator[str]:
        """Yield `by_cases` on `∀ y, Q y` inside of the goal, as in `∃ x, P x → ∀ y, P y`: the witness depends on it."""
        for place, token in enumerate(self._target):
            if token == "∀" and place > 0:
                end = place
                while end < len(self._target) and self._target[end] not in CLOSING:
                    end = printed.closing(self._target, end) + 1 if self._target[end] in OPENING else end + 1
                part = self._target[place:end]
                if printed.bound_names(self._target[:place]).isdisjoint(part):
                    yield f"by_cases {self._new_hypothesis()} : {printed.text_of(part)}"

    def _undecided(self) -> Iterator[str]:
        """Yield `by_cases` on what an implication of the context needs: whether its premise holds, for some value."""
        new = self._new_hypothesis()
        for type_ in reversed(self._types.values()):
            fact = printed.read_fact(type_)
            premises = fact.premises
            if not premises or not printed.is_proposition(type_) or fact.conclusion == ("False",):
                continue
            # `ih : ∀ m, m < n → P m → Q`: either it can be used for some `m`, or `P` holds of none below `n`.
            open_ = [name for name in fact.variables if name not in fact.conclusion]
            needed = printed.text_of(printed.joined("∧", [premise.type for premise in premises]))
            if not fact.variables and not (printed.is_term(premises[0].type) and len(premises[0].type) == 1):
                yield f"by_cases {new} : {printed.text_of(premises[0].type)}"
            elif len(open_) == len(fact.variables) == 1:
                yield f"by_cases {new} : ∃ {open_[0]}, {needed}"

    def _own_functions(self) -> list[str]:
        """Return the statement's own functions that the goal or a hypothesis has."""
        names = []
        for name in self._definitions.functions:
            if name in self._mentioned or any(name in type_ for type_ in self._types.values()):
                names.append(name)
        return names

    def _whole_inductions(self, inductions: Sequence[str]) -> list[str]:
        """Return the inductions, without their alternatives, whose cases `simp` may close; they cost Lean most.

        Not inside of an induction, nor where nothing recurses: neither the statement's own functions or predicates nor
        a fact such as `∀ n, f (n + 1) = f n + n`, nor lists or powers. A strong induction has one case, of which `simp`
        proves nothing.
        """
        if printed.in_induction(self._types):
            return []
        recurses = bool(self._own_functions()) or "^" in self._target
        recurses = recurses or self._definitions.predicate(self._target) is not None
        for type_ in self._types.values():
            recurses = recurses or type_[:1] in (("∀",), ("List",))
        heads: list[str] = []
        for induction in inductions:
            head = induction.partition(" with ")[0]
            if recurses and " using " not in head and head not in heads:
                heads.append(head)
        return heads[:MOST_OF_A_FACT]

    def _unfolded(self) -> Iterator[str]:
        """Yield what replaces the statement's own functions by their definitions."""
        functions = self._definitions.rules(self._definitions.functions)
        mentioned = [name for name in functions if name in self._mentioned]
        if len(mentioned) > 1:
            # All at once: of a claim about two functions neither side says anything alone.
            yield f"simp only [{', '.join(mentioned)}]"
        for name in functions:
            if name in self._mentioned:
                # `rw` unfolds by an equation of the definition, `simp` by all of them, `unfold` also where none fits.
                yield f"rw [{name}]"
                # Closes what is left of most inductions over a definition: the hypothesis rewrites what it unfolds to.
                yield f"simp_all [{name}]"
                yield f"simp only [{name}]"
                yield f"unfold {name}"
            else:
                for other, type_ in self._types.items():
                    if name in type_:
                        yield f"unfold {name} at {other}"
