"""The inference engine: requests join and leave a continuously decoded batch; memory and rows decide who is admitted.

A prompt is prefilled once (`prefill.py`); all its samples and the value read-out share its slots of the KV cache
(`kv_cache.py`) and are decoded step by step with those of other requests (`batch_decoder.py`, `decode.py`).
"""

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from nanoproof.inference.batch_decoder import BatchDecoder, Launched
from nanoproof.inference.batch_invariance import check_batch_invariance
from nanoproof.inference.cuda_graphs import CudaRecorder, RecordedSteps, Recorder
from nanoproof.inference.decode import GroupInfo, fused_or_not, split_samples
from nanoproof.inference.kv_cache import KVCache, SlotSize, cache_budget
from nanoproof.inference.prefill import PrefillJob, PrefillMasks, PrefixCache, prefill
from nanoproof.inference.sampling import Completion, EngineLimits, EngineRequest, EngineStats, Sample, SamplingOptions
from nanoproof.model.flash_attention import Kernel, flash_kernel, missing_for_flash
from nanoproof.model.gpt import GPT
from nanoproof.model.lora import merged_parameters, settings_of, share_frozen
from nanoproof.model.tokenizer import Tokenizer

log = logging.getLogger(__name__)

CPU_ROWS, CUDA_ROWS = 192, 1024
"""Samples that are decoded at a time. A CPU gains nothing by more."""
CPU_PREFILL, CUDA_PREFILL = 1024, 8192
"""Tokens of prompts that are prefilled at a time; one prompt may have more."""
CPU_COLUMNS, CUDA_COLUMNS = 64, 256
"""Slots come in multiples of so many columns: little padding on a CPU, few kernels on a GPU."""
CPU_SLOTS, CUDA_SLOTS = 4, 32
"""Slots of a size that are made at first. Recordings are lost when more are made."""
ADMITTED_SHARE = 1 / 8
"""New requests are admitted when this share of the rows is free, so that several are prefilled at once."""
MIN_TEMPERATURE, MAX_TEMPERATURE = 1e-6, 1e6
"""Beyond, samples are as good as greedy or uniform, and somewhere beyond a number overflows fp32."""
MOST_FAILED_RESETS = 3


@dataclass
class _ActiveRequest:
    """What belongs to a request that is being decoded."""

    groups: list[int]
    unfinished_groups: set[int] = field(default_factory=set)
    value_distribution: list[float] | None = None


class Engine:
    """Answers requests with one model. Not thread-safe: one thread drives it.

    Where the model computes in another dtype than fp32, the engine works on a copy of the weights in that dtype, so
    that no step has to convert them: call `refresh` when the weights have changed. Adapters are merged: of the
    matrices that have some it works on a copy, too. With `own_weights` it works on a copy of all that is trained, so
    that the model may be trained meanwhile.
    """

    def __init__(
        self,
        model: GPT,
        tokenizer: Tokenizer,
        limits: EngineLimits | None = None,
        *,
        recorder: Recorder | None = None,
        kernel: Kernel | None = None,
        read_late: bool | None = None,
        own_weights: bool = False,
    ) -> None:
        """By default `recorder`, `kernel` (of prefill) and `read_late` (a step is launched before the last one is read)
        are what suits the device.

        Raises ValueError if CUDA graphs or kernels are asked for where there are none, or if batch-invariant results
        cannot be had.
        """
        assert tokenizer.eos == tokenizer.num_text_tokens, "EOS must follow the text tokens"
        self.model = model
        self.tokenizer = tokenizer
        self.limits = limits or EngineLimits()
        on_cuda = model.device.type == "cuda"
        self._network = model
        adapted = settings_of(model) is not None
        if own_weights or adapted or model.compute_dtype != torch.float32:
            self._network = GPT.allocate(model.config, model.device, model.compute_dtype).requires_grad_(False)
            for parameter in self._network.parameters():
                parameter.data = parameter.data.to(model.compute_dtype)
            if adapted and model.compute_dtype == torch.float32:
                share_frozen(self._network, model)
        self._copy_weights()
        self._fused, self._kernels_reason = fused_or_not(self._network, tokenizer.eos + 1, self.limits.kernels)
        self._batch_invariant = self.limits.batch_invariant
        if self._batch_invariant:
            check_batch_invariance(model, tokenizer.eos + 1)
        if self.limits.cuda_graphs == "on" and not on_cuda:
            raise ValueError(f"engine.cuda_graphs: they need a CUDA device, this is {model.device.type}")
        if recorder is None and on_cuda and self.limits.cuda_graphs != "off":
            recorder = CudaRecorder()
        self._recorder, self._read_late = recorder, on_cuda if read_late is None else read_late
        self.max_rows = self.limits.max_rows or (CUDA_ROWS if on_cuda else CPU_ROWS)
        self._prefill_tokens = CUDA_PREFILL if on_cuda else CPU_PREFILL
        self._column_step = CUDA_COLUMNS if on_cuda else CPU_COLUMNS
        self._first_slots = CUDA_SLOTS if on_cuda else CPU_SLOTS
        self._masks = PrefillMasks(model.config, model.device)
        self._no_flash = missing_for_flash(model.device, model.compute_dtype)
        if model.config.head_dim % 8 or model.config.head_dim > 256:
            self._no_flash = f"flash kernels want heads of a multiple of 8 up to 256, not {model.config.head_dim}"
        self._kernel = kernel if kernel is not None or self._no_flash else flash_kernel()
        budget, self._budget_reason = cache_budget(model.device, self.limits.cache_mbytes)
        kept = int(self.limits.reuse_share * budget)
        self._budget, self._prefix_cache = budget, PrefixCache(kept, whole_only=model.config.prefix_lm)
        self._stats = EngineStats()
        self._waiting: deque[EngineRequest] = deque()
        self._samples_waiting = 0
        self._replays_before = 0
        self._failed_resets = 0
        self._reset()

    def _reset(self) -> None:
        """Drop all active requests and caches. Where that fails, the next step tries it again."""
        self._failed_resets += 1
        self._active: dict[EngineRequest, _ActiveRequest] = {}
        self._launched: Launched | None = None
        self._group_of_prompt: dict[tuple[int, ...], int] = {}
        recorded = None
        if self._recorder is not None:
            recorded = RecordedSteps(self._recorder, self._network, self.tokenizer.eos + 1, self._fused)
        config, dtype = self.model.config, self.model.compute_dtype
        budget = self._budget - int(self.limits.reuse_share * self._budget)
        cache = KVCache(config, dtype, self.model.device, budget, self._first_slots)
        self._decoder = BatchDecoder(self._network, self.tokenizer, cache, recorded, self._batch_invariant, self._fused)
        self._prefix_cache.clear()
        self._failed_resets = 0

    @property
    def broken(self) -> bool:
        """Whether the device fails again and again, so that no further request can succeed."""
        return self._failed_resets >= MOST_FAILED_RESETS

    @property
    def num_waiting(self) -> int:
        """Number of requests that were not begun."""
        return len(self._waiting)

    @property
    def num_active(self) -> int:
        """Number of requests that are being decoded."""
        return len(self._active)

    @property
    def num_rows(self) -> int:
        """Number of samples that are being decoded."""
        return self._decoder.num_samples

    @property
    def idle(self) -> bool:
        return not self._waiting and not self._active

    @property
    def stats(self) -> EngineStats:
        recorded = self._decoder.recorded
        return replace(
            self._stats,
            replayed_steps=self._replays_before + (0 if recorded is None else recorded.replays),
            cache_bytes=self._decoder.cache.num_bytes + self._prefix_cache.num_bytes,
        )

    def decisions(self) -> dict[str, str]:
        """Describe each choice that depends on the device and its memory, with its reason."""
        device = self.model.device.type
        graphs = "off" if self._recorder is None else "on"
        if self.limits.cuda_graphs != "auto":
            reason = "asked for"
        else:
            reason = "CUDA device" if device == "cuda" else f"they need a CUDA device, this is {device}"
        batches = {"engine_batches": "padded, so that no state's bits depend on the others"}
        prompts = "one by one by SDPA" if self._no_flash else "together by the flash kernel"
        return {
            "engine_cache": f"{self._budget / 1e6:.0f} MB ({self._budget_reason})",
            "engine_rows": f"{self.max_rows} ({'asked for' if self.limits.max_rows else f'suits {device}'})",
            "engine_prompts": f"{prompts} ({self._no_flash or 'the fastest there is'})",
            "engine_graphs": f"{graphs} ({reason})",
            "engine_kernels": f"{'off' if self._fused is None else 'on'} ({self._kernels_reason})",
            **(batches if self._batch_invariant else {}),
        }

    def refresh(self) -> None:
        """Copy the model's present weights, between two steps; what was computed with the old ones is dropped.

        Requests that are being decoded are begun again, before all that wait, and draw what they would have drawn had
        they come now: each is answered by one set of weights alone, no keys and values of other weights are read, and
        none is lost.
        """
        again = list(self._active)
        for request in again:
            self._remove(request)
        self._waiting.extendleft(reversed(again))
        self._samples_waiting += sum(request.options.num_samples for request in again)
        self._stats.restarted += len(again)
        self._prefix_cache.clear()
        self._copy_weights()

    @torch.no_grad()
    def _copy_weights(self) -> None:
        if self._network is not self.model:
            for ours, theirs in zip(self._network.parameters(), merged_parameters(self.model), strict=True):
                if ours.data_ptr() != theirs.data_ptr():
                    ours.copy_(theirs)

    def release(self) -> None:
        """Give back the memory for keys and values, and what was recorded with it, until there are requests again.

        Only when idle. Training on the same GPU needs it meanwhile.
        """
        assert self.idle, "memory was to be given back while requests were active"
        if self._decoder.recorded is not None:
            self._replays_before += self._decoder.recorded.replays
        self._reset()
        if self.model.device.type == "cuda":
            torch.cuda.empty_cache()

    def submit(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> EngineRequest:
        """Queue a prompt (BOS and state, no marker); `seed` alone determines the noise of its samples.

        Raises ValueError if the prompt is empty, does not fit beside `max_new_tokens`, has tokens that the model does
        not know, or would need more memory than there is for keys and values.
        """
        self._check(prompt, options)
        request = EngineRequest(prompt, options, seed)
        self._waiting.append(request)
        self._samples_waiting += options.num_samples
        self._stats.submitted += 1
        return request

    def _check(self, prompt: Sequence[int], options: SamplingOptions) -> None:
        if options.num_samples < 1 or options.max_new_tokens < 1:
            raise ValueError(f"samples and new tokens must be positive, got {options}")
        if not MIN_TEMPERATURE <= options.temperature <= MAX_TEMPERATURE:
            raise ValueError(
                f"temperature must be {MIN_TEMPERATURE:g} to {MAX_TEMPERATURE:g}, got {options.temperature}"
            )
        if not 0 < options.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, got {options.top_p}")
        longest = self.model.config.sequence_len - options.max_new_tokens
        if not 0 < len(prompt) <= longest:
            raise ValueError(f"prompts must have 1 to {longest} tokens, got {len(prompt)}")
        if not 0 <= min(prompt) <= max(prompt) < self.model.config.vocab_size:
            raise ValueError(
                f"tokens must be 0 to {self.model.config.vocab_size - 1}, got {min(prompt)}, {max(prompt)}"
            )
        size, groups = self._size(len(prompt), options), len(split_samples(options.num_samples))
        if not self._decoder.cache.fits(size, groups):
            budget = self._decoder.cache.budget
            raise ValueError(f"the keys and values of this request do not fit into {budget / 1e6:.1f} MB")

    def _size(self, length: int, options: SamplingOptions) -> SlotSize:
        most = max(count for _, count in split_samples(options.num_samples))
        return SlotSize.of(length, most, options.max_new_tokens, self._column_step)

    def cancel(self, request: EngineRequest) -> None:
        """Cancel a waiting or active request; nothing happens if it has ended."""
        if request.ended:
            return
        request.cancelled = True
        self._stats.cancelled += 1
        if request in self._active:
            self._remove(request)
        else:
            self._waiting.remove(request)
            self._samples_waiting -= request.options.num_samples

    @torch.inference_mode()
    def step(self) -> list[EngineRequest]:
        """Admit the requests that memory and rows allow, and compute a step; returns the requests that ended with it.

        Their `completion` or `error` is set: FloatingPointError where the model's output is not finite. When the
        computation itself fails, out of memory say, all active requests have this error.
        """
        try:
            if self._failed_resets:
                self._reset()
            self._admit()
            launched = self._decoder.launch()
            if launched is not None:
                self._stats.decode_steps += 1
                self._stats.decode_rows += launched.num_rows
            if self._read_late:
                launched, self._launched = self._launched, launched
            return self._read(launched) if launched is not None else []
        except RuntimeError as error:
            log.error("a step of the engine failed", exc_info=True)
            problem = error.with_traceback(None)  # its frames hold memory on the device
        failed = list(self._active)
        for request in failed:
            request.error = problem
        self._stats.failed += len(failed)
        self._reset()
        if not failed:
            raise problem
        return failed

    def generate(
        self, prompts: Sequence[Sequence[int]], options: SamplingOptions, seeds: Sequence[int]
    ) -> list[Completion]:
        """Answer each prompt; `seeds[i]` alone determines the noise of `prompts[i]`.

        Raises ValueError as `submit` does, and FloatingPointError if the model's output is not finite.
        """
        for prompt in prompts:
            self._check(prompt, options)
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

    def _admit(self) -> None:
        """Begin requests in the order they came, as many as there are rows and memory for."""
        free = self.max_rows - self._decoder.num_samples
        if not self._waiting or (self._active and free < min(self._samples_waiting, ADMITTED_SHARE * self.max_rows)):
            return
        begun: list[EngineRequest] = []
        tokens = 0
        while self._waiting:
            request, nothing_else = self._waiting[0], not self._active
            tokens += len(request.prompt)
            too_many_rows = request.options.num_samples > free and not nothing_else
            if too_many_rows or (begun and tokens > self._prefill_tokens):
                break
            if not self._allocate(request):
                if not nothing_else:
                    break
                groups = len(split_samples(request.options.num_samples))
                self._decoder.cache.reserve(self._size(len(request.prompt), request.options), groups)
                allocated = self._allocate(request)
                assert allocated, "a request that fits alone got no slots"
            begun.append(self._waiting.popleft())
            self._samples_waiting -= request.options.num_samples
            free -= request.options.num_samples
        if begun:
            self._decoder.changed()
            self._prefill(begun)

    def _allocate(self, request: EngineRequest) -> bool:
        """Allocate slots for a request and open its groups; returns whether there is memory for them."""
        cache, groups, length = self._decoder.cache, self._decoder.groups, len(request.prompt)
        wanted = self._size(length, request.options)
        slots: list[tuple[SlotSize, int]] = []
        samples = split_samples(request.options.num_samples)
        for _ in samples:
            slot = cache.allocate(wanted)
            if slot is None:
                for size, number in slots:
                    cache[size].release(number)
                return False
            slots.append(slot)
        start = request.options.start
        markers = [self.tokenizer.tactic if start is None else start, self.tokenizer.value]
        active = _ActiveRequest([])
        for (first, count), (size, number) in zip(samples, slots):
            info = GroupInfo(request, first, count, size)
            shown = markers if first == 0 else markers[:1]
            active.groups.append(groups.open(info, number, request.options.max_new_tokens, shown))
        active.unfinished_groups.update(active.groups)
        self._decoder.active.update(active.groups)
        self._active[request] = active
        return True

    def _prefill(self, begun: list[EngineRequest]) -> None:
        """Fill the slots with their prompts: from another slot, from the prefix cache, or by prefill."""
        cache, groups = self._decoder.cache, self._decoder.groups
        jobs: list[PrefillJob] = []
        copies: list[tuple[int, int]] = []
        for request in begun:
            prompt, (first, *others) = request.prompt, self._active[request].groups
            source = self._group_of_prompt.setdefault(prompt, first)
            if source != first:
                copies.append((source, first))
                self._stats.reused_tokens += len(prompt)
            else:
                pool, slot = cache[groups.info(first).size], int(groups.slot[first])
                known = self._prefix_cache.copy_to_slot(prompt, pool, slot)
                self._stats.reused_tokens += known
                if known < len(prompt):
                    jobs.append(PrefillJob(prompt, pool, slot, known))
            copies += [(first, other) for other in others]
        if jobs:
            prefill(self._network, self._masks, jobs, self._kernel, self._batch_invariant, self._fused)
            self._stats.prefills += len(jobs)
            self._stats.prompt_tokens += sum(len(job.prompt) - job.start for job in jobs)
        for source, target in copies:
            length = len(groups.info(target).request.prompt)
            origin = cache[groups.info(source).size]
            cache[groups.info(target).size].copy_prompt(
                int(groups.slot[target]), origin, int(groups.slot[source]), length
            )
        for request in begun:
            for group in self._active[request].groups:
                info = groups.info(group)
                cache[info.size].open(int(groups.slot[group]), len(request.prompt), info.first == 0)

    def _read(self, launched: Launched) -> list[EngineRequest]:
        """Process the results of a step; returns the requests that ended."""
        groups, ended = self._decoder.groups, []
        result = self._decoder.read(launched)
        self._stats.sampled_tokens += result.num_sampled
        for group in result.broken:
            if group not in self._decoder.active:
                continue  # another group of its request was broken too
            request = groups.info(group).request
            for other in self._active[request].groups:
                self._decoder.cache[groups.info(other).size].zero(int(groups.slot[other]))
            self._remove(request)
            request.error = FloatingPointError("the model's output is not finite")
            self._stats.failed += 1
            ended.append(request)
        for group, distribution in result.values.items():
            if group in self._decoder.active:
                info = groups.info(group)
                self._active[info.request].value_distribution = distribution
                self._prefix_cache.add(info.request.prompt, self._decoder.cache[info.size], int(groups.slot[group]))
        for group in result.ended:
            if group not in self._decoder.active:
                continue
            request = groups.info(group).request
            active = self._active[request]
            active.unfinished_groups.discard(group)
            if not active.unfinished_groups:
                request.completion = self._completion(active)
                self._remove(request)
                self._stats.completed += 1
                ended.append(request)
        return ended

    def _completion(self, active: _ActiveRequest) -> Completion:
        groups = self._decoder.groups
        samples: list[Sample] = []
        unfinished: list[Sample] = []
        for group in active.groups:
            for sequence in range(groups.info(group).count):
                length = groups.lengths[group, sequence]
                ended = length >= 0
                tokens = groups.tokens[group, sequence, : length if ended else groups.steps[group]].tolist()
                (samples if ended else unfinished).append(Sample(tokens, float(groups.logprobs[group, sequence])))
        assert active.value_distribution is not None
        return Completion(samples, len(unfinished), active.value_distribution, tuple(unfinished))

    def _remove(self, request: EngineRequest) -> None:
        """Free the slots and groups of a request."""
        groups = self._decoder.groups
        for group in self._active.pop(request).groups:
            self._decoder.cache[groups.info(group).size].release(int(groups.slot[group]))
            self._decoder.active.discard(group)
            if self._group_of_prompt.get(request.prompt) == group:
                del self._group_of_prompt[request.prompt]
            groups.close(group)
        self._decoder.changed()
