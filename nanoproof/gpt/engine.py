"""Inference: many states at once, each read once, with several samples and the value read-out sharing what was read.

Shapes: S states, K slots (samples that are being written) of a state, R rows (all samples of the batch), T tokens to
generate, P columns of the prompts, V tokens that a tactic may consist of (text and EOS), C width.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from nanoproof.gpt.kv_cache import DecodeAttention, KVCache, KVStorage, PrefillAttention
from nanoproof.gpt.model import GPT
from nanoproof.gpt.sampling import Noise, SamplingOptions, first_tokens, next_tokens
from nanoproof.gpt.tokenizer import Tokenizer

# A new prefill group starts where prompts are shorter than this share of the group's longest.
GROUP_SHARE = 0.6
# Finished samples leave the batch when at most this share of its rows would remain.
COMPACT_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Sample:
    """Text tokens up to EOS, and the log-probability of all of it (EOS included) at temperature 1.

    The distribution is the model's over text tokens and EOS: markers cannot be sampled and do not count.
    """

    tokens: list[int]
    logprob: float


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model says about one prompt: finished samples, how many did not end in time, and the value's bins."""

    samples: list[Sample]
    num_unfinished: int
    value_distribution: list[float]

    @property
    def value(self) -> float:
        """Expected number of tactics; the first bin stands for 1."""
        return sum(tactics * p for tactics, p in enumerate(self.value_distribution, start=1))


class Engine:
    """Answers batches of prompts with one model. Not thread-safe: one caller at a time."""

    def __init__(self, model: GPT, tokenizer: Tokenizer) -> None:
        assert tokenizer.eos == tokenizer.num_text_tokens, "EOS must follow the text tokens"
        self.model = model
        self.tokenizer = tokenizer
        self._storage = KVStorage(model.compute_dtype, model.device)

    @torch.inference_mode()
    def generate(
        self, prompts: Sequence[list[int]], options: SamplingOptions, seeds: Sequence[int]
    ) -> list[Completion]:
        """Answer each prompt (BOS and state, no marker); `seeds[i]` alone determines the noise of `prompts[i]`.

        Raises ValueError if a prompt is empty or leaves no room for `max_new_tokens`, and FloatingPointError if the
        model's output is not finite.
        """
        room = self.model.config.sequence_len - options.max_new_tokens
        for prompt in prompts:
            if not 0 < len(prompt) <= room:
                raise ValueError(f"prompts must have 1 to {room} tokens, got {len(prompt)}")
        if not prompts:
            return []
        order = sorted(range(len(prompts)), key=lambda index: -len(prompts[index]))
        prefill = _Prefill(self.model, self.tokenizer, [prompts[i] for i in order], options, self._storage)
        logits_SV, values = prefill.run()
        if not logits_SV.isfinite().all():
            self._storage.clear()
            raise FloatingPointError("the model's output is not finite")
        noise = Noise.draw([seeds[i] for i in order], self.tokenizer.eos + 1, options, self.model.device)
        decoding = _Decoding(self.model, prefill, noise, options, self.tokenizer.eos)
        decoding.run(logits_SV)
        answers = dict(zip(order, decoding.completions(values.tolist())))
        return [answers[index] for index in range(len(prompts))]


class _Prefill:
    """Reads the prompts of a batch (longest first) into a new cache."""

    def __init__(
        self,
        model: GPT,
        tokenizer: Tokenizer,
        prompts: list[list[int]],
        options: SamplingOptions,
        storage: KVStorage,
    ) -> None:
        self.model, self.tokenizer, self.prompts = model, tokenizer, prompts
        self.num_columns = len(prompts[0]) + 2
        total = self.num_columns + (options.max_new_tokens - 1) * options.num_samples
        self.cache = KVCache(model.config, storage, len(prompts), options.num_samples, total)
        self.lengths_S = torch.tensor([len(prompt) for prompt in prompts], device=model.device)

    def run(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (S, V) of the first token of a tactic, and the value distribution (S, 64)."""
        hidden_S2C = torch.cat([self._read(start, stop) for start, stop in self._groups()])
        columns = torch.arange(self.num_columns, device=self.model.device)
        seen_SP = columns >= self.num_columns - 2 - self.lengths_S.unsqueeze(1)
        seen_SP[:, -2] = False  # `<|value|>` is a branch of its own
        self.cache.open_prompts(seen_SP)
        bins = slice(self.tokenizer.bins[0], self.tokenizer.bins[-1] + 1)
        values = self.model.logits(hidden_S2C[:, 0], bins).softmax(dim=-1)
        return self.model.logits(hidden_S2C[:, 1], slice(self.tokenizer.eos + 1)), values

    def _groups(self) -> list[tuple[int, int]]:
        """Ranges of prompts that are padded to one length."""
        starts = [0]
        for index, prompt in enumerate(self.prompts):
            if len(prompt) < GROUP_SHARE * len(self.prompts[starts[-1]]):
                starts.append(index)
        return list(zip(starts, [*starts[1:], len(self.prompts)]))

    def _read(self, start: int, stop: int) -> torch.Tensor:
        """Read some prompts; final activations (S, 2, C) at `<|value|>` and `<|tactic|>`, which stand side by side."""
        width, device = len(self.prompts[start]) + 2, self.model.device
        markers = [self.tokenizer.value, self.tokenizer.tactic]
        rows = [[self.tokenizer.pad] * (width - 2 - len(p)) + p + markers for p in self.prompts[start:stop]]
        lengths_S1 = self.lengths_S[start:stop].unsqueeze(1)
        # Padding has negative positions; both markers have the position after the prompt.
        positions_SP = torch.minimum(torch.arange(width, device=device) - (width - 2 - lengths_S1), lengths_S1)
        mask_PP = torch.ones(width, width, dtype=torch.bool, device=device).tril()
        mask_PP[-1, -2] = False
        own_PP = torch.eye(width, dtype=torch.bool, device=device)
        mask_SPP = (mask_PP & (positions_SP >= 0).unsqueeze(1)) | own_PP
        columns = slice(self.num_columns - width, self.num_columns)
        self.cache.positions_SN[start:stop, columns] = positions_SP
        positions_SP = positions_SP.clamp(min=0)
        attention = PrefillAttention(self.model.config, self.cache, slice(start, stop), columns, positions_SP, mask_SPP)
        return self.model.trunk(torch.tensor(rows, device=device), positions_SP, attention)


class _Decoding:
    """The samples of a batch while they are written: slot k of state s is one sample, and finished ones leave."""

    def __init__(self, model: GPT, prefill: _Prefill, noise: Noise, options: SamplingOptions, eos: int) -> None:
        self.model, self.cache, self.noise, self.options, self.eos = model, prefill.cache, noise, options, eos
        states, samples, steps, device = len(prefill.prompts), options.num_samples, options.max_new_tokens, model.device
        self.longest = len(prefill.prompts[0])
        # The row of each slot's sample; a slot whose sample has finished writes to the spare last row.
        self.rows_SK = torch.arange(states * samples, device=device).view(states, samples)
        self.spare = states * samples
        self.positions_SK = prefill.lengths_S.unsqueeze(1).expand(states, samples) + 1
        self.tokens_TR = torch.full((steps, states * samples + 1), eos, device=device)
        self.logprobs_TR = torch.zeros(steps, states * samples + 1, device=device)
        self.uniforms_TR = torch.cat([noise.uniforms_TSK.flatten(1), torch.zeros(steps, 1, device=device)], dim=1)

    def run(self, logits_SV: torch.Tensor) -> None:
        """Write all samples, from the logits at `<|tactic|>` until EOS or the limit."""
        attention = DecodeAttention(self.model, self.cache)
        tempered_SV = logits_SV / self.options.temperature
        tokens_SK = first_tokens(tempered_SV, self.noise.arrivals_SVC, self.options.num_samples)
        logprobs_SK = logits_SV.log_softmax(dim=-1).gather(1, tokens_SK)
        for step in range(self.options.max_new_tokens):
            if step > 0:
                attention.open_step(self.positions_SK, self.longest + step)
                hidden_SKC = self.model.trunk(tokens_SK, self.positions_SK, attention)
                tokens_SK, logprobs_SK = self._sample(hidden_SKC, step)
                self.positions_SK = self.positions_SK + 1
            self.tokens_TR[step, self.rows_SK] = tokens_SK
            self.logprobs_TR[step, self.rows_SK] = logprobs_SK
            tokens_SK = self._drop_finished(tokens_SK)
            if not len(tokens_SK):
                return

    def _sample(self, hidden_SKC: torch.Tensor, step: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The next token of each slot and its log-probability at temperature 1."""
        logits_RV = self.model.logits(hidden_SKC.flatten(0, 1), slice(self.eos + 1))
        probabilities_RV = logits_RV.softmax(dim=-1)
        temperature = self.options.temperature
        tempered_RV = probabilities_RV if temperature == 1.0 else (logits_RV / temperature).softmax(dim=-1)
        tokens_R = next_tokens(tempered_RV, self.uniforms_TR[step, self.rows_SK.flatten()])
        logprobs_R = probabilities_RV.gather(1, tokens_R.unsqueeze(1)).log()
        return tokens_R.view_as(self.rows_SK), logprobs_R.view_as(self.rows_SK)

    def _drop_finished(self, tokens_SK: torch.Tensor) -> torch.Tensor:
        """Let finished slots write to the spare row, shrink the batch where that pays; the tokens of what stays."""
        self.rows_SK = self.rows_SK.masked_fill(tokens_SK == self.eos, self.spare)
        alive_SK = self.rows_SK != self.spare
        alive = alive_SK.sum(dim=1).tolist()
        kept = [state for state, count in enumerate(alive) if count]
        slots = max(alive)
        if len(kept) * slots > COMPACT_SHARE * alive_SK.numel():
            return tokens_SK
        # Live slots come first in every state, and states from the end fill the gaps of those that are done.
        order_SK = alive_SK.to(torch.uint8).argsort(dim=1, descending=True, stable=True)[:, :slots]
        self.cache.reorder_slots(order_SK)
        movers = iter([state for state in kept if state >= len(kept)])
        order_S = [state if alive[state] else next(movers) for state in range(len(kept))]
        self.cache.reorder_states(order_S)
        self.rows_SK, self.positions_SK, tokens_SK = (
            x.gather(1, order_SK)[order_S] for x in (self.rows_SK, self.positions_SK, tokens_SK)
        )
        return tokens_SK

    def completions(self, values: list[list[float]]) -> list[Completion]:
        """The answers in the batch's order."""
        samples = self.options.num_samples
        rows = self.tokens_TR[:, :-1].T.tolist()
        logprobs = self.logprobs_TR[:, :-1].sum(dim=0).tolist()
        answers = []
        for state, value in enumerate(values):
            numbers = range(state * samples, (state + 1) * samples)
            ended = [row for row in numbers if self.eos in rows[row]]
            finished = [Sample(rows[row][: rows[row].index(self.eos)], logprobs[row]) for row in ended]
            answers.append(Completion(finished, samples - len(finished), value))
        return answers
