"""What a statement brings along: its own functions, propositions and inductive types, read from its source."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from nanoproof.lean.declarations import declarations
from nanoproof.lean.lexical import ATOM, OPENING, mask
from nanoproof.policy import printed_types as printed
from nanoproof.policy.printed_types import Argument, Fact, Tokens

_BY_TWO = re.compile(r"\|[^|]*?\+ ?2\b[^|]*?=>|\.succ\.succ\b|\|[^|=]*?::[^|=]*?::[^|=]*?=>")
"""A case of a definition that says a value by those of the two numbers before, or of a list without its first two."""
_CASES = re.compile(r"\n\s*\||:=")
_RULES = re.compile(r"\bwhere\b|\||:=")
_NAME = re.compile(rf"(?<![\w.'«»]){ATOM}(?:\.{ATOM})*")
_CONSTRUCTOR = re.compile(rf"\|\s*(?P<name>{ATOM})(?P<rest>[^|]*)")


@dataclass(frozen=True)
class Inductive:
    """An inductive type: its name and, for each constructor, its name and those of its arguments.

    An argument of the type itself has an induction hypothesis beside it, `recursive` says which have.
    """

    name: str
    constructors: tuple[tuple[str, tuple[str, ...], tuple[bool, ...]], ...]
    is_predicate: bool = False
    """Whether what it makes are propositions: `Even : Nat → Prop`, and not `Tree : Type → Type`."""

    @property
    def rules(self) -> list[str]:
        """The full names of the constructors that have arguments: `grind` finds no pattern in others."""
        return [f"{self.name}.{constructor}" for constructor, arguments, _ in self.constructors if arguments]


KNOWN = (
    Inductive("Nat", (("zero", (), ()), ("succ", ("n",), (True,)))),
    Inductive("ℕ", (("zero", (), ()), ("succ", ("n",), (True,)))),
    Inductive("List", (("nil", (), ()), ("cons", ("x", "xs"), (False, True)))),
    Inductive("Option", (("none", (), ()), ("some", ("x",), (False,)))),
    Inductive("Bool", (("false", (), ()), ("true", (), ()))),
)
"""Types of Lean itself; those of a statement are read from its source."""


@dataclass(frozen=True)
class Proposition:
    """A definition of a proposition, `def Even (n : Nat) : Prop := ∃ k, n = 2 * k`: its variables and what it says."""

    name: str
    variables: tuple[str, ...]
    body: Tokens


@dataclass(frozen=True)
class Definitions:
    """What a statement brings along: its own functions, and its inductive types with those of Lean.

    `propositions` are those functions whose values are one proposition each, `by_two` those that recur on `n + 2` or
    `x :: y :: l`, and `conditional` those that have an `if`. `signatures` are what each function takes and gives, as
    far as they are read; `appends` says whether any of them puts lists together. `recursive_places` are which of its
    explicit arguments a function recurs on. `helpers` are those by cases that do not recur, each with the functions
    that call it, and `nested` those with a pattern inside of another, as in `| plus (num 0) b => ..`. `stated` are
    those functions that are variables of the context, each with the hypotheses that are its equations.
    """

    functions: tuple[str, ...] = ()
    inductives: tuple[Inductive, ...] = KNOWN
    propositions: tuple[Proposition, ...] = ()
    by_two: tuple[str, ...] = ()
    conditional: tuple[str, ...] = ()
    signatures: tuple[tuple[str, Fact], ...] = ()
    appends: bool = False
    recursive_places: tuple[tuple[str, int], ...] = ()
    helpers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    nested: tuple[str, ...] = ()
    stated: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of(cls, source: str) -> "Definitions":
        """Read the definitions that stand before a theorem in its source."""
        masked = mask(source)
        declared = [item for item in declarations(source) if item.keyword in ("def", "abbrev", "inductive")]
        names = {declaration.full_name for declaration in declared}
        inductives: list[Inductive] = []
        texts: dict[str, str] = {}  # of each function what follows its name
        for declaration in declared:
            name = declaration.full_name
            if declaration.keyword == "inductive":
                written = masked[declaration.start : declaration.end]
                inductives.append(_read_inductive(name, _with_full_names(written, name, names)))
            else:
                texts[name] = _with_full_names(masked[declaration.head_end : declaration.end], name, names)
        propositions: list[Proposition] = []
        signatures: dict[str, Fact] = {}
        recursive_places: dict[str, int] = {}
        by_two, conditional, nested = [], [], []
        for name, text in texts.items():
            proposition = _read_proposition(name, text)
            if proposition is not None:
                propositions.append(proposition)
            signature = printed.read_declared(f"axiom c {_CASES.split(text)[0]}")
            if signature is not None:
                signatures[name] = signature
            place = _recursive_place(name, text)
            if place is not None:
                recursive_places[name] = place
            if _BY_TWO.search(text):
                by_two.append(name)
            if "if" in printed.tokens_of(text):
                conditional.append(name)
            if _has_nested_pattern(text):
                nested.append(name)
        return cls(
            functions=tuple(texts),
            inductives=(*inductives, *KNOWN),
            propositions=tuple(propositions),
            by_two=tuple(by_two),
            conditional=tuple(conditional),
            signatures=tuple(signatures.items()),
            appends="++" in "\n".join(texts.values()),
            recursive_places=tuple(recursive_places.items()),
            helpers=_helpers(texts, recursive_places),
            nested=tuple(nested),
        )

    def with_stated(self, types: Mapping[str, Tokens]) -> "Definitions":
        """Return these and the functions that hypotheses define: `(f : Nat → Nat) (hf : ∀ n, f (n + 1) = f n + n)`.

        Such are those with an equation for `n + 1` or `x :: l`; benchmarks state many exercises so.
        """
        places: dict[str, int] = {}
        equations: dict[str, list[str]] = {}
        for hypothesis, type_ in types.items():
            value = printed.split_at(printed.read_fact(type_).conclusion, ("=",))[0]
            if not value or "→" not in types.get(value[0], ()):
                continue
            equations.setdefault(value[0], []).append(hypothesis)
            # What gets smaller: `f (n + 1)` by `f n`, `f (x :: l)` by `f l`.
            for place, argument in enumerate(printed.arguments_of(value, 0)):
                if argument[-2:] == ("+", "1") or "::" in argument:
                    places.setdefault(value[0], place)
        signatures = [(name, printed.read_fact(types[name])) for name in places]
        stated, conditional = [], []
        appends = self.appends
        for name in places:
            stated.append((name, tuple(equations[name])))
            texts = [types[hypothesis] for hypothesis in equations[name]]
            appends = appends or any("++" in text for text in texts)
            if any("if" in text for text in texts):
                conditional.append(name)
        return replace(
            self,
            functions=(*self.functions, *places),
            conditional=(*self.conditional, *conditional),
            signatures=(*self.signatures, *signatures),
            appends=appends,
            recursive_places=(*self.recursive_places, *places.items()),
            stated=tuple(stated),
        )

    def rules(self, functions: Sequence[str]) -> list[str]:
        """Return what `simp_all` and `grind` are given to compute with functions; they know hypotheses already."""
        stated = dict(self.stated)
        return [name for name in functions if name not in stated]

    def equations(self, functions: Sequence[str]) -> list[str]:
        """Return what `simp only` is given to compute with functions."""
        stated = dict(self.stated)
        names: list[str] = []
        for name in functions:
            names += stated.get(name, (name,))
        return names

    def helpers_of(self, functions: Sequence[str]) -> list[str]:
        """Return what computes a part of the values of functions without being one of them, by cases."""
        return [
            name for name, callers in self.helpers if name not in functions and not set(callers).isdisjoint(functions)
        ]

    def inductive(self, type_: Tokens) -> Inductive | None:
        """Return the inductive type that a type is, or a proposition is about; None for others."""
        # A pair `Nat × α` is no number.
        if len(printed.split_at(type_, (*printed.RELATIONS, *printed.CONNECTIVES, "×"))) > 1:
            return None
        for inductive in self.inductives:
            if type_[:1] == (inductive.name,):
                return inductive
        return None

    def predicate(self, type_: Tokens) -> Inductive | None:
        """Return the statement's own inductive predicate that a proposition states; None for others."""
        if not printed.is_term(type_):
            return None
        for inductive in self.inductives:
            if type_[:1] == (inductive.name,) and inductive.is_predicate:
                return inductive
        return None


def _with_full_names(text: str, name: str, names: Container[str]) -> str:
    """Write what a declaration mentions as Lean prints it: inside of `namespace Own`, `Tree` is `Own.Tree`.

    `names` are all that the source declares. Constructors, and values behind a dot, keep the names that they have.
    """
    namespaces = [name]
    while "." in namespaces[-1]:
        namespaces.append(namespaces[-1].rpartition(".")[0])

    def full(match: re.Match[str]) -> str:
        if text[: match.start()].rstrip().endswith("|"):
            return match[0]  # a constructor, declared or in a pattern
        for namespace in namespaces:
            if f"{namespace}.{match[0]}" in names:
                return f"{namespace}.{match[0]}"
        return match[0]

    return _NAME.sub(full, text)


def _read_inductive(name: str, text: str) -> Inductive:
    read: list[tuple[str, Sequence[Argument], Tokens]] = []
    for match in _CONSTRUCTOR.finditer(text):
        # Without a type of its own, as in `| cons (x : Nat) (t : T)`, what stands there is its arguments.
        written = f"axiom c {match['rest']}"
        fact = printed.read_declared(written) or printed.read_declared(f"{written} : {name}")
        read.append((match["name"], fact.arguments, fact.conclusion) if fact is not None else (match["name"], (), ()))
    fixed = _fixed_indices(name, read)
    constructors = []
    for constructor, arguments, _ in read:
        names: list[str] = []
        recursive: list[bool] = []
        for number, argument in enumerate(arguments[fixed:], fixed):
            if argument.explicit:
                names.append(argument.name or f"h{number}")
                recursive.append(name in argument.type)
        constructors.append((constructor, tuple(names), tuple(recursive)))
    header = printed.tokens_of(_RULES.split(text)[0])
    return Inductive(name, tuple(constructors), header[-1:] == ("Prop",))


def _fixed_indices(name: str, constructors: Sequence[tuple[str, Sequence[Argument], Tokens]]) -> int:
    """Count the first indices that Lean makes parameters, as the first of `Le` below: no case of an induction has them.

    `inductive Le : Nat → Nat → Prop | refl : ∀ n, Le n n | step : ∀ m n, Le m n → Le m (n + 1)`. Such an index is the
    argument of that number wherever a constructor names the type (Lean's `inductive.autoPromoteIndices`).
    """
    fixed = 0
    while constructors and all(len(arguments) > fixed for _, arguments, _ in constructors):
        for _, arguments, conclusion in constructors:
            uses = [conclusion, *(argument.type for argument in arguments if argument.type[:1] == (name,))]
            applied = [application(use[1:]) for use in uses]
            if any(len(terms) <= fixed or terms[fixed] != (arguments[fixed].name,) for terms in applied):
                return fixed
        fixed += 1
    return fixed


def _read_proposition(name: str, text: str) -> Proposition | None:
    """Read what follows the name of a definition; None if it is no proposition, or is defined by cases."""
    header, separator, body = text.partition(":=")
    fact = printed.read_declared(f"axiom c {header}")
    if not separator or fact is None or fact.conclusion != ("Prop",):
        return None
    if not all(argument.name for argument in fact.arguments):
        return None
    variables = [argument.name for argument in fact.arguments if argument.explicit]
    return Proposition(name, tuple(variables), printed.stripped(printed.tokens_of(body)))


def _helpers(texts: Mapping[str, str], recursive: Container[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the functions by cases that do not recur, each with the functions that call it; `texts` define them all.

    A call is written by the last name: `plus'` or `x.plus'` for `Expr.plus'`.
    """
    tokens: dict[str, Tokens] = {}
    calls: dict[str, set[str]] = {}
    for name, text in texts.items():
        tokens[name] = printed.tokens_of(text)
        calls[name] = {token.rpartition(".")[2] for token in tokens[name]}
    helpers = []
    for name in texts:
        callers = tuple(other for other in texts if other != name and name.rpartition(".")[2] in calls[other])
        if "|" in tokens[name] and name not in recursive and callers:
            helpers.append((name, callers))
    return tuple(helpers)


def _has_nested_pattern(text: str) -> bool:
    """Tell whether a case of a definition takes apart what is a part already: no induction has such cases."""
    _, *cases = printed.split_at(printed.tokens_of(text), ("|",))
    for case in cases:
        for pattern in printed.split_at(printed.split_at(case, ("=>",), 1)[0], (",",)):
            if pattern[:1] != ("(",) and "(" in pattern:
                return True
    return False


def _recursive_place(name: str, text: str) -> int | None:
    """Return which explicit argument a definition takes apart where it uses its own value; None where it does not.

    `text` follows the name: ` (b : Nat) : Nat → Nat | 0 => 1 | n + 1 => power b n * b` gives 1. Patterns stand for the
    arguments behind the colon, or for those that a `match` names.
    """
    header, *cases = printed.split_at(printed.tokens_of(text), ("|",))
    signature = printed.read_declared(f"axiom c {_CASES.split(text)[0]}")
    if signature is None:
        return None
    named = [argument.name for argument in signature.arguments if argument.explicit and argument.name]
    matched: list[Tokens] = []
    if "match" in header and header[-1] == "with":
        last_match = len(header) - 1 - header[::-1].index("match")
        matched = printed.split_at(header[last_match + 1 : -1], (",",))
    for case in cases:
        patterns_and_value = printed.split_at(case, ("=>",), 1)
        # Inside of `namespace Tree` a function calls itself by its last name, and `t.size` is a call as well.
        calls = [token for token in patterns_and_value[-1] if token.rpartition(".")[2] == name.rpartition(".")[2]]
        if len(patterns_and_value) != 2 or not calls:
            continue
        for column, pattern in enumerate(printed.split_at(patterns_and_value[0], (",",))):
            if len(pattern) == 1 or pattern == ("[", "]"):
                continue  # a variable or a constant: nothing smaller comes out of it
            if not matched:
                return len(named) + column
            scrutinee = printed.text_of(matched[column]) if column < len(matched) else ""
            return named.index(scrutinee) if scrutinee in named else None
    return None


def is_data(definitions: Definitions, type_: Tokens) -> bool:
    """Tell whether a type is one of values: no proposition, also none of the statement's own, and no sort."""
    if printed.is_proposition(unfolded(definitions, type_)) or definitions.predicate(type_) is not None:
        return False
    return type_[:1] not in (("Type",), ("Prop",), ("Sort",))


def unfolded(definitions: Definitions, type_: Tokens) -> Tokens:
    """Replace a statement's own proposition by what it says: `Even (a + b)` by `∃ k, a + b = 2 * k`.

    Others stay as they are. Where a term has a name that the definition binds, it binds another one: `Even k` is
    `∃ k1, k = 2 * k1`.
    """
    type_ = printed.stripped(type_)
    for proposition in definitions.propositions:
        if type_[:1] != (proposition.name,):
            continue
        arguments = application(type_[1:])
        if len(arguments) != len(proposition.variables):
            continue
        renamed: dict[str, Tokens] = {}
        for name in sorted(printed.bound_names(proposition.body).intersection(type_[1:])):
            free = (f"{name}{number}" for number in count(1))
            renamed[name] = (next(new for new in free if new not in type_ and new not in proposition.body),)
        body = printed.instance(proposition.body, renamed)
        return printed.instance(body, dict(zip(proposition.variables, arguments)))
    return type_


def application(tokens: Tokens) -> list[Tokens]:
    """Split what a function is applied to: names, numerals and brackets with all that is in them."""
    arguments: list[Tokens] = []
    while tokens:
        end = 1
        if tokens[0] in OPENING:
            end = printed.closing(tokens, 0) + 1
        arguments.append(printed.stripped(tokens[:end]))
        tokens = tokens[end:]
    return arguments
