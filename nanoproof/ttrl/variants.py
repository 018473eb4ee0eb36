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
from typing import Any

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

NUMBERS = ("Nat", "ℕ", "Int", "ℤ")
"""Types whose variables become numbers."""
SEVERAL_CHANGES, OPEN_GOAL, LEMMA, WITH_LEMMA = "several changes", "open goal", "lemma", "goal with lemma"
OF_ONE_VARIANT = 6
"""Variants that are made of one variant at a time."""
Made = tuple[str, Statement]

# -- Rules on the text of a statement --------------------------------------------------------------------------------


def text_variants(statement: Statement) -> Iterator[Made]:
    """Yield what one change makes of a statement, with the name of the rule."""
    for rule in (_specialized, _numerals, _subterms, _claims, _hypotheses, _inductions):
        yield from rule(statement)


def _specialized(statement: Statement) -> Iterator[Made]:
    """A number becomes 0, 1, 2, n + 1; any variable an earlier one of its type."""
    earlier: list[tuple[str, str]] = []
    for number, binder in enumerate(statement.binders):
        for name in binder.names:
            if binder.type and statement.mentions(name, number) and not statement.binds_inside(name):
                values = ("0", "1", "2", f"({name} + 1)") if binder.type in NUMBERS else ()
                for value in values:
                    yield "specialized", _put(statement, name, value, keep=name in value)
                for other, kind in earlier:
                    if kind == binder.type and not statement.binds_inside(other):
                        yield "specialized", _put(statement, name, other)
            earlier.append((name, binder.type))


def _put(statement: Statement, name: str, term: str, keep: bool = False) -> Statement:
    """Put a term for a variable, which is bound no longer unless it is to be kept."""
    binders = []
    for binder in statement.binders:
        names = tuple(each for each in binder.names if keep or each != name)
        if names or not binder.names:
            binders.append(replace(binder, names=names, type=substitute(binder.type, {name: term})))
    return replace(statement, binders=tuple(binders), claim=substitute(statement.claim, {name: term}))


_NUMERAL = re.compile(r"(?<![\w.'])\d+(?![\w.'])")


def _numerals(statement: Statement) -> Iterator[Made]:
    """A numeral becomes smaller, or a variable, wherever it stands."""
    kind = next((binder.type for binder in statement.binders if binder.type in NUMBERS), "Nat")
    found = {match.group() for match in _NUMERAL.finditer(statement.text)}
    for numeral in sorted((text for text in found if int(text) >= 2), key=int):
        for smaller in sorted({int(numeral) - 1, int(numeral) // 2}):
            yield "smaller number", _replaced(statement, rf"(?<![\w.']){numeral}(?![\w.'])", str(smaller))
        name = statement.fresh("m")
        general = _replaced(statement, rf"(?<![\w.']){numeral}(?![\w.'])", name)
        yield "generalized", replace(general, binders=(Binder((name,), kind), *general.binders))


_BRACKETED = re.compile(r"\([^()⟨⟩\[\]{}]*\)")


def _subterms(statement: Statement) -> Iterator[Made]:
    """A term in brackets that the claim holds twice becomes a variable."""
    claim = statement.claim
    kind = next((binder.type for binder in statement.binders if binder.type in NUMBERS), "_")
    for term, count in Counter(_BRACKETED.findall(claim)).items():
        is_free = not bound_names(claim) & set(re.findall(r"\w+", term))
        if count > 1 and ":" not in term and split(term[1:-1]) is None and is_free:
            name = statement.fresh("t")
            binders = (*statement.binders, Binder((name,), kind))
            yield "generalized", replace(statement, binders=binders, claim=claim.replace(term, name))


def _replaced(statement: Statement, pattern: str, text: str) -> Statement:
    binders = tuple(replace(binder, type=re.sub(pattern, text, binder.type)) for binder in statement.binders)
    return replace(statement, binders=binders, claim=re.sub(pattern, text, statement.claim))


def _claims(statement: Statement) -> Iterator[Made]:
    """One direction of an iff, one side of a conjunction, an equation swapped, the claim weakened."""
    parts = split(statement.claim)
    if parts is None:
        return
    symbol, left, right = parts

    def stating(claim: str) -> Statement:
        return replace(statement, claim=claim)

    def bracketed(text: str) -> str:
        return f"({text})" if split(text) is not None or text[:1] in "∀∃¬" else text

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


def _hypotheses(statement: Statement) -> Iterator[Made]:
    """A hypothesis is dropped, or one is added: a number is positive, a number is at most another."""
    for number in range(len(statement.binders)):
        if is_hypothesis(statement, number):
            rest = statement.binders[:number] + statement.binders[number + 1 :]
            yield "hypothesis dropped", replace(statement, binders=rest)
    known = {binder.type for binder in statement.binders}
    numbers = [name for binder in statement.binders if binder.type in NUMBERS for name in binder.names][:4]
    wanted = [f"0 < {name}" for name in numbers] + [f"{a} ≤ {b}" for a in numbers for b in numbers if a != b]
    for hypothesis in (text for text in wanted if text not in known):
        binder = Binder((statement.fresh("h"),), hypothesis)
        yield "hypothesis added", replace(statement, binders=(*statement.binders, binder))


def is_hypothesis(statement: Statement, number: int) -> bool:
    """Tell whether a binder is a proposition, as far as its text says, that nothing behind it mentions."""
    binder = statement.binders[number]
    if binder.opening == "[" or any(statement.mentions(name, number) for name in binder.names):
        return False
    head = re.match(r"\w+", binder.type)
    of_props = [each.type.split()[-1:] == ["Prop"] for each in statement.binders if head and head[0] in each.names]
    return split(binder.type) is not None or binder.type[:1] in ("∀", "∃", "¬") or any(of_props)


def _inductions(statement: Statement) -> Iterator[Made]:
    """The step of an induction: the claim for n as a hypothesis, n + 1 in the claim."""
    for number, binder in enumerate(statement.binders):
        for name in binder.names if binder.type in ("Nat", "ℕ") else ():
            in_types = any(has_word(each.type, name) for each in statement.binders[number + 1 :])
            if not in_types and has_word(statement.claim, name) and not statement.binds_inside(name):
                hypothesis = Binder((statement.fresh("ih"),), statement.claim)
                claim = substitute(statement.claim, {name: f"({name} + 1)"})
                yield (
                    "induction step",
                    replace(statement, binders=(*statement.binders, hypothesis), claim=claim),
                )


# -- Statements out of search trees ----------------------------------------------------------------------------------

_HAVE = re.compile(r"\s*have\s+(?:(?P<name>[^\W\d]\w*)\s*)?:(?!=)(?P<claim>.*)", re.DOTALL)


def tree_variants(root: Node, before: str) -> Iterator[Made]:
    """Yield what a tree left open: goals stated as theorems, last missing ones first, and lemmas of `have` tactics.

    Of a tactic `have h : P`, run or refused, in a goal that stayed open: `P` from the goal's hypotheses, and the goal
    with `P` as a further hypothesis.
    """
    goals: list[tuple[tuple[float, ...], Made]] = []
    lemmas: list[Made] = []
    missing: dict[Node, int] = {}
    """How many goals beside each other are left, of which the node is one."""
    for node in walk(root):
        if node.kind is Kind.AND and not node.solved:
            left = [child for child in node.children if not child.solved]
            missing |= dict.fromkeys(left, len(left))
        elif node.kind is Kind.OR and not node.solved:
            if node is not root:
                order = (missing.get(node, 2), -node.visits)
                goals += [(order, made) for made in _open_goal(node, before)]
            for tactic, child in node.known.items():
                if child is None or not child.solved:
                    lemmas += _lemma(node, tactic, before)
    ordered = [made for _, made in sorted(goals, key=lambda entry: entry[0])]
    for pair in zip_longest(ordered, lemmas):
        yield from (made for made in pair if made is not None)


def _open_goal(node: Node, before: str) -> Iterator[Made]:
    if node.branch is not None and len(node.branch.state.goals) == 1 and not node.dead:
        try:
            yield OPEN_GOAL, goal_statement(node.branch.state.goals[0], before)
        except SourceError:
            return


def _lemma(node: Node, tactic: str, before: str) -> Iterator[Made]:
    match = _HAVE.fullmatch(tactic)
    if match is None or node.branch is None or len(node.branch.state.goals) != 1:
        return
    goal, claim = node.branch.state.goals[0], match["claim"].partition(":=")[0].strip()
    names = {hypothesis.user_name for hypothesis in goal.hypotheses}
    name = match["name"] or "this"
    if not claim or name in names:
        return
    try:
        yield LEMMA, goal_statement(goal, before, claim=claim)
        yield WITH_LEMMA, goal_statement(goal, before, added=(Binder((name,), claim),))
    except SourceError:
        return


def open_in_trees(roots: Sequence[Node], before: str, limit: int) -> list[tuple[str, str]]:
    """List rule and source of at most `limit` statements that trees left open, of each tree in turn."""
    made = [list(tree_variants(root, before)) for root in roots]
    flat = [one for group in zip_longest(*made) for one in group if one is not None]
    return [(rule, statement.source("variant")) for rule, statement in flat[:limit]]


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


Elaborated = Callable[[str], list[tuple[str, str]]]


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
        found = self.take(in_turn(self._changed(self.target.source)), limit) if self._first else []
        self._first = False
        rng = random.Random(f"{seed}/{self._number}")
        sources = rng.sample(self._sources, len(self._sources))
        for source in sources:
            if len(found) >= limit:
                break
            further = [(SEVERAL_CHANGES, made) for _, made in self._changed(source)]
            found += self.take(rng.sample(further, min(len(further), OF_ONE_VARIANT)), limit - len(found))
        return found

    def _changed(self, source: str) -> list[tuple[str, str]]:
        """What one change makes of a source: rule and source."""
        try:
            if self.elaborated is not None:
                return self.elaborated(source)
            return [(rule, made.source("variant")) for rule, made in text_variants(parse_statement(source))]
        except SourceError:
            return []

    def take(self, made: Iterable[tuple[str, str]], limit: int, tries: int = 0) -> list[Variant]:
        """Make variants of at most `limit` sources, each with its rule, that are new."""
        found: list[Variant] = []
        for rule, source in made:
            if len(found) >= limit:
                break
            counts = self._count(rule)
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
            found.append(Variant(f"{self._number:04d}_{rule.replace(' ', '_')}", rule, source, tries))
        return found

    def _key(self, source: str) -> str:
        return self.key(source) if self.key is not None else parse_statement(source).text

    def _count(self, rule: str) -> Counts:
        return self.counts.setdefault(rule, Counts())


def in_turn(made: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Order what rules made so that each rule comes in turn."""
    by_rule: dict[str, list[tuple[str, str]]] = {}
    for one in made:
        by_rule.setdefault(one[0], []).append(one)
    return [one for group in zip_longest(*by_rule.values()) for one in group if one is not None]
