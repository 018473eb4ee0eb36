"""Options of the models that write tactics and proofs. Nothing here needs torch, which is slow to import."""

import os
from pathlib import Path
from typing import Literal

from nanoproof.common.config import group, opt, validated
from nanoproof.common.errors import UserError

TOKEN_VARIABLE = "NANOPROOF_MODEL_TOKEN"
"""Environment variable with the token that an endpoint asks for."""
USUAL_TOKEN_VARIABLE = "OPENAI_API_KEY"
"""Where other programs look for such a token; it is for one provider, so it goes nowhere unencrypted."""
DTYPES = ("auto", "float32", "bfloat16", "float16", "float64")


@validated("engine")
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


@validated("model")
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


@validated("model")
class EndpointOptions:
    """Endpoints (openai:)."""

    token_file: str | None = opt(
        None, f"File with the token of an endpoint (default: {TOKEN_VARIABLE}, {USUAL_TOKEN_VARIABLE})."
    )
    requests: int = opt(32, "Requests to an endpoint at a time.", min=1)
    requests_per_minute: float | None = opt(None, "Most requests in a minute (none: any number).", above=0)
    timeout: float = opt(600.0, "Seconds that an answer may take.", above=0, advanced=True)
    patience: float = opt(300.0, "Seconds for which a request is repeated that fails.", min=0, advanced=True)
    stream: bool = opt(False, "Ask for texts piece by piece, for proxies that close silent connections.", advanced=True)

    def token(self, private: bool = True) -> str | None:
        """Return the token to send. Raises UserError, which does not show it, if there is none in the file.

        `private` says whether the way to the endpoint is encrypted, or within this machine.
        """
        variable = TOKEN_VARIABLE
        if private and not os.environ.get(TOKEN_VARIABLE):
            variable = USUAL_TOKEN_VARIABLE
        text = os.environ.get(variable, "")
        where = f"the environment variable {variable}"
        if self.token_file is not None:
            where = f"--model-token-file {self.token_file}"
            try:
                text = Path(self.token_file).expanduser().read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise UserError(f"{where} cannot be read: {getattr(error, 'strerror', None) or 'no text'}") from None
        text = text.strip()
        if not text.isascii() or any(character.isspace() for character in text):
            raise UserError(f"{where} holds no token: it must be one word of ASCII")
        if self.token_file is not None and not text:
            raise UserError(f"{where} is empty")
        return text or None


@validated("model")
class LanguageModelOptions:
    """Models of others."""

    hf: HFOptions = group(HFOptions)
    endpoint: EndpointOptions = group(EndpointOptions)
    cache: str | None = opt(
        None, "Folder that keeps what the model wrote, so that it is not asked again.", metavar="DIR", also=("--cache",)
    )
