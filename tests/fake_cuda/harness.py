"""A CUDA device that is none: tensors that say they are on `cuda:0` while their numbers lie in the CPU's memory.

The program takes its paths for GPUs, with true numbers, and every operator passes by here: kernels are counted, and so
is what a GPU would have to be waited for. Times, streams and what a kernel does inside are not shown.
"""

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from tests.model.attention_layouts import slow_kernel

os.environ["TRITON_INTERPRET"] = "1"  # which Triton reads when it is imported
aten = torch.ops.aten
DEVICE = torch.device("cuda", 0)


class CudaTensor(torch.Tensor):
    """A tensor that tells Python that it is on the GPU; `values` lie on the CPU, or are none (`meta`).

    To torch's C++ it is on the CPU, so that autograd asks no driver for streams.
    """

    values: torch.Tensor

    @staticmethod
    def __new__(cls, values: torch.Tensor) -> "CudaTensor":
        with torch.inference_mode(False):  # views of what was made outside of it are no tensors of inference
            made = torch.Tensor._make_wrapper_subclass(
                cls,
                values.size(),
                strides=values.stride(),
                storage_offset=values.storage_offset(),
                dtype=values.dtype,
                device=torch.device("cpu"),
            )
        made.values = values
        return made

    device = property(lambda self: DEVICE)  # type: ignore[assignment]
    is_cuda = property(lambda self: True)  # type: ignore[assignment]

    @property
    def data(self) -> torch.Tensor:
        return self.detach()

    @data.setter
    def data(self, new: "CudaTensor") -> None:
        torch.Tensor.data.__set__(self, new)  # type: ignore[attr-defined]
        self.values = new.values

    def to(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        target = kwargs.get("device", args[0] if args else None)
        if isinstance(target, (str, torch.device)):
            if torch.device(target).type == "cuda":
                rest = [x for x in args[1:] if isinstance(x, torch.dtype)]
                dtype = kwargs.get("dtype", rest[0] if rest else None)
                return self if dtype is None else super().to(dtype)
            active().count.waits["copy to the CPU"] += not kwargs.get("non_blocking", False)
            return self.detach().values.clone()
        return super().to(*args, **kwargs)

    def cpu(self, *args: Any) -> torch.Tensor:
        return self.to("cpu")

    def tolist(self) -> Any:
        return self.to("cpu").tolist()

    def data_ptr(self) -> int:
        return self.values.data_ptr()

    def numpy(self, **kwargs: Any) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"CudaTensor({self.values!r})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{func} was called outside of the pretended device")


# Operators that launch nothing on a device: new memory that is not filled, and views (others are told by their schema).
ALLOCATIONS = {
    "_unsafe_view",
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "set_",
    "resize_",
}
# Operators whose result's size, or number, the CPU has to know, so that it waits for the device.
WAITS = {
    "_local_scalar_dense",
    "item",
    "nonzero",
    "masked_select",
    "_unique2",
    "unique_dim",
    "unique_consecutive",
    "bincount",
    "is_nonzero",
    "equal",
    "repeat_interleave",
}


def is_view(func: Any) -> bool:
    """Tell whether an operator returns a view of its argument, or the argument itself, without writing."""
    returns = func._schema.returns
    return bool(returns) and all(one.alias_info is not None and not one.alias_info.is_write for one in returns)


@dataclass
class Count:
    """What was launched, waited for, and copied while it was open. `ops` are kernels by operator."""

    ops: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)
    copies: int = 0
    """Copies from the CPU to the device; they do not wait, as what is copied is pinned or small."""
    largest: int = 0
    """Bytes of the largest tensor that a kernel wrote anew."""

    @property
    def kernels(self) -> int:
        return sum(self.ops.values())

    @property
    def syncs(self) -> int:
        return sum(self.waits.values())


class Pretend(TorchDispatchMode):
    """While it is open, `cuda` is a device: tensors can be made there, and operators on them are counted.

    With `meta` tensors there have a shape and no numbers: for networks of true size.
    """

    def __init__(self, meta: bool = False) -> None:
        super().__init__()
        self.meta, self.count = meta, Count()
        self.interprets = True
        """Whether Triton kernels are computed, which is slow; else they are counted, and their results are zeros."""
        self._place = torch.device("meta" if meta else "cpu")
        self._patches = contextlib.ExitStack()

    def __enter__(self) -> "Pretend":
        if not _active:  # else it is opened again, within an operator
            for patch in patches():
                self._patches.enter_context(patch)
            # A conversion of a module makes new parameters: put into the old ones, it would not reach their values.
            torch.__future__.set_overwrite_module_params_on_conversion(True)
        _active.append(self)
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        _active.pop()
        if not _active:
            torch.__future__.set_overwrite_module_params_on_conversion(False)
            self._patches.close()

    @contextlib.contextmanager
    def counting(self) -> Iterator[Count]:
        """Count anew until the end of the block."""
        before, self.count = self.count, Count()
        try:
            yield self.count
        finally:
            self.count = before

    def move(self, model: torch.nn.Module) -> None:
        """Move parameters and buffers to the pretended device, in place."""
        for module in model.modules():
            for name, parameter in list(module._parameters.items()):
                if parameter is not None:
                    held = CudaTensor(parameter.detach().to(self._place))
                    module._parameters[name] = torch.nn.Parameter(held, parameter.requires_grad)
            for name, buffer in list(module._buffers.items()):
                if buffer is not None:
                    module._buffers[name] = CudaTensor(buffer.to(self._place))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = func._schema.name.split("::")[1]
        if func not in SUBSTITUTES and torch._C._dispatch_has_kernel_for_dispatch_key(
            func.name(), "CompositeImplicitAutograd"
        ):
            with self:
                made = func.decompose(*args, **kwargs)
            if made is not NotImplemented:
                return made
        there = [x for x in tree_leaves((args, kwargs)) if isinstance(x, CudaTensor)]
        wanted = kwargs.get("device")
        moved = wanted is not None and torch.device(wanted).type == "cuda"
        if not there and not moved:
            return func(*args, **kwargs)
        wrappers = {id(x.values): x for x in there}
        plain_args, plain_kwargs = tree_map(self._values, args), tree_map(self._values, kwargs)
        if wanted is not None:
            plain_kwargs["device"] = self._place
        self._note(func, name, args, kwargs, there)
        result = SUBSTITUTES.get(func, func)(*plain_args, **plain_kwargs)
        if name == "copy_" and not isinstance(args[0], CudaTensor):
            return args[0]
        made = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor) and id(x) not in wrappers]
        if made and not is_view(func):
            self.count.largest = max(self.count.largest, *(x.numel() * x.element_size() for x in made))
        return tree_map(lambda x: wrappers[id(x)] if id(x) in wrappers else _wrapped(x), result)

    def _values(self, x: Any) -> Any:
        if isinstance(x, CudaTensor):
            return x.values
        if isinstance(x, torch.Tensor) and self._place.type == "meta":
            return x.to("meta")  # of the CPU: a number, or an index
        return x

    def _note(self, func: Any, name: str, args: Any, kwargs: dict[str, Any], there: list[CudaTensor]) -> None:
        if name == "copy_" and not isinstance(args[0], CudaTensor):
            if not (args[2] if len(args) > 2 else False):
                self.count.waits["copy to the CPU"] += 1
            return
        if (name == "_to_copy" and not there) or (name == "copy_" and not isinstance(args[1], CudaTensor)):
            self.count.copies += 1
            return
        if name in WAITS:
            self.count.waits[name] += not (name == "repeat_interleave" and kwargs.get("output_size") is not None)
        if name in ("index", "index_put", "index_put_"):
            masks = [x for x in args[1] if x is not None and x.dtype in (torch.bool, torch.uint8)]
            if masks:
                self.count.waits["index by a mask"] += 1
                self.count.ops["nonzero"] += len(masks)
        if name == "_local_scalar_dense" or name in ALLOCATIONS or is_view(func):
            return
        self.count.ops[name] += 1


_active: list[Pretend] = []


def active() -> Pretend:
    """Return the pretended device that is open."""
    return _active[-1]


def _wrapped(x: Any) -> Any:
    return CudaTensor(x) if isinstance(x, torch.Tensor) and not isinstance(x, CudaTensor) else x


# -- What the CPU does not have --------------------------------------------------------------------------------------


class _Norm(torch.autograd.Function):
    """RMSNorm as the one kernel that a GPU has for it, and one for its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, x.new_empty((*x.shape[:-1], 1), dtype=torch.float32))
        return _one("rms_norm", _rms_norm, x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return _one("rms_norm_backward", _rms_norm_gradient, grad, ctx.saved_tensors[0])


_rms_norm = torch.nn.functional.rms_norm


def _norm(x: torch.Tensor, shape: Any, *args: Any) -> torch.Tensor:
    return _Norm.apply(x) if isinstance(x, CudaTensor) else _rms_norm(x, shape, *args)


def _rms_norm_gradient(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(_rms_norm(x, x.shape[-1:]), x, grad)
    return gradient


def _one(name: str, compute: Callable[..., torch.Tensor], *tensors: torch.Tensor, kernels: int = 1) -> torch.Tensor:
    """Compute with plain tensors what a GPU does by so many kernels."""
    active().count.ops[name] += kernels
    values = [x.values for x in tensors if isinstance(x, CudaTensor)]
    with torch.utils._python_dispatch._disable_current_modes():
        if name == "rms_norm":
            return CudaTensor(compute(values[0], values[0].shape[-1:]))
        return CudaTensor(compute(*values))


class FlashKernel(torch.autograd.Function):
    """Attention of sequences as the one kernel of the forward pass; what it reads is computed by a slow one."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *rest: Any) -> torch.Tensor:
        active().count.ops["flash"] += 1
        ctx.save_for_backward(q, k, v, torch.empty_like(q), q.new_empty(q.shape[:2], dtype=torch.float32))
        ctx.rest = rest
        return _flash(q, k, v, *rest)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        active().count.ops["flash_backward"] += 3  # the sums of gradient times output, the gradients, and that of q
        q, k, v, *_ = ctx.saved_tensors
        if active().meta:
            return (*(torch.empty_like(x) for x in (q, k, v)), *[None] * len(ctx.rest))
        with torch.utils._python_dispatch._disable_current_modes(), torch.enable_grad():
            plain = [x.values.detach().float().requires_grad_() for x in (q, k, v)]
            y = slow_kernel(*plain, *(x.values if isinstance(x, CudaTensor) else x for x in ctx.rest))
            gradients = torch.autograd.grad(y, plain, grad.values.float())
        return (*(CudaTensor(g.to(q.dtype)) for g in gradients), *[None] * len(ctx.rest))


def _flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *rest: Any) -> torch.Tensor:
    if active().meta:
        return torch.empty_like(q)
    with torch.utils._python_dispatch._disable_current_modes():
        plain = [x.values.detach().float() for x in (q, k, v)]
        y = slow_kernel(*plain, *(x.values if isinstance(x, CudaTensor) else x for x in rest))
    return CudaTensor(y.to(q.dtype))


def flash_kernel(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_q: torch.Tensor,
    cu_k: torch.Tensor,
    max_q: int,
    max_k: int,
    window: tuple[int, int],
) -> torch.Tensor:
    """Take the place of torch's kernel for sequences of different lengths."""
    return FlashKernel.apply(q, k, v, cu_q, cu_k, max_q, max_k, window)


def _bmm_dtype(one: torch.Tensor, other: torch.Tensor, out_dtype: torch.dtype) -> torch.Tensor:
    return torch.bmm(one.to(out_dtype), other.to(out_dtype))


SUBSTITUTES: dict[Any, Callable[..., Any]] = {
    aten.bmm.dtype: _bmm_dtype,
    aten.scaled_dot_product_attention.default: aten.scaled_dot_product_attention.default,
}


class Event:
    """An event of a device that has always done everything."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def record(self, *args: Any) -> None: ...

    def synchronize(self) -> None: ...


class PlainGenerator:
    """Makes generators of the CPU, whatever device is said; a class, as annotations name it."""

    def __new__(cls, device: Any = "cpu") -> Any:
        return _Generator("cpu")


_Generator, _tensor = torch.Generator, torch.tensor


def _made_tensor(data: Any, *, device: Any = None, **kwargs: Any) -> torch.Tensor:
    made = _tensor(data, **kwargs)
    if device is None or torch.device(device).type == "cpu":
        return made
    active().count.copies += 1
    return CudaTensor(made.to("meta") if active().meta else made)


LAUNCH_RESULTS = {
    "_embed": ("out",),
    "_mix": ("mixed", "out"),
    "_project": ("q", "k", "v"),
    "_sample": ("tokens", "logprobs"),
}
"""What a kernel fills that was empty before."""


def _launched(kernel: Any, grid: tuple[int, ...], *args: Any, **constants: Any) -> None:
    """Let Triton's interpreter compute what one launch of a kernel does, or take zeros for it."""
    name = kernel.__name__
    active().count.ops[name.strip("_")] += 1
    values = [x.values if isinstance(x, CudaTensor) else x for x in args]
    with torch.utils._python_dispatch._disable_current_modes():
        if active().interprets:
            kernel[grid](*values, **constants)
            return
        for result in LAUNCH_RESULTS.get(name, ()):
            values[kernel.arg_names.index(result)].zero_()


def patches() -> list[Any]:
    """What of `torch.cuda` and Triton the program calls, for the pretended device."""
    kernels = []
    if torch.version.cuda is not None:
        from nanoproof.inference import fused, triton_kernels

        assert triton_kernels.interpreted(), "Triton was imported before the harness"
        kernels = [
            mock.patch.object(triton_kernels, "launch", _launched),
            mock.patch.object(fused, "missing_for_triton", lambda: None),
        ]
    return [
        *kernels,
        mock.patch.object(torch.cuda, "_lazy_init", lambda: None),
        mock.patch.object(torch.cuda, "is_available", lambda: True),
        mock.patch.object(torch.cuda, "get_device_capability", lambda device=None: (9, 0)),
        mock.patch.object(torch.cuda, "get_device_name", lambda device=None: "NVIDIA H100 80GB HBM3"),
        mock.patch.object(torch.cuda, "mem_get_info", lambda device=None: (70 * 10**9, 80 * 10**9)),
        mock.patch.object(torch.cuda, "memory_reserved", lambda device=None: 0),
        mock.patch.object(torch.cuda, "memory_allocated", lambda device=None: 0),
        mock.patch.object(torch.cuda, "empty_cache", lambda: None),
        mock.patch.object(torch.cuda, "Event", Event),
        mock.patch.object(torch, "Generator", PlainGenerator),
        mock.patch.object(torch, "tensor", _made_tensor),
        mock.patch.object(torch.nn.functional, "rms_norm", _norm),
        mock.patch.object(torch.Tensor, "pin_memory", lambda self, device=None: self),
    ]
