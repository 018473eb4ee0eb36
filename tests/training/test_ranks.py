"""Two ranks train as one, share checkpoints with one, and fail together. One start of torchrun serves all tests."""

import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.common.files import file_sha256, read_json
from nanoproof.model.checkpoint import load_model, load_optimizer
from nanoproof.model.checkpoint_files import find_checkpoint
from nanoproof.model.optim import MuonAdamW
from nanoproof.training.step import build_optimizer
from tests.helpers import as_command, ended, start_forked, torchrun
from tests.training import small, two_ranks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("ranks")
    two_ranks.train(small.ALONE, path)
    line, said = ["--standalone", "--nproc_per_node=2", "-m", "tests.training.two_ranks", str(path)], path / "said.txt"
    (code,) = ended([start_forked(as_command, torchrun, said, line)])
    (path / "code.txt").write_text(str(code))
    assert (path / "full_1.txt").exists(), said.read_text()
    return path


def by_rank(folder, ranks):
    return [torch.load(folder / f"{ranks}_{rank}.pt", weights_only=True) for rank in range(ranks)]


def fresh():
    return MuonAdamW.for_model(small.model(small.tokenizer()))


def gradients_of(*ranks):
    """The gradients of the first step, clipped, of all ranks together."""
    optimizer = fresh()
    optimizer.load_state_dicts([rank["averages"] for rank in ranks])
    betas = {
        span.name: optimizer.momentum if group.betas is None else group.betas[0]
        for group in optimizer.groups
        for stack in group.stacks
        for span in stack.spans
    }
    return {name: average / (1 - betas[name]) for name, average in small.gradients(optimizer).items()}


def rows(optimizer):
    """All state of an optimizer that is alone, by parameter, tensor and first row."""
    held = optimizer.state_dict()["state"]
    return {
        (name, tensor, start): rows
        for name, of in held.items()
        for tensor, at in of.items()
        for start, rows in at.items()
    }


def test_two_ranks_have_the_gradients_of_one(folder):
    [alone], ranks = by_rank(folder, 1), by_rank(folder, 2)
    expected, gradients = gradients_of(alone), gradients_of(*ranks)
    assert all(torch.allclose(gradients[name], gradient, atol=1e-6) for name, gradient in expected.items())


def test_two_ranks_make_the_step_that_one_makes_with_their_gradients(folder):
    """Adam divides by the size of a gradient: where that is nothing but rounding, one rank alone steps elsewhere."""
    ranks = by_rank(folder, 2)
    model = small.model(small.tokenizer())
    optimizer = build_optimizer(model, two_ranks.RATES)
    for name, gradient in gradients_of(*ranks).items():
        optimizer.parameters[name].grad = gradient
    optimizer.step(0.0)  # they are clipped already
    for name, weight in model.state_dict().items():
        assert torch.allclose(ranks[0]["once"][name], weight, atol=1e-5), name


def test_both_ranks_have_the_same_weights_to_the_bit(folder):
    first, second = by_rank(folder, 2)
    for at in ("once", "weights"):
        assert all(torch.equal(weight, second[at][name]) for name, weight in first[at].items())


def test_a_checkpoint_of_two_ranks_goes_on_alone(folder):
    path = folder / "by_2"
    shares = ["optim_3_r0of2.pt", "optim_3_r1of2.pt"]
    assert sorted(file.name for file in path.glob("optim*")) == shares
    digests = read_json(path / "model_3.json")["sha256"]
    assert [digests[name] for name in shares] == [file_sha256(path / name) for name in shares]
    model, _, _ = load_model(path)
    optimizer, expected = MuonAdamW.for_model(model), fresh()
    load_optimizer(path, optimizer)
    shares = by_rank(folder, 2)
    assert all(torch.equal(weight, shares[0]["weights"][name]) for name, weight in model.state_dict().items())
    expected.load_state_dicts([share["optimizer"] for share in shares])
    whole = rows(expected)
    assert whole.keys() == rows(optimizer).keys()
    assert all(torch.equal(tensor, whole[key]) for key, tensor in rows(optimizer).items())


def test_a_checkpoint_of_one_goes_on_with_two_ranks(folder):
    optimizer = fresh()
    optimizer.load_state_dicts([torch.load(folder / f"by_1_on_2_{rank}.pt", weights_only=True) for rank in (0, 1)])
    [alone] = by_rank(folder, 1)
    expected = fresh()
    expected.load_state_dicts([alone["optimizer"]])
    assert all(torch.equal(tensor, rows(optimizer)[key]) for key, tensor in rows(expected).items())


def test_what_goes_wrong_on_one_rank_is_raised_on_all_and_leaves_no_checkpoint(folder):
    first, second = ((folder / f"full_{rank}.txt").read_text() for rank in (0, 1))
    assert second.startswith("OSError: [Errno 28] No space left on device")
    assert first == f"UserError: rank 1 failed: {second}"
    with pytest.raises(UserError, match="no checkpoint"):
        find_checkpoint(folder / "full")


def test_an_error_of_the_user_is_one_line_of_all_ranks_and_named_by_torchrun(folder):
    text = (folder / "said.txt").read_text()
    lines = [line for line in text.splitlines() if line.startswith("error:")]
    assert lines == ["error: --model-path nowhere: nothing there"]
    assert "traceback : error: --model-path nowhere: nothing there" in text
    assert (folder / "code.txt").read_text() == "1"
