"""The engine's computations by operators of torch: on GPUs, and on CPUs where `native_backend.py` cannot be had.

A prompt is prefilled once (`prefill.py`); all its samples and the value read-out share its slots of the KV cache
(`kv_cache.py`) and are decoded step by step with those of other requests (`batch_decoder.py`, `decode.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from nanoproof.inference.backend import Ended, Setting
from nanoproof.inference.batch_decoder import BatchDecoder, Launched
from nanoproof.inference.batch_invariance import check_batch_invariance
from nanoproof.inference.cuda_graphs import CudaRecorder, RecordedSteps, Recorder
from nanoproof.inference.decode import GroupInfo, fused_or_not, split_samples
from nanoproof.inference.kv_cache import KVCache, SlotSize
from nanoproof.inference.prefill import CachedPrompt, PrefillJob, PrefillMasks, PrefixCache, prefill
from nanoproof.inference.sampling import Completion, EngineRequest, Sample, SamplingOptions
from nanoproof.model.flash_attention import Kernel, flash_kernel, missing_for_flash
from nanoproof.model.gpt import GPT
from nanoproof.model.lora import merged_parameters, settings_of, share_frozen

# Columns: in steps of 64 a decoding step reads 1.15 times the columns that are filled (1.3 in steps of 128, 1.45 of
# 256). On a GPU each size of slots is a shape of its own, for which CUDA graphs are recorded: few sizes. Where a pool
# grows its tensors are replaced, and what was recorded on them is lost: many slots from the start.
CPU_COLUMN_STEP, CUDA_COLUMN_STEP = 64, 256
CPU_FIRST_SLOTS, CUDA_FIRST_SLOTS = 4, 32


@dataclass
class _ActiveRequest:
    """What belongs to a request that is being decoded."""

    groups: list[int]
    unfinished_groups: set[int] = field(default_factory=set)
    value_distribution: list[float] | None = None


class TorchBackend:
    """Computes on the model's device.

    Where the model computes in another dtype than fp32, this works on a copy of the weights in that dtype, so that no
    step has to convert them; and on a copy of the matrices that have adapters.
    """

    name = "torch"

    def __init__(
        self,
        setting: Setting,
        recorder: Recorder | None = None,
        kernel: Kernel | None = None,
        read_late: bool | None = None,
        own_weights: bool = False,
    ) -> None:
        """For the arguments see `Engine`. Raises ValueError for kernels or batch-invariant results that are not to be
        had."""
        self._model, self._tokenizer, self._stats = setting.model, setting.tokenizer, setting.stats
        model, limits = setting.model, setting.limits
        self._num_tokens = setting.tokenizer.eos + 1
        on_cuda = model.device.type == "cuda"
        self._network = self._network_to_run(own_weights)
        self._copy_weights()
        self._fused, self._kernels_reason = fused_or_not(self._network, self._num_tokens, limits.kernels)
        self._batch_invariant = limits.batch_invariant
        if self._batch_invariant:
            check_batch_invariance(model, self._num_tokens)
        if recorder is None and on_cuda and limits.cuda_graphs != "off":
            recorder = CudaRecorder()
        self._recorder, self._graphs_wanted = recorder, limits.cuda_graphs
        # On a GPU the host plans the next step while the device computes this one. A CPU would compute both in turn,
        # and rows that have ended once more in vain.
        self._read_late = on_cuda
        if read_late is not None:
            self._read_late = read_late
        self._column_step, self._first_slots = CPU_COLUMN_STEP, CPU_FIRST_SLOTS
        if on_cuda:
            self._column_step, self._first_slots = CUDA_COLUMN_STEP, CUDA_FIRST_SLOTS
        self._masks = PrefillMasks(model.config, model.device)
        self._no_flash = missing_for_flash(model.device, model.compute_dtype)
        # FlashAttention has no kernels for others; they would have to be padded for each call.
        if model.config.head_dim % 8 or model.config.head_dim > 256:
            self._no_flash = f"flash kernels want heads of a multiple of 8 up to 256, not {model.config.head_dim}"
        if kernel is None and not self._no_flash:
            kernel = flash_kernel()
        self._kernel = kernel
        self._budget = setting.budget
        self._prefix_cache = PrefixCache[CachedPrompt](setting.prompt_budget, whole_only=model.config.prefix_lm)
        self._replays_before = 0
        self._make_caches()

    def _network_to_run(self, own_weights: bool) -> GPT:
        """Return the model itself, or a network of its shape for a copy of its weights."""
        model = self._model
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

    def reset(self) -> None:
        """Make caches anew, without requests."""
        self._replays_before = self._stats.replayed_steps
        self._make_caches()

    def _make_caches(self) -> None:
        self._active: dict[EngineRequest, _ActiveRequest] = {}
        self._launched: Launched | None = None
        self._group_of_prompt: dict[tuple[int, ...], int] = {}
        recorded = None
        if self._recorder is not None:
            recorded = RecordedSteps(self._recorder, self._network, self._num_tokens, self._fused)
        model = self._model
        cache = KVCache(model.config, model.compute_dtype, model.device, self._budget, self._first_slots)
        self._decoder = BatchDecoder(
            self._network, self._tokenizer, cache, recorded, self._batch_invariant, self._fused
        )
        self._prefix_cache.clear()

    @property
    def num_samples(self) -> int:
        return self._decoder.num_samples

    @property
    def num_bytes(self) -> int:
        return self._decoder.cache.num_bytes + self._prefix_cache.num_bytes

    def decisions(self) -> dict[str, str]:
        """Describe how prompts and steps are computed."""
        device = self._model.device.type
        if self._graphs_wanted != "auto":
            graphs_reason = "asked for"
        elif device == "cuda":
            graphs_reason = "CUDA device"
        else:
            graphs_reason = f"they need a CUDA device, this is {device}"
        prompts = "together by the flash kernel (the fastest there is)"
        if self._no_flash:
            prompts = f"one by one by SDPA ({self._no_flash})"
        decisions = {
            "engine_prompts": prompts,
            "engine_graphs": f"{_on_or_off(self._recorder)} ({graphs_reason})",
            "engine_kernels": f"{_on_or_off(self._fused)} ({self._kernels_reason})",
        }
        if self._batch_invariant:
            decisions["engine_batches"] = "padded, so that no state's bits depend on the others"
        return decisions

    def refresh(self) -> None:
        """Copy the model's weights where this works on a copy."""
        self._prefix_cache.clear()
        self._copy_weights()

    @torch.no_grad()
    def _copy_weights(self) -> None:
        if self._network is self._model:
            return
        for ours, theirs in zip(self._network.parameters(), merged_parameters(self._model), strict=True):
            # Frozen matrices below adapters are shared (`share_frozen`). Written in place, so that recordings stay
            # valid.
            if ours.data_ptr() != theirs.data_ptr():
                ours.copy_(theirs)

    def fits(self, length: int, options: SamplingOptions) -> bool:
        """Tell whether the slots of a request fit into the budget."""
        return self._decoder.cache.fits(self._size(length, options), len(split_samples(options.num_samples)))

    def _size(self, length: int, options: SamplingOptions) -> SlotSize:
        largest_group = max(count for _, count in split_samples(options.num_samples))
        return SlotSize.of(length, largest_group, options.max_new_tokens, self._column_step)

    def allocate(self, request: EngineRequest, alone: bool) -> bool:
        """Allocate slots for a request and open its groups; returns whether there is memory for them."""
        if self._allocate(request):
            return True
        if not alone:
            return False
        # Slots of other sizes, which nobody uses, make room for it.
        groups = len(split_samples(request.options.num_samples))
        self._decoder.cache.reserve(self._size(len(request.prompt), request.options), groups)
        return self._allocate(request)

    def _allocate(self, request: EngineRequest) -> bool:
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
            start = self._tokenizer.tactic
        active = _ActiveRequest([])
        for (first, count), (size, number) in zip(samples, slots):
            info = GroupInfo(request, first, count, size)
            # Markers are decoded as rows of the next step and not prefilled: prefill then needs no output of the last
            # layer, and a prompt that is in a cache needs no prefill at all. The value is read once for a request.
            markers = [start]
            if first == 0:
                markers.append(self._tokenizer.value)
            active.groups.append(groups.open(info, number, request.options.max_new_tokens, markers))
        active.unfinished_groups.update(active.groups)
        self._decoder.active.update(active.groups)
        self._active[request] = active
        return True

    def prefill(self, begun: Sequence[EngineRequest]) -> None:
        """Fill the slots with their prompts: from another slot, from the prefix cache, or by prefill."""
        self._decoder.changed()
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
                cached, num_cached = self._prefix_cache.longest_prefix(prompt)
                if cached is not None:
                    cached.copy_to_slot(pool, slot, num_cached)
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

    def step(self) -> list[Ended]:
        """Compute a step, and read it or the one before."""
        launched = self._decoder.launch()
        if launched is not None:
            self._stats.decode_steps += 1
            self._stats.decode_rows += launched.num_rows
        if self._decoder.recorded is not None:
            self._stats.replayed_steps = self._replays_before + self._decoder.recorded.replays
        if self._read_late:
            launched, self._launched = self._launched, launched
        if launched is None:
            return []
        return self._read(launched)

    def _read(self, launched: Launched) -> list[Ended]:
        """Process the results of a step."""
        groups = self._decoder.groups
        ended: dict[EngineRequest, Ended] = {}
        result = self._decoder.read(launched)
        self._stats.sampled_tokens += result.num_sampled
        for group in result.broken:
            request = groups.info(group).request
            if request in ended:
                continue  # another group of its request was broken too
            # The next prompt in these slots is shorter, perhaps: attention multiplies the columns behind it by 0, and 0
            # times NaN is NaN.
            for other in self._active[request].groups:
                self._decoder.cache[groups.info(other).size].zero(int(groups.slot[other]))
            ended[request] = Ended(request, error=FloatingPointError("the model's output is not finite"))
        for group, distribution in result.values.items():
            info = groups.info(group)
            if info.request not in ended:
                self._active[info.request].value_distribution = distribution
                # Only now is it known that what the prompt led to is finite: a broken one must not be kept.
                self._keep(info, int(groups.slot[group]))
        for group in result.ended:
            request = groups.info(group).request
            if request in ended:
                continue  # it has failed above
            active = self._active[request]
            active.unfinished_groups.discard(group)
            if not active.unfinished_groups:
                ended[request] = Ended(request, self._completion(active))
        return list(ended.values())

    def _keep(self, info: GroupInfo, slot: int) -> None:
        """Keep the prompt in a slot for others that begin like it."""
        pool, prompt, config = self._decoder.cache[info.size], info.request.prompt, self._model.config
        features = config.depth * config.kv_heads * config.head_dim
        num_bytes = 2 * len(prompt) * features * self._model.compute_dtype.itemsize
        self._prefix_cache.add(prompt, num_bytes, lambda: CachedPrompt.of_slot(pool, slot, len(prompt)))

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

    def remove(self, request: EngineRequest) -> None:
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
