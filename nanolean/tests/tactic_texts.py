"""Tactic proofs that both elaborators run: goals, names, their order, and what is accepted.

Lean's tactics need nothing of its library but the words of `lean_answers.lean`: a `syntax` declaration there brings the
built-in elaborator of each to life. Texts are drawn by a seed. They end where NanoLean refuses a step or after a few
of them, so that most leave goals open, which both print. `lean_tactics.lean` holds texts with the answers of Lean
4.35.0, `=` written as such.

`python -m nanolean.tests.tactic_texts LIBRARY COUNT [SEED] [--write]` draws texts, asks both, and prints how many are
answered alike and the others by kind; `--write` keeps them. What it does not reach: macros (`rw`, `exists`, `rfl`) and
`simp`, which are written in Lean itself, and steps that tell constructors of numbers apart.
"""

import re
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from random import Random

from nanolean.tests.lean_answers import Case, cases_of, leans_answer, our_answer

FILE = Path(__file__).parent / "lean_tactics.lean"
MOST_STEPS = 5
TRIES = 6
ATOM = r"(?:[^\s()]+|\([^()]*\))"
EQUATION = re.compile(rf"\bEq ({ATOM}) ({ATOM})")
OPEN = "unsolved goals"

PROPS = ("P", "Q", "R x y", "R y x", "Same x y", "Same n m", "Same N.z n", "False")
EQUATIONS = ("Eq x y", "Eq n m", "Eq (f x) y")
"""Hypotheses alone: `x = y` takes less room than `Eq x y`, and lines in larger terms would break elsewhere."""
STEPS = (
    *("intro a", "intro a b", "intro", "intro x", "assumption", "exact h", "exact k", "exact Same.mk", "constructor"),
    *("left", "right", "apply h", "apply k", "apply Both.mk", "apply Some.intro", "exact hp", "apply Either.inl"),
    *("refine Both.mk ?_ ?_", "refine Some.intro x ?_", "refine ⟨?_, ?_⟩", "refine ⟨_, h⟩", "refine Both.mk ?c h"),
    *("cases h", "cases k", "cases n", "cases l", "cases p", "cases a", "induction n", "induction l", "induction h"),
    *("induction n generalizing m", "induction m", "rewrite [h]", "rewrite [← h]", "rewrite [h] at k", "rewrite [k]"),
    *("subst h", "subst k", "subst x", "revert h", "revert n", "revert x y", "clear h", "clear k", "clear x", "skip"),
    *("· skip", "· assumption", "specialize h x", "specialize k hp", "exact ⟨h, k⟩", "exact h.left", "exact k.right"),
    *("cases n with\n  | z => skip\n  | s q => skip", "induction n with\n  | z => skip\n  | s q ih => skip"),
    *("cases h with\n  | inl a => skip\n  | inr b => skip", "cases h with\n  | mk a b => skip"),
    *("cases k with\n  | intro w c => skip", "cases h with\n  | mk => skip", "cases p with\n  | mk u v => skip"),
    *("cases l with\n  | nil => skip\n  | cons b t => skip", "contradiction"),
    *("induction l with\n  | nil => skip\n  | cons b t ih => skip",),
)  # fmt: skip


def prop(rng: Random, depth: int) -> str:
    """A random proposition about the variables."""
    kind = rng.randrange(8) if depth else 0
    if kind < 3:
        return rng.choice(PROPS)
    left, right = prop(rng, depth - 1), prop(rng, depth - 1)
    if kind == 7:
        return f"Some fun z : A => Both (R x z) ({right})"
    if kind == 6:
        return f"∀ z : A, R x z → {right}"
    return (f"Both ({left}) ({right})", f"Either ({left}) ({right})", f"({left}) → {right}")[kind - 3]


def statement(rng: Random) -> str:
    """A random claim."""
    binders = "(x y : A) (n m : N) (l : L N) (p : Pt)"
    h, k = [rng.choice((*EQUATIONS, prop(rng, 2), prop(rng, 2))) for _ in range(2)]
    return f"example {binders} (h : {h}) (k : {k}) : {prop(rng, 2)} := by\n"


def refused(answer: str) -> bool:
    """Whether more is wrong than that goals are left."""
    return any("error" in line and OPEN not in line for line in re.findall(r"^\d+:\d+ .*", answer, re.MULTILINE))


def text_of(rng: Random) -> str:
    """A random claim with a few steps."""
    text = statement(rng)
    for _ in range(rng.randrange(1, MOST_STEPS + 1)):
        step = ""
        for _ in range(TRIES):
            step = f"  {rng.choice(STEPS)}\n"
            if not refused(our_answer(text + step)):
                break
        text += step
        answer = our_answer(text)
        if refused(answer) or OPEN not in answer:
            break
    return text


def plain(answer: str) -> str:
    """An answer whose metavariables have no numbers, which count what an elaborator has made on the way."""
    return re.sub(r"\?([mu])\.\d+", r"?\1._", answer)


def with_equations(answer: str) -> str:
    """Lean's answer with `x = y` for `Eq x y`: the words have no notation, and NanoLean knows the sign by itself."""

    def shown(match: re.Match[str]) -> str:
        left, right = [side[1:-1] if side.startswith("(") else side for side in match.groups()]
        return f"{left} = {right}"

    return plain(EQUATION.sub(shown, answer))


def difference(ours: str, leans: str) -> str:
    """In what two answers differ, empty where they are the same."""
    if ours == leans:
        return ""
    if refused(ours) != refused(leans):
        return "Lean alone refuses" if refused(leans) else "NanoLean alone refuses"
    if refused(ours):
        return "another message"
    if places(ours) == places(leans):
        return "other places"
    return "other goals" if bool(ours) == bool(leans) else "goals are left in one of them"


def places(answer: str) -> str:
    """An answer without the places of its messages."""
    return re.sub(r"^\d+:\d+", "", answer, flags=re.MULTILINE)


@cache
def kept_cases() -> tuple[Case, ...]:
    """The texts that are written down."""
    return cases_of(FILE.read_text(encoding="utf-8"))[1]


def main(library: str, count: str, *options: str) -> None:
    """Draw texts and ask both."""
    seeds = [option for option in options if option != "--write"]
    rng = Random(seeds[0] if seeds else "0")
    texts = [text_of(rng) for _ in range(int(count))]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda text: with_equations(leans_answer(Path(library), text)), texts))
    kinds: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    parts = [""]
    for text, answer in zip(texts, answers):
        ours = plain(our_answer(text))
        kind = difference(ours, answer)
        kinds[kind].append((text, answer, ours))
        parts.append(f"{'--- differs' if kind else '---'}\n{text}/-\n{answer}-/\n")
    print(f"{len(texts)} texts, {len(kinds.pop('', []))} answered to the letter as Lean does")
    for kind, found in kinds.items():
        print(f"## {kind}: {len(found)}")
        for text, answer, ours in found:
            print(f"{text}-- Lean\n{answer}-- NanoLean\n{ours}")
    if "--write" in options:
        FILE.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
