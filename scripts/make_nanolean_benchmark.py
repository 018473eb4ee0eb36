"""Make the held-out benchmark of NanoLean, or check the existing one.

    python -m scripts.make_nanolean_benchmark            # is the benchmark what it says it is? (exit 1 if not)
    python -m scripts.make_nanolean_benchmark --write    # make it anew: other theorems, other scores

The benchmark is hand-written classics and generated statements, spread evenly over levels 1 to 6 and over families. Its
text in `data/nanolean/` is fixed: scores are comparable only as long as it does not change. Reference proofs are kept
with the tests, where no training looks.
"""

import itertools
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanolean.commands.runner import CommandResult, run_text
from nanolean.data.families import FAMILIES, LEVELS, family_problems
from nanolean.data.problem import level_of_size, render
from nanolean.data.replay import ReplayError, is_trivial, library, replay, start
from nanolean.data.statement_key import Entry, library_keys, statement_key, tactic_proofs
from nanolean.env_state import EnvState
from nanolean.kernel.budget import allow_deep_recursion
from nanolean.kernel.declaration import TheoremInfo
from nanoproof.common.config import Parser
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_text, read_jsonl
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.data.nanolean import BENCHMARK, benchmark_theorems, level_of, theorem_text
from nanoproof.lean.source import splice

TESTS = REPO_ROOT / "tests" / "data"
CLASSICS = TESTS / "benchmark_classics.lean"
PROOFS = TESTS / "benchmark_proofs.jsonl"
PREMISE_SPLITS = {"valid": TESTS / "premise_valid.lean", "test": TESTS / "premise_test.lean"}
"""The premise-novel theorems with their reference proofs, each below a line `-- premise: NAME`."""
SPLITS = ("valid", "test")
SPLIT_SIZE = 200
SEED = 2_718_281
PER_CELL = 40
"""Candidates that are drawn for each family and level."""


def classics() -> list[Entry]:
    """Return the hand-written theorems that no finisher proves alone, each with its name, level and proof."""
    entries = []
    for proof in tactic_proofs(CLASSICS.read_text(encoding="utf-8")):
        if is_trivial(proof.source):
            continue
        size = replay(start(proof.source), proof.proof).size
        entries.append(Entry(f"{proof.name}_l{level_of_size(size)}", proof.source, proof.proof))
    return entries


def generated(excluded: frozenset[str]) -> Iterator[tuple[str, int, Entry]]:
    """Yield (family, level, theorem) of generated problems that replay and that no finisher proves alone."""
    for family in FAMILIES:
        per_level = dict.fromkeys(LEVELS, PER_CELL)
        for problem in family_problems(family, SEED, per_level, excluded, is_trivial, patience=2000):
            try:
                proof = replay(start(problem.source()), problem.problem.proof).proof()
            except ReplayError:
                continue
            # `FAMILY_lLEVEL_h17`: training has ids of the same form without the h, and nobody shall mistake them.
            name = "_h".join(problem.id.rsplit("_", 1))
            yield family, problem.level, Entry(name, problem.source(), proof)


def draw() -> dict[str, list[Entry]]:
    """Draw both splits: classics in turn, then for each level its families in turn until the level has its share."""
    splits: dict[str, list[Entry]] = {split: [] for split in SPLITS}
    # Keys of statements, equal for the same one with other names: a solved theorem must not come again.
    known = set(library_keys())
    for number, entry in enumerate(classics()):
        assert entry.key not in known, f"{entry.name} is in the library or twice among the classics"
        known.add(entry.key)
        splits[SPLITS[number % 2]].append(entry)
    cells: dict[int, dict[str, list[Entry]]] = {level: {} for level in LEVELS}
    for family, level, entry in generated(frozenset(known)):
        if entry.key not in known:
            known.add(entry.key)
            cells[level].setdefault(family, []).append(entry)
    for level, families in cells.items():
        _deal(splits, level, families)
    return {split: interleaved(entries) for split, entries in splits.items()}


def _deal(splits: dict[str, list[Entry]], level: int, families: dict[str, list[Entry]]) -> None:
    """Give both splits the same number of a level's theorems of each family, as far as they go round."""
    # The levels divide the size with a remainder, of which the lower ones have one theorem each.
    share = SPLIT_SIZE // len(LEVELS) + (level <= SPLIT_SIZE % len(LEVELS))
    missing = dict.fromkeys(splits, share)
    for split, entries in splits.items():
        for entry in entries:
            missing[split] -= level_of(entry.name) == level
    # Drawn: the last families of an order by name would have a theorem less at every level.
    order = sorted(families, key=lambda family: random.Random(f"{level}/{family}").random())
    for pair in _pairs(order, families):
        for split, entry in zip(SPLITS, pair, strict=True):
            if missing[split] > 0:
                splits[split].append(entry)
                missing[split] -= 1
    assert max(missing.values()) <= 0, f"too few candidates at level {level}"


def _pairs(order: list[str], families: dict[str, list[Entry]]) -> Iterator[tuple[Entry, Entry]]:
    """Yield two theorems of one family at a time, families in turn."""
    longest = max(len(entries) for entries in families.values())
    for first in range(0, longest - 1, 2):
        for family in order:
            if len(families[family]) > first + 1:
                yield families[family][first], families[family][first + 1]


def interleaved(entries: list[Entry]) -> list[Entry]:
    """Put levels in turn, so that every beginning of the file is a fair sample of it."""
    queues: dict[int, list[Entry]] = {level: [] for level in LEVELS}
    for entry in random.Random(SEED).sample(entries, len(entries)):
        level = level_of(entry.name)
        if level in queues:
            queues[level].append(entry)
    in_turn: list[Entry] = []
    for entries_of_round in itertools.zip_longest(*queues.values()):
        in_turn += filter(None, entries_of_round)  # the higher levels have fewer
    return in_turn


def write(splits: dict[str, list[Entry]]) -> None:
    """Write the two files and the reference proofs."""
    proofs = ""
    for split, entries in splits.items():
        text = (
            f"/-\nHeld-out theorems of NanoLean ({split}), levels 1 to 6.\n"
            "The text is fixed, so that scores stay comparable. Made by scripts/make_nanolean_benchmark.py.\n-/\n\n"
        )
        text += "\n\n".join(entry.renamed_source() for entry in entries)
        atomic_write_text(BENCHMARK / f"{split}.lean", text + "\n")
        for entry in entries:
            row = {"name": entry.name, "split": split, "proof": render(entry.proof, 0)}
            proofs += json.dumps(row, ensure_ascii=False) + "\n"
    atomic_write_text(PROOFS, proofs)


def problems_of(state: EnvState, step: int = 1) -> list[str]:
    """List what is wrong with the benchmark: sizes, duplicates, trivial or known statements, proofs missing or refused.

    Of the theorems every `step`th is read: whether another of them states the same, whether it is trivial, and whether
    its proof goes through. All must have a proof.
    """
    problems: list[str] = []
    keys = dict.fromkeys(library_keys(), "the library")
    proofs = {row["name"]: row for row in read_jsonl(PROOFS)}
    for split in SPLITS:
        theorems = benchmark_theorems(BENCHMARK / f"{split}.lean")
        if len(theorems) != SPLIT_SIZE:
            problems.append(f"{split} has {len(theorems)} theorems, not {SPLIT_SIZE}")
        for number, theorem in enumerate(theorems):
            proof = proofs.get(theorem.id)
            if proof is None or proof["split"] != split:
                problems.append(f"{theorem.id} has no reference proof")
                continue
            if number % step:
                continue
            key = statement_key(theorem.source)
            if key in keys:
                problems.append(f"{theorem.id} states the same as {keys[key]}")
            keys[key] = theorem.id
            if is_trivial(theorem.source):
                problems.append(f"{theorem.id} is proved by one finisher")
            elif not is_accepted(run_text(state, splice(theorem, proof["proof"]))):
                problems.append(f"the reference proof of {theorem.id} does not go through")
    return problems


def is_accepted(result: CommandResult) -> bool:
    """Return whether a text went through without errors and without `sorry`, which is a warning."""
    return all(message.severity == "info" for message in result.messages)


# -- The premise-novel split: every reference proof uses a library theorem that no training proof uses ---------------


@dataclass(frozen=True)
class PremiseTheorem:
    """A theorem of the premise-novel split: the library theorem that is new in it, and its text with the proof."""

    premise: str
    text: str

    @property
    def name(self) -> str:
        """Its name."""
        return self.text.split()[1]

    @property
    def proof(self) -> str:
        """The tactics of the reference proof."""
        return self.text.partition(":= by\n")[2]


def premise_theorems(path: Path) -> list[PremiseTheorem]:
    """Read one of `PREMISE_SPLITS`."""
    theorems = []
    for block in path.read_text(encoding="utf-8").split("-- premise: ")[1:]:
        premise, text = block.strip().split("\n", 1)
        theorems.append(PremiseTheorem(premise, text))
    return theorems


def premises_used_in(proof: str, premises: Iterable[str]) -> set[str]:
    """Return those of the premises that a proof's text names in full, alone or with a field such as `.mp`."""
    # `Nat.le_antisymm.mp` names `Nat.le_antisymm` too, and `Nat.le_antisymm'` does not.
    names = set[str]()
    for name in re.findall(r"[\w.'?]+", proof):
        names.update(itertools.accumulate(name.split("."), "{}.{}".format))
    return names & set(premises)


def premises_of_training(state: EnvState, theorem: dict[str, Any], premises: Iterable[str]) -> set[str]:
    """Return the premises that a training proof uses: by name in a tactic, or unnamed in the term of its proof.

    The theorem is one of the transitions file. A library theorem's term is the one that the library holds.
    """
    nodes = theorem["by_blocks"][0]["tree"]["nodes"]
    used = premises_used_in("\n".join(node["tactic"]["tactic_string"] for node in nodes), premises)
    if level_of(theorem["name"]) is None:
        infos = [info for info in state.env if info.name == theorem["name"]]
    else:
        result = run_text(state, theorem_text(theorem) or "")
        infos = [info for info in result.state.env if info.name not in state.env]
    # `simp` and `grind` use lemmas that no tactic names.
    for info in infos:
        used |= set(info.mentions) & set(premises)
    return used


def premise_problems(state: EnvState, step: int = 1) -> list[str]:
    """List what is wrong with the premise-novel split itself; of the theorems every `step`th is looked at.

    Each reference proof goes through, names its premise and has it in its term, and neither `simp` nor a finisher
    alone has it: the premise is a plain theorem of the library, and no finisher proves the statement. A premise is in
    one split, under at most two theorems.
    """
    splits = {split: premise_theorems(path) for split, path in PREMISE_SPLITS.items()}
    tagged = set[str]().union(*state.attributes.values())  # `simp` and `grind` try these by themselves
    problems = []
    for name in set.intersection(*map(_premises, splits.values())):
        problems.append(f"premises of both splits: {name}")
    keys = dict.fromkeys(library_keys(), "the library")
    for theorem in itertools.chain.from_iterable(theorems[::step] for theorems in splits.values()):
        result = run_text(state, theorem.text)
        info = result.state.env.get(theorem.name)
        if not is_accepted(result) or info is None:
            problems.append(f"the reference proof of {theorem.name} does not go through")
            continue
        key = statement_key(theorem.text)
        if key in keys:
            problems.append(f"{theorem.name} states the same as {keys[key]}")
        keys[key] = theorem.name
        premise = state.env.get(theorem.premise)
        if not isinstance(premise, TheoremInfo) or premise.name in tagged:
            problems.append(f"{theorem.premise} is no plain theorem of the library")
        if not premises_used_in(theorem.proof, [theorem.premise]) or theorem.premise not in info.mentions:
            problems.append(f"the reference proof of {theorem.name} does not use {theorem.premise}")
        if is_trivial(splice_sorry(theorem)):
            problems.append(f"{theorem.name} is proved by one finisher")
    for theorems in splits.values():
        for name, count in Counter(theorem.premise for theorem in theorems).items():
            if count > 2:
                problems.append(f"{name} is the premise of {count} theorems")
    return problems


def splice_sorry(theorem: PremiseTheorem) -> str:
    """Return the statement with `sorry` for its proof."""
    return theorem.text.removesuffix(theorem.proof) + "  sorry"


def training_problems(state: EnvState, transitions: Path, step: int = 1) -> list[str]:
    """List the training proofs that use a premise of the split; of a file's theorems every `step`th is looked at."""
    premises: set[str] = set()
    for path in PREMISE_SPLITS.values():
        premises |= _premises(premise_theorems(path))
    theorems: list[dict[str, Any]] = []
    for line in read_jsonl(transitions):
        theorems += line["theorems"]
    problems = []
    for theorem in theorems[::step]:
        used = premises_of_training(state, theorem, premises)
        if used:
            problems.append(f"the training proof of {theorem['name']} uses {', '.join(sorted(used))}")
    return problems


def _premises(theorems: Iterable[PremiseTheorem]) -> set[str]:
    return {theorem.premise for theorem in theorems}


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check."""
    parser = Parser(prog="python -m scripts.make_nanolean_benchmark", description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="Draw the benchmark anew and write it.")
    parser.add_argument("--transitions", type=Path, help="Check the premise-novel split against this training file.")
    args = parser.parse_args(argv)
    allow_deep_recursion()
    state = library()
    if args.write:
        write(draw())
    problems = problems_of(state) + premise_problems(state)
    if args.transitions is not None:
        problems += training_problems(state, args.transitions)
    for line in problems:
        print(line, file=sys.stderr)
    counts = Counter[int | None]()
    for split in SPLITS:
        counts.update(level_of(theorem.id) for theorem in benchmark_theorems(BENCHMARK / f"{split}.lean"))
    print("theorems by level:", dict(sorted(counts.items())), "problems:", len(problems))
    return int(bool(problems))


if __name__ == "__main__":
    run_main(main)
