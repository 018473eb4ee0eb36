"""Proofs cut in two by rule: the same theorem proved by steps that generated proofs lack and exercises need.

The generator proves backwards, one rule at a time. People state what they use (`have := ih n`), take hypotheses apart
by patterns (`obtain ⟨x, hx⟩ := h`), generalize an induction and go down to any smaller number. A network that was never
shown such a step does not write it. Each rule makes another proof of a proof, by text alone; what NanoLean refuses is
dropped.
"""

import itertools
import random
import re
from collections.abc import Callable, Iterator

from nanolean.data.problem import Step
from nanolean.data.replay import Node, ReplayError, replay
from nanolean.tactic_state import TacticState

Rule = Callable[[Node, random.Random], Iterator[Step]]
"""Makes other proofs of a proof to try, the likeliest first; none where it says nothing about it."""

_WORD = re.compile(r"[^\W\d][\w']*")
_CASES = re.compile(r"cases (?P<term>.+?) with (?P<alternatives>\| .*)")
_INDUCTION = re.compile(r"induction (?P<variable>[\w']+) with (?P<alternatives>\| .*)")
_ALTERNATIVE = re.compile(r"\| (?P<constructor>\w+)(?P<names>(?: [\w'✝]+)*) => \?_")
_HYPOTHESES = ("h", "h1", "h2", "h3", "this", "key", "e", "hx")
STATED = 0.4
"""Share of the cuts whose type is written down: people leave out what Lean sees from the term about as often."""
MOST_GENERALIZED = 2
"""Variables that one induction is generalized over."""
_DATA = re.compile(r"Nat|Bool|List [\w']+")
"""Types of variables that an induction is generalized over; functions and predicates stay the same in its step."""
TRIES = 4
"""Proofs of one rule that are tried before it is given up."""


def cut_proofs(before: TacticState, root: Node, rng: random.Random, most: int) -> Iterator[tuple[str, Node]]:
    """Yield up to `most` other proofs of what a replayed proof proves, each with the name of its rule.

    `before` is the state in which the proof begins. Rules are tried in a random order.
    """
    count = 0
    for name in rng.sample(sorted(RULES), len(RULES)):
        if count >= most:
            return
        state_types = rng.random() < STATED
        for step in itertools.islice(RULES[name](root, rng), TRIES):
            try:
                node = replay(before, step)
                if state_types:
                    node = replay(before, _stated(node))
            except ReplayError:
                continue
            count += 1
            yield name, node
            break


# -- Parts of a proof ------------------------------------------------------------------------------------------------


def _nodes(root: Node) -> Iterator[Node]:
    yield root
    for child in root.children:
        yield from _nodes(child)


def _with(root: Node, changed: Node, new: Step) -> Step:
    """Return the proof with another one in place of a node of it."""
    if root is changed:
        return new
    children = tuple(_with(child, changed, new) for child in root.children)
    return Step(root.tactic, children)


def _renamed(step: Step, old: str, new: str) -> Step:
    """Give a name of the context another one in all steps."""
    word = re.compile(rf"(?<![\w.']){re.escape(old)}(?![\w'])")
    children = tuple(_renamed(child, old, new) for child in step.children)
    return Step(word.sub(new, step.tactic), children)


def _fresh(node: Node, *wanted: str) -> str | None:
    """Return the first of the wanted names that neither the goal of a node nor a tactic below it has."""
    used = set(_WORD.findall(node.goal))
    for below in _nodes(node):
        used.update(_WORD.findall(below.tactic))
    return next((name for name in wanted if name not in used), None)


def _hypotheses(goal: str) -> dict[str, str]:
    """Return the names of a printed goal with their types, as far as these stand on one line."""
    types: dict[str, str] = {}
    for line in goal.split("\n"):
        names, colon, type_ = line.partition(" : ")
        # A line that goes on with a type begins with a space, and `case` and `⊢` begin no hypothesis.
        if colon and not line.startswith((" ", "case ", "⊢")):
            types.update(dict.fromkeys(names.split(), type_))
    return types


def _alternatives(text: str) -> list[tuple[str, list[str]]] | None:
    """Return constructor and names of each alternative of `| c x y => ?_ | ..`; None where one is written otherwise."""
    matches = list(_ALTERNATIVE.finditer(text))
    if " ".join(match.group() for match in matches) != text:
        return None
    return [(match["constructor"], match["names"].split()) for match in matches]


# -- Rules -----------------------------------------------------------------------------------------------------------


def _by_patterns(root: Node, rng: random.Random) -> Iterator[Step]:
    """Write every `cases h with | intro x hx => ?_` as `obtain ⟨x, hx⟩ := h`, and of a disjunction as `rcases`."""
    del rng
    step = _patterned(root)
    if step != root.proof():
        yield step


def _patterned(node: Node) -> Step:
    match = _CASES.fullmatch(node.tactic)
    alternatives = None
    if match is not None:
        alternatives = _alternatives(match["alternatives"])
    children = tuple(_patterned(child) for child in node.children)
    if match is None or alternatives is None:
        return Step(node.tactic, children)
    constructors = [constructor for constructor, _ in alternatives]
    if constructors == ["intro"]:
        return Step(f"obtain ⟨{', '.join(alternatives[0][1])}⟩ := {match['term']}", children)
    if constructors == ["inl", "inr"]:
        names = [names[0] for _, names in alternatives]
        return Step(f"rcases {match['term']} with {' | '.join(names)}", children)
    return Step(node.tactic, children)


def _induction(root: Node) -> tuple[Node, str, list[tuple[str, list[str]]]] | None:
    """Return the first induction of a proof whose last alternative has a hypothesis, its variable and alternatives."""
    for node in _nodes(root):
        match = _INDUCTION.fullmatch(node.tactic)
        if match is not None:
            alternatives = _alternatives(match["alternatives"])
            if alternatives and len(alternatives) == 2 == len(node.children) and len(alternatives[1][1]) >= 2:
                return node, match["variable"], alternatives
    return None


def _generalized(root: Node, rng: random.Random) -> Iterator[Step]:
    """Generalize an induction over other variables, and apply its hypothesis to them."""
    induction = _induction(root)
    if induction is None:
        return
    node, variable, alternatives = induction
    types = _hypotheses(node.goal)
    target = _WORD.findall(node.goal.partition("⊢")[2])
    variables = []
    for name, type_ in types.items():
        # With a variable that a hypothesis is about, that hypothesis would have to be proved of the other values.
        is_free = not any(name in _WORD.findall(other) for other in types.values())
        if name != variable and name in target and is_free and _DATA.fullmatch(type_):
            variables.append(name)
    hypothesis, last = alternatives[1][1][-1], node.children[1]
    new = _fresh(last, *_HYPOTHESES)
    if not variables or new is None:
        return
    variables = variables[: rng.randint(1, MOST_GENERALIZED)]
    applied = f"{hypothesis} {' '.join(variables)}"
    following = Step(f"have {new} := {applied}", (_renamed(last.proof(), hypothesis, new),))
    if rng.random() < 0.3:
        following = Step(f"specialize {applied}", (last.proof(),))
    head, _, rest = node.tactic.partition(" with ")
    tactic = f"{head} generalizing {' '.join(variables)} with {rest}"
    yield _with(root, node, Step(tactic, (node.children[0].proof(), following)))


def _strong(root: Node, rng: random.Random) -> Iterator[Step]:
    """Make an induction over numbers one over all smaller numbers, of which the step takes the one before."""
    induction = _induction(root)
    if induction is None or [constructor for constructor, _ in induction[2]] != ["zero", "succ"]:
        return
    node, variable, alternatives = induction
    before, hypothesis = alternatives[1][1]
    last = node.children[1]
    new = _fresh(last, *_HYPOTHESES)
    if new is None:
        return
    smaller = rng.choice(("(by omega)", f"(Nat.lt_succ_self {before})", f"(Nat.lt_add_one {before})"))
    succ = Step(f"have {new} := {hypothesis} {before} {smaller}", (_renamed(last.proof(), hypothesis, new),))
    split = Step(f"cases {variable} with | zero => ?_ | succ {before} => ?_", (node.children[0].proof(), succ))
    tactic = f"induction {variable} using Nat.strongRecOn with | _ {variable} {hypothesis} => ?_"
    yield _with(root, node, Step(tactic, (split,)))


def _cut(root: Node, rng: random.Random) -> Iterator[Step]:
    """State a term that a step applies beforehand: `rw [f x]` becomes `have h := f x`, `rw [h]`."""
    sites: list[tuple[Node, str]] = []
    for node in _nodes(root):
        for term in applied_terms(node.tactic):
            sites.append((node, term))
    rng.shuffle(sites)
    for node, term in sites:
        name = _fresh(node, *_HYPOTHESES)
        if name is None:
            continue
        place = f"({term})"
        if place not in node.tactic:
            place = term
        children = tuple(child.proof() for child in node.children)
        after = Step(node.tactic.replace(place, name, 1), children)
        yield _with(root, node, Step(f"have {name} := {term}", (after,)))


_HEAD = re.compile(r"(?:exact|apply|refine|rw) ")
_BRACKETS = {"(": ")", "⟨": "⟩", "[": "]", "{": "}"}


def applied_terms(tactic: str) -> list[str]:
    """Return the applications in the term of an `exact`, `apply` or `refine` (but for all of it), and in a `rw`.

    They are found by parentheses and by the commas of `rw [..]`. Terms with holes or binders are left out.
    """
    head = _HEAD.match(tactic)
    if head is None:
        return []
    body = tactic[head.end() :]
    terms = list(_in_parentheses(body))
    if body.startswith("[") and body.endswith("]"):
        terms += [part.strip().removeprefix("← ") for part in _parts(body[1:-1])]
    return [term for term in dict.fromkeys(terms) if _is_application(term)]


def _is_application(term: str) -> bool:
    words = term.split()
    is_plain = not any(sign in term for sign in ("?_", "_ ", "fun ", "=>", ":=", " : ", "⟨", "by "))
    return is_plain and len(words) >= 2 and bool(_WORD.match(words[0])) and not set(words) & set("+-*/%^=<>≤≥∣∧∨→↔")


def _in_parentheses(text: str) -> Iterator[str]:
    starts: list[int] = []
    for position, char in enumerate(text):
        if char == "(":
            starts.append(position)
        elif char == ")" and starts:
            yield text[starts.pop() + 1 : position]


def _parts(text: str) -> Iterator[str]:
    """Yield the parts of a text between the commas that no bracket encloses."""
    depth = start = 0
    for position, char in enumerate(text):
        depth += (char in _BRACKETS) - (char in _BRACKETS.values())
        if char == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def _forward(root: Node, rng: random.Random) -> Iterator[Step]:
    """Apply a fact forward: `apply f` with goals that single terms prove becomes `have h := f a b`, `exact h`."""
    sites = []
    for node in _nodes(root):
        are_terms = all(child.tactic.startswith("exact ") and not child.children for child in node.children)
        if node.tactic.startswith("apply ") and node.children and are_terms and "?_" not in node.tactic:
            sites.append(node)
    rng.shuffle(sites)
    for node in sites:
        name = _fresh(node, *_HYPOTHESES)
        if name is None:
            continue
        arguments = [_argument(child.tactic.removeprefix("exact ")) for child in node.children]
        # Variables that are explicit arguments come before the premises, which say what they are.
        for holes in range(3):
            term = " ".join([node.tactic.removeprefix("apply "), *["_"] * holes, *arguments])
            yield _with(root, node, Step(f"have {name} := {term}", (Step(f"exact {name}"),)))


def _argument(term: str) -> str:
    if " " in term and not term.startswith("⟨"):
        return f"({term})"
    return term


def _split_first(root: Node, rng: random.Random) -> Iterator[Step]:
    """Take a disjunction apart before the steps that came first, which are then made in both cases."""
    del rng
    above: list[Node] = []
    node = root
    while len(node.children) == 1:
        above.append(node)
        node = node.children[0]
    if not above or _CASES.fullmatch(node.tactic) is None or len(node.children) != 2:
        return
    branches = []
    for child in node.children:
        step = child.proof()
        for earlier in reversed(above):
            step = Step(earlier.tactic, (step,))
        branches.append(step)
    yield Step(node.tactic, tuple(branches))


def _stated(root: Node) -> Step:
    """Return a proof with the type of each `have h := e` written down, as the goal after it shows it."""
    children = tuple(_stated(child) for child in root.children)
    match = re.fullmatch(r"have (?P<name>[\w']+) := (?P<term>.+)", root.tactic)
    if match is None or len(root.children) != 1:
        return Step(root.tactic, children)
    type_ = _hypotheses(root.children[0].goal).get(match["name"])
    # Of a lemma that is applied in part nobody writes down what is left of its quantifiers.
    if type_ is None or type_.startswith("∀"):
        return Step(root.tactic, children)
    return Step(f"have {match['name']} : {type_} := {match['term']}", children)


RULES: dict[str, Rule] = {
    "have": _cut,
    "forward": _forward,
    "obtain": _by_patterns,
    "split": _split_first,
    "generalizing": _generalized,
    "strong": _strong,
}
"""All rules by the names that their proofs carry."""
