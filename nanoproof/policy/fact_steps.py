"""Facts that follow from hypotheses by an argument that everybody knows, stated and proved in one step.

That a function grows follows from its growing at each step, that nothing falls for ever from its having a first value,
and that no list of all predicates is complete by the diagonal. Each is an induction or a term that the goal does not
show, so that neither its shape nor a fact applied forward leads there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from nanoproof.policy import printed_types as printed
from nanoproof.policy.number_steps import NUMBERS
from nanoproof.policy.polynomials import is_numeral
from nanoproof.policy.printed_types import Argument, Fact, Tokens
from nanoproof.policy.recursion_steps import closing_cases, in_list
from nanoproof.policy.statement_definitions import KNOWN, Definitions, application

_BY_INDUCTION = "by intro {names} <;> induction {over} <;> grind"
_DIAGONALS: dict[Tokens, str] = {("Prop",): "¬ {value}", ("Nat",): "{value} + 1", ("ℕ",): "{value} + 1"}
"""What differs from a value of each type."""
_MODULI = (3, 2, 4, 5)
"""Remainders by these are what exercises about reachable numbers keep."""


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
                following = {variable: (variable, "+", "1")}
                grows = printed.instance(left, following) == right  # `f n < f (n + 1)`
                falls = printed.instance(right, following) == left  # `f (n + 1) < f n`
                value = left if grows else right
                at_i = printed.text_of(printed.instance(value, {variable: (i,)}))
                at_j = printed.text_of(printed.instance(value, {variable: (j,)}))
                at_0 = printed.text_of(printed.instance(value, {variable: ("0",)}))
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
            names = fact.names
            renamed = {name: (variable,) for name, variable in zip(names, variables)}
            if len(names) == len(variables) and printed.instance(fact.conclusion, renamed) == wanted:
                return True
        return False

    def generalized(self, definitions: Definitions, functions: Sequence[str]) -> Iterator[str]:
        """Yield the lemmas that inductions over lists and trees lack: for any accumulator, and for lists put together.

        Of `sumAcc l 0 = total l` an induction knows nothing of `sumAcc l x`; of `total (rev l) = total l` nothing of
        `total (rev l ++ [x])`. `functions` are those that the goal or a hypothesis has.
        """
        rules = in_list(definitions.rules(functions))
        proof = f"induction {{over}} <;> simp_all{rules} <;> first | omega | grind"
        new, a, left, right = self._fresh("h", "a", "l", "m")
        for claim in self._with_accumulator(functions, a):
            for variable, type_ in self._newest:
                recursive = definitions.inductive(type_)
                is_known = self._is_known(printed.text_of(claim), variable, a)
                if variable in claim and recursive is not None and not printed.is_proposition(type_) and not is_known:
                    text = f"∀ ({variable} : {printed.text_of(type_)}) {a}, {printed.text_of(claim)}"
                    by_induction = proof.format(over=variable)
                    yield f"have {new} : {text} := by intro {variable} <;> {by_induction}"
        yield from self._of_programs(definitions, functions)
        yield from self._of_parity(definitions, functions)
        yield from self._of_every(definitions)
        has_lists = definitions.appends or any("++" in token or "reverse" in token for token in self._target)
        for function, signature in definitions.signatures:
            if has_lists and function in functions:
                for claim_text in _of_appended(function, signature, left, right, self._fresh, definitions):
                    yield f"have {new} : {claim_text} := by intro {left} <;> {proof.format(over=left)}"

    def _with_accumulator(self, functions: Sequence[str], new: str) -> Iterator[Tokens]:
        """Yield the equation that is the goal with a variable for `[]`, `0` or `1`, with which a function begins."""
        sides = printed.split_at(self._target, ("=",))
        if len(sides) != 2 or not printed.is_term(self._target, ("=",)):
            return
        for begun, value in (sides, sides[::-1]):
            arguments = application(begun[1:])
            if not begun or begun[0] not in functions or len(arguments) < 2:
                continue
            for start, operation in ((("[", "]"), "++"), (("0",), "+"), (("1",), "*")):
                if start not in arguments:
                    continue
                varied = [(new,) if argument == start else printed.in_brackets(argument) for argument in arguments]
                result = (*printed.in_brackets(value), operation, new)
                if value[:1] == ("[",) and operation == "++":
                    result = (*printed.in_brackets(value[1:-1]), "::", new)
                yield (begun[0], *chain.from_iterable(varied), "=", *result)

    def _of_programs(self, definitions: Definitions, functions: Sequence[str]) -> Iterator[str]:
        """Yield the proof that a compiled program leaves a value on its stack, whatever follows and whatever is there.

        Of `exec (compile e) [] = [eval e]` the cases of `e` are about `exec (compile a ++ compile b ++ [add]) []`,
        of which that statement says nothing: `∀ l s, exec (compile e ++ l) s = exec l (eval e :: s)` does.
        """
        sides = printed.sides(self._target, "=")
        if sides is None or not definitions.appends or printed.in_induction(dict(self._newest)):
            return
        # `exec` recurs on the program, which is what a function to lists gives: `compile e`.
        machine, arguments = sides[0][0], application(sides[0][1:])
        place = dict(definitions.recursive_places).get(machine, len(arguments))
        if place >= len(arguments) or len(arguments) < 2:
            return
        program = arguments[place]
        compiler = dict(definitions.signatures).get(program[0])
        if program[0] not in functions or compiler is None or compiler.conclusion[:1] != ("List",):
            return
        new, rest, stack = self._fresh("h", "l", "s")
        final_stack = sides[1]
        if final_stack[0] == "some":
            final_stack = printed.stripped(final_stack[1:])
        if final_stack[0] != "[" and "::" not in final_stack:
            return
        starts_empty = final_stack[0] == "[" and ("[", "]") in arguments
        # The arguments before the program has run and after it; what the claim is about all of, and its values here.
        before: list[Tokens] = []
        after: list[Tokens] = []
        variables, values = [rest], ["[]"]
        for argument in arguments:
            if argument == program:
                before.append((*printed.in_brackets(program), "++", rest))
                after.append((rest,))
            elif not starts_empty:  # the goal has a stack already: `exec (compile e) s = eval e :: s`
                before.append(argument)
                after.append(final_stack)
                if len(argument) == 1 and argument[0] in final_stack:
                    variables.append(argument[0])
                    values.append(argument[0])
            elif argument == ("[", "]"):
                before.append((stack,))
                after.append((*printed.in_brackets(final_stack[1:-1]), "::", stack))
                variables.append(stack)
                values.append("[]")
            else:
                before.append(argument)  # an environment, say, is the same all along
                after.append(argument)
        names = " ".join(variables)
        left = " ".join([machine, *map(printed.argument_text, before)])
        right = " ".join([machine, *map(printed.argument_text, after)])
        rules = in_list([*definitions.rules(functions), *definitions.helpers_of(functions)])
        proof = f"(by induction {program[-1]} <;> intro {names} <;> simp_all{rules})"
        claim = f"∀ {names}, {left} = {right}"
        computing = in_list(definitions.equations([machine]))
        yield f"have {new} : {claim} := {proof} <;> simpa{computing} using {new} {' '.join(values)}"

    def _of_parity(self, definitions: Definitions, functions: Sequence[str]) -> Iterator[str]:
        """Yield what a function from numbers to `Bool` says that alternates, as `isEven` does: it tells even from odd.

        By an induction over `n` and `n + 1` where it recurs on `n + 2`.
        """
        n, new = self._fresh("n", "h")
        for function, signature in definitions.signatures:
            is_of_one = len(signature.arguments) == 1 and signature.arguments[0].type in NUMBERS
            is_test = is_of_one and signature.conclusion == ("Bool",)
            if function not in functions or not is_test or printed.in_induction(dict(self._newest)):
                continue
            for remainder in (0, 1):
                claim = f"{function} {n} = true ↔ {n} % 2 = {remainder}"
                if function in definitions.by_two:
                    claim = f"({claim}) ∧ ({function} ({n} + 1) = true ↔ ({n} + 1) % 2 = {remainder})"
                if not self._is_known(claim, n):
                    grind = f"grind{in_list(definitions.rules([function]))}"
                    yield f"have {new} : ∀ {n}, {claim} := by intro {n} <;> induction {n} <;> {grind}"

    def _of_every(self, definitions: Definitions) -> Iterator[str]:
        """Yield that what holds of a value and of every one in a tree holds of every one once the value is put there.

        With `Every p t` for "all in `t` have `p`": of that is an order made that the statement's functions keep.
        """
        new, p, t = self._fresh("h", "p", "t")
        signatures, types = dict(definitions.signatures), dict(self._newest)
        for every, of_every in definitions.signatures:
            kinds = [argument.type for argument in of_every.arguments if argument.explicit]
            is_every = len(kinds) == 2 and kinds[0][-2:] == ("→", "Prop") and of_every.conclusion == ("Prop",)
            if not is_every:
                continue
            for place, function in enumerate(self._target):
                signature = signatures.get(function)
                arguments = printed.arguments_of(self._target, place)
                if signature is None or signature.conclusion != kinds[1] or len(arguments) != 2:
                    continue
                value, type_ = arguments[0][0], types.get(arguments[0][0])
                # Its type is written: of `p x` alone Lean does not know that `p` is a function.
                if type_ is None or len(arguments[0]) > 1 or arguments[1][0] not in types:
                    continue
                claim = f"{p} {value} → {every} {p} {t} → {every} {p} ({function} {value} {t})"
                if not self._is_known(claim, p, t):
                    rules = in_list(definitions.rules([every, function]))
                    proof = f"intro {p} {t} <;> induction {t} <;> {closing_cases(rules, splits=True)}"
                    yield f"have {new} : ∀ ({p} : {printed.text_of(type_)} → Prop) {t}, {claim} := by {proof}"

    def polarities(self, definitions: Definitions, functions: Sequence[str]) -> Iterator[str]:
        """Yield both claims where a function pushes a negation inwards: for `true` the value, for `false` its negation.

        The cases of a negation are about the other one.
        """
        sides = printed.sides(self._target, "=")
        if sides is None or not sides[1] or printed.in_induction(dict(self._newest)):
            return
        # `eval (push true e) = eval e`, of which the other claim is `eval (push false e) = !eval e`.
        pushed, value = sides
        evaluation = dict(definitions.signatures).get(value[0])
        gives_bool = evaluation is not None and evaluation.conclusion == ("Bool",)
        if pushed.count("true") != 1 or value[0] not in functions or not gives_bool:
            return
        negated = (*printed.instance(pushed, {"true": ("false",)}), "=", "!", *printed.in_brackets(value))
        rules = in_list(definitions.rules(functions))
        for variable, type_ in self._newest:
            if variable in pushed and definitions.inductive(type_) not in (None, *KNOWN):
                both = f"{printed.text_of(self._target)} ∧ {printed.text_of(negated)}"
                yield f"refine (?_ : {both}).1 <;> induction {variable} <;> simp_all{rules}"

    def common_divisors(self) -> Iterator[str]:
        """Yield that a greatest common divisor divides both numbers, or what it is to divide it."""
        known = dict.fromkeys(type_ for _, type_ in self._newest)  # in order: steps are the same in every process
        left, right = self._fresh("h", "h")
        for type_ in (self._target, *known):
            for place, token in enumerate(type_):
                numbers = application(type_[place + 1 :])[:2] if token == "Nat.gcd" else []
                if len(numbers) < 2 or printed.bound_names(type_).intersection(*numbers):
                    continue
                divisor = (token, *printed.in_brackets(numbers[0]), *printed.in_brackets(numbers[1]))
                if (*divisor, "∣", *numbers[0]) not in known:
                    first, second = printed.argument_text(numbers[0]), printed.argument_text(numbers[1])
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
            ab, bc, ac = f"{head} {a} {b}", f"{head} {b} {c}", f"{head} {a} {c}"
            rules = ", ".join(relation.rules)
            either = f"(induction {first} <;> grind [{rules}]) | (induction {second} <;> grind [{rules}])"
            if not self._is_known(ac, a, b, c):
                proof = f"by intro {a} {b} {c} {first} {second} <;> first | {either}"
                yield f"have {new} : ∀ {a} {b} {c}, {ab} → {bc} → {ac} := {proof}"
            constructors = []
            for constructor, _, _ in relation.constructors:
                constructors.append(f"apply {relation.name}.{constructor}")
            by_rule = f"first | {' | '.join(constructors)}"
            for argument in arguments[:-2]:
                # A step is a path: `grind` has no pattern for the rule that closes it, `Path x x`.
                step = f"{printed.text_of(argument)} {a} {b}"
                if len(argument) == 1 and not self._is_known(ab, a, b):
                    proof = f"by intro {a} {b} {first} <;> {by_rule} <;> first | assumption | ({by_rule})"
                    yield f"have {new} : ∀ {a} {b}, {step} → {ab} := {proof}"

    def inverses(self) -> Iterator[str]:
        """Yield what an equation of values says once a function that takes them back is applied to both sides."""
        if printed.sides(self._target, "=") is None:
            return
        for name, type_ in self._newest:
            values = printed.sides(type_, "=")
            if values is None or values[0][:1] != values[1][:1] or len(values[0]) < 2:
                continue
            for fact_name, known in self._newest:
                # `∀ x, f (g x) = x`
                takes_back = printed.sides(printed.read_fact(known).conclusion, "=")
                if known[:1] != ("∀",) or takes_back is None:
                    continue
                applied, variable = takes_back
                inner = printed.stripped(applied[1:])
                is_inverse = len(variable) == 1 and inner[-1:] == variable and len(applied) > 2
                if is_inverse and inner[:1] == values[0][:1]:
                    yield f"simpa [{fact_name}] using congrArg {applied[0]} {name}"

    def lengths(self) -> Iterator[str]:
        """Yield what an equation of lists says of their lengths, by which `l ++ m = m` has no first part."""
        new = self._fresh("h")[0]
        for name, type_ in self._newest:
            if printed.sides(type_, "=") is not None and "++" in type_:
                lengths = "List.length_append, List.length_cons, List.length_nil"
                fact = f"have {new} := congrArg List.length {name} <;> simp only [{lengths}] at {new}"
                empty = printed.sides(self._target, "=")
                if empty is not None and empty[1] == ("[", "]") and len(empty[0]) == 1:
                    yield f"{fact} <;> cases {empty[0][0]} <;> simp_all <;> omega"
                yield fact

    def _moved(self, type_: Tokens) -> str | None:
        """Return a function of the context from a type to itself, of which Lawvere's theorem finds a fixed point."""
        for name, of_function in self._newest:
            if of_function == (*type_, "→", *type_):
                return f"{name} ({{value}})"
        return None

    def invariants(self, definitions: Definitions) -> Iterator[str]:
        """Yield that a predicate by rules does not hold of a numeral: its rules never give such a remainder."""
        inductive = definitions.predicate(self._target[1:]) if self._target[:1] == ("¬",) else None
        arguments = application(self._target[2:])
        if inductive is None or len(arguments) != 1 or not is_numeral(arguments[0]):
            return
        n, holds = self._fresh("n", "h")
        numeral = int(arguments[0][0])
        ways = []
        for modulus in _MODULI:
            # Each rule keeps the remainder away, which is arithmetic; at the numeral the two sides are the same.
            by_rules = f"by induction {holds} <;> omega : {n} % {modulus} ≠ {numeral % modulus}"
            claim = f"fun {n} ({holds} : {inductive.name} {n}) => ({by_rules})"
            ways.append(f"exact fun {holds} => ({claim}) {numeral} {holds} rfl")
        for pair in zip(ways[::2], ways[1::2]):
            yield f"first | {' | '.join(pair)}"

    def diagonal(self) -> Iterator[str]:
        """Yield the contradiction where a hypothesis says that each function on a type has a number, or name, of it."""
        x, a, ha, new = self._fresh("x", "a", "ha", "h")
        for name, type_ in self._newest:
            fact = printed.read_fact(type_)
            if len(fact.arguments) != 1 or fact.conclusion[:1] != ("∃",):
                continue
            function = fact.arguments[0]
            bound, body = printed.read_binders(fact.conclusion[1:])
            differs = _DIAGONALS.get(function.type[-1:]) or self._moved(function.type[-1:])
            if len(bound) != 1 or "→" not in function.type or differs is None:
                continue
            # `f a = p`, or at each value: `∀ x, f a x ↔ p x`.
            at_each = printed.read_fact(body)
            values = tuple(argument.name for argument in at_each.arguments)
            sides = printed.split_at(at_each.conclusion, ("=", "↔"))
            own = (function.name, *values)
            if len(values) > 1 or len(sides) != 2 or own not in sides:
                continue
            listed = sides[1 - sides.index(own)]
            if listed[-1 - len(values) :] != (bound[0].name, *values):
                continue
            head = printed.text_of(listed[: -1 - len(values)])
            other = differs.format(value=f"{head} {x} {x}")
            value = f"{ha} {a}" if values else f"congrFun {ha} {a}"
            ends = f"exact ⟨_, {new}.symm⟩" if self._target[:1] == ("∃",) else "grind"
            yield f"obtain ⟨{a}, {ha}⟩ := {name} (fun {x} => {other}) <;> have {new} := {value} <;> {ends}"


def _of_appended(
    function: str, signature: Fact, left: str, right: str, fresh: Callable[..., list[str]], definitions: Definitions
) -> Iterator[str]:
    """Yield what a function on lists may say of two that are put together, by what it gives."""
    explicit: list[Argument] = []
    lists: list[int] = []
    for argument in signature.arguments:
        if argument.explicit:
            if argument.type[:1] == ("List",):
                lists.append(len(explicit))
            elif definitions.inductive(argument.type) not in (None, *KNOWN):
                return  # what recurs on a tree does not take the list apart that it has beside it
            explicit.append(argument)
    if len(lists) != 1 or len(explicit) > 2:
        return
    others = fresh(*["x"] * (len(explicit) - 1))

    def applied(list_: str, other: Sequence[str] = others) -> str:
        terms = list(other)
        terms.insert(lists[0], list_)
        return " ".join([function, *terms])

    variables = " ".join([f"({left} {right} : {printed.text_of(explicit[lists[0]].type)})", *others])
    both = f"∀ {variables}, {applied(f'({left} ++ {right})')}"
    given = signature.conclusion
    if others and given == explicit[1 - lists[0]].type:
        yield f"{both} = {applied(right, [f'({applied(left)})'])}"
    elif given in NUMBERS:
        yield f"{both} = {applied(left)} + {applied(right)}"
    elif given[:1] == ("List",):
        yield f"{both} = {applied(left)} ++ {applied(right)}"
        yield f"{both} = {applied(right)} ++ {applied(left)}"
    elif given == ("Prop",):
        yield f"{both} ↔ {applied(left)} ∧ {applied(right)}"
