"""Supervised finetuning of models of transformers (`hf:`), whole or by adapters of peft.

A prompt format's renderer writes prompt and answer, as in sampling; the loss is the mean -log p over the answers'
tokens, the end of the text among them, over the whole step. Rows of texts bring prompts and answers, and weights, with
which that mean is a weighted one. Weights are fp32, products bf16 on a GPU. A checkpoint is a
folder `checkpoint-<step>` that transformers (or peft) loads as it is, with the optimizer's state and `nanoproof.json`
beside (`hub_network.py`).
"""

import argparse
import contextlib
import logging
import math
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed
import torch.nn.functional as F

from nanoproof.common.config import from_args
from nanoproof.common.distributed import DistInfo, StopSignal, all_reduce_sum, cleanup, on_all_ranks
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import SCRIPTS, resolve_run_dir
from nanoproof.data.weighted_rows import Row, is_row_file
from nanoproof.inference.hf_loading import load_settings, transformers_library
from nanoproof.inference.value_head import expected_tactics
from nanoproof.lean.types import Transition
from nanoproof.model.network_options import LoraOptions
from nanoproof.policy.prompt_formats import TRAINED_FILE
from nanoproof.training import batches, named_data, options
from nanoproof.training.hub_examples import (
    TokenizedExample,
    answer_logits,
    choose_format,
    choose_proof_format,
    load_data,
    tokenize,
    tokenize_rows,
)
from nanoproof.training.hub_loss import by_length, example_loss, normalizers
from nanoproof.training.hub_network import HubNetwork, last_checkpoint, prune_folders, read_about, source_of
from nanoproof.training.loop import StageLoop, StageState, run_loop
from nanoproof.training.loss import LossWeights, Normalizers
from nanoproof.training.setup import PREFIX, start_ranks
from nanoproof.training.step import MicroBatches

log = logging.getLogger(__name__)


# -- The loop --------------------------------------------------------------------------------------------------------


class HubFinetuning(StageLoop):
    """Finetuning of a model of transformers on transitions."""

    stage_name = "sft"
    next_command = f"{SCRIPTS}prover_eval --model-path hf:{{path}}/{{checkpoint}}"

    def __init__(
        self,
        run_options: options.RunOptions,
        start: options.StartOptions,
        triggers: options.TriggerOptions,
        hub: options.HubOptions,
        lora: LoraOptions,
        dist: DistInfo,
    ) -> None:
        warmdown = 1 - hub.warmup_frac
        if hub.constant_lr:
            warmdown = 0.0
        schedule = options.OptimizerOptions(
            init_lr_frac=1.0, warmup_frac=hub.warmup_frac, warmdown_frac=warmdown, final_lr_frac=0.0
        )
        super().__init__(start, schedule, dist, StageState())
        self.prepare(run_options, triggers)
        self.hub, self.lora = hub, lora
        source = start.checkpoint.model_path
        self._folder: Path | None = None
        if start.resume_from is not None:
            self._folder = last_checkpoint(resolve_run_dir(start.resume_from, "--resume-from"))
            self._take_state(self._folder)
            source = f"{PREFIX}{self._folder}"
        assert source is not None and source.startswith(PREFIX)
        # Whether there is such a model, then the data, then its weights: what is wrong is said before what takes long.
        load_settings(transformers_library(), source_of(source))
        self.of_rows = is_row_file(hub.data)
        self.data: tuple[Sequence[Transition], Sequence[Transition]] = ((), ())
        self.rows: tuple[list[Row], list[Row]] = ([], [])
        if self.of_rows:
            self.rows = named_data.load_rows(hub.data, hub.eval_data, hub.max_eval_examples)
        else:
            self.data = load_data(hub.data)
        choose = choose_format
        if self.of_rows:
            choose = choose_proof_format
        self.network = HubNetwork(
            source_of(source),
            source,
            lora,
            run_options.seed,
            dist.device,
            choose=choose,
            prompt_format=hub.prompt_format,
            tactics=not self.of_rows,
            learns_values=hub.value_weight > 0,
            sharded=hub.shard,
            reads=False,
        )
        self.model, self.tokenizer, self.format = self.network.model, self.network.tokenizer, self.network.format
        self.pad, self.begin = self.network.pad, self.network.begin
        self._make_sets()
        self.network.make_optimizer(
            self.lr, lora.lora_lr, betas=(0.9, hub.beta2), eps=hub.epsilon, weight_decay=hub.weight_decay
        )
        if self._folder is not None and not start.resume_fresh_optimizer:
            self.network.load_optimizer(self._folder)
        self.micro_batches = MicroBatches(hub.device_batch_size)
        self.num_steps = math.ceil(hub.epochs * len(self.train) / hub.target_examples_per_step)
        self.sampler = batches.EpochSampler(len(self.train), run_options.seed, self._fingerprint())
        if self._folder is not None:
            self.eval_trigger.resume(self.state.since_evaluation)
            try:
                self.sampler.restore(self.state.data)
            except (ValueError, KeyError) as error:
                raise UserError(f"--data {hub.data} is not as in the resumed run: {error}") from error
            size = hub.target_examples_per_step
            flag = f"--target-examples-per-step {size}"
            self.sampler.require_steps_of(size, self.state.step, flag, start.resume_from)
        self.stop = StopSignal()

    @property
    def lr_factor(self) -> float:
        """The factor on the learning rate for the step at hand, as transformers' linear and constant schedules have it.

        It counts steps where other stages take the middle of a step: from 0 at the first one (1 without a rise) to one
        step above 0 at the last. So a run here and one of trl with the same options make the same updates.
        """
        step, total = self.state.step, max(1, self.num_steps)
        rise = math.ceil(self.hub.warmup_frac * total - 1e-9)  # 5 of 7 steps, written as 5 / 7, are 5 and not 6
        if step < rise:
            return step / rise
        if self.hub.constant_lr:
            return 1.0
        return (total - step) / max(1, total - rise)

    @property
    def lr(self) -> float:
        """The learning rate before the schedule."""
        if self.lora.lora is None:
            return self.hub.lr
        return self.lora.lora_lr

    def _make_sets(self) -> None:
        network, encoder_decoder = self.network, self.network.encoder_decoder
        codec, end, room = network.codec, network.end, self.hub.max_length
        room = min(room, network.positions or room)
        if self.of_rows:
            train_rows, valid_rows = self.rows
            self.train, cut = tokenize_rows(train_rows, codec, end, room, encoder_decoder)
            self.valid, cut_valid = tokenize_rows(valid_rows, codec, end, room, encoder_decoder)
            self.too_long = cut + cut_valid
            return
        train, valid = self.data
        if not train:
            raise UserError(f"--data {self.hub.data} holds no transitions to train on")
        # Every n-th: neighbours are of one proof, so that the first so many would be of a few files.
        step = math.ceil(len(valid) / (self.hub.max_eval_examples or max(1, len(valid))))
        held_out = valid[:: max(1, step)]
        self.train, too_long = tokenize(train, self.format, codec, end, room, encoder_decoder)
        self.valid, too_long_valid = tokenize(held_out, self.format, codec, end, room, encoder_decoder)
        self.too_long = len(too_long) + len(too_long_valid)
        if not self.train:
            raise UserError(
                f"--data {self.hub.data}: no transition fits in {room} tokens (--max-length, and what the model has "
                f"positions for): the shortest has {min(too_long)} as --prompt-format {self.format.name} writes it"
            )

    def _fingerprint(self) -> int:
        parts = [part for example in self.train for part in (example.prompt, example.answer)]
        if self.of_rows:
            parts.append(np.array([min(example.weight * 2**20, 2**62) for example in self.train], np.int64))
        # Each token by its place, so that another order of the same ones is another number; 48 bits fit into JSON's.
        total = 0
        for number, part in enumerate(parts, start=1):
            total += number * int(part.astype(np.int64) @ np.arange(1, len(part) + 1))
        return total % 2**48

    # -- checkpoints -----------------------------------------------------------------------------------------------

    def _take_state(self, folder: Path) -> None:
        try:
            self.state = StageState(**read_about(folder)["loop"])
        except (KeyError, TypeError) as error:
            raise UserError(f"--resume-from: {folder / TRAINED_FILE} does not say where the loop was") from error
        self.saved_step = self.state.step

    @property
    def checkpoint_name(self) -> str:
        """The name of the folder of the present step."""
        return f"checkpoint-{self.state.step}"

    def write_checkpoint(self, run_path: Path, keep: int | None, protect: Collection[int] = ()) -> Path:
        """Save a checkpoint and delete all but the newest `keep` (a collective)."""
        self.saved_step = self.state.step
        folder = run_path / self.checkpoint_name

        gathered = self.network.gather(self.dist.is_main)

        def write() -> None:
            if self.dist.is_main:
                self.network.write(folder, self._about(), gathered)
                prune_folders(run_path, keep)

        on_all_ranks(write)
        return folder

    def _about(self) -> dict[str, Any]:
        return {"step": self.state.step, "stage": self.stage_name, "data": self.hub.data, "loop": asdict(self.state)}

    # -- steps -----------------------------------------------------------------------------------------------------

    def decisions(self) -> dict[str, str]:
        """Describe what was decided from options and data, for the log."""
        decisions = self.network.decisions(self.lora)
        sets = f"{self.hub.data}, {len(self.train)} to train, {len(self.valid)} to validate"
        if not self.of_rows:
            sets += f", {self.too_long} left out as too long"
        elif self.too_long:
            sets += f", {self.too_long} cut at their beginning to what the model has room for (--max-length)"
        decisions["transitions"] = sets
        decisions["steps"] = f"{self.num_steps} of {self.hub.target_examples_per_step} examples"
        return decisions

    def _autocast(self) -> Any:
        if self.dist.device.type != "cuda":
            return contextlib.nullcontext()
        return torch.autocast("cuda", torch.bfloat16)

    def train_one(self) -> dict[str, float]:
        hub = self.hub
        picks = batches.shard(self.sampler.picks(hub.target_examples_per_step), self.dist)
        examples = [self.train[pick.index] for pick in picks]
        norms = normalizers(examples)
        seed = random.Random(f"{self.run_options.seed} {self.state.step} {self.dist.rank}").getrandbits(63)
        self.model.train()

        def accumulate(rows: int) -> list[float]:
            torch.manual_seed(seed)  # dropout: a resumed run draws what it would have drawn
            self.network.zero_grad()
            totals = [0.0] * (1 + len(self.parts))
            for chunk in self.network.in_step(list(by_length(examples, rows))):
                with self._autocast():
                    loss, parts = self._loss(chunk, norms)
                loss.backward()
                values = [float(loss.detach()), *(float(parts[name]) for name in self.parts)]
                totals = [total + value for total, value in zip(totals, values)]
            return totals

        loss, *values = all_reduce_sum(self.network.accumulate(self.micro_batches, accumulate))
        norm = self.network.update(loss, self.lr_factor, hub.max_grad_norm)
        seen = (self.state.step + 1) * hub.target_examples_per_step
        metrics = {"loss": loss, "grad_norm": norm, "lr_factor": self.lr_factor, "epoch": seen / len(self.train)}
        return metrics | dict(zip(self.parts, values))

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the loss that are told beside it: none where it has one alone."""
        if self.network.head is None:
            return ()
        return ("tactic_loss", "value_loss")

    def _loss(
        self, examples: Sequence[TokenizedExample], norms: Normalizers
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        weights = LossWeights(self.hub.value_weight)
        return example_loss(self.model, self.network.head, examples, weights, norms, self.pad, self.begin)

    @torch.no_grad()
    def evaluate(self) -> dict[str, float]:
        """Compute the held-out loss, and how many answers greedy decoding would write exactly.

        It does if the likeliest token is the right one at each place, given the right ones before.
        """
        self.model.eval()
        nll, tokens, exact, count, off = 0.0, 0.0, 0.0, 0.0, 0.0
        own = self.valid[self.dist.rank :: self.dist.world_size]
        size = self.hub.device_batch_size
        # As many rounds on each rank, with examples left or not: all are asked together whether to stop.
        longest_share = math.ceil(len(self.valid) / self.dist.world_size)
        for number in range(math.ceil(longest_share / size)):
            if self.stop.agreed():
                return {}
            chunk = own[number * size : (number + 1) * size]
            has_examples = bool(chunk)
            if not has_examples and not self.network.is_divided:
                continue
            if not has_examples:  # other ranks have some, and meet this one in their forward pass
                chunk = [self.network.padding]
            with self._autocast():
                logits_NV, targets_N, rows_N, states_RC = answer_logits(self.model, chunk, self.pad, self.begin)
            if not has_examples:
                continue
            nll += float(F.cross_entropy(logits_NV, targets_N, reduction="sum"))
            misses_R = torch.bincount(rows_N, weights=(logits_NV.argmax(-1) != targets_N).float(), minlength=len(chunk))
            tokens, exact, count = tokens + len(targets_N), exact + int((misses_R == 0).sum()), count + len(chunk)
            if self.network.head is not None and states_RC is not None:
                off += self._value_errors(self.network.head.distributions(states_RC), chunk)
        nll, tokens, exact, count, off = all_reduce_sum([nll, tokens, exact, count, off])
        if not count:
            return {}
        metrics = {"loss": nll / tokens, "tactic_exact_match": exact / count}
        if self.network.head is not None:
            metrics["value_error"] = off / count
        return metrics

    def _value_errors(self, values: Sequence[tuple[float, ...]], examples: Sequence[TokenizedExample]) -> float:
        """Return by how many tactics the values of examples are off, summed over them."""
        off = 0.0
        # Of the mean of the bins, which is what a search goes by.
        for value, example in zip(values, examples, strict=True):
            off += abs(expected_tactics(value) - example.depth)
        return off

    def data_state(self) -> dict[str, Any]:
        return self.sampler.state()


# -- The command -----------------------------------------------------------------------------------------------------


def train_hub(args: argparse.Namespace) -> int:
    """Finetune a model of transformers by options that `parse_hub_sft` has parsed."""
    if args.model_path is not None:
        args.model_path = PREFIX + source_of(args.model_path)
    values: list[Any] = [from_args(group, args) for group in options.HUB_SFT]
    dist = start_ranks(values[0])
    build: Callable[..., HubFinetuning] = HubFinetuning
    try:
        run_loop(build(*values, dist), None, args, values[0], dist)
    finally:
        cleanup()
    return 0
