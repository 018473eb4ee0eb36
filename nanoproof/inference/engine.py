"""Inference: prompts are prefilled once; all their samples and the value read-out share the KV cache.

Requests are submitted at any time and join those that are being decoded; whoever has ended leaves. This file decides
who goes when. The parts are in `batching/`: `pools.py` (memory), `prefill.py` (reading prompts), `prefixes.py` (prompts
that were read), `parts.py` (samples in work), `decode.py` (one step of the network), `decoding.py` (step after step),
`graphs.py` (recorded steps).
"""

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from nanoproof.inference.cuda_graphs import CudaRecorder, RecordedSteps, Recorder
from nanoproof.inference.decode import PartInfo, split_samples
from nanoproof.inference.kv_cache import Pools, SlotSize, cache_budget
from nanoproof.inference.prefill import PrefillMasks, Prefixes, Reading, read_prompts
from nanoproof.inference.sampling import Completion, EngineLimits, EngineRequest, EngineStats, Sample, SamplingOptions
from nanoproof.inference.scheduler import Decoding, Launched
from nanoproof.model.flash_attention import Kernel, flash_kernel, missing_for_flash
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer

log = logging.getLogger(__name__)

CPU_ROWS, CUDA_ROWS = 192, 1024
"""Samples in work. A CPU gains nothing by more."""
CPU_PREFILL, CUDA_PREFILL = 1024, 8192
"""Tokens of prompts that are read at a time; one prompt may have more."""
CPU_COLUMNS, CUDA_COLUMNS = 64, 256
"""Slots come in multiples of so many columns: little padding on a CPU, few kernels on a GPU."""
CPU_SLOTS, CUDA_SLOTS = 4, 32
"""Slots of a size that are made at first. Recordings are lost when more are made."""
ADMITTED_SHARE = 1 / 8
"""New requests are let in when this share of the rows is free for them, so that several are read at once."""
MIN_TEMPERATURE, MAX_TEMPERATURE = 1e-6, 1e6
"""Beyond, samples are as good as greedy or uniform, and somewhere beyond a number has no place in fp32."""
MOST_FAILED_RESETS = 3


@dataclass
class _Work:
    """A request that is being decoded."""

    parts: list[int]
    open_parts: set[int] = field(default_factory=set)
    value_distribution: list[float] | None = None


class Engine:
    """Answers requests with one model. Not thread-safe: one thread drives it.

    Where the model computes in another dtype than fp32, the engine works on a copy of the weights in that dtype, so
    that no step has to convert them: call `refresh` when the weights have changed.
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
    ) -> None:
        """What suits the device: `recorder`, `kernel` (which reads prompts), and `read_late` (a step is launched before
        the last one is read).

        Raises ValueError if CUDA graphs are asked for on another device.
        """
        assert tokenizer.eos == tokenizer.num_text_tokens, "EOS must follow the text tokens"
        self.model = model
        self.tokenizer = tokenizer
        self.limits = limits or EngineLimits()
        on_cuda = model.device.type == "cuda"
        self._network = model
        if model.compute_dtype != torch.float32:
            self._network = GPT.allocate(model.config, model.device, model.compute_dtype).requires_grad_(False)
            for parameter in self._network.parameters():
                parameter.data = parameter.data.to(model.compute_dtype)
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
        self._budget, self._prefixes = budget, Prefixes(kept, whole_only=model.config.prefix_lm)
        self._stats = EngineStats()
        self._waiting: deque[EngineRequest] = deque()
        self._samples_waiting = 0
        self._replays_before = 0
        self._failed_resets = 0
        self._reset()
        self.refresh()

    def _reset(self) -> None:
        """Forget everything that is in work. Where that fails, the next step tries it again."""
        self._failed_resets += 1
        self._work: dict[EngineRequest, _Work] = {}
        self._launched: Launched | None = None
        self._first_part: dict[tuple[int, ...], int] = {}
        recorded = None
        if self._recorder is not None:
            recorded = RecordedSteps(self._recorder, self._network, self.tokenizer.eos + 1)
        config, dtype = self.model.config, self.model.compute_dtype
        budget = self._budget - int(self.limits.reuse_share * self._budget)
        pools = Pools(config, dtype, self.model.device, budget, self._first_slots)
        self._decoding = Decoding(self._network, self.tokenizer, pools, recorded)
        self._prefixes.clear()
        self._failed_resets = 0

    @property
    def broken(self) -> bool:
        """Whether the device fails again and again, so that there is no use in asking further."""
        return self._failed_resets >= MOST_FAILED_RESETS

    @property
    def num_waiting(self) -> int:
        """Requests that were not begun."""
        return len(self._waiting)

    @property
    def num_active(self) -> int:
        """Requests that are being decoded."""
        return len(self._work)

    @property
    def num_rows(self) -> int:
        """Samples that are being decoded."""
        return self._decoding.num_samples

    @property
    def idle(self) -> bool:
        return not self._waiting and not self._work

    @property
    def stats(self) -> EngineStats:
        recorded = self._decoding.recorded
        return replace(
            self._stats,
            replayed_steps=self._replays_before + (0 if recorded is None else recorded.replays),
            cache_bytes=self._decoding.pools.num_bytes + self._prefixes.num_bytes,
        )

    def decisions(self) -> dict[str, str]:
        """What was chosen from the surroundings, each with its reason."""
        device = self.model.device.type
        graphs = "off" if self._recorder is None else "on"
        if self.limits.cuda_graphs != "auto":
            reason = "asked for"
        else:
            reason = "CUDA device" if device == "cuda" else f"they need a CUDA device, this is {device}"
        prompts = "one by one by SDPA" if self._no_flash else "together by the flash kernel"
        return {
            "engine_cache": f"{self._budget / 1e6:.0f} MB ({self._budget_reason})",
            "engine_rows": f"{self.max_rows} ({'asked for' if self.limits.max_rows else f'suits {device}'})",
            "engine_prompts": f"{prompts} ({self._no_flash or 'the fastest there is'})",
            "engine_graphs": f"{graphs} ({reason})",
        }

    @torch.no_grad()
    def refresh(self) -> None:
        """Take over the model's present weights. Only when idle; prompts that were kept are dropped."""
        assert self.idle, "the weights changed while requests were in work"
        self._prefixes.clear()
        if self._network is not self.model:
            for ours, theirs in zip(self._network.parameters(), self.model.parameters(), strict=True):
                ours.copy_(theirs)

    def release(self) -> None:
        """Give back the memory for keys and values, and what was recorded with it, until there are requests again.

        Only when idle. Whoever trains on the same GPU meanwhile needs it more.
        """
        assert self.idle, "memory was to be given back while requests were in work"
        if self._decoding.recorded is not None:
            self._replays_before += self._decoding.recorded.replays
        self._reset()
        if self.model.device.type == "cuda":
            torch.cuda.empty_cache()

    def submit(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> EngineRequest:
        """Queue a prompt (BOS and state, no marker); `seed` alone determines the noise of its samples.

        Raises ValueError if the prompt is empty, leaves no room for `max_new_tokens`, has tokens that the model does
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
        room = self.model.config.sequence_len - options.max_new_tokens
        if not 0 < len(prompt) <= room:
            raise ValueError(f"prompts must have 1 to {room} tokens, got {len(prompt)}")
        if not 0 <= min(prompt) <= max(prompt) < self.model.config.vocab_size:
            raise ValueError(
                f"tokens must be 0 to {self.model.config.vocab_size - 1}, got {min(prompt)}, {max(prompt)}"
            )
        size, parts = self._size(len(prompt), options), len(split_samples(options.num_samples))
        if not self._decoding.pools.fits(size, parts):
            budget = self._decoding.pools.budget
            raise ValueError(f"the keys and values of this request do not fit into {budget / 1e6:.1f} MB")

    def _size(self, length: int, options: SamplingOptions) -> SlotSize:
        most = max(count for _, count in split_samples(options.num_samples))
        return SlotSize.of(length, most, options.max_new_tokens, self._column_step)

    def cancel(self, request: EngineRequest) -> None:
        """Forget a request, wherever it is; nothing happens if it has ended."""
        if request.ended:
            return
        request.cancelled = True
        self._stats.cancelled += 1
        if request in self._work:
            self._leave(request)
        else:
            self._waiting.remove(request)
            self._samples_waiting -= request.options.num_samples

    @torch.inference_mode()
    def step(self) -> list[EngineRequest]:
        """Let in whom memory and rows allow, and compute a step; returns the requests that ended with it.

        Their `completion` or `error` is set: FloatingPointError where the model's output is not finite. When the
        computation itself fails, out of memory say, all that were in work have this error.
        """
        try:
            if self._failed_resets:
                self._reset()
            self._admit()
            launched = self._decoding.launch()
            if launched is not None:
                self._stats.decode_steps += 1
                self._stats.decode_rows += launched.num_rows
            if self._read_late:
                launched, self._launched = self._launched, launched
            return self._read(launched) if launched is not None else []
        except RuntimeError as error:
            log.error("a step of the engine failed", exc_info=True)
            problem = error.with_traceback(None)  # its frames hold memory on the device
        failed = list(self._work)
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
        free = self.max_rows - self._decoding.num_samples
        if not self._waiting or (self._work and free < min(self._samples_waiting, ADMITTED_SHARE * self.max_rows)):
            return
        begun: list[EngineRequest] = []
        tokens = 0
        while self._waiting:
            request, nothing_else = self._waiting[0], not self._work
            tokens += len(request.prompt)
            too_many_rows = request.options.num_samples > free and not nothing_else
            if too_many_rows or (begun and tokens > self._prefill_tokens):
                break
            if not self._place(request):
                if not nothing_else:
                    break
                parts = len(split_samples(request.options.num_samples))
                self._decoding.pools.make_room(self._size(len(request.prompt), request.options), parts)
                placed = self._place(request)
                assert placed, "a request that fits alone was not placed"
            begun.append(self._waiting.popleft())
            self._samples_waiting -= request.options.num_samples
            free -= request.options.num_samples
        if begun:
            self._decoding.changed()
            self._fill(begun)

    def _place(self, request: EngineRequest) -> bool:
        """Take slots for a request and open its parts, if there is memory."""
        pools, parts, length = self._decoding.pools, self._decoding.parts, len(request.prompt)
        wanted = self._size(length, request.options)
        slots: list[tuple[SlotSize, int]] = []
        samples = split_samples(request.options.num_samples)
        for _ in samples:
            slot = pools.take(wanted)
            if slot is None:
                for size, number in slots:
                    pools[size].release(number)
                return False
            slots.append(slot)
        markers = [self.tokenizer.tactic, self.tokenizer.value]
        work = _Work([])
        for (first, count), (size, number) in zip(samples, slots):
            info = PartInfo(request, first, count, size)
            shown = markers if first == 0 else markers[:1]
            work.parts.append(parts.open(info, number, request.options.max_new_tokens, shown))
        work.open_parts.update(work.parts)
        self._decoding.active.update(work.parts)
        self._work[request] = work
        return True

    def _fill(self, begun: list[EngineRequest]) -> None:
        """Bring prompts into their slots: from another slot, from those that are kept, or by reading them."""
        pools, parts = self._decoding.pools, self._decoding.parts
        readings: list[Reading] = []
        copies: list[tuple[int, int]] = []
        for request in begun:
            prompt, (first, *others) = request.prompt, self._work[request].parts
            source = self._first_part.setdefault(prompt, first)
            if source != first:
                copies.append((source, first))
                self._stats.reused_tokens += len(prompt)
            else:
                pool, slot = pools[parts.info(first).size], int(parts.slot[first])
                known = self._prefixes.fill(prompt, pool, slot)
                self._stats.reused_tokens += known
                if known < len(prompt):
                    readings.append(Reading(prompt, pool, slot, known))
            copies += [(first, other) for other in others]
        if readings:
            read_prompts(self._network, self._masks, readings, self._kernel)
            self._stats.prefills += len(readings)
            self._stats.prompt_tokens += sum(len(reading.prompt) - reading.start for reading in readings)
        for source, target in copies:
            length = len(parts.info(target).request.prompt)
            origin = pools[parts.info(source).size]
            pools[parts.info(target).size].copy_prompt(int(parts.slot[target]), origin, int(parts.slot[source]), length)
        for request in begun:
            for part in self._work[request].parts:
                info = parts.info(part)
                pools[info.size].open(int(parts.slot[part]), len(request.prompt), info.first == 0)

    def _read(self, launched: Launched) -> list[EngineRequest]:
        """Take over the results of a step; returns the requests that ended."""
        parts, ended = self._decoding.parts, []
        result = self._decoding.read(launched)
        self._stats.sampled_tokens += result.num_sampled
        for part in result.broken:
            if part not in self._decoding.active:
                continue  # another part of its request was broken too
            request = parts.info(part).request
            for other in self._work[request].parts:
                self._decoding.pools[parts.info(other).size].wipe(int(parts.slot[other]))
            self._leave(request)
            request.error = FloatingPointError("the model's output is not finite")
            self._stats.failed += 1
            ended.append(request)
        for part, distribution in result.values.items():
            if part in self._decoding.active:
                info = parts.info(part)
                self._work[info.request].value_distribution = distribution
                self._prefixes.keep(info.request.prompt, self._decoding.pools[info.size], int(parts.slot[part]))
        for part in result.ended:
            if part not in self._decoding.active:
                continue
            request = parts.info(part).request
            work = self._work[request]
            work.open_parts.discard(part)
            if not work.open_parts:
                request.completion = self._completion(work)
                self._leave(request)
                self._stats.completed += 1
                ended.append(request)
        return ended

    def _completion(self, work: _Work) -> Completion:
        parts, samples, unfinished = self._decoding.parts, [], 0
        for part in work.parts:
            for place in range(parts.info(part).count):
                length = parts.lengths[part, place]
                if length < 0:
                    unfinished += 1
                else:
                    tokens = parts.tokens[part, place, :length].tolist()
                    samples.append(Sample(tokens, float(parts.logprobs[part, place])))
        assert work.value_distribution is not None
        return Completion(samples, unfinished, work.value_distribution)

    def _leave(self, request: EngineRequest) -> None:
        """Give back what a request holds."""
        parts = self._decoding.parts
        for part in self._work.pop(request).parts:
            self._decoding.pools[parts.info(part).size].release(int(parts.slot[part]))
            self._decoding.active.discard(part)
            if self._first_part.get(request.prompt) == part:
                del self._first_part[request.prompt]
            parts.close(part)
        self._decoding.changed()
