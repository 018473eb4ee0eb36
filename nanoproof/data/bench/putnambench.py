"""PutnamBench: problems of the Putnam competition, in Lean 4. A benchmark: never trained on, never filtered.

python -m nanoproof.data.bench.putnambench stats
python -m nanoproof.data.bench.putnambench show --id putnam_1962_a5

A problem is a file with one theorem. Where the problem asks for an answer, a definition comes before the theorem:

    abbrev putnam_1962_a5_solution : ℕ → ℕ := sorry
    -- fun n : ℕ => n * (n + 1) * 2^(n - 2)

The comment is the answer (the repository's `rewrite_solutions.py` reads it so), and it takes the place of that `sorry`.
So what is scored is the proof, not finding the answer. The definition becomes `noncomputable`: many answers are, such
as `Real.pi / 4`, while a definition by `sorry` needs no word of it. The set has no splits.
"""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_text
from nanoproof.data.dataset_cli import run_command
from nanoproof.data.sources.manifest import file_paths
from nanoproof.data.theorems import theorem_sets
from nanoproof.lean.declarations import declarations
from nanoproof.lean.lexical import mask, without_header
from nanoproof.lean.types import Theorem

NAME, FILES = "putnambench", "src/*.lean"
_SOLUTION = re.compile(
    r"^(?P<modifier>noncomputable[ \t]+)?(?:abbrev|def)[ \t]+(?P<name>\S+_solution)\b[^\n]*:=\s*(?P<gap>sorry)[ \t]*$",
    re.MULTILINE,
)
_ANSWER = re.compile(r"[ \t]*\n--[ \t]*(?P<answer>\S[^\n]*)")


def parse(paths: Iterable[Path]) -> theorem_sets.ParsedTheorems:
    """Parse the theorem of each file: its text without imports, with the answers filled in; the id is the name.

    Raises UserError, with the file, for what would change the number of theorems without notice: a file without a
    theorem or with several, an answer that is missing, a statement that cannot be worked with.
    """
    parsed = theorem_sets.ParsedTheorems(NAME)
    names: set[str] = set()
    for path in paths:
        text = without_header(read_text(path)).strip()
        theorems = [declaration for declaration in declarations(text) if declaration.keyword == "theorem"]
        if len(theorems) != 1:
            raise UserError(f"{path}: a file of PutnamBench has one theorem, got {len(theorems)}")
        name = theorems[0].full_name
        if name in names:
            raise UserError(f"{path}, theorem {name}: the name occurs twice")
        names.add(name)
        source = with_answers(text, f"{path}, theorem {name}")
        theorem_sets.require_usable(source, f"{path}, theorem {name}")
        parsed.add(name, source, "valid")  # the default split; it is the test split, too
    return parsed


def with_answers(text: str, place: str) -> str:
    """Replace the `sorry` of each solution by the answer in the comment after it. Raises UserError if there is none."""
    masked, parts, position = mask(text), [], 0  # masked: a commented definition asks for no answer
    for match in _SOLUTION.finditer(masked):
        answer = _ANSWER.match(text, match.end("gap"))
        if answer is None:
            raise UserError(f"{place}: no answer in a comment on the line after {match['name']}")
        parts.append(text[position : match.start()])
        if not match["modifier"]:
            parts.append("noncomputable ")
        parts += [text[match.start() : match.start("gap")], answer["answer"].rstrip()]
        position = answer.end()
    return "".join([*parts, text[position:]])


SET = theorem_sets.TheoremSet(NAME, ("valid",), lambda: parse(file_paths(NAME, FILES)))


def list_theorems(split: str, lean_version: str | None = None) -> list[Theorem]:
    """List all theorems as `TheoremSet.list_theorems` does, whether the split is valid or test."""
    if split == "test":
        split = "valid"
    return SET.list_theorems(split, lean_version)


main = partial(run_command, SET, "nanoproof.data.bench.putnambench")


if __name__ == "__main__":
    run_main(main)
