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
from dataclasses import dataclass, replace
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
    atomic_write_text(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(f"{len(rows)} candidates in {out}")


def write_generated() -> None:
    """Write the part `generated` of train anew; the rest of it stays as it is."""
    rest = [HardTheorem(t.id, t.source, None, "") for t in fixed_theorems(HARD, "train") if part_of(t.id) != GENERATED]
    proofs = {row["name"]: row["proof"] for row in proof_rows() if row["set"] == HARD}
    known = frozenset(
        statement_key(theorem.source)
        for name, splits in FIXED.items()
        for split in splits
        for theorem in fixed_theorems(name, split)
        if part_of(theorem.id) != GENERATED
    )
    rows = _candidate_rows(GENERATED_SEED, GENERATED_QUOTAS, known)
    new = [HardTheorem(f"{GENERATED}_{row['id']}", row["source"], row["proof"], "") for row in rows]
    random.Random(SEED).shuffle(new)
    kept = {split: fixed_theorems(HARD, split) for split in HELD_OUT}
    splits = {"train": [*rest, *new]} | {
        split: [HardTheorem(t.id, t.source, None, "") for t in theorems] for split, theorems in kept.items()
    }
    write({split: [replace(t, proof=t.proof or proofs.get(t.id)) for t in ts] for split, ts in splits.items()}, HARD)


def _candidate_rows(
    seed: int, quotas: dict[str, tuple[int, ...]], more_known: frozenset[str] = frozenset()
) -> list[dict[str, Any]]:
    """Generate statements that are neither in the library nor in `nanolean` nor among the keys given."""
    known = set(library_keys()) | more_known
    for split in ("train", "valid", "test"):
        known |= {statement_key(theorem.source) for theorem in list_theorems(split)}
    count, rows = len(quotas), list[dict[str, Any]]()
    with ProcessPoolExecutor() as pool:
        for part in pool.map(_family_candidates, quotas, quotas.values(), [seed] * count, [frozenset(known)] * count):
            rows += part
    return rows


def _family_candidates(family: str, quota: tuple[int, ...], seed: int, known: frozenset[str]) -> list[dict[str, Any]]:
    allow_deep_recursion()
    rows = []
    per_level = dict(enumerate(quota, start=1))
    for named in family_problems(family, seed, per_level, known, is_trivial, patience=600):
        try:
            proof = replay(start(named.source()), named.problem.proof).proof()
        except ReplayError:
            continue
        rows.append(
            {
                "id": named.id,
                "family": family,
                "level": named.level,
                "source": named.source(),
                "proof": render(proof, 0),
            }
        )
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
    found: tuple[list[HardTheorem], ...] = ([], [], [])
    for row in read_jsonl(candidates):
        times = sum(row["id"] in ids for ids in open_by)
        if times:
            hard = row["id"] in resistant
            name = f"{'resistant' if hard else 'selected'}_{row['id']}"
            theorem = HardTheorem(name, row["source"], row["proof"], f"{row['family']}_{row['level']}")
            found[2 if times < len(open_by) else int(hard)].append(theorem)
    return found[0], found[1], found[2]


def _left_open(directory: str) -> set[str]:
    """Read the ids of the theorems that an evaluation tried and did not prove."""
    records = read_jsonl(Path(directory) / "results.jsonl")
    return {record["theorem"]["id"] for record in records if record["outcome"] == "unproven"}


def long_library_theorems() -> list[HardTheorem]:
    """Return the held-out theorems of the library whose proof has many tactics and that no solver proves alone."""
    found = []
    for entry in library_proofs():
        if entry.name not in HELD_OUT_LIBRARY or is_trivial(entry.source):
            continue
        proof = replay(start(entry.source), entry.proof).proof()
        if proof.size >= MIN_LIBRARY_PROOF:
            name = "library_" + entry.name.replace(".", "_").replace("'", "_prime").replace("?", "_")
            statement = entry.source.removeprefix(UNIVERSES).strip().split(" ", 1)[1]
            source = f"{UNIVERSES}\ntheorem {name} {statement}"
            found.append(HardTheorem(name, source, render(proof, 0), entry.name.split(".", maxsplit=1)[0]))
    return found


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
        statement, _, proof = _split_proof(block_text)
        source = f"{before}\n\n" if before else ""
        name = f"{part}_{block.name}"
        source += f"theorem {name}{statement.removeprefix(f'theorem {block.name}')} := by\n  sorry"
        known = None if _SORRY.search(block_text) else proof
        yield HardTheorem(name, source, known, path.stem)


def _split_proof(text: str) -> tuple[str, str, str]:
    """Split a theorem into its statement and its proof at the `:= by` that begins the latter."""
    match = re.search(r"\s*:=\s*by\b", text)
    if match is None:
        raise ValueError(f"no `:= by` in {text[:80]!r}")
    proof = text[match.end() :].strip("\n")
    indent = len(proof) - len(proof.lstrip(" "))
    lines = [line[indent:] if line[:indent].isspace() or not line.strip() else line for line in proof.split("\n")]
    return text[: match.start()], match.group(), "\n".join(lines).strip()


def _without_comments(text: str) -> str:
    text = re.sub(r"/-.*?-/", "", text, flags=re.DOTALL)
    return re.sub(r"^\s*--.*$", "", text, flags=re.MULTILINE)


# -- Splits ----------------------------------------------------------------------------------------------------------


def draw(candidates: Path, left_by: Sequence[Sequence[str]], resists: Sequence[str]) -> dict[str, list[HardTheorem]]:
    """Deal all parts out to train, valid and test: the held-out splits get the same number of each part."""
    by_hand = [t for name in CLASSICS for t in written_by_hand(TESTS / name, "classic")]
    by_hand = [theorem for theorem in _distinct(by_hand) if not is_trivial(theorem.source)]
    splits: dict[str, list[HardTheorem]] = {"train": [], "valid": [], "test": []}
    _deal(splits, long_library_theorems(), None)
    unproved: list[HardTheorem] = []
    for name in OPEN:
        unproved += written_by_hand(TESTS / name, "open")
    _deal(splits, list(_distinct(unproved)), OPEN_HELD_OUT)
    _deal(splits, by_hand, CLASSICS_HELD_OUT)
    by_all, by_rl_too, by_some = selected(candidates, left_by, resists)
    _deal(splits, by_rl_too, (HELD_OUT_SIZE - len(splits["test"])) // 2)
    _deal(splits, by_all, HELD_OUT_SIZE - len(splits["test"]))
    splits["train"] += by_some
    return {split: _interleaved(theorems) for split, theorems in splits.items()}


def _distinct(theorems: list[HardTheorem]) -> Iterator[HardTheorem]:
    """Yield the first theorem of each id and of each statement that neither the library nor the first benchmark has."""
    known, names = set(library_keys()), set[str]()
    known |= {statement_key(theorem.source) for split in HELD_OUT for theorem in list_theorems(split)}
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
    target = len(theorems) // 2 if held_out is None else held_out
    for number, theorem in enumerate(_in_turn(list(groups.values()))):
        splits[HELD_OUT[number % 2] if number < 2 * target else "train"].append(theorem)


def _in_turn(groups: list[list[HardTheorem]]) -> list[HardTheorem]:
    """Return two theorems of one group at a time, the groups in turn, larger ones more often."""
    order = [
        (2 * (k // 2) / len(group), number, theorem)
        for number, group in enumerate(groups)
        for k, theorem in enumerate(group)
    ]
    return [theorem for _, _, theorem in sorted(order, key=lambda entry: entry[:2])]


def _interleaved(theorems: list[HardTheorem]) -> list[HardTheorem]:
    """Mix the parts evenly, so that every beginning of a file is a fair sample of it."""
    parts: dict[str, list[HardTheorem]] = defaultdict(list)
    for theorem in random.Random(SEED).sample(theorems, len(theorems)):
        parts[part_of(theorem.id)].append(theorem)
    places = [
        ((k + 0.5) / len(members), part, member)
        for part, members in sorted(parts.items())
        for k, member in enumerate(members)
    ]
    return [theorem for _, _, theorem in sorted(places, key=lambda place: place[:2])]


def write(splits: dict[str, list[HardTheorem]], name: str) -> None:
    """Write the files of a set, and its reference proofs."""
    proofs = [row for row in proof_rows() if row["set"] != name]
    for split, theorems in splits.items():
        rows = [{"id": t.id, "part": part_of(t.id), "source": t.source} for t in theorems]
        atomic_write_text(fixed_file(name, split), "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        proofs += [
            {"set": name, "split": split, "name": t.id, "proof": t.proof} for t in theorems if t.proof is not None
        ]
    of_training = [row for row in proofs if row["split"] == "train" and part_of(row["name"]) == "classic"]
    others = [row for row in proofs if row not in of_training]
    for file, rows in ((TRAIN_PROOFS, of_training), (PROOFS, others)):
        atomic_write_text(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


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

    Of the theorems every `step`th is tried: whether it is trivial, and whether its proof goes through. Of those of the
    part `generated`, which are most of them, no other is read either.
    """
    keys = dict.fromkeys(library_keys(), "the library")
    for split in ("valid", "test"):
        keys |= {statement_key(theorem.source): f"nanolean {split}" for theorem in list_theorems(split)}
    proofs = {(row["set"], row["name"]): row["proof"] for row in proof_rows()}
    found: list[str] = []
    for name, splits in FIXED.items():
        for split in splits:
            theorems = fixed_theorems(name, split)
            for number, theorem in enumerate(theorems):
                if number % step and part_of(theorem.id) == "generated":
                    continue
                key, proof = statement_key(theorem.source), proofs.get((name, theorem.id))
                if key in keys and part_of(theorem.id) != "library":
                    found.append(f"{theorem.id} states the same as {keys[key]}")
                keys[key] = theorem.id
                if number % step == 0:
                    found += _problems_of_one(state, theorem, proof)
            if split in HELD_OUT and name == HARD:
                without = sum((name, theorem.id) not in proofs for theorem in theorems)
                if len(theorems) != HELD_OUT_SIZE or without > HELD_OUT_SIZE // 4:
                    found.append(f"{name} {split} has {len(theorems)} theorems, {without} of them without a proof")
    return found


def _problems_of_one(state: EnvState, theorem: Theorem, proof: str | None) -> list[str]:
    if is_trivial(theorem.source):
        return [f"{theorem.id} is proved by one solver"]
    if proof is None:
        return [] if part_of(theorem.id) == "open" else [f"{theorem.id} has no reference proof"]
    if [message for message in run_text(state, splice(theorem, proof)).messages if message.severity != "info"]:
        return [f"the reference proof of {theorem.id} does not go through"]
    if part_of(theorem.id) == "premise" and not names_any(proof, HELD_OUT_PREMISES):
        return [f"the reference proof of {theorem.id} names no premise that is held out"]
    return []


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
    found = problems_of(state)
    for line in found:
        print(line, file=sys.stderr)
    for name, splits in FIXED.items():
        for split in splits:
            counts = Counter(part_of(theorem.id) for theorem in fixed_theorems(name, split))
            print(f"{name} {split}: {counts.total()} theorems, {dict(counts)}")
    print("problems:", len(found))
    return 1 if found else 0


if __name__ == "__main__":
    run_main(main)
