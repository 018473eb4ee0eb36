"""The network: packed rows equal single ones, windows and masks hide what they say, sizes follow the dial."""

import pytest
import torch

from nanolean.tests.each import each
from nanoproof.model import gpt as network
from nanoproof.model.attention import RowLayout, window_mask
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer
from tests.model.conftest import make_model


def random_tokens(tokenizer: Tokenizer, *shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, tokenizer.vocab_size, shape, generator=torch.Generator().manual_seed(seed))


@each(
    ("options", "width", "heads", "kv_heads"),
    [
        ({"depth": 26}, 1792, 14, 2),
        ({"depth": 20}, 1280, 10, 2),
        ({"depth": 32}, 2048, 16, 4),
        ({"depth": 26, "num_kv_heads": None}, 1664, 13, 13),
        ({"depth": 26, "num_kv_heads": 1}, 1664, 13, 1),
        ({"depth": 4, "aspect_ratio": 48, "head_dim": 32}, 192, 6, 1),
        ({"depth": 1, "aspect_ratio": 16, "head_dim": 32}, 32, 1, 1),
        ({"depth": 4, "aspect_ratio": 50, "head_dim": 64, "num_kv_heads": 2}, 256, 4, 2),
    ],
)
def test_width_follows_from_depth(options: dict, width: int, heads: int, kv_heads: int) -> None:
    config = GPTConfig(vocab_size=1000, **options)
    assert (config.width, config.num_heads, config.kv_heads) == (width, heads, kv_heads)
    assert config.padded_vocab_size == 1024


def test_windows_repeat_the_pattern_and_the_last_layer_sees_all() -> None:
    config = GPTConfig(vocab_size=10, depth=6, sequence_len=100, window_pattern="SSSL")
    assert config.windows == [25, 25, 25, 100, 25, 100]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "model.depth must be >= 1, got 0"),
        ({"head_dim": 33}, "model.head_dim must be even, got 33"),
        ({"window_pattern": "SX"}, "model.window_pattern must consist of S and L, got 'SX'"),
        ({"depth": 4, "num_kv_heads": 3}, "model.num_kv_heads must be at most the 2 query heads, got 3"),
    ],
)
def test_impossible_shapes_are_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GPTConfig(vocab_size=10, **options)


def test_logits_have_the_shape_of_the_vocabulary_and_are_bounded(model: GPT, tokenizer: Tokenizer) -> None:
    logits = model(random_tokens(tokenizer, 2, 9))
    assert logits.shape == (2, 9, tokenizer.vocab_size)
    assert logits.dtype == torch.float32
    assert logits.abs().max() <= 15


def test_selected_positions_have_the_same_logits(model: GPT, tokenizer: Tokenizer) -> None:
    tokens = random_tokens(tokenizer, 2, 9)
    chosen = torch.tensor([3, 9, 17])
    torch.testing.assert_close(model(tokens, select_N=chosen), model(tokens).flatten(0, 1)[chosen])


def test_selected_positions_give_the_same_gradients(model: GPT, tokenizer: Tokenizer) -> None:
    tokens, chosen = random_tokens(tokenizer, 2, 9), torch.tensor([3, 12, 17])

    def gradients(logits_NV: torch.Tensor) -> list[torch.Tensor]:
        return list(torch.autograd.grad(logits_NV.square().mean(), list(model.parameters())))

    of_all = gradients(model(tokens).flatten(0, 1)[chosen])
    torch.testing.assert_close(gradients(model(tokens, select_N=chosen)), of_all, rtol=1e-4, atol=1e-5)


def test_the_activation_has_the_gradient_of_its_formula() -> None:
    x = torch.tensor([[-2.0, -0.5, 0.25], [1.0, 3.0, -4.0]], dtype=torch.float64, requires_grad=True)
    assert torch.equal(network.ReluSquared.apply(x), torch.relu(x) ** 2)
    assert torch.autograd.gradcheck(network.ReluSquared.apply, (x,))


def test_losses_are_those_of_the_logits_and_0_without_a_target(model: GPT, tokenizer: Tokenizer) -> None:
    tokens, targets = random_tokens(tokenizer, 2, 9), random_tokens(tokenizer, 2, 9, seed=1)
    targets[0, 3:5] = -1
    expected = -model(tokens).log_softmax(dim=-1).gather(2, targets.clamp(min=0).unsqueeze(2)).squeeze(2)
    expected[0, 3:5] = 0
    torch.testing.assert_close(model.losses(tokens, targets), expected)


def losses_and_gradients(model: GPT, tokens: torch.Tensor, targets: torch.Tensor) -> tuple[list[torch.Tensor], int]:
    """The losses and all gradients, and the size of the largest tensor that is kept for the backward pass."""
    kept = [0]

    def note(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor.numel())
        return tensor

    model.zero_grad()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        losses = model.losses(tokens, targets)
    losses.square().sum().backward()
    return [losses, *(parameter.grad for parameter in model.parameters())], max(kept)


def test_losses_of_many_tokens_are_the_same_and_keep_no_logits(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(tokenizer)
    tokens, targets = random_tokens(tokenizer, 3, 101), random_tokens(tokenizer, 3, 101, seed=1)
    targets[1, 20:90] = -1
    logits = targets.numel() * tokenizer.vocab_size
    whole, kept = losses_and_gradients(model, tokens, targets)
    assert kept >= logits
    monkeypatch.setattr(network, "LOGITS_AT_ONCE", logits // 6)
    in_parts, kept = losses_and_gradients(model, tokens, targets)
    assert kept < logits
    for ours, theirs in zip(in_parts, whole, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_a_loss_over_the_padded_vocabulary_is_the_same(model: GPT) -> None:
    assert model.config.padded_vocab_size > model.config.vocab_size
    targets_N = torch.randint(0, model.config.vocab_size, (9,), generator=torch.Generator().manual_seed(1))
    targets_N[4] = -1
    results = []
    for nll in (model.nll, model.nll_over_padding):
        x_NC = torch.randn(9, model.config.width, generator=torch.Generator().manual_seed(2)).requires_grad_()
        losses_N = nll(x_NC, targets_N)
        results.append([losses_N, *torch.autograd.grad(losses_N.sum(), [x_NC, model.head.weight])])
    torch.testing.assert_close(results[1], results[0])
    assert results[1][0][4] == 0


def test_without_a_mask_no_token_sees_what_follows(model: GPT, tokenizer: Tokenizer) -> None:
    tokens = random_tokens(tokenizer, 1, 12)
    changed = tokens.clone()
    changed[0, 8] = (changed[0, 8] + 1) % tokenizer.vocab_size
    before, after = model(tokens), model(changed)
    torch.testing.assert_close(before[:, :8], after[:, :8])
    assert (before[:, 8:] - after[:, 8:]).abs().amax(dim=-1).min() > 1e-4


@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 1}, {"sequence_len": 40, "window_pattern": "SSL"}])
def test_packed_transitions_equal_single_ones(tokenizer: Tokenizer, options: dict) -> None:
    """A row of [prefix A, tactic A, value A, prefix B, tactic B] gives what each text gives alone."""
    model = make_model(tokenizer, **options)
    parts = [random_tokens(tokenizer, size, seed=size) for size in (14, 6, 3, 11, 7)]
    examples = [0, 0, 0, 1, 1]
    branches = [0, 1, 2, 0, 1]
    positions = [torch.arange(14), torch.arange(14, 20), torch.arange(14, 17), torch.arange(11), torch.arange(11, 18)]
    sizes = [len(part) for part in parts]
    example, branch = (torch.tensor(x).repeat_interleave(torch.tensor(sizes)) for x in (examples, branches))
    layout = RowLayout(torch.cat(positions)[None], example[None] + 1, branch[None])
    packed = model(torch.cat(parts)[None], layout)[0].split(sizes)
    alone = model(torch.cat([parts[0], parts[1]])[None])[0].split([14, 6])
    torch.testing.assert_close(packed[0], alone[0], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(packed[1], alone[1], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(packed[2], model(torch.cat([parts[0], parts[2]])[None])[0, 14:], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(packed[4], model(torch.cat([parts[3], parts[4]])[None])[0, 11:], atol=1e-5, rtol=1e-4)


def test_windows_count_positions_not_columns() -> None:
    positions = torch.tensor([[0, 1, 2, 3, 4, 2, 3]])  # a prefix of two and two continuations
    seen = window_mask(torch.ones(1, 7, 7, dtype=torch.bool), positions, window=2)
    assert seen[0, 5].tolist() == [False, True, True, True, False, True, True]


def test_a_short_window_cuts_off_the_distant_past(tokenizer: Tokenizer) -> None:
    """One layer of window 8 under one that sees all: with the last layer's attention silenced nothing far arrives."""
    model = make_model(tokenizer, depth=2, aspect_ratio=24, sequence_len=32, window_pattern="SL")
    with torch.no_grad():
        model.layers[1].attention_out.weight.zero_()
    tokens = random_tokens(tokenizer, 1, 32)
    changed = tokens.clone()
    changed[0, 10] = (changed[0, 10] + 1) % tokenizer.vocab_size
    difference = (model(tokens) - model(changed))[0].abs().amax(dim=-1)
    assert difference[17] > 1e-4
    assert difference[18:].max() < 1e-6


def test_tokens_reach_others_by_the_value_embedding(tokenizer: Tokenizer) -> None:
    """With embedding and value projection silenced, what a token says is its value embedding alone."""
    with_values, without = (make_model(tokenizer, depth=1, value_embedding=on) for on in (True, False))
    tokens = random_tokens(tokenizer, 1, 12)
    changed = tokens.clone()
    changed[0, 4] = (changed[0, 4] + 1) % tokenizer.vocab_size
    for model, differs in ((with_values, True), (without, False)):
        with torch.no_grad():
            model.embedding.weight.fill_(1.0)
        assert torch.equal(model(tokens)[0, :4], model(changed)[0, :4])
        assert torch.equal(model(tokens), model(changed)) != differs
    assert not any("value" in name for name, _ in without.named_parameters())


def test_more_tokens_than_positions_are_refused(model: GPT) -> None:
    with pytest.raises(ValueError, match="129 tokens, but the model is made for 128"):
        model(torch.zeros(1, 129, dtype=torch.long))


def test_the_same_seed_gives_the_same_weights(tokenizer: Tokenizer) -> None:
    config = GPTConfig(vocab_size=tokenizer.vocab_size, depth=2, aspect_ratio=16, head_dim=16)
    states = []
    for _ in range(2):
        torch.manual_seed(3)
        states.append(GPT.create(config).state_dict())
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_a_fresh_model_is_nearly_uniform(tokenizer: Tokenizer) -> None:
    model = GPT.create(GPTConfig(vocab_size=tokenizer.vocab_size, depth=3, aspect_ratio=32, head_dim=32))
    probabilities = model(random_tokens(tokenizer, 1, 20)).softmax(dim=-1)
    assert probabilities.max() < 2 / tokenizer.vocab_size


def test_bfloat16_computes_nearly_the_same_from_fp32_weights(tokenizer: Tokenizer) -> None:
    exact = make_model(tokenizer)
    rough = GPT.allocate(exact.config, compute_dtype=torch.bfloat16)
    rough.load_state_dict(exact.state_dict())
    tokens = random_tokens(tokenizer, 2, 20)
    assert all(parameter.dtype == torch.float32 for parameter in rough.parameters())
    assert (exact(tokens) - rough(tokens)).abs().max() < 0.3


def test_every_parameter_gets_a_gradient(tokenizer: Tokenizer) -> None:
    model = make_model(tokenizer)
    model(random_tokens(tokenizer, 1, 20)).square().mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name
