"""Writing the samples of prompts with a network of transformers: each prompt is read once, for all of its samples.

A decoder reads the distinct prompts of a batch side by side; their keys and values are then repeated, a row for each
sample, and rows that have ended are taken out on the way. What the value head says of a prompt is read in the same
pass. Where a network keeps something else than keys and values (states of linear attention), and for encoder-decoders,
`model.generate` reads a prompt for each sample: it knows every kind.

Tokens are drawn here in either way: noise comes from the seed of a prompt and the number of a sample, so that what is
drawn does not depend on the rows that share a batch.

Shapes: P distinct prompts, R rows (samples), L tokens of the longest prompt, T tokens to generate, V tokens of the
vocabulary, C channels.
"""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from nanoproof.inference.language_model import GenerationOptions, TextSample, cut_at
from nanoproof.inference.sampling import next_tokens, shaped_logits
from nanoproof.inference.value_head import OutputTap

CONTEXT_TOKENS = 16
"""A continuation is decoded with so many tokens before it: some vocabularies drop the space that begins a text."""
KEPT_SHARE = 0.75
"""Rows that ended are taken out when so few are left: each time all keys and values are copied."""
_PLAIN_LAYERS = ("DynamicLayer", "DynamicSlidingWindowLayer")
"""Layers of a cache that hold keys and values alone, which can be repeated and left out by row."""


class Draw:
    """Draws the tokens of a batch, and keeps them with their log-probabilities."""

    def __init__(self, tokenizer: Any, options: GenerationOptions, ends: Sequence[int], device: torch.device) -> None:
        self._tokenizer, self.options, self._ends, self._device = tokenizer, options, ends, device
        self._longest_stop = max((len(text.encode()) for text in options.stop), default=0)

    def begin(self, rows: Sequence[tuple[int, int]]) -> None:
        """Begin with the noise of rows, each given by the seed of its prompt and its number among the samples."""
        noise = []
        for seed, number in rows:
            noise.append(np.random.default_rng([seed % 2**64, number]).random(self.options.max_new_tokens))
        self._uniforms_RT = torch.tensor(np.array(noise), dtype=torch.float32, device=self._device)
        self._tokens: list[list[int]] = [[] for _ in rows]
        self._logprobs = [0.0] * len(rows)
        self._finished = [False] * len(rows)
        self.open = list(range(len(rows)))
        """The rows that have not ended."""

    def choose(self, rows: Sequence[int], logits_RV: torch.Tensor) -> torch.Tensor:
        """Draw a token for each of these rows (R,), and note it for those that have not ended."""
        logits_RV = logits_RV.float()
        if self.options.temperature == 0:
            tokens_R = logits_RV.argmax(dim=-1)
        else:
            top_p = self.options.top_p
            shaped_RV = shaped_logits(logits_RV, (self.options.temperature, top_p), top_p < 1)
            uniforms_R = self._uniforms_RT[list(rows), self._step_of(rows)].to(logits_RV.device)
            tokens_R = next_tokens(shaped_RV.softmax(dim=-1), uniforms_R)
        logprobs_R1 = logits_RV.double().log_softmax(dim=-1).gather(1, tokens_R[:, None])
        if not bool(logprobs_R1.isfinite().all()):
            raise FloatingPointError("the model's output is not finite")
        still_open = set(self.open)
        for row, token, logprob in zip(rows, tokens_R.tolist(), logprobs_R1[:, 0].tolist()):
            if row not in still_open:
                continue
            self._tokens[row].append(token)
            self._logprobs[row] += logprob
            self._finished[row] = token in self._ends or self._says_stop(row)
        self.open = [row for row in self.open if not self._has_ended(row)]
        return tokens_R

    def _step_of(self, rows: Sequence[int]) -> int:
        """Return how many tokens were drawn so far: as many for all rows that have not ended."""
        return max(len(self._tokens[row]) for row in rows)

    def _has_ended(self, row: int) -> bool:
        return self._finished[row] or len(self._tokens[row]) == self.options.max_new_tokens

    def _says_stop(self, row: int) -> bool:
        """Tell whether a row has a `stop` text."""
        if not self._longest_stop:
            return False
        # A token may spell less than a byte's worth of text only if it is special; the others before it count.
        tail = self._tokens[row][-self._longest_stop - 1 :]
        text = self._tokenizer.decode(tail, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return any(stop in text for stop in self.options.stop)

    def samples(self, prompts: Sequence[Sequence[int]] | None) -> list[TextSample]:
        """Return the texts that were written, one for each row; `prompts` are what a decoder read before them."""
        samples = []
        for row, tokens in enumerate(self._tokens):
            before: Sequence[int] = ()
            if prompts is not None:
                before = prompts[row][-CONTEXT_TOKENS:]
            text = self._text(list(before), tokens)
            samples.append(TextSample(text, self._logprobs[row], len(tokens), self._finished[row]))
        return samples

    def _text(self, before: list[int], tokens: list[int]) -> str:
        how = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        written = tokens
        if tokens and tokens[-1] in self._ends:
            written = tokens[:-1]
        text: str = self._tokenizer.decode(written, **how)
        if before:
            context, both = self._tokenizer.decode(before, **how), self._tokenizer.decode([*before, *written], **how)
            # Half a character at the end of the context is another text with what follows it.
            if both.startswith(context):
                text = both[len(context) :]
        return cut_at(text, self.options.stop)[0]


# -- Decoders --------------------------------------------------------------------------------------------------------


class Prefix:
    """Distinct prompts that a decoder has read: what it keeps of them, its logits behind them, and its hidden states.

    `cache` is None where the network keeps more than keys and values, and so has to be asked otherwise.
    """

    def __init__(self, model: Any, tokens_PL: torch.Tensor, mask_PL: torch.Tensor, values: bool) -> None:
        """Read prompts that are padded on the left; with `values`, `hidden_PC` is what the output layer read."""
        self._model, self._mask_PL = model, mask_PL
        known = inspect.signature(model.forward).parameters
        self._takes_positions = "position_ids" in known
        more: dict[str, Any] = {}
        if "logits_to_keep" in known:
            more["logits_to_keep"] = 1  # those of all places would be most of the memory
        tap = OutputTap()
        if values:
            with tap.watching(model):
                outputs = self._forward(tokens_PL, mask_PL, None, more)
        else:
            outputs = self._forward(tokens_PL, mask_PL, None, more)
        self.hidden_PC: torch.Tensor | None = None
        if tap.hidden is not None:
            self.hidden_PC = tap.hidden[:, -1]
        self.logits_PV = outputs.logits[:, -1]
        self.cache: Any = _plain_cache(getattr(outputs, "past_key_values", None))

    def _forward(self, tokens: torch.Tensor, mask: torch.Tensor, cache: Any, more: dict[str, Any]) -> Any:
        """Read tokens behind what the cache holds; the mask is over both."""
        if self._takes_positions:
            # As `generate` counts them: from the first token that is no padding.
            positions = (mask.cumsum(dim=-1) - 1).clamp(min=0)
            more = {**more, "position_ids": positions[:, -tokens.shape[1] :]}
        return self._model(input_ids=tokens, attention_mask=mask, past_key_values=cache, use_cache=True, **more)

    def write(self, prompt_of_row: Sequence[int], draw: Draw) -> None:
        """Write a sample for each row, given by the number of its prompt, until all have ended."""
        rows = list(range(len(prompt_of_row)))
        of_rows = torch.tensor(list(prompt_of_row), device=self._mask_PL.device)
        self.cache.batch_select_indices(of_rows)
        mask, logits_RV = self._mask_PL[of_rows], self.logits_PV[of_rows.to(self.logits_PV.device)]
        while True:
            tokens_R = draw.choose(rows, logits_RV).to(mask.device)
            if not draw.open:
                return
            if len(draw.open) <= KEPT_SHARE * len(rows):
                places = {row: place for place, row in enumerate(rows)}
                kept = torch.tensor([places[row] for row in draw.open], device=mask.device)
                self.cache.batch_select_indices(kept)
                rows, mask, tokens_R = list(draw.open), mask[kept], tokens_R[kept]
            mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)
            logits_RV = self._forward(tokens_R[:, None], mask, self.cache, {}).logits[:, -1]


def _plain_cache(cache: Any) -> Any:
    """Return a cache whose rows can be chosen; None for another kind."""
    layers = getattr(cache, "layers", None)
    # A class made of that one may keep more beside its layers, as MiniMax's does.
    if (
        type(cache).__name__ != "DynamicCache"
        or not layers
        or any(type(layer).__name__ not in _PLAIN_LAYERS for layer in layers)
    ):
        return None
    return cache


# -- Every other kind ------------------------------------------------------------------------------------------------


def write_by_generate(
    model: Any, library: Any, tokens_RL: torch.Tensor, mask_RL: torch.Tensor, special: dict[str, Any], draw: Draw
) -> None:
    """Write a sample for each row of prompts by the library's own loop, which is asked for greedy decoding: what it
    takes for the likeliest token is the one that was drawn. `special` are settings of the tokens that begin and end."""
    every_row = list(range(len(tokens_RL)))

    def choose(input_ids: torch.Tensor, logits_RV: torch.Tensor) -> torch.Tensor:
        tokens_R1 = draw.choose(every_row, logits_RV)[:, None]
        return torch.full_like(logits_RV, -torch.inf, dtype=torch.float32).scatter(1, tokens_R1, 0.0)

    def stopped(input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        ended_R = torch.ones(len(every_row), dtype=torch.bool, device=input_ids.device)
        ended_R[draw.open] = False
        return ended_R

    settings = model.generation_config
    # Those that a model is published with (penalties, beams) would bend what is drawn; its checkpoints keep them.
    model.generation_config = library.GenerationConfig(**special)
    try:
        model.generate(
            input_ids=tokens_RL,
            attention_mask=mask_RL,
            generation_config=library.GenerationConfig(
                do_sample=False, num_beams=1, max_new_tokens=draw.options.max_new_tokens
            ),
            logits_processor=library.LogitsProcessorList([choose]),
            stopping_criteria=library.StoppingCriteriaList([stopped]),
        )
    finally:
        model.generation_config = settings
