"""Prompts: proof states as tokens, the same in training and inference; and plain text continuation without markers.

Shapes: N rows, T tokens, V tokens that a text may consist of (and EOS).
"""

import logging
import re
import threading
from collections.abc import Sequence

import numpy as np
import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.lean.source import parse_declaration
from nanoproof.lean.types import Theorem
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import RESERVED, Tokenizer

log = logging.getLogger(__name__)

_CHARACTERS_PER_TOKEN = 8
"""More than states have, so that the first try at the end of a long text holds as many tokens as are asked for."""
_LONGEST_TAIL = 1 << 16
_BREAK = re.compile(r"(?<=[!-~])[ \n]")
"""Where any text may be cut without changing the tokens after: a word may begin with a space, but none holds one."""


def prefix_text(state_text: str) -> str:
    """Return the text of a state that is encoded after BOS."""
    return state_text + "\n"


def prompt_tokens(tokenizer: Tokenizer, state_text: str, max_tokens: int) -> list[int]:
    """Encode a state, cut so that it has `max_tokens` with the marker that follows: BOS and the end of the state stay.

    Of a long text only the end is encoded, in time that does not depend on the text's length; see `last_tokens`.
    """
    return [tokenizer.bos, *last_tokens(tokenizer, prefix_text(state_text), max_tokens - 2)]


def last_tokens(tokenizer: Tokenizer, text: str, count: int) -> list[int]:
    """Encode the last `count` tokens of a text.

    They are exactly those of the whole text, unless its last 65,536 characters have no break between words that is
    followed by `count` tokens (no proof state is like that): then they are the tokens of these characters alone.
    """
    if count <= 0:
        return []
    size = _CHARACTERS_PER_TOKEN * count
    longest = max(_LONGEST_TAIL, size)
    while size < min(len(text), longest):
        found = _BREAK.search(text, len(text) - size)
        if found is not None:
            tokens = tokenizer.encode(text[found.start() :])
            if len(tokens) >= count:
                return tokens[-count:]
        size *= 2
    return tokenizer.encode(text[-longest:])[-count:]


# -- Plain text continuation -----------------------------------------------------------------------------------------


@torch.no_grad()
def continuation(model: GPT, tokenizer: Tokenizer, text: str, new_tokens: int, temperature: float, seed: int) -> str:
    """Continue `text`, up to EOS or `new_tokens` tokens; temperature 0 is greedy.

    Every token is one forward pass over all of the text, at one fixed shape: for a few texts by hand. A text too
    long for the model is cut from the left.
    """
    model.eval()
    new_tokens = min(new_tokens, model.config.sequence_len // 2)
    start = [tokenizer.bos, *tokenizer.encode(text)][-(model.config.sequence_len - new_tokens) :]
    length = len(start) + new_tokens
    tokens_1T = torch.full((1, length), tokenizer.pad, device=model.device)
    tokens_1T[0, : len(start)] = torch.tensor(start)
    generator = torch.Generator().manual_seed(seed)
    written: list[int] = []
    for end in range(len(start), length):
        last = torch.tensor([end - 1], device=model.device)
        logits_V = model(tokens_1T, select_N=last)[0, : tokenizer.eos + 1].float().cpu()
        if temperature > 0:
            token = int(torch.multinomial((logits_V / temperature).softmax(-1), 1, generator=generator))
        else:
            token = int(logits_V.argmax())
        if token == tokenizer.eos:
            break
        written.append(token)
        tokens_1T[0, end] = token
    return tokenizer.decode(written)


# -- Whole proofs ----------------------------------------------------------------------------------------------------

ROWS_AT_ONCE = 64
PROOF_MARKER = RESERVED[1]
"""A prompt that ends so asks a network of ours for a whole proof, if it was finetuned on them."""


def proof_prompt(theorem: Theorem) -> str:
    """Write the prompt for a whole proof by a network of ours: the statement without its name, and the marker."""
    found = parse_declaration(theorem.source)
    statement = " ".join(theorem.source[found.head_end : found.assign].split())
    return f"theorem {statement} := by\n{PROOF_MARKER}"


def repair_prompt(theorem: Theorem, text: str, errors: Sequence[str]) -> str:
    """Write the prompt for another whole proof after one that Lean refused: that one and the errors as a comment."""
    said = "\n".join(errors).replace("-/", "- /")
    refused = text.replace("-/", "- /")
    return f"/- This proof is refused:\n{refused}\nLean says:\n{said} -/\n{proof_prompt(theorem)}"


class CheckpointText:
    """A network of ours as a model that continues text, for any number of threads, one at a time.

    It keeps no keys and values: every token is a forward pass over all of the text.
    """

    def __init__(self, name: str, model: GPT, tokenizer: Tokenizer) -> None:
        if model.config.prefix_lm:
            raise UserError(f"{name} reads states both ways (--prefix-lm), and cannot write whole proofs")
        if not model.config.whole_proofs:
            log.warning("%s was not finetuned on whole proofs (sft --continuations proof): it continues the text", name)
        self._name, self._model, self._tokenizer = name, model.eval(), tokenizer
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        """Return the samples of each prompt, in order; a long prompt is cut from the left."""
        found: list[TextSample] = []
        rows = [
            (prompt, seed, number)
            for prompt, seed in zip(prompts, seeds, strict=True)
            for number in range(options.num_samples)
        ]
        with self._lock:
            for start in range(0, len(rows), ROWS_AT_ONCE):
                found += self._sample(rows[start : start + ROWS_AT_ONCE], options)
        count = options.num_samples
        return [found[index * count : (index + 1) * count] for index in range(len(prompts))]

    @torch.no_grad()
    def _sample(self, rows: Sequence[tuple[str, int, int]], options: GenerationOptions) -> list[TextSample]:
        model, tokenizer = self._model, self._tokenizer
        new = min(options.max_new_tokens, model.config.sequence_len // 2)
        starts = [self._start(prompt, model.config.sequence_len - new) for prompt, _, _ in rows]
        randoms = [np.random.default_rng((seed, number)) for _, seed, number in rows]
        tokens_NT = torch.full((len(rows), max(map(len, starts)) + new), tokenizer.pad, device=model.device)
        for row, start in enumerate(starts):
            tokens_NT[row, : len(start)] = torch.tensor(start, device=model.device)
        ends, logprobs = [len(start) for start in starts], [0.0] * len(rows)
        finished, alive = [False] * len(rows), list(range(len(rows)))
        while alive:
            width = max(ends[row] for row in alive)
            select = torch.tensor(
                [index * width + ends[row] - 1 for index, row in enumerate(alive)], device=model.device
            )
            logits_NV = model(tokens_NT[alive, :width], select_N=select)[:, : tokenizer.eos + 1].double().cpu()
            choices = [_draw(logits_V, options, randoms[row]) for logits_V, row in zip(logits_NV, alive, strict=True)]
            for row, choice, logprobs_V in zip(alive, choices, logits_NV.log_softmax(-1), strict=True):
                logprobs[row] += float(logprobs_V[choice])
                finished[row] = choice == tokenizer.eos
                if not finished[row]:
                    tokens_NT[row, ends[row]] = choice
                    ends[row] += 1
            alive = [row for row in alive if not finished[row] and ends[row] < len(starts[row]) + new]
        samples = []
        for row, start in enumerate(starts):
            written = tokens_NT[row, len(start) : ends[row]].tolist()
            text, cut = _up_to(tokenizer.decode(written), options.stop)
            samples.append(TextSample(text, logprobs[row], len(written) + finished[row], finished[row] or cut))
        return samples

    def _start(self, prompt: str, most: int) -> list[int]:
        """Encode a prompt, with its marker, in at most so many tokens."""
        text = prompt.removesuffix(PROOF_MARKER)
        marker = [self._tokenizer.proof] if text != prompt and self._model.config.whole_proofs else []
        return [self._tokenizer.bos, *last_tokens(self._tokenizer, text, most - 1 - len(marker)), *marker]

    def score(self, prompt: str, continuation: str) -> float:
        """Not offered yet: raises UserError."""
        raise UserError(f"{self.name}: scores of texts are not offered")

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Not offered yet: raises UserError."""
        raise UserError(f"{self.name}: embeddings of texts are not offered")

    def close(self) -> None:
        """Do nothing: the network belongs to the caller."""


def _draw(logits_V: torch.Tensor, options: GenerationOptions, random: np.random.Generator) -> int:
    """Draw a token, the likeliest ones that have `top_p` of the probability only."""
    if options.temperature == 0:
        return int(logits_V.argmax())
    order = torch.argsort(logits_V, descending=True)
    cumulated = (logits_V[order] / options.temperature).softmax(-1).cumsum(-1).numpy()
    within = int(np.searchsorted(cumulated, options.top_p)) + 1
    most = cumulated[min(within, len(cumulated)) - 1]
    return int(order[min(int(np.searchsorted(cumulated, random.random() * most, side="right")), within - 1)])


def _up_to(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """Return a text before the first of the stop texts, and whether there was one."""
    found = [at for word in stop if (at := text.find(word)) >= 0]
    return (text[: min(found)], True) if found else (text, False)
