"""The optimizer learns, is the same on any number of ranks, and its state goes from any number to any other."""

import copy
import math
import os
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F

from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.optim import MuonAdamW, NonFiniteLoss, orthogonalize
from tests.helpers import run_ranks

pytestmark = pytest.mark.slow

CONFIG = GPTConfig(vocab_size=50, depth=2, aspect_ratio=16, head_dim=16, num_kv_heads=1, sequence_len=32)
STEPS = 4


def fresh(seed: int = 0) -> GPT:
    torch.manual_seed(seed)
    return GPT.create(CONFIG)


def batch(seed: int, rows: int = 4) -> torch.Tensor:
    return torch.randint(0, 50, (rows, 16), generator=torch.Generator().manual_seed(seed))


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


def same_weights(one: GPT, other: GPT) -> bool:
    return all(torch.equal(parameter, other.get_parameter(name)) for name, parameter in one.named_parameters())


def test_every_parameter_belongs_to_exactly_one_group() -> None:
    model = fresh()
    stacks = [stack for group in MuonAdamW.for_model(model).groups for stack in group.stacks]
    rows = [
        (span.name, row)
        for stack in stacks
        for span in stack.spans
        for row in range(span.start, span.start + span.rows)
    ]
    assert sorted(rows) == sorted(
        (name, row) for name, weight in model.named_parameters() for row in range(len(weight))
    )


@pytest.mark.nightly
def test_training_memorizes_a_batch() -> None:
    model = fresh()
    losses = train(model, MuonAdamW.for_model(model), range(60))
    assert losses[0] > 3.5
    assert losses[-1] < 0.5


def test_orthogonalized_matrices_have_singular_values_near_one() -> None:
    torch.manual_seed(0)
    for shape in ((3, 20, 20), (2, 10, 40), (2, 40, 10)):
        for size in (1e-6, 1.0, 1e6):
            values = torch.linalg.svdvals(orthogonalize(size * torch.randn(shape)))
            assert values.min() > 0.5 and values.max() < 1.4


def test_a_matrix_of_zeros_stays_zero() -> None:
    assert torch.equal(orthogonalize(torch.zeros(2, 3, 4)), torch.zeros(2, 3, 4))


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


@pytest.mark.nightly
def test_learning_rates_follow_their_factor() -> None:
    moves = []
    for factors in ((1.0,), (0.25, 0.5)):
        model = fresh()
        optimizer = MuonAdamW.for_model(model, matrix_lr=0.02)
        for factor in factors:
            optimizer.set_lr_factor(factor)
        before = model.layers[1].down.weight.detach().clone()
        train(model, optimizer, range(1))
        moves.append(model.layers[1].down.weight.detach() - before)
    torch.testing.assert_close(moves[1], 0.5 * moves[0])


def test_weight_decay_shrinks_matrices_only() -> None:
    plain, decayed = fresh(), fresh()
    train(plain, MuonAdamW.for_model(plain), range(1))
    train(decayed, MuonAdamW.for_model(decayed, weight_decay=1.0), range(1))
    assert decayed.layers[0].up.weight.norm() < plain.layers[0].up.weight.norm()
    torch.testing.assert_close(decayed.embedding.weight, plain.embedding.weight)


def test_momentum_rises_over_its_first_steps() -> None:
    model = fresh()
    optimizer = MuonAdamW.for_model(model, momentum=0.95, momentum_warmup_steps=2)
    weight = model.layers[0].up.weight
    kept, before = [], 0.0
    for _ in range(3):
        weight.grad = torch.ones_like(weight)
        optimizer.step()
        after = optimizer.state_dict()["state"]["blocks.0.up.weight"]["momentum"][0].mean().item()
        kept.append((1 - after) / (1 - before))
        before = after
    assert kept == pytest.approx([0.9, 0.95, 0.95], abs=1e-5)


def test_gradients_are_clipped_to_a_norm_and_never_at_0() -> None:
    weights = {}
    for name, size, limit in (
        ("plain", 1.0, math.inf),
        ("clipped", 1.0, 0.01),
        ("never", 1.0, 0.0),
        ("small", 0.01, math.inf),
    ):
        model = fresh()
        optimizer = MuonAdamW.for_model(model)
        backward(model, batch(0))
        before = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm().item()
        for parameter in model.parameters():
            parameter.grad.mul_(size / before)
        assert optimizer.step(limit) == pytest.approx(size)
        weights[name] = optimizer.state_dict()["state"]["head.weight"]["mean"][0]
    assert torch.equal(weights["plain"], weights["never"])
    torch.testing.assert_close(weights["clipped"], weights["small"], rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_changes_neither_weights_nor_state(bad: float) -> None:
    model, twin = fresh(), fresh()
    optimizer, other = MuonAdamW.for_model(model), MuonAdamW.for_model(twin)
    train(model, optimizer, range(2))
    train(twin, other, range(2))
    backward(model, batch(2))
    model.embedding.weight.grad[3, 3] = bad
    with pytest.raises(NonFiniteLoss, match="the gradient norm is"):
        optimizer.step()
    assert train(model, optimizer, range(2, 4)) == train(twin, other, range(2, 4))


def test_restored_state_continues_to_the_bit_with_the_rates_of_the_new_options() -> None:
    model = fresh()
    optimizer = MuonAdamW.for_model(model)
    train(model, optimizer, range(5))
    twin, slow = GPT.allocate(CONFIG), GPT.allocate(CONFIG)
    for copied in (twin, slow):
        copied.load_state_dict(model.state_dict())
    restored, still = MuonAdamW.for_model(twin), MuonAdamW.for_model(slow, 0.0, 0.0, 0.0, 0.0)
    for other in (restored, still):
        other.load_state_dicts([copy.deepcopy(optimizer.state_dict())])
    before = copy.deepcopy(slow)
    assert train(model, optimizer, range(5, 9)) == train(twin, restored, range(5, 9))
    assert same_weights(model, twin)
    train(slow, still, range(5, 6))
    assert same_weights(slow, before)


def test_state_that_does_not_fit_is_refused_by_name_and_changes_nothing() -> None:
    model = fresh()
    optimizer = MuonAdamW.for_model(model)
    train(model, optimizer, range(2))
    good = copy.deepcopy(optimizer.state_dict())

    def refused(message: str, *shares: dict) -> None:
        with pytest.raises(ValueError, match=message):
            optimizer.load_state_dicts(shares)
        held = optimizer.state_dict()
        assert held["step"] == 2 and torch.equal(
            held["state"]["head.weight"]["mean"][0], good["state"]["head.weight"]["mean"][0]
        )

    unknown, shape, half, missing, later = (copy.deepcopy(good) for _ in range(5))
    unknown["shapes"]["blocks.9.up.weight"] = [1]
    refused("optimizer state of blocks.9.up.weight, which the model does not have", unknown)
    shape["shapes"]["head.weight"] = [2, 2]
    refused(r"optimizer state of head.weight has shape \(2, 2\), the model's is \(64, 32\)", shape)
    half["state"]["head.weight"]["square"][0] = half["state"]["head.weight"]["square"][0][:40]
    refused("optimizer state of head.weight is incomplete: square has rows up to 40 of 64", half)
    del missing["shapes"]["head.weight"]
    refused("no optimizer state of head.weight, which the model has", missing)
    later["step"] = 3
    refused("the files of optimizer state are of different steps: 2, 3", good, later)
    refused("not optimizer state", {"old": {}})


def set_gradients(model: GPT, step: int, rank: int, world_size: int) -> None:
    """A rank's share of 12 gradients of one sign, in 64ths: they add up to the same bits in any order, and none is near
    zero, where Adam, which divides by their size, would make a step of what was rounded."""
    for number, weight in enumerate(model.parameters()):
        chance = torch.Generator().manual_seed(100 * step + number)
        signs = torch.randint(0, 2, weight.shape, generator=chance) * 2 - 1
        sizes = torch.randint(1, 9, (12, *weight.shape), generator=chance)
        weight.grad = (sizes.chunk(world_size)[rank].sum(dim=0) * signs) / 64


def train_share(rank: int, world_size: int) -> dict:
    """Train with this rank's share of the gradients of each step; what the rank has in the end."""
    model = fresh()
    optimizer = MuonAdamW.for_model(model, weight_decay=0.1)
    norms = []
    for step in range(STEPS):
        set_gradients(model, step, rank, world_size)
        norms.append(optimizer.step(0.5))
    saved = {"weights": copy.deepcopy(model.state_dict()), "norms": norms, "optimizer": optimizer.state_dict()}
    backward(model, batch(STEPS))
    if rank == world_size - 1:
        model.head.weight.grad[1, 1] = math.nan
    with pytest.raises(NonFiniteLoss):
        optimizer.step()
    for parameter in model.parameters():
        parameter.grad = None  # as if nothing in this rank's batch had needed it
    if rank == 0:
        backward(model, batch(STEPS))
    optimizer.step()
    return {**saved, "after": model.state_dict()}


def _rank(folder: Path) -> None:
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    for world_size in (2, 3):
        if rank < world_size:
            rendezvous = f"file://{folder}/rendezvous{world_size}"
            dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=world_size)
            torch.save(train_share(rank, world_size), f"{folder}/{rank}of{world_size}.pt")
            dist.destroy_process_group()


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[dict]]:
    """What 1, 2 and 3 ranks had after the same steps with the same gradients."""
    folder = tmp_path_factory.mktemp("ranks")
    run_ranks(3, _rank, folder)
    many = {
        world_size: [torch.load(folder / f"{rank}of{world_size}.pt", weights_only=True) for rank in range(world_size)]
        for world_size in (2, 3)
    }
    return {1: [train_share(0, 1)], **many}


def parts_of(saved: dict) -> list[tuple[str, str, int, torch.Tensor]]:
    """Parameter, tensor, first row, rows: of a rank's optimizer state."""
    return [
        (name, tensor, start, rows)
        for name, held in saved["optimizer"]["state"].items()
        for tensor, pieces in held.items()
        for start, rows in pieces.items()
    ]


@pytest.mark.parametrize("world_size", [2, 3])
def test_many_ranks_train_as_one(ranks: dict[int, list[dict]], world_size: int) -> None:
    alone, first = ranks[1][0], ranks[world_size][0]
    assert first["norms"] == pytest.approx(alone["norms"], rel=1e-5)
    for name, tensor in first["weights"].items():
        # Matrices decay (rate 0.02 x 0.1) where the update has their sign: where it is near 0, rounding decides that.
        rtol = 0.02 * 0.1 if name.startswith("blocks") else 1e-5
        torch.testing.assert_close(tensor, alone["weights"][name], atol=1e-5, rtol=rtol)


@pytest.mark.parametrize("world_size", [2, 3])
def test_all_ranks_have_the_same_weights_to_the_bit(ranks: dict[int, list[dict]], world_size: int) -> None:
    first, *others = ranks[world_size]
    for other in others:
        assert other["norms"] == first["norms"]
        for state in ("weights", "after"):
            assert all(torch.equal(tensor, first[state][name]) for name, tensor in other[state].items())


@pytest.mark.parametrize("world_size", [2, 3])
def test_each_rank_keeps_its_share_of_the_state(ranks: dict[int, list[dict]], world_size: int) -> None:
    sizes = [sum(rows.numel() for *_, rows in parts_of(saved)) for saved in ranks[world_size]]
    assert sum(sizes) == sum(rows.numel() for *_, rows in parts_of(ranks[1][0]))
    assert max(sizes) < 0.6 * sum(sizes)


def test_state_of_three_ranks_goes_on_alone(ranks: dict[int, list[dict]]) -> None:
    optimizer = MuonAdamW.for_model(fresh())
    optimizer.load_state_dicts([saved["optimizer"] for saved in ranks[3]])
    whole = optimizer.state_dict()
    assert whole["step"] == STEPS
    for name, tensor, start, rows in (part for saved in ranks[3] for part in parts_of(saved)):
        pieces = whole["state"][name][tensor]
        base = max(first for first in pieces if first <= start)
        assert torch.equal(pieces[base][start - base : start - base + len(rows)], rows)
    with pytest.raises(ValueError, match="is incomplete"):
        optimizer.load_state_dicts([saved["optimizer"] for saved in ranks[3][:2]])
