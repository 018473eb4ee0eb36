"""The transitions of a stage, and which of them go into which step.

Every epoch is a fresh permutation, and each step's share of it is dealt over the ranks. Transitions are augmented anew
in each epoch, and encoded on a thread while earlier steps train.
"""

import hashlib
import logging
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.data.transitions.augment import augment_transition
from nanoproof.data.transitions.leantree import select
from nanoproof.data.transitions.packing import (
    Continuation,
    Example,
    ExampleLimits,
    PackedBatch,
    encode_transitions,
    pack,
)
from nanoproof.data.weighted_rows import CONJECTURE_MARKER, Row, at_marker
from nanoproof.lean.types import Transition
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import NUM_VALUE_BINS, Tokenizer
from nanoproof.training.options import BatchOptions

log = logging.getLogger(__name__)

T = TypeVar("T")
ENCODED_AT_ONCE = 4096
MAX_DEPTH_WEIGHT = 10.0
"""Before weights are scaled to mean 1, none is more than this: a rare depth shall not be all there is to a step."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A transition of a set, in an epoch."""

    epoch: int
    index: int


class ExampleSet(Protocol):
    """What a stage learns from, as examples."""

    def __len__(self) -> int: ...

    def fingerprint(self) -> int:
        """Hash what is in the set, to tell it from others."""
        ...

    def size(self, pick: Pick) -> int:
        """Return about how much there is to compute for what a pick names, in characters."""
        ...

    def examples(self, picks: Sequence[Pick]) -> list[Example]:
        """Encode what these picks name, in their order."""
        ...


class RowSet:
    """Texts with weights, and the examples they become: behind the prompt its marker, the target and EOS.

    Of a text that is too long the end is kept (`num_cut` of them), with BOS before it, as the Self-play Theorem Prover
    does. The tokens of a target have the weight of its row.
    """

    def __init__(self, tokenizer: Tokenizer, rows: Sequence[Row], longest: int) -> None:
        """`longest` is the most tokens of an example."""
        self._tokenizer, self._rows, self._longest = tokenizer, rows, longest
        self.num_cut = 0
        for start in range(0, len(rows), ENCODED_AT_ONCE):
            self.num_cut += self._count_cut(rows[start : start + ENCODED_AT_ONCE])

    def _count_cut(self, rows: Sequence[Row]) -> int:
        room = self._longest - 3  # BOS, the marker and EOS are there in any case
        texts: list[str] = []
        for row in rows:
            before, _ = at_marker(row.prompt)
            # A token is a byte or more, so that short rows need not be encoded to see that they fit.
            if len((before + row.target).encode("utf-8", "surrogatepass")) > room:
                texts += [before, row.target]
        lengths = list(map(len, self._tokenizer.encode_arrays(texts)))
        return sum(prompt + target > room for prompt, target in zip(lengths[::2], lengths[1::2]))

    def __len__(self) -> int:
        return len(self._rows)

    def fingerprint(self) -> int:
        """Hash prompts, targets and weights in their order."""
        digest = hashlib.sha256()
        for row in self._rows:
            digest.update(f"{row.prompt}\0{row.target}\0{row.weight!r}\0".encode("utf-8", "surrogatepass"))
        return int.from_bytes(digest.digest()[:6], "big")  # 48 bits, which JSON's numbers hold exactly

    def size(self, pick: Pick) -> int:
        """Return the length of prompt and target."""
        row = self._rows[pick.index]
        return len(row.prompt) + len(row.target)

    def examples(self, picks: Sequence[Pick]) -> list[Example]:
        """Encode the rows of these picks, in their order."""
        return [self._example(self._rows[pick.index]) for pick in picks]

    def _example(self, row: Row) -> Example:
        tokenizer = self._tokenizer
        before, marker = at_marker(row.prompt)
        # BOS and the marker are there in any case: two tokens less for the texts.
        target = [*tokenizer.encode(row.target), tokenizer.eos][-(self._longest - 2) :]
        room = self._longest - 2 - len(target)
        prompt = tokenizer.encode(before)
        prefix = [tokenizer.bos, *prompt[max(0, len(prompt) - room) :]]
        start = tokenizer.proof
        if marker == CONJECTURE_MARKER:
            start = tokenizer.conjecture
        return Example(prefix, [Continuation([start, *target], "tactic", row.weight)])


Encoder = Callable[[Sequence[Transition], Sequence[float] | None], list[Example | None]]
"""Makes examples of transitions, with factors on the value losses of the depths from 1 on; None for those that are too
long."""


class TransitionSet:
    """Transitions, and the examples they become, made when they are asked for.

    Those over the limits are left out (`too_long` of them). With `augment` every epoch has its own version of a
    transition, which depends on seed, epoch and index alone; a version over the limits is replaced by the plain one.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | None,
        transitions: Sequence[Transition],
        limits: ExampleLimits,
        *,
        seed: int = 0,
        augment: bool = False,
        state_after: bool = False,
        depth_weights: Sequence[float] | None = None,
        whole_proofs: bool = False,
        encode: Encoder | None = None,
    ) -> None:
        """`encode` makes examples in another way than `encode_transitions` does with tokenizer and options."""
        if encode is None:
            assert tokenizer is not None
            encode = partial(_encode, tokenizer, limits, state_after=state_after, whole_proofs=whole_proofs)
        self._encoder = encode
        self._seed, self._augment = seed, augment
        self._state_after, self._depth_weights = state_after, depth_weights
        # Encoded to see what fits, and again when they are learned from: every epoch has versions of its own.
        fitting: list[int] = []
        self._tactic_tokens: Counter[int] = Counter()
        for start in range(0, len(transitions), ENCODED_AT_ONCE):
            examples = encode(transitions[start : start + ENCODED_AT_ONCE], None)
            for index, example in enumerate(examples):
                if example is not None:
                    fitting.append(start + index)
                    # Without its marker, with its end: as --max-gen-tokens counts.
                    self._tactic_tokens[len(example.continuations[0].tokens) - 1] += 1
        self.transitions = select(transitions, fitting)
        self.too_long = len(transitions) - len(self.transitions)

    def __len__(self) -> int:
        return len(self.transitions)

    def out_of_reach(self, max_gen_tokens: int) -> str:
        """Say how many transitions do not fit, and of how many no search writes the tactic; "" if of none.

        `max_gen_tokens` is the most that a search writes.
        """
        parts = []
        if self.too_long:
            parts.append(f"{self.too_long:,} left out as too long")
        unwritten = sum(count for tokens, count in self._tactic_tokens.items() if tokens > max_gen_tokens)
        if unwritten:
            parts.append(f"{unwritten:,} with a tactic of more than --max-gen-tokens {max_gen_tokens}")
        return ", ".join(parts)

    def fingerprint(self) -> int:
        """Hash states, tactics and depths in their order, to tell this set from others."""
        digest = hashlib.sha256()
        for item in self.transitions:
            digest.update(f"{item.state}\0{item.tactic}\0{item.depth}\0".encode())
        return int.from_bytes(digest.digest()[:6], "big")

    def size(self, pick: Pick) -> int:
        """Return the length of state and tactic."""
        transition = self.transitions[pick.index]
        return len(transition.state) + len(transition.tactic)

    def examples(self, picks: Sequence[Pick]) -> list[Example]:
        """Encode the transitions of these picks, in their order."""
        plain = [self.transitions[pick.index] for pick in picks]
        if not self._augment:
            return [example for example in self._encode(plain) if example is not None]
        examples = self._encode([self._version(item, pick) for item, pick in zip(plain, picks)])
        # Other names have other tokens, so that a version may be longer than the transition that fitted.
        for number, example in enumerate(examples):
            if example is None:
                (examples[number],) = self._encode([plain[number]])
        return [example for example in examples if example is not None]

    def _version(self, transition: Transition, pick: Pick) -> Transition:
        if not self._state_after:
            transition = replace(transition, state_after=None)  # the work of changing it is spared
        return augment_transition(transition, random.Random(f"{self._seed} {pick.epoch} {pick.index}"))

    def _encode(self, transitions: Sequence[Transition]) -> list[Example | None]:
        return self._encoder(transitions, self._depth_weights)


def _encode(
    tokenizer: Tokenizer,
    limits: ExampleLimits,
    transitions: Sequence[Transition],
    depth_weights: Sequence[float] | None,
    **how: bool,
) -> list[Example | None]:
    return encode_transitions(tokenizer, transitions, limits, depth_weights=depth_weights, **how)


def balanced_depth_weights(depths: Mapping[int, int]) -> list[float]:
    """Return a weight for each depth from 1 on, so that all depths count alike; their mean over transitions is 1.

    `depths` counts the transitions of each depth. Weights are in proportion to 1 / count, but at most
    `MAX_DEPTH_WEIGHT` before they are scaled to that mean.
    """
    counts: Counter[int] = Counter()
    for depth, count in depths.items():
        if count:
            counts[min(max(depth, 1), NUM_VALUE_BINS)] += count
    total = counts.total()
    raw = {depth: min(total / (len(counts) * count), MAX_DEPTH_WEIGHT) for depth, count in counts.items()}
    mean = sum(raw[depth] * count for depth, count in counts.items()) / max(1, total)
    weights = [1.0] * NUM_VALUE_BINS  # depths that do not occur
    for depth, weight in raw.items():
        weights[depth - 1] = weight / mean
    return weights


# -- The order of epochs, and the examples of each step --------------------------------------------------------------

STEPS_AHEAD = 4
"""For so many steps examples are encoded in advance."""


class EpochSampler:
    """Endless batches of indices below `size`: every index once in each epoch, in an order that the seed decides.

    The position is `(epoch, offset)`; `picks(n)` gives the next n indices of the global order, across epochs.
    """

    def __init__(self, size: int, seed: int, fingerprint: int = 0) -> None:
        """`fingerprint` is that of the set whose indices these are, so that a position in another is refused."""
        self.size, self.seed, self.fingerprint = size, seed, fingerprint
        self.epoch, self.offset = 0, 0
        self._order = self._permutation()

    def _permutation(self) -> np.ndarray:
        # From seed and epoch alone: a position of three numbers is enough to resume.
        return np.random.default_rng([self.seed, self.epoch]).permutation(self.size)

    def picks(self, count: int) -> list[Pick]:
        """Return the next `count` indices, each with its epoch."""
        picks: list[Pick] = []
        while len(picks) < count:
            take = min(count - len(picks), self.size - self.offset)
            chosen = self._order[self.offset : self.offset + take].tolist()
            picks.extend(Pick(self.epoch, index) for index in chosen)
            self.offset += take
            if self.offset == self.size:
                self.epoch, self.offset = self.epoch + 1, 0
                self._order = self._permutation()
        return picks

    def state(self) -> dict[str, int]:
        """Return the position, for `restore`."""
        return {
            "size": self.size,
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "epoch": self.epoch,
            "offset": self.offset,
        }

    def restore(self, state: dict[str, int]) -> None:
        """Continue from a saved position. Raises ValueError if it is of another set, or of another seed."""
        if state["size"] != self.size:
            raise ValueError(f"the set has {self.size} examples, the saved position is in one of {state['size']}")
        if state["seed"] != self.seed:
            raise ValueError(f"the seed is {self.seed}, the saved position is in the order of seed {state['seed']}")
        if state["fingerprint"] != self.fingerprint:
            raise ValueError("the set has as many examples as the one of the saved position, but other ones")
        self.epoch, self.offset = state["epoch"], state["offset"]
        self._order = self._permutation()

    def require_steps_of(self, size: int, steps: int, flag: str, run: str | None) -> None:
        """Raise UserError if the `steps` of the resumed run had other than `size` examples, which `flag` says.

        Then those that are left would not add up to epochs.
        """
        seen = self.epoch * self.size + self.offset
        if seen != steps * size:
            raise UserError(
                f"{flag} clashes with --resume-from {run}: the steps of that run have {seen // max(1, steps)}"
            )


def pack_for(model: GPT, examples: Sequence[Example], batch: BatchOptions, pad: int) -> PackedBatch:
    """Pack examples into rows; for a compiled model into as many as `split_for` makes whole micro-batches of."""
    return pack(examples, batch.row_length, pad, _rest_rows(model, batch) or 1)


def split_for(model: GPT, packed: PackedBatch, batch: BatchOptions, rows: int | None = None) -> list[PackedBatch]:
    """Split what `pack_for` packed into micro-batches of `rows` rows (default: `device_batch_size`).

    Those of a compiled model, which compiles anew for every other number of rows, have one of two: what remains comes
    in quarters of a micro-batch, so that a small step is not mostly padding.
    """
    return packed.split(rows or batch.device_batch_size, _rest_rows(model, batch))


def _rest_rows(model: GPT, batch: BatchOptions) -> int | None:
    """Return how many rows a small micro-batch of a compiled model has; None for others."""
    size = batch.device_batch_size
    if model.compiled_block is None:
        return None
    if size % 4:
        return size
    return size // 4


def shard(items: Sequence[T], dist: DistInfo) -> Iterator[T]:
    """Return this rank's share of a global batch."""
    # Every n-th, not a part of neighbours: shares differ by one item at most.
    return iter(items[dist.rank :: dist.world_size])


def balanced_shard(picks: Sequence[Pick], size: Callable[[Pick], int], dist: DistInfo) -> list[Pick]:
    """Return this rank's share of a step, in the step's order: longest first, each goes to who has the least so far.

    Ranks wait for the one that has most to compute. Of NanoLean's transitions dealt in turns it has 6% (two ranks with
    32 each) or 11% (eight with 64) more tokens than the mean, so 1.5% and 2.4%. As losses and gradients are divided by
    sums over all ranks, the step is the same.
    """
    if dist.world_size == 1:
        return list(picks)
    sizes = [size(pick) for pick in picks]
    loads = [0] * dist.world_size
    own: list[int] = []
    for number in sorted(range(len(picks)), key=lambda number: -sizes[number]):
        rank = loads.index(min(loads))
        loads[rank] += max(1, sizes[number])  # none is left without an example
        if rank == dist.rank:
            own.append(number)
    return [picks[number] for number in sorted(own)]


class StepExamples:
    """This rank's examples, step by step: a thread makes those of the coming steps while earlier ones train."""

    def __init__(self, transitions: ExampleSet, sampler: EpochSampler, count: int, dist: DistInfo) -> None:
        """`count` examples a step over all ranks; the first step is at the sampler's position."""
        self._transitions, self._sampler, self._count, self._dist = transitions, sampler, count, dist
        self._state = sampler.state()
        self._coming: deque[tuple[dict[str, int], Future[list[Example]]]] = deque()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="encode")

    def next(self) -> list[Example]:
        """Return the examples of the next step, and have those of later ones encoded."""
        while len(self._coming) <= STEPS_AHEAD:
            picks = balanced_shard(self._sampler.picks(self._count), self._transitions.size, self._dist)
            # With the position behind it: the sampler itself is some steps ahead of what a checkpoint has learned.
            self._coming.append((self._sampler.state(), self._pool.submit(self._transitions.examples, picks)))
        self._state, examples = self._coming.popleft()
        return examples.result()

    def state(self) -> dict[str, int]:
        """Return the sampler's position after the last step handed out."""
        return self._state

    def close(self) -> None:
        """Stop working ahead."""
        self._pool.shutdown(cancel_futures=True)
