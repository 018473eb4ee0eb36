"""Inference: many states at once, each read once, with several samples and the value read-out sharing what was read.

Shapes: S states, K samples of a state, M samples of the batch, R rows (tokens that are computed together), T tokens to
generate, V tokens that a tactic may consist of (text and EOS), C width.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from nanoproof.gpt.batching.request import Completion, EngineLimits, EngineRequest, EngineStats, Sample
from nanoproof.gpt.kv_cache import DecodeAttention, KVCache, KVStorage, PrefillAttention
from nanoproof.gpt.model import GPT
from nanoproof.gpt.sampling import Noise, SamplingOptions, first_tokens, next_tokens
from nanoproof.gpt.tokenizer import Tokenizer

# The cache is regrouped when at most this share of its slots would remain.
REGROUP_SHARE = 0.8


class Engine:
    """Answers requests with one model. Not thread-safe: one thread drives it.

    Where the model computes in another dtype than fp32, the engine works on a copy of the weights in that dtype, so
    that no step has to convert them: call `refresh` when the weights have changed.
    """

    def __init__(self, model: GPT, tokenizer: Tokenizer, limits: EngineLimits | None = None) -> None:
        assert tokenizer.eos == tokenizer.num_text_tokens, "EOS must follow the text tokens"
        self.model = model
        self.tokenizer = tokenizer
        self.limits = limits or EngineLimits()
        self._waiting: deque[EngineRequest] = deque()
        self._stats = EngineStats()
        self._storage = KVStorage(model.compute_dtype, model.device)
        self._network = model
        if model.compute_dtype != torch.float32:
            self._network = GPT.allocate(model.config, model.device, model.compute_dtype).requires_grad_(False)
            for parameter in self._network.parameters():
                parameter.data = parameter.data.to(model.compute_dtype)
        self.refresh()

    @property
    def num_waiting(self) -> int:
        """Requests that were not begun."""
        return len(self._waiting)

    @property
    def num_active(self) -> int:
        """Requests that are being decoded."""
        return 0

    @property
    def idle(self) -> bool:
        return not self._waiting

    @property
    def stats(self) -> EngineStats:
        return self._stats

    def decisions(self) -> dict[str, str]:
        """What was chosen from the surroundings, each with its reason."""
        return {"engine_attention": "grid of states and samples (shared keys and values)"}

    @torch.no_grad()
    def refresh(self) -> None:
        """Take over the model's present weights. Only when idle."""
        assert self.idle, "refresh while requests are in work"
        if self._network is not self.model:
            for ours, theirs in zip(self._network.parameters(), self.model.parameters(), strict=True):
                ours.copy_(theirs)

    def submit(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> EngineRequest:
        """Queue a prompt (BOS and state, no marker); `seed` alone determines the noise of its samples.

        Raises ValueError if the prompt is empty or leaves no room for `max_new_tokens`.
        """
        room = self.model.config.sequence_len - options.max_new_tokens
        if not 0 < len(prompt) <= room:
            raise ValueError(f"prompts must have 1 to {room} tokens, got {len(prompt)}")
        request = EngineRequest(prompt, options, seed)
        self._waiting.append(request)
        self._stats = replace(self._stats, submitted=self._stats.submitted + 1)
        return request

    def cancel(self, request: EngineRequest) -> None:
        """Forget a request, wherever it is; nothing happens if it has ended."""
        if not request.ended:
            request.cancelled = True
            self._waiting = deque(other for other in self._waiting if other is not request)
            self._stats = replace(self._stats, cancelled=self._stats.cancelled + 1)

    def step(self) -> list[EngineRequest]:
        """Do some work; returns the requests that ended with it, their `completion` or `error` set."""
        if not self._waiting:
            return []
        options = self._waiting[0].options
        batch = [request for request in self._waiting if request.options == options]
        self._waiting = deque(request for request in self._waiting if request.options != options)
        self._answer(batch, options)
        return batch

    def _answer(self, batch: list[EngineRequest], options: SamplingOptions) -> None:
        try:
            answers = self._compute([list(r.prompt) for r in batch], options, [r.seed for r in batch])
        except FloatingPointError as error:
            if len(batch) == 1:
                batch[0].error = error
                self._stats = replace(self._stats, failed=self._stats.failed + 1)
                return
            for request in batch:
                self._answer([request], options)
            return
        for request, answer in zip(batch, answers, strict=True):
            request.completion = answer
        self._stats = replace(self._stats, completed=self._stats.completed + len(batch))

    def generate(
        self, prompts: Sequence[Sequence[int]], options: SamplingOptions, seeds: Sequence[int]
    ) -> list[Completion]:
        """Answer each prompt; `seeds[i]` alone determines the noise of `prompts[i]`.

        Raises ValueError if a prompt is empty or leaves no room for `max_new_tokens`, and FloatingPointError if the
        model's output is not finite.
        """
        requests = [self.submit(prompt, options, seed) for prompt, seed in zip(prompts, seeds, strict=True)]
        while not all(request.ended for request in requests):
            self.step()
        answers = []
        for request in requests:
            if request.error is not None:
                raise request.error
            assert request.completion is not None
            answers.append(request.completion)
        return answers

    @torch.inference_mode()
    def _compute(
        self, prompts: Sequence[list[int]], options: SamplingOptions, seeds: Sequence[int]
    ) -> list[Completion]:
        order = sorted(range(len(prompts)), key=lambda index: -len(prompts[index]))
        lengths = [len(prompts[index]) for index in order]
        columns = lengths[0] + 2 + (options.max_new_tokens - 1) * options.num_samples
        cache = KVCache(self.model.config, self._storage, len(prompts), options.num_samples, columns)
        logits_SV, values = self._prefill([prompts[index] for index in order], cache)
        if not logits_SV.isfinite().all():
            self._storage.clear()
            raise FloatingPointError("the model's output is not finite")
        noise = Noise.draw([seeds[index] for index in order], self.tokenizer.eos + 1, options, self.model.device)
        decoding = _Decoding(self._network, cache, lengths, noise, self.tokenizer.eos)
        decoding.run(logits_SV, options.temperature)
        answers = dict(zip(order, decoding.completions(values.tolist())))
        return [answers[index] for index in range(len(prompts))]

    def _prefill(self, prompts: list[list[int]], cache: KVCache) -> tuple[torch.Tensor, torch.Tensor]:
        """Read prompts (longest first): logits (S, V) of a tactic's first token, and value distributions (S, 64)."""
        attention = PrefillAttention(self.model.config, cache, [len(prompt) for prompt in prompts])
        tokens = [token for prompt in prompts for token in prompt]
        tokens += [self.tokenizer.value, self.tokenizer.tactic] * len(prompts)
        tokens_1R = torch.tensor([tokens], device=self.model.device)
        hidden_1RC = self._network.trunk(tokens_1R, attention.positions_R.unsqueeze(0), attention)
        cache.open_prompts(attention.seen_SP)
        hidden_S2C = hidden_1RC.unflatten(1, (len(prompts), 2))[0]
        bins = slice(self.tokenizer.bins[0], self.tokenizer.bins[-1] + 1)
        values = self._network.logits(hidden_S2C[:, 0], bins).softmax(dim=-1)
        return self._network.logits(hidden_S2C[:, 1], slice(self.tokenizer.eos + 1)), values


class _Decoding:
    """The samples of a batch while they are written: a row is a sample that goes on, and finished ones leave."""

    def __init__(self, model: GPT, cache: KVCache, lengths: list[int], noise: Noise, eos: int) -> None:
        self.model, self.cache, self.noise, self.eos = model, cache, noise, eos
        steps, states, samples = noise.uniforms_TSK.shape
        self.longest = lengths[0]
        self.uniforms_TM = noise.uniforms_TSK.flatten(1)
        # For each row: the number of its sample in the batch, its place in the cache, and its next token's position.
        self.sample_R = np.arange(states * samples)
        self.state_R, self.slot_R = np.divmod(self.sample_R, samples)
        self.position_R = np.array(lengths)[self.state_R] + 1
        self.tokens_TM = np.full((steps, states * samples), eos)
        self.logprobs_TM = np.zeros((steps, states * samples))

    def run(self, logits_SV: torch.Tensor, temperature: float) -> None:
        """Write all samples, from the logits at `<|tactic|>` until EOS or the limit."""
        attention = DecodeAttention(self.model.config, self.cache)
        steps, _, samples = self.noise.uniforms_TSK.shape
        tokens_SK = first_tokens(logits_SV / temperature, self.noise.arrivals_SVC, samples)
        tokens_R = tokens_SK.flatten()
        self._record(0, tokens_R, logits_SV.log_softmax(dim=-1).gather(1, tokens_SK).flatten())
        for step in range(1, steps):
            tokens_R = self._drop_finished(step - 1, tokens_R)
            if not len(tokens_R):
                return
            states_R, slots_R, positions_R, samples_R = (
                torch.from_numpy(x).to(tokens_R.device)
                for x in (self.state_R, self.slot_R, self.position_R, self.sample_R)
            )
            attention.open_step(states_R, slots_R, positions_R, self.longest + step)
            hidden_1RC = self.model.trunk(tokens_R.unsqueeze(0), positions_R.unsqueeze(0), attention)
            tokens_R, logprobs_R = self._sample(hidden_1RC[0], self.uniforms_TM[step, samples_R], temperature)
            self._record(step, tokens_R, logprobs_R)
            self.position_R = self.position_R + 1

    def _sample(
        self, hidden_RC: torch.Tensor, uniforms_R: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The next token of each row and its log-probability at temperature 1."""
        logits_RV = self.model.logits(hidden_RC, slice(self.eos + 1))
        probabilities_RV = logits_RV.softmax(dim=-1)
        tempered_RV = probabilities_RV if temperature == 1.0 else (logits_RV / temperature).softmax(dim=-1)
        tokens_R = next_tokens(tempered_RV, uniforms_R)
        return tokens_R, probabilities_RV.gather(1, tokens_R.unsqueeze(1)).squeeze(1).log()

    def _record(self, step: int, tokens_R: torch.Tensor, logprobs_R: torch.Tensor) -> None:
        self.tokens_TM[step, self.sample_R] = tokens_R.cpu().numpy()
        self.logprobs_TM[step, self.sample_R] = logprobs_R.cpu().numpy()

    def _drop_finished(self, step: int, tokens_R: torch.Tensor) -> torch.Tensor:
        """Keep the rows that have not ended, in the order of their places in the cache; returns their tokens."""
        kept = np.flatnonzero(self.tokens_TM[step, self.sample_R] != self.eos)
        if len(kept) == len(tokens_R):
            return tokens_R
        state_R, slot_R = self.state_R[kept], self.slot_R[kept]
        if len(kept):
            most_slots, num_states = np.bincount(state_R).max(), len(np.unique(state_R))
            if most_slots * num_states <= REGROUP_SHARE * self.cache.num_slots * self.cache.num_states:
                state_R, slot_R = self.cache.regroup(state_R, slot_R)
                order = np.lexsort((slot_R, state_R))
                kept, state_R, slot_R = kept[order], state_R[order], slot_R[order]
        self.state_R, self.slot_R = state_R, slot_R
        self.sample_R, self.position_R = self.sample_R[kept], self.position_R[kept]
        return tokens_R[torch.from_numpy(kept).to(tokens_R.device)]

    def completions(self, values: list[list[float]]) -> list[Completion]:
        """The answers in the batch's order."""
        samples = self.noise.uniforms_TSK.shape[2]
        rows, logprobs = self.tokens_TM.T.tolist(), self.logprobs_TM.sum(axis=0).tolist()
        answers = []
        for state, value in enumerate(values):
            numbers = range(state * samples, (state + 1) * samples)
            ended = [row for row in numbers if self.eos in rows[row]]
            finished = [Sample(rows[row][: rows[row].index(self.eos)], logprobs[row]) for row in ended]
            answers.append(Completion(finished, samples - len(finished), value))
        return answers
