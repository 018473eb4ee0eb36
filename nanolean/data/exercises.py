"""Exercises as people set them, with their proofs: texts made of the templates of `exercise_templates.lean`.

The rules of the other families compose lemmas; what a textbook asks for is another thing: definitions of one's own,
induction on them, a cut (`have`), a witness, a case split. A template is one such exercise with its proof. Its
instances differ in names, numbers and turns of phrase, so that a network learns to copy names rather than to know them.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nanolean.data.statement_key import Entry, proof_of
from nanolean.parser import parse_commands
from nanolean.syntax import TheoremCmd

TEMPLATES = Path(__file__).with_name("exercise_templates.lean")
SMALL = 7
"""Numbers in the texts are 2 to so much."""

_CHOICE = re.compile(r"⟦(?:(\d):)?([^⟦⟧]*)⟧")
_SLOT = re.compile(r"\$([A-Za-z])(\d*)")
_SUM = re.compile(r"#(?:([a-z])|\(([^()]*)\))")
_POOLS = {
    "n": ("n", "m", "k", "a", "b", "c", "d", "i", "j", "x", "y", "z", "p", "q", "r"),
    "l": ("l", "m", "k", "xs", "ys", "zs", "l1", "l2", "l3", "as", "bs"),
    "x": ("x", "y", "z", "a", "b", "c", "u", "v", "w"),
    "y": ("y", "z", "b", "c", "w", "v"),
    "s": ("s", "t", "u", "v", "a", "b", "c", "l", "r"),
    "f": ("f", "g", "s", "t", "u", "F", "G", "φ"),
    "P": ("P", "Q", "S", "A", "B"),
    "F": (
        *("total", "acc", "dbl", "step", "grow", "gauge", "weight", "twist", "turn", "mirror", "size", "depth", "mix"),
        *("sumTo", "sumOf", "prod", "pw", "rep", "walk", "count", "rev", "glue", "ap", "each", "sel", "fill", "iter"),
        *("val", "eval", "swap", "big", "low", "len", "tally", "cost", "score", "level", "part", "fold", "run", "go"),
    ),
    "T": ("Tree", "Term", "Shape", "Num", "Expr", "Chain", "Word", "Path", "Even", "Reach", "Form", "Item", "Code"),
}
_HYPOTHESES = (
    ("h", *(f"h{number}" for number in range(1, 9))),
    tuple(f"h{number}" for number in range(1, 10)),
    tuple(f"h{number}" for number in range(10)),
    ("h", "h'", "hx", "hy", "ha", "hb", "hc", "hd", "he"),
    ("h", "h0", "hs", "ht", "hk", "key", "h5", "h6", "h7"),
    ("hf", "hg", "hn", "hm", "hk", "h1", "h2", "h3", "h4"),
)


@dataclass(frozen=True)
class Exercise:
    """One text: definitions, if it needs some, and a theorem with its proof."""

    kind: str
    text: str


@cache
def templates() -> dict[str, str]:
    """Read the templates by name."""
    _, *blocks = re.split(r"^--- ", TEMPLATES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    by_name = {}
    for block in blocks:
        name, _, body = block.partition("\n")
        by_name[name.strip()] = body.strip()
    return by_name


def exercises(kind: str, seed: int, count: int) -> Iterator[Exercise]:
    """Yield at most `count` different instances of a template, the same for the same seed."""
    rng = random.Random(f"{seed}/{kind}")
    known: set[str] = set()
    # Where a template has few turns of phrase, several draws give the same text.
    for _ in range(4 * count):
        text = instance(templates()[kind], rng)
        if text not in known:
            known.add(text)
            yield Exercise(kind, text)
        if len(known) == count:
            return


def instance(template: str, rng: random.Random) -> str:
    """Make one text of a template."""
    text = _chosen(template, rng)
    text = _with_numbers(text, rng)
    text = _with_names(text, rng)
    # A choice may leave a line empty.
    statement, separator, proof = text.partition(":= by\n")
    lines = [line for line in proof.splitlines() if line.strip()]
    return f"{statement}{separator}" + "\n".join(lines) + "\n"


def _chosen(template: str, rng: random.Random) -> str:
    """Choose one of each `⟦this¦that⟧`; those with one number before them (`⟦1:..⟧`) choose alike."""
    shares: dict[str, float] = {}

    def choose(choice: re.Match[str]) -> str:
        tag, texts = choice[1], choice[2].split("¦")
        share = rng.random()
        if tag is not None:
            share = shares.setdefault(tag, share)
        return texts[int(share * len(texts))]

    return _CHOICE.sub(choose, template)


def _with_numbers(text: str, rng: random.Random) -> str:
    """Write a number for each `#a`, and the value of each `#(a+b)`."""
    numbers = {letter: rng.randint(2, SMALL) for letter in "abc"}

    def value(sum_: re.Match[str]) -> str:
        if sum_[1] is not None:
            return str(numbers[sum_[1]])
        # Of the templates' own few forms: letters, digits, + - *.
        return str(eval(sum_[2], {"__builtins__": {}}, numbers))

    return _SUM.sub(value, text)


def _with_names(text: str, rng: random.Random) -> str:
    """Write a name for each slot, no name twice."""
    # What the template itself calls by a name stays free for that.
    used = {"ih", "R", "α", "β", "γ", "p", "q", "r", "t", "Q", *_bare_names(text)}
    hypotheses = rng.choice(_HYPOTHESES)
    names: dict[str, str] = {}

    def name(slot: re.Match[str]) -> str:
        if slot[0] == "$t":
            return "exercise"
        if slot[0] not in names:
            kind = slot[1]
            pool = list(hypotheses if kind == "h" else _POOLS[kind])
            if kind != "h" and rng.random() < 0.8:
                rng.shuffle(pool)
            free = [candidate for candidate in pool if candidate not in used]
            chosen = free[0] if free else f"{pool[0]}{len(used)}"
            # A definition's name with a letter is a name that was seldom seen.
            if kind in "FT" and rng.random() < 0.4:
                chosen += rng.choice("ABCDEGHKLMNPRSTUVW")
            used.add(chosen)
            names[slot[0]] = chosen
        return names[slot[0]]

    return _SLOT.sub(name, text)


def _bare_names(text: str) -> set[str]:
    """Collect the words of a template that are no slots."""
    return set(re.findall(r"(?<![\w$.'])[A-Za-z_][\w']*", text))


def entry(exercise: Exercise) -> Entry:
    """Return the exercise with `sorry` for its proof, and the proof as a tree of single tactics."""
    statement, _, _ = exercise.text.partition(":= by\n")
    *_, command = parse_commands(exercise.text)
    assert isinstance(command, TheoremCmd), "a template ends with its theorem"
    return Entry(exercise.kind, f"{statement}:= by\n  sorry", proof_of(command, exercise.text))
