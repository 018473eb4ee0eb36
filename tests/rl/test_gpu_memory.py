"""Whether the engine keeps its memory while a GPU trains; the GPU is a counter here."""

from nanoproof.rl.updates import GPUMemory


class Counter:
    def __init__(self) -> None:
        self.now = self.most = 0

    def take(self, size: int) -> None:
        self.now += size
        self.most = max(self.most, self.now)

    def reset(self) -> None:
        self.most = self.now


def test_the_engine_gives_up_its_memory_only_where_training_would_not_fit_beside_it() -> None:
    gpu = Counter()
    memory = GPUMemory(100, lambda: gpu.now, lambda: gpu.most, gpu.reset)
    gpu.take(90)  # the peak before counts for nothing
    gpu.take(-80)
    assert memory.too_short()  # nothing is known yet
    with memory.measured():
        gpu.take(35)
        gpu.take(-35)
    assert memory.training == 35
    gpu.take(50)
    assert not memory.too_short()  # 60 and 35 are 95 of 100
    gpu.take(1)
    assert memory.too_short()
    with memory.measured():
        gpu.take(20)
    assert memory.training == 35  # the most so far
