"""Networks of transformers that are trained here: whole or with adapters, their value head, and their checkpoints.

A checkpoint is a folder `checkpoint-<step>` that transformers (or peft) loads as it is, with the value head, the
optimizer's state and `nanoproof.json` beside; it is written under another name and renamed.
"""

import logging
import math
import os
import pickle
import re
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
import torch
import torch.distributed

from nanoproof.common.distributed import gather_json, group_now, place_now
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_object, sync_directory
from nanoproof.inference.hf_loading import (
    ADAPTER_FILE,
    adapter_base,
    first_line,
    load_adapters,
    load_network,
    load_tokenizer,
    loading,
    peft_library,
    refuse_not_finite,
    transformers_library,
    writes_nothing,
)
from nanoproof.inference.hf_tokens import PromptCodec, record_end, special_tokens, trained_end
from nanoproof.inference.model_options import HFOptions
from nanoproof.inference.value_head import ValueHead, channels_of
from nanoproof.model.network_options import LoraOptions
from nanoproof.model.optim import NonFiniteLoss
from nanoproof.policy.prompt_formats import TRAINED_FILE, PromptFormat
from nanoproof.training.hub_examples import TokenizedExample
from nanoproof.training.schedule import short
from nanoproof.training.setup import PREFIX
from nanoproof.training.step import MicroBatches

if TYPE_CHECKING:
    from nanoproof.training.hub_shards import Shards

log = logging.getLogger(__name__)

CHECKPOINT_NAME = re.compile(r"checkpoint-(\d+)")
OPTIMIZER_FILE = "optimizer.pt"
_JOINT = ("qkv_proj", "query_key_value", "c_attn", "Wqkv")
"""Queries, keys and values in one matrix, as GPT-2, GPT-NeoX, Falcon and Phi-3 have them."""
_COMPRESSED = ("kv_b_proj",)
"""Keys and values of DeepSeek-V3's kind, out of one small vector."""
MODULES = {
    "q": ("q_proj", "q", "query", "query_proj", "q_b_proj", *_JOINT),
    "k": ("k_proj", "k", "key", "key_proj", *_COMPRESSED, *_JOINT),
    "v": ("v_proj", "v", "value", "value_proj", *_COMPRESSED, *_JOINT),
    "o": ("o_proj", "o", "out_proj", "dense", "c_proj"),
    "up": ("up_proj", "wi", "wi_1", "fc1", "gate_up_proj", "dense_h_to_4h", "c_fc"),
    "down": ("down_proj", "wo", "fc2", "dense_4h_to_h", "c_proj"),
}
"""What `--lora-targets` are called in networks of transformers; the first that a network has counts. (GPT-2 calls the
output of attention and that of its other layers by one name, so that `o` means both.)"""
ALL_LINEAR = "all-linear"


# -- Loading -----------------------------------------------------------------------------------------------------


def trainable_network(
    library: Any, source: str, lora: LoraOptions, seed: int, device: torch.device, how: HFOptions | None = None
) -> Any:
    """Load a network to train: all of it, or with adapters, which alone are trained.

    `how` says how the weights are loaded that stay as they are; by default, and where all are trained, as fp32.

    Adapters that `source` holds go on being trained if `lora` has a rank; else they are merged, and all is trained.
    Raises UserError for what cannot be loaded or adapted.
    """
    # bf16 has 8 bits of precision: an update a thousandth of a weight would round to nothing.
    precise = HFOptions(dtype="float32")
    base: str | None = None
    if lora.lora is not None:
        base, precise = adapter_base(source), how or precise
    network, writes = load_network(library, base or source, precise, device)
    if not writes:
        raise UserError(f"{PREFIX}{source} {writes_nothing(network)}")
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
    config = network.peft_config["default"]
    rank = getattr(config, "r", None)  # IA3 and others have none
    if rank is None:
        raise UserError(
            f"--lora {lora.lora}: {PREFIX}{source} holds adapters of the kind {config.peft_type.value}, which have no "
            "rank and are not gone on with; without --lora they are merged, and all is trained"
        )
    if rank != lora.lora:
        raise UserError(f"--lora {lora.lora}: {PREFIX}{source} holds adapters of rank {rank}; go on with --lora {rank}")
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


def source_of(spec: str) -> str:
    """Return the folder or id of an `hf:` SPEC."""
    text = spec.removeprefix(PREFIX)
    folder = Path(text).expanduser()
    if not text:
        raise UserError(f"--model-path {spec}: expected hf:PATH_OR_ID")
    if folder.is_dir():
        return str(folder.resolve())  # a run is resumed from other directories, too
    return text


# -- A network in training -------------------------------------------------------------------------------------------

Chooser = Callable[[str | None, str, Any, Any], tuple[PromptFormat, str]]
"""Chooses a prompt format by `--prompt-format`, SPEC, tokenizer and network; returns it with the reason."""


@dataclass(frozen=True)
class Gathered:
    """What a checkpoint holds beside the network's own files: the optimizer's state, and of a network that is divided
    over ranks its whole `weights` by name (None: those that the network has)."""

    optimizer: dict[str, Any]
    weights: dict[str, torch.Tensor] | None = None


class HubNetwork:
    """A network of transformers in training, with its tokenizer, prompt format, value head and optimizer."""

    optimizer: torch.optim.Optimizer
    reader: Any
    """What is asked while the network does not train: the network itself, or if that is divided over ranks a copy that
    is whole on each, and has the present weights after every update. None without a need for one."""

    def __init__(
        self,
        source: str,
        spec: str,
        lora: LoraOptions,
        seed: int,
        device: torch.device,
        *,
        choose: Chooser,
        prompt_format: str | None,
        tactics: bool = True,
        learns_values: bool = False,
        how: HFOptions | None = None,
        sharded: bool = False,
        reads: bool = True,
    ) -> None:
        """Load the network of a folder or an id, by the SPEC that a user gave for it.

        If it is `sharded`, weights, gradients and optimizer are divided over all ranks (a collective), and there is a
        copy for whoever `reads`.

        `choose` chooses the format; texts are asked for as it says if `tactics` are learned, else as they come. With
        `learns_values` there is a value head, that of the folder or a fresh one. Raises UserError for what cannot be
        loaded, or trained this way.
        """
        library = transformers_library()
        self.source = source
        self.model = trainable_network(library, source, lora, seed, device, how)
        self.tokenizer = load_tokenizer(library, source)
        self.format, self.format_reason = choose(prompt_format, spec, self.tokenizer, self.model)
        # Rows of texts bring their own prompts: there is nothing to wrap.
        chat = self.format.chat and tactics
        self.end = trained_end(self.model, self.tokenizer, chat)
        ends = record_end(self.model, self.tokenizer, self.end)
        _, self.pad, self.begin = special_tokens(self.model, self.tokenizer)
        self.encoder_decoder = bool(self.model.config.is_encoder_decoder)
        embeddings = self.model.get_input_embeddings().weight.shape[0]
        self.codec = PromptCodec(self.tokenizer, self.encoder_decoder, chat, ends, embeddings)
        self.head, self.head_reason = self._head(learns_values)
        self.model.eval()  # peft leaves its layers in training, with dropout
        self._lrs: list[float] = []
        self._is_lora = lora.lora is not None
        self._shards: Shards | None = None
        self.reader = self.model
        if sharded:
            self._shard(library, lora, seed, device, how, reads)

    def _shard(
        self, library: Any, lora: LoraOptions, seed: int, device: torch.device, how: HFOptions | None, reads: bool
    ) -> None:
        from nanoproof.training.hub_shards import Shards  # takes torch a second to import

        # Divided first: when the copy is loaded, this rank holds its share alone of the network in training.
        self._shards = Shards(self.model, device)
        self.reader = None
        if not reads:
            return
        precision = how
        if precision is None and device.type == "cuda":
            # It writes samples, for which bf16 does, at half the memory; fp32 is what updates are added to.
            precision = HFOptions(dtype="bfloat16")
        if self._is_lora:
            self.reader = trainable_network(library, self.source, lora, seed, device, how)
        else:
            self.reader, _ = load_network(library, self.source, precision or HFOptions(dtype="float32"), device)
        self.reader.requires_grad_(False)
        self.reader.eval()
        record_end(self.reader, self.tokenizer, self.end)  # its settings are those that adapters are saved with
        self._shards.copy_to(self.reader, trained_only=False)

    def _head(self, learns_values: bool) -> tuple[ValueHead | None, str]:
        # Its decoder begins anew behind the state, which its encoder reads: there is no end of a prompt.
        if self.encoder_decoder:
            if learns_values:
                raise UserError(
                    f"{PREFIX}{self.source} is an encoder-decoder: value heads and RL take decoders; "
                    "finetuning does without, by --value-weight 0"
                )
            return None, "none, as it is an encoder-decoder"
        # Of the folder that training begins with, that of adapters too: head and weights were trained together.
        channels = channels_of(self.model)
        head = ValueHead.load(Path(self.source), channels)
        if not learns_values:
            if head is None:
                return None, "none is trained (--value-weight 0)"
            # Of other weights than those that it was trained with, its values would mean nothing.
            return None, "that of the model is left out, as nothing trains it (--value-weight 0)"
        reason = "goes on from that of the model"
        if head is None:
            head, reason = ValueHead(channels), "a fresh one"
        return head.to(self.model.device), reason

    @property
    def positions(self) -> int | None:
        """How many tokens prompt and answer may have together; None where the network sets no limit."""
        if self.encoder_decoder:  # T5's kind has no longest text
            return None
        return getattr(self.model.config, "max_position_embeddings", None)

    @property
    def trained(self) -> list[torch.nn.Parameter]:
        """The parameters that are trained, those of the value head last."""
        parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        if self.head is not None:
            parameters += self.head.parameters()
        return parameters

    def sizes(self) -> tuple[int, int]:
        """Return how many parameters the network has, and how many of these are trained."""
        total = trained = 0
        for parameter in self.model.parameters():
            total += parameter.numel()
            trained += parameter.numel() * parameter.requires_grad
        return total, trained

    def decisions(self, lora: LoraOptions) -> dict[str, str]:
        """Describe the network, what of it is trained, how it is asked and whether it learns values, for the log."""
        total, trained = self.sizes()
        decisions = {"model": f"{PREFIX}{self.source}, {short(total)} parameters"}
        if lora.lora is not None:
            share = f"{trained:,} of {total:,} parameters are trained ({100 * trained / total:.1f}%)"
            decisions["lora"] = f"rank {lora.lora}: {share}"
        if self.is_divided:
            decisions["shard"] = f"weights, gradients and optimizer are divided over {place_now()[1]} ranks"
        decisions["prompt_format"] = f"{self.format.name} ({self.format_reason})"
        decisions["value_head"] = self.head_reason
        return decisions

    # -- the optimizer -------------------------------------------------------------------------------------------------

    def make_optimizer(self, lr: float, head_lr: float, **options: Any) -> None:
        """Make a fresh AdamW; a value head has a learning rate of its own."""
        # Those that stay as they are would have two moments each, four times the memory of bf16 weights.
        own = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        groups: list[dict[str, Any]] = [{"params": own, "lr": lr}]
        self._lrs = [lr]
        if self.head is not None:
            groups.append({"params": list(self.head.parameters()), "lr": head_lr})
            self._lrs.append(head_lr)
        self.optimizer = torch.optim.AdamW(groups, **options)

    def load_optimizer(self, folder: Path) -> None:
        """Restore the optimizer's state of a checkpoint. Raises UserError if there is none that fits."""
        try:
            # Mapped: each of eight ranks would else hold the moments of the whole network for a moment.
            state = torch.load(folder / OPTIMIZER_FILE, map_location="cpu", weights_only=True, mmap=True)
            if self._shards is not None:
                from nanoproof.training.hub_shards import share_optimizer

                state = share_optimizer(state, self.trained)
            self.optimizer.load_state_dict(state)
        except (OSError, RuntimeError, ValueError, EOFError, LookupError, pickle.UnpicklingError) as error:
            raise UserError(
                f"{folder / OPTIMIZER_FILE} is missing, damaged or does not fit ({first_line(error)}); "
                "--resume-fresh-optimizer continues with fresh optimizer state"
            ) from error

    @property
    def steps_done(self) -> int:
        """How many steps the optimizer has made, over all parts of a resumed run."""
        # Of the optimizer's own count: a resumed run then draws the dropout that it would have drawn.
        for state in self.optimizer.state.values():
            return int(state["step"])
        return 0

    def zero_grad(self) -> None:
        """Forget all gradients."""
        # None and not zeros: memory for them is there only while they are summed up.
        for parameter in self.trained:
            parameter.grad = None

    @property
    def is_divided(self) -> bool:
        """Whether the network is divided over ranks, which then have to pass it equally often."""
        return self._shards is not None

    @property
    def padding(self) -> TokenizedExample:
        """An example without a share in any loss."""
        return TokenizedExample(np.array([self.pad], np.int32), np.array([self.end], np.int32), weight=0.0)

    def accumulate(self, batches: MicroBatches, compute: Callable[[int], list[float]]) -> list[float]:
        """Return `compute(rows)`, which sums gradients up, with as many rows at once as fit into memory."""
        # A rank that began anew would wait for weights of layers that the others do not send.
        if self._shards is not None:
            return compute(batches.rows)
        return batches.run(compute)

    def in_step(self, batches: Sequence[Sequence[TokenizedExample]]) -> list[Sequence[TokenizedExample]]:
        """Return batches, and as many without a share in any loss that all ranks pass equally many (a collective).

        Of a network that is not divided, where ranks do not meet in a forward pass: the batches.
        """
        if self._shards is None:
            return list(batches)
        most = max(gather_json(len(batches)))
        return [*batches, *([[self.padding]] * (most - len(batches)))]

    def update(self, loss: float, lr_factor: float, max_grad_norm: float) -> float:
        """Sum gradients over ranks, clip them, and update; returns their norm. Raises NonFiniteLoss before that."""
        trained = self.trained
        if torch.distributed.is_initialized():
            self._sum_gradients()
        # After the sum over ranks, so that all of them clip alike and see alike what is not finite.
        limit = math.inf
        if max_grad_norm > 0:
            limit = max_grad_norm
        if self._shards is not None:
            norm = self._shards.clip_gradients(trained, limit)
        else:
            norm = float(torch.nn.utils.clip_grad_norm_(trained, limit))
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise NonFiniteLoss(f"loss {loss}, gradient norm {norm}; the weights were left as they were")
        for parameter_group, lr in zip(self.optimizer.param_groups, self._lrs, strict=True):
            parameter_group["lr"] = lr * lr_factor
        self.optimizer.step()
        self.zero_grad()
        if self._shards is not None and self.reader is not None:
            self._shards.copy_to(self.reader, trained_only=True)
        return norm

    def _sum_gradients(self) -> None:
        whole_ones = self.trained
        if self._shards is not None:
            # FSDP has summed up the others in the backward pass.
            whole_ones = []
            if self.head is not None:
                whole_ones = list(self.head.parameters())
        # A rank without an example in the step has no gradients, and the others would wait for them.
        for parameter in whole_ones:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            torch.distributed.all_reduce(parameter.grad, group=group_now())

    # -- checkpoints ---------------------------------------------------------------------------------------------------

    def gather(self, keep: bool) -> Gathered:
        """Gather what a checkpoint holds on the ranks that `keep` it (a collective where the network is divided)."""
        if self._shards is None:
            return Gathered(self.optimizer.state_dict())
        optimizer = self._shards.optimizer_state(self.optimizer, keep)
        # The copy has the very adapters; of whole networks it may have rounded weights.
        if self._is_lora and self.reader is not None:
            return Gathered(optimizer)
        return Gathered(optimizer, self._shards.weights(keep))

    def write(self, folder: Path, about: dict[str, Any], gathered: Gathered) -> None:
        """Write a checkpoint; see `write_folder`."""
        # Whoever loads the folder asks the model as it was trained, without `--prompt-format`.
        about = {"prompt_format": self.format.name, **about}
        model = self.model
        if gathered.weights is None:
            model = self.reader
        write_folder(folder, model, self.tokenizer, gathered, about, self.head)


# -- Checkpoints -------------------------------------------------------------------------------------------------------


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


def write_folder(
    folder: Path,
    model: Any,
    tokenizer: Any,
    gathered: Gathered | None,
    about: dict[str, Any],
    head: ValueHead | None = None,
) -> None:
    """Write a folder that transformers or peft loads, whole or not at all: under another name, then renamed.

    Raises UserError, or OSError (a full disk), and leaves nothing behind then.
    """
    weights = dict(model.named_parameters())
    if gathered is not None and gathered.weights is not None:
        weights = gathered.weights
    # A checkpoint of these would hide the last one that can be gone on from.
    refuse_not_finite(f"{folder} is not written", weights)
    fresh = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        if gathered is not None and gathered.weights is not None:
            model.save_pretrained(fresh, state_dict=gathered.weights)
        else:
            model.save_pretrained(fresh)
        if (fresh / ADAPTER_FILE).is_file():
            model.generation_config.save_pretrained(fresh)  # that of their base may name another end
        tokenizer.save_pretrained(fresh)
        if head is not None:
            head.save(fresh)
        if gathered is not None:
            torch.save(gathered.optimizer, fresh / OPTIMIZER_FILE)
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


def prune_folders(run_path: Path, keep: int | None, protect: Collection[int] = ()) -> None:
    """Delete all checkpoints of a run but the newest `keep` (None: all stay) and those of the steps `protect`."""
    if keep is None:
        return
    # The new one is whole by now: should deleting fail, nothing is lost but space.
    for step in checkpoint_steps(run_path)[:-keep]:
        if step not in protect:
            shutil.rmtree(run_path / f"checkpoint-{step}", ignore_errors=True)


def read_about(folder: Path) -> dict[str, Any]:
    """Read what a checkpoint says of itself. Raises UserError if that is missing or damaged."""
    about = read_object(folder / TRAINED_FILE)
    if about is None:
        raise UserError(f"{folder / TRAINED_FILE} is missing or damaged: the folder is no checkpoint to go on from")
    return about
