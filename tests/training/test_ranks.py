import subprocess
import sys

import torch

from nanoproof.gpt.optim import MuonAdamW
from tests.training import small, two_ranks


def test_two_ranks_have_the_gradients_of_one_and_the_same_weights(tmp_path):
    two_ranks.main(tmp_path)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    subprocess.run([*command, "-m", "tests.training.two_ranks", str(tmp_path)], check=True, timeout=120)
    alone, first, second = (torch.load(tmp_path / f"{name}.pt") for name in ("1_0", "2_0", "2_1"))
    assert all(torch.equal(first["weights"][name], second["weights"][name]) for name in first["weights"])
    optimizers = [MuonAdamW.for_model(small.model(small.tokenizer())) for _ in range(2)]
    for optimizer, saved in zip(optimizers, ([alone], [first, second])):
        optimizer.load_state_dicts([rank["averages"] for rank in saved])
    gradients, expected = map(small.gradients, optimizers)
    for name, gradient in gradients.items():
        assert torch.allclose(gradient, expected[name], atol=1e-6), name
