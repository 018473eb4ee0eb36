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


@dataclass(frozen=True)
class _Sizes:
    """How much is done at a time on a kind of device."""

    rows: int
    """Samples that are decoded in one step."""
    prefill_tokens: int
    """Tokens of prompts that are prefilled together; one prompt may have more."""
    column_step: int
    """Slots of the KV cache come in multiples of so many columns."""
    first_slots: int
    """Slots that a size gets at first."""


# Rows: of 96, 192, 384 and 768 none was better for a small network than 192, and 96 cost a third more a state. Columns:
# in steps of 64 a decoding step reads 1.15 times the columns that are filled (1.3 in steps of 128, 1.45 of 256).
CPU_SIZES = _Sizes(rows=192, prefill_tokens=1024, column_step=64, first_slots=4)
# Each size of slots is a shape of its own, for which CUDA graphs are recorded: few sizes. Where a pool grows its
# tensors are replaced, and what was recorded on them is lost: many slots from the start. None of this was measured on a
# GPU.
CUDA_SIZES = _Sizes(rows=1024, prefill_tokens=8192, column_step=256, first_slots=32)

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
        # Logits are cut off behind EOS: markers and value bins, which come after it, cannot be sampled as text.
        assert tokenizer.eos == tokenizer.num_text_tokens, "EOS must follow the text tokens"
        self._num_tokens = tokenizer.eos + 1
        self.model = model
        self.tokenizer = tokenizer
        self.limits = limits or EngineLimits()
        on_cuda = model.device.type == "cuda"
        self._network = self._network_to_run(own_weights)
        self._copy_weights()
        self._fused, self._kernels_reason = fused_or_not(self._network, self._num_tokens, self.limits.kernels)
        self._batch_invariant = self.limits.batch_invariant
        if self._batch_invariant:
            check_batch_invariance(model, self._num_tokens)
        if self.limits.cuda_graphs == "on" and not on_cuda:
            raise ValueError(f"engine.cuda_graphs: they need a CUDA device, this is {model.device.type}")
        if recorder is None and on_cuda and self.limits.cuda_graphs != "off":
            recorder = CudaRecorder()
        self._recorder = recorder
        # On a GPU the host plans the next step while the device computes this one. A CPU would compute both in turn,
        # and rows that have ended once more in vain.
        self._read_late = on_cuda
        if read_late is not None:
            self._read_late = read_late
        self._sizes = {"cuda": CUDA_SIZES}.get(model.device.type, CPU_SIZES)
        self.max_rows = self.limits.max_rows or self._sizes.rows
        self._masks = PrefillMasks(model.config, model.device)
        self._no_flash = missing_for_flash(model.device, model.compute_dtype)
        # FlashAttention has no kernels for others; they would have to be padded for each call.
        if model.config.head_dim % 8 or model.config.head_dim > 256:
            self._no_flash = f"flash kernels want heads of a multiple of 8 up to 256, not {model.config.head_dim}"
        if kernel is None and not self._no_flash:
            kernel = flash_kernel()
        self._kernel = kernel
        self._budget, self._budget_reason = cache_budget(model.device, self.limits.cache_mbytes)
        # Two caches share the budget: prompts that were read, and slots of what is being decoded. Where prompts begin
        # alike, 27.9 ms a state instead of 33.7; where they do not, no difference.
        prefix_budget = int(self.limits.reuse_share * self._budget)
        self._slot_budget = self._budget - prefix_budget
        self._prefix_cache = PrefixCache(prefix_budget, whole_only=model.config.prefix_lm)
        self._stats = EngineStats()
        self._waiting: deque[EngineRequest] = deque()
        self._samples_waiting = self._replays_before = self._failed_resets = 0
        self._reset()

    def _network_to_run(self, own_weights: bool) -> GPT:
        """Return the model itself, or a network of its shape for a copy of its weights."""
        model = self.model
        adapted = settings_of(model) is not None
        if not own_weights and not adapted and model.compute_dtype == torch.float32:
            return model
        network = GPT.allocate(model.config, model.device, model.compute_dtype).requires_grad_(False)
        for parameter in network.parameters():
            parameter.data = parameter.data.to(model.compute_dtype)
        # Adapters change a few matrices: the others need no second copy where no dtype has to change.
        if adapted and model.compute_dtype == torch.float32:
            share_frozen(network, model)
        return network

    def _reset(self) -> None:
        """Drop all active requests and caches. Where that fails, the next step tries it again."""
        # Counted up first and set to 0 last: an exception on the way, of a device that is gone say, leaves the count.
        self._failed_resets += 1
        self._active: dict[EngineRequest, _ActiveRequest] = {}
        self._launched: Launched | None = None
        self._group_of_prompt: dict[tuple[int, ...], int] = {}
        recorded = None
        if self._recorder is not None:
            recorded = RecordedSteps(self._recorder, self._network, self._num_tokens, self._fused)
        config, dtype, device = self.model.config, self.model.compute_dtype, self.model.device
        cache = KVCache(config, dtype, device, self._slot_budget, self._sizes.first_slots)
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
        replays = self._replays_before
        if self._decoder.recorded is not None:
            replays += self._decoder.recorded.replays
        cache_bytes = self._decoder.cache.num_bytes + self._prefix_cache.num_bytes
        return replace(self._stats, replayed_steps=replays, cache_bytes=cache_bytes)

    def decisions(self) -> dict[str, str]:
        """Describe each choice that depends on the device and its memory, with its reason."""
        device = self.model.device.type
        if self.limits.cuda_graphs != "auto":
            graphs_reason = "asked for"
        elif device == "cuda":
            graphs_reason = "CUDA device"
        else:
            graphs_reason = f"they need a CUDA device, this is {device}"
        rows_reason = f"suits {device}"
        if self.limits.max_rows:
            rows_reason = "asked for"
        prompts = "together by the flash kernel (the fastest there is)"
        if self._no_flash:
            prompts = f"one by one by SDPA ({self._no_flash})"
        decisions = {
            "engine_cache": f"{self._budget / 1e6:.0f} MB ({self._budget_reason})",
            "engine_rows": f"{self.max_rows} ({rows_reason})",
            "engine_prompts": prompts,
            "engine_graphs": f"{_on_or_off(self._recorder)} ({graphs_reason})",
            "engine_kernels": f"{_on_or_off(self._fused)} ({self._kernels_reason})",
        }
        if self._batch_invariant:
            decisions["engine_batches"] = "padded, so that no state's bits depend on the others"
        return decisions

    def refresh(self) -> None:
        """Copy the model's present weights, between two steps; what was computed with the old ones is dropped.

        Requests that are being decoded are begun again, before all that wait, and draw what they would have drawn had
        they come now: each is answered by one set of weights alone, no keys and values of other weights are read, and
        none is lost.
        """
        again = list(self._active)
        for request in again:
            self._remove(request)
            self._samples_waiting += request.options.num_samples
        self._waiting.extendleft(reversed(again))
        self._stats.restarted += len(again)
        self._prefix_cache.clear()
        self._copy_weights()

    @torch.no_grad()
    def _copy_weights(self) -> None:
        if self._network is self.model:
            return
        for ours, theirs in zip(self._network.parameters(), merged_parameters(self.model), strict=True):
            # Frozen matrices below adapters are shared (`share_frozen`). Written in place, so that recordings stay
            # valid.
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
            # Without this torch keeps the memory for itself, in blocks that were cut to the sizes of the cache.
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
        largest_group = max(count for _, count in split_samples(options.num_samples))
        return SlotSize.of(length, largest_group, options.max_new_tokens, self._sizes.column_step)

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
            if launched is None:
                return []
            return self._read(launched)
        # torch raises RuntimeError for whatever a device or its memory does. Other exceptions are mistakes of ours.
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
        if not self._waiting:
            return
        free = self.max_rows - self._decoder.num_samples
        enough = min(self._samples_waiting, ADMITTED_SHARE * self.max_rows)
        if self._active and free < enough:
            return
        begun: list[EngineRequest] = []
        tokens = 0
        # First come, first served: a small request that would fit does not overtake a large one, which might else wait
        # for ever.
        while self._waiting:
            request, nothing_else = self._waiting[0], not self._active
            tokens += len(request.prompt)
            too_many_rows = request.options.num_samples > free and not nothing_else
            if too_many_rows or (begun and tokens > self._sizes.prefill_tokens):
                break
            if not self._allocate(request):
                if not nothing_else:
                    break
                # Alone it has to fit, as `submit` promised: slots of other sizes, which nobody uses, make room for it.
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
        if start is None:
            start = self.tokenizer.tactic
        active = _ActiveRequest([])
        for (first, count), (size, number) in zip(samples, slots):
            info = GroupInfo(request, first, count, size)
            # Markers are decoded as rows of the next step and not prefilled: prefill then needs no output of the last
            # layer, and a prompt that is in a cache needs no prefill at all. The value is read once for a request.
            markers = [start]
            if first == 0:
                markers.append(self.tokenizer.value)
            active.groups.append(groups.open(info, number, request.options.max_new_tokens, markers))
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
                num_cached = self._prefix_cache.copy_to_slot(prompt, pool, slot)
                self._stats.reused_tokens += num_cached
                if num_cached < len(prompt):
                    jobs.append(PrefillJob(prompt, pool, slot, num_cached))
            copies += [(first, other) for other in others]
        if jobs:
            prefill(self._network, self._masks, jobs, self._kernel, self._batch_invariant, self._fused)
            self._stats.prefills += len(jobs)
            self._stats.prompt_tokens += sum(len(job.prompt) - job.start for job in jobs)
        # After prefill: the slot that is copied from may be one that was filled just now.
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
            # The next prompt in these slots is shorter, perhaps: attention multiplies the columns behind it by 0, and 0
            # times NaN is NaN.
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
                # Only now is it known that what the prompt led to is finite: a broken one must not be kept.
                self._prefix_cache.add(info.request.prompt, self._decoder.cache[info.size], int(groups.slot[group]))
        for group in result.ended:
            if group not in self._decoder.active:
                continue  # its request has failed above
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
                length, into = groups.lengths[group, sequence], samples
                if length < 0:
                    length, into = groups.steps[group], unfinished
                tokens = groups.tokens[group, sequence, :length].tolist()
                into.append(Sample(tokens, float(groups.logprobs[group, sequence])))
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


def _on_or_off(part: object | None) -> str:
    if part is None:
        return "off"
    return "on"
