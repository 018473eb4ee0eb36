"""Plain text that a network of ours continues, without markers.

Shapes: T tokens, V tokens that a text may consist of (and EOS).
"""

import torch

from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer


@torch.no_grad()
def continuation(model: GPT, tokenizer: Tokenizer, text: str, new_tokens: int, temperature: float, seed: int) -> str:
    """Continue `text`, up to EOS or `new_tokens` tokens; temperature 0 is greedy.

    Every token is one forward pass over all of the text, at one fixed shape: for a few texts by hand. A text too
    long for the model is cut from the left.
    """
    model.eval()
    # At least half of the context is for the text: else a large `new_tokens` would cut all of it away.
    new_tokens = min(new_tokens, model.config.sequence_len // 2)
    start = [tokenizer.bos, *tokenizer.encode(text)][-(model.config.sequence_len - new_tokens) :]
    length = len(start) + new_tokens
    tokens_1T = torch.full((1, length), tokenizer.pad, device=model.device)
    tokens_1T[0, : len(start)] = torch.tensor(start)
    generator = torch.Generator().manual_seed(seed)
    written: list[int] = []
    for end in range(len(start), length):
        last = torch.tensor([end - 1], device=model.device)
        # Up to EOS: the tokens behind it are markers and padding, which no text consists of.
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
