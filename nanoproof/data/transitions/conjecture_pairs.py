"""What a conjecturer learns from: a theorem and a lemma of its proof, then a theorem whose proof uses that lemma too.

    train, valid = conjecture_pairs(path)
    train[0].state    # "theorem (a b : Nat) : a + b = b + a\\nusing Nat.add_comm (n m : Nat) : n + m = m + n"
    train[0].tactic   # "(a b c : Nat) : a + b + c = c + (b + a)"

The pairs are those of STP (arXiv 2502.00212), out of the theorems of a LeanTree JSONL file: for each theorem H and each
lemma p that its proof mentions, earlier theorems E whose proofs mention p. Different are these: lemmas are theorems of
the file itself; E may be in another Lean file, since the embedded prover's are cut anew; the proof of E is no longer
than that of H, as the step is to be upward; and of each H only a few pairs are taken, since frequent lemmas would
make nearly all of them. What equals a benchmark's theorem is no answer.
"""

import random
import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.data.theorems import overlap
from nanoproof.data.theorems.theorem_sets import DATASETS, is_benchmark, list_theorems, splits_of
from nanoproof.data.transitions.leantree import (
    VALID_FRACTION,
    first_goal_statement,
    records,
    split_lines,
    whole_proofs,
)
from nanoproof.lean.lexical import ATOM
from nanoproof.lean.source import parse_declaration
from nanoproof.lean.types import Theorem, Transition

PAIRS_OF_A_THEOREM = 3
"""Pairs whose answer is one theorem, each with another lemma."""
REMEMBERED_USERS = 8
"""Of the theorems whose proofs mention a lemma, the last so many are seeds for the next one."""
_DOTTED = re.compile(rf"(?<![\w.«]){ATOM}(?:\.{ATOM})+")


def conjecture_prompt(statement: str, lemma: str = "", lemma_statement: str = "") -> str:
    """Write the text before a conjecture: the seed's statement `(x : ℕ) : x = x`, and a lemma of its proof, if any."""
    seed = f"theorem {' '.join(statement.split())}"
    return f"{seed}\nusing {' '.join(f'{lemma} {lemma_statement}'.split())}" if lemma else seed


def statement_text(source: str) -> str:
    """Return the statement of a theorem's source without its name, in one line. Raises SourceError for other text."""
    found = parse_declaration(source, whole=False)
    return " ".join(source[found.head_end : found.assign].split())


def mentioned_lemmas(text: str, lemmas: Collection[str]) -> list[str]:
    """List the known lemmas that the text of a proof mentions by their dotted names, each once, in order."""
    return [name for name in dict.fromkeys(_DOTTED.findall(text)) if name in lemmas]


def lemma_statements(path: Path) -> dict[str, str]:
    """Return the statements of all named theorems of a LeanTree file that have a tactic proof.

    Raises UserError as `load_split` does.
    """
    return dict(_named_statements(path))


def _named_statements(path: Path) -> Iterator[tuple[str, str]]:
    for _, record in records(path):
        for theorem in _theorems(record):
            statement = first_goal_statement(theorem)
            if statement is not None and "✝" not in statement and "." in str(theorem.get("name")):
                yield theorem["name"], " ".join(statement.split())


def _theorems(record: Any) -> Sequence[Any]:
    found = record.get("theorems") if isinstance(record, dict) else None
    return [theorem for theorem in found if isinstance(theorem, dict)] if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class _Proved:
    """A theorem that was met: the statement, and the steps of its proof."""

    statement: str
    depth: int


def conjecture_pairs(
    path: Path, valid_fraction: float = VALID_FRACTION, seed: int = 0
) -> tuple[list[Transition], list[Transition]]:
    """Make the pairs of a LeanTree file, to train on and to validate, split by the answer as `load_split` splits.

    The state of each is a prompt, its tactic the answer. The same for the same file and seed. Raises UserError as
    `load_split` does.
    """
    lemmas = lemma_statements(path)
    _, first_valid = split_lines(path, valid_fraction)
    rng = random.Random(seed)
    users: dict[str, deque[_Proved]] = defaultdict(lambda: deque(maxlen=REMEMBERED_USERS))
    found: tuple[list[Transition], list[Transition]] = ([], [])
    for number, (_, record) in enumerate(records(path)):
        for theorem in _theorems(record):
            for item in whole_proofs({"theorems": [theorem]}):
                proved = _Proved(item.state.removeprefix("theorem ").removesuffix(" := by"), item.depth)
                used = [name for name in mentioned_lemmas(item.tactic, lemmas) if name != theorem.get("name")]
                if not is_held_out(proved.statement):
                    chosen = rng.sample(used, min(len(used), PAIRS_OF_A_THEOREM))
                    found[number >= first_valid].extend(_pairs_of(proved, chosen, users, lemmas, rng))
                for name in used:
                    users[name].append(proved)
    return found


def _pairs_of(
    proved: _Proved, chosen: Sequence[str], users: dict[str, deque[_Proved]], lemmas: dict[str, str], rng: random.Random
) -> Iterator[Transition]:
    """Yield the pairs whose answer is a theorem, one for each of the chosen lemmas that has a seed."""
    for name in chosen:
        seeds = [each for each in users[name] if each.depth <= proved.depth and each.statement != proved.statement]
        if seeds:
            prompt = conjecture_prompt(rng.choice(seeds).statement, name, lemmas[name])
            yield Transition(prompt, proved.statement, proved.depth)


# -- What is held out ------------------------------------------------------------------------------------------------


def held_out_theorems(extra: Sequence[str] = ()) -> list[Theorem]:
    """List the theorems of all benchmarks that are here, the valid and test splits, and of further sets by name.

    What was not downloaded is not among them.
    """
    found: list[Theorem] = []
    for name in dict.fromkeys([*DATASETS, *extra]):
        for split in splits_of(name):
            if split != "train" and (is_benchmark(name, split) or name in extra):
                with suppress(UserError):
                    found += list_theorems(name, split)
    return found


def unordered_form_of(theorem: Theorem) -> str:
    """Return the form of a theorem's statement that names and the order of hypotheses do not change."""
    statements = list(overlap.declared_statements(theorem.source))
    return overlap.unordered_form(statements[-1].text) if statements else ""


@cache
def _held_out_forms() -> frozenset[str]:
    return frozenset(map(unordered_form_of, held_out_theorems())) - {""}


def is_held_out(statement: str) -> bool:
    """Tell whether a statement `(x : ℕ) : x = x` is, but for names and the order of hypotheses, a benchmark's."""
    return overlap.unordered_form(statement) in _held_out_forms()
