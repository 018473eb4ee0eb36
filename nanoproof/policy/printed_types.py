"""Types as Lean prints them, taken apart by their text: quantifiers, premises, conclusion, and what fits what.

Nothing here knows Lean's elaborator, so that it works with any server. What fits by its text may still be refused; a
guess costs one tactic, and Lean has the last word.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nanoproof.lean.lexical import ATOM, CLOSING, OPENING

Tokens = tuple[str, ...]

_NAME = rf"{ATOM}✝?[⁰¹²³⁴⁵⁶⁷⁸⁹]*(?:\.{ATOM})*"
_TOKEN = re.compile(rf"{_NAME}|\?{ATOM}|\d+|:=|=>|\.\{{|!=|==|&&|\|\||<\||\|>|::|\+\+|[^\s\w]|\S")
_WORDS = ("if", "then", "else", "match", "with", "let", "fun")
"""Words that are no parts of terms beside them."""
_BINDERS = ("∀", "∃", "∃!", "fun", "λ", "Σ", "∑", "∏")
"""What reaches to the end of its parentheses, with every arrow and relation behind it."""
RELATIONS = ("=", "≠", "<", "≤", ">", "≥", "∣", "↔", "∈", "⊆")
CONNECTIVES = ("∧", "∨", "→")
LONGEST_RUN = 24
"""Tokens that a variable of a pattern may stand for: longer ones are seldom what is meant, and matching stays cheap."""


@lru_cache(maxsize=4096)  # the hypotheses of a state are mostly those of the state before
def tokens_of(text: str) -> Tokens:
    """Split the text of a type into names, numerals, brackets and symbols."""
    return tuple(_TOKEN.findall(text))


def is_name(token: str) -> bool:
    """Tell whether a token is a name that a tactic can write: inaccessible ones (`x✝`) cannot."""
    return re.fullmatch(rf"{ATOM}(?:\.{ATOM})*", token) is not None


def text_of(tokens: Sequence[str]) -> str:
    """Write tokens as Lean prints them: spaces but inside of brackets and before commas."""
    text = ""
    for token in tokens:
        # A field of what is in brackets, such as `(f x).length`, is a token of its own, and so is its dot.
        closes = token in (*CLOSING, ",", ".") or text.endswith(".")
        if text and not closes and text[-1] not in OPENING and text[-1] != "¬" and text[-1] != "↑":
            text += " "
        text += token
    return text


def undotted(tokens: Tokens, functions: Sequence[str]) -> Tokens:
    """Write applications of dotted functions, which Lean prints as `t.size` and `(f x).size k`, as `Tree.size t`.

    So that what a statement defines is found by its name. Names that begin with a capital are namespaces, no values.
    """
    by_field = {name.rpartition(".")[2]: name for name in functions if "." in name}
    written: list[str] = []
    places: list[int] = []  # where the brackets that are open begin in what is written
    last_begin = 0
    for place, token in enumerate(tokens):
        parts = token.split(".")
        value, fields = parts[0], parts[1:]
        if token in OPENING:
            places.append(len(written))
        elif token in CLOSING and places:
            last_begin = places.pop()
        is_behind_brackets = tokens[max(place - 2, 0) : place] == (")", ".")
        if is_behind_brackets and not by_field.keys().isdisjoint(parts):
            applied = _applied_to(written[last_begin:-1], parts, by_field)
            if last_begin and _ends_term(written[last_begin - 1]):
                applied = ["(", *applied, ")"]
            written[last_begin:] = applied
        elif value and not value[0].isupper() and not by_field.keys().isdisjoint(fields):
            applied = _applied_to([value], fields, by_field)
            if written and _ends_term(written[-1]):
                applied = ["(", *applied, ")"]  # an argument itself
            written += applied
        else:
            written.append(token)
    return tuple(written)


def _applied_to(value: Sequence[str], fields: Sequence[str], by_field: Mapping[str, str]) -> list[str]:
    """Write the fields of a value, each applied to what is before it: `(Tree.toList t).length`."""
    applied = list(value)
    for field in fields:
        if field in by_field:
            applied = [by_field[field], *in_brackets(tuple(applied))]
        elif len(applied) == 1:
            applied = [f"{applied[0]}.{field}"]
        else:
            applied = [*in_brackets(tuple(applied)), ".", field]
    return applied


def argument_text(tokens: Sequence[str]) -> str:
    """Write tokens as an argument: in parentheses, unless they are one token or in brackets already."""
    text = text_of(tokens)
    if len(tokens) == 1 or _is_bracketed(tuple(tokens)):
        return text
    return f"({text})"


def _ends_term(token: str) -> bool:
    return token in CLOSING or (token[-1].isalnum() and token not in _WORDS)


def _begins_term(token: str) -> bool:
    return token in OPENING or (token[0].isalnum() and token not in _WORDS)


def in_induction(names: Iterable[str]) -> bool:
    """Tell whether hypotheses of these names are in a case of an induction: it has an `ih`."""
    return any(name.startswith("ih") for name in names)


def mentioned(tokens: Tokens) -> frozenset[str]:
    """Return the names in a text; of `xs.length` it is `xs` that a tactic is about, or `xs.length` as a whole."""
    names = set(tokens)
    for token in tokens:
        names.add(token.partition(".")[0])
    return frozenset(names)


def bound_names(tokens: Tokens) -> frozenset[str]:
    """Return the names that quantifiers and functions inside of a text bind: outside of them they mean nothing."""
    names: set[str] = set()
    binding = False
    for token in tokens:
        if token in _BINDERS:
            binding = True
        elif token in (",", "=>", "↦"):
            binding = False
        elif binding and is_name(token):
            names.add(token)
    return frozenset(names)


def _is_bracketed(tokens: Tokens) -> bool:
    return bool(tokens) and tokens[0] in OPENING and closing(tokens, 0) == len(tokens) - 1


def stripped(tokens: Tokens) -> Tokens:
    """Remove parentheses around all of it."""
    while tokens and tokens[0] == "(" and closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def in_brackets(tokens: Tokens) -> Tokens:
    """Put parentheses around what is more than one token."""
    return tokens if len(tokens) == 1 or _is_bracketed(tokens) else ("(", *tokens, ")")


def joined(symbol: str, terms: Sequence[Tokens]) -> Tokens:
    """Put a connective between terms, each in brackets if it has more than relations."""
    tokens: list[str] = []
    for term in terms:
        if tokens:
            tokens.append(symbol)
        tokens += term if is_term(term, [relation for relation in RELATIONS if relation != "↔"]) else in_brackets(term)
    return tuple(tokens)


def closing(tokens: Tokens, start: int) -> int:
    """Return the place of the bracket that closes the one at `start`; the end if there is none."""
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place] in OPENING) - (tokens[place] in CLOSING)
        if depth == 0:
            return place
    return len(tokens)


def split_at(tokens: Tokens, symbols: Sequence[str], most: int = -1) -> list[Tokens]:
    """Split at symbols outside of brackets and before any binder, at most so often (-1: at all)."""
    parts: list[Tokens] = []
    start = depth = 0
    for place, token in enumerate(tokens):
        if depth == 0 and token in _BINDERS:
            break
        depth += (token in OPENING) - (token in CLOSING)
        if depth == 0 and token in symbols and most != len(parts):
            parts.append(tokens[start:place])
            start = place + 1
    return [*parts, tokens[start:]]


def is_term(tokens: Tokens, allowed: Sequence[str] = ()) -> bool:
    """Tell whether a text has no connective, relation or binder outside of brackets, but for those allowed."""
    depth = 0
    for token in tokens:
        depth += (token in OPENING) - (token in CLOSING)
        if depth == 0 and token in (*_NOT_IN_TERMS, "¬") and token not in allowed:
            return False
    return True


def sides(type_: Tokens, relation: str) -> tuple[Tokens, Tokens] | None:
    """Return the two sides of a relation, None for what is none."""
    parts = split_at(type_, (relation,))
    if len(parts) != 2 or not is_term(type_, (relation,)):
        return None
    return stripped(parts[0]), stripped(parts[1])


def both_ways(sides: Sequence[Tokens] | None) -> Sequence[tuple[Tokens, Tokens]]:
    """Return the two sides of an equation as (left, right) and as (right, left); nothing for what has not two."""
    if sides is None or len(sides) != 2:
        return ()
    left, right = sides
    return (left, right), (right, left)


def factors(product: Tokens) -> list[Tokens]:
    """Return what a product is made of; of a term that is none itself."""
    if len(split_at(stripped(product), ("+", "-"))) > 1:
        return [stripped(product)]
    parts = []
    for factor in split_at(stripped(product), ("*",)):
        parts.append(stripped(factor))
    return parts


def arguments_of(tokens: Tokens, place: int) -> list[Tokens]:
    """Return what the function at a place is applied to: the terms right behind it, without their parentheses."""
    arguments: list[Tokens] = []
    start = place + 1
    while start < len(tokens) and _begins_term(tokens[start]):
        end = closing(tokens, start) + 1 if tokens[start] in OPENING else start + 1
        arguments.append(stripped(tokens[start:end]))
        start = end
    return arguments


# -- Facts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Argument:
    """What a fact is applied to: a variable with its name, or a premise without one."""

    name: str
    type: Tokens
    explicit: bool = True


@dataclass(frozen=True)
class Fact:
    """`∀ x, P x → Q x`: what it is applied to, and what it then says."""

    arguments: tuple[Argument, ...]
    conclusion: Tokens

    @property
    def names(self) -> list[str]:
        """The names of its variables, in their order."""
        return [argument.name for argument in self.arguments if argument.name]

    @property
    def variables(self) -> frozenset[str]:
        """The names of its variables."""
        return frozenset(argument.name for argument in self.arguments if argument.name)

    @property
    def premises(self) -> list[Argument]:
        """Its explicit premises, in order."""
        return [argument for argument in self.arguments if not argument.name and argument.explicit]


_GROUPS = {"(": True, "{": False, "⦃": False, "[": False}
"""Brackets around binders, and whether what they bind is written where the fact is applied."""


def read_fact(tokens: Tokens) -> Fact:
    """Take quantifiers and premises off a proposition; a negation has one premise and says `False`."""
    arguments: list[Argument] = []
    rest = stripped(tokens)
    # In turn, as both may follow each other: `∀ x, P x → ∀ y, Q y`.
    while True:
        if rest[:1] == ("∀",):
            bound, rest = read_binders(rest[1:])
            arguments += bound
            continue
        premise_and_rest = split_at(rest, ("→",), 1)
        if len(premise_and_rest) == 2:
            arguments.append(Argument("", stripped(premise_and_rest[0])))
            rest = stripped(premise_and_rest[1])
            continue
        break
    if rest[:1] == ("¬",) and len(split_at(rest, ("∧", "∨", "↔"))) == 1:
        return Fact((*arguments, Argument("", stripped(rest[1:]))), ("False",))
    sides = split_at(rest, ("≠",), 1)
    if len(sides) == 2 and len(split_at(rest, ("∧", "∨", "↔"))) == 1:
        return Fact((*arguments, Argument("", (*sides[0], "=", *sides[1]))), ("False",))
    return Fact(tuple(arguments), rest)


def read_declared(code: str) -> Fact | None:
    """Read the statement of a theorem's code, `theorem t {a b : Nat} (h : a < b) : a ≤ b`; None for other texts."""
    tokens = tokens_of(code)
    if tokens[:1] not in (("theorem",), ("lemma",), ("axiom",)):
        return None
    # Behind the keyword and the name.
    place = 2
    arguments: list[Argument] = []
    while place < len(tokens) and tokens[place] in (*_GROUPS, ".{"):
        if tokens[place] == ".{":
            # Names of universes, which hold no bracket themselves.
            if "}" not in tokens[place:]:
                return None
            end = tokens.index("}", place)
        else:
            end = closing(tokens, place)
            arguments += _read_group(tokens[place : end + 1])
        place = end + 1
    if tokens[place : place + 1] != (":",):
        return None
    claim = split_at(tokens[place + 1 :], (":=",), 1)[0]
    inner = read_fact(claim)
    return Fact((*arguments, *inner.arguments), inner.conclusion)


def read_binders(tokens: Tokens) -> tuple[list[Argument], Tokens]:
    """Read what stands between `∀` and its comma; returns it with what follows the comma."""
    depth = 0
    comma = len(tokens)
    for place, token in enumerate(tokens):
        depth += (token in OPENING) - (token in CLOSING)
        if depth == 0 and token == ",":
            comma = place
            break
    head, rest = tokens[:comma], stripped(tokens[comma + 1 :])
    if head and head[0] in _GROUPS:
        arguments: list[Argument] = []
        place = 0
        while place < len(head) and head[place] in _GROUPS:
            end = closing(head, place)
            arguments += _read_group(head[place : end + 1])
            place = end + 1
        return arguments, rest
    names = head
    type_: Tokens = ()
    if ":" in head:
        colon = head.index(":")
        names, type_ = head[:colon], head[colon + 1 :]
    elif len(head) > 2 and head[1] in RELATIONS:
        # `∀ x < n, ..` binds a variable and has a premise about it.
        return [Argument(head[0], ()), Argument("", head)], rest
    return [Argument(name, type_) for name in names], rest


def _read_group(tokens: Tokens) -> list[Argument]:
    """Read `(x y : T)`, `{x : T}` or `[inst : C]`. A name whose type is a relation is that of a premise."""
    explicit, inner = _GROUPS[tokens[0]], tokens[1:-1]
    if ":" not in inner or tokens[0] == "[":
        return [Argument("", inner, explicit)]
    colon = inner.index(":")
    type_ = inner[colon + 1 :]
    if is_proposition(type_):
        return [Argument("", type_, explicit) for _ in inner[:colon]]
    return [Argument(name, type_, explicit) for name in inner[:colon]]


def is_proposition(tokens: Tokens) -> bool:
    """Tell whether a type is surely a proposition: it has a relation, a connective, or a quantifier."""
    signs = (*RELATIONS, "∧", "∨", "¬", "∃", "∉")
    return any(token in signs for token in tokens) or tokens[:1] == ("∀",)


# -- Fitting ---------------------------------------------------------------------------------------------------------


def fit(
    pattern: Tokens, target: Tokens, variables: frozenset[str], known: Mapping[str, Tokens]
) -> dict[str, Tokens] | None:
    """Return what the variables of a pattern stand for where it is the target; None where it cannot be.

    A variable stands for a run of tokens with all of its brackets; `known` says what some stand for already.
    """
    return _fit(pattern, 0, target, 0, variables, dict(known))


def _fit(
    pattern: Tokens, at: int, target: Tokens, place: int, variables: frozenset[str], known: dict[str, Tokens]
) -> dict[str, Tokens] | None:
    while at < len(pattern):
        token = pattern[at]
        if token in variables:
            value = known.get(token)
            if value is None:
                return _fit_variable(pattern, at, target, place, variables, known)
            # The same term is printed with parentheses as an argument and without them beside a relation.
            for written in (value, ("(", *value, ")")):
                if target[place : place + len(written)] == written:
                    place += len(written)
                    break
            else:
                return None
        elif target[place : place + 1] == (token,):
            place += 1
        else:
            return None
        at += 1
    if place == len(target):
        return known
    return None


def _fit_variable(
    pattern: Tokens, at: int, target: Tokens, place: int, variables: frozenset[str], known: dict[str, Tokens]
) -> dict[str, Tokens] | None:
    """Try what the variable at a place may stand for, shorter runs first."""
    # Propositions are what variables such as `{p q : Prop}` stand for, which are all of the pattern or of its sides.
    whole = at == 0 and len(pattern) == 1
    for end in _runs(target, place, terms=not whole):
        value = stripped(target[place:end])
        if not value:
            continue
        fitted = _fit(pattern, at + 1, target, end, variables, {**known, pattern[at]: value})
        if fitted is not None:
            return fitted
    return None


_NOT_IN_TERMS = (*RELATIONS, *CONNECTIVES, *_BINDERS, ",", ":=")
"""What an argument holds in brackets only: a run with one of them is a proposition, or a part of one."""


def _runs(tokens: Tokens, start: int, terms: bool) -> Iterator[int]:
    """Yield the ends of the runs from a place on in which all brackets are closed; of `terms` alone, if so."""
    depth = 0
    for place in range(start, min(len(tokens), start + LONGEST_RUN)):
        token = tokens[place]
        depth += (token in OPENING) - (token in CLOSING)
        if depth < 0 or (terms and depth == 0 and token in _NOT_IN_TERMS):
            return
        if depth == 0:
            yield place + 1


def occurrences(
    pattern: Tokens, target: Tokens, variables: frozenset[str], known: Mapping[str, Tokens]
) -> Iterator[dict[str, Tokens]]:
    """Yield what the variables stand for where a pattern is a part of the target, from left to right.

    A part begins at a token and has all of its brackets. A pattern that is a variable alone is everywhere, and nowhere
    here.
    """
    if not pattern or (len(pattern) == 1 and pattern[0] in variables):
        return
    is_argument = len(pattern) == 1 or _is_bracketed(pattern)
    for start in range(len(target)):
        # Most places differ in their first token, which is cheap to see.
        if pattern[0] not in variables and target[start] != pattern[0]:
            continue
        # `f e` is no part of `g f e x`, but its arguments are.
        if start > 0 and not is_argument and _ends_term(target[start - 1]):
            continue
        for end in _runs(target, start, terms=False):
            if end < len(target) and not is_argument and _begins_term(target[end]):
                continue
            fitted = fit(pattern, target[start:end], variables, known)
            if fitted is not None:
                yield fitted
                break


def instance(tokens: Tokens, values: Mapping[str, Tokens]) -> Tokens:
    """Put the values of variables into a text."""
    instance: list[str] = []
    for token in tokens:
        value = values.get(token)
        if value is None:
            instance.append(token)
        elif len(value) == 1:
            instance += value
        else:
            instance += ["(", *value, ")"]
    return tuple(instance)
