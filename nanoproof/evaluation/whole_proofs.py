"""Evaluation by whole proofs: many samples of each theorem, verified while the next ones are generated.

On each rank one thread asks the model for samples (several where several machines write), and the actors, a thread and
a Lean process each, verify them. Ranks take pieces of work, some samples of one theorem, from a shared counter. Equal
texts of one theorem are verified once.
What Lean gave no verdict on (its server was lost, it ran out of time) is tried once more in the end, alone and with
more time. Every sample is a line of `results.jsonl` as soon as its verdict is known, so that a run that was killed
continues with those that are missing.
"""

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from nanoproof.actors.pool import AttemptPool
from nanoproof.actors.tasks import Task
from nanoproof.common.distributed import DistInfo, SharedCounter, barrier, gather_json, on_main
from nanoproof.common.terminal import Progress
from nanoproof.evaluation.evaluate import CountedSource, work_off
from nanoproof.evaluation.results import Mode
from nanoproof.evaluation.sample_files import SampleFiles, WholeProofOptions
from nanoproof.evaluation.summary import theorem_key
from nanoproof.inference.language_model import LanguageModel, TextSample, batches_at_once
from nanoproof.lean.answers import written_proof
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.whole_proof import PATIENCE, Candidate, PromptRenderer, RepairRenderer, Verification, Verifier
from nanoproof.search.policy import PolicyError, PolicyUnavailable

AGAIN_SHARE, AGAIN_LEAST_SECONDS = 0.5, 600.0
"""Texts without a verdict are tried again for as long a part of the time until then, or so many seconds: some never
end."""
BACKLOG = 64
"""Samples that may wait for a verifier, at least; more are not generated then."""
_POLL_SECONDS = 0.05

# -- Samples on their way from the model to a verdict ----------------------------------------------------------------


@dataclass
class _Item:
    """A text that waits for its verdict, and other samples of the theorem that are equal to it."""

    candidate: Candidate
    copies: list[Candidate] = field(default_factory=list)
    deferred: bool = False
    work: Verification | None = None

    @property
    def errors(self) -> tuple[str, ...]:
        if self.work is None:
            return ()
        return self.work.errors

    @property
    def all(self) -> list[Candidate]:
        return [self.candidate, *self.copies]


class _Known(NamedTuple):
    """The verdict on a text, and what Lean said of it where it may be repaired."""

    verdict: Attempt
    errors: tuple[str, ...]


class SampleSource(CountedSource):
    """Takes samples from the model, hands each distinct text to an actor, and keeps every sample with its verdict.

    `keep` takes the attempts. All methods are called under the pool's lock. `repairs` has refused samples that go back
    to the model, with Lean's errors; `deferred` what is to be tried once more.
    """

    def __init__(
        self, name: str, verifier: Verifier, keep: Callable[[Attempt], None], total: int, repair: int = 0
    ) -> None:
        super().__init__(f"whole/{name}", total)
        self._verifier, self._keep, self._repair = verifier, keep, repair
        self._items: dict[int, _Item] = {}
        self._ready: deque[int] = deque()
        self._seen: dict[bytes, _Item | _Known] = {}
        self._proved: set[str] = set()
        self.refused: dict[str, Attempt] = {}
        self.repairs: deque[tuple[Candidate, tuple[str, ...]]] = deque()
        self.deferred: list[_Item] = []
        self._count = 0

    @property
    def backlog(self) -> int:
        """Return the number of texts that wait for a verifier."""
        return len(self._ready)

    def remember(self, attempt: Attempt) -> None:
        """Take note of a verdict from before, so that equal texts, or those of a refused statement, need no other."""
        if attempt.refused:
            self.refused.setdefault(attempt.theorem.source, attempt)
            return
        candidate = Candidate(attempt.theorem, attempt.text, attempt.sample)
        # A repair is asked for with Lean's errors, which no file has: an equal text gets a verdict of its own.
        if not (self._repair and attempt.outcome != "proven"):
            self._seen.setdefault(candidate.digest, _Known(_slim(attempt), ()))

    def add(self, candidates: Sequence[Candidate]) -> None:
        """Take samples: to be verified, or with the verdict on an equal text."""
        for candidate in candidates:
            refusal = self.refused.get(candidate.theorem.source)
            seen = _Known(refusal, ()) if refusal is not None else self._seen.get(candidate.digest)
            if isinstance(seen, _Known):
                self._settle(candidate, seen)
            elif seen is not None:
                seen.copies.append(candidate)
                if seen.deferred:
                    # What is deferred counts as done in this stage, or the stage would never end.
                    self._done.add(1)
            else:
                self._count += 1
                self._items[self._count] = self._seen[candidate.digest] = _Item(candidate)
                self._ready.append(self._count)

    def fail(self, candidate: Candidate, error: Exception) -> None:
        """Note that the model could not write a sample; it has no verdict."""
        attempt = Attempt(candidate.theorem, "error", str(error), budget=1, stop_reason=type(error).__name__)
        self._finish(candidate, attempt)

    def next(self) -> Task | None:
        """Return the next text to verify."""
        if not self._ready:
            return None
        return self._task(self._ready.popleft())

    def _task(self, number: int, patience: float = 1.0) -> Task:
        item = self._items[number]
        item.work = Verification(self._verifier, item.candidate, patience)
        return Task(item.candidate.theorem, 1, number, item.candidate.seed, work=item.work)

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Take a verdict, for all samples that are equal to the text."""
        item = self._items.pop(task.index)
        # A busy machine or a lost process says nothing of the text.
        if attempt.outcome == "error" and not attempt.refused:
            item.deferred = True
            self.deferred.append(item)
            self._done.add(len(item.all))
            return
        self._judge(item, attempt)

    def _judge(self, item: _Item, attempt: Attempt) -> None:
        if attempt.refused:
            self.refused[attempt.theorem.source] = attempt
        errors: tuple[str, ...] = ()
        if self._repair:
            errors = item.errors
        self._seen[item.candidate.digest] = _Known(_slim(attempt), errors)
        for candidate in item.all:
            self._settle(candidate, _Known(attempt, errors))

    def _settle(self, candidate: Candidate, known: _Known) -> None:
        """Keep a sample with its verdict, or have the model repair it."""
        if known.verdict.outcome == "unproven" and candidate.repairs < self._repair:
            self.repairs.append((candidate, known.errors))
        else:
            self._finish(candidate, candidate.attempt(known.verdict))

    def _finish(self, candidate: Candidate, attempt: Attempt) -> None:
        self._keep(replace(attempt, theorem=candidate.theorem, sample=candidate.sample))
        if attempt.outcome == "proven" and candidate.theorem.source not in self._proved:
            self._proved.add(candidate.theorem.source)
            self._solved.add(1)
        self._done.add(1)


class AgainSource(SampleSource):
    """Has texts without a verdict verified once more: one at a time, while nothing else runs, with more time."""

    def __init__(self, name: str, first: SampleSource, total: int, seconds: float) -> None:
        super().__init__(f"{name}/again", first._verifier, first._keep, total)
        self._waiting = deque(first.deferred)
        self._busy, self._deadline = False, time.monotonic() + seconds
        self._proved = first._proved  # theorems that the first stage has counted already

    def next(self) -> Task | None:
        """Return the next text, once the one before it is done; after the time for all this, end the rest."""
        if self._busy or not self._waiting:
            return None
        while self._waiting and time.monotonic() > self._deadline:
            self._give_up(self._waiting.popleft())
        if not self._waiting:
            return None
        self._busy = True
        self._count += 1
        self._items[self._count] = self._waiting.popleft()
        return self._task(self._count, PATIENCE)

    def _give_up(self, item: _Item) -> None:
        for candidate in item.all:
            message = "there was no time left to verify it once more"
            attempt = Attempt(candidate.theorem, "error", message, budget=1, stop_reason="NoTimeLeft")
            self._finish(candidate, candidate.attempt(attempt))

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Keep what came of it, also where there still is no verdict."""
        self._busy = False
        item = self._items.pop(task.index)
        for candidate in item.all:
            self._finish(candidate, candidate.attempt(attempt))


def _slim(attempt: Attempt) -> Attempt:
    """Return what equal texts need of a verdict; most are refusals, of which there are very many."""
    if attempt.outcome == "proven":
        return attempt
    # Not an empty text: by that `Candidate.attempt` tells a copy from a sample that was never written.
    return replace(attempt, text="-", seconds={}, counts={})


# -- Generation ------------------------------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """Samples `first`, `first` + 1, ... of a theorem, those of `wanted`, or the repair of one."""

    theorem: int
    first: int
    wanted: frozenset[int]
    repaired: Candidate | None = None
    errors: tuple[str, ...] = ()


@dataclass(frozen=True)
class WholeWork:
    """What is to be sampled: the samples `todo` of the theorems (numbers as in `SampleFiles`), and how.

    `texts` are those of samples among them that were written before and have no verdict.
    """

    theorems: Sequence[Theorem]
    todo: Sequence[int]
    options: WholeProofOptions
    seed: int
    render: PromptRenderer
    repair: RepairRenderer | None = None
    texts: dict[int, Candidate] = field(default_factory=dict)

    def pieces(self) -> list[_Piece]:
        """Cut the work into pieces, in the order of the samples: every theorem has some before one has all."""
        wanted: dict[tuple[int, int], set[int]] = {}
        size = self.options.samples_at_once
        for number in self.todo:
            sample, theorem = divmod(number, len(self.theorems))
            wanted.setdefault((sample // size * size, theorem), set()).add(sample)
        return [_Piece(theorem, first, frozenset(some)) for (first, theorem), some in sorted(wanted.items())]


class _PiecesLeft:
    """The pieces that no rank has taken; the threads of a rank share it."""

    def __init__(self, name: str, work: WholeWork) -> None:
        self._pieces, self._options = work.pieces(), work.options
        self._lock = threading.Lock()
        self._next = SharedCounter(f"whole/{name}/next")
        self._kept: deque[_Piece] = deque()
        self._exhausted = False

    def take(self) -> list[_Piece]:
        """Take the next ones, of one size; none if there are none left."""
        batch: list[_Piece] = []
        with self._lock:
            while len(batch) < self._options.theorems_at_once and (piece := self._take_one()) is not None:
                # One request has one number of samples, and a theorem's last piece may be smaller.
                if batch and piece_size(piece, self._options) != piece_size(batch[0], self._options):
                    self._kept.append(piece)
                    break
                batch.append(piece)
        return batch

    def _take_one(self) -> _Piece | None:
        if self._kept:
            return self._kept.popleft()
        if self._exhausted:
            return None
        turn = self._next.add(1) - 1
        self._exhausted = turn >= len(self._pieces)
        return None if self._exhausted else self._pieces[turn]


def piece_size(piece: _Piece, options: WholeProofOptions) -> int:
    """Return how many samples the model is asked for."""
    if piece.repaired:
        return 1
    # All of the piece, also where some are there already: a sample depends on the seed and on its place in the request.
    return min(options.samples_at_once, options.samples - piece.first)


class Generation(threading.Thread):
    """A thread that asks the model for samples: repairs first, then pieces that nobody has taken."""

    def __init__(
        self, pool: AttemptPool, source: SampleSource, model: LanguageModel, work: WholeWork, left: _PiecesLeft
    ) -> None:
        super().__init__(name="generation", daemon=True)
        self._pool, self._source, self._model, self._work, self._left = pool, source, model, work, left
        self._index = {theorem: index for index, theorem in enumerate(work.theorems)}
        self.ended = threading.Event()

    def run(self) -> None:
        """Generate until all is done, or told to end."""
        try:
            while not self.ended.is_set():
                batch = self._take()
                if batch:
                    self._generate(batch)
                else:
                    self.ended.wait(_POLL_SECONDS)
        except Exception as error:  # it must reach the main thread
            if not self.ended.is_set():
                self._pool.fail(error)

    def _take(self) -> list[_Piece]:
        """Take the next pieces; none while enough samples wait for a verdict."""
        options, source = self._work.options, self._source
        with self._pool.locked():
            if source.backlog >= max(BACKLOG, 4 * self._pool.size):  # hosts may join
                return []
            batch: list[_Piece] = []
            while source.repairs and len(batch) < options.samples_at_once:
                candidate, errors = source.repairs.popleft()
                index, sample = self._index[candidate.theorem], candidate.sample
                batch.append(_Piece(index, sample, frozenset({sample}), candidate, errors))
        return batch or self._left.take()

    def _generate(self, batch: list[_Piece]) -> None:
        """Have the samples of a batch written, and hand them on."""
        todo: list[_Piece] = []
        unasked: list[Candidate] = []
        for piece in batch:
            theorem, texts = self._work.theorems[piece.theorem], self._texts(piece)
            unasked += texts.values()
            missing = piece.wanted - texts.keys()
            if theorem.source in self._source.refused:
                # No proof of a statement that Lean refuses is worth the model's time: the samples get its verdict.
                unasked += [Candidate(theorem, "", sample) for sample in missing]
            elif missing:
                todo.append(piece)
        self._hand_on(lambda: self._source.add(unasked))
        if not todo:
            return
        for piece, samples in zip(todo, self._ask(todo), strict=True):
            self._hand_on(lambda piece=piece, samples=samples: self._receive(piece, samples))  # type: ignore[misc]

    def _texts(self, piece: _Piece) -> dict[int, Candidate]:
        """Return those samples of a piece that were written before and have no verdict."""
        if piece.repaired is not None:
            return {}
        texts = {}
        for sample in piece.wanted:
            number = sample * len(self._work.theorems) + piece.theorem  # as in `SampleFiles`
            if number in self._work.texts:
                texts[sample] = self._work.texts[number]
        return texts

    def _hand_on(self, work: Callable[[], None]) -> None:
        condition = self._pool.locked()
        with condition:
            if not self.ended.is_set():
                work()
                condition.notify_all()

    def _receive(self, piece: _Piece, samples: Sequence[TextSample] | PolicyError) -> None:
        theorem, seed = self._work.theorems[piece.theorem], self._seed(piece)
        num_tokens = repairs = 0
        if piece.repaired is not None:
            num_tokens, repairs = piece.repaired.num_tokens, piece.repaired.repairs + 1
        for sample in sorted(piece.wanted - self._texts(piece).keys()):
            if isinstance(samples, PolicyError):
                self._source.fail(Candidate(theorem, "", sample, seed), samples)
                continue
            written = samples[sample - piece.first]
            candidate = Candidate(
                theorem,
                written_proof(theorem, written.text),
                sample,
                seed,
                num_tokens + written.num_tokens,
                repairs,
                written.finished,
            )
            self._source.add([candidate])

    def _ask(self, batch: Sequence[_Piece]) -> list[Sequence[TextSample] | PolicyError]:
        """Ask the model; where it fails at a batch, ask for each prompt alone. Raises PolicyUnavailable."""
        options = replace(self._work.options.generation, num_samples=piece_size(batch[0], self._work.options))
        prompts, seeds = list(map(self._prompt, batch)), list(map(self._seed, batch))
        try:
            return list(self._model.generate(prompts, options, seeds))
        except PolicyUnavailable:
            raise
        except PolicyError as error:
            if len(batch) == 1:
                return [error]
            # A prompt that is too long for the model must cost its own theorem's samples only.
            return [answer for piece in batch for answer in self._ask([piece])]

    def _prompt(self, piece: _Piece) -> str:
        theorem = self._work.theorems[piece.theorem]
        if piece.repaired is None:
            return self._work.render(theorem)
        assert self._work.repair is not None, "nothing is repaired without a prompt for it"
        return self._work.repair(theorem, piece.repaired.text, piece.errors)

    def _seed(self, piece: _Piece) -> int:
        """Derive the seed of a prompt: the same whatever else is sampled, another one for each piece and round."""
        round_number = piece.repaired.repairs + 1 if piece.repaired is not None else 0
        key = theorem_key(self._work.theorems[piece.theorem])
        text = f"{self._work.seed}/{key}/{piece.first}/{round_number}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "little")


# -- The evaluation --------------------------------------------------------------------------------------------------


def sample_proofs(
    pool: AttemptPool,
    name: str,
    model: LanguageModel,
    verifier: Verifier,
    work: WholeWork,
    keep: Callable[[Attempt], None],
    known: Iterable[Attempt] = (),
    title: str = "whole proofs",
    show: bool = True,
) -> None:
    """Sample the proofs of a work, verify them, and `keep` the attempts as their verdicts are known.

    `known` are verdicts from before. All ranks call it together, with the same `name` that was never used before, each
    with its own model. Raises what ends the pool's wait, and UserError if the model is out of reach.
    """
    started = time.monotonic()
    total, repair = len(work.todo), work.options.repair
    if work.repair is None:
        repair = 0
    source = SampleSource(name, verifier, keep, total, repair)
    for attempt in known:
        source.remember(attempt)
    left = _PiecesLeft(name, work)
    threads = [Generation(pool, source, model, work, left) for _ in range(batches_at_once(model))]
    for thread in threads:
        thread.start()
    try:
        work_off(pool, source, Progress(total, title, "samples", show=show))
    finally:
        # Under the lock, so that no thread is just handing on samples, to a source that nobody works for.
        with pool.locked():
            for thread in threads:
                thread.ended.set()
    for thread in threads:
        thread.join()
    deferred = sum(gather_json(sum(len(item.all) for item in source.deferred)))
    if deferred:
        seconds = max(AGAIN_LEAST_SECONDS, AGAIN_SHARE * (time.monotonic() - started))
        again = AgainSource(name, source, deferred, seconds)
        work_off(pool, again, Progress(deferred, f"{title}, those without a verdict", "samples", show=show))


def evaluate_whole(
    pool: AttemptPool,
    name: str,
    files: SampleFiles,
    model: LanguageModel,
    work: WholeWork,
    dist: DistInfo,
    mode: Mode = "new",
    about: dict[str, Any] | None = None,
    extra: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Evaluate a model by whole proofs, write the samples to `files` as they come, and return the summary.

    All ranks call it together, like `evaluate`; the `todo` of `work` is what `files` lack.
    """
    todo: list[int] = on_main(lambda: files.begin(about or {}, mode))
    started = time.monotonic()
    if todo:
        settings, options = files.settings, work.options
        texts = {}
        for number, attempt in files.known():
            if attempt.text and attempt.outcome == "error":
                texts[number] = _written(attempt)
        work = replace(work, todo=todo, texts=texts)
        verifier = Verifier(model.name, options.proof_seconds, options.known_names())
        again = frozenset(todo)
        # The files are read once more rather than kept: there may be millions of samples. Refusals of statements that
        # are tried again would be the verdict on their samples.
        verdicts = (
            attempt
            for number, attempt in files.known()
            if (attempt.refused and number not in again) or (attempt.text and attempt.outcome != "error")
        )
        title = f"whole proofs of {settings.dataset} {settings.split}"
        with files.writer(dist.rank) as writer:
            try:
                sample_proofs(pool, name, model, verifier, work, writer.add, verdicts, title, dist.is_main)
            except BaseException:
                pool.stop()  # no attempt that ends now can be written any more
                raise
        barrier()  # a network's file system promises to show what others wrote once they have closed it
    return on_main(lambda: files.finish(time.monotonic() - started, extra))


def _written(attempt: Attempt) -> Candidate:
    """Return the text of a sample that was written before and has no verdict."""
    counts = attempt.counts
    return Candidate(
        attempt.theorem,
        attempt.text,
        attempt.sample,
        attempt.seed,
        counts.get("tokens", 0),
        counts.get("repairs", 0),
        not counts.get("cut_off"),
    )
