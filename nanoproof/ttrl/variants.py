"""Variants of a theorem: statements near it, made by rules, that may be easier, and from whose proofs one can learn.

A variant may be false, stronger or weaker. On NanoLean the rules work on the statement as it is elaborated
(`nanolean.data.variants`), elsewhere on the text of binders and claim, as below. From search trees come goals that were
left open and lemmas that tactics proposed; these are text everywhere. Lean elaborates each before it is attempted.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from typing import Any, NamedTuple, TypeVar

from nanoproof.lean.types import SourceError, Theorem
from nanoproof.search.node import Kind, Node, walk
from nanoproof.ttrl.statements import (
    Binder,
    Statement,
    bound_names,
    goal_statement,
    has_word,
    parse_statement,
    split,
    substitute,
)

T = TypeVar("T")
NUMBERS = ("Nat", "ℕ", "Int", "ℤ")
"""Types whose variables become numbers."""
SEVERAL_CHANGES, OPEN_GOAL, LEMMA, WITH_LEMMA = "several changes", "open goal", "lemma", "goal with lemma"
OF_ONE_VARIANT = 6
"""Variants that are made of one variant at a time: all of a few would be much alike."""
RuleStatement = tuple[str, Statement]
"""The name of a rule, and a statement that it makes."""
RuleSource = tuple[str, str]
"""The name of a rule, and the source of a theorem that it makes."""

# -- Rules on the text of a statement --------------------------------------------------------------------------------


def text_variants(statement: Statement) -> Iterator[RuleStatement]:
    """Yield what one change makes of a statement, with the name of the rule."""
    for rule in (_specialized, _numerals, _subterms, _claims, _hypotheses, _inductions):
        yield from rule(statement)


def _specialized(statement: Statement) -> Iterator[RuleStatement]:
    """Put 0, 1, 2, n + 1 for a number n, and for any variable an earlier one of its type."""
    earlier: list[tuple[str, str]] = []
    for number, binder in enumerate(statement.binders):
        for name in binder.names:
            # A name that is bound once more inside cannot be replaced by looking at words.
            if binder.type and statement.mentions(name, number) and not statement.binds_inside(name):
                if binder.type in NUMBERS:
                    for value in ("0", "1", "2"):
                        yield "specialized", _put(statement, name, value)
                    yield "specialized", _put(statement, name, f"({name} + 1)", keep=True)
                for other, kind in earlier:
                    if kind == binder.type and not statement.binds_inside(other):
                        yield "specialized", _put(statement, name, other)
            earlier.append((name, binder.type))


def _put(statement: Statement, name: str, term: str, keep: bool = False) -> Statement:
    """Put a term for a variable, which is bound no longer unless it is to be kept."""
    binders = []
    for binder in statement.binders:
        names = binder.names
        if not keep:
            names = tuple(bound for bound in names if bound != name)
        # One that never had a name is an instance, `[Group α]`; one that has none left is gone.
        if names or not binder.names:
            binders.append(replace(binder, names=names, type=substitute(binder.type, {name: term})))
    return replace(statement, binders=tuple(binders), claim=substitute(statement.claim, {name: term}))


_NUMERAL = re.compile(r"(?<![\w.'])\d+(?![\w.'])")


def _numerals(statement: Statement) -> Iterator[RuleStatement]:
    """Put a smaller numeral, or a variable, for a numeral, wherever it stands."""
    # A guess: a numeral without a type is `Nat` in Lean, but beside a variable it takes that one's type.
    kind = next((binder.type for binder in statement.binders if binder.type in NUMBERS), "Nat")
    numerals = {match.group() for match in _NUMERAL.finditer(statement.text)}
    for numeral in sorted((numeral for numeral in numerals if int(numeral) >= 2), key=int):
        pattern = rf"(?<![\w.']){numeral}(?![\w.'])"
        for smaller in sorted({int(numeral) - 1, int(numeral) // 2}):
            yield "smaller number", _replaced(statement, pattern, str(smaller))
        name = statement.fresh("m")
        general = _replaced(statement, pattern, name)
        yield "generalized", replace(general, binders=(Binder((name,), kind), *general.binders))


_BRACKETED = re.compile(r"\([^()⟨⟩\[\]{}]*\)")


def _subterms(statement: Statement) -> Iterator[RuleStatement]:
    """Put a variable for a term in brackets that the claim holds twice."""
    claim = statement.claim
    kind = next((binder.type for binder in statement.binders if binder.type in NUMBERS), "_")
    for term, count in Counter(_BRACKETED.findall(claim)).items():
        # Not a binder or a type ascription, not a proposition, nothing that a quantifier inside binds.
        is_free = not bound_names(claim) & set(re.findall(r"\w+", term))
        if count > 1 and ":" not in term and split(term[1:-1]) is None and is_free:
            name = statement.fresh("t")
            binders = (*statement.binders, Binder((name,), kind))
            yield "generalized", replace(statement, binders=binders, claim=claim.replace(term, name))


def _replaced(statement: Statement, pattern: str, text: str) -> Statement:
    binders = tuple(replace(binder, type=re.sub(pattern, text, binder.type)) for binder in statement.binders)
    return replace(statement, binders=binders, claim=re.sub(pattern, text, statement.claim))


def _claims(statement: Statement) -> Iterator[RuleStatement]:
    """State one direction of an iff, one side of a conjunction, an equation swapped, the claim weakened."""
    parts = split(statement.claim)
    if parts is None:
        return
    symbol, left, right = parts

    def stating(claim: str) -> Statement:
        return replace(statement, claim=claim)

    def bracketed(text: str) -> str:
        if split(text) is not None or text[:1] in "∀∃¬":
            return f"({text})"
        return text

    def implication(hypothesis: str, claim: str) -> Statement:
        binder = Binder((statement.fresh("h"),), hypothesis)
        return replace(statement, binders=(*statement.binders, binder), claim=claim)

    if symbol == "↔":
        yield "one direction", implication(left, right)
        yield "one direction", implication(right, left)
    if symbol in ("∧", "∨"):
        yield "one side", stating(left)
        yield "one side", stating(right)
        yield "weakened", stating(f"{bracketed(left)} ∨ {bracketed(right)}")
    if symbol in ("=", "↔", "≠"):
        yield "swapped", stating(f"{bracketed(right)} {symbol} {bracketed(left)}")
    if symbol in ("=", "<"):
        yield "weakened", stating(f"{left} ≤ {right}")
    if symbol == "=":
        yield "weakened", stating(f"{right} ≤ {left}")


def _hypotheses(statement: Statement) -> Iterator[RuleStatement]:
    """Drop a hypothesis, or add one: a number is positive, a number is at most another."""
    for number in range(len(statement.binders)):
        if is_hypothesis(statement, number):
            rest = statement.binders[:number] + statement.binders[number + 1 :]
            yield "hypothesis dropped", replace(statement, binders=rest)
    numbers: list[str] = []
    for binder in statement.binders:
        if binder.type in NUMBERS:
            numbers += binder.names
    numbers = numbers[:4]  # of four variables there are sixteen hypotheses
    hypotheses = [f"0 < {name}" for name in numbers]
    hypotheses += [f"{a} ≤ {b}" for a in numbers for b in numbers if a != b]
    stated = {binder.type for binder in statement.binders}
    for hypothesis in hypotheses:
        if hypothesis not in stated:
            binder = Binder((statement.fresh("h"),), hypothesis)
            yield "hypothesis added", replace(statement, binders=(*statement.binders, binder))


def is_hypothesis(statement: Statement, number: int) -> bool:
    """Tell whether a binder is a proposition, as far as its text says, that nothing behind it mentions."""
    binder = statement.binders[number]
    if binder.opening == "[" or any(statement.mentions(name, number) for name in binder.names):
        return False
    if split(binder.type) is not None or binder.type[:1] in ("∀", "∃", "¬"):
        return True
    # `p`, or `P x`, where the statement has `(p : Prop)` or `(P : α → Prop)`.
    head = re.match(r"\w+", binder.type)
    if head is None:
        return False
    return any(other.type.split()[-1:] == ["Prop"] for other in statement.binders if head[0] in other.names)


def _inductions(statement: Statement) -> Iterator[RuleStatement]:
    """State the step of an induction: the claim for n as a hypothesis, n + 1 in the claim."""
    for number, binder in enumerate(statement.binders):
        if binder.type not in ("Nat", "ℕ"):
            continue
        for name in binder.names:
            # A hypothesis about n would have to be stated for n + 1 as well.
            in_types = any(has_word(later.type, name) for later in statement.binders[number + 1 :])
            if not in_types and has_word(statement.claim, name) and not statement.binds_inside(name):
                hypothesis = Binder((statement.fresh("ih"),), statement.claim)
                claim = substitute(statement.claim, {name: f"({name} + 1)"})
                yield "induction step", replace(statement, binders=(*statement.binders, hypothesis), claim=claim)


# -- Statements out of search trees ----------------------------------------------------------------------------------

_HAVE = re.compile(r"\s*have\s+(?:(?P<name>[^\W\d]\w*)\s*)?:(?!=)(?P<claim>.*)", re.DOTALL)


class _OpenGoal(NamedTuple):
    """A goal that a tree left open: how many goals beside each other are left, of which it is one, and its visits."""

    num_left: int
    visits: int
    stated: RuleStatement


def tree_variants(root: Node, before: str) -> Iterator[RuleStatement]:
    """Yield what a tree left open: goals stated as theorems, last missing ones first, and lemmas of `have` tactics.

    Of a tactic `have h : P`, run or refused, in a goal that stayed open: `P` from the goal's hypotheses, and the goal
    with `P` as a further hypothesis.
    """
    goals: list[_OpenGoal] = []
    lemmas: list[RuleStatement] = []
    num_left_with: dict[Node, int] = {}
    for node in walk(root):  # parents before their children
        if node.kind is Kind.AND and not node.solved:
            left = [child for child in node.children if not child.solved]
            num_left_with |= dict.fromkeys(left, len(left))
        elif node.kind is Kind.OR and not node.solved:
            if node is not root:
                # A goal that alone is missing beside proved ones (1) comes before one that is all of a state (2).
                num_left = num_left_with.get(node, 2)
                goals += [_OpenGoal(num_left, node.visits, stated) for stated in _open_goal(node, before)]
            for tactic, child in node.known.items():
                if child is None or not child.solved:
                    lemmas += _lemma(node, tactic, before)
    goals.sort(key=lambda goal: (goal.num_left, -goal.visits))
    for open_goal, lemma in zip_longest(goals, lemmas):
        if open_goal is not None:
            yield open_goal.stated
        if lemma is not None:
            yield lemma


def _open_goal(node: Node, before: str) -> Iterator[RuleStatement]:
    if node.branch is not None and len(node.branch.state.goals) == 1 and not node.dead:
        with suppress(SourceError):
            yield OPEN_GOAL, goal_statement(node.branch.state.goals[0], before)


def _lemma(node: Node, tactic: str, before: str) -> Iterator[RuleStatement]:
    match = _HAVE.fullmatch(tactic)
    if match is None or node.branch is None or len(node.branch.state.goals) != 1:
        return
    goal, claim = node.branch.state.goals[0], match["claim"].partition(":=")[0].strip()
    names = {hypothesis.user_name for hypothesis in goal.hypotheses}
    name = match["name"] or "this"
    if not claim or name in names:  # a hypothesis of that name would be hidden
        return
    with suppress(SourceError):
        yield LEMMA, goal_statement(goal, before, claim=claim)
        yield WITH_LEMMA, goal_statement(goal, before, added=(Binder((name,), claim),))


def open_in_trees(roots: Sequence[Node], before: str, limit: int) -> list[RuleSource]:
    """List rule and source of at most `limit` statements that trees left open, of each tree in turn."""
    statements = taking_turns([list(tree_variants(root, before)) for root in roots])
    return _sources(statements[:limit])


def _sources(statements: Iterable[RuleStatement]) -> list[RuleSource]:
    return [(rule, statement.source("variant")) for rule, statement in statements]


# -- All variants of one theorem -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """A variant, with the rule that made it and the number of tries at the target before."""

    id: str
    rule: str
    source: str
    tries: int = 0

    def to_json(self) -> dict[str, Any]:
        """Convert to plain JSON data: a line of a file of theorems."""
        return asdict(self)


@dataclass
class Counts:
    """How many statements a rule made, and what became of them before any was attempted."""

    made: int = 0
    duplicates: int = 0
    refused: int = 0


Elaborated = Callable[[str], list[RuleSource]]


@dataclass
class VariantMaker:
    """Makes the variants of one theorem, each statement once and never the theorem itself.

    `key` is equal for equal statements and raises `SourceError` for what Lean refuses (then it counts as such);
    `elaborated` applies the rules to the elaborated statement of a source, in place of those on text.
    """

    target: Theorem
    key: Callable[[str], str] | None = None
    elaborated: Elaborated | None = None
    counts: dict[str, Counts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known: set[str] = set()
        self._number = 0
        self._sources: list[str] = []
        self._first = True
        with suppress(SourceError):  # then it is tried as it is; its trees may still have variants
            self._known.add(self._key(self.target.source))

    def know(self, variants: Iterable[Variant]) -> None:
        """Note the variants of an earlier part of a run."""
        for variant in variants:
            self._first = False
            self._number = max(self._number, int(variant.id.partition("_")[0]))
            self._sources.append(variant.source)
            with suppress(SourceError):
                self._known.add(self._key(variant.source))

    def by_rules(self, limit: int, seed: int) -> list[Variant]:
        """Make at most `limit` variants: of one change, rules in turn; then of variants, drawn at random.

        Another call makes others, of further changes, until there are none.
        """
        variants: list[Variant] = []
        if self._first:
            variants = self.take(in_turn(self._changed(self.target.source)), limit)
        self._first = False
        rng = random.Random(f"{seed}/{self._number}")
        sources = rng.sample(self._sources, len(self._sources))
        for source in sources:
            if len(variants) >= limit:
                break
            further = [(SEVERAL_CHANGES, changed) for _, changed in self._changed(source)]
            variants += self.take(rng.sample(further, min(len(further), OF_ONE_VARIANT)), limit - len(variants))
        return variants

    def _changed(self, source: str) -> list[RuleSource]:
        """List what one change makes of a source."""
        try:
            if self.elaborated is not None:
                return self.elaborated(source)
            return _sources(text_variants(parse_statement(source)))
        except SourceError:
            return []

    def take(self, sources: Iterable[RuleSource], limit: int, tries: int = 0) -> list[Variant]:
        """Make variants of at most `limit` sources, each with its rule, that are new."""
        variants: list[Variant] = []
        for rule, source in sources:
            if len(variants) >= limit:
                break
            counts = self.counts.setdefault(rule, Counts())
            counts.made += 1
            try:
                key = self._key(source)
            except SourceError:
                counts.refused += 1
                continue
            if key in self._known:
                counts.duplicates += 1
                continue
            self._known.add(key)
            self._number += 1
            self._sources.append(source)
            variants.append(Variant(f"{self._number:04d}_{rule.replace(' ', '_')}", rule, source, tries))
        return variants

    def _key(self, source: str) -> str:
        if self.key is not None:
            return self.key(source)
        return parse_statement(source).text


def in_turn(sources: Sequence[RuleSource]) -> list[RuleSource]:
    """Order what rules made so that each rule comes in turn: one makes dozens of variants, another a single one."""
    by_rule: dict[str, list[RuleSource]] = {}
    for rule, source in sources:
        by_rule.setdefault(rule, []).append((rule, source))
    return taking_turns(list(by_rule.values()))


def taking_turns(lists: Sequence[Sequence[T]]) -> list[T]:
    """Merge lists: the first items of all, then the second ones, and so on; none of them is None."""
    merged: list[T] = []
    for row in zip_longest(*lists):
        merged += [item for item in row if item is not None]
    return merged
