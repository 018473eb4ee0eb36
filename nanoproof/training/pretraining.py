"""Pretraining and midtraining on rows of text, with validation in bits per byte and sampled continuations.

Shapes: R rows of validation text, B rows of a batch, T tokens in a row, V vocabulary, P prompts.
"""

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch

from nanoproof.common.distributed import DistInfo, all_reduce_sum, broadcast_json
from nanoproof.common.errors import UserError
from nanoproof.data.text.documents import Corpus, Documents, Segment, text_corpus
from nanoproof.data.text.token_loader import TokenLoader
from nanoproof.model.compute import device_peak_flops, flops_per_token, matrix_parameters, mfu
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.training import schedule
from nanoproof.training.loop import TrainingLoop
from nanoproof.training.options import (
    ModelOptions,
    OptimizerOptions,
    RunOptions,
    StartOptions,
    TextOptions,
    TriggerOptions,
)
from nanoproof.training.setup import Stage
from nanoproof.training.step import NO_TARGET, token_step

log = logging.getLogger(__name__)

# -- Validation ------------------------------------------------------------------------------------------------------

DOCUMENTS_AT_ONCE = 256


@dataclass(frozen=True)
class ValidationText:
    """Documents one behind the other, each with its BOS, cut into rows; every token but the first is a target once."""

    tokens_RT: torch.Tensor
    targets_RT: torch.Tensor
    bytes_V: torch.Tensor
    """How many bytes of text each token stands for; markers stand for none."""

    @classmethod
    def encode(cls, tokenizer: Tokenizer, texts: Iterable[str], row_length: int, max_tokens: int) -> "ValidationText":
        """Tokenize `texts` up to `max_tokens` targets (fewer where there are not so many)."""
        texts, arrays, size = iter(texts), [], 0
        while size <= max_tokens:
            documents = list(islice(texts, DOCUMENTS_AT_ONCE))
            if not documents:
                break
            for tokens in tokenizer.encode_arrays(documents):
                arrays += [np.array([tokenizer.bos]), tokens]
                size += len(tokens) + 1
        # One token more than targets: the first of all is read and predicted by nothing.
        stream = np.concatenate([np.zeros(0), *arrays]).astype(np.int64)[: max_tokens + 1]
        targets = max(0, len(stream) - 1)
        shape = (math.ceil(targets / row_length), row_length)
        tokens_RT, targets_RT = torch.full(shape, tokenizer.pad), torch.full(shape, NO_TARGET)
        tokens_RT.view(-1)[:targets] = torch.from_numpy(stream[:targets])
        targets_RT.view(-1)[:targets] = torch.from_numpy(stream[1:])
        return cls(tokens_RT, targets_RT, torch.from_numpy(tokenizer.token_bytes().astype(np.int64)))

    @property
    def num_targets(self) -> int:
        """Tokens that are predicted."""
        return int((self.targets_RT != NO_TARGET).sum())

    @property
    def num_bytes(self) -> int:
        """Bytes of the text that is predicted."""
        return int(self.bytes_V[self.targets_RT[self.targets_RT != NO_TARGET]].sum())


@torch.no_grad()
def bits_per_byte(
    model: GPT, text: ValidationText, batch_rows: int, dist: DistInfo, stopped: Callable[[], bool]
) -> dict[str, float]:
    """Compute `bits_per_byte` of text, and `loss`, the mean over all targets; all ranks share the rows and the result.

    `stopped` is asked by all ranks together before each batch; once it is true the result is empty.
    """
    model.eval()
    sums = torch.zeros(4, dtype=torch.float64)  # nats of text, bytes of text, nats of all targets, targets
    own = torch.arange(dist.rank, len(text.tokens_RT), dist.world_size)
    # As many rounds on each rank, with rows left or not: all are asked together whether to stop.
    for start in range(0, math.ceil(len(text.tokens_RT) / dist.world_size), batch_rows):
        if stopped():
            return {}
        tokens_BT, targets_BT = _batch(text, own[start : start + batch_rows], batch_rows)
        losses = model.losses(tokens_BT.to(dist.device), targets_BT.to(dist.device)).flatten().cpu().double()
        targets = targets_BT.flatten()
        valid = targets != NO_TARGET
        # Markers stand for no bytes: to predict where a document begins costs no bits of text.
        sizes = torch.where(valid, text.bytes_V[targets.clamp(min=0)], 0)
        sums += torch.stack([losses[sizes > 0].sum(), sizes.sum().double(), losses.sum(), valid.sum().double()])
    text_nats, num_bytes, nats, num_targets = all_reduce_sum(sums.tolist())
    return {"bits_per_byte": text_nats / math.log(2) / max(num_bytes, 1.0), "loss": nats / max(num_targets, 1.0)}


def _batch(text: ValidationText, rows: torch.Tensor, batch_rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return these rows, filled up to `batch_rows` with rows without targets, so that all batches have one shape."""
    shape = (batch_rows, text.tokens_RT.shape[1])
    tokens_BT, targets_BT = torch.zeros(shape, dtype=torch.int64), torch.full(shape, NO_TARGET)
    tokens_BT[: len(rows)], targets_BT[: len(rows)] = text.tokens_RT[rows], text.targets_RT[rows]
    return tokens_BT, targets_BT


# -- The text of a stage ---------------------------------------------------------------------------------------------

SAMPLE_BYTES = 4_000_000
SAMPLED_SEGMENTS = 16


@dataclass(frozen=True)
class StageText:
    """A corpus, as a model with this tokenizer and row length reads it."""

    corpus: Corpus
    valid: ValidationText
    train_tokens: float
    """Tokens to train on in one epoch; counted where the corpus is small, else estimated from a sample."""

    @classmethod
    def read(
        cls, corpus: Corpus, tokenizer: Tokenizer, row_length: int, eval_tokens: int, dist: DistInfo
    ) -> "StageText":
        """Tokenize what validation and the estimate need. All ranks call it together."""
        valid = ValidationText.encode(tokenizer, texts(corpus.valid), row_length, eval_tokens)
        if valid.num_bytes == 0:
            raise UserError(f"--data {corpus.name}: there is no text to validate with")
        estimate = 0.0
        if dist.is_main:
            estimate = count_tokens(corpus.train, tokenizer)
        return cls(corpus, valid, float(broadcast_json(estimate)))


def texts(documents: Documents) -> Iterator[str]:
    """Read every document that is not empty, in order."""
    for segment in documents.segments:
        yield from _read(segment)


def count_tokens(documents: Documents, tokenizer: Tokenizer) -> float:
    """Estimate how many tokens the documents have, their BOS included; exact where they are no more than the sample.

    The sample is the first documents of segments that are evenly spread.
    """
    segments = documents.segments
    if documents.num_bytes > SAMPLE_BYTES:
        stride = max(1, len(segments) // SAMPLED_SEGMENTS)
        segments = segments[::stride][:SAMPLED_SEGMENTS]
    share = min(1.0, SAMPLE_BYTES / max(1.0, sum(segment.num_bytes for segment in segments)))
    tokens, num_bytes = 0, 0.0
    for segment in segments:
        wanted = max(1, round(segment.count * share))
        encoded = tokenizer.encode_arrays(list(_read(segment, wanted)))
        tokens += sum(map(len, encoded)) + len(encoded)
        num_bytes += segment.num_bytes * wanted / segment.count
    return tokens * documents.num_bytes / max(1.0, num_bytes)


def _read(segment: Segment, count: int | None = None) -> Iterator[str]:
    for text in segment.read(count):
        if text and not text.isspace():
            yield text


# -- Sampled continuations, for people to read -----------------------------------------------------------------------

PROMPTS = (
    "The derivative of x^2 with respect to x is",
    "If 3x + 5 = 20, then x is",
    "A prime number is a natural number that",
    "theorem add_comm (a b : ℕ) : a + b = b + a := by",
    "theorem and_swap (p q : Prop) (h : p ∧ q) : q ∧ p := by",
)
NEW_TOKENS = 24


@torch.no_grad()
def greedy_texts(model: GPT, tokenizer: Tokenizer, prompts: tuple[str, ...] = PROMPTS) -> list[str]:
    """Continue each prompt greedily, up to the end of the text or `NEW_TOKENS` tokens.

    All prompts go through the network together and at one fixed shape. Where the model has too few positions, prompts
    are cut from the left, and the continuations take half of the positions at most.
    """
    model.eval()
    length = min(model.config.sequence_len, 128)
    new_tokens = min(NEW_TOKENS, length // 2)
    encoded = [[tokenizer.bos, *tokenizer.encode(prompt)][-(length - new_tokens) :] for prompt in prompts]
    # One shape for all steps, so that a compiled network is compiled once for it: no engine, and no KV cache.
    tokens_PT = torch.full((len(prompts), length), tokenizer.pad, device=model.device)
    for row, tokens in enumerate(encoded):
        tokens_PT[row, : len(tokens)] = torch.tensor(tokens)
    ends_P = torch.tensor([len(tokens) for tokens in encoded], device=model.device)
    rows_P = torch.arange(len(prompts), device=model.device)
    for _ in range(new_tokens):
        logits_PV = model(tokens_PT, select_N=rows_P * length + ends_P - 1)
        tokens_PT[rows_P, ends_P] = logits_PV[:, : tokenizer.eos + 1].argmax(dim=-1)
        ends_P += 1
    texts = []
    for prompt_row, row in zip(encoded, tokens_PT.tolist()):
        written = row[len(prompt_row) : len(prompt_row) + new_tokens]
        texts.append(tokenizer.decode(_until(written, tokenizer.eos)))
    return texts


def _until(tokens: list[int], end: int) -> list[int]:
    if end not in tokens:
        return tokens
    return tokens[: tokens.index(end)]


# -- The training loops ----------------------------------------------------------------------------------------------

RECENT_STEPS = 20


class Pretraining(TrainingLoop):
    """Training on text."""

    stage_name = "pretrain"
    next_command = "python -m nanoproof.midtrain --model-path {run}"

    def __init__(
        self,
        run_options: RunOptions,
        start: StartOptions,
        triggers: TriggerOptions,
        options: TextOptions,
        length: schedule.Length,
        model_options: ModelOptions,
        optim: OptimizerOptions,
        dist: DistInfo,
    ) -> None:
        self.options, self.length = options, length
        self.sample_trigger = schedule.Trigger.parse(options.sample_every, "--sample-every")
        corpus = text_corpus(options.data)  # before a large model is made for nothing
        super().__init__(run_options, start, triggers, model_options, optim, dist)
        config = self.model.config
        self.text = StageText.read(corpus, self.tokenizer, config.sequence_len, options.eval_tokens, dist)
        parameters = sum(matrix_parameters(config).values())
        self.wanted_tokens, self.length_reason = length.wanted(parameters, self.text.train_tokens)
        self.plan = self._plan_batch()
        if length.num_steps is None:
            self.num_steps = math.ceil(self.wanted_tokens / self.plan.tokens)
        else:
            self.num_steps, self.length_reason = length.num_steps, "asked for"
        self.loader = self._make_loader()
        self.flops_per_token = flops_per_token(config)
        self.peak_flops = device_peak_flops(dist.device)
        self._recent_speeds: deque[float] = deque(maxlen=RECENT_STEPS)

    def _plan_batch(self) -> schedule.BatchPlan:
        """Return the batch that is asked for, that of the resumed run, or one that suits."""
        shape = self.options.device_batch_size, self.model.config.sequence_len, self.dist.world_size
        wanted, before = self.options.total_batch_size, self.state.data.get("total_batch_size")
        if before is not None and wanted not in (None, before):
            raise UserError(
                f"--total-batch-size {wanted} clashes with --resume-from {self.start.resume_from}: "
                f"the steps of that run have {before} tokens"
            )
        if wanted is not None:
            return schedule.plan_batch(wanted, "asked for", *shape)
        if before is not None:
            return schedule.plan_batch(before, "as before", *shape)
        return schedule.suit_batch(*self.length.batch(self.wanted_tokens), *shape)

    def _make_loader(self) -> TokenLoader:
        loader = TokenLoader(
            self.text.corpus.train,
            self.tokenizer,
            row_length=self.model.config.sequence_len,
            rows_per_step=self.plan.rows,
            rows_per_batch=self.options.device_batch_size,
            seed=self.run_options.seed,
            rank=self.dist.rank,
            world_size=self.dist.world_size,
            pin_memory=self.dist.device.type == "cuda",
        )
        if self.state.data:
            loader.restore(self.state.data["loader"])
        return loader

    def decisions(self) -> dict[str, str]:
        optim, tokens = self.optim, self.num_steps * self.plan.tokens
        epoch = self.text.train_tokens
        return {
            "model": self.model.describe(),
            **self.loader.decisions(),
            "validation": f"{self.text.valid.num_targets:,} tokens = {self.text.valid.num_bytes:,} bytes of text",
            "batch": str(self.plan),
            "steps": f"{self.num_steps:,} ({self.length_reason}) = {schedule.short(tokens)} tokens "
            f"= {tokens / max(1.0, epoch):.3g} epochs of about {schedule.short(epoch)}",
            "schedule": schedule.describe_schedule(
                self.num_steps, optim.warmup_frac, optim.warmdown_frac, optim.init_lr_frac, optim.final_lr_frac
            ),
            "arithmetic": f"{schedule.short(self.flops_per_token)}FLOP a token, "
            f"{schedule.short(self.flops_per_token * tokens)}FLOP all",
        }

    def train_one(self) -> dict[str, float]:
        started = time.monotonic()
        # All at once: what a step waits for its data is seen by itself.
        batches = [self.loader.next_batch() for _ in range(self.plan.accumulation)]
        waited = time.monotonic() - started
        metrics = token_step(self.model, self.optimizer, batches, self.lr_factor, self.optim.max_grad_norm, self.dist)
        seconds = time.monotonic() - started
        self._recent_speeds.append(self.plan.tokens / seconds)
        tokens = (self.state.step + 1) * self.plan.tokens
        metrics |= {"tokens": float(tokens), "epoch": tokens / max(1.0, self.text.train_tokens)}
        metrics |= {"wait_seconds": waited, "tokens_per_second": self._recent_speeds[-1]}
        share = self._mfu(metrics["tokens_per_second"])
        if share is not None:
            metrics["mfu"] = share
        return metrics

    def _mfu(self, tokens_per_second: float) -> float | None:
        return mfu(self.flops_per_token * tokens_per_second, 1.0, self.peak_flops, self.dist.world_size)

    def speed(self) -> str:
        """Describe the throughput of the last steps."""
        if not self._recent_speeds:
            return "no steps"
        # All steps have as many tokens, so that tokens by seconds are the harmonic mean of the speeds.
        speed = len(self._recent_speeds) / sum(1 / step_speed for step_speed in self._recent_speeds)
        text = f"{schedule.short(speed)} tokens/s"
        share = self._mfu(speed)
        if share is not None:
            text += f", MFU {100 * share:.1f}%"
        return text

    def note(self, metrics: dict[str, float]) -> str:
        return f"loss {metrics['loss']:.3f}, {self.speed()}"

    def evaluate(self) -> dict[str, float]:
        return bits_per_byte(
            self.model,
            self.text.valid,
            self.options.device_batch_size,
            self.dist,
            self.stop.agreed,
        )

    def after_evaluation(self, stage: Stage) -> None:
        metrics, loss = self.last_metrics, ""
        if "loss" in metrics:  # not where a run was resumed for its last evaluation alone
            loss = f"loss {metrics['loss']:.4f}, "
        log.info("step %d: %svalidation %.4f bits per byte", self.state.step, loss, metrics["valid/bits_per_byte"])

    def after_step(self, stage: Stage) -> None:
        due = self.sample_trigger.due(self.state.step) or self.state.step == self.num_steps
        if not due or self.options.sample_every == "never" or not self.dist.is_main:
            return
        written = greedy_texts(self.model, self.tokenizer)
        stage.run.event("samples", step=self.state.step, samples=dict(zip(PROMPTS, written)))
        for prompt, text in zip(PROMPTS, written):
            log.info("sample: %s ⇒ %s", prompt, text.replace("\n", "⏎"))

    def data_state(self) -> dict[str, Any]:
        return {"total_batch_size": self.plan.tokens, "loader": self.loader.state()}

    def summary(self) -> dict[str, str]:
        tokens = self.state.step * self.plan.tokens
        lost = self.loader.stats()["dropped_share"]
        read = f"{schedule.short(tokens)} tokens ({lost:.2%} of the text lost in packing)"
        text = f"{read}, {self.speed()} in the last steps"
        return {"text": text, **super().summary()}

    def close(self) -> None:
        self.loader.close()


class Midtraining(Pretraining):
    """Pretraining on other text, usually from a pretrained model."""

    stage_name = "midtrain"
    next_command = "python -m nanoproof.sft --model-path {run}"
