"""What a model makes of a few beginnings of texts, to be read by people while it trains.

Shapes: P prompts, T tokens.
"""

import torch

from nanoproof.gpt.model import GPT
from nanoproof.gpt.tokenizer import Tokenizer

PROMPTS = (
    "The derivative of x^2 with respect to x is",
    "If 3x + 5 = 20, then x is",
    "A prime number is a natural number that",
    "theorem add_comm (a b : ℕ) : a + b = b + a := by",
    "theorem and_swap (p q : Prop) (h : p ∧ q) : q ∧ p := by",
)
NEW_TOKENS = 24


@torch.no_grad()
def greedy_texts(model: GPT, tokenizer: Tokenizer, prompts: tuple[str, ...] = PROMPTS) -> list[str]:
    """The most likely continuation of each prompt, up to the end of the text or `NEW_TOKENS` tokens.

    All prompts go through the network together and at one fixed shape. Where the model has too few positions, prompts
    are cut from the left, and what is written takes half of the places at most.
    """
    model.eval()
    length = min(model.config.sequence_len, 128)
    new_tokens = min(NEW_TOKENS, length // 2)
    encoded = [[tokenizer.bos, *tokenizer.encode(prompt)][-(length - new_tokens) :] for prompt in prompts]
    tokens_PT = torch.full((len(prompts), length), tokenizer.pad, device=model.device)
    for row, tokens in enumerate(encoded):
        tokens_PT[row, : len(tokens)] = torch.tensor(tokens)
    ends_P = torch.tensor([len(tokens) for tokens in encoded], device=model.device)
    rows_P = torch.arange(len(prompts), device=model.device)
    for _ in range(new_tokens):
        logits_PV = model(tokens_PT, select_N=rows_P * length + ends_P - 1)
        tokens_PT[rows_P, ends_P] = logits_PV[:, : tokenizer.eos + 1].argmax(dim=-1)
        ends_P += 1
    written = [row[start:] for row, start in zip(tokens_PT.tolist(), map(len, encoded))]
    return [tokenizer.decode(_until(row[:new_tokens], tokenizer.eos)) for row in written]


def _until(tokens: list[int], end: int) -> list[int]:
    return tokens[: tokens.index(end)] if end in tokens else tokens
