"""A value head for decoders of transformers: how many tactics a state still needs, read where its prompt ends.

A linear layer over what the network's own output layer reads at the last token of the prompt, with a bin for each
number of tactics, as networks of ours have it. So a value costs one row of a small matrix: the prefill that generation
does anyway, and the forward pass that the loss of a tactic needs anyway, have read the prompt. A small file beside the
weights or the adapters.

Shapes: R rows, L tokens of a row, N places whose logits are wanted, C channels, B bins.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

from nanoproof.common.errors import UserError
from nanoproof.model.tokenizer import NUM_VALUE_BINS

VALUE_FILE = "value_head.st"
"""File (of safetensors) of a folder that holds a model of transformers, or adapters: the head trained with them."""
# Not `.safetensors`: vLLM 0.32 takes all such files of a folder for weights of the network, and refuses the head's.
STEP_SIZE = 256.0
"""Factor on the mean over the channels: a step of AdamW then moves the bins as much in a network of any width."""


class ValueHead(nn.Module):
    """Logits of the bins from hidden states; in fp32, whatever the network computes in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        # Of zeros: the first step changes the head alone, and not the network by what a random head says.
        self.weight = nn.Parameter(torch.zeros(NUM_VALUE_BINS, channels))
        self.bias = nn.Parameter(torch.zeros(NUM_VALUE_BINS))

    def forward(self, hidden_RC: torch.Tensor) -> torch.Tensor:
        """Return the logits of the bins, fp32 (R, B)."""
        hidden_RC = hidden_RC.to(self.weight.dtype)
        # Networks end with norms of their own whose gains differ a hundredfold; the head is to learn at one pace.
        unit_RC = F.rms_norm(hidden_RC, (hidden_RC.shape[-1],), eps=1e-6)
        return F.linear(unit_RC * (STEP_SIZE / hidden_RC.shape[-1]), self.weight, self.bias)

    @property
    def has_learned(self) -> bool:
        """Whether it was trained at all."""
        return bool(self.weight.any())

    def distributions(self, hidden_RC: torch.Tensor) -> list[tuple[float, ...]]:
        """Return for each row the probabilities of 1, 2, ... tactics."""
        rows: list[list[float]] = self(hidden_RC).softmax(dim=-1).tolist()
        return [tuple(row) for row in rows]

    def save(self, folder: Path) -> None:
        """Write the head's file into a folder."""
        state = {name: parameter.detach().cpu().contiguous() for name, parameter in self.named_parameters()}
        save_file(state, folder / VALUE_FILE)

    @classmethod
    def load(cls, folder: Path, channels: int) -> "ValueHead | None":
        """Load the head of a folder; None where it has none. Raises UserError for one of another network."""
        file = folder / VALUE_FILE
        if not file.is_file():
            return None
        head = cls(channels)
        try:
            state = load_file(file)
        except (OSError, safetensors.SafetensorError) as error:
            raise UserError(f"{file} is damaged: {error}; delete it to go on without values") from error
        sizes = {name: tuple(tensor.shape) for name, tensor in state.items()}
        expected = {name: tuple(parameter.shape) for name, parameter in head.named_parameters()}
        if sizes != expected:
            raise UserError(f"{file} is the value head of another network: it has {sizes}, expected {expected}")
        for name, tensor in state.items():
            if not bool(torch.isfinite(tensor).all()):
                raise UserError(f"{file}: {name} has values that are not finite (NaN or infinity)")
        head.load_state_dict(state)
        return head


def expected_tactics(distribution: tuple[float, ...]) -> float:
    """Return the mean of a distribution over 1, 2, ... tactics."""
    return sum(tactics * probability for tactics, probability in enumerate(distribution, start=1))


def channels_of(network: Any) -> int:
    """Return how many channels a network's output layer reads. Raises UserError for a network without such a layer."""
    layer = network.get_output_embeddings()
    if layer is None:
        raise UserError(f"hf:{network.name_or_path} has no output layer that values could be read before")
    # Of a quantized layer the weight is packed, and of one with adapters it is below; both know their inputs.
    for name in ("in_features", "nx"):
        if isinstance(getattr(layer, name, None), int):
            return int(getattr(layer, name))
    return int(layer.weight.shape[-1])


class OutputTap:
    """What the output layer of a network reads. A hook there works for every kind of decoder: names of bodies and of
    their last norms differ, and what `output_hidden_states` gives is all layers."""

    def __init__(self) -> None:
        self.hidden: torch.Tensor | None = None
        """What was read first, as it came: (R, L, C)."""

    @contextmanager
    def watching(self, network: Any, chosen_RL: torch.Tensor | None = None) -> Iterator["OutputTap"]:
        """Watch the output layer inside of the block, as this thread asks it; with `chosen_RL` it computes the logits
        (N, V) of these places alone: those of all would take several times the memory of the rest."""

        watched_thread = threading.get_ident()

        def before(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...] | None:
            # A hook is the module's: while states are read for a search, the record of a step scores examples with it.
            if threading.get_ident() != watched_thread:
                return None
            (hidden_RLC,) = inputs
            # Of a generation the first call is the prefill.
            if self.hidden is None:
                self.hidden = hidden_RLC
            if chosen_RL is None:
                return None
            return (hidden_RLC[chosen_RL.to(hidden_RLC.device)],)

        handle = network.get_output_embeddings().register_forward_pre_hook(before)
        try:
            yield self
        finally:
            handle.remove()
