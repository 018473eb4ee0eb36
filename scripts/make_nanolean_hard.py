"""Make the sets `nanolean-hard` and `nanolean-premise` of the embedded prover, or check the existing ones.

    python -m scripts.make_nanolean_hard                              # are they what they say? (exit 1 if not)
    python -m scripts.make_nanolean_hard candidates --out FILE        # generated statements, with their proofs
    python -m scripts.make_nanolean_hard write-generated              # the part `generated` of train
    python -m scripts.make_nanolean_hard write --candidates FILE --left-by DIR DIR --left-by DIR DIR --resists DIR DIR

The parts of `nanolean-hard`: *selected* are generated statements that finetuned networks left open with solvers at
every node, *resistant* those that a network after RL left open as well. Each `--left-by` names the evaluations of one
finetuned network, `--resists` those of the one after RL. A network left a statement open if at least one of its
searches did, so that no search is favoured that comes later. Those of valid and test were left open by all networks
named, those of train by one at least. *Library*: theorems of NanoLean's library
with long proofs, which no training proof proves or names. *Classic*: exercises written by hand. *Generated*, in train
alone: more statements of the generator's upper levels, not selected by anything. The text in `data/nanolean/` is fixed:
scores are comparable only as long as it does not change. Reference proofs are kept with the tests, where no training
looks.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nanolean.commands.runner import run_text
from nanolean.data.families import family_problems
from nanolean.data.make import HELD_OUT_LIBRARY, HELD_OUT_PREMISES, names_any
from nanolean.data.problem import render
from nanolean.data.replay import ReplayError, is_trivial, library, replay, start
from nanolean.data.statement_key import UNIVERSES, library_keys, library_proofs, statement_key
from nanolean.env_state import EnvState
from nanolean.kernel.budget import allow_deep_recursion
from nanoproof.common.config import Parser
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_text, read_jsonl
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.data.nanolean import (
    FIXED,
    HARD,
    PREMISE,
    TRAIN_PROOFS,
    fixed_file,
    fixed_theorems,
    list_theorems,
    part_of,
)
from nanoproof.lean.declarations import declarations
from nanoproof.lean.source import splice
from nanoproof.lean.types import Theorem
from scripts.make_nanolean_benchmark import is_accepted

TESTS = REPO_ROOT / "tests" / "data"
CLASSICS = ("hard_classics_numbers.lean", "hard_classics_lists.lean")
OPEN = ("hard_open_numbers.lean", "hard_open_lists.lean")
"""Classics that nobody has proved here; they hold for all small numbers."""
PREMISES = {"valid": "premise_valid.lean", "test": "premise_test.lean"}
PROOFS = TESTS / "hard_proofs.jsonl"
"""All reference proofs but those of train's classics, which are for training (`reference_proofs`)."""
HELD_OUT = ("valid", "test")
HELD_OUT_SIZE = 120
CLASSICS_HELD_OUT, OPEN_HELD_OUT = 40, 5
"""Classics, and open ones, in each of valid and test."""
MIN_LIBRARY_PROOF = 8
SEED = 31_415_926
QUOTAS: dict[str, tuple[int, ...]] = {
    "mixed": (0, 0, 250, 300, 300, 300),
    "induction": (0, 60, 150, 150, 120, 60),
    "lists": (0, 100, 150, 60),
    "order": (0, 60, 100, 120, 100, 60),
    "divides": (0, 60, 120, 150, 120, 60),
    "cancel": (0, 60, 100, 120, 60),
    "exists": (0, 60, 60, 60),
    "nat_identity": (0, 0, 40, 60, 60, 60),
    "pred": (0, 0, 60, 60, 60, 60),
    "equation": (0, 0, 60, 60, 60, 60),
}
"""Candidates of each family, from level 1 up."""
GENERATED = "generated"
GENERATED_SEED = SEED + 1
GENERATED_QUOTAS: dict[str, tuple[int, ...]] = {
    "mixed": (0, 0, 0, 150, 250, 200),
    "order": (0, 0, 0, 100, 60, 30),
    "divides": (0, 0, 0, 100, 150, 60),
    "cancel": (0, 0, 0, 150, 50),
    "exists": (0, 0, 0, 50),
    "nat_identity": (0, 0, 0, 20, 20, 20),
}
"""What train has besides: about as the selected and resistant ones are spread."""


@dataclass(frozen=True)
class HardTheorem:
    """A theorem of a set: its id, whose first word is its part, its source with `sorry`, and a proof if one exists."""

    id: str
    source: str
    proof: str | None
    group: str
    """What it is drawn evenly by: the family and level of a selected one, the file of a classic."""


# -- Candidates ------------------------------------------------------------------------------------------------------


def make_candidates(out: Path) -> None:
    """Write generated statements that neither training, library nor any benchmark has, with their proofs."""
    rows = _candidate_rows(SEED, QUOTAS)
    write_rows(out, rows)
    print(f"{len(rows)} candidates in {out}")


def write_rows(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as JSONL."""
    # With spaces behind `:` and `,`, unlike logs: the files of the sets are read by people, and fixed.
    atomic_write_text(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_generated() -> None:
    """Write the part `generated` of train anew; the rest of it stays as it is."""
    proofs = {row["name"]: row["proof"] for row in proof_rows() if row["set"] == HARD}
    splits: dict[str, list[HardTheorem]] = {}
    for split in ("train", *HELD_OUT):
        splits[split] = []
        for theorem in fixed_theorems(HARD, split):
            if split != "train" or part_of(theorem.id) != GENERATED:
                splits[split].append(HardTheorem(theorem.id, theorem.source, proofs.get(theorem.id), ""))
    # Neither what is held out nor what train has already.
    known: set[str] = set()
    for name, split in all_splits():
        for theorem in fixed_theorems(name, split):
            if part_of(theorem.id) != GENERATED:
                known.add(statement_key(theorem.source))
    new = []
    for row in _candidate_rows(GENERATED_SEED, GENERATED_QUOTAS, frozenset(known)):
        theorem_id = f"{GENERATED}_{row['id']}"
        new.append(HardTheorem(theorem_id, row["source"], row["proof"] or proofs.get(theorem_id), ""))
    random.Random(SEED).shuffle(new)
    splits["train"] += new
    write(splits, HARD)


def all_splits() -> Iterator[tuple[str, str]]:
    """Yield the sets with their splits."""
    for name, splits in FIXED.items():
        for split in splits:
            yield name, split


def _candidate_rows(
    seed: int, quotas: dict[str, tuple[int, ...]], more_known: frozenset[str] = frozenset()
) -> list[dict[str, Any]]:
    """Generate statements that are neither in the library nor in `nanolean` nor among the keys given."""
    known = set(library_keys()) | more_known
    for split in ("train", "valid", "test"):
        known.update(statement_key(theorem.source) for theorem in list_theorems(split))
    candidates_of = partial(_family_candidates, seed=seed, known=frozenset(known))
    rows: list[dict[str, Any]] = []
    # A family in each process; `map` keeps their order, however long each takes.
    with ProcessPoolExecutor() as pool:
        for rows_of_family in pool.map(candidates_of, quotas, quotas.values()):
            rows += rows_of_family
    return rows


def _family_candidates(family: str, quota: tuple[int, ...], seed: int, known: frozenset[str]) -> list[dict[str, Any]]:
    allow_deep_recursion()
    rows = []
    per_level = dict(enumerate(quota, start=1))
    for problem in family_problems(family, seed, per_level, known, is_trivial, patience=600):
        source = problem.source()
        # A generator may be wrong about its proof: what does not go through is no candidate.
        try:
            proof = replay(start(source), problem.problem.proof).proof()
        except ReplayError:
            continue
        about = {"id": problem.id, "family": family, "level": problem.level}
        rows.append({**about, "source": source, "proof": render(proof, 0)})
    return rows


# -- The parts -------------------------------------------------------------------------------------------------------


def selected(
    candidates: Path, left_by: Sequence[Sequence[str]], resists: Sequence[str]
) -> tuple[list[HardTheorem], list[HardTheorem], list[HardTheorem]]:
    """Return the candidates that all finetuned networks left open, those that resist RL too, and those left by some.

    A network has left open what at least one of its evaluations did; what an evaluation has not tried counts as proved.
    """
    open_by = [set[str]().union(*map(_left_open, group)) for group in left_by]
    resistant = set[str]().union(*map(_left_open, resists))
    by_all: list[HardTheorem] = []
    by_rl_too: list[HardTheorem] = []
    by_some: list[HardTheorem] = []
    for row in read_jsonl(candidates):
        networks = sum(row["id"] in ids for ids in open_by)
        if networks == 0:
            continue
        part = "selected"
        if row["id"] in resistant:
            part = "resistant"
        group = f"{row['family']}_{row['level']}"
        theorem = HardTheorem(f"{part}_{row['id']}", row["source"], row["proof"], group)
        if networks < len(open_by):
            by_some.append(theorem)
        elif part == "resistant":
            by_rl_too.append(theorem)
        else:
            by_all.append(theorem)
    return by_all, by_rl_too, by_some


def _left_open(directory: str) -> set[str]:
    """Read the ids of the theorems that an evaluation tried and did not prove."""
    # An error says nothing of the theorem.
    records = read_jsonl(Path(directory) / "results.jsonl")
    return {record["theorem"]["id"] for record in records if record["outcome"] == "unproven"}


def long_library_theorems() -> list[HardTheorem]:
    """Return the held-out theorems of the library whose proof has many tactics and that no solver proves alone."""
    theorems = []
    for entry in library_proofs():
        if entry.name not in HELD_OUT_LIBRARY or is_trivial(entry.source):
            continue
        proof = replay(start(entry.source), entry.proof).proof()
        if proof.size >= MIN_LIBRARY_PROOF:
            # Under a name of its own: the library has the theorem under the other, and `exact` would find it.
            name = "library_" + entry.name.replace(".", "_").replace("'", "_prime").replace("?", "_")
            statement = entry.source.removeprefix(UNIVERSES).strip().split(" ", 1)[1]
            source = f"{UNIVERSES}\ntheorem {name} {statement}"
            theorems.append(HardTheorem(name, source, render(proof, 0), entry.name.split(".", maxsplit=1)[0]))
    return theorems


_SORRY = re.compile(r":=\s*(?:by\s+)?sorry\s*\Z")


def written_by_hand(path: Path, part: str) -> Iterator[HardTheorem]:
    """Yield the theorems of a Lean file, each with the definitions that stand directly before it."""
    text, position = path.read_text(encoding="utf-8"), 0
    for block in declarations(text):
        if block.keyword != "theorem":
            continue
        before = _without_comments(text[position : block.start]).strip()
        position = block.end
        block_text = text[block.start : block.end]
        statement, proof = _split_proof(block_text)
        name = f"{part}_{block.name}"
        source = f"theorem {name}{statement.removeprefix(f'theorem {block.name}')} := by\n  sorry"
        if before:
            source = f"{before}\n\n{source}"
        # The open classics have `sorry` for their proofs.
        if _SORRY.search(block_text):
            yield HardTheorem(name, source, None, path.stem)
        else:
            yield HardTheorem(name, source, proof, path.stem)


def _split_proof(text: str) -> tuple[str, str]:
    """Split a theorem into its statement and its proof at the `:= by` that begins the latter."""
    match = re.search(r"\s*:=\s*by\b", text)
    if match is None:
        raise ValueError(f"no `:= by` in {text[:80]!r}")
    # The proof begins in the first column, as proofs of attempts do: layout counts columns.
    proof = text[match.end() :].strip("\n")
    indent = len(proof) - len(proof.lstrip(" "))
    lines = []
    for line in proof.split("\n"):
        if line[:indent].isspace() or not line.strip():
            line = line[indent:]
        lines.append(line)
    return text[: match.start()], "\n".join(lines).strip()


def _without_comments(text: str) -> str:
    text = re.sub(r"/-.*?-/", "", text, flags=re.DOTALL)
    return re.sub(r"^\s*--.*$", "", text, flags=re.MULTILINE)


# -- Splits ----------------------------------------------------------------------------------------------------------


def draw(candidates: Path, left_by: Sequence[Sequence[str]], resists: Sequence[str]) -> dict[str, list[HardTheorem]]:
    """Deal all parts out to train, valid and test: the held-out splits get the same number of each part."""
    splits: dict[str, list[HardTheorem]] = {"train": [], "valid": [], "test": []}
    _deal(splits, long_library_theorems(), None)
    unproved: list[HardTheorem] = []
    for name in OPEN:
        unproved += written_by_hand(TESTS / name, "open")
    _deal(splits, list(_distinct(unproved)), OPEN_HELD_OUT)
    classics: list[HardTheorem] = []
    for name in CLASSICS:
        classics += written_by_hand(TESTS / name, "classic")
    classics = [theorem for theorem in _distinct(classics) if not is_trivial(theorem.source)]
    _deal(splits, classics, CLASSICS_HELD_OUT)
    # What those leave of the held-out splits is half resistant, half selected.
    by_all, by_rl_too, by_some = selected(candidates, left_by, resists)
    _deal(splits, by_rl_too, (HELD_OUT_SIZE - len(splits["test"])) // 2)
    _deal(splits, by_all, HELD_OUT_SIZE - len(splits["test"]))
    splits["train"] += by_some
    return {split: _interleaved(theorems) for split, theorems in splits.items()}


def _distinct(theorems: list[HardTheorem]) -> Iterator[HardTheorem]:
    """Yield the first theorem of each id and of each statement that neither the library nor the first benchmark has."""
    known, names = set(library_keys()), set[str]()
    for split in HELD_OUT:
        known.update(statement_key(theorem.source) for theorem in list_theorems(split))
    for theorem in theorems:
        key = statement_key(theorem.source)
        if key not in known and theorem.id not in names:
            known.add(key)
            names.add(theorem.id)
            yield theorem


def _deal(splits: dict[str, list[HardTheorem]], theorems: list[HardTheorem], held_out: int | None) -> None:
    """Give valid and test the same number of each group, up to `held_out` in all, and train the rest."""
    groups: dict[str, list[HardTheorem]] = defaultdict(list)
    for theorem in theorems:
        groups[theorem.group].append(theorem)
    rng = random.Random(SEED)
    for members in groups.values():
        rng.shuffle(members)
    if held_out is None:  # all of them, but for an odd one
        held_out = len(theorems) // 2
    for number, theorem in enumerate(_in_turn(list(groups.values()))):
        # `_in_turn` has two theorems of a group one after the other: one for each held-out split.
        if number < 2 * held_out:
            splits[HELD_OUT[number % 2]].append(theorem)
        else:
            splits["train"].append(theorem)


def _in_turn(groups: list[list[HardTheorem]]) -> list[HardTheorem]:
    """Return two theorems of one group at a time, the groups in turn, larger ones more often."""
    places: list[tuple[float, HardTheorem]] = []
    for group in groups:
        for position, theorem in enumerate(group):
            # Both theorems of a pair have the place of the first, from 0 to 1 in the group.
            places.append((2 * (position // 2) / len(group), theorem))
    return _by_place(places)


def _by_place(places: list[tuple[float, HardTheorem]]) -> list[HardTheorem]:
    """Return the theorems in the order of their places; those of one place as they are given."""
    return [theorem for _, theorem in sorted(places, key=lambda entry: entry[0])]


def _interleaved(theorems: list[HardTheorem]) -> list[HardTheorem]:
    """Mix the parts evenly, so that every beginning of a file is a fair sample of it."""
    parts: dict[str, list[HardTheorem]] = defaultdict(list)
    for theorem in random.Random(SEED).sample(theorems, len(theorems)):
        parts[part_of(theorem.id)].append(theorem)
    places: list[tuple[float, HardTheorem]] = []
    for _, members in sorted(parts.items()):
        for position, theorem in enumerate(members):
            # In the middle of its share: a part with one theorem has it in the middle of the file.
            places.append(((position + 0.5) / len(members), theorem))
    return _by_place(places)


def write(splits: dict[str, list[HardTheorem]], name: str) -> None:
    """Write the files of a set, and its reference proofs."""
    proofs = [row for row in proof_rows() if row["set"] != name]
    for split, theorems in splits.items():
        rows = []
        for theorem in theorems:
            rows.append({"id": theorem.id, "part": part_of(theorem.id), "source": theorem.source})
            if theorem.proof is not None:
                proofs.append({"set": name, "split": split, "name": theorem.id, "proof": theorem.proof})
        write_rows(fixed_file(name, split), rows)
    for_training, for_tests = [], []
    for row in proofs:
        if row["split"] == "train" and part_of(row["name"]) == "classic":
            for_training.append(row)
        else:
            for_tests.append(row)
    write_rows(TRAIN_PROOFS, for_training)
    write_rows(PROOFS, for_tests)


def proof_rows() -> list[dict[str, Any]]:
    """Return the reference proofs of all sets: `set`, `split`, `name` and `proof`."""
    rows: list[dict[str, Any]] = []
    for file in (PROOFS, TRAIN_PROOFS):
        if file.exists():
            rows += read_jsonl(file)
    return rows


# -- Check -----------------------------------------------------------------------------------------------------------


def problems_of(state: EnvState, step: int = 1) -> list[str]:
    """List what is wrong with the sets: known or trivial statements, missing or refused proofs, premises not used.

    Of the theorems every `step`th is read: whether another of them states the same, whether it is trivial, and whether
    its proof goes through.
    """
    keys = dict.fromkeys(library_keys(), "the library")
    for split in HELD_OUT:
        for theorem in list_theorems(split)[::step]:
            keys[statement_key(theorem.source)] = f"nanolean {split}"
    proofs = {(row["set"], row["name"]): row["proof"] for row in proof_rows()}
    problems: list[str] = []
    for name, split in all_splits():
        theorems = fixed_theorems(name, split)
        for theorem in theorems[::step]:
            key = statement_key(theorem.source)
            # Those of the part `library` are in the library: no training proof proves or names them.
            if key in keys and part_of(theorem.id) != "library":
                problems.append(f"{theorem.id} states the same as {keys[key]}")
            keys[key] = theorem.id
            problem = problem_of(state, theorem, proofs.get((name, theorem.id)))
            if problem is not None:
                problems.append(problem)
        if split in HELD_OUT and name == HARD:
            # Open ones have none, and it may be that some cannot be proved.
            without = sum((name, theorem.id) not in proofs for theorem in theorems)
            if len(theorems) != HELD_OUT_SIZE or without > HELD_OUT_SIZE // 4:
                problems.append(f"{name} {split} has {len(theorems)} theorems, {without} of them without a proof")
    return problems


def problem_of(state: EnvState, theorem: Theorem, proof: str | None) -> str | None:
    """Return what is wrong with a theorem or its reference proof, None if nothing is."""
    part = part_of(theorem.id)
    if is_trivial(theorem.source):
        return f"{theorem.id} is proved by one solver"
    if proof is None and part == "open":
        return None
    if proof is None:
        return f"{theorem.id} has no reference proof"
    if not is_accepted(run_text(state, splice(theorem, proof))):
        return f"the reference proof of {theorem.id} does not go through"
    if part == "premise" and not names_any(proof, HELD_OUT_PREMISES):
        return f"the reference proof of {theorem.id} names no premise that is held out"
    return None


def main(argv: Sequence[str] | None = None) -> int:
    """Make candidates, write the sets, or check them."""
    parser = Parser(prog="python -m scripts.make_nanolean_hard", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command")
    candidates = commands.add_parser("candidates", help="Generate statements to select from.")
    candidates.add_argument("--out", type=Path, required=True, help="The JSONL file to write.")
    writing = commands.add_parser("write", help="Draw nanolean-hard anew and write it: other theorems, other scores.")
    writing.add_argument("--candidates", type=Path, required=True, help="The file of `candidates`.")
    writing.add_argument(
        "--left-by", action="append", nargs="+", default=[], metavar="DIR", help="Evaluations of one network."
    )
    writing.add_argument("--resists", nargs="+", default=[], metavar="DIR", help="Evaluations of a network after RL.")
    commands.add_parser("write-generated", help="Generate the part `generated` of the training theorems anew.")
    commands.add_parser("write-premise", help="Write nanolean-premise from the files of its theorems with proofs.")
    commands.add_parser("check", help="Check the sets (also without a command).")
    return run(parser.parse_args(argv))


def run(args: argparse.Namespace) -> int:
    """Run a command; returns the exit code."""
    allow_deep_recursion()
    if args.command == "candidates":
        make_candidates(args.out)
        return 0
    state = library()
    if args.command == "write":
        write(draw(args.candidates, args.left_by, args.resists), HARD)
    if args.command == "write-generated":
        write_generated()
    if args.command == "write-premise":
        write({split: list(written_by_hand(TESTS / name, "premise")) for split, name in PREMISES.items()}, PREMISE)
    # What was written is checked as well: a generator, or a file of classics, may be wrong.
    problems = problems_of(state)
    for line in problems:
        print(line, file=sys.stderr)
    for name, split in all_splits():
        counts = Counter(part_of(theorem.id) for theorem in fixed_theorems(name, split))
        print(f"{name} {split}: {counts.total()} theorems, {dict(counts)}")
    print("problems:", len(problems))
    return int(bool(problems))


if __name__ == "__main__":
    run_main(main)
