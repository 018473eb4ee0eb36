"""What a rank records for the monitor: its timeline, samples and search trees, in files of bounded size.

Files of a run directory, one per rank. All JSONL is only ever appended to; a last line may be torn. Times are seconds
since the epoch.

- `attempts_r<rank>.jsonl`, the log that everything is rebuilt from, and its index: see `prover/attempt_log.py`.
- `trees/<step>_<rank>_<sequence>.json.gz`: search trees of the newest attempts that were chosen (`TreeStore`).
- `timeline_r<rank>.jsonl`, before it `timeline_r<rank>.old.jsonl`: a line for each second (`Timeline`):
      {"from": 1760000000.0, "to": 1760000001.0,
       "actors": [[actor, "model", 12.5, 30.1], ...],          # start and length in milliseconds, from `from` on;
       "steps": [[0.0, 98.0, 40.5, 7, 2], ...],                # start, length, rows, states in work, states waiting
       "phases": [["collect", 0.0, 1000.0], ...]}
  Spans are cut at the ends of the line; an actor is idle (searching, or without a task) where it has none.
- `samples_r<rank>.jsonl`, before it `samples_r<rank>.old.jsonl`: states and what the model made of them:
      {"rank": 0, "step": 3, "sequence": 17, "time": ..., "dataset": "nanolean", "id": "lists_17", "state": "⊢ ...",
       "tactics": [{"tactic": "simp", "logprob": -0.5, "count": 2, "outcome": "applied", "message": ""}, ...],
       "dropped": 1, "value": 3.2, "distribution": [...], "depth": 2}
- `train_samples.jsonl`, before it `train_samples.old.jsonl`: examples that were trained on:
      {"step": 3, "time": ..., "kind": "replay", "tokens": ["intro", " h"], "losses": [null, 0.7], "loss": 0.7}
- `status_r<rank>.json`: what the rank is doing now, written once a second, see `recorder.py`.
- `events.jsonl`: also `phase` {phase, step}, `server` {address, state, actors} and `warning` {message, logger}.

Busy threads append to a deque; `Timeline.flush` writes a line of what has come together. Spans are cut at the ends of
the line, so that every line can be read alone, and a long wait is seen while it lasts.

Samples are taken from attempts that have ended, for then it is known which tactics led anywhere, and, on the way of a
proof, how many tactics were needed. Outcomes of tactics: `solved` (it led to a proof), `applied`, `rejected`,
`timeout`, `banned`, `cycle` (it led back to a state above), `untried`.

`trees/<step>_<rank>_<sequence>.json.gz` holds what `search/tree_json.py` describes. A rank keeps `--keep-trees` of
them and takes in only as many as cost it next to nothing: proofs and failures in turn, if there are both.
"""

import gzip
import json
import logging
import random
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from nanoproof.actors.tasks import Trace
from nanoproof.common.errors import UserError
from nanoproof.common.files import append_whole, atomic_write, drop_torn_line, json_line
from nanoproof.lean.types import TacticFailed
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import Number
from nanoproof.search.node import Kind, Node, walk
from nanoproof.search.policy import Suggestion
from nanoproof.search.tree_json import tree_to_json

log = logging.getLogger(__name__)


def older_part(path: Path) -> Path:
    """Return the path of the part before the newest one."""
    return path.with_name(f"{path.stem}.old{path.suffix}")


class RotatingJsonl:
    """Appends records; a part that has become too large or too old gives way to a new one. For one thread.

    A failure is logged once, and what would have been written is lost.
    """

    def __init__(self, path: Path, max_bytes: int, max_seconds: float = float("inf")) -> None:
        self._path, self._max_bytes, self._max_seconds = path, max_bytes, max_seconds
        self._file: IO[bytes] | None = None
        self._size, self._since = 0, time.monotonic()
        self._failed = False

    def write(self, records: Sequence[Any]) -> None:
        """Append records, all in one go."""
        content = "".join(json_line(record) for record in records).encode()
        if not content or self._failed:
            return
        try:
            file = self._ready()
            append_whole(file, content)
            self._size += len(content)
        except OSError as error:
            self._failed = True
            log.warning("%s cannot be written: %s; the run continues without it", self._path, error)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _ready(self) -> IO[bytes]:
        """Return the file to append to, a new one if the last is full."""
        if self._file is not None and self._is_full():
            self._file.close()
            self._file = None
            self._path.replace(older_part(self._path))
        if self._file is None:
            drop_torn_line(self._path)
            self._file = open(self._path, "ab", buffering=0)
            self._size, self._since = self._path.stat().st_size, time.monotonic()
        return self._file

    def _is_full(self) -> bool:
        return self._size >= self._max_bytes or time.monotonic() - self._since >= self._max_seconds


# -- The timeline ----------------------------------------------------------------------------------------------------

MAX_BYTES = 64 << 20
"""Of a part of the file, however many minutes are kept."""
MAX_SPANS = 100_000
"""Spans between two lines; if there are more, the oldest are lost. A bound for a recorder that cannot write."""
IDLE = "idle"
"""The state of an actor that gets no span: searching by itself, or without a task."""


class ActorSpan(NamedTuple):
    """A state of an actor, from and to readings of `time.monotonic`."""

    actor: int
    state: str
    began: float
    ended: float


class ModelSpan(NamedTuple):
    """A time that the model was busy: `seconds` from `began` on, rows and states in work, states that waited."""

    began: float
    seconds: float
    rows: int
    states: int
    waiting: int


def timeline_file(run_path: Path, rank: int) -> Path:
    """Return the path of the timeline of a rank."""
    return run_path / f"timeline_r{rank}.jsonl"


class Timeline:
    """The timeline of one rank. `actor_spans` and `model_spans` may be appended to by any thread."""

    def __init__(self, run_path: Path, rank: int, minutes: float) -> None:
        """A part of the file is for `minutes`, so that as much as that, and at most twice that, is kept."""
        self._file = RotatingJsonl(timeline_file(run_path, rank), MAX_BYTES, 60 * minutes)
        self.actor_spans: deque[ActorSpan] = deque(maxlen=MAX_SPANS)
        self.model_spans: deque[ModelSpan] = deque(maxlen=MAX_SPANS)
        self._phases: deque[tuple[str, float]] = deque()
        self._phase = ""
        self._from = time.monotonic()

    def phase(self, name: str) -> None:
        """Note that a phase begins, and the one before it ends."""
        self._phases.append((name, time.monotonic()))

    def flush(self, open_spans: Iterable[tuple[int, str, float]]) -> None:
        """Write the line up to now. `open_spans` are the states that actors are in, and since when."""
        now = time.monotonic()
        line = {"from": round(time.time() - (now - self._from), 4), "to": round(time.time(), 4)}
        # What is open is written up to now; the rest of it comes in the next line, cut at the beginning of that one.
        spans = [*_drain(self.actor_spans), *(ActorSpan(*span, now) for span in open_spans)]
        actors = []
        for span in spans:
            if span.state != IDLE and span.ended > self._from:
                actors.append((span.actor, span.state, *self._cut(span.began, span.ended)))
        steps = []
        for step in _drain(self.model_spans):
            start_and_length = self._cut(step.began, step.began + step.seconds)
            steps.append([*start_and_length, step.rows, step.states, step.waiting])
        self._file.write([{**line, "actors": actors, "steps": steps, "phases": self._cut_phases(now)}])
        self._from = now

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _cut(self, began: float, ended: float) -> tuple[float, float]:
        """Return start and length, in milliseconds, of what of a span is in the present line."""
        start = max(0.0, began - self._from)
        length = max(0.0, ended - self._from - start)
        return int(10_000 * start) / 10, int(10_000 * length) / 10

    def _cut_phases(self, now: float) -> list[list[Any]]:
        spans, began = [], self._from
        for name, moment in _drain(self._phases):
            spans.append((self._phase, began, moment))
            self._phase, began = name, moment
        spans.append((self._phase, began, now))
        phases: list[list[Any]] = []
        for name, began, ended in spans:
            if name and ended > began:  # before the first phase there is none
                phases.append([name, *self._cut(began, ended)])
        return phases


def _drain(spans: deque[Any]) -> list[Any]:
    """Empty a deque that other threads append to meanwhile: iterating over it would raise."""
    return [spans.popleft() for _ in range(len(spans))]


# -- Samples: states that the model was asked about, its suggestions, and what became of them -------------------------

MAX_MESSAGE = 300
MAX_STATE = 20_000


def samples_file(run_path: Path, rank: int) -> Path:
    """Return the path of the samples of a rank."""
    return run_path / f"samples_r{rank}.jsonl"


def train_samples_file(run_path: Path) -> Path:
    """Return the path of the training examples that rank 0 records."""
    return run_path / "train_samples.jsonl"


def samples_of(attempt: Attempt, trace: Trace, count: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Sample at most `count` states of an attempt: those on the way of its proof first, others by chance."""
    if trace.root is None:
        return
    depths = {transition.state: transition.depth for transition in attempt.transitions}
    suggestions = dict(trace.suggestions)  # of a state that the model was asked about again, the newest
    on_the_way = [state for state in suggestions if state in depths]
    others = [state for state in suggestions if state not in depths]
    chosen = rng.sample(on_the_way, min(count, len(on_the_way)))
    chosen += rng.sample(others, min(count - len(chosen), len(others)))
    nodes = {node.state: node for node in walk(trace.root) if node.kind is Kind.OR and node.state in chosen}
    refused = _refusals(trace, chosen)
    theorem = attempt.theorem
    for state in chosen:
        yield {
            "dataset": theorem.dataset,
            "id": theorem.id,
            **sample_of(state, suggestions[state], nodes.get(state), refused.get(state, {})),
            "depth": depths.get(state),
        }


def sample_of(
    state: str, suggestion: Suggestion, node: Node | None, refused: dict[str, TacticFailed]
) -> dict[str, Any]:
    """Describe what the model made of a state; `node` and `refused` say what became of its tactics, where known."""
    return {
        "time": round(time.time(), 3),
        "state": state[:MAX_STATE],
        "tactics": outcomes_of(suggestion, node, refused),
        "dropped": suggestion.num_dropped,
        "value": round(suggestion.value, 4),
        "distribution": [round(p, 5) for p in suggestion.value_distribution],
    }


def _refusals(trace: Trace, states: list[str]) -> dict[str, dict[str, TacticFailed]]:
    """Collect Lean's answers to the tactics of some states that it did not apply."""
    refused: dict[str, dict[str, TacticFailed]] = {}
    for state, tactics, results in trace.results:
        if state not in states:
            continue
        of_state = refused.setdefault(state, {})
        for tactic, result in zip(tactics, results):
            if isinstance(result, TacticFailed):
                of_state[tactic] = result
    return refused


def outcomes_of(suggestion: Suggestion, node: Node | None, refused: dict[str, TacticFailed]) -> list[dict[str, Any]]:
    """List the tactics of a suggestion, most likely ones first, with what became of them."""
    entries = zip(suggestion.tactics, suggestion.logprobs, suggestion.counts, strict=True)
    tried: Mapping[str, Node | None] = {}
    if node is not None:
        tried = node.known
    outcomes = []
    for tactic, logprob, count in sorted(entries, key=lambda entry: -entry[1]):
        refusal, child = refused.get(tactic), tried.get(tactic)
        message = ""
        if refusal is not None:
            message = refusal.message[:MAX_MESSAGE]
        outcomes.append(
            {
                "tactic": tactic,
                "logprob": round(logprob, 4),
                "count": count,
                "outcome": _outcome(refusal, child, tactic in tried),
                "message": message,
            }
        )
    return outcomes


def _outcome(refusal: TacticFailed | None, child: Node | None, is_tried: bool) -> str:
    # The child first: a tactic that ran out of time when it was tried first may have been applied later.
    if child is not None and child.solved:
        return "solved"
    if child is not None:
        return "applied"
    if refusal is not None:
        return refusal.kind
    if is_tried:  # applied without an error, but to a state above
        return "cycle"
    return "untried"


# -- Search trees of the newest attempts -----------------------------------------------------------------------------

SHARE = 0.01
"""A tree is written when at least 1 / SHARE of the time that the last one took has gone by."""
LEAST_SECONDS = 0.5
"""Between two trees at least; and so long a second one of the same outcome waits for one of the other."""
MAX_NODES = 20_000
"""Larger trees are not written: people could not read them, and they would hold up the actors."""
_NAME = re.compile(r"(\d+)_(\d+)_(\d+)\.json\.gz")


def tree_file(run_path: Path, number: Number) -> Path:
    """Return the path of the tree of an attempt, if it is kept."""
    return run_path / "trees" / "{}_{}_{}.json.gz".format(*number)


def kept_trees(run_path: Path) -> list[Number]:
    """List the attempts whose trees are kept, in order."""
    try:
        matches = [_NAME.fullmatch(file.name) for file in (run_path / "trees").iterdir()]
    except OSError:
        return []
    return sorted((int(match[1]), int(match[2]), int(match[3])) for match in matches if match)


def read_tree(run_path: Path, number: Number) -> dict[str, Any]:
    """Read a kept tree. Raises UserError if there is none, or if it is damaged."""
    file = tree_file(run_path, number)
    try:
        with gzip.open(file) as source:
            tree = json.load(source)
    except FileNotFoundError as error:
        raise UserError(f"no such tree: {file}") from error
    except (OSError, EOFError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}") from error
    if not isinstance(tree, dict):
        raise UserError(f"{file} holds no tree")
    return tree


class TreeStore:
    """The trees of one rank. `wants` may be asked by any thread, `write` is called by one."""

    def __init__(self, run_path: Path, rank: int, keep: int) -> None:
        self._path, self._keep = run_path, keep
        self._kept = deque(number for number in kept_trees(run_path) if number[1] == rank)
        self._not_before = float("-inf")
        self._last_proven = False
        self._pending = False
        self._failed = False

    def wants(self, proven: bool, nodes: int, watched: bool = False) -> bool:
        """Return whether to write the tree of an attempt that has ended now; if so, `write` has to be called.

        One that somebody has watched is wanted whenever trees are kept.
        """
        if self._keep == 0 or nodes > MAX_NODES:
            return False
        if watched:
            return True
        if self._pending:
            return False
        # Most attempts end alike, and people want to see both.
        not_before = self._not_before
        if proven == self._last_proven:
            not_before += LEAST_SECONDS
        wanted = time.monotonic() >= not_before
        if wanted:
            self._pending, self._last_proven = True, proven
        return wanted

    def write(self, number: Number, root: Node) -> None:
        """Write a tree, and remove those that are too many."""
        # Its cost is processor time, which is what the actors of the same interpreter lose.
        began, busy = time.monotonic(), time.thread_time()
        try:
            content = json.dumps(tree_to_json(root), ensure_ascii=False, separators=(",", ":")).encode()
            file = tree_file(self._path, number)
            atomic_write(file, lambda target: target.write(gzip.compress(content, 6)), sync=False)
            self._kept.append(number)
            while len(self._kept) > self._keep:
                tree_file(self._path, self._kept.popleft()).unlink(missing_ok=True)
        except OSError as error:
            if not self._failed:
                log.warning("search trees cannot be written: %s; the run continues without them", error)
            self._failed = True
        self._not_before = began + max(LEAST_SECONDS, (time.thread_time() - busy) / SHARE)
        self._pending = False
