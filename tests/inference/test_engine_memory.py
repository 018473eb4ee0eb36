"""Memory for keys and values: how much there is, and which sizes of slots get it."""

from pathlib import Path

import pytest
import torch

from nanoproof.inference import cuda_graphs, kv_cache
from nanoproof.inference.kv_cache import KEPT_SLOTS, KVCache, SlotSize
from nanoproof.model.gpt import GPTConfig

SHAPE = GPTConfig(depth=1, vocab_size=64, aspect_ratio=32, head_dim=32)
SHORT, LONG, ODD = SlotSize(64, 4), SlotSize(128, 4), SlotSize(1024, 16)


def cache_for(size: SlotSize, slots: int) -> KVCache:
    """A cache with memory for so many slots of a size."""
    return KVCache(SHAPE, torch.float32, torch.device("cpu"), (slots + 1) * size.num_bytes(SHAPE, torch.float32))


def fill(cache: KVCache, size: SlotSize) -> list[tuple[SlotSize, int]]:
    """Take slots until there are no more."""
    taken = []
    while (slot := cache.allocate(size)) is not None:
        taken.append(slot)
    return taken


def test_a_size_that_nobody_uses_any_more_gives_its_memory_to_another() -> None:
    fresh = len(fill(cache_for(SHORT, 40), LONG))
    cache = cache_for(SHORT, 40)
    short = fill(cache, SHORT)
    beside = fill(cache, LONG)
    assert len(beside) < 0.6 * fresh
    for size, slot in short:
        cache[size].release(slot)
    taken = [*beside, *fill(cache, LONG)]
    assert len(taken) >= 0.6 * fresh and {size for size, _ in taken} == {LONG}
    assert cache[SHORT].num_slots == KEPT_SLOTS and cache.num_bytes <= cache.budget
    assert cache.allocate(SHORT) is not None, "one that comes back does not wait for the others"


def test_one_odd_request_takes_a_part_of_the_memory_only() -> None:
    cache = cache_for(ODD, 8)
    assert cache.allocate(ODD) is not None and cache[ODD].num_slots == 2
    assert len(fill(cache, SHORT)) > 50


def cgroup(path: Path, names: tuple[str, str], most: str, used: int, reclaimable: str) -> None:
    path.mkdir(parents=True, exist_ok=True)
    (path / names[0]).write_text(f"{most}\n")
    (path / names[1]).write_text(f"{used}\n")
    (path / "memory.stat").write_text(f"anon 5\n{reclaimable} 30\n")


def test_the_limits_of_control_groups_count_whatever_the_machine_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second, first = ("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")
    cgroup(tmp_path / "job", second, "1000", 100, "inactive_file")
    cgroup(tmp_path / "job" / "task", second, "max", 100, "inactive_file")
    cgroup(tmp_path / "memory" / "x", first, "500", 490, "total_inactive_file")
    of = tmp_path / "cgroup"
    of.write_text("3:cpu,memory:/x\n1:name=systemd:/y\n0::/job/task\n")
    assert sorted(kv_cache.cgroup_free(tmp_path, of)) == [40, 930]
    assert kv_cache.cgroup_free(tmp_path, tmp_path / "none") == []
    monkeypatch.setattr(kv_cache, "cgroup_free", lambda: [10**6])
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert kv_cache.cache_budget(torch.device("cpu"), None)[0] == int(0.15 / 2 * 10**6)


def test_a_recording_that_fails_does_not_leave_its_stream_to_what_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        def wait_stream(self, other: object) -> None: ...

    class Graph:
        """As torch's: it enters its stream, and does not leave it where the capture cannot be ended."""

        def __init__(self, *_: object, stream: Stream, **__: object) -> None:
            self.stream = stream

        def __enter__(self) -> None:
            current.append(self.stream)

        def __exit__(self, *_: object) -> None:
            raise RuntimeError("operation failed due to a previous error during capture")

    class Entered:
        def __init__(self, stream: Stream) -> None: ...
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    default = Stream()
    current = [default]
    cuda = {
        "graph_pool_handle": object,
        "Stream": Stream,
        "current_stream": lambda: current[-1],
        "stream": Entered,
        "CUDAGraph": object,
        "graph": Graph,
        "set_stream": current.append,
    }
    for name, stand_in in cuda.items():
        monkeypatch.setattr(cuda_graphs.torch.cuda, name, stand_in)
    with pytest.raises(RuntimeError, match="during capture"):
        cuda_graphs.CudaRecorder().record(lambda: None)  # type: ignore[arg-type, return-value]
    assert current[-1] is default
