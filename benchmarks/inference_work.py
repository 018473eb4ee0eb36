"""The workload of the inference benchmark: the network, the prompts, and the engine kept busy with them.

Prompts are random tokens: speed does not depend on what is read. Random weights would hardly ever end a sample; one
feature is made constant and ends them as likely as asked for.
"""

import itertools
import random
import string
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from benchmarks.hardware import synchronize
from benchmarks.inference_options import Load, NetworkSize, end_logit
from nanoproof.common.distributed import DistInfo
from nanoproof.common.run_dir import resolve_model_path
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import Completion, SamplingOptions
from nanoproof.model.checkpoint import load_model
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import BYTE_OF_CHARACTER, MARKERS, SYMBOLS, Tokenizer, make_text_tokenizer


@dataclass(frozen=True)
class Network:
    """A model with its tokenizer, and how it was come by."""

    model: GPT
    tokenizer: Tokenizer
    source: str


def made_up_tokenizer(vocab_size: int) -> Tokenizer:
    """Make a vocabulary of this size without training: syllables such as `Ka`, and pairs of them."""
    vocab = {character: byte for byte, character in enumerate(BYTE_OF_CHARACTER)}
    syllables = list(itertools.product(string.ascii_uppercase, string.ascii_lowercase))
    pairs = itertools.permutations(map("".join, syllables), 2)
    num_merges = vocab_size - len(vocab) - len(SYMBOLS) - len(MARKERS)
    merges: list[tuple[str, str]] = [*syllables, *itertools.islice(pairs, num_merges - len(syllables))]
    for left, right in merges:
        vocab[left + right] = len(vocab)
    return Tokenizer(make_text_tokenizer(vocab, merges, "lean", SYMBOLS))


def random_network(size: NetworkSize, sequence_len: int, dist: DistInfo) -> Network:
    """Return fresh weights that end a sample with the given probability at each token."""
    tokenizer = made_up_tokenizer(size.vocab_size)
    torch.manual_seed(0)
    shape = {**vars(size.network), "sequence_len": sequence_len, "window_pattern": "L"}
    config = GPTConfig(vocab_size=tokenizer.vocab_size, **shape)
    model = GPT.create(config, dist.device, dist.dtype)
    with torch.no_grad():
        model.embedding.weight[:, 0] = 1.0
        model.head.weight[tokenizer.eos, 0] = end_logit(size.end_probability, tokenizer.eos)
    return Network(model, tokenizer, "random weights")


def open_network(model_path: str | None, size: NetworkSize, load: Load, dist: DistInfo) -> Network:
    """Open the network of `model_path`, or a random one. Raises UserError if it cannot be loaded."""
    if model_path is None:
        return random_network(size, load.max_prompt_tokens + load.max_new_tokens + 2, dist)
    path = resolve_model_path(model_path)
    model, tokenizer, _ = load_model(path, dist.device, dist.dtype)
    return Network(model, tokenizer, str(path))


def random_prompts(load: Load, tokenizer: Tokenizer, rng: random.Random, count: int) -> list[list[int]]:
    """Return prompts of random tokens."""
    prompts = []
    for _ in range(count):
        length = rng.randint(load.min_prompt_tokens, load.max_prompt_tokens)
        prompts.append([tokenizer.bos, *(rng.randrange(tokenizer.num_text_tokens) for _ in range(length - 1))])
    return prompts


def sample_lengths(completion: Completion, options: SamplingOptions) -> list[int]:
    """Return how many tokens each sample of an answer took, its end included."""
    lengths = [len(sample.tokens) + 1 for sample in completion.samples]
    # Those that did not end are left out of the answer; they took as many tokens as there may be.
    return lengths + [options.max_new_tokens] * completion.num_unfinished


def random_states(load: Load, tokenizer: Tokenizer, rng: random.Random) -> Iterator[str]:
    """Yield texts whose prompts have about as many tokens as asked for, without end."""
    first, last = len(BYTE_OF_CHARACTER), tokenizer.num_text_tokens
    while True:
        length = rng.randint(load.min_prompt_tokens, load.max_prompt_tokens) - 2  # without BOS and line break
        text = " ".join(tokenizer.describe(rng.randrange(first, last)) for _ in range(length))
        yield tokenizer.decode(tokenizer.encode(text)[:length])


@dataclass(frozen=True)
class Turn:
    """One round of one way."""

    states: int
    tokens: int
    """Tokens of all samples."""
    seconds: float
    processor_seconds: float
    latencies: list[float]
    """Seconds from asking for a state until its answer."""


class Stopwatch:
    """Time of the clock and of the processor; waits for the device at both ends."""

    def __init__(self, device: torch.device) -> None:
        # What a device was asked for before must be done, and what it is asked for now, too.
        self._device = device
        synchronize(device)
        self._started, self._used = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Return the seconds so far: by the clock, by the processor."""
        synchronize(self._device)
        return time.perf_counter() - self._started, time.process_time() - self._used


def keep_in_flight(engine: Engine, prompts: list[list[int]], options: SamplingOptions, in_flight: int) -> Turn:
    """Answer all prompts, of which `in_flight` are with the engine at a time: when one ends, the next comes."""
    stopwatch = Stopwatch(engine.model.device)
    waiting = list(reversed(list(enumerate(prompts))))
    asked: dict[int, float] = {}
    latencies, tokens = [], 0
    while waiting or not engine.idle:
        while waiting and len(asked) < in_flight:
            seed, prompt = waiting.pop()
            asked[id(engine.submit(prompt, options, seed))] = time.perf_counter()
        for request in engine.step():
            latencies.append(time.perf_counter() - asked.pop(id(request)))
            if request.error is not None:
                raise request.error
            assert request.completion is not None
            tokens += sum(sample_lengths(request.completion, options))
    return Turn(len(prompts), tokens, *stopwatch.read(), latencies)
