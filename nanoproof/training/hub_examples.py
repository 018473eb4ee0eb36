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
from nanoproof.policy.prompt_formats import FORMATS, PromptFormat, find_format, known_format
from nanoproof.training import batches

log = logging.getLogger(__name__)


def choose_proof_format(name: str | None, spec: str, tokenizer: Any, model: Any) -> tuple[PromptFormat, str]:
    """Choose how a model that is trained on rows of texts will be asked for proofs; returns it with the reason."""
    known = known_format(spec, "proof")
    if name is not None:
        return find_format(name, "proof"), "asked for"
    if known:
        return known, "the model was trained with it"
    return FORMATS["stp"], "that of rows of texts"


def choose_format(name: str | None, spec: str, tokenizer: Any, model: Any) -> tuple[PromptFormat, str]:
    """Choose the prompt format to train with; returns it with the reason."""
    has_template = bool(getattr(tokenizer, "chat_template", None))
    known = known_format(spec, "tactic")
    if name is not None:
        chosen, reason = find_format(name, "tactic"), "asked for"
    elif known is not None:
        chosen, reason = known, "the model was trained with it"
    elif has_template:
        chosen, reason = FORMATS["chat"], "the model has a chat template"
    elif model.config.is_encoder_decoder:
        chosen, reason = FORMATS["reprover"], "the usual one of encoder-decoders"
    else:
        chosen, reason = FORMATS["bfs-prover"], "the shortest one for a decoder"
    if chosen.chat and not has_template:
        raise UserError(f"{spec} has no chat template: choose another --prompt-format")
    return chosen, reason


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
    examples, too_long, shortest = [], 0, math.inf
    for item in transitions:
        prompt, answer = how.example(item.state, item.tactic)
        prompt_tokens = codec.prompt(prompt, system=how.system)
        answer_tokens = [*codec.continuation(prompt, answer), end]
        # An encoder-decoder has positions for each of the two, a decoder for both together.
        length = len(prompt_tokens) + len(answer_tokens)
        if encoder_decoder:
            length = max(len(prompt_tokens), len(answer_tokens))
        if length > room or not prompt_tokens:
            shortest = min(shortest, length)
            too_long += 1
        else:
            examples.append(TokenizedExample(np.array(prompt_tokens, np.int32), np.array(answer_tokens, np.int32)))
    if too_long and not examples:
        raise UserError(
            f"no transition fits in {room} tokens (--max-length, and what the model has positions for): the shortest "
            f"has {shortest} as --prompt-format {how.name} writes it"
        )
    return examples, too_long


def tokenize_rows(
    rows: Sequence[Row], codec: PromptCodec, end: int, room: int, encoder_decoder: bool
) -> list[TokenizedExample]:
    """Tokenize rows of texts. Of one that is too long the end is kept, and the token that begins every text."""
    examples = []
    for row in rows:
        prompt, answer = codec.prompt(row.prompt), [*codec.continuation(row.prompt, row.target), end]
        if not prompt:
            raise UserError("a row has no prompt, which this model needs to begin a text")
        # Of a decoder the first token of the prompt stays in any case: an answer has to follow something.
        if encoder_decoder:
            answer = answer[-room:]
            room_for_prompt = room
        else:
            answer = answer[-(room - 1) :]
            room_for_prompt = room - len(answer)
        if len(prompt) > room_for_prompt:
            prompt = [prompt[0], *prompt[len(prompt) - room_for_prompt + 1 :]]
        examples.append(TokenizedExample(np.array(prompt, np.int32), np.array(answer, np.int32), row.weight))
    return examples


def answer_weights(examples: Sequence[TokenizedExample], device: torch.device) -> torch.Tensor:
    """Return the weights of the tokens of all answers (N,), in the order of `answer_logits`."""
    sizes = torch.tensor([len(example.answer) for example in examples])
    weights = torch.tensor([example.weight for example in examples])
    return torch.repeat_interleave(weights, sizes).to(device)


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
    # Each token is predicted from those before it: what is read lacks the last of the answer, and the logits of a place
    # are for the token behind it.
    texts, answers_before, targets = [], [], []
    for example in examples:
        if encoder_decoder:
            texts.append(example.prompt)
            answers_before.append(np.concatenate([[start], example.answer[:-1]]))
            targets.append(example.answer)
        else:
            texts.append(np.concatenate([example.prompt, example.answer[:-1]]))
            targets.append(np.concatenate([np.full(len(example.prompt) - 1, NO_TARGET), example.answer]))
    inputs = {}
    if encoder_decoder:
        inputs["decoder_input_ids"] = _rows(answers_before, pad, device)
    targets_RL = _rows(targets, NO_TARGET, device)
    # Padding is on the right, where a decoder's tokens do not see it, and an encoder's do but for this mask.
    mask_RL = _rows([np.ones(len(text), np.int64) for text in texts], 0, device)
    logits_RLV = model(input_ids=_rows(texts, pad, device), attention_mask=mask_RL, **inputs, use_cache=False).logits
    # To fp32 only what is needed: logits of all places would take several times the memory of the rest.
    chosen_RL = targets_RL != NO_TARGET
    return logits_RLV[chosen_RL].float(), targets_RL[chosen_RL], chosen_RL.nonzero()[:, 0]
