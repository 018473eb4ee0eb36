"""The inference engine: requests join and leave a continuously decoded batch; memory and rows decide who is admitted.

What is computed, and where keys and values lie, is a backend's affair: operators of torch (`torch_backend.py`), or on a
CPU compiled code (`native_backend.py`).
"""

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import torch

from nanoproof.inference.backend import Backend, Ended, Setting
from nanoproof.inference.cuda_graphs import Recorder
from nanoproof.inference.kv_cache import cache_budget
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.native_backend import open_native
from nanoproof.inference.sampling import Completion, EngineRequest, EngineStats, SamplingOptions
from nanoproof.inference.torch_backend import TorchBackend
from nanoproof.model.flash_attention import Kernel
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer

log = logging.getLogger(__name__)

# Rows: of 96, 192, 384 and 768 none was better for a small network than 192, and 96 cost a third more a state. Tokens
# of prompts that are prefilled together; one prompt may have more. Those of a GPU were not compared with others.
CPU_ROWS, CUDA_ROWS = 192, 1024
CPU_PREFILL_TOKENS, CUDA_PREFILL_TOKENS = 1024, 8192

ADMITTED_SHARE = 1 / 8
"""New requests are admitted when this share of the rows is free, so that several are prefilled at once."""
MIN_TEMPERATURE, MAX_TEMPERATURE = 1e-6, 1e6
"""Beyond, samples are as good as greedy or uniform, and somewhere beyond a number overflows fp32."""
MOST_FAILED_RESETS = 3


class Engine:
    """Answers requests with one model. Not thread-safe: one thread drives it.

    It may work on a copy of the weights: call `refresh` when they have changed. With `own_weights` it works on a copy
    of all that is trained in any case, so that the model may be trained meanwhile. Adapters are merged.
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
        are what suits the device; to say one asks for torch's operators.

        Raises ValueError if CUDA graphs, kernels or a backend are asked for where there are none, or if batch-invariant
        results cannot be had.
        """
        # Logits are cut off behind EOS: markers and value bins, which come after it, cannot be sampled as text.
        assert tokenizer.eos == tokenizer.num_text_tokens, "EOS must follow the text tokens"
        self.model = model
        self.tokenizer = tokenizer
        self.limits = limits or EngineLimits()
        on_cuda = model.device.type == "cuda"
        if self.limits.cuda_graphs == "on" and not on_cuda:
            raise ValueError(f"engine.cuda_graphs: they need a CUDA device, this is {model.device.type}")
        self.max_rows, self._prefill_tokens = CPU_ROWS, CPU_PREFILL_TOKENS
        if on_cuda:
            self.max_rows, self._prefill_tokens = CUDA_ROWS, CUDA_PREFILL_TOKENS
        if self.limits.max_rows:
            self.max_rows = self.limits.max_rows
        budget, self._budget_reason = cache_budget(model.device, self.limits.cache_mbytes)
        # Two caches share the budget: prompts that were read, and slots of what is being decoded. Where prompts begin
        # alike, 27.9 ms a state instead of 33.7; where they do not, no difference.
        self._budget, prompt_budget = budget, int(self.limits.reuse_share * budget)
        self._stats = EngineStats()
        setting = Setting(model, tokenizer, self.limits, budget - prompt_budget, prompt_budget, self._stats)
        native, self._backend_reason = None, "a part of torch's way was asked for"
        if recorder is None and kernel is None and read_late is None:
            native, self._backend_reason = open_native(setting)
        self._backend: Backend = native or TorchBackend(setting, recorder, kernel, read_late, own_weights)
        self._waiting: deque[EngineRequest] = deque()
        self._active: dict[EngineRequest, None] = {}
        self._samples_waiting = self._failed_resets = 0

    def _reset(self) -> None:
        """Drop all active requests and caches. Where that fails, the next step tries it again."""
        # Counted up first and set to 0 last: an exception on the way, of a device that is gone say, leaves the count.
        self._failed_resets += 1
        self._active = {}
        self._backend.reset()
        self._failed_resets = 0

    @property
    def broken(self) -> bool:
        """Whether the device fails again and again, so that no further request can succeed."""
        return self._failed_resets >= MOST_FAILED_RESETS

    @property
    def num_active(self) -> int:
        """Number of requests that are being decoded."""
        return len(self._active)

    @property
    def num_rows(self) -> int:
        """Number of samples that are being decoded."""
        return self._backend.num_samples

    @property
    def idle(self) -> bool:
        return not self._waiting and not self._active

    @property
    def stats(self) -> EngineStats:
        return replace(self._stats, cache_bytes=self._backend.num_bytes)

    def decisions(self) -> dict[str, str]:
        """Describe each choice that depends on the device and its memory, with its reason."""
        rows_reason = f"suits {self.model.device.type}"
        if self.limits.max_rows:
            rows_reason = "asked for"
        return {
            "engine": f"{self._backend.name} ({self._backend_reason})",
            "engine_cache": f"{self._budget / 1e6:.0f} MB ({self._budget_reason})",
            "engine_rows": f"{self.max_rows} ({rows_reason})",
            **self._backend.decisions(),
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
            self._samples_waiting += request.options.num_samples
        self._waiting.extendleft(reversed(again))
        self._stats.restarted += len(again)
        self._backend.refresh()

    def release(self) -> None:
        """Give back the memory for keys and values, and what was recorded with it, until there are requests again.

        Only when idle. Training on the same GPU needs it meanwhile.
        """
        assert self.idle, "memory was to be given back while requests were active"
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
        if not self._backend.fits(len(prompt), options):
            budget = self._budget - int(self.limits.reuse_share * self._budget)
            raise ValueError(f"the keys and values of this request do not fit into {budget / 1e6:.1f} MB")

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
            return self._ended(self._backend.step())
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
        free = self.max_rows - self._backend.num_samples
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
            if too_many_rows or (begun and tokens > self._prefill_tokens):
                break
            # Alone it has to fit, as `submit` promised.
            if not self._backend.allocate(request, alone=nothing_else):
                assert not nothing_else, "a request that fits alone got no memory"
                break
            self._active[request] = None
            begun.append(self._waiting.popleft())
            self._samples_waiting -= request.options.num_samples
            free -= request.options.num_samples
        if begun:
            self._backend.prefill(begun)

    def _ended(self, all_ended: Sequence[Ended]) -> list[EngineRequest]:
        """Hand out the answers of requests that ended with a step; returns these."""
        requests = []
        for ended in all_ended:
            request = ended.request
            request.completion, request.error = ended.completion, ended.error
            self._remove(request)
            if ended.error is None:
                self._stats.completed += 1
            else:
                self._stats.failed += 1
            requests.append(request)
        return requests

    def _remove(self, request: EngineRequest) -> None:
        del self._active[request]
        self._backend.remove(request)
