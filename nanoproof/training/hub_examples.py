"""What models of transformers are finetuned on: transitions in a prompt format, or rows of texts, as tokens.

Shapes: R rows, L tokens of the longest row, N tokens of all answers, V tokens of the vocabulary.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from nanoproof.common.errors import UserError
from nanoproof.data.transitions import leandojo
from nanoproof.data.weighted_rows import Row
from nanoproof.inference.hf_tokens import PromptCodec, require_chat
from nanoproof.inference.value_head import OutputTap
from nanoproof.lean.types import Transition
from nanoproof.model.tokenizer import NUM_VALUE_BINS
from nanoproof.policy.prompt_formats import FORMATS, PromptFormat, find_format, known_format
from nanoproof.training import named_data

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
    if chosen.chat:
        require_chat(tokenizer, chosen.system)
    return chosen, reason


@dataclass(frozen=True, slots=True)
class TokenizedExample:
    """The tokens of a prompt and of its answer, the end of the text included; `weight` is that of each of these.

    `depth` is how many tactics the state still needs, which a value head learns with `value_weight`; 0 if that is not
    to be learned. An answer that is `negative` is to become less likely. Of a state whose value alone is learned the
    answer is empty.
    """

    prompt: np.ndarray
    answer: np.ndarray
    weight: float = 1.0
    negative: bool = False
    depth: int = 0
    value_weight: float = 1.0

    @property
    def length(self) -> int:
        """How many tokens a decoder reads."""
        return len(self.prompt) + len(self.answer)


def load_data(name: str) -> tuple[Sequence[Transition], Sequence[Transition]]:
    """Load transitions to train on and to validate, of a LeanDojo export too."""
    if leandojo.is_export(Path(name)):
        train, valid, left_out = leandojo.load_export(Path(name))
        for reason, count in left_out.items():
            log.info("%s: left out %d x %s", name, count, reason)
        return train, valid
    return named_data.load_transitions(name)


def encode_transition(item: Transition, how: PromptFormat, codec: PromptCodec, end: int) -> tuple[list[int], list[int]]:
    """Return the tokens of a transition's prompt and of its answer, the end of the text included."""
    prompt, answer = how.example(item.state, item.tactic)
    return codec.prompt(prompt, system=how.system), [*codec.continuation(prompt, answer), end]


def depth_of(item: Transition) -> int:
    """Return how many tactics a state needs, as far as there are bins for it."""
    return min(max(item.depth, 1), NUM_VALUE_BINS)


def tokenize(
    transitions: Sequence[Transition], how: PromptFormat, codec: PromptCodec, end: int, room: int, encoder_decoder: bool
) -> tuple[list[TokenizedExample], list[int]]:
    """Tokenize transitions; returns those that have room, and the lengths of those that do not."""
    examples, too_long = [], []
    for item in transitions:
        prompt, answer = encode_transition(item, how, codec, end)
        # An encoder-decoder has positions for each of the two, a decoder for both together.
        length = len(prompt) + len(answer)
        if encoder_decoder:
            length = max(len(prompt), len(answer))
        if length > room or not prompt:
            too_long.append(length)
        else:
            tokens = (np.array(prompt, np.int32), np.array(answer, np.int32))
            examples.append(TokenizedExample(*tokens, depth=depth_of(item)))
    return examples, too_long


def tokenize_rows(
    rows: Sequence[Row], codec: PromptCodec, end: int, room: int, encoder_decoder: bool
) -> tuple[list[TokenizedExample], int]:
    """Tokenize rows of texts; also returns how many were cut.

    Of one that is too long the end is kept, and the token that begins every text.
    """
    examples, num_cut = [], 0
    for number, row in enumerate(rows, start=1):
        prompt, answer = codec.prompt(row.prompt), [*codec.continuation(row.prompt, row.target), end]
        if not prompt:
            raise UserError(f"row {number} has no prompt, which this model needs to begin a text")
        num_tokens = len(prompt) + len(answer)
        # Of a decoder the first token of the prompt stays in any case: an answer has to follow something.
        if encoder_decoder:
            answer = answer[-room:]
            room_for_prompt = room
        else:
            answer = answer[-(room - 1) :]
            room_for_prompt = room - len(answer)
        if len(prompt) > room_for_prompt:
            prompt = [prompt[0], *prompt[len(prompt) - room_for_prompt + 1 :]]
        num_cut += len(prompt) + len(answer) < num_tokens
        examples.append(TokenizedExample(np.array(prompt, np.int32), np.array(answer, np.int32), row.weight))
    return examples, num_cut


def _rows(parts: Sequence[np.ndarray], fill: int, device: torch.device) -> torch.Tensor:
    """Lay rows of tokens side by side, padded on the right: (R, L)."""
    rows_RL = torch.full((len(parts), max(map(len, parts))), fill, dtype=torch.long)
    for row, part in enumerate(parts):
        rows_RL[row, : len(part)] = torch.from_numpy(part)
    return rows_RL.to(device)


NO_TARGET = -100


class Outputs(NamedTuple):
    """What a network says of examples: for the tokens of all answers the logits (N, V), the right tokens (N,), and
    their rows (N,); for each example what its output layer reads at the end of the prompt (R, C), of a decoder."""

    logits_NV: torch.Tensor
    targets_N: torch.Tensor
    rows_N: torch.Tensor
    states_RC: torch.Tensor | None


def answer_logits(model: Any, examples: Sequence[TokenizedExample], pad: int, start: int) -> Outputs:
    """Compute what a network says of examples.

    A decoder reads prompt and answer as one text. An encoder-decoder reads the prompt, and writes the answer behind
    `start`. Raises UserError for a network whose output layer is none of its modules.
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
    texts_RL = _rows(texts, pad, device)
    # As wide as what the output layer reads, also where no answer reaches that far.
    width = texts_RL.shape[1]
    if encoder_decoder:
        width = inputs["decoder_input_ids"].shape[1]
    targets_RL = _rows([*targets, np.full(width, NO_TARGET)], NO_TARGET, device)[:-1]
    # Padding is on the right, where a decoder's tokens do not see it, and an encoder's do but for this mask.
    mask_RL = _rows([np.ones(len(text), np.int64) for text in texts], 0, device)
    chosen_RL = targets_RL != NO_TARGET
    with OutputTap().watching(model, chosen_RL) as tap:
        logits_NV = model(input_ids=texts_RL, attention_mask=mask_RL, **inputs, use_cache=False).logits
    if tap.hidden is None:
        raise UserError(f"{type(model).__name__} has no output layer of its own: it cannot be trained here")
    # Where the answer's first token is predicted from: the network has read all of the state there, and no more.
    states_RC = None
    if not encoder_decoder:
        ends_R = torch.tensor([len(example.prompt) - 1 for example in examples], device=tap.hidden.device)
        states_RC = tap.hidden[torch.arange(len(examples), device=tap.hidden.device), ends_R]
    at_least_fp32 = torch.promote_types(logits_NV.dtype, torch.float32)
    return Outputs(logits_NV.to(at_least_fp32), targets_RL[chosen_RL], chosen_RL.nonzero()[:, 0], states_RC)
