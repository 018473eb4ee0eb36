"""Plain text in, plain text out: what a language model writes behind a text, without any marker.

Shapes: T tokens, V tokens that a text may consist of (and EOS).
"""

import torch

from nanoproof.gpt.model import GPT
from nanoproof.gpt.tokenizer import Tokenizer


@torch.no_grad()
def continuation(model: GPT, tokenizer: Tokenizer, text: str, new_tokens: int, temperature: float, seed: int) -> str:
    """What follows `text`, up to its end or `new_tokens` tokens; temperature 0 takes the likeliest token each time.

    Every token is one pass over all of the text, at one fixed shape: for people who try a few texts, not for work. A
    text too long for the model is cut from the left.
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
