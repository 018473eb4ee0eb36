"""Supervised finetuning of models of transformers (`hf:`), whole or by adapters of peft.

A prompt format's renderer writes prompt and answer, as in sampling; the loss is the mean -log p over the answers'
tokens, the end of the text among them, over the whole step. Rows of texts bring prompts and answers, and weights, with
which that mean is a weighted one. Weights are fp32, products bf16 on a GPU. A checkpoint is a
folder `checkpoint-<step>` that transformers (or peft) loads as it is, with the optimizer's state and `nanoproof.json`
beside; it is written under another name and renamed.
"""

import argparse
import contextlib
import logging
import math
import os
import pickle
import random
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import torch
import torch.distributed
import torch.nn.functional as F

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validate
from nanoproof.common.distributed import DistInfo, StopSignal, all_reduce_sum, cleanup, on_all_ranks
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_object, sync_directory
from nanoproof.common.process import dump_stacks_on_usr1
from nanoproof.common.run_dir import SCRIPTS, exported_folder, resolve_run_dir
from nanoproof.data.transitions import leandojo
from nanoproof.data.weighted_rows import Row, is_row_file
from nanoproof.inference.hf_loading import (
    ADAPTER_FILE,
    HFOptions,
    adapter_base,
    first_line,
    load_adapters,
    load_network,
    load_tokenizer,
    loading,
    peft_library,
    transformers_library,
)
from nanoproof.inference.hf_tokens import PromptCodec, record_end, special_tokens, trained_end
from nanoproof.lean.types import Transition
from nanoproof.model.lora import LoraOptions
from nanoproof.model.optim import NonFiniteLoss
from nanoproof.policy.prompt_formats import TRAINED_FILE
from nanoproof.training import batches, options
from nanoproof.training.hub_examples import (
    TokenizedExample,
    answer_logits,
    answer_weights,
    choose_format,
    choose_proof_format,
    load_data,
    tokenize,
    tokenize_rows,
)
from nanoproof.training.loop import StageLoop, StageState, run_loop
from nanoproof.training.schedule import short
from nanoproof.training.setup import parse_resumable, start_ranks
from nanoproof.training.step import MicroBatches

log = logging.getLogger(__name__)

PREFIX = "hf:"
CHECKPOINT_NAME = re.compile(r"checkpoint-(\d+)")
OPTIMIZER_FILE = "optimizer.pt"
MODULES = {
    "q": ("q_proj", "q", "query", "query_proj"),
    "k": ("k_proj", "k", "key", "key_proj"),
    "v": ("v_proj", "v", "value", "value_proj"),
    "o": ("o_proj", "o", "out_proj", "dense"),
    "up": ("up_proj", "wi", "wi_1", "fc1"),
    "down": ("down_proj", "wo", "fc2"),
}
"""What `--lora-targets` are called in networks of transformers; the first that a network has counts."""
ALL_LINEAR = "all-linear"


@dataclass(frozen=True)
class HubOptions:
    """Finetuning of models of transformers."""

    data: str = opt(
        batches.AUTO,
        "Transitions: `nanolean`, `leantree`, a file of LeanTree JSONL, or a folder as LeanDojo exports; or FILE.json, "
        'a list of {"prompt", "target", "weight"}. auto: leantree if it is here, else this has to be given.',
    )
    eval_data: str | None = opt(
        None, "Rows to validate on, where --data is a file of rows.", metavar="FILE.json", advanced=True
    )
    prompt_format: str | None = opt(
        None,
        "How a state is asked for a tactic (default: the format that the model was trained with, or `chat`); with rows "
        "of texts, how the model will be asked for proofs (default: the same, or `stp`).",
    )
    epochs: float = opt(1.0, "How often each transition is seen; 0 saves the model as it is.", min=0)
    lr: float = opt(2e-5, "Learning rate of the whole model (AdamW); adapters have --lora-lr.", min=0)
    weight_decay: float = opt(0.0, "Weight decay.", min=0, advanced=True)
    warmup_frac: float = opt(
        0.0, "Fraction of training over which the learning rate rises from 0; then it falls to 0.", min=0, max=0.99
    )
    constant_lr: bool = opt(False, "After its rise the learning rate stays as it is.", advanced=True)
    beta2: float = opt(0.999, "AdamW's second beta.", min=0, max=0.99999, advanced=True)
    epsilon: float = opt(1e-8, "AdamW's epsilon.", above=0, advanced=True)
    max_grad_norm: float = opt(1.0, "Gradients are clipped to this norm (0: never).", min=0, advanced=True)
    target_examples_per_step: int = opt(32, "Examples in one optimizer step, over all ranks.", min=1)
    device_batch_size: int = opt(8, "Examples in one forward pass.", min=1)
    max_length: int = opt(
        1024,
        "Most tokens of prompt and answer (of either, in an encoder-decoder); longer ones are left out, of rows of "
        "texts the end is kept.",
        min=2,
    )
    max_eval_examples: int | None = opt(None, "Evaluate on so many validation transitions, evenly spread.", min=1)

    def __post_init__(self) -> None:
        validate(self, "sft")
        rows = is_row_file(self.data)
        check(self.eval_data is None or rows, f"--eval-data goes with --data FILE.json, not with {self.data}")


GROUPS = (options.RunOptions, options.StartOptions, options.TriggerOptions, HubOptions, LoraOptions)
DEFAULTS = {"save_every": "0:30:00", "keep_checkpoints": 2}


# -- The network -----------------------------------------------------------------------------------------------------


def trainable_network(library: Any, source: str, lora: LoraOptions, seed: int, device: torch.device) -> Any:
    """Load a network to train: all of it, or with adapters, which alone are trained.

    Adapters that `source` holds go on being trained if `lora` has a rank; else they are merged, and all is trained.
    Raises UserError for what cannot be loaded or adapted.
    """
    # bf16 has 8 bits of precision: an update a thousandth of a weight would round to nothing.
    precise = HFOptions(dtype="float32")
    base: str | None = None
    if lora.lora is not None:
        base = adapter_base(source)
    network, writes = load_network(library, base or source, precise, device)
    if not writes:
        raise UserError(f"{PREFIX}{source} is an encoder: it writes no texts")
    if lora.lora is None:
        network.requires_grad_(True)
        return network
    if base is not None:
        return _go_on(load_adapters(library, network, source, trainable=True), source, lora)
    peft = peft_library()
    task_type = "CAUSAL_LM"
    if network.config.is_encoder_decoder:
        task_type = "SEQ_2_SEQ_LM"
    torch.manual_seed(seed)  # adapters begin with random matrices, the same on all ranks
    with loading(f"{PREFIX}{source}", "takes no adapters"):
        config = peft.LoraConfig(
            r=lora.lora,
            lora_alpha=lora.lora_alpha,
            target_modules=target_modules(network, lora),
            lora_dropout=lora.lora_dropout,
            task_type=task_type,
        )
        return peft.get_peft_model(network, config)


def _go_on(network: Any, source: str, lora: LoraOptions) -> Any:
    rank = network.peft_config["default"].r
    if rank != lora.lora:
        raise UserError(f"--lora {lora.lora}: {PREFIX}{source} holds adapters of rank {rank}")
    return network


def target_modules(network: Any, lora: LoraOptions) -> list[str] | str:
    """Name the modules of a network that `--lora-targets` mean. Raises UserError where it has none of a name."""
    if lora.targets == (ALL_LINEAR,):
        return ALL_LINEAR
    linear: dict[str, None] = {}  # in the order of the network
    for name, module in network.named_modules():
        # GPT-2 has its matrices in Conv1D, of quantized ones the class is Linear4bit and others.
        if "Linear" in type(module).__name__ or type(module).__name__ == "Conv1D":
            linear[name.rpartition(".")[2]] = None
    modules = set()
    for target in lora.targets:
        matching = [name for name in (*MODULES.get(target, ()), target) if name in linear]
        if not matching:
            raise UserError(f"--lora-targets {target}: this network has {', '.join(linear)}; or say {ALL_LINEAR}")
        modules.add(matching[0])
    return sorted(modules)


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
        hub: HubOptions,
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
        # Data before the network, which takes longer to load: what is wrong with it is said at once.
        self.of_rows = is_row_file(hub.data)
        self.data: tuple[Sequence[Transition], Sequence[Transition]] = ((), ())
        self.rows: tuple[list[Row], list[Row]] = ([], [])
        if self.of_rows:
            self.rows = batches.load_rows(hub.data, hub.eval_data, hub.max_eval_examples)
        else:
            self.data = load_data(hub.data)
        library = transformers_library()
        source = start.checkpoint.model_path
        self._folder: Path | None = None
        if start.resume_from is not None:
            self._folder = last_checkpoint(resolve_run_dir(start.resume_from, "--resume-from"))
            self._take_state(self._folder)
            source = f"{PREFIX}{self._folder}"
        assert source is not None and source.startswith(PREFIX)
        self.source = _source(source)
        self.model = trainable_network(library, self.source, lora, run_options.seed, dist.device)
        self.tokenizer = load_tokenizer(library, self.source)
        choose = choose_format
        if self.of_rows:
            choose = choose_proof_format
        self.format, self._format_reason = choose(hub.prompt_format, source, self.tokenizer, self.model)
        self._make_sets()
        self.optimizer = torch.optim.AdamW(
            self.trained, lr=self.lr, betas=(0.9, hub.beta2), eps=hub.epsilon, weight_decay=hub.weight_decay
        )
        if self._folder is not None and not start.resume_fresh_optimizer:
            self._load_optimizer(self._folder)
        self.micro_batches = MicroBatches(hub.device_batch_size)
        self.num_steps = math.ceil(hub.epochs * len(self.train) / hub.target_examples_per_step)
        self.sampler = batches.EpochSampler(len(self.train), run_options.seed, self._fingerprint())
        if self._folder is not None:
            self.eval_trigger.resume(self.state.since_evaluation)
            try:
                self.sampler.restore(self.state.data)
            except (ValueError, KeyError) as error:
                raise UserError(f"--data {hub.data} is not as in the resumed run: {error}") from error
        self.stop = StopSignal()

    @property
    def trained(self) -> list[torch.nn.Parameter]:
        """The parameters that are trained."""
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]

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
        chat = self.format.chat and not self.of_rows
        end = trained_end(self.model, self.tokenizer, chat)
        ends = record_end(self.model, self.tokenizer, end)
        _, self.pad, self.begin = special_tokens(self.model, self.tokenizer)
        encoder_decoder = bool(self.model.config.is_encoder_decoder)
        embeddings = self.model.get_input_embeddings().weight.shape[0]
        codec = PromptCodec(self.tokenizer, encoder_decoder, chat, ends, embeddings)
        room = self.hub.max_length
        if not encoder_decoder:  # T5's kind has no longest text
            room = min(room, getattr(self.model.config, "max_position_embeddings", None) or room)
        if self.of_rows:
            self.too_long = 0
            train_rows, valid_rows = self.rows
            self.train = tokenize_rows(train_rows, codec, end, room, encoder_decoder)
            self.valid = tokenize_rows(valid_rows, codec, end, room, encoder_decoder)
            return
        train, valid = self.data
        # Every n-th: neighbours are of one proof, so that the first so many would be of a few files.
        step = math.ceil(len(valid) / (self.hub.max_eval_examples or max(1, len(valid))))
        held_out = valid[:: max(1, step)]
        self.train, skipped = tokenize(train, self.format, codec, end, room, encoder_decoder)
        self.valid, skipped_valid = tokenize(held_out, self.format, codec, end, room, encoder_decoder)
        self.too_long = skipped + skipped_valid
        if not self.train:
            raise UserError(f"--data {self.hub.data}: no transition fits in {room} tokens (--max-length)")

    def _fingerprint(self) -> int:
        parts = [part for example in self.train for part in (example.prompt, example.answer)]
        if self.of_rows:
            parts.append(np.array([example.weight * 2**20 for example in self.train], np.int64))
        # Each token by its place, so that another order of the same ones is another number; 48 bits fit into JSON's.
        total = 0
        for number, part in enumerate(parts, start=1):
            total += number * int(part.astype(np.int64) @ np.arange(1, len(part) + 1))
        return total % 2**48

    # -- checkpoints -----------------------------------------------------------------------------------------------

    def _take_state(self, folder: Path) -> None:
        try:
            self.state = StageState(**(read_object(folder / TRAINED_FILE) or {})["loop"])
        except (KeyError, TypeError) as error:
            raise UserError(f"--resume-from: {folder / TRAINED_FILE} does not say where the loop was") from error
        self.saved_step = self.state.step

    def _load_optimizer(self, folder: Path) -> None:
        try:
            state = torch.load(folder / OPTIMIZER_FILE, map_location="cpu", weights_only=True)
            self.optimizer.load_state_dict(state)
        except (OSError, RuntimeError, ValueError, EOFError, LookupError, pickle.UnpicklingError) as error:
            raise UserError(
                f"{folder / OPTIMIZER_FILE} is missing, damaged or does not fit ({first_line(error)}); "
                "--resume-fresh-optimizer continues with fresh optimizer state"
            ) from error

    @property
    def checkpoint_name(self) -> str:
        """The name of the folder of the present step."""
        return f"checkpoint-{self.state.step}"

    def write_checkpoint(self, run_path: Path, keep: int | None, protect: Collection[int] = ()) -> Path:
        """Save a checkpoint and delete all but the newest `keep` (a collective)."""
        self.saved_step = self.state.step
        folder = run_path / self.checkpoint_name

        def write() -> None:
            if self.dist.is_main:
                write_folder(folder, self.model, self.tokenizer, self.optimizer, self._about())
                if keep is None:
                    return
                # The new one is whole by now: should deleting fail, nothing is lost but space.
                for step in checkpoint_steps(run_path)[:-keep]:
                    shutil.rmtree(run_path / f"checkpoint-{step}", ignore_errors=True)

        on_all_ranks(write)
        return folder

    def _about(self) -> dict[str, Any]:
        return {
            "step": self.state.step,
            "stage": self.stage_name,
            "prompt_format": self.format.name,
            "data": self.hub.data,
            "loop": asdict(self.state),
        }

    # -- steps -----------------------------------------------------------------------------------------------------

    def decisions(self) -> dict[str, str]:
        """Describe what was decided from options and data, for the log."""
        total = trained = 0
        for parameter in self.model.parameters():
            total += parameter.numel()
            trained += parameter.numel() * parameter.requires_grad
        decisions = {"model": f"{PREFIX}{self.source}, {short(total)} parameters"}
        if self.lora.lora is not None:
            share = f"{trained:,} of {total:,} parameters are trained ({100 * trained / total:.1f}%)"
            decisions["lora"] = f"rank {self.lora.lora}: {share}"
        decisions["prompt_format"] = f"{self.format.name} ({self._format_reason})"
        sets = f"{self.hub.data}, {len(self.train)} to train, {len(self.valid)} to validate"
        if not self.of_rows:
            sets += f", {self.too_long} left out as too long"
        decisions["transitions"] = sets
        decisions["steps"] = f"{self.num_steps} of {self.hub.target_examples_per_step} examples"
        return decisions

    def _chunks(self, examples: Sequence[TokenizedExample], rows: int) -> Iterator[Sequence[TokenizedExample]]:
        """Yield batches of examples of about the same length, which need little padding."""
        ordered = sorted(examples, key=lambda example: len(example.prompt) + len(example.answer))
        for first in range(0, len(ordered), rows):
            yield ordered[first : first + rows]

    def _autocast(self) -> Any:
        if self.dist.device.type != "cuda":
            return contextlib.nullcontext()
        return torch.autocast("cuda", torch.bfloat16)

    def train_one(self) -> dict[str, float]:
        hub = self.hub
        picks = batches.shard(self.sampler.picks(hub.target_examples_per_step), self.dist)
        examples = [self.train[pick.index] for pick in picks]
        own_targets = float(sum(example.weight * len(example.answer) for example in examples))
        (targets,) = all_reduce_sum([own_targets])
        seed = random.Random(f"{self.run_options.seed} {self.state.step} {self.dist.rank}").getrandbits(63)
        self.model.train()

        def accumulate(rows: int) -> float:
            torch.manual_seed(seed)  # dropout: a resumed run draws what it would have drawn
            self.optimizer.zero_grad(set_to_none=True)
            total = 0.0
            for chunk in self._chunks(examples, rows):
                with self._autocast():
                    logits_NV, targets_N, _ = answer_logits(self.model, chunk, self.pad, self.begin)
                nll_N = F.cross_entropy(logits_NV, targets_N, reduction="none")
                loss = (nll_N * answer_weights(chunk, nll_N.device)).sum() / (targets or 1.0)
                loss.backward()
                total += float(loss.detach())
            return total

        (loss,) = all_reduce_sum([self.micro_batches.run(accumulate)])
        norm = self._update(loss)
        seen = (self.state.step + 1) * hub.target_examples_per_step
        return {"loss": loss, "grad_norm": norm, "lr_factor": self.lr_factor, "epoch": seen / len(self.train)}

    def _update(self, loss: float) -> float:
        """Sum gradients over ranks, clip them, and update; returns their norm. Raises NonFiniteLoss before that."""
        if torch.distributed.is_initialized():
            # A rank without an example in the step has no gradients, and the others would wait for them.
            for parameter in self.trained:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                torch.distributed.all_reduce(parameter.grad)
        limit = math.inf
        if self.hub.max_grad_norm > 0:
            limit = self.hub.max_grad_norm
        norm = float(torch.nn.utils.clip_grad_norm_(self.trained, limit))
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise NonFiniteLoss(f"loss {loss}, gradient norm {norm}; the weights were left as they were")
        for parameter_group in self.optimizer.param_groups:
            parameter_group["lr"] = self.lr * self.lr_factor
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return norm

    @torch.no_grad()
    def evaluate(self) -> dict[str, float]:
        """Compute the held-out loss, and how many answers greedy decoding would write exactly.

        It does if the likeliest token is the right one at each place, given the right ones before.
        """
        self.model.eval()
        nll, tokens, exact, count = 0.0, 0.0, 0.0, 0.0
        own = self.valid[self.dist.rank :: self.dist.world_size]
        size = self.hub.device_batch_size
        # As many rounds on each rank, with examples left or not: all are asked together whether to stop.
        longest_share = math.ceil(len(self.valid) / self.dist.world_size)
        for number in range(math.ceil(longest_share / size)):
            if self.stop.agreed():
                return {}
            chunk = own[number * size : (number + 1) * size]
            if not chunk:
                continue
            with self._autocast():
                logits_NV, targets_N, rows_N = answer_logits(self.model, chunk, self.pad, self.begin)
            nll += float(F.cross_entropy(logits_NV, targets_N, reduction="sum"))
            misses_R = torch.bincount(rows_N, weights=(logits_NV.argmax(-1) != targets_N).float(), minlength=len(chunk))
            tokens, exact, count = tokens + len(targets_N), exact + int((misses_R == 0).sum()), count + len(chunk)
        nll, tokens, exact, count = all_reduce_sum([nll, tokens, exact, count])
        if not count:
            return {}
        return {"loss": nll / tokens, "tactic_exact_match": exact / count}

    def data_state(self) -> dict[str, Any]:
        return self.sampler.state()


def _source(spec: str) -> str:
    """Return the folder or id of an `hf:` SPEC."""
    text = spec.removeprefix(PREFIX)
    folder = Path(text).expanduser()
    if not text:
        raise UserError(f"--model-path {spec}: expected hf:PATH_OR_ID")
    if folder.is_dir():
        return str(folder.resolve())  # a run is resumed from other directories, too
    return text


def checkpoint_steps(run_path: Path) -> list[int]:
    """List the steps of the checkpoints in a run directory, in ascending order."""
    steps = []
    for folder in run_path.iterdir():
        match = CHECKPOINT_NAME.fullmatch(folder.name)
        if match is not None and (folder / TRAINED_FILE).is_file():
            steps.append(int(match[1]))
    return sorted(steps)


def last_checkpoint(run_path: Path) -> Path:
    """Find the newest checkpoint of a run. Raises UserError if there is none."""
    steps = checkpoint_steps(run_path)
    if not steps:
        raise UserError(f"--resume-from {run_path}: no checkpoint-<step> there yet; start it anew in another directory")
    return run_path / f"checkpoint-{steps[-1]}"


def write_folder(folder: Path, model: Any, tokenizer: Any, optimizer: Any | None, about: dict[str, Any]) -> None:
    """Write a folder that transformers or peft loads, whole or not at all: under another name, then renamed.

    Raises UserError, or OSError (a full disk), and leaves nothing behind then.
    """
    fresh = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        model.save_pretrained(fresh)
        if (fresh / ADAPTER_FILE).is_file():
            model.generation_config.save_pretrained(fresh)  # that of their base may name another end
        tokenizer.save_pretrained(fresh)
        if optimizer is not None:
            torch.save(optimizer.state_dict(), fresh / OPTIMIZER_FILE)
        atomic_write_json(fresh / TRAINED_FILE, about)
        # On the disk before the name is: else a power failure leaves a folder of the right name with empty files.
        for file in fresh.iterdir():
            with open(file, "rb") as opened:
                os.fsync(opened.fileno())
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
        sync_directory(folder.parent)
    except (safetensors.SafetensorError, RuntimeError) as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise UserError(f"{folder} cannot be written: {first_line(error)}") from error
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


# -- The command -----------------------------------------------------------------------------------------------------


def means_hub(argv: Sequence[str] | None) -> bool:
    """Tell whether a command line is about a model of transformers: it names one, or a run that trains one."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--model-path", "--model_path", "--model")
    parser.add_argument("--resume-from", "--resume_from")
    known, _ = parser.parse_known_args(argv)
    if known.resume_from is not None:
        with contextlib.suppress(UserError):
            saved = read_object(resolve_run_dir(known.resume_from, "--resume-from") / "args.json") or {}
            return "prompt_format" in saved
        return False
    return str(known.model_path).startswith(PREFIX) and exported_folder(known.model_path) is None


def hub_main(argv: Sequence[str] | None, description: str) -> int:
    """Parse the command line, and finetune a model of transformers."""
    parser = Parser(prog="python -m nanoproof.sft --model-path hf:PATH_OR_ID", description=description)
    for options_class in GROUPS:
        add_flags(parser, options_class)
    parser.set_defaults(**DEFAULTS)
    arguments: list[str] | None = None
    if argv is not None:
        arguments = list(argv)
    args = parse_resumable(parser, arguments)
    dump_stacks_on_usr1()
    if not leandojo.is_export(Path(args.data)):
        args.data = batches.chosen_transitions(args.data)
    if args.model_path is not None:
        args.model_path = PREFIX + _source(args.model_path)
    values: list[Any] = [from_args(options_class, args) for options_class in GROUPS]
    dist = start_ranks(values[0])
    build: Callable[..., HubFinetuning] = HubFinetuning
    try:
        run_loop(build(*values, dist), None, args, values[0], dist)
    finally:
        cleanup()
    return 0
