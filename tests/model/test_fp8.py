"""8-bit products: nearly the plain ones, gradients included; master weights stay fp32."""

import pytest
import torch

from nanoproof.model.compute import FP8_FORWARD, FP8_GRADIENT, Float8Linear, convert_to_fp8, missing_for_fp8, quantize
from nanoproof.model.gpt import GPT, Linear
from nanoproof.model.tokenizer import Tokenizer
from tests.model.conftest import make_model


def relative_error(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


@pytest.mark.parametrize(("dtype", "relative"), [(FP8_FORWARD, 2**-4), (FP8_GRADIENT, 2**-3)])
@pytest.mark.parametrize("size", [1e-20, 1.0, 1e20])
def test_quantized_numbers_are_near_whatever_their_size(dtype: torch.dtype, relative: float, size: float) -> None:
    x = torch.randn(64, 64, generator=torch.Generator().manual_seed(0)).clamp(min=0.1) * size
    x8, scale = quantize(x, dtype)
    if size > 1e-12:
        assert ((x8.float() * scale - x).abs() / x).max() <= relative
        assert x8.float().abs().max() == torch.finfo(dtype).max
    assert x8.float().isfinite().all()


def test_zeros_stay_zeros() -> None:
    x8, scale = quantize(torch.zeros(16, 16), FP8_FORWARD)
    assert not x8.float().any() and scale > 0


@pytest.mark.parametrize("tokens", [(32,), (2, 15)])
def test_a_linear_layer_and_its_gradients_are_near_the_plain_ones(tokens: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    plain = Linear(64, 48)
    rough = Float8Linear(64, 48)
    rough.weight = plain.weight
    x = torch.randn(*tokens, 64, requires_grad=True)
    upstream = torch.randn(*tokens, 48) * 1e-4
    results = []
    for layer in (plain, rough):
        y = layer(x)
        results.append([y.detach(), *torch.autograd.grad(y, (x, plain.weight), upstream)])
    for ours, theirs in zip(*results):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        assert 0 < relative_error(theirs, ours) < 0.08


def test_a_converted_model_keeps_its_parameters_and_is_nearly_the_same(tokenizer: Tokenizer) -> None:
    tokens = torch.randint(tokenizer.vocab_size, (2, 24), generator=torch.Generator().manual_seed(0))
    plain, rough = (make_model(tokenizer) for _ in range(2))
    before = {name: id(parameter) for name, parameter in rough.named_parameters()}
    assert convert_to_fp8(rough) == 4 * 3
    assert {name: id(parameter) for name, parameter in rough.named_parameters()} == before
    outputs = [model(tokens) for model in (plain, rough)]
    assert 0 < relative_error(outputs[1].detach(), outputs[0].detach()) < 0.2
    for output in outputs:
        output.logsumexp(dim=-1).mean().backward()
    plain_gradient, rough_gradient = (gradient_of(model) for model in (plain, rough))
    assert torch.cosine_similarity(plain_gradient, rough_gradient, dim=0) > 0.97


def gradient_of(model: GPT) -> torch.Tensor:
    gradients = [parameter.grad for parameter in model.parameters()]
    assert all(gradient is not None and gradient.dtype == torch.float32 for gradient in gradients)
    return torch.cat([gradient.flatten() for gradient in gradients if gradient is not None])


@pytest.mark.nightly
def test_training_in_8_bits_lowers_the_loss_like_training_without(tokenizer: Tokenizer) -> None:
    # A CPU takes half a second for each step in 8 bits of 64 tokens.
    tokens = torch.randint(tokenizer.vocab_size, (1, 16), generator=torch.Generator().manual_seed(0))
    losses = []
    for rough in (False, True):
        model = make_model(tokenizer)
        if rough:
            convert_to_fp8(model)
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(10):
            loss = torch.nn.functional.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[1] < 3
    assert abs(losses[1] - losses[0]) < 0.3


def test_devices_without_8_bit_products_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_for_fp8(torch.device("cpu"), torch.float32) == "it needs a CUDA device, this is cpu"
    gpu = torch.device("cuda")
    for capability, dtype, expected in (
        ((8, 0), torch.bfloat16, "it needs a GPU of capability 8.9 (Ada, Hopper), this one has 8.0"),
        ((9, 0), torch.float32, "it needs bfloat16 beside it, this is float32"),
        ((9, 0), torch.bfloat16, None),
    ):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device, capability=capability: capability)
        assert missing_for_fp8(gpu, dtype) == expected
