"""What is decided about devices and threads, and how a rank alone fails."""

import pytest
import torch
import torch.distributed as dist

from nanoproof.common.distributed import DistInfo, SharedQueue, choose_device, cleanup, init_distributed, on_all_ranks
from nanoproof.common.errors import UserError, count_errors


def fail() -> None:
    raise OSError("disk full")


def test_more_ranks_than_cuda_devices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("", local_rank=1)[0] == torch.device("cuda", 1)
    with pytest.raises(UserError, match="--nproc_per_node must be at most 2"):
        choose_device("cuda", local_rank=2)
    assert choose_device("cpu", local_rank=2)[0] == torch.device("cpu")


def test_a_device_that_is_not_there_or_unknown_is_named() -> None:
    with pytest.raises(UserError, match="--device-type must be cuda, cpu or mps; got tpu"):
        choose_device("tpu")
    if not torch.cuda.is_available():
        with pytest.raises(UserError, match="--device-type cuda: this machine has no such device"):
            choose_device("cuda")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"RANK": "x"}, "RANK=x, WORLD_SIZE=2, LOCAL_RANK=0 in the environment; .* torchrun"),
        ({"RANK": "2"}, "RANK=2, WORLD_SIZE=2"),  # it would wait for half an hour
        ({"WORLD_SIZE": "0"}, "WORLD_SIZE=0"),
        ({"MASTER_ADDR": "127.0.0.1"}, "MASTER_PORT expected, but not set; .* torchrun"),
    ],
)
def test_an_environment_that_torchrun_did_not_make_is_told(
    place: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", **place}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=message):
        init_distributed("cpu")


def test_mps_is_for_one_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match="--device-type mps works with one rank only"):
        init_distributed("mps")


@pytest.mark.parametrize(
    ("world_size", "threads", "reason"),
    [
        (1, None, "torch's choice"),
        (1, "1", "for each rank, OMP_NUM_THREADS=1"),
        (2, "1", "for each rank, OMP_NUM_THREADS=1; torchrun sets 1 where none is given"),
        (2, "8", "for each rank, OMP_NUM_THREADS=8"),
    ],
)
def test_threads_are_a_decision_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, world_size: int, threads: str | None, reason: str
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if threads is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
    info = DistInfo(0, 0, world_size, torch.device("cpu"), "test", torch.float32, "test")
    assert info.decisions()["threads"].endswith(f" cores ({reason})")


def test_alone_a_failure_is_raised_as_it_is() -> None:
    with pytest.raises(OSError, match="disk full"):
        on_all_ranks(fail)
    on_all_ranks(lambda: None)


def test_a_rank_that_fails_on_a_gpu_leaves_without_waiting_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[bool] = []
    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "get_backend_config", lambda: "cpu:gloo,cuda:nccl")
    monkeypatch.setattr(dist, "destroy_process_group", lambda: left.append(True))
    with pytest.raises(OSError):
        try:
            fail()
        finally:
            cleanup()
    assert left == []
    cleanup()
    assert left == [True]


def test_without_a_store_a_rank_knows_of_its_own_errors_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    assert (count_errors(add=1), count_errors(add=0)) == (1, 0)


def test_what_is_handed_over_is_taken_once_in_order_and_zero_counts() -> None:
    left = SharedQueue("test")
    assert left.take() is None
    for number in (0, 7):
        left.put(number)
    assert [left.take() for _ in range(4)] == [0, 7, None, None]
    left.put(3)
    assert left.take() == 3
