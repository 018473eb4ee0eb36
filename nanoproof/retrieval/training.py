"""Training an encoder to put a proof state near the premises that its tactic used.

An example is a tactic with one of its premises. Beside it stand negatives: some of the file of that premise, the others
of other accessible files. A batch compares its states with the premises of all of its examples; a premise is right for
a state wherever its tactic used it (LeanDojo, Yang et al. 2023, section 5).

Shapes: B states of a batch, K distinct columns (premises) of it, C channels.
"""

import logging
import math
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from nanoproof.common.errors import UserError
from nanoproof.common.files import JsonlWriter
from nanoproof.retrieval.corpus import Corpus, Query
from nanoproof.retrieval.encoders import parameter_groups, save_encoder
from nanoproof.retrieval.index import INDEX_FOLDER, Index
from nanoproof.retrieval.retrieve_options import TrainOptions
from nanoproof.retrieval.scores import EncoderRanks, Scores, evaluate
from nanoproof.retrieval.vectors import Encoder, encode_all

log = logging.getLogger(__name__)

METRICS = "metrics.jsonl"
TRAINED_ROWS = 16
"""Texts of a batch that are encoded at a time: they are padded to the longest of them."""


# -- Batches ---------------------------------------------------------------------------------------------------------


class Example(NamedTuple):
    """A tactic of a corpus and one of the premises that it used."""

    query: Query
    positive: int


def examples_of(asked: Sequence[Query]) -> list[Example]:
    """List an example for each tactic and premise of it."""
    return [Example(query, positive) for query in asked for positive in query.positives]


class NegativeSampler:
    """Draws negatives: accessible premises other than the example's own, uniformly and without repetition."""

    def __init__(self, corpus: Corpus, num_negatives: int, num_in_file: int, rng: random.Random) -> None:
        self._corpus, self._rng = corpus, rng
        self._count, self._in_file = num_negatives, min(num_in_file, num_negatives)

    def draw(self, example: Example) -> list[int]:
        """Return negatives, those of the premise's own file first; fewer than asked for where there are no more.

        In the file of the theorem itself only what ends before it counts.
        """
        query, positive = example
        # This need not be the theorem's file; of another one, which it imports, all may be used.
        home = self._corpus.premises[positive].path
        own = [
            number
            for number in self._corpus.in_file(home)
            if number != positive and (home != query.path or self._corpus.premises[number].end <= query.start)
        ]
        negatives = self._rng.sample(own, min(self._in_file, len(own)))
        accessible = self._corpus.accessible(query.path, query.start)
        same = self._corpus.in_file(home)
        # Those of the file are a run of numbers: places are drawn among the others, and behind the run moved over it. A
        # list of the others, for each example anew, would be as long as the library.
        run_start, run_stop = np.searchsorted(accessible, [same.start, same.stop]).tolist()
        others = len(accessible) - (run_stop - run_start)
        for place in self._rng.sample(range(others), min(self._count - len(negatives), others)):
            if place >= run_start:
                place += run_stop - run_start
            negatives.append(int(accessible[place]))
        return negatives


def arrange(positives: Sequence[int], negatives: Sequence[Sequence[int]], count: int) -> list[int]:
    """Order the premises of a batch: the positives of its examples, then the first negative of each, then the second.

    An example with fewer than `count` negatives has no place where it lacks one.
    """
    columns = list(positives)
    for number in range(count):
        for of_example in negatives:
            if number < len(of_example):
                columns.append(of_example[number])
    return columns


def label_matrix(positives: Sequence[Collection[int]], columns: Sequence[int]) -> torch.Tensor:
    """Return (B, K): 1 where the premise of a column is any of the positives of a state, else 0."""
    labels_BK = torch.zeros(len(positives), len(columns))
    for row, wanted in enumerate(positives):
        labels_BK[row] = torch.tensor([float(column in wanted) for column in columns])
    return labels_BK


# -- Losses ----------------------------------------------------------------------------------------------------------


def mse_loss(cosines_BK: torch.Tensor, labels_BK: torch.Tensor) -> torch.Tensor:
    """Return the mean squared error between cosines and labels."""
    return F.mse_loss(cosines_BK, labels_BK)


def contrastive_loss(cosines_BK: torch.Tensor, labels_BK: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return the cross entropy of each state over the columns, its right ones alike; the mean over states.

    With one right column it is InfoNCE (van den Oord et al. 2018); with several the loss L_out of Khosla et al. 2020.
    """
    logprobs_BK = (cosines_BK / temperature).log_softmax(dim=1)
    shares_BK = labels_BK / labels_BK.sum(dim=1, keepdim=True)
    return -(shares_BK * logprobs_BK).sum(dim=1).mean()


def lr_factor(step: int, steps: int, warmup: int) -> float:
    """Return the factor of the learning rate at a step, from 0 on: linear up to 1, then half a cosine down to 0."""
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


# -- The loop --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RetrievalData:
    """A corpus with the tactics to train on and those to validate."""

    corpus: Corpus
    train: Sequence[Query]
    valid: Sequence[Query]
    name: str = ""


@dataclass(frozen=True)
class Epoch:
    """What is known after an epoch; `scores` are those on the tactics to validate, None without any."""

    epoch: int
    step: int
    loss: float
    scores: Scores | None

    def to_json(self) -> dict[str, Any]:
        """Return it as a record for `metrics.jsonl`."""
        return asdict(self)


class Trainer:
    """Trains an encoder on one corpus. The weights of the best epoch are in it at the end."""

    def __init__(self, encoder: Encoder, data: RetrievalData, options: TrainOptions) -> None:
        """Raises UserError if there is nothing to train on."""
        self.encoder, self.data, self.options = encoder, data, options
        self.examples = examples_of(data.train)
        if not self.examples:
            raise UserError(f"{data.name or 'the data'}: no tactic to train on names a premise of the corpus")
        self._rng = random.Random(options.seed)
        self._sampler = NegativeSampler(data.corpus, options.num_negatives, options.num_in_file_negatives, self._rng)
        size = options.batch_size * options.accumulate
        self._steps_per_epoch = max(1, len(self.examples) // size)
        self.steps = options.epochs * self._steps_per_epoch
        # At most a tenth: 1,000 steps, LeanDojo's, would be all of a small library's training.
        self._warmup = min(options.warmup_steps, self.steps // 10)
        self._optimizer = torch.optim.AdamW(parameter_groups(encoder, options.lr, options.weight_decay))
        self._ranks = EncoderRanks(encoder)

    def run(
        self, done: Callable[[Epoch], None] = lambda epoch: None, stopped: Callable[[], bool] = lambda: False
    ) -> Epoch | None:
        """Train; `done` hears of each epoch. Returns the best one, whose weights the encoder has then.

        Without tactics to validate that is the last one. Once `stopped()` it ends before the next batch, and the best
        of the epochs that are done counts (None if there is none).
        """
        torch.manual_seed(self.options.seed)
        best: Epoch | None = None
        best_state: list[torch.Tensor] = []
        step = 0
        for number in range(1, self.options.epochs + 1):
            losses = []
            for batches in self._epoch():
                if stopped():
                    break
                losses.append(self._step(batches, step))
                step += 1
            if stopped():
                break
            epoch = Epoch(number, step, sum(losses) / len(losses), self.evaluate(self.data.valid))
            done(epoch)
            if best is None or _is_better(epoch, best):
                best, best_state = epoch, [parameter.detach().clone() for parameter in self.encoder.parameters()]
            elif number - best.epoch >= self.options.patience:
                log.info("no better R@10 for %d epochs", self.options.patience)
                break
        with torch.no_grad():
            for parameter, kept in zip(self.encoder.parameters(), best_state):
                parameter.copy_(kept)
        return best

    def evaluate(self, asked: Sequence[Query]) -> Scores | None:
        """Score the encoder on tactics; None if there are none."""
        if not asked:
            return None
        return evaluate(self._ranks, self.data.corpus, asked)[0]

    def index(self) -> Index:
        """Return the index of the corpus with the present weights."""
        return Index.build(self.data.corpus, self.encoder, self._ranks.index)[0]

    def _epoch(self) -> Iterator[list[list[Example]]]:
        """Yield the batches of each step of an epoch; examples that fill no step are left out, unless there is none."""
        order = list(self.examples)
        self._rng.shuffle(order)
        size, per_step = self.options.batch_size, self.options.batch_size * self.options.accumulate
        for number in range(self._steps_per_epoch):
            part = order[number * per_step : (number + 1) * per_step]
            yield [part[first : first + size] for first in range(0, len(part), size)]

    def _step(self, batches: Sequence[Sequence[Example]], step: int) -> float:
        """Update once; returns the mean loss. Raises UserError if it is not finite."""
        options = self.options
        self.encoder.training(True)
        self._optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for batch in batches:
            loss = self.loss(batch) / len(batches)
            # Batch by batch: a graph of all would hold the activations of every text of the step.
            loss.backward()
            total += float(loss.detach())
        norm = float(torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), options.max_grad_norm))
        # Before the update: weights that are nan would go on to the index without a word.
        if not (math.isfinite(total) and math.isfinite(norm)):
            raise UserError(f"loss {total}, gradient norm {norm} in step {step}: try a smaller --lr ({options.lr})")
        for parameters in self._optimizer.param_groups:
            parameters["lr"] = options.lr * lr_factor(step, self.steps, self._warmup)
        self._optimizer.step()
        return total

    def loss(self, batch: Sequence[Example]) -> torch.Tensor:
        """Compute the loss of a batch, with negatives drawn for it."""
        negatives, positives, right, contexts_B = [], [], [], []
        for example in batch:
            negatives.append(self._sampler.draw(example))
            positives.append(example.positive)
            right.append(example.query.positives)
            contexts_B.append(example.query.context)
        columns = arrange(positives, negatives, self.options.num_negatives)
        labels_BK = label_matrix(right, columns)
        # Each text once: a state is there for each of its premises, and one premise may be drawn for several states.
        distinct, contexts = list(dict.fromkeys(columns)), list(dict.fromkeys(contexts_B))
        texts = [*contexts, *(self.data.corpus.premises[number].text for number in distinct)]
        vectors = encode_all(self.encoder, texts, TRAINED_ROWS)
        places = {number: place for place, number in enumerate(distinct)}
        rows = [contexts.index(context) for context in contexts_B]
        states_BC = vectors[: len(contexts)][rows]
        premises_KC = vectors[len(contexts) :][[places[number] for number in columns]]
        cosines_BK, labels_BK = states_BC @ premises_KC.T, labels_BK.to(vectors.device)
        if self.options.loss == "mse":
            return mse_loss(cosines_BK, labels_BK)
        return contrastive_loss(cosines_BK, labels_BK, self.options.temperature)


def _is_better(epoch: Epoch, best: Epoch) -> bool:
    # Without tactics to validate each epoch counts as better, so that the last one is taken.
    if epoch.scores is None or best.scores is None:
        return True
    return epoch.scores.recall_at_10 > best.scores.recall_at_10


def train_retriever(
    encoder: Encoder,
    parts: Sequence[RetrievalData],
    options: TrainOptions,
    out: Path,
    about: Mapping[str, Any],
    done: Callable[[RetrievalData, Epoch], None] = lambda data, epoch: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Epoch | None:
    """Train on one corpus after the other, each from the result of the one before; `done` hears of each epoch.

    After each corpus `out` holds encoder and index (of that corpus) as a retriever; `metrics.jsonl` has a line for each
    epoch. Once `stopped()` what is best so far is written. Returns the best epoch on the last corpus that was begun,
    None if none was over; then nothing of it is written. Raises UserError.
    """
    best: Epoch | None = None
    for number, data in enumerate(parts):
        trainer = Trainer(encoder, data, options)

        def note(epoch: Epoch, number: int = number, data: RetrievalData = data) -> None:
            with closing(JsonlWriter(out / METRICS)) as metrics:
                metrics.write({"part": number, "data": data.name, **epoch.to_json()})
            done(data, epoch)

        if number == 0:  # lines of an earlier training in the same folder
            (out / METRICS).unlink(missing_ok=True)
        best = trainer.run(note, stopped)
        if best is not None or not stopped():
            save_encoder(encoder, out, {**about, "trained_on": [part.name for part in parts[: number + 1]]})
            trainer.index().save(out / INDEX_FOLDER)
        if stopped():
            break
    return best
