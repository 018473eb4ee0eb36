"""The same work done with Hugging Face `transformers`: `generate` of a GPT-2 of the same size, and the value.

`transformers` is no dependency of the project: install it into an environment of its own to compare.
"""

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import torch

from nanoproof.model.gpt import GPTConfig
from nanoproof.model.tokenizer import Tokenizer


def missing_for_transformers() -> str | None:
    """Return why there can be no comparison here; None if there can."""
    return None if importlib.util.find_spec("transformers") is not None else "transformers is not installed"


class TransformersEngine:
    """A GPT-2 with as many layers, heads and features, padded on the left, sampled with `num_return_sequences`.

    Attention is what the library chooses (`sdpa`), the cache too. With `sort_into` prompts are sorted by length and
    generated in parts of this many, which saves padding and is not what the library does by itself.
    """

    def __init__(
        self,
        config: GPTConfig,
        tokenizer: Tokenizer,
        device: torch.device,
        dtype: torch.dtype,
        end_probability: float,
        sort_into: int | None = None,
    ) -> None:
        library: Any = importlib.import_module("transformers")
        self.tokenizer, self.device, self.sort_into = tokenizer, device, sort_into
        torch.manual_seed(0)
        size = library.GPT2Config(
            vocab_size=config.padded_vocab_size,
            n_positions=config.sequence_len,
            n_embd=config.width,
            n_layer=config.depth,
            n_head=config.num_heads,
            bos_token_id=tokenizer.bos,
            eos_token_id=tokenizer.eos,
            pad_token_id=tokenizer.pad,
        )
        self.model = library.GPT2LMHeadModel(size).to(device, dtype).eval()
        odds = end_probability / (1 - end_probability) * tokenizer.eos
        with torch.no_grad():  # a constant feature that says how likely the end is
            self.model.transformer.ln_f.weight[0] = 0.0
            self.model.transformer.ln_f.bias[0] = 1.0
            self.model.lm_head.weight[:, 0] = 0.0
            self.model.lm_head.weight[tokenizer.eos, 0] = torch.tensor(max(odds, 1e-6)).log()
        self.attention = str(self.model.config._attn_implementation)
        self.version = str(library.__version__)

    @torch.inference_mode()
    def generate(self, prompts: Sequence[list[int]], num_samples: int, max_new_tokens: int) -> int:
        """Sample from every prompt; the number of new tokens, ends included. Nothing is read out for the value."""
        order = list(prompts) if self.sort_into is None else sorted(prompts, key=len)
        size = self.sort_into or len(order)
        total = 0
        for start in range(0, len(order), size):
            part = order[start : start + size]
            tokens, mask = self._padded(part)
            written = self.model.generate(
                input_ids=tokens,
                attention_mask=mask,
                do_sample=True,
                top_k=0,
                num_return_sequences=num_samples,
                max_new_tokens=max_new_tokens,
            )[:, tokens.shape[1] :]
            total += int((written != self.tokenizer.pad).sum())
        return total

    @torch.inference_mode()
    def read_values(self, prompts: Sequence[list[int]]) -> torch.Tensor:
        """Run the forward pass over the prompts that a value read-out takes, (S, 64)."""
        tokens, mask = self._padded([[*prompt, self.tokenizer.value] for prompt in prompts])
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
        out = self.model(input_ids=tokens, attention_mask=mask, position_ids=positions, logits_to_keep=1)
        bins = slice(self.tokenizer.bins[0], self.tokenizer.bins[-1] + 1)
        return out.logits[:, -1, bins].float().softmax(dim=-1)

    def _padded(self, prompts: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        width = max(map(len, prompts))
        rows = [[self.tokenizer.pad] * (width - len(prompt)) + prompt for prompt in prompts]
        tokens = torch.tensor(rows, device=self.device)
        return tokens, (tokens != self.tokenizer.pad).long()
