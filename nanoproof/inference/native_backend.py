"""The engine's computations on a CPU by compiled code (`native.cpp`), which computes a step of all requests at once.

Samples are those of torch's way for the same seeds, as far as rounding allows: the noise is the same. What a request is
answered does not depend on what shares its batch, to the last bit: each row is summed up in an order of its own.
The call leaves Python's lock, so that actors go on meanwhile.
"""

import ctypes
import logging
from collections.abc import Sequence
from ctypes import POINTER, byref, c_bool, c_float, c_int, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from functools import cache
from weakref import WeakValueDictionary

import numpy as np
import torch

from nanoproof.inference.backend import Ended, Setting, cpu_threads
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.native_build import CannotBuild, built_library
from nanoproof.inference.prefill import PrefixCache
from nanoproof.inference.sampling import (
    UNSHAPED,
    Completion,
    EngineRequest,
    EngineStats,
    Noise,
    Sample,
    SamplingOptions,
)
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.lora import merged_parameters
from nanoproof.model.tokenizer import train_tokenizer

log = logging.getLogger(__name__)

DTYPES = (torch.float32, torch.bfloat16)
MOST_PARAMETERS = 20_000_000
"""Of a network that is computed on one thread where there are several: torch shares the products of larger ones out."""
CPU = torch.device("cpu")

# -- The library -----------------------------------------------------------------------------------------------------


class _Shape(ctypes.Structure):
    _fields_ = tuple(
        (name, c_int32)
        for name in (
            *("depth", "width", "heads", "kv_heads", "head_dim", "vocabulary", "positions", "tokens", "first_bin"),
            *("bins", "prefix_lm", "half", "value_embedding"),
        )
    )


class _Wanted(ctypes.Structure):
    _fields_ = (
        *((name, c_int32) for name in ("start", "value_marker", "eos", "samples", "most_tokens", "copies")),
        ("shaping", c_float * len(UNSHAPED)),
        *((name, c_void_p) for name in ("log_arrivals", "uniforms", "tokens", "lengths", "logprobs", "running")),
        ("value", c_void_p),
    )


SIGNATURES: dict[str, tuple[object, tuple[object, ...]]] = {
    "native_lanes": (c_int, ()),
    "native_shapings": (c_int, ()),
    "native_open": (c_void_p, (POINTER(_Shape), c_void_p, c_void_p)),
    "native_close": (None, (c_void_p,)),
    "native_weights": (c_bool, (c_void_p, c_void_p)),
    "native_bytes": (c_int64, (POINTER(_Shape), c_int)),
    "native_prompt": (c_void_p, (c_void_p, c_int, c_void_p, c_int)),
    "native_forget_prompt": (None, (c_void_p,)),
    "native_prefill": (c_bool, (c_void_p, c_void_p, c_void_p, c_int, c_void_p)),
    "native_request": (c_void_p, (c_void_p, c_void_p, POINTER(_Wanted))),
    "native_forget_request": (None, (c_void_p,)),
    "native_step": (c_int, (c_void_p, c_void_p, c_int, c_void_p)),
}


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    """Tell ctypes the signatures. Raises CannotBuild if native.cpp lacks an option of `SamplingOptions.shaping`."""
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if library.native_shapings() != len(UNSHAPED):
        raise CannotBuild("the compiled engine does not know all options of sampling")
    return library


def native_library() -> ctypes.CDLL:
    """Return the compiled library, which is tried when it is new. Raises CannotBuild, with the reason."""
    return _declare(built_library(_difference))


def missing_for_native(model: GPT, limits: EngineLimits) -> str | None:
    """Return why a network cannot be computed by compiled code, or not well where that is left open; None if it can."""
    if model.device.type != "cpu":
        return f"the compiled engine is for CPUs, this is {model.device.type}"
    if model.compute_dtype not in DTYPES:
        name = str(model.compute_dtype).removeprefix("torch.")
        return f"the compiled engine computes in float32 (with weights in it or in bfloat16), this is {name}"
    if limits.backend == "auto" and cpu_threads() > 1 and model.num_parameters() > MOST_PARAMETERS:
        return f"the compiled engine computes on one thread, there are {cpu_threads()} for a large network"
    try:
        native_library()
    except CannotBuild as error:
        if limits.backend == "auto":
            _warn(str(error))
        return str(error)
    return None


def open_native(setting: Setting) -> tuple["NativeBackend | None", str]:
    """Decide for `engine.backend`; returns the backend, None for torch's way, and the reason.

    Raises ValueError if it was asked for and cannot be had.
    """
    model, wanted = setting.model, setting.limits.backend
    if wanted == "torch":
        return None, "asked for"
    problem = missing_for_native(model, setting.limits)
    if problem is None:
        backend = NativeBackend(setting, native_library())
        return backend, f"compiled for {backend.lanes} numbers at a time"
    if wanted == "native":
        raise ValueError(f"engine.backend: {problem}")
    return None, problem


@cache
def _warn(problem: str) -> None:
    """Say once in a process why the policy will be slower than it need be."""
    log.warning("the policy is computed by torch, several times as slow as by the compiled engine: %s", problem)


PROBE = SamplingOptions(num_samples=2, max_new_tokens=3)
PROBED_TOKENS, PROBED_VOCABULARY = 40, 450
TOLERANCE = 1e-3
"""By how much log-probabilities may differ from torch's: rounding makes it 1e-5, a wrong column or head 1 or more."""


@torch.no_grad()
def _difference(library: ctypes.CDLL) -> str | None:
    """Compute a prompt and its samples with a small random network both ways; returns how these differ, if they do."""
    tokenizer = train_tokenizer(["x = x"], PROBED_VOCABULARY)
    config = GPTConfig(
        tokenizer.vocab_size, depth=3, aspect_ratio=32, head_dim=16, sequence_len=64, window_pattern="SL"
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = GPT.create(config)
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=0.2)
    limits = EngineLimits(backend="native")
    backend = NativeBackend(Setting(model, tokenizer, limits, 10**9, 0, EngineStats()), _declare(library))
    prompt = [tokenizer.bos, *range(PROBED_TOKENS)]
    request = EngineRequest(prompt, PROBE, 0)
    backend.allocate(request, alone=True)
    backend.prefill([request])
    ended: list[Ended] = []
    while not ended:
        ended = backend.step()
    answer = ended[0].completion
    if answer is None:
        return "what was compiled computes numbers that are not finite"
    errors = []
    for sample in answer.unfinished + tuple(answer.samples):
        tokens = [*sample.tokens, tokenizer.eos][: PROBE.max_new_tokens]
        text = torch.tensor([[*prompt, tokenizer.tactic, *tokens]])
        logprobs = model(text)[0, len(prompt) : -1, : tokenizer.eos + 1].log_softmax(dim=-1)
        expected = float(logprobs.gather(1, torch.tensor(tokens).unsqueeze(1)).sum())
        errors.append(abs(sample.logprob - expected))
    logits = model(torch.tensor([[*prompt, tokenizer.value]]))[0, -1, list(tokenizer.bins)]
    expected_value = torch.tensor(answer.value_distribution)
    errors.append(float((logits.softmax(dim=-1) - expected_value).abs().max()))
    if max(errors) <= TOLERANCE:  # false for NaN
        return None
    return f"what was compiled computes other numbers than torch ({max(errors):.1e} off)"


# -- Requests --------------------------------------------------------------------------------------------------------


class _Prompt:
    """Keys and values of a prompt, freed with the last who has it."""

    def __init__(self, library: ctypes.CDLL, handle: int, length: int, num_bytes: int) -> None:
        self._forget, self.handle = library.native_forget_prompt, handle
        self.length, self.num_bytes = length, num_bytes

    def __del__(self) -> None:
        self._forget(self.handle)


@dataclass(eq=False)
class _Active:
    """A request in work: its noise and the arrays that the library writes to, which live as long as it."""

    request: EngineRequest
    num_bytes: int
    noise: tuple[torch.Tensor, torch.Tensor]
    tokens_KT: np.ndarray
    lengths_K: np.ndarray
    logprobs_K: np.ndarray
    running_K: np.ndarray
    value_B: np.ndarray
    time: int = 0
    left: int = 0
    """Samples whose end was not reached."""
    prompt: _Prompt | None = None
    handle: int | None = None


class NativeBackend:
    """Computes on the calling thread, with a copy of the weights that `refresh` makes."""

    name = "native"

    def __init__(self, setting: Setting, library: ctypes.CDLL) -> None:
        """Raises RuntimeError if there is no memory for the weights."""
        model, tokenizer = setting.model, setting.tokenizer
        config: GPTConfig = model.config
        self._model, self._tokenizer, self._stats, self._library = model, tokenizer, setting.stats, library
        self._budget, self._num_tokens = setting.budget, tokenizer.eos + 1
        self.lanes = library.native_lanes()
        self._shape = _Shape(
            depth=config.depth,
            width=config.width,
            heads=config.num_heads,
            kv_heads=config.kv_heads,
            head_dim=config.head_dim,
            vocabulary=config.padded_vocab_size,
            positions=config.sequence_len,
            tokens=self._num_tokens,
            first_bin=tokenizer.bins[0],
            bins=len(tokenizer.bins),
            prefix_lm=config.prefix_lm,
            half=model.compute_dtype == torch.bfloat16,
            value_embedding=config.value_embedding,
        )
        windows = np.array(config.windows, dtype=np.int32)
        rope = torch.view_as_real(model.rope).float().contiguous()
        self._handle = library.native_open(byref(self._shape), windows.ctypes.data, rope.data_ptr())
        if self._handle is None:
            raise RuntimeError("no memory for the network")
        self._prompts = PrefixCache[_Prompt](setting.prompt_budget, whole_only=config.prefix_lm)
        self._active: dict[EngineRequest, _Active] = {}
        self.reset()
        self.refresh()

    def __del__(self) -> None:
        # Not there where `__init__` failed.
        if getattr(self, "_handle", None) is not None:
            self._library.native_close(self._handle)

    def decisions(self) -> dict[str, str]:
        """Describe what weights are computed with."""
        weights = "float32"
        if self._shape.half:
            weights = "bfloat16"
        return {"engine_weights": f"{weights} (the type of the computation), summed up in float32"}

    @property
    def num_bytes(self) -> int:
        return self._num_bytes + self._prompts.num_bytes

    def reset(self) -> None:
        """Drop all requests and prompts."""
        for active in self._active.values():
            self._forget(active)
        self._active.clear()
        self._table: ctypes.Array[c_void_p] | None = None
        """Handles of all active requests, until one comes or goes."""
        self._left = np.zeros(0, dtype=np.int32)
        # Prompts that active requests have: others of the same tokens take part.
        self._shared: WeakValueDictionary[tuple[int, ...], _Prompt] = WeakValueDictionary()
        self.num_samples = self._num_bytes = 0
        self._prompts.clear()

    @torch.no_grad()
    def refresh(self) -> None:
        """Read the model's present weights, with adapters merged, and forget prompts that were read with others."""
        self._prompts.clear()
        self._shared.clear()
        names = [name for name, _ in self._model.named_parameters() if ".lora_" not in name]
        weights = dict(zip(names, merged_parameters(self._model), strict=True))
        order = ["embedding.weight"]
        for layer in range(self._model.config.depth):
            for matrix in ("qkv", "attention_out", "up", "down"):
                order.append(f"blocks.{layer}.{matrix}.weight")
        order += ["head.weight", "residual_scale", "embedding_scale"]
        if self._model.config.value_embedding:
            order += ["value_embedding.weight", "value_scale"]
        # Kept until the call is over: what is converted here belongs to nobody else.
        tensors = [weights[name].detach().float().contiguous() for name in order]
        pointers = (c_void_p * len(tensors))(*[tensor.data_ptr() for tensor in tensors])
        if not self._library.native_weights(self._handle, pointers):
            raise RuntimeError("no memory for the weights")

    # -- memory --------------------------------------------------------------------------------------------------------

    def _bytes_of(self, length: int, options: SamplingOptions) -> int:
        """Count the bytes of a prompt (as if nobody shared it), and of the tokens of its samples."""
        prompt = self._library.native_bytes(byref(self._shape), length)
        # Two at least, for the markers of tactic and value.
        return prompt + max(2, options.num_samples) * self._library.native_bytes(
            byref(self._shape), options.max_new_tokens
        )

    def fits(self, length: int, options: SamplingOptions) -> bool:
        """Tell whether the budget suffices for a request alone."""
        return self._bytes_of(length, options) <= self._budget

    def allocate(self, request: EngineRequest, alone: bool) -> bool:
        """Count a request in, if the budget has room for it, and draw its noise."""
        options = request.options
        num_bytes = self._bytes_of(len(request.prompt), options)
        if self._num_bytes + num_bytes > self._budget:
            return False
        noise = Noise.draw([request.seed], self._num_tokens, options, CPU)
        samples, steps = options.num_samples, options.max_new_tokens
        self._active[request] = _Active(
            request,
            num_bytes,
            (noise.arrivals_SVC[0].log().contiguous(), noise.uniforms_TSK[:, 0].contiguous()),
            tokens_KT=np.zeros((samples, steps), dtype=np.int32),
            lengths_K=np.full(samples, -1, dtype=np.int32),
            logprobs_K=np.zeros(samples),
            running_K=np.zeros(samples, dtype=np.uint8),
            value_B=np.zeros(self._shape.bins, dtype=np.float32),
            left=samples,
        )
        self._num_bytes += num_bytes
        self.num_samples += samples
        self._table = None
        return True

    def remove(self, request: EngineRequest) -> None:
        """Free a request; its prompt stays if it is kept, or another request has it."""
        active = self._active.pop(request)
        self._num_bytes -= active.num_bytes
        self.num_samples -= active.left
        self._table = None
        self._forget(active)

    def _forget(self, active: _Active) -> None:
        if active.handle is not None:
            self._library.native_forget_request(active.handle)
        active.handle = active.prompt = None

    # -- computation ---------------------------------------------------------------------------------------------------

    def prefill(self, begun: Sequence[EngineRequest]) -> None:
        """Read the prompts that nobody has read, or what follows the part that somebody has."""
        to_read: list[_Prompt] = []
        tokens: list[int] = []
        lengths: list[int] = []
        for request in begun:
            active, length = self._active[request], len(request.prompt)
            prompt = self._shared.get(request.prompt)
            num_cached = length
            if prompt is None:
                prompt, num_cached = self._prompts.longest_prefix(request.prompt)
            if prompt is None or prompt.length != length or num_cached < length:
                prompt = self._room_for(length, prompt, num_cached)
            if num_cached < length:
                to_read.append(prompt)
                lengths.append(length)
                tokens += request.prompt
                self._stats.prompt_tokens += length - num_cached
            self._stats.reused_tokens += num_cached
            self._shared[request.prompt] = prompt
            active.prompt = prompt
            active.handle = self._library.native_request(self._handle, prompt.handle, byref(self._wanted(active)))
            if active.handle is None:
                raise RuntimeError("no memory for a request")
        if not to_read:
            return
        self._stats.prefills += len(to_read)
        handles = (c_void_p * len(to_read))(*[prompt.handle for prompt in to_read])
        tokens_P, lengths_S = np.array(tokens, dtype=np.int32), np.array(lengths, dtype=np.int32)
        if not self._library.native_prefill(
            self._handle, handles, lengths_S.ctypes.data, len(to_read), tokens_P.ctypes.data
        ):
            raise RuntimeError("no memory for prompts")

    def _room_for(self, length: int, other: _Prompt | None, common: int) -> _Prompt:
        """Make room for a prompt that begins as another does, if there is one."""
        source = None
        if other is not None:
            source = other.handle
        handle = self._library.native_prompt(self._handle, length, source, common)
        if handle is None:
            raise RuntimeError("no memory for a prompt")
        return _Prompt(self._library, handle, length, self._library.native_bytes(byref(self._shape), length))

    def _wanted(self, active: _Active) -> _Wanted:
        options, (log_arrivals_VC, uniforms_TK) = active.request.options, active.noise
        start = options.start
        if start is None:
            start = self._tokenizer.tactic
        return _Wanted(
            start=start,
            value_marker=self._tokenizer.value,
            eos=self._tokenizer.eos,
            samples=options.num_samples,
            most_tokens=options.max_new_tokens,
            copies=log_arrivals_VC.shape[1],
            shaping=options.shaping,
            log_arrivals=log_arrivals_VC.data_ptr(),
            uniforms=uniforms_TK.data_ptr(),
            tokens=active.tokens_KT.ctypes.data,
            lengths=active.lengths_K.ctypes.data,
            logprobs=active.logprobs_K.ctypes.data,
            running=active.running_K.ctypes.data,
            value=active.value_B.ctypes.data,
        )

    def step(self) -> list[Ended]:
        """Compute a token of every sample that goes on."""
        in_work = list(self._active.values())
        if not in_work:
            return []
        if self._table is None:
            self._table = (c_void_p * len(in_work))(*[active.handle for active in in_work])
            self._left = np.zeros(len(in_work), dtype=np.int32)
        rows = self._library.native_step(self._handle, self._table, len(in_work), self._left.ctypes.data)
        if rows < 0:
            raise RuntimeError("no memory for a step")
        self._stats.decode_steps += 1
        self._stats.decode_rows += rows
        self._stats.sampled_tokens += self.num_samples
        ended = []
        self.num_samples = 0
        for active, left in zip(in_work, self._left.tolist()):
            active.time += 1
            if left >= 0 and active.request.options.stop:
                left = self._stop(active)
            if active.time == 1 and left >= 0:
                # Only now is it known that what the prompt led to is finite: a broken one must not be kept.
                self._keep(active)
            active.left = max(0, left)
            self.num_samples += active.left
            if left < 0:
                error = FloatingPointError("the model's output is not finite")
                ended.append(Ended(active.request, error=error))
            elif left == 0:
                ended.append(Ended(active.request, self._completion(active)))
        return ended

    def _keep(self, active: _Active) -> None:
        prompt = active.prompt
        assert prompt is not None
        self._prompts.add(active.request.prompt, prompt.num_bytes, lambda: prompt)

    def _stop(self, active: _Active) -> int:
        """End the samples that hold a `stop` text with their last token; returns how many go on."""
        stop = active.request.options.stop
        # Tokens have a byte or more: so many hold every stop text that this token may have completed.
        longest = max(len(text.encode()) for text in stop)
        for sample in np.flatnonzero(active.lengths_K < 0):
            last_tokens = active.tokens_KT[sample, max(0, active.time - longest) : active.time]
            tail = self._tokenizer.decode(last_tokens.tolist())
            if any(text in tail for text in stop):
                active.lengths_K[sample] = active.time
                active.running_K[sample] = 0
        return int(active.running_K.sum())

    def _completion(self, active: _Active) -> Completion:
        samples: list[Sample] = []
        unfinished: list[Sample] = []
        rows = zip(active.tokens_KT.tolist(), active.lengths_K.tolist(), active.logprobs_K.tolist())
        for tokens, length, logprob in rows:
            if length < 0:
                unfinished.append(Sample(tokens, logprob))
            else:
                samples.append(Sample(tokens[:length], logprob))
        return Completion(samples, len(unfinished), active.value_B.tolist(), tuple(unfinished))


def main() -> None:
    """Compile what is not compiled yet, for `runs/setup.sh`, and say whether it could be."""
    try:
        native_library()
        print("set-up: the policy on a CPU is computed by compiled code")
    except CannotBuild as error:
        print(f"set-up: the policy on a CPU is computed by torch, several times as slow as by compiled code: {error}")


if __name__ == "__main__":
    main()
