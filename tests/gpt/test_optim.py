"""The optimizer learns, keeps its state by name, and is the same on all ranks."""

import copy
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F

from nanoproof.gpt.model import GPT, GPTConfig
from nanoproof.gpt.optim import MuonAdamW, average_gradients, orthogonalize

CONFIG = GPTConfig(vocab_size=50, depth=2, aspect_ratio=16, head_dim=16, num_kv_heads=1, sequence_len=32)


def fresh(seed: int = 0) -> GPT:
    torch.manual_seed(seed)
    return GPT.create(CONFIG)


def batch(seed: int) -> torch.Tensor:
    return torch.randint(0, 50, (4, 16), generator=torch.Generator().manual_seed(seed))


def backward(model: GPT, tokens: torch.Tensor) -> float:
    loss = F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    model.zero_grad()
    loss.backward()
    return loss.item()


def train(model: GPT, optimizer: MuonAdamW, steps: range) -> list[float]:
    losses = []
    for step in steps:
        losses.append(backward(model, batch(step % 2)))
        optimizer.step()
    return losses


def test_every_parameter_belongs_to_exactly_one_group() -> None:
    model = fresh()
    keys = [key for group in MuonAdamW.for_model(model).param_groups for key in group["keys"]]
    assert sorted(keys) == sorted(name for name, _ in model.named_parameters())


def test_training_memorizes_a_batch() -> None:
    model = fresh()
    losses = train(model, MuonAdamW.for_model(model), range(60))
    assert losses[0] > 3.5
    assert losses[-1] < 0.5


def test_orthogonalized_matrices_have_singular_values_near_one() -> None:
    torch.manual_seed(0)
    for shape in ((3, 20, 20), (2, 10, 40), (2, 40, 10)):
        values = torch.linalg.svdvals(orthogonalize(torch.randn(shape)))
        assert values.min() > 0.5 and values.max() < 1.4


def test_stacked_matrices_are_orthogonalized_one_by_one() -> None:
    """Queries, keys and values share a weight; each part must move by an orthogonal matrix of its own."""
    model = fresh()
    optimizer = MuonAdamW.for_model(model, matrix_lr=0.1)
    backward(model, batch(0))
    weight = model.layers[1].qkv.weight
    with torch.no_grad():
        weight.grad = torch.randn_like(weight)
    before = weight.detach().clone()
    optimizer.step()
    for part in (before - weight.detach()).split(model.layers[1].matrix_rows()["qkv.weight"]):
        values = torch.linalg.svdvals(part / 0.1)
        assert values.min() > 0.5 and values.max() < 1.4


def test_learning_rates_follow_their_factor() -> None:
    optimizer = MuonAdamW.for_model(fresh(), matrix_lr=0.02)
    optimizer.set_lr_factor(0.25)
    optimizer.set_lr_factor(0.5)
    assert [group["lr"] for group in optimizer.param_groups if group["name"] == "matrix"] == [0.01]


def test_weight_decay_shrinks_matrices_only() -> None:
    plain, decayed = fresh(), fresh()
    train(plain, MuonAdamW.for_model(plain), range(1))
    train(decayed, MuonAdamW.for_model(decayed, weight_decay=1.0), range(1))
    assert decayed.layers[0].up.weight.norm() < plain.layers[0].up.weight.norm()
    torch.testing.assert_close(decayed.embedding.weight, plain.embedding.weight)


def test_restored_state_continues_to_the_bit() -> None:
    model = fresh()
    optimizer = MuonAdamW.for_model(model)
    train(model, optimizer, range(5))
    twin = GPT.allocate(CONFIG)
    twin.load_state_dict(model.state_dict())
    restored = MuonAdamW.for_model(twin, matrix_lr=0.7)
    restored.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert train(model, optimizer, range(5, 9)) == train(twin, restored, range(5, 9))
    for name, parameter in twin.named_parameters():
        assert torch.equal(parameter, model.get_parameter(name)), name


def test_state_that_does_not_fit_is_refused_by_name() -> None:
    optimizer = MuonAdamW.for_model(fresh())
    model = fresh()
    state = MuonAdamW.for_model(model).state_dict()
    with pytest.raises(ValueError, match=r"optimizer state of blocks\.9\.up\.weight, which the model does not have"):
        optimizer.load_state_dict({**state, "state": {"blocks.9.up.weight": {}}})
    with pytest.raises(ValueError, match=r"head\.weight has shape \(2, 2\), the model's is \(64, 32\)"):
        optimizer.load_state_dict({**state, "state": {"head.weight": {"mean": torch.zeros(2, 2)}}})


def _rank(rank: int, rendezvous: str, out: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2)
    model = fresh()
    optimizer = MuonAdamW.for_model(model)
    for step in range(3):
        backward(model, batch(step).chunk(2)[rank])
        if rank == 1:
            model.embedding_scale.grad = None  # as if nothing in this rank's batch had needed it
        average_gradients(model)
        if step == 0:
            gradients = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
        optimizer.step()
    torch.save({"weights": model.state_dict(), "gradients": gradients}, f"{out}/{rank}.pt")
    dist.destroy_process_group()


def test_two_ranks_use_the_mean_gradient_and_keep_identical_weights(tmp_path: Path) -> None:
    mp.spawn(_rank, args=(str(tmp_path / "rendezvous"), str(tmp_path)), nprocs=2)
    first, second = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in (0, 1))
    assert all(torch.equal(tensor, second["weights"][name]) for name, tensor in first["weights"].items())
    whole, half = fresh(), fresh()
    backward(whole, batch(0))
    backward(half, batch(0).chunk(2)[0])
    for name, parameter in whole.named_parameters():
        expected = half.embedding_scale.grad / 2 if name == "embedding_scale" else parameter.grad
        torch.testing.assert_close(first["gradients"][name], expected, atol=1e-7, rtol=1e-3)
