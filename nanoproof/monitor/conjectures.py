"""What a run stated by itself: conjectures that were attempted, proposals with their verdicts, and rounds of self-play.

`conjectures.jsonl` has a line for each conjecture and step in which it was attempted, the newest of which counts;
`proposals_r<rank>.jsonl` has every text that was proposed. An experiment of `python -m nanoproof.selfplay` has a folder
for each round instead, with counts as JSON.
"""

import re
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

from nanoproof.monitor.record_schema import Conjecture, ConjectureSort, Outcome, Proposal, Round, Stated
from nanoproof.monitor.tail import (
    Tail,
    as_counts,
    as_dict,
    as_float,
    as_int,
    as_text,
    file_stat,
    parse_object,
    read_object,
    read_range,
)

SELFPLAY_FILE = "selfplay.json"
CONJECTURES_FILE = "conjectures.jsonl"
CONJECTURE_SORTS: tuple[ConjectureSort, ...] = ("step", "rate", "simulations", "length")
MAX_CONJECTURES = 100_000
MAX_PROPOSALS = 2_000_000
"""Further ones are counted, and not listed."""
MAX_VERDICTS = 32
MAX_ROUNDS = 1000
_MAX_TEXT = 2000
_OUTCOMES: tuple[Outcome, ...] = ("proven", "disproven", "unproven", "error")
_PROPOSALS = re.compile(r"proposals_r(\d{1,6})\.jsonl")
_JSON_BYTES = 1 << 20


class ConjectureStore:
    """The conjectures and proposals of a run, as their files grow."""

    def __init__(self, run_path: Path) -> None:
        self._path = Path(run_path)
        self._reset()

    def _reset(self) -> None:
        self._conjectures: dict[str, Conjecture] = {}
        self._tail = Tail(self._path / CONJECTURES_FILE)
        self._proposals: dict[int, Tail] = {}
        self._rows = {"step": array("q"), "rank": array("q"), "at": array("q"), "size": array("q")}
        self._verdict = array("B")
        self.verdicts: Counter[str] = Counter()
        self._codes: dict[str, int] = {}

    def poll(self) -> bool:
        """Read a bounded part of what is new; return whether there is more."""
        for file in self._path.glob("proposals_r*.jsonl"):
            if match := _PROPOSALS.fullmatch(file.name):
                self._proposals.setdefault(int(match[1]), Tail(file))
        for line in self._tail.read():
            record = parse_object(line.text)
            if record is not None:
                self._add(record)
        for rank, tail in self._proposals.items():
            for line in tail.read():
                record = parse_object(line.text)
                if record is not None:
                    self._propose(record, rank, line.at, len(line.text))
        tails = [self._tail, *self._proposals.values()]
        if any(tail.restarts for tail in tails):
            self._reset()  # they became shorter or disappeared: these are of another run
            return True
        return any(tail.behind > 1 << 20 for tail in tails)

    def _add(self, record: dict[str, Any]) -> None:
        name = as_text(record.get("id"), 200)
        known = self._conjectures.pop(name, None)  # the newest stand last
        if known is None and len(self._conjectures) >= MAX_CONJECTURES:
            self._conjectures.pop(next(iter(self._conjectures)))
        outcome = record.get("outcome")
        self._conjectures[name] = {
            **_seed(record),
            "id": name,
            "step": as_int(record.get("step")),
            "steps": 1 if known is None else known["steps"] + (record.get("step") != known["step"]),
            "outcome": outcome if outcome in _OUTCOMES else "unproven",
            "rate": as_float(record.get("rate")) or 0.0,
            "simulations": as_int(record.get("simulations")),
            "proof": as_text(record.get("proof"), _MAX_TEXT),
        }

    def _propose(self, record: dict[str, Any], rank: int, at: int, size: int) -> None:
        verdict = as_text(record.get("verdict"), 40)
        if verdict not in self._codes and len(self._codes) >= MAX_VERDICTS:
            verdict = "other"
        code = self._codes.setdefault(verdict, len(self._codes))
        self.verdicts[verdict] += 1
        if len(self._verdict) < MAX_PROPOSALS:
            self._verdict.append(code)
            for name, value in (("step", as_int(record.get("step"))), ("rank", rank), ("at", at), ("size", size)):
                self._rows[name].append(value)

    def __bool__(self) -> bool:
        return bool(self._conjectures or self.verdicts)

    # -- responses -----------------------------------------------------------------------------------------------

    @property
    def outcomes(self) -> dict[str, int]:
        """Count the conjectures by what became of them."""
        return dict(Counter(one["outcome"] for one in self._conjectures.values()))

    def page(
        self, q: str, outcome: str | None, sort: ConjectureSort, descending: bool, page: int, size: int
    ) -> tuple[list[Conjecture], int]:
        """Return a page of the conjectures in whose text, seed or lemma all words of `q` stand, and their number."""
        words = q.lower().split()
        found = [
            one
            for one in reversed(self._conjectures.values())
            if (outcome is None or one["outcome"] == outcome) and all(word in _searched(one) for word in words)
        ]
        found.sort(key=lambda one: len(one["text"]) if sort == "length" else one[sort], reverse=descending)
        if sort == "rate":  # what was never proved comes last either way
            found.sort(key=lambda one: one["outcome"] != "proven")
        return found[(page - 1) * size : page * size], len(found)

    def proposals(self, verdict: str | None, page: int, size: int) -> tuple[list[Proposal], int]:
        """Return a page of the proposals with a verdict, the newest first, and their number."""
        code = None if verdict is None else self._codes.get(verdict, -1)
        steps = self._rows["step"]
        numbers = [number for number, one in enumerate(self._verdict) if code is None or one == code]
        numbers.sort(key=lambda number: (steps[number], self._rows["at"][number]), reverse=True)
        chosen = (self._proposal(number) for number in numbers[(page - 1) * size : page * size])
        return [one for one in chosen if one is not None], len(numbers)

    def _proposal(self, number: int) -> Proposal | None:
        rank = self._rows["rank"][number]
        text = read_range(self._proposals[rank].path, self._rows["at"][number], self._rows["size"][number])
        record = parse_object(text)
        if record is None:
            return None
        return {
            **_seed(record),
            "step": self._rows["step"][number],
            "rank": rank,
            "verdict": as_text(record.get("verdict"), 40),
            "reason": as_text(record.get("reason"), _MAX_TEXT),
        }


def _seed(record: dict[str, Any]) -> Stated:
    """The text of a record, and what it was made from."""
    seed = as_dict(record.get("from"))
    return {
        "text": as_text(record.get("conjecture"), _MAX_TEXT),
        "dataset": as_text(seed.get("dataset"), _MAX_TEXT),
        "seed": as_text(seed.get("seed"), _MAX_TEXT),
        "statement": as_text(seed.get("statement"), _MAX_TEXT),
        "lemma": as_text(seed.get("lemma"), _MAX_TEXT),
    }


def _searched(one: Conjecture) -> str:
    return f"{one['text']} {one['seed']} {one['lemma']} {one['id']}".lower()


# -- Rounds of self-play -----------------------------------------------------------------------------------------------


def is_selfplay(path: Path) -> bool:
    """Tell whether a folder is an experiment of self-play."""
    return file_stat(path / SELFPLAY_FILE) is not None


def finished_rounds(path: Path) -> int:
    """Return how many rounds of an experiment have their metrics, from the first on."""
    number = 0
    while number < MAX_ROUNDS and file_stat(path / f"round{number}" / "metrics.json") is not None:
        number += 1
    return number


def rounds(path: Path) -> list[Round]:
    """Return the rounds of an experiment of self-play that have begun, the first one first."""
    found: list[Round] = []
    for number in range(MAX_ROUNDS):
        folder = path / f"round{number}"
        if not folder.is_dir() or folder.is_symlink():
            break
        metrics = read_object(folder / "metrics.json", _JSON_BYTES)
        tally = as_counts(read_object(folder / "sampler_ckpt" / CONJECTURES_FILE.removesuffix("l"), _JSON_BYTES) or {})
        known = metrics or {}
        found.append(
            {
                "number": number,
                "over": metrics is not None,
                "proved_percent": as_float(known.get("succ rate")),
                "proofs": _optional(known.get("RL_new/nr_examples_proof")),
                "lessons": _optional(known.get("RL_new/nr_examples_conjecture")),
                "length": as_float(known.get("combined/average length")),
                "distinct_statements": as_float(known.get("monitoring/unique_statement_ratio")),
                "proofs_each": as_float(known.get("monitoring/average_unique_proofs")),
                "tally": {name: count for name, count in tally.items() if len(name) <= 100},
                "success_rates": as_counts(known.get("success_rates")),
            }
        )
    return found


def _optional(value: Any) -> int | None:
    return None if as_float(value) is None else as_int(value)
