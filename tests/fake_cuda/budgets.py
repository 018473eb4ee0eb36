"""What the paths for GPUs launch, wait for and keep, held against budgets (`python -m tests.fake_cuda.budgets`).

Operators are counted as they are called, without the compiler: 20 layers of a narrow network on a pretended device
(`harness.py`), and for memory a network of true size whose tensors have no numbers.
"""

import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import torch

import nanoproof.inference.decode as decode_module
import nanoproof.inference.torch_backend as backend_module
from nanoproof.common.distributed import DistInfo
from nanoproof.data.transitions.packing import Continuation, Example, Kind, PackedBatch, pack
from nanoproof.inference.decode import StepOutput
from nanoproof.inference.engine import Engine
from nanoproof.inference.kv_cache import COLUMN, POSITION, SEQUENCE, SLOT_COUNT, SLOT_FILLED, SLOT_FIRST, SLOT_POSITION
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.model.compute import compile_model
from nanoproof.model.flash_attention import VarlenPath
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.optim import MuonAdamW
from nanoproof.model.tokenizer import Tokenizer, train_tokenizer
from nanoproof.training.loss import LossWeights, Normalizers, tactic_logprobs, transition_loss
from nanoproof.training.options import BatchOptions
from nanoproof.training.step import StepSettings, train_step
from tests.fake_cuda.harness import DEVICE, Count, CudaTensor, Pretend, flash_kernel
from tests.model.attention_layouts import slow_kernel
from tests.model.conftest import TEXTS

DEPTH = 20
NORMS = Normalizers(10.0, 10.0, 10.0)
WEIGHTS = LossWeights(value=0.5, unlikelihood=0.5)


def network(tokenizer: Tokenizer, depth: int = DEPTH) -> GPT:
    """A narrow network in bf16, on the CPU."""
    torch.manual_seed(0)
    shape = {"depth": depth, "aspect_ratio": 1, "head_dim": 16, "sequence_len": 256}
    return GPT.create(GPTConfig(tokenizer.vocab_size, **shape), compute_dtype=torch.bfloat16)


class FakeRecorder:
    """Counts what would be recorded; a replay computes it once more."""

    def __init__(self, device: Pretend) -> None:
        self._device, self.recorded = device, Count()

    def record(self, compute: Callable[[], StepOutput]) -> tuple[Callable[[], None], StepOutput]:
        with self._device.counting() as self.recorded:
            output = compute()

        def replay() -> None:
            with self._device.counting():
                again = compute()
                for name in ("tokens_N", "logprobs_N", "logits_NV", "hidden_NC"):
                    getattr(output, name).copy_(getattr(again, name))

        return replay, output

    def forget(self) -> None: ...


@dataclass(frozen=True)
class Inference:
    """What the engine did: prompts from nothing, prompts that begin like others, a recorded step, and all else."""

    prefill: Count
    reuse: Count
    recorded: Count
    around: Count
    """All of a request but prefill and recordings: its waits are those of reading results."""
    replays: int


def inference(tokenizer: Tokenizer) -> Inference:
    """Let an engine answer 16 prompts, and then 16 that begin like them."""
    rng = random.Random(0)
    prompts = [[tokenizer.bos, *rng.choices(range(tokenizer.num_text_tokens), k=40 + i)] for i in range(16)]
    longer = [[*prompt, *rng.choices(range(tokenizer.num_text_tokens), k=9)] for prompt in prompts]
    net, prefills, compute = network(tokenizer), [], backend_module.prefill
    options = SamplingOptions(num_samples=4, max_new_tokens=4)

    with Pretend() as device:
        device.move(net)

        def counted(*args: object) -> None:
            with device.counting() as count:
                compute(*args)  # type: ignore[arg-type]
            prefills.append(count)

        recorder = FakeRecorder(device)
        limits = EngineLimits(max_rows=64, cache_mbytes=200)
        device.interprets = False
        with mock.patch.object(decode_module, "_difference", lambda *args: None):  # zeros would differ
            engine = Engine(net, tokenizer, limits, kernel=flash_kernel, recorder=recorder)
        assert engine.decisions()["engine_kernels"] == "on (CUDA device)"
        with mock.patch.object(backend_module, "prefill", counted), device.counting() as around:
            engine.generate(prompts, options, list(range(16)))
            engine.generate(longer, options, list(range(16)))
    first, second = prefills
    return Inference(first, second, recorder.recorded, around, engine.stats.replayed_steps)


def packed(tokenizer: Tokenizer, rows: int = 4, length: int = 256) -> PackedBatch:
    """Rows of examples with a tactic, a failed tactic and a value."""
    rng = random.Random(0)

    def words(count: int) -> list[int]:
        return rng.choices(range(tokenizer.num_text_tokens), k=count)

    examples = []
    for number in range(6 * rows):
        parts = [
            Continuation([tokenizer.tactic, *words(5), tokenizer.eos], "tactic"),
            Continuation([tokenizer.tactic, *words(4), tokenizer.eos], "negative"),
            Continuation([tokenizer.value, tokenizer.bins[0]], "value"),
        ]
        examples.append(Example([tokenizer.bos, *words(10 + number)], parts))
    return pack(examples, length, tokenizer.pad)


def training(tokenizer: Tokenizer) -> dict[str, Count]:
    """Count micro-batches of finetuning and of pretraining, each with its gradient, and a step of the optimizer."""
    net, batch, counts = network(tokenizer), packed(tokenizer), {}
    with Pretend() as device:
        device.move(net)
        net.attention = VarlenPath(flash_kernel, padded=False)  # as without the compiler
        optimizer = MuonAdamW.for_model(net, weight_decay=0.1)
        with device.counting() as counts["finetuning"]:
            loss, _ = transition_loss(net, batch, WEIGHTS, NORMS)
            loss.backward()
        tokens_BT = torch.randint(0, 500, (4, 256)).to(DEVICE)
        with device.counting() as counts["pretraining"]:
            net.losses(tokens_BT, tokens_BT).sum().backward()
        with device.counting() as counts["optimizer"]:
            optimizer.step(1.0)
    return counts


@dataclass(frozen=True)
class Compilations:
    """Steps of a run at which something was compiled, after the first, and the graphs of a layer compiled in all."""

    recompilations: int
    graphs: int


def compilations(tokenizer: Tokenizer) -> Compilations:
    """Count what a run of finetuning compiles, by the compiler's own counters, on the CPU and with no code made.

    Its steps have few and many examples, short and long ones, failed tactics, many tactics of a state, and log
    probabilities of tactics are asked for in between.
    """
    rng, pad = random.Random(0), tokenizer.pad
    batch = BatchOptions(device_batch_size=4, row_length=192)
    shape: dict[str, Any] = {"depth": 4, "aspect_ratio": 8, "head_dim": 16, "sequence_len": 192}
    torch.manual_seed(0)
    net = GPT.create(GPTConfig(tokenizer.vocab_size, **shape))
    net.attention = VarlenPath(slow_kernel)
    from torch._dynamo.utils import counters  # here: it imports Triton, which is to be told of its interpreter first

    torch._dynamo.reset()
    counters.clear()
    compile_model(net, backend="aot_eager", fullgraph=True)
    optimizer = MuonAdamW.for_model(net)
    settings = StepSettings(batch, WEIGHTS, 1.0, pad)
    dist = DistInfo(0, 0, 1, torch.device("cpu"), "", torch.float32, "")

    def words(longest: int) -> list[int]:
        return rng.choices(range(tokenizer.num_text_tokens), k=rng.randint(1, longest))

    def example(prefix: int, tactics: int, failed: bool) -> Example:
        kind: Kind = "negative" if failed else "tactic"
        parts = [Continuation([tokenizer.tactic, *words(20), tokenizer.eos], kind) for _ in range(tactics)]
        value = [] if failed else [Continuation([tokenizer.value, tokenizer.bins[0]], "value")]
        return Example([tokenizer.bos, *words(prefix)], parts + value)

    seen, steps = [], [(9, 120, 1), (2, 90, 1), (24, 40, 1), (40, 20, 1), (9, 150, 1), (6, 60, 4), (16, 90, 1)]
    for number, longest, tactics in steps:
        examples = [example(longest, tactics, failed=index % 5 == 4) for index in range(number)]
        train_step(net, optimizer, examples, 1.0, settings, dist)
        seen.append(counters["stats"]["unique_graphs"])
        tactic_logprobs(net, pad, examples, batch)
        seen.append(counters["stats"]["unique_graphs"])
    torch._dynamo.reset()
    return Compilations(len(set(seen)) - 1, seen[-1])


def head_bytes(backend: str | None) -> float:
    """Return the bytes that head and loss keep for the gradient of a token, of a vocabulary of true size.

    Compiled by `backend`, as far as that decides what is kept (then the padded columns are masked), or not at all (then
    they are cut off). The network is narrow: what enters the head has 32 bytes, and the loss is that of 64 tokens.
    """
    tokens, kept = 64, dict[int, torch.UntypedStorage]()
    net = GPT.create(GPTConfig(50_374, depth=1, aspect_ratio=16, head_dim=16), compute_dtype=torch.bfloat16)
    x_NC = torch.randn(tokens, net.config.width, dtype=torch.bfloat16).requires_grad_()
    targets_N = torch.arange(tokens)
    compiler: Any = torch.compile
    nll = net.nll if backend is None else compiler(net.nll_over_padding, backend=backend, dynamic=False)
    weights = {weight.untyped_storage().data_ptr() for weight in net.parameters()}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights and tokens in tensor.shape:  # not the 16-bit copy of the head
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss_N = nll(x_NC, targets_N)
    loss_N.sum().backward()
    return sum(storage.nbytes() for storage in kept.values()) / tokens


def compiled_apart() -> list[float]:
    """Return what `compilations` counts, and what the compiled head keeps, by a process of its own.

    Triton's interpreter fails beside the compiler.
    """
    command = [sys.executable, "-m", "tests.fake_cuda.budgets", "--compilations"]
    said = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True).stdout
    return [float(number) for number in said.split()]


def saved_bytes(depth: int = 26, rows: int = 4) -> tuple[float, int]:
    """Bytes that the trunk keeps for its gradient, of a token, and of the largest tensor of head and loss with theirs.

    By a network of true size on rows of 768 tokens, not compiled.
    """
    config, saved = GPTConfig(50_374, depth=depth), {}
    with Pretend(meta=True) as device:
        with torch.device("meta"):
            net = GPT(config, torch.bfloat16)
        device.move(net)
        net.attention = VarlenPath(flash_kernel)
        parameters = {id(parameter.values.untyped_storage()) for parameter in net.parameters()}

        def pack_tensor(tensor: torch.Tensor) -> torch.Tensor:
            if isinstance(tensor, CudaTensor) and not isinstance(tensor, torch.nn.Parameter):
                storage = tensor.values.untyped_storage()
                if id(storage) not in parameters:
                    saved[storage._cdata] = (storage.nbytes(), storage)
            return tensor

        tokens_BT = torch.zeros(rows, 768, dtype=torch.long, device="cuda")
        with torch.autograd.graph.saved_tensors_hooks(pack_tensor, lambda tensor: tensor):
            x_BTC = net.hidden(tokens_BT)
        x_NC = x_BTC.detach().flatten(0, 1).requires_grad_()
        with device.counting() as head:
            net.nll(x_NC, tokens_BT.flatten()).sum().backward()
    return sum(size for size, _ in saved.values()) / (rows * 768), head.largest


def attention_reads(window: int) -> float:
    """Return the bytes that decoding attention loads, in percent of the keys and values that its rows see.

    Eight slots of 512 columns with 8 samples each, of which 40 to 440 are filled, 2 key/value heads of size 128 in 16
    bits, by the loads of Triton's interpreter.
    """
    from triton.runtime.interpreter import InterpreterBuilder

    from nanoproof.inference import triton_kernels

    slots, samples, heads, size, columns, half = 8, 8, 2, 128, 512, torch.bfloat16
    filled = torch.tensor([40, 440, 97, 200, 64, 311, 150, 270])
    rows_5N, slots_4S = torch.zeros(5, slots * samples, dtype=torch.long), torch.zeros(4, slots, dtype=torch.long)
    slots_4S[SLOT_POSITION] = slots_4S[SLOT_FILLED] = filled
    slots_4S[SLOT_FIRST], slots_4S[SLOT_COUNT] = samples * torch.arange(slots), samples
    rows_5N[POSITION] = filled.repeat_interleave(samples)
    rows_5N[COLUMN] = rows_5N[POSITION] + torch.arange(samples).repeat(slots)
    rows_5N[SEQUENCE] = torch.arange(slots * samples)
    keys, values = (
        torch.zeros(slots, heads, size, columns, dtype=half),
        torch.zeros(slots, heads, columns, size, dtype=half),
    )
    out, qkv = (
        torch.zeros(slots * samples, heads * size, dtype=half),
        torch.zeros(slots * samples, 3 * heads * size, dtype=half),
    )
    bias, positions = torch.zeros(slots, samples, columns), torch.arange(columns).repeat(slots, 1)
    load, loaded = InterpreterBuilder.create_masked_load, 0

    def counted(builder: object, pointers: Any, mask: Any, *rest: Any) -> Any:
        nonlocal loaded
        loaded += int(mask.data.sum()) * pointers.get_element_ty().primitive_bitwidth // 8
        return load(builder, pointers, mask, *rest)

    with mock.patch.object(InterpreterBuilder, "create_masked_load", counted):
        triton_kernels.decode_attention(
            qkv,
            None,
            None,
            torch.zeros(columns, size // 2, 2),
            rows_5N,
            slots_4S,
            keys,
            values,
            bias,
            positions,
            out,
            0,
            window,
        )
    seen = int(filled.clamp(max=window - 1).sum())  # and each row its own, which is not loaded
    return 100 * loaded / (seen * 2 * heads * size * half.itemsize)


# -- The table -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget:
    """A number, what it was when it was first counted like this (at `4da06e5`), and the most that it may be.

    What attention read before is all columns of all slots, keys and values alone.
    """

    what: str
    before: float
    budget: float
    value: float = 0.0

    @property
    def kept(self) -> bool:
        return self.value <= self.budget


BUDGETS = (
    Budget("prefill of 16 prompts: kernels", 1047, 240),
    Budget("prefill of 16 prompts: waits", 0, 0),
    Budget("prefill of 16 prompts that begin like others: kernels", 1693, 280),
    Budget("prefill of 16 prompts that begin like others: waits", 0, 0),
    Budget("recorded decoding step: kernels", 631, 170),
    Budget("recorded decoding step: waits", 0, 0),
    Budget("recorded decoding step: copies from the CPU", 0, 0),
    Budget("decoding attention over ragged slots: bytes loaded, % of what rows see", 261, 130),
    Budget("the same within windows of 128: bytes loaded, % of what rows see", 490, 130),
    Budget("decoding around recordings and prefill: waits", 0, 0),
    Budget("finetuning, a micro-batch: kernels", 2398, 2350),
    Budget("finetuning, a micro-batch: waits", 9, 0),
    Budget("pretraining, a micro-batch: kernels", 1473, 1480),
    Budget("pretraining, a micro-batch: waits", 0, 0),
    Budget("optimizer, a step: kernels", 291, 330),
    Budget("optimizer, a step: waits", 1, 1),
    Budget("finetuning, 7 steps unlike each other: recompilations", 3, 3),
    Budget("the same: layers in all that was compiled, at depth 4", 16, 8),
    Budget("head and loss, compiled: bytes kept for the gradient of a token", 100_912, 101_000),
    Budget("head and loss, not compiled: bytes kept for the gradient of a token", 403_032, 403_100),
    Budget("trunk of depth 26, not compiled: bytes kept for the gradient of a token", 2_397_676, 2_210_000),
)


def measure() -> list[Budget]:
    """Measure everything; returns the table with its values."""
    tokenizer = train_tokenizer(TEXTS * 3, 520)
    served, trained = inference(tokenizer), training(tokenizer)
    assert served.replays > 0, "nothing was recorded"
    values = [
        served.prefill.kernels,
        served.prefill.syncs,
        served.reuse.kernels,
        served.reuse.syncs,
        served.recorded.kernels,
        served.recorded.syncs,
        served.recorded.copies,
        attention_reads(1000),
        attention_reads(128),
        served.around.syncs,
        trained["finetuning"].kernels,
        trained["finetuning"].syncs,
        trained["pretraining"].kernels,
        trained["pretraining"].syncs,
        trained["optimizer"].kernels,
        trained["optimizer"].syncs,
        *compiled_apart(),
        head_bytes(None),
        saved_bytes()[0],
    ]
    if "-v" in sys.argv:
        for name, count in [*vars(served).items(), *trained.items()]:
            if isinstance(count, Count):
                print(name, count.waits, count.copies, count.ops.most_common(40))
    return [replace(budget, value=value) for budget, value in zip(BUDGETS, values, strict=True)]


def main() -> int:
    """Print the table as Markdown; returns 1 if something is over its budget."""
    if "--compilations" in sys.argv:
        counted = compilations(train_tokenizer(TEXTS * 3, 520))
        print(counted.recompilations, counted.graphs, head_bytes("aot_eager_decomp_partition"))
        return 0
    table = measure()
    print(f"torch {torch.__version__}, CUDA {torch.version.cuda or 'none'}\n")
    print("| what | before | budget | now | |\n|---|---|---|---|---|")
    for row in table:
        verdict = "" if row.kept else "**over**"
        print(f"| {row.what} | {row.before:,.0f} | {row.budget:,.0f} | {row.value:,.0f} | {verdict} |")
    return int(not all(row.kept for row in table))


if __name__ == "__main__":
    sys.exit(main())
