"""An engine without a network: it answers with given texts, step by step, and can be held, slowed or broken."""

import threading
from collections.abc import Sequence
from types import SimpleNamespace

import torch

from nanoproof.inference.sampling import Completion, EngineRequest, EngineStats, Sample, SamplingOptions
from nanoproof.model.tokenizer import Tokenizer

Text = str | list[int]


class ScriptedEngine:
    """Answers every request after `steps` steps with `texts` (log-probability -1 each) and a value of two tactics.

    `gate` lets a step through while it is set; `entered` is released at the start of each step. `fail_step` is raised
    by the next step, `fail_cancel` by every cancellation, `fail_refresh` by every change of weights; `fail_prompt` is
    the error of requests with that prompt, and `room` what a request may take; with `broken` it says that it is of no
    use any more. One thread at a time may drive it.
    """

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[Text] = ("simp",), steps: int = 1) -> None:
        self.tokenizer, self.texts, self.steps = tokenizer, texts, steps
        self.model = SimpleNamespace(config=SimpleNamespace(sequence_len=64), device=torch.device("cpu"))
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Semaphore(0)
        self.fail_step: BaseException | None = None
        self.fail_cancel: Exception | None = None
        self.fail_refresh: Exception | None = None
        self.fail_prompt: dict[tuple[int, ...], Exception] = {}
        self.submitted: list[EngineRequest] = []
        self.batches: list[int] = []
        self.room = 10**9
        self.refreshed = 0
        self.cancelled = 0
        self.broken = False
        self.stats = EngineStats()
        self._left: dict[EngineRequest, int] = {}
        self._driving = threading.Lock()

    @property
    def prompts(self) -> list[list[int]]:
        return [list(request.prompt) for request in self.submitted]

    @property
    def seeds(self) -> list[int]:
        return [request.seed for request in self.submitted]

    @property
    def idle(self) -> bool:
        return not self._left

    @property
    def num_active(self) -> int:
        return len(self._left)

    def decisions(self) -> dict[str, str]:
        return {"engine": "scripted"}

    def refresh(self) -> None:
        assert self._driving.acquire(blocking=False), "the weights changed in the midst of a step"
        self._driving.release()
        if self.fail_refresh is not None:
            raise self.fail_refresh
        self._left = dict.fromkeys(self._left, self.steps)
        self.refreshed += 1

    def submit(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> EngineRequest:
        if len(prompt) * options.num_samples > self.room:
            raise ValueError(f"{options.num_samples} samples need more memory than there is")
        request = EngineRequest(prompt, options, seed)
        self.submitted.append(request)
        self._left[request] = self.steps
        return request

    def cancel(self, request: EngineRequest) -> None:
        if self.fail_cancel is not None:
            raise self.fail_cancel
        if self._left.pop(request, None) is not None:
            request.cancelled = True
            self.cancelled += 1

    def step(self) -> list[EngineRequest]:
        assert self._driving.acquire(blocking=False), "two threads drive the engine"
        try:
            self.entered.release()
            assert self.gate.wait(20)
            if self.fail_step is not None:
                error, self.fail_step = self.fail_step, None
                raise error
            self.batches.append(len(self._left))
            self._left = {request: left - 1 for request, left in self._left.items()}
            ended = [request for request, left in self._left.items() if left <= 0]
            for request in ended:
                del self._left[request]
                request.error = self.fail_prompt.get(tuple(request.prompt))
                request.completion = None if request.error else self._completion(request.options)
            return ended
        finally:
            self._driving.release()

    def _completion(self, options: SamplingOptions) -> Completion:
        spelled = [text if isinstance(text, list) else self.tokenizer.encode(text) for text in self.texts]
        samples = [Sample(tokens, -1.0) for tokens in spelled][: options.num_samples]
        return Completion(samples, options.num_samples - len(samples), [0.0, 1.0] + [0.0] * 62)
