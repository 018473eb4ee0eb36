"""The same work done with Hugging Face `transformers`: `generate` of a GPT-2 of the same size.

Without a value: `generate` hands no activations on, so that one would cost a second reading of the prompt. The ratio is
the lower one for that.

`transformers` is no dependency of the project: install it into an environment of its own to compare.
"""

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import torch

from benchmarks.inference_options import end_logit
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer


def missing_for_transformers() -> str | None:
    """Return why there can be no comparison here; None if there can."""
    return None if importlib.util.find_spec("transformers") is not None else "transformers is not installed"


class TransformersEngine:
    """A GPT-2 with as many layers, heads and features, padded on the left, sampled with `num_return_sequences`.

    Attention is what the library chooses (`sdpa`), the cache too. With `sort_into` prompts are sorted by length and
    generated in parts of this many, which saves padding and is not what the library does by itself.
    """

    def __init__(self, beside: GPT, tokenizer: Tokenizer, end_probability: float, sort_into: int | None) -> None:
        library: Any = importlib.import_module("transformers")
        config = beside.config
        self.tokenizer, self.device, self.sort_into = tokenizer, beside.device, sort_into
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
        self.model = library.GPT2LMHeadModel(size).to(beside.device, beside.compute_dtype).eval()
        with torch.no_grad():  # a constant feature that says how likely the end is
            self.model.transformer.ln_f.weight[0] = 0.0
            self.model.transformer.ln_f.bias[0] = 1.0
            self.model.lm_head.weight[:, 0] = 0.0
            self.model.lm_head.weight[tokenizer.eos, 0] = end_logit(end_probability, tokenizer.eos)

    @torch.inference_mode()
    def generate(self, prompts: Sequence[list[int]], num_samples: int, max_new_tokens: int) -> int:
        """Sample from every prompt; the number of new tokens, ends included. Nothing is read out for the value."""
        order, size = list(prompts), len(prompts)
        if self.sort_into is not None:
            order, size = sorted(prompts, key=len), self.sort_into
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

    def _padded(self, prompts: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        width = max(map(len, prompts))
        rows = [[self.tokenizer.pad] * (width - len(prompt)) + prompt for prompt in prompts]
        tokens = torch.tensor(rows, device=self.device)
        return tokens, (tokens != self.tokenizer.pad).long()
