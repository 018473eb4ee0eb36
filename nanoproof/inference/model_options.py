"""Options of the models that write tactics and proofs. Nothing here needs torch, which is slow to import."""

from dataclasses import dataclass
from typing import Literal

from nanoproof.common.config import group, opt, validate
from nanoproof.inference.openai_model import EndpointOptions

DTYPES = ("auto", "float32", "bfloat16", "float16", "float64")


@dataclass(frozen=True)
class EngineLimits:
    """How much the engine holds at a time, and what computes."""

    backend: Literal["auto", "native", "torch"] = opt(
        "auto",
        "What computes: compiled code (CPUs) or torch; auto takes the first where it can be had.",
        choices=("auto", "native", "torch"),
        advanced=True,
        also=("--engine",),
    )
    cache_mbytes: float | None = opt(
        None, "Memory for keys and values, in units of 10^6 bytes (none: a share of what is free).", above=0
    )
    max_rows: int | None = opt(
        None, "Samples that are decoded at a time; one request may have more (none: what suits the device).", min=1
    )
    reuse_share: float = opt(
        0.25, "Share of that memory which keeps prompts that were read.", min=0, max=0.9, advanced=True
    )
    cuda_graphs: Literal["auto", "on", "off"] = opt(
        "auto",
        "Record decoding steps as CUDA graphs; auto does on a GPU.",
        choices=("auto", "on", "off"),
        advanced=True,
    )
    kernels: Literal["auto", "on", "off"] = opt(
        "auto",
        "Decode and prefill by Triton kernels; auto does on a GPU where they work.",
        choices=("auto", "on", "off"),
        advanced=True,
    )
    batch_invariant: bool = opt(
        False,
        "On a CPU in float32, compute in padded batches: the bits of a state's answer then do not depend on which "
        "states share its batch.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        validate(self, "engine")


@dataclass(frozen=True)
class HFOptions:
    """Models of transformers (hf:)."""

    dtype: Literal["auto", "float32", "bfloat16", "float16", "float64"] = opt(
        "auto", "Type to compute in; auto: that of the weights on a GPU, float32 on a CPU.", choices=DTYPES
    )
    device_map: str | None = opt(
        None,
        "How accelerate spreads the network over devices: auto, balanced, sequential (none: all on one).",
        advanced=True,
    )
    load_4bit: bool = opt(False, "Load the weights in 4 bits (needs bitsandbytes and a GPU).")
    batch_rows: int = opt(64, "Samples that are written at a time.", min=1, advanced=True)

    def __post_init__(self) -> None:
        validate(self, "model")


@dataclass(frozen=True)
class LanguageModelOptions:
    """Models of others."""

    hf: HFOptions = group(HFOptions)
    endpoint: EndpointOptions = group(EndpointOptions)
    cache: str | None = opt(
        None, "Folder that keeps what the model wrote, so that it is not asked again.", metavar="DIR", also=("--cache",)
    )

    def __post_init__(self) -> None:
        validate(self, "model")
