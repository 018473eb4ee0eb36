"""Supervised finetuning: a training loop on packed transitions."""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.data.transitions.packing import ExampleLimits
from nanoproof.data.weighted_rows import is_row_file
from nanoproof.lean.types import Transition
from nanoproof.model.gpt import GPT, with_reserved_markers
from nanoproof.model.network_options import LoraOptions
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.training import batches, named_data, options
from nanoproof.training.loop import TrainingLoop
from nanoproof.training.loss import LossWeights
from nanoproof.training.policy_metrics import PolicyMetrics, policy_metrics
from nanoproof.training.setup import Stage
from nanoproof.training.step import MicroBatches, StepSettings, train_step

_Sets = tuple[batches.ExampleSet, batches.ExampleSet, int]
"""What is trained on, what is validated on, and how many were too long: rows are cut then, transitions left out."""


class Finetuning(TrainingLoop):
    """Finetuning on transitions, or on rows of texts."""

    stage_name = "sft"
    next_command = "python -m nanoproof.rl --model-path {run}"
    memory_advice = "a single row does not fit: try a smaller --row-length, or more ranks"

    def __init__(
        self,
        run_options: options.RunOptions,
        start: options.StartOptions,
        triggers: options.TriggerOptions,
        sft: options.SFTOptions,
        lora: LoraOptions,
        model_options: options.ModelOptions,
        batch: options.BatchOptions,
        optim: options.OptimizerOptions,
        dist: DistInfo,
    ) -> None:
        self.options, self.batch, self.lora = sft, batch, lora
        _check_combination(sft, batch, dist)
        self.of_rows = is_row_file(sft.data)
        self.whole_proofs = self.of_rows or sft.continuations == "proof"
        # Data is read before the model is, which may take long, but made into sets only with its tokenizer.
        if self.of_rows:
            load = self._load_rows()
        else:
            load = self._load_transitions()
        super().__init__(run_options, start, triggers, model_options, optim, dist, lora)
        if sft.prefix_lm:
            self.model.config = replace(self.model.config, prefix_lm=True)
        # `adapt` is for new runs: a network that is resumed has learned the markers, or has not.
        if self.whole_proofs and not self.model.config.whole_proofs:
            raise UserError(f"--resume-from {start.resume_from}: that run was not on whole proofs (--continuations)")
        weights = LossWeights(batch.value_weight, state_after=sft.state_after_weight)
        self.step_settings = StepSettings(batch, weights, optim.max_grad_norm, self.tokenizer.pad)
        self.micro_batches = MicroBatches(batch.device_batch_size)
        self.train, self.valid, self.too_long = load()
        self.num_steps = math.ceil(sft.epochs * len(self.train) / batch.target_examples_per_step)
        sampler = batches.EpochSampler(len(self.train), run_options.seed, self.train.fingerprint())
        if self.state.data:
            try:
                sampler.restore(self.state.data)
            except ValueError as error:
                raise UserError(f"--data {sft.data} is not as in the resumed run: {error}") from error
            size = batch.target_examples_per_step
            flag = f"--target-examples-per-step {size}"
            sampler.require_steps_of(size, self.state.step, flag, start.resume_from)
        self.step_examples = batches.StepExamples(self.train, sampler, batch.target_examples_per_step, dist)
        self.evaluation: PolicyMetrics | None = None

    def adapt(self, model: GPT) -> GPT:
        if not self.whole_proofs:
            return model
        # A marker that was never trained has an embedding of no meaning, which adapters cannot change.
        if self.lora.lora is not None and not model.config.whole_proofs:
            raise UserError(
                f"--lora {self.lora.lora} leaves the embedding as it is, and this network does not know the marker of "
                "--continuations proof: first finetune all of it so"
            )
        return with_reserved_markers(model)

    def _load_rows(self) -> Callable[[], _Sets]:
        """Read rows of texts; what is returned makes the sets, once there is a tokenizer."""
        train, valid = named_data.load_rows(self.options.data, self.options.eval_data, self.options.max_eval_examples)

        def make() -> _Sets:
            longest = min(self.batch.row_length, self.model.config.sequence_len)
            to_train = batches.RowSet(self.tokenizer, train, longest)
            to_validate = batches.RowSet(self.tokenizer, valid, longest)
            return to_train, to_validate, to_train.num_cut + to_validate.num_cut

        return make

    def _load_transitions(self) -> Callable[[], _Sets]:
        if self.whole_proofs:
            proofs, valid_proofs = named_data.load_proofs(self.options.data)
            return lambda: self._transition_sets(proofs, valid_proofs)
        train, valid = named_data.load_transitions(self.options.data)
        return lambda: self._transition_sets(train, valid)

    def _transition_sets(self, train: Sequence[Transition], valid: Sequence[Transition]) -> _Sets:
        sft, sequence_len = self.options, self.model.config.sequence_len
        limits = ExampleLimits(sequence=min(self.batch.row_length, sequence_len))
        if self.whole_proofs:
            limits = replace(limits, tactic=limits.sequence)  # a proof is longer than a tactic may be
        if sft.state_after_weight > 0 and all(item.state_after is None for item in train):
            raise UserError(f"--state-after-weight: {sft.data} (--data) does not say which goals a tactic leaves")
        depth_weights: list[float] | None = None
        if sft.learning.balance_value_by_depth:
            depth_weights = batches.balanced_depth_weights(Counter(item.depth for item in train))
        to_train = batches.TransitionSet(
            self.tokenizer,
            train,
            limits,
            seed=self.run_options.seed,
            augment=sft.learning.augment_data and not self.whole_proofs,
            whole_proofs=self.whole_proofs,
            state_after=sft.state_after_weight > 0,
            depth_weights=depth_weights,
        )
        if len(to_train) == 0:
            raise UserError(
                f"--data {sft.data}: no transition fits in {limits.sequence} tokens, "
                f"the smaller of --row-length ({self.batch.row_length}) and the model's sequence ({sequence_len})"
            )
        # Every n-th: neighbours are of one proof, so that the first so many would be of a few files.
        step = math.ceil(len(valid) / (sft.max_eval_examples or max(1, len(valid))))
        held_out = valid[:: max(1, step)]
        to_validate = batches.TransitionSet(self.tokenizer, held_out, limits, whole_proofs=self.whole_proofs)
        return to_train, to_validate, to_train.too_long + to_validate.too_long

    def decisions(self) -> dict[str, str]:
        """Describe what was decided from options and data, for the log."""
        sets = f"{self.options.data}, {len(self.train)} to train, {len(self.valid)} to validate"
        if self.of_rows:
            sets = f"rows of {sets}"
            if self.too_long:
                longest = min(self.batch.row_length, self.model.config.sequence_len)
                sets += (
                    f", {self.too_long} cut at their beginning to {longest} tokens (--row-length, the model's sequence)"
                )
        elif self.whole_proofs:
            sets = f"whole proofs of {sets}"
        if isinstance(self.train, batches.TransitionSet):
            reach = self.train.out_of_reach(SamplingConfig().max_gen_tokens)
            if reach and not self.whole_proofs:
                sets += f"; of those to train {reach}"
            elif self.too_long:
                sets += f", {self.too_long} left out as too long"
        decisions = {
            "model": self.model.describe(),
            **self.adapter_decisions(),
            "transitions": sets,
            "steps": f"{self.num_steps} of {self.batch.target_examples_per_step} examples",
        }
        if self.model.config.prefix_lm:
            reason = "as the model was"
            if self.options.prefix_lm:
                reason = "--prefix-lm"
            decisions["states"] = f"read both ways ({reason})"
        return decisions

    def train_one(self) -> dict[str, float]:
        started = time.monotonic()
        examples = self.step_examples.next()
        waited = time.monotonic() - started
        metrics = train_step(
            self.model, self.optimizer, examples, self.lr_factor, self.step_settings, self.dist, self.micro_batches
        )
        examples_seen = (self.state.step + 1) * self.batch.target_examples_per_step
        return {**metrics, "epoch": examples_seen / len(self.train), "wait_seconds": waited}

    def note(self, metrics: dict[str, float]) -> str:
        return f"loss {metrics['loss']:.3f}, tactic {metrics['tactic_loss']:.3f}"

    def wants_save(self) -> bool:
        # Asked in any case: a trigger by time is a collective, and resets itself.
        due, count = super().wants_save(), self.batch.target_examples_per_step
        epochs_before = (self.state.step - 1) * count // len(self.train)
        epochs = self.state.step * count // len(self.train)
        return due or (self.options.save_epochs and epochs > epochs_before)

    def data_state(self) -> dict[str, Any]:
        return self.step_examples.state()

    def close(self) -> None:
        self.step_examples.close()

    def evaluate(self) -> dict[str, float]:
        self.evaluation = policy_metrics(
            self.model, self.tokenizer, self.valid, self.batch, self.dist, lambda: self.stop.agreed()
        )
        if self.evaluation is None:
            return {}
        scalars = self.evaluation.scalars()
        del scalars["transitions"]
        # As training weighs them, so that curves of training and validation can be laid over each other.
        return {"loss": scalars["tactic_loss"] + self.batch.value_weight * scalars["value_loss"], **scalars}

    def after_evaluation(self, stage: Stage) -> None:
        if self.evaluation is not None and self.dist.is_main:
            stage.run.event("policy_evaluation", step=self.state.step, **self.evaluation.to_json())


def _check_combination(sft: options.SFTOptions, batch: options.BatchOptions, dist: DistInfo) -> None:
    """Raise UserError naming the options that cannot go together."""
    if batch.target_examples_per_step < dist.world_size:
        raise UserError(
            f"--target-examples-per-step {batch.target_examples_per_step} leaves some of the {dist.world_size} ranks "
            "(--nproc_per_node) without an example"
        )
    if sft.learning.balance_value_by_depth and batch.value_weight == 0:
        raise UserError("--balance-value-by-depth weighs a loss that --value-weight 0 leaves out")
