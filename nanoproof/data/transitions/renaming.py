"""Renaming of a transition's hypotheses, variables and case tags, consistently in its states and its tactic.

A word is a dotted name such as `h`, `h.left` or `Nat.add_comm`; only its first component can be a local name. Numbers,
comments and character literals are skipped. `?x` is a hole, `.foo` a field or a constructor, `x✝` inaccessible: none
of them is a local name.

A name is replaced wherever it occurs as a word, bound or free, by one that occurs nowhere: that changes nothing but
names. It is kept where the word may be something else than the local name: a named argument, a field, a universe, a
case tag, a constructor in a pattern, a keyword of the tactic language, notation.
"""

import random
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nanoproof.lean.lexical import ATOM
from nanoproof.lean.types import Goal, Hypothesis, ProofState

# -- Words of Lean text ----------------------------------------------------------------------------------------------

_PART = f"(?:{ATOM}|[0-9]+|«[^»]*»)"

# A mark, a name, its dagger, the rest of a dotted name; or what is passed over, so that nothing in it is a word: `..`,
# comments, numerals (`0x1F`), the inverse of `Units`, and character literals, which begin like the `'` of a name.
_WORD = re.compile(
    rf"([.?]?)({ATOM})(✝[⁰¹²³⁴⁵⁶⁷⁸⁹]*)?((?:\.{_PART})*)"
    r"|\.\.+|--[^\n]*|/-(?s:.*?)-/|[0-9]\w*|⁻¹'|''|'(?:[^\\']|\\.[^']*)'"
)
_OPAQUE = re.compile(r'["`«]')
_NAME = re.compile(ATOM)
_INACCESSIBLE = re.compile(f"({ATOM})✝")


def is_opaque(text: str) -> bool:
    """Return whether the text has strings, quotations or quoted names, in which names cannot be recognized."""
    return _OPAQUE.search(text) is not None


def is_plain_name(text: str) -> bool:
    """Return whether the text is one name without dots, quotes or marks."""
    return _NAME.fullmatch(text) is not None


def words_of(text: str) -> set[str]:
    """Return all names and components of dotted names in the text, also fields, holes and the `x` of `x✝`."""
    return set(_NAME.findall(text))


def inaccessible_words(text: str) -> set[str]:
    """Return the inaccessible names in the text without their mark: `x` for `x✝` and `x✝¹`."""
    if "✝" not in text:  # the usual case
        return set()
    return set(_INACCESSIBLE.findall(text))


def rename_words(text: str, names: Mapping[str, str], holes: Mapping[str, str] | None = None) -> str:
    """Replace local names (and holes, given without their `?`) in the text, all at once."""

    def replacement(match: re.Match[str]) -> str:
        mark, head, dagger, tail = match.groups()
        if head is None or dagger is not None:
            return match.group()
        if not mark and head in names:
            return names[head] + tail
        # A hole has the whole tag for its name: `?refine_1.a`.
        return f"?{holes[head + tail]}" if mark == "?" and holes and head + tail in holes else match.group()

    return _WORD.sub(replacement, text)


# -- Usual names of hypotheses and variables of each kind ------------------------------------------------------------


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# A name that stands there several times is drawn so much more often, as Mathlib has it more often.
POOLS: dict[str, tuple[str, ...]] = {
    "hypothesis": _words(
        "h h h h' h₀ h₁ h₂ h₃ h₄ h1 h2 h3 H H' hp hq hn hm hx hy ha hb hc hab hxy hle hlt heq hne hf hs"
    ),
    "induction": _words("ih ih IH ih' ih₁ ih₂ hi hn hk n_ih"),
    "greek_type": _words("α β γ δ ι κ τ"),
    "type": _words("A B C D E F G H K M N R S V X Y Z"),
    "proposition": _words("p q r s a b c P Q R"),
    "predicate": _words("p q r P Q R"),
    "natural": _words("n m k i j a b c d l x y t"),
    "number": _words("x y z a b c r s t u v w d ε δ"),
    "list": _words("l l₁ l₂ xs ys zs as bs s t"),
    "set": _words("s t u v A B S T U V"),
    "function": _words("f g F G f₁ f₂ g' f' u v"),
    "element": _words("x y z a b c d u v w"),
    "structure": _words("A B C G H K L M N P S T X Y"),
}
_SUFFIXES = _words("' ₀ ₁ ₂ ₃")
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
    """Return the key of `POOLS` for a hypothesis; `sorts` maps the names of the state to their types."""
    name, type_ = hypothesis.user_name, hypothesis.type
    head = ""
    if head_match := _HEAD.match(type_):
        head = head_match.group()
    if head in ("Type", "Sort") and _GREEK.match(name):
        return "greek_type"
    if head in ("Type", "Sort"):
        return "type"
    if type_ == "Prop":
        return "proposition"
    if type_.endswith("→ Prop"):
        return "predicate"
    if name.startswith(("ih", "IH")) or name.endswith("_ih"):
        return "induction"
    if head[:1] == "∀" or "→" in type_ or _RELATION.search(type_):
        return _compound_kind(name, type_)
    return _simple_kind(name, head, sorts)


def _compound_kind(name: str, type_: str) -> str:
    """Return the kind of a name whose type has connectives: a proof, or else a function."""
    if _PROOF_NAME.match(name) or _RELATION.search(type_) or "→" not in type_:
        return "hypothesis"
    return "function"


def _simple_kind(name: str, head: str, sorts: Mapping[str, str]) -> str:
    """Return the kind of a name whose type is a name, perhaps applied."""
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
    """Draw a name for the hypothesis that is not in `used`; None if none was found."""
    kind = kind_of(hypothesis, sorts)
    draw = _drawer(kind, hypothesis, sorts, rng)
    for _ in range(_TRIES):
        name = draw()
        if name not in used:
            return name
    return None


def _drawer(kind: str, hypothesis: Hypothesis, sorts: Mapping[str, str], rng: random.Random) -> Callable[[], str]:
    pool = POOLS[kind]
    # Sorted, since the order of a set of texts changes from one process to the next, and draws must not.
    mentioned = sorted(word for word in words_of(hypothesis.type) if len(word) == 1 and word in sorts)

    def draw() -> str:
        # `hx` for what says something of `x`.
        if kind == "hypothesis" and mentioned and rng.random() < 0.3:
            return "h" + rng.choice(mentioned)
        name = rng.choice(pool)
        if name[-1].isalpha() and rng.random() < 0.08:
            name += rng.choice(_SUFFIXES)
        return name

    return draw


# -- Renaming of transitions -----------------------------------------------------------------------------------------


KEPT = frozenset(("this", "rfl", "id", "_"))
"""Names with a meaning of their own."""
TACTIC_WORDS = frozenset(
    _words(
        """
        abel aesop and_intros apply arg args arith assumption autoUnfold beta bound by_cases by_contra calc cases
        change choose classical clear congr constructor contextual continuity contradiction contrapose conv conv_lhs
        conv_rhs convert decide delta disch discharger dsimp enter eq_refl erw eta exact exacts exfalso exists ext
        ext1 failIfUnchanged field_simp fin_cases first focus fun_prop funext gcongr generalize generalizing grind
        ground hint induction infer_instance inhabit injection injections instances interval_cases intro intros iota
        iterate left lhs lia lift linarith linear_arith linear_combination measurability memoize mono motive next
        nlinarith nofun nomatch noncomm_ring nontriviality norm_cast norm_num norm_num1 nth_rewrite nth_rw obtain
        omega only pick_goal polyrith positivity prio priority proj push_cast push_neg rcases reducible refine rel
        rename rename_i repeat repeat1 replace revert rewrite rhs right ring ring1 ring_nf rintro rotate_left
        rotate_right rw rwa simp simp_all simp_arith simp_rw simpa singlePass skip slim_check solve specialize split
        split_ifs subst subst_vars substs swap symm tauto tfae trans trivial try unfold unreachable use whnf wlog
        zeta zify
        """
    )
)

_FIELD = re.compile(rf"(?:[({{,;\n]|\bwith\b)\s*({ATOM})\s*:=")
# `Type u`, `Sort (max u (v + 1))`, `List.{u}`: names of universes, which may be those of hypotheses as well.
_UNIVERSES = re.compile(r"\b(?:Type|Sort)\s+(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\)|(\w+))|\.\{([^}]*)\}")
_NOTATION = re.compile(r"[\[⟦](X|T;T⁻¹|ε|i|I)[\]⟧]")  # `R[X]`, `R⟦X⟧`, `R[T;T⁻¹]`, `R[ε]`, `ℤ[i]`
_IN_BRACES = re.compile(rf"[{{,]\s*({ATOM})(?=\s*[,}}])")
_AFTER_BAR = re.compile(rf"\|\s*@?\s*({ATOM})")
_HAS_PATTERNS = re.compile(r"\b(?:cases|induction|match|fun)\b")
# What stands where a tactic begins: at the start, behind `;`, `·`, `<;>`, `by` or a line break.
_FIRST_WORDS = re.compile(rf"(?:^|[;·\n]|\bby\b|<;>)\s*\(?\s*({ATOM})")
_CASE = re.compile(r"\bcase'?\s+([^=]*?)=>")
_HOLE = re.compile(rf"\?({ATOM}(?:\.{ATOM})*)")
_UNREADABLE = re.compile(r"\b(?:set_option|open|macro|notation|syntax|elab|run_tac|eval%)\b|%\w|\$")

_TAG_GROUPS = (
    _words("inl inr left right pos neg mp mpr h₁ h₂"),
    _words("h a w H hx ha hb hab h₁ h₂ hf hn b intro refine_1 refine_2"),
    _words("refine_1 refine_2 refine_3 refine_4 refine'_1 refine'_2 refine'_3"),
    _words("calc_1 calc_2 calc_3 calc_4"),
)


@dataclass
class Renaming:
    """New names by old ones: of local names, and of whole case tags (also where they occur as holes `?tag`)."""

    names: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict, repr=False)
    """Texts renamed before; most hypotheses occur before and after a tactic."""

    def __bool__(self) -> bool:
        return bool(self.names or self.tags)

    def text(self, text: str) -> str:
        """Rename in a type, value or tactic; the tags of `case` stay as they are."""
        if not any(name in text for name in self.names) and not any(tag in text for tag in self.tags):
            return text  # the usual case, and cheaper to see so
        renamed = self._known.get(text)
        if renamed is None:
            renamed = self._known[text] = rename_words(text, self.names, self.tags)
        return renamed

    def tactic(self, tactic: str) -> str:
        """Rename in a tactic, with the tags of `case`."""
        renamed = self.text(tactic)
        if self.tags:
            renamed = _CASE.sub(self._case, renamed)
        return renamed

    def _case(self, match: re.Match[str]) -> str:
        head = match.group()[: match.start(1) - match.start()]
        # `case tag x y | tag z => ..`: of each part the first word is a tag, the others are new names.
        parts = [re.sub(r"\S+", self._tag, part, count=1) for part in match.group(1).split("|")]
        return head + "|".join(parts) + "=>"

    def _tag(self, match: re.Match[str]) -> str:
        return self.tags.get(match.group(), match.group())

    def state(self, state: ProofState) -> ProofState:
        """Rename in a state, with the tags of its goals."""
        return ProofState(tuple(map(self._goal, state.goals)))

    def _goal(self, goal: Goal) -> Goal:
        hypotheses = tuple(map(self._hypothesis, goal.hypotheses))
        return Goal(self.text(goal.type), hypotheses, self._new_tag(goal.tag))

    def _hypothesis(self, item: Hypothesis) -> Hypothesis:
        name, type_ = self.names.get(item.user_name, item.user_name), self.text(item.type)
        if item.value is not None:
            return Hypothesis(name, type_, self.text(item.value))
        return item if name == item.user_name and type_ == item.type else Hypothesis(name, type_)

    def _new_tag(self, tag: str | None) -> str | None:
        """Rename a tag, or its beginning: a child's tag begins with its parent's."""
        if tag is None:
            return None
        for old, new in self.tags.items():
            if tag == old or tag.startswith(old + "."):
                return new + tag[len(old) :]
        return tag


def is_readable(tactic: str) -> bool:
    """Return whether the tactic has no construct whose names cannot be recognized."""
    return _UNREADABLE.search(tactic) is None


def kept_names(states: Iterable[str], tactic: str, used: Iterable[str]) -> set[str]:
    """Return the names that must stay: words that may be something else than a local name."""
    kept = set(KEPT)
    kept.update(word.rpartition("_")[0] for word in used if word[-1].isdigit())  # `∃ a_1` is so called because of `a`
    for text in (*states, tactic):
        if ":=" in text:
            kept.update(_FIELD.findall(text))
        if "Type" in text or "Sort" in text or ".{" in text:  # `u` of `Type u` is no hypothesis `u`
            for groups in _UNIVERSES.findall(text):
                kept |= words_of(" ".join(groups))
        if "[" in text or "⟦" in text:
            kept.update(letter[0] for letter in _NOTATION.findall(text))
    if "{" in tactic:
        kept.update(_IN_BRACES.findall(tactic))
    if "|" in tactic and _HAS_PATTERNS.search(tactic):
        kept.update(_AFTER_BAR.findall(tactic))
    if "case" in tactic:
        kept.update(_case_tags(tactic))
    kept.update(_FIRST_WORDS.findall(tactic))  # where a tactic's name is, also one that is not in `TACTIC_WORDS`
    kept.update(TACTIC_WORDS.intersection(words_of(tactic)))
    return kept


def _case_tags(tactic: str) -> list[str]:
    """Return the tags that the tactic names with `case tag x y =>` or `case tag | tag =>`."""
    tags = []
    for inside in _CASE.findall(tactic):
        for part in inside.split("|"):
            tags += part.split()[:1]
    return tags


def new_names(state: ProofState, kept: set[str], used: set[str], rng: random.Random) -> dict[str, str]:
    """Draw new names for about half of the accessible names of the state; they are not in `used`, which grows."""
    hypotheses: dict[str, Hypothesis] = {}
    for goal in state.goals:
        for item in goal.hypotheses:
            hypotheses.setdefault(item.user_name, item)
    sorts = {name: item.type for name, item in hypotheses.items()}
    names: dict[str, str] = {}
    for old, item in hypotheses.items():
        if rng.random() < 0.5 or old in kept or old[0] == "_" or not is_plain_name(old):
            continue
        new = new_name(item, sorts, used, rng)
        if new is not None:
            names[old] = new
            used.add(new)
    return names


def new_tags(state: ProofState, tactic: str, used: set[str], rng: random.Random) -> dict[str, str]:
    """Draw new tags of a similar kind for some goals' tags; none is in `used`, to which they are added.

    Tags that the tactic creates, and those that it names in part only, stay.
    """
    tags = list(dict.fromkeys(goal.tag for goal in state.goals if goal.tag))
    if not tags or ("case" in tactic and not set(_case_tags(tactic)) <= set(tags)):
        return {}
    created = set(_HOLE.findall(tactic))
    renamed: dict[str, str] = {}
    for tag in tags:
        options = _similar_tags(tag)
        # `h` stays beside `h.a`: renamed alone it would part a goal from those that came of it.
        if tag in created or not options or any(other != tag and other.startswith(tag + ".") for other in tags):
            continue
        new = rng.choice(options)
        if new not in used and new != tag:
            renamed[tag] = new
            used.add(new)
    return renamed


def _similar_tags(tag: str) -> Sequence[str]:
    """Return the tags that may replace this one, itself included; none where a tag says something about the goal."""
    for group in _TAG_GROUPS:
        if tag in group:
            return group
    return ()
