"""Names that people give: what a hypothesis or variable of some kind may plausibly be called."""

import random
import re
from collections.abc import Callable, Collection, Mapping

from nanoproof.data.lean_words import words_of
from nanoproof.lean.state import Hypothesis


def _pool(words: str) -> tuple[str, ...]:
    return tuple(words.split())


POOLS: dict[str, tuple[str, ...]] = {
    "hypothesis": _pool(
        "h h h h' h₀ h₁ h₂ h₃ h₄ h1 h2 h3 H H' hp hq hn hm hx hy ha hb hc hab hxy hle hlt heq hne hf hs"
    ),
    "induction": _pool("ih ih IH ih' ih₁ ih₂ hi hn hk n_ih"),
    "greek_type": _pool("α β γ δ ι κ τ"),
    "type": _pool("A B C D E F G H K M N R S V X Y Z"),
    "proposition": _pool("p q r s a b c P Q R"),
    "predicate": _pool("p q r P Q R"),
    "natural": _pool("n m k i j a b c d l x y t"),
    "number": _pool("x y z a b c r s t u v w d ε δ"),
    "list": _pool("l l₁ l₂ xs ys zs as bs s t"),
    "set": _pool("s t u v A B S T U V"),
    "function": _pool("f g F G f₁ f₂ g' f' u v"),
    "element": _pool("x y z a b c d u v w"),
    "structure": _pool("A B C G H K L M N P S T X Y"),
}
_SUFFIXES = _pool("' ₀ ₁ ₂ ₃")
_NATURALS = frozenset(("Nat", "ℕ", "Int", "ℤ", "Fin", "ZMod", "PNat", "ℕ+"))
_NUMBERS = frozenset(("ℝ", "ℚ", "ℂ", "Real", "Rat", "Complex", "ENNReal", "NNReal"))
_LISTS = frozenset(("List", "Array", "Vector", "Multiset"))
_SETS = frozenset(("Set", "Finset"))
_GREEK = re.compile("[α-ω]")
_HEAD = re.compile(r"[^\s(){}\[\],]+")
_RELATION = re.compile(r"[=≠<>≤≥∈∉∣∧∨↔¬∀∃⊆⊂≡≈∼]")
_PROOF_NAME = re.compile(r"[hH](?:$|[₀-₉0-9'_]|[a-zα-ω])")
_TRIES = 12


def kind_of(hypothesis: Hypothesis, sorts: Mapping[str, str]) -> str:
    """The key of `POOLS` that suits a name; `sorts` maps the names of the state to their types."""
    name, type_ = hypothesis.user_name, hypothesis.type
    head_match = _HEAD.match(type_)
    head = head_match.group() if head_match else ""
    if head in ("Type", "Sort"):
        return "greek_type" if _GREEK.match(name) else "type"
    if type_ == "Prop":
        return "proposition"
    if type_.endswith("→ Prop"):
        return "predicate"
    if name.startswith(("ih", "IH")) or name.endswith("_ih"):
        return "induction"
    if head[:1] == "∀" or "→" in type_ or _RELATION.search(type_):
        return _of_compound(name, type_)
    return _of_simple(name, head, sorts)


def _of_compound(name: str, type_: str) -> str:
    """Kind of a name whose type has connectives: a proof, or else a function."""
    is_proof = _PROOF_NAME.match(name) or _RELATION.search(type_) or "→" not in type_
    return "hypothesis" if is_proof else "function"


def _of_simple(name: str, head: str, sorts: Mapping[str, str]) -> str:
    """Kind of a name whose type is a name, perhaps applied."""
    for heads, kind in ((_NATURALS, "natural"), (_NUMBERS, "number"), (_LISTS, "list"), (_SETS, "set")):
        if head in heads:
            return kind
    if sorts.get(head, "").endswith("Prop"):
        return "hypothesis"
    if head in sorts:
        return "element"
    if _PROOF_NAME.match(name):
        return "hypothesis"
    return "structure" if name[0].isupper() else "element"


def new_name(hypothesis: Hypothesis, sorts: Mapping[str, str], used: Collection[str], rng: random.Random) -> str | None:
    """A name for the hypothesis that is not in `used`; None if none was found."""
    kind = kind_of(hypothesis, sorts)
    draw = _drawer(kind, hypothesis, sorts, rng)
    for _ in range(_TRIES):
        name = draw()
        if name not in used:
            return name
    return None


def _drawer(kind: str, hypothesis: Hypothesis, sorts: Mapping[str, str], rng: random.Random) -> Callable[[], str]:
    pool = POOLS[kind]
    mentioned = sorted(word for word in words_of(hypothesis.type) if len(word) == 1 and word in sorts)

    def draw() -> str:
        if kind == "hypothesis" and mentioned and rng.random() < 0.3:
            return "h" + rng.choice(mentioned)
        name = rng.choice(pool)
        if name[-1].isalpha() and rng.random() < 0.08:
            name += rng.choice(_SUFFIXES)
        return name

    return draw
