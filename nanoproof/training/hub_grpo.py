"""GRPO on models of transformers (`hf:`), by trl's trainer: prompts and answers as in search, rewards as texts.

Groups, advantages, clipping and the divisor are as in `training/grpo.py`, which are trl's defaults; there is no
reference model. A group whose rewards are all equal has advantages of exactly 0, whatever the rounding of its mean.
"""

import argparse
import logging
import math
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nanoproof.common.config import from_args
from nanoproof.common.distributed import DistInfo, cleanup
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import RunDir
from nanoproof.inference.hf_loading import load_settings, load_tokenizer, transformers_library
from nanoproof.inference.hf_tokens import PromptCodec, record_end, special_tokens, trained_end
from nanoproof.inference.language_model import chat_messages
from nanoproof.lean.types import Transition
from nanoproof.model.network_options import LoraOptions
from nanoproof.policy.prompt_formats import PromptFormat
from nanoproof.training import options
from nanoproof.training.grpo import choose_states, whole_groups
from nanoproof.training.hub_examples import choose_format, load_data
from nanoproof.training.hub_network import source_of, trainable_network, write_folder
from nanoproof.training.options import LEAN, RewardOptions
from nanoproof.training.rewards import LeanReward, Reward, open_reward, rewards_of, shares
from nanoproof.training.setup import PREFIX, start_ranks, start_stage

log = logging.getLogger(__name__)

REPORTED = ("loss", "grad_norm", "reward", "epoch", "completions/mean_length")
"""Of trl's records, beside the shares of Lean's verdicts."""


def trl_library() -> Any:
    """Import trl. Raises UserError where it is not installed."""
    if find_spec("trl") is None:
        raise UserError("GRPO on models hf: needs trl, which is not installed: pip install 'nanoproof[hf]'")
    import trl

    return trl


def plain_text(message: Any) -> str:
    """Return the text of a prompt or completion, which trl writes as messages for chat models."""
    if isinstance(message, str):
        return message
    return "".join(str(turn.get("content") or "") for turn in message)


class HubGRPO:
    """A model of transformers, the states that it is to learn from, and what their tactics are worth."""

    def __init__(
        self,
        source: str,
        transitions: Sequence[Transition],
        reward: Reward,
        grpo: options.HubGRPOOptions,
        lora: LoraOptions,
        dist: DistInfo,
        seed: int = 0,
        only_openable: bool = False,
    ) -> None:
        """`source` is a folder or an id. Raises UserError for models and data that cannot be used."""
        library = transformers_library()
        trl_library()
        self.grpo, self.lora, self.reward, self.seed, self.dist = grpo, lora, reward, seed, dist
        self.source = source_of(f"{PREFIX}{source}")
        self.model = trainable_network(library, self.source, lora, seed, dist.device)
        if self.model.config.is_encoder_decoder:
            raise UserError(f"{PREFIX}{source} is an encoder-decoder; GRPO takes decoders")
        self.tokenizer = load_tokenizer(library, self.source)
        self.format, self.format_reason = choose_format(
            grpo.prompt_format, f"{PREFIX}{self.source}", self.tokenizer, self.model
        )
        self.ends = record_end(self.model, self.tokenizer, trained_end(self.model, self.tokenizer, self.format.chat))
        _, pad, _ = special_tokens(self.model, self.tokenizer)
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.convert_ids_to_tokens(pad)  # trl's trainer asks for one
        embeddings = self.model.get_input_embeddings().weight.shape[0]
        codec = PromptCodec(self.tokenizer, False, self.format.chat, self.ends, embeddings)
        room = min(grpo.max_length, getattr(self.model.config, "max_position_embeddings", None) or grpo.max_length)
        states = choose_states(transitions, f"--data {grpo.data}", only_openable)
        self.prompts = {state: self.format.prompt(state, ()) for state in states}
        fits = room - grpo.max_completion_length
        self.states = [
            state for state in states if len(codec.prompt(self.prompts[state], system=self.format.system)) <= fits
        ]
        if not self.states:
            raise UserError(
                f"--data {grpo.data}: no state fits in {fits} tokens (--max-length, --max-completion-length)"
            )
        self.batch_size = whole_groups(grpo.batch_size, grpo.num_generations, dist.world_size)

    def rewards(self, prompts: list[Any], completions: list[Any], problem: list[str], **_: Any) -> list[float | None]:
        """Return the rewards that trl asks for; the reward function gets plain texts."""
        texts = [plain_text(completion) for completion in completions]
        prompt_texts = [plain_text(prompt) for prompt in prompts]
        return rewards_of(self.reward, texts, prompts=prompt_texts, states=list(problem))

    def train(self, output: Path, record: Callable[..., object] = lambda step, **metrics: None) -> int:
        """Train, and write `checkpoint-<step>` below a folder; returns the number of steps."""
        trl, grpo = trl_library(), self.grpo
        from datasets import Dataset

        # "problem" is no column that trl knows, so that it hands it to the reward function as it is: the state.
        rows: list[dict[str, Any]] = []
        for state in self.states:
            prompt: Any = self.prompts[state]
            if self.format.chat:
                prompt = chat_messages(prompt, self.format.system)
            rows.append({"prompt": prompt, "problem": state})
        learning_rate = grpo.lr
        if self.lora.lora is not None:
            learning_rate = self.lora.lora_lr
        config = trl.GRPOConfig(
            output_dir=str(output / "trl"),
            per_device_train_batch_size=self.batch_size // self.dist.world_size,
            num_generations=grpo.num_generations,
            max_completion_length=grpo.max_completion_length,
            learning_rate=learning_rate,
            num_train_epochs=grpo.epochs,
            max_steps=grpo.max_steps or -1,
            temperature=grpo.temperature,
            beta=grpo.beta,
            bf16=self.dist.device.type == "cuda",
            use_cpu=self.dist.device.type == "cpu",
            seed=self.seed,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            gradient_checkpointing=False,
        )
        trainer = _trainer_class(trl)(
            model=self.model,
            reward_funcs=self.rewards,
            args=config,
            train_dataset=Dataset.from_list(rows),
            processing_class=self.tokenizer,
        )
        trainer.note = partial(_note, record, self.reward)
        if not self.format.chat:
            trainer.ends = self.ends
        trainer.train()
        steps = int(trainer.state.global_step)
        if self.dist.is_main:
            about = {"step": steps, "stage": "grpo", "prompt_format": self.format.name, "data": grpo.data}
            write_folder(output / f"checkpoint-{steps}", trainer.model, self.tokenizer, None, about)
        return steps


def _trainer_class(trl: Any) -> Any:
    """Return trl's trainer, with groups of equal rewards at exactly 0, and its records handed on."""

    class Trainer(trl.GRPOTrainer):
        note: Callable[[int, dict[str, float]], None]
        ends: Sequence[int] = ()
        """What some tokenizers put behind every text, and a prompt that goes on must not have."""

        def _tokenize_prompts(self, prompts: list[Any]) -> tuple[Any, ...]:
            rows, *others = super()._tokenize_prompts(prompts)
            # Behind the end of its text a decoder writes none: searches leave it out as well (`PromptCodec.prompt`).
            rows = [row[:-1] if len(row) > 1 and row[-1] in self.ends else row for row in rows]
            return rows, *others

        def _calculate_rewards(self, *args: Any, **kwargs: Any) -> Any:
            rewards = super()._calculate_rewards(*args, **kwargs)
            # Of what the reward function said: the zeros below are no rewards.
            self.mean_reward = float(rewards.nanmean())
            # The mean of equal rewards may round to another number, and the difference, divided by a deviation of
            # nearly 0 plus 1e-4, would be an advantage. The mean of zeros is exactly 0. NaN is a completion without a
            # reward.
            groups = rewards.view(-1, self.num_generations, rewards.shape[1])
            least = groups.nan_to_num(nan=math.inf).amin(dim=1, keepdim=True)
            equal = (groups == least) | groups.isnan()
            return groups.masked_fill(equal.all(dim=1, keepdim=True) & ~groups.isnan(), 0.0).view_as(rewards)

        def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
            super().log(logs, *args, **kwargs)
            if "loss" in logs:
                self.note(self.state.global_step, {**logs, "reward": self.mean_reward})

    return Trainer


def _note(record: Callable[..., object], reward: Reward, step: int, logs: dict[str, float]) -> None:
    metrics = {name: logs[name] for name in REPORTED if name in logs}
    if isinstance(reward, LeanReward):
        metrics |= shares(reward.counts)
        reward.counts.clear()
    record(step, **metrics)
    log.info("step %d: %s", step, ", ".join(f"{name} {value:.4g}" for name, value in metrics.items()))


def train_hub_grpo(args: argparse.Namespace) -> int:
    """Train a model of transformers with GRPO by parsed options."""
    run_options, start = from_args(options.RunOptions, args), from_args(options.StartOptions, args)
    grpo, reward_options = from_args(options.HubGRPOOptions, args), from_args(RewardOptions, args)
    lora = from_args(LoraOptions, args)
    assert start.checkpoint.model_path is not None
    source = source_of(start.checkpoint.model_path)
    load_settings(transformers_library(), source)  # before the data, which may have to be made
    train, _ = load_data(grpo.data)
    dist = start_ranks(run_options)
    if dist.world_size > 1:
        cleanup()
        raise UserError(f"GRPO on models of transformers runs as one process, not as {dist.world_size} ranks")
    # The reward reads answers by the format of the model, which is loaded only once Lean has answered.
    formats: list[PromptFormat] = []
    try:
        with open_reward(reward_options, dist, None, lambda text: formats[0].answer(text)) as reward:
            by_lean = reward_options.reward == LEAN
            work = HubGRPO(source, train, reward, grpo, lora, dist, run_options.seed, by_lean)
            formats.append(work.format)
            decisions = {
                "model": f"{PREFIX}{work.source}",
                "prompt_format": f"{work.format.name} ({work.format_reason})",
                "states": f"{grpo.data}, {len(work.states)} to train",
                "reward": reward_options.reward,
            }
            stage = start_stage("grpo", run_options, vars(args), dist, decisions)
            run: RunDir = stage.run
            try:
                steps = work.train(run.path, run.metrics)
                run.finish(steps)
                log.info("saved %s", run.path / f"checkpoint-{steps}")
            finally:
                run.close()
                stage.tracker.close()
    finally:
        cleanup()
    return 0
