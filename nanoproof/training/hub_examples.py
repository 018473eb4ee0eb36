"""What models of transformers are finetuned on: transitions in a prompt format, or rows of texts, as tokens.

Shapes: R rows, L tokens of the longest row, N tokens of all answers, V tokens of the vocabulary.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nanoproof.common.errors import UserError
from nanoproof.data.transitions import leandojo
from nanoproof.data.weighted_rows import Row
from nanoproof.inference.hf_tokens import PromptCodec
from nanoproof.lean.types import Transition
from nanoproof.policy.prompt_formats import PromptFormat
from nanoproof.training import batches

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TokenizedExample:
    """The tokens of a prompt and of its answer, the end of the text included; `weight` is that of each of these."""

    prompt: np.ndarray
    answer: np.ndarray
    weight: float = 1.0


def load_data(name: str) -> tuple[Sequence[Transition], Sequence[Transition]]:
    """Load transitions to train on and to validate, of a LeanDojo export too."""
    if leandojo.is_export(Path(name)):
        train, valid, left_out = leandojo.load_export(Path(name))
        for reason, count in left_out.items():
            log.info("%s: left out %d x %s", name, count, reason)
        return train, valid
    return batches.load_transitions(name)


def tokenize(
    transitions: Sequence[Transition], how: PromptFormat, codec: PromptCodec, end: int, room: int, encoder_decoder: bool
) -> tuple[list[TokenizedExample], int]:
    """Tokenize transitions; returns those that have room, and how many do not.

    Raises UserError if there is room for none.
    """
    found, too_long, shortest = [], 0, math.inf
    for item in transitions:
        prompt, answer = how.example(item.state, item.tactic)
        prompt_tokens, answer_tokens = (
            codec.prompt(prompt, system=how.system),
            [*codec.continuation(prompt, answer), end],
        )
        sizes = (len(prompt_tokens), len(answer_tokens))
        length = max(sizes) if encoder_decoder else sum(sizes)
        if length > room or not prompt_tokens:
            shortest = min(shortest, length)
            too_long += 1
        else:
            found.append(TokenizedExample(np.array(prompt_tokens, np.int32), np.array(answer_tokens, np.int32)))
    if too_long and not found:
        raise UserError(
            f"no transition fits in {room} tokens (--max-length, and what the model has positions for): the shortest "
            f"has {shortest} as --prompt-format {how.name} writes it"
        )
    return found, too_long


def tokenize_rows(
    rows: Sequence[Row], codec: PromptCodec, end: int, room: int, encoder_decoder: bool
) -> list[TokenizedExample]:
    """Tokenize rows of texts. Of one that is too long the end is kept, and the token that begins every text."""
    found = []
    for row in rows:
        prompt, answer = codec.prompt(row.prompt), [*codec.continuation(row.prompt, row.target), end]
        if not prompt:
            raise UserError("a row has no prompt, which this model needs to begin a text")
        most = room if encoder_decoder else room - 1
        answer = answer[-most:]
        left = room if encoder_decoder else room - len(answer)
        if len(prompt) > left:
            prompt = [prompt[0], *prompt[len(prompt) - left + 1 :]]
        found.append(TokenizedExample(np.array(prompt, np.int32), np.array(answer, np.int32), row.weight))
    return found


def answer_weights(examples: Sequence[TokenizedExample], device: torch.device) -> torch.Tensor:
    """Return the weights of the tokens of all answers (N,), in the order of `answer_logits`."""
    sizes = torch.tensor([len(each.answer) for each in examples])
    return torch.repeat_interleave(torch.tensor([each.weight for each in examples]), sizes).to(device)


def _rows(parts: Sequence[np.ndarray], fill: int, device: torch.device) -> torch.Tensor:
    """Lay rows of tokens side by side, padded on the right: (R, L)."""
    rows_RL = torch.full((len(parts), max(map(len, parts))), fill, dtype=torch.long)
    for row, part in enumerate(parts):
        rows_RL[row, : len(part)] = torch.from_numpy(part)
    return rows_RL.to(device)


NO_TARGET = -100


def answer_logits(
    model: Any, examples: Sequence[TokenizedExample], pad: int, start: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return for the tokens of all answers the logits (N, V), the right tokens (N,), and their rows (N,).

    A decoder reads prompt and answer as one text. An encoder-decoder reads the prompt, and writes the answer behind
    `start`.
    """
    device = model.device
    encoder_decoder = bool(model.config.is_encoder_decoder)
    answers = [each.answer for each in examples]
    if encoder_decoder:
        prompts = [each.prompt for each in examples]
        before = [np.concatenate([[start], answer[:-1]]) for answer in answers]
        inputs = {"decoder_input_ids": _rows(before, pad, device)}
        targets_RL = _rows(answers, NO_TARGET, device)
    else:
        prompts = [np.concatenate([each.prompt, each.answer[:-1]]) for each in examples]
        inputs = {}
        silent = [np.full(len(each.prompt) - 1, NO_TARGET) for each in examples]
        targets_RL = _rows([np.concatenate(pair) for pair in zip(silent, answers)], NO_TARGET, device)
    mask_RL = _rows([np.ones(len(prompt), np.int64) for prompt in prompts], 0, device)
    logits_RLV = model(input_ids=_rows(prompts, pad, device), attention_mask=mask_RL, **inputs, use_cache=False).logits
    chosen_RL = targets_RL != NO_TARGET
    return logits_RLV[chosen_RL].float(), targets_RL[chosen_RL], chosen_RL.nonzero()[:, 0]
