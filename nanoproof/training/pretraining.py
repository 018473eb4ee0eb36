"""Pretraining and midtraining: the loop's steps are on rows of text."""

import logging
import math
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from nanoproof.common.config import opt, validate
from nanoproof.common.dist import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.data.documents import text_corpus
from nanoproof.data.token_loader import TokenLoader
from nanoproof.gpt.flops import device_peak_flops, flops_per_token, matrix_parameters, mfu
from nanoproof.training.bits_per_byte import bits_per_byte
from nanoproof.training.corpus import StageText
from nanoproof.training.loop import TrainingLoop
from nanoproof.training.options import CadenceOptions, ModelOptions, OptimizerOptions, RunOptions, StartOptions
from nanoproof.training.plan import BatchPlan, Length, describe_schedule, plan_batch, suit_batch
from nanoproof.training.report import describe_model, short
from nanoproof.training.samples import PROMPTS, greedy_texts
from nanoproof.training.schedule import Trigger
from nanoproof.training.setup import Stage
from nanoproof.training.token_step import token_step

log = logging.getLogger(__name__)

RECENT_STEPS = 20


@dataclass(frozen=True)
class TextOptions:
    """Text and batches."""

    data: str = opt("nemotron", "nemotron, leangithubraw, nanolean, or a directory or file (parquet, jsonl, txt).")
    device_batch_size: int = opt(32, "Rows in one forward pass.", min=1)
    total_batch_size: int | None = opt(
        None, "Tokens in one step, over all ranks; none takes what suits the length of the run.", min=1
    )
    eval_tokens: int = opt(1_048_576, "Tokens of validation text to evaluate on, at most.", min=1)
    sample_every: str = opt("1000steps", "When to show texts of the model: Nsteps, H:M:S or never; also at the end.")

    def __post_init__(self) -> None:
        validate(self, "text")


class Pretraining(TrainingLoop):
    """Training on text."""

    stage_name = "pretrain"
    next_command = "python -m nanoproof.midtrain --model-path {run}"

    def __init__(
        self,
        run_options: RunOptions,
        start: StartOptions,
        cadence: CadenceOptions,
        options: TextOptions,
        length: Length,
        model_options: ModelOptions,
        optim: OptimizerOptions,
        dist: DistInfo,
    ) -> None:
        self.options, self.length = options, length
        self.sample_trigger = Trigger.parse(options.sample_every, "--sample-every")
        corpus = text_corpus(options.data)  # before a large model is made for nothing
        super().__init__(run_options, start, cadence, model_options, optim, dist)
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

    def _plan_batch(self) -> BatchPlan:
        """The batch that is asked for, that of the resumed run, or one that suits."""
        shape = self.options.device_batch_size, self.model.config.sequence_len, self.dist.world_size
        wanted, before = self.options.total_batch_size, self.state.data.get("total_batch_size")
        if before is not None and wanted not in (None, before):
            raise UserError(
                f"--total-batch-size {wanted} clashes with --resume-from {self.start.resume_from}: "
                f"the steps of that run have {before} tokens"
            )
        if wanted is not None:
            return plan_batch(wanted, "asked for", *shape)
        if before is not None:
            return plan_batch(before, "as before", *shape)
        return suit_batch(*self.length.batch(self.wanted_tokens), *shape)

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
            "model": describe_model(self.model),
            **self.loader.decisions(),
            "validation": f"{self.text.valid.num_targets:,} tokens = {self.text.valid.num_bytes:,} bytes of text",
            "batch": str(self.plan),
            "steps": f"{self.num_steps:,} ({self.length_reason}) = {short(tokens)} tokens "
            f"= {tokens / max(1.0, epoch):.3g} epochs of about {short(epoch)}",
            "schedule": describe_schedule(
                self.num_steps, optim.warmup_frac, optim.warmdown_frac, optim.init_lr_frac, optim.final_lr_frac
            ),
            "arithmetic": f"{short(self.flops_per_token)}FLOP a token, {short(self.flops_per_token * tokens)}FLOP all",
        }

    def train_one(self) -> dict[str, float]:
        started = time.monotonic()
        batches = [self.loader.next_batch() for _ in range(self.plan.accumulation)]
        waited = time.monotonic() - started
        metrics = token_step(self.model, self.optimizer, batches, self.lr_factor, self.optim.max_grad_norm, self.dist)
        seconds = time.monotonic() - started
        self._recent_speeds.append(self.plan.tokens / seconds)
        tokens = (self.state.step + 1) * self.plan.tokens
        metrics |= {"tokens": float(tokens), "epoch": tokens / max(1.0, self.text.train_tokens)}
        metrics |= {"wait_seconds": waited, "tokens_per_second": self._recent_speeds[-1]}
        share = self._mfu(metrics["tokens_per_second"])
        return metrics if share is None else {**metrics, "mfu": share}

    def _mfu(self, tokens_per_second: float) -> float | None:
        return mfu(self.flops_per_token * tokens_per_second, 1.0, self.peak_flops, self.dist.world_size)

    def speed(self) -> str:
        """The speed of the last steps, for people."""
        if not self._recent_speeds:
            return "no steps"
        speed = len(self._recent_speeds) / sum(1 / each for each in self._recent_speeds)
        share = self._mfu(speed)
        return f"{short(speed)} tokens/s" + ("" if share is None else f", MFU {100 * share:.1f}%")

    def note(self, metrics: dict[str, float]) -> str:
        return f"loss {metrics['loss']:.3f}, {self.speed()}"

    def evaluate(self) -> dict[str, float]:
        return bits_per_byte(
            self.model,
            self.text.valid,
            self.options.device_batch_size,
            self.dist,
            lambda: self.stop.agreed(self.dist.device),
        )

    def after_evaluation(self, stage: Stage) -> None:
        metrics = self.last_metrics
        log.info(
            "step %d: loss %.4f, validation %.4f bits per byte",
            self.state.step,
            metrics["loss"],
            metrics["valid/bits_per_byte"],
        )

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
        text = f"{short(tokens)} tokens ({lost:.2%} of the text lost in packing), {self.speed()} in the last steps"
        return {"text": text, **super().summary()}

    def close(self) -> None:
        self.loader.close()


class Midtraining(Pretraining):
    """The same on other text, usually from a pretrained model."""

    stage_name = "midtrain"
    next_command = "python -m nanoproof.sft --model-path {run}"
