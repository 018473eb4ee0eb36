"""What the model made of states and of training examples: pages, the newest first, and how good its values are."""

import math
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nanoproof.monitor.record_schema import Calibration, CalibrationBin, SampledTactic, TrainSample
from nanoproof.monitor.record_schema import Sample as SampleItem
from nanoproof.monitor.tail import MAX_LINE, Tail, integer, mapping, parse_object, read_range, real, text_of

MAX_FILE_BYTES = 64 << 20
"""Of a longer file only the end is looked at."""
MAX_ITEMS = 64
MAX_TOKENS = 4000
_BINS = 16
_Heard = Callable[[dict[str, Any]], None]


class LineFile:
    """Where the lines of an append-only file are; `heard` gets each of them once."""

    def __init__(self, path: Path, heard: _Heard | None = None) -> None:
        self._heard = heard
        self._tail = Tail(path)
        self._begin = self._forget()

    def _forget(self) -> bool:
        self._starts, self._sizes = array("q"), array("q")
        return True

    def __len__(self) -> int:
        return len(self._starts)

    def poll(self) -> bool:
        """Take in a little of what is new; whether there is more."""
        if self._begin and self._tail.look():
            self._tail.position = max(0, self._tail.size - MAX_FILE_BYTES)
            self._begin = False
        restarts = self._tail.restarts
        lines = self._tail.read()
        if self._tail.restarts > restarts:
            self._forget()
        for line in lines:
            self._starts.append(line.at)
            self._sizes.append(len(line.text))
            record = parse_object(line.text) if self._heard is not None else None
            if record is not None and self._heard is not None:
                self._heard(record)
        return self._tail.behind > MAX_LINE or (bool(lines) and self._tail.behind > 0)

    def moved_to(self, path: Path) -> bool:
        """Whether the file has this name by now; what was heard of it is not heard again."""
        return self._tail.moved_to(path)

    def record(self, number: int) -> dict[str, Any] | None:
        """A line, by its number."""
        return parse_object(read_range(self._tail.path, self._starts[number], self._sizes[number]))


class LineFiles:
    """Several files as one list, the newest record first: of each rank, and from before and after a rotation."""

    def __init__(self, run_path: Path, stem: str, heard: _Heard | None = None) -> None:
        self._path, self._stem, self._heard = run_path, stem, heard
        self._files: dict[str, LineFile] = {}

    def poll(self) -> bool:
        """Take in a little of what is new; whether there is more."""
        parts = list(self._path.glob(f"{self._stem}.old.jsonl"))
        for old in parts:
            name = old.name.replace(".old.", ".")
            if name in self._files and self._files[name].moved_to(old):
                self._files[old.name] = self._files.pop(name)
        for file in (*parts, *self._path.glob(f"{self._stem}.jsonl")):
            if file.name not in self._files:
                self._files[file.name] = LineFile(file, self._heard)
        return any(list(map(LineFile.poll, self._files.values())))

    def page(self, page: int, size: int) -> tuple[list[dict[str, Any]], int]:
        """A page of records. Ranks take turns, as they write at about the same pace."""
        ranks: dict[str, list[LineFile]] = {}
        for name in sorted(self._files):  # "x.jsonl" comes before "x.old.jsonl"
            ranks.setdefault(name.split(".")[0], []).append(self._files[name])
        total = sum(len(file) for files in ranks.values() for file in files)
        first, last = (page - 1) * size, page * size
        chosen: list[dict[str, Any]] = []
        for place in _turns([sum(map(len, files)) for files in ranks.values()], first, min(last, total)):
            files, number = list(ranks.values())[place[0]], place[1]
            for file in files:
                if number < len(file):
                    record = file.record(len(file) - 1 - number)
                    chosen += [record] if record is not None else []
                    break
                number -= len(file)
        return chosen, total


def _turns(counts: list[int], first: int, last: int) -> list[tuple[int, int]]:
    """Places `first` to `last` if lists of these lengths are taken from in turns: list, and place in it."""
    places: list[tuple[int, int]] = []
    done, round_ = 0, 0
    while done < last:
        left = [number for number, count in enumerate(counts) if count > round_]
        if not left:
            break
        whole = min(counts[number] for number in left) - round_  # rounds in which all of these take part
        skip = min(whole - 1, max(0, (first - done) // len(left)))
        round_, done = round_ + skip, done + skip * len(left)
        places += [(number, round_) for place, number in enumerate(left) if first <= done + place < last]
        round_, done = round_ + 1, done + len(left)
    return places


def sample_item(record: dict[str, Any]) -> SampleItem:
    """A state with what was sampled in it."""
    tactics = record.get("tactics")
    distribution = record.get("distribution")
    return {
        "rank": integer(record.get("rank")),
        "step": integer(record.get("step")),
        "time": real(record.get("time")),
        "dataset": text_of(record.get("dataset")),
        "id": text_of(record.get("id")),
        "state": text_of(record.get("state"), 20_000),
        "tactics": [_tactic(one) for one in (tactics if isinstance(tactics, list) else [])[:MAX_ITEMS]],
        "dropped": integer(record.get("dropped")),
        "value": real(record.get("value")),
        "distribution": [
            real(one) or 0.0 for one in (distribution if isinstance(distribution, list) else [])[: 2 * MAX_ITEMS]
        ],
        "depth": integer(record.get("depth")) or None,
    }


def _tactic(record: Any) -> SampledTactic:
    record = mapping(record)
    return {
        "tactic": text_of(record.get("tactic"), 5000),
        "logprob": real(record.get("logprob")) or 0.0,
        "count": integer(record.get("count"), 1),
        "outcome": text_of(record.get("outcome")) or "untried",
        "message": text_of(record.get("message"), 2000),
    }


def train_item(record: dict[str, Any]) -> TrainSample:
    """An example with the loss of each token."""
    tokens, losses = record.get("tokens"), record.get("losses")
    tokens, losses = (one[:MAX_TOKENS] if isinstance(one, list) else [] for one in (tokens, losses))
    return {
        "step": integer(record.get("step")),
        "time": real(record.get("time")),
        "kind": text_of(record.get("kind")),
        "tokens": [text_of(token) for token in tokens],
        "losses": [real(loss) for loss in losses],
        "loss": real(record.get("loss")),
    }


class CalibrationSums:
    """Sums over all samples whose true depth is known."""

    def __init__(self) -> None:
        self._bins = [[0.0] * 4 for _ in range(_BINS)]  # count, predicted, actual, actual²
        self._count = 0
        self._sums = [0.0] * 7  # error, |error|, v, d, v², d², v·d
        self._steps: tuple[int, int] | None = None

    def add(self, record: dict[str, Any]) -> None:
        """Take in a line of samples."""
        value, depth = real(record.get("value")), real(record.get("depth"))
        if value is None or depth is None or not 0 <= value < 1e6 or not 0 < depth < 1e6:
            return
        step = integer(record.get("step"))
        self._steps = (step, step) if self._steps is None else (min(self._steps[0], step), max(self._steps[1], step))
        place = self._bins[min(_BINS - 1, max(0, int(value) - 1))]
        for number, one in enumerate((1.0, value, depth, depth * depth)):
            place[number] += one
        error = value - depth
        for number, one in enumerate((error, abs(error), value, depth, value * value, depth * depth, value * depth)):
            self._sums[number] += one
        self._count += 1

    def answer(self) -> Calibration:
        """Bins of one tactic each, the last one of all from 16 on."""
        count, (error, absolute, *_) = self._count, self._sums
        bins: list[CalibrationBin] = [
            {
                "low": float(number + 1),
                "high": float(number + 2) if number < _BINS - 1 else 64.0,
                "count": int(n),
                "predicted": predicted / n,
                "actual": actual / n,
                "deviation": math.sqrt(max(0.0, square / n - (actual / n) ** 2)),
            }
            for number, (n, predicted, actual, square) in enumerate(self._bins)
            if n
        ]
        return {
            "bins": bins,
            "count": count,
            "mean_error": error / count if count else None,
            "mean_absolute_error": absolute / count if count else None,
            "correlation": self._correlation(),
            "first_step": self._steps[0] if self._steps else None,
            "last_step": self._steps[1] if self._steps else None,
        }

    def _correlation(self) -> float | None:
        _, _, v, d, vv, dd, vd = self._sums
        n = self._count
        spread = (n * vv - v * v) * (n * dd - d * d)
        return (n * vd - v * d) / math.sqrt(spread) if n > 1 and spread > 1e-9 else None
