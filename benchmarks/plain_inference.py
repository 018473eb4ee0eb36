"""Inference done plainly: what the engine is compared with.

Every prompt is encoded twice (once for the tactics, once for the value), padded to the longest of the batch; its keys
and values are copied for every sample; all samples are decoded until the last one has ended.
"""

from collections.abc import Sequence

import torch

from nanoproof.model.attention import attend
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer


class GrowingCache:
    """Keys and values of whole rows, lengthened by concatenation."""

    def __init__(self, depth: int) -> None:
        self.keys: list[torch.Tensor | None] = [None] * depth
        self.values: list[torch.Tensor | None] = [None] * depth

    def extend(self, layer: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Append new columns (B, N, K, D) to the layer's keys and values."""
        keys, values = self.keys[layer], self.values[layer]
        if keys is not None and values is not None:
            k, v = torch.cat([keys, k], dim=1), torch.cat([values, v], dim=1)
        self.keys[layer], self.values[layer] = k, v
        return k, v

    def repeat(self, samples: int) -> None:
        """Copy every row once per sample."""
        for tensors in (self.keys, self.values):
            tensors[:] = [tensor.repeat_interleave(samples, dim=0) for tensor in tensors if tensor is not None]


class PlainEngine:
    """Padded batches, a cache copied per sample, no early exit of rows. Windows must be unlimited (pattern "L").

    Where the model computes in another dtype than fp32, a copy of the weights in that dtype is used.
    """

    def __init__(self, model: GPT, tokenizer: Tokenizer) -> None:
        assert len(set(model.config.windows)) == 1, "the plain engine knows no windows"
        self.model, self.tokenizer = model, tokenizer
        if model.compute_dtype != torch.float32:
            self.model = GPT.allocate(model.config, model.device, model.compute_dtype).requires_grad_(False)
            for own, other in zip(self.model.parameters(), model.parameters(), strict=True):
                own.data = other.detach().to(model.compute_dtype)

    @torch.inference_mode()
    def generate(
        self, prompts: Sequence[list[int]], num_samples: int, max_new_tokens: int, generator: torch.Generator
    ) -> tuple[list[list[list[int]]], list[list[float]]]:
        """Return the samples (unfinished ones included) and value distribution of each prompt."""
        # Twice over the prompt, as a policy and a value that are asked by themselves do it.
        hidden, _, _ = self._prefill(prompts, self.tokenizer.value)
        bins = slice(self.tokenizer.bins[0], self.tokenizer.bins[-1] + 1)
        values = self.model.logits(hidden, bins).softmax(dim=-1).tolist()
        hidden, cache, padding = self._prefill(prompts, self.tokenizer.tactic)
        cache.repeat(num_samples)
        hidden = hidden.repeat_interleave(num_samples, dim=0)
        padding = padding.repeat_interleave(num_samples, dim=0)
        eos, width = self.tokenizer.eos, max(map(len, prompts)) + 1
        ended = torch.zeros(len(hidden), dtype=torch.bool, device=hidden.device)
        columns = []
        for step in range(max_new_tokens):
            probabilities = self.model.logits(hidden, slice(eos + 1)).softmax(dim=-1)
            tokens = torch.multinomial(probabilities, 1, generator=generator)
            columns.append(tokens.masked_fill(ended.unsqueeze(1), eos))
            ended |= tokens.squeeze(1) == eos
            # The batch ends when its last sample does; until then rows that have ended are computed with the others.
            if ended.all() or step == max_new_tokens - 1:
                break
            seen = (torch.arange(width + step + 1, device=hidden.device) >= padding.unsqueeze(1)).unsqueeze(1)

            def attention(
                layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seen: torch.Tensor = seen
            ) -> torch.Tensor:
                return attend(q, *cache.extend(layer, k, v), seen)

            hidden = self.model.trunk(tokens, width + step - padding.unsqueeze(1), attention)[:, -1]
        return torch.cat(columns, dim=1).view(len(prompts), num_samples, -1).tolist(), values

    def _prefill(self, prompts: Sequence[list[int]], marker: int) -> tuple[torch.Tensor, GrowingCache, torch.Tensor]:
        """Return the activations (B, C) at the marker after each prompt, the cache, and the padding before each."""
        width = max(map(len, prompts)) + 1
        rows = [[self.tokenizer.pad] * (width - 1 - len(prompt)) + prompt + [marker] for prompt in prompts]
        device = self.model.device
        padding = torch.tensor([width - 1 - len(prompt) for prompt in prompts], device=device)
        column = torch.arange(width, device=device)
        real = column >= padding.unsqueeze(1)
        # Padding stands before the prompts, so that all of them end in the same column. A row of padding sees itself,
        # as a softmax over nothing is not a number.
        mask = (column.unsqueeze(1) >= column) & real.unsqueeze(1) | torch.eye(width, dtype=torch.bool, device=device)
        positions = (column - padding.unsqueeze(1)).clamp(min=0)
        cache = GrowingCache(self.model.config.depth)

        def attention(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            cache.extend(layer, k, v)
            return attend(q, k, v, mask)

        return self.model.trunk(torch.tensor(rows, device=device), positions, attention)[:, -1], cache, padding
