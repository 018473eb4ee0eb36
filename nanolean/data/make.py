"""Make the generated part of the data set `nanolean`: statements to be proved, and proofs that are shown.

Proofs are shown for easy problems, in a plain style of one rule at a time and partly once more cut by a rule
(`cuts.py`), and for exercises; the harder levels are statements alone, longer compositions of the same skills. The
families are made in processes of their own.
"""

import json
import os
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any

from nanolean.data.cuts import cut_proofs
from nanolean.data.exercises import entry, exercises, templates
from nanolean.data.families import LEVELS, Named, family_problems, shown_problems
from nanolean.data.problem import render
from nanolean.data.replay import (
    GoalReader,
    Node,
    ReplayError,
    closed_by,
    is_trivial,
    library,
    replay,
    start,
    strong_proof,
    theorem_record,
)
from nanolean.data.statement_key import library_keys, library_proofs, shape_key, tactic_proofs
from nanolean.kernel.budget import allow_deep_recursion
from nanolean.library.loader import library_files
from nanolean.parser import parse_commands
from nanolean.syntax import TheoremCmd
from nanolean.system import atomic_write_text, starting_workers
from nanolean.tactic_state import TacticState


@dataclass(frozen=True)
class Quota:
    """How many problems of each level, from level 1 up, a family is asked for; families differ in what they have."""

    shown: tuple[int, ...]
    """Problems that come with their proof."""
    stated: tuple[int, ...]
    """Statements alone."""

    @property
    def problems(self) -> int:
        """All problems that are asked for; there may be fewer."""
        return sum(self.shown) + sum(self.stated)


QUOTAS: dict[str, Quota] = {  # nothing is stated where grind proves nearly all there is
    "prop": Quota((100, 150, 40), ()),
    "pred": Quota((100, 150, 60), ()),
    "nat_identity": Quota((200, 250, 50), (10, 20, 20, 20, 15, 10)),
    "equation": Quota((200, 250, 50), ()),
    "cancel": Quota((200, 250, 60), (0, 100, 120, 80)),
    "order": Quota((200, 250, 60), (60, 110, 110, 80, 40)),
    "divides": Quota((150, 250, 60), (0, 120, 140, 120, 60)),
    "exists": Quota((150, 150, 30), (60, 20)),
    "induction": Quota((10, 100, 120), (0, 10, 60, 80, 30)),
    "lists": Quota((120, 180, 120), (60, 80, 60)),
    "mixed": Quota((100, 200, 60), (60, 110, 120, 120, 100, 60)),
}
STRONG_FRACTION = 0.01
"""Share of the shown proofs for which a strong one-line proof is tried instead."""
CUT_FRACTION = 0.4
"""Share of the shown proofs that are shown once more, cut by a rule; of inductions, which are few, all are, twice."""
EXERCISES_EACH = 8
"""Instances of each template of an exercise: with 313 templates two thirds as many tactics as the families have."""
EXERCISE_PARTS = 8
"""The templates are shared among so many pieces of work."""
_HELD_OUT = """
Nat.le_of_dvd Nat.dvd_antisymm Nat.dvd_add_right Nat.div_eq_of_lt_le Nat.dvd_mod_iff Nat.gcd_dvd Nat.gcd_assoc
Nat.div_div_eq_div_mul Nat.pow_eq_zero Nat.pow_lt_pow_left Nat.div_eq Nat.mod_eq List.ne_nil_iff_exists_cons
List.exists_cons_of_ne_nil List.length_eq_one_iff List.append_cancel_right List.append_cancel_left
List.eq_nil_iff_forall_not_mem List.mem_iff_append List.append_of_mem List.forall_mem_cons List.forall_mem_append
Bool.exists_bool Bool.forall_bool Option.ne_none_iff_exists Option.ne_none_iff_exists'
Option.eq_none_iff_forall_ne_some
"""
HELD_OUT_LIBRARY = frozenset(_HELD_OUT.split())
"""Theorems of the library that no training proof proves or names: a benchmark has them, or what they state in other
words, as its own (`data/README.md`)."""
_PREMISES = """
Bool.and_eq_false_iff Bool.and_or_distrib_right Classical.exists_or_forall_not Classical.forall_or_exists_not
Classical.not_iff Classical.propComplete Classical.skolem List.append_cons List.eq_nil_of_forall_not_mem
List.exists_mem_of_ne_nil List.exists_of_mem_map List.foldl_map List.foldr_map List.length_filter_le
List.length_pos_of_mem List.map_congr_left List.mem_of_head? List.mem_of_mem_drop List.mem_of_mem_take
List.reverse_eq_iff List.take_take Nat.add_eq_one_iff Nat.add_min_add_left Nat.add_mod Nat.add_mul_div_right
Nat.div_eq_iff_eq_mul_left Nat.div_le_of_le_mul Nat.div_lt_self Nat.div_pos Nat.div_self Nat.dvd_add_iff_left
Nat.dvd_gcd_iff Nat.dvd_iff_mod_eq_zero Nat.dvd_sub Nat.eq_mul_of_div_eq_left Nat.eq_zero_of_dvd_of_lt
Nat.exists_eq_add_of_le Nat.exists_eq_add_one_of_ne_zero Nat.gcd_add_one Nat.gcd_dvd_gcd_of_dvd_left
Nat.gcd_dvd_gcd_of_dvd_right Nat.gcd_eq_right Nat.gcd_eq_zero_iff Nat.gcd_le_left Nat.gcd_mul_right
Nat.gcd_pos_of_pos_right Nat.le_antisymm_iff Nat.le_mul_of_pos_left Nat.le_sub_iff_add_le Nat.lt_min Nat.lt_pow_self
Nat.max_assoc Nat.max_lt Nat.mod_lt_of_lt Nat.mod_mod_of_dvd Nat.mul_div_assoc Nat.mul_div_mul_right
Nat.mul_dvd_mul_iff_left Nat.mul_dvd_mul_iff_right Nat.mul_left_cancel_iff Nat.mul_mod Nat.mul_mod_mul_right
Nat.mul_ne_zero Nat.mul_right_cancel_iff Nat.mul_self_inj Nat.pos_of_div_pos Nat.pos_of_dvd_of_pos Nat.pow_add_one'
Nat.pow_dvd_pow Nat.pow_lt_pow_right Nat.pow_mul' Nat.pow_pos Nat.pow_right_comm Nat.sub_add_comm Nat.sub_eq_sub_min
Nat.sub_mul Nat.sub_mul_mod Nat.two_pow_pos exists_comm exists_or forall_and funext_iff imp.swap or_imp
"""
HELD_OUT_PREMISES = HELD_OUT_LIBRARY | set(_PREMISES.split())
"""Those above and the premises of `nanolean-premise`, which no proof names of data that are made to train for it."""
Classic = tuple[str, str, str]
"""A theorem with a proof written by hand: name, source with `sorry`, source with the proof."""
THEOREMS_PER_LINE = 16
"""Theorems per line of the transitions file; readers split by lines."""


TELL_SECONDS = 1.0
_counter: Any = None
"""In a worker process: the number of problems that all of them have done."""


def _begin_work(counter: Any) -> None:
    """In a worker process: count in `counter`, and end when the process that started this one has ended."""
    global _counter
    _counter = counter
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _ended_with(pool: ProcessPoolExecutor) -> Iterator[None]:
    """End the workers of a pool at an error, or at Ctrl-C; by itself it would wait for what they are doing."""
    others = active_children()
    try:
        yield
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            if worker not in others:
                worker.kill()
        raise


def _count(problems: int) -> None:
    if _counter is not None:
        with _counter.get_lock():
            _counter.value += problems


@dataclass(frozen=True)
class Made:
    """What one family contributes; every row carries its `key`."""

    statements: list[dict[str, Any]]
    proofs: list[dict[str, Any]]


def make(
    directory: Path,
    held_out: Callable[[], frozenset[str]],
    seed: int,
    read_goal: GoalReader,
    workers: int | None = None,
    quotas: dict[str, Quota] | None = None,
    exercises_each: int = EXERCISES_EACH,
    tell: Callable[[int, int, str], object] = lambda done, total, what: None,
    classics: Sequence[Classic] = (),
    unnamed: frozenset[str] = HELD_OUT_LIBRARY,
) -> None:
    """Generates `train.jsonl` and `transitions.jsonl` in `directory`, without the statements whose keys are held out.

    `held_out` is asked for the keys while workers replay the proofs that need none, as it may take ten seconds.
    Statements that a finisher proves alone are not asked; among the shown proofs they may be, and those of `classics`
    are, whatever their keys. No proof names a theorem of `unnamed`. The manifest is written
    last, so a directory with one is whole. `read_goal` makes the records of printed goals; `quotas` are `QUOTAS` unless
    given. `tell` is called with the problems that are done, all that are asked for, and what is being done: at each of
    two stages, and about once a second while problems are made.
    """
    quotas = quotas or QUOTAS
    kinds = sorted(templates())
    total = sum(quota.problems for quota in quotas.values()) + exercises_each * len(kinds)
    tell(0, total, "checking the library first, once")
    library()  # once, so that the workers find it in the cache
    # The most expensive families first, so that the workers end together.
    order = sorted(quotas, key=lambda name: (name != "mixed", name not in ("prop", "pred", "equation"), name))
    count = workers or min(len(order), os.cpu_count() or 1)
    context = get_context("spawn")
    done = context.Value("q", 0)
    with ProcessPoolExecutor(count, context, initializer=_begin_work, initargs=(done,)) as pool, _ended_with(pool):
        with starting_workers():  # all of them start at the first of these
            library_part = pool.submit(make_library, read_goal, unnamed)
            classics_part = pool.submit(make_classics, classics, read_goal, unnamed)
        excluded = held_out() | library_keys()
        futures = {
            name: pool.submit(make_family, name, seed, quotas[name], excluded, read_goal, unnamed) for name in order
        }
        exercise_parts = [
            pool.submit(make_exercises, kinds[part::EXERCISE_PARTS], seed, exercises_each, excluded, read_goal, unnamed)
            for part in range(EXERCISE_PARTS)
        ]
        exercise_parts.append(classics_part)
        waiting: set[Future[Any]] = {*futures.values(), *exercise_parts, library_part}
        all_parts = list(waiting)
        while waiting:
            waiting = wait(waiting, timeout=TELL_SECONDS, return_when=FIRST_EXCEPTION).not_done
            tell(min(done.value, total), total, "making problems")
            if any(future.done() and future.exception() for future in all_parts):
                break
        parts = [futures[name].result() for name in quotas]
        exercise_proofs = [proof for part in exercise_parts for proof in part.result()]
        shown_library = library_part.result()
    statements, proofs = _merged(parts)
    records = [*shown_library, *proofs, *exercise_proofs]
    random.Random(seed).shuffle(statements)
    random.Random(seed).shuffle(records)
    _write_jsonl(directory / "train.jsonl", statements)
    write_records(directory / "transitions.jsonl", "nanolean/part", records)
    levels = Counter(row["id"].split("_l")[-1][0] for row in statements)
    manifest = {
        "seed": seed,
        "statements": len(statements),
        "by_level": dict(sorted(levels.items())),
        "library_proofs": len(shown_library),
        "generated_proofs": len(proofs),
        "exercises": len(exercise_proofs),
        "transitions": sum(len(record["by_blocks"][0]["tree"]["nodes"]) for record in records),
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    atomic_write_text(directory / "manifest.json", text)


_NAME = re.compile(r"[A-Za-z_][\w'.?!]*")


def names_any(text: str, theorems: frozenset[str]) -> bool:
    """Return whether the text of a proof names one of some theorems, or a projection of one (`h.mp`)."""
    for name in _NAME.findall(text):
        words = name.split(".")
        if any(".".join(words[:count]) in theorems for count in range(1, len(words) + 1)):
            return True
    return False


def library_texts() -> list[str]:
    """Return the text of each file of the library, without `HELD_OUT_LIBRARY` and without what names one of these."""
    texts = []
    for path in library_files():
        text, kept, position = path.read_text(encoding="utf-8"), "", 0
        for command in parse_commands(text):
            signature = command.signature if isinstance(command, TheoremCmd) else None
            held_out = signature is not None and signature.name in HELD_OUT_LIBRARY
            begin = command.pos if signature is None else signature.end
            if held_out or names_any(text[begin : command.end], HELD_OUT_LIBRARY):
                kept += text[position : command.pos].rstrip() + "\n"
                position = command.end
        texts.append(kept + text[position:])
    return texts


def make_family(
    family: str,
    seed: int,
    quota: Quota,
    excluded: frozenset[str],
    read_goal: GoalReader,
    unnamed: frozenset[str] = HELD_OUT_LIBRARY,
) -> Made:
    """Make one family's part, with none of the keys in `excluded`. Runs in a worker process."""
    allow_deep_recursion()
    proofs: list[dict[str, Any]] = []
    shown_keys: set[str] = set()
    shown = 0
    for named in shown_problems(family, seed, dict(zip(LEVELS, quota.shown, strict=False)), excluded):
        shown_keys.add(named.key)
        shown += 1
        for name, node in _replayed(named, random.Random(named.id)):
            if not names_any(render(node.proof()), unnamed):
                proofs.append({**theorem_record(name, named.source(), node, read_goal), "key": named.key})
        _count(1)
    _count(sum(quota.shown) - shown)  # those that there are not
    unknown = excluded | shown_keys
    kept = 0

    def refused(source: str) -> bool:
        nonlocal kept
        trivial = is_trivial(source)
        if not trivial:
            kept += 1
            _count(1)
        return trivial

    stated = family_problems(family, seed, dict(zip(LEVELS, quota.stated, strict=False)), unknown, refused)
    _count(sum(quota.stated) - kept)
    return Made([{"id": named.id, "source": named.source(), "key": named.key} for named in stated], proofs)


def make_exercises(
    kinds: list[str],
    seed: int,
    count: int,
    excluded: frozenset[str],
    read_goal: GoalReader,
    unnamed: frozenset[str] = HELD_OUT_LIBRARY,
) -> list[dict[str, Any]]:
    """Make the exercises of some templates, as LeanTree theorems. Runs in a worker process.

    None has a key in `excluded`, which holds those of the benchmarks also without the names of their own definitions:
    an exercise about a definition is left out even where only the shape of its statement is a benchmark's. Raises
    ReplayError for a template whose proof does not go through, which is a bug.
    """
    allow_deep_recursion()
    records: list[dict[str, Any]] = []
    for kind in kinds:
        for number, exercise in enumerate(exercises(kind, seed, count)):
            asked = entry(exercise)
            if shape_key(asked.source) not in excluded and not names_any(render(asked.proof), unnamed):
                node = replay(start(asked.source), asked.proof)
                records.append(theorem_record(f"exercise_{kind}_{number}", asked.source, node, read_goal))
        _count(count)
    return records


def _replayed(named: Named, rng: random.Random) -> Iterator[tuple[str, Node]]:
    """Yield name and proof as NanoLean runs it, rarely a strong proof where one works, and those cut by a rule.

    Nothing if it does not go through.
    """
    try:
        before = start(named.source())
        if rng.random() < STRONG_FRACTION:
            strong = strong_proof(named.problem, rng)
            if strong is not None and closed_by(before, [strong.tactic]):
                yield named.id, replay(before, strong)
                return
        node = replay(before, named.problem.proof)
    except ReplayError:
        return
    yield named.id, node
    yield from _cut(named.id, before, node, rng)


def _cut(name: str, before: TacticState, node: Node, rng: random.Random) -> Iterator[tuple[str, Node]]:
    """Yield name and proof of what rules make of a proof."""
    most = 2
    if "induction " not in render(node.proof()):
        most = int(rng.random() < CUT_FRACTION)
    for rule, cut in cut_proofs(before, node, rng, most):
        yield f"{name}_{rule}", cut


def make_library(read_goal: GoalReader, unnamed: frozenset[str] = HELD_OUT_LIBRARY) -> list[dict[str, Any]]:
    """Return the library's tactic proofs as LeanTree theorems, and those cut by a rule.

    Those of `HELD_OUT_LIBRARY` are left out, and proofs that name a theorem of `unnamed`. Raises ReplayError, which is
    a bug: all were checked.
    """
    allow_deep_recursion()
    records: list[dict[str, Any]] = []
    for asked in library_proofs():
        if asked.name in HELD_OUT_LIBRARY or names_any(render(asked.proof), unnamed):
            continue
        before = start(asked.source)
        node = replay(before, asked.proof)
        records.append(theorem_record(asked.name, asked.source, node, read_goal))
        for name, cut in _cut(asked.name, before, node, random.Random(asked.name)):
            records.append(theorem_record(name, asked.source, cut, read_goal))
    return records


def make_classics(
    theorems: Iterable[Classic], read_goal: GoalReader, unnamed: frozenset[str] = frozenset()
) -> list[dict[str, Any]]:
    """Trace proofs written by hand as LeanTree theorems, but for those that name a theorem of `unnamed`.

    A proof that is no tree of single tactics on single goals is left out: what a block leaves for a later tactic, and
    goals that share a metavariable, have no place in such a record.
    """
    allow_deep_recursion()
    records = []
    for name, source, solved in theorems:
        entries = list(tactic_proofs(solved))
        if not entries or names_any(render(entries[-1].proof), unnamed):
            continue
        try:
            # The last one: definitions and lemmas may stand before the theorem itself.
            node = replay(start(source), entries[-1].proof)
        except ReplayError:
            continue
        records.append(theorem_record(name, source, node, read_goal))
    return records


def write_records(file: Path, prefix: str, records: Sequence[dict[str, Any]]) -> None:
    """Write LeanTree theorems, some to a line as if they were of one Lean file: readers split by lines."""
    lines = [records[k : k + THEOREMS_PER_LINE] for k in range(0, len(records), THEOREMS_PER_LINE)]
    _write_jsonl(
        file, [{"path": f"{prefix}_{k:04d}.lean", "imports": [], "theorems": line} for k, line in enumerate(lines)]
    )


def _merged(parts: list[Made]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All families together. What is shown is not asked, and a statement that two families made is asked once."""
    proofs = [row for made in parts for row in made.proofs]
    seen = {row["key"] for row in proofs}
    statements: list[dict[str, Any]] = []
    for row in (row for made in parts for row in made.statements):
        if row["key"] not in seen:
            seen.add(row["key"])
            statements.append(row)
    return _without_keys(statements), _without_keys(proofs)


def _without_keys(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "key"} for row in rows]


def _write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    atomic_write_text(path, "".join(lines))
