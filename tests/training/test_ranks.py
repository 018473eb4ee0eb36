import subprocess
import sys

import torch


def test_two_ranks_have_the_gradients_of_one_and_the_same_weights(tmp_path):
    for ranks in (1, 2):
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"]
        subprocess.run([*command, "-m", "tests.training.two_ranks", str(tmp_path)], check=True, timeout=120)
    alone, first, second = (torch.load(tmp_path / f"{name}.pt") for name in ("1_0", "2_0", "2_1"))
    assert all(torch.equal(first["weights"][name], second["weights"][name]) for name in first["weights"])
    for name, gradient in alone["gradients"].items():
        assert torch.allclose(gradient, first["gradients"][name], atol=1e-6), name
