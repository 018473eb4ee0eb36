"""Low-rank adapters of our own network: what they compute, what is trained and saved, and runs with them."""

import json
import math
import shutil
from pathlib import Path

import pytest
import torch

from nanoproof import sft
from nanoproof.common.distributed import DistInfo, cleanup, init_distributed
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.inference.engine import Engine
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.model import lora
from nanoproof.model.checkpoint import load_model, load_trained, save_checkpoint
from nanoproof.model.checkpoint_files import weights_sha256
from nanoproof.model.compute import convert_to_fp8
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.lora import LoraSettings
from nanoproof.model.network_options import LoraOptions
from nanoproof.training.batches import shard
from nanoproof.training.finetuning import Finetuning
from nanoproof.training.loss import LossWeights, tactic_logprobs
from nanoproof.training.options import BatchOptions, OptimizerOptions
from nanoproof.training.step import StepSettings, build_optimizer, train_step
from scripts import export_model
from tests.helpers import run_ranks
from tests.training import small

WORDS = small.tokenizer()
SETTINGS = LoraSettings(4, 8.0, ("q", "k", "v", "o"), 0.0, 0, "base", "0" * 64)
BATCH = BatchOptions(row_length=128, value_weight=0.1)


def network(kv_heads: int | None = None) -> GPT:
    """A network all of whose matrices matter, with two query heads of 16 and as many keys and values, or fewer."""
    torch.manual_seed(0)
    shape = {"depth": 2, "aspect_ratio": 16, "head_dim": 16, "sequence_len": 128, "num_kv_heads": kv_heads}
    made = GPT.create(GPTConfig(vocab_size=WORDS.vocab_size, **shape))
    with torch.no_grad():
        for block in made.layers:
            torch.nn.init.normal_(block.attention_out.weight, std=0.15)
            torch.nn.init.normal_(block.down.weight, std=0.1)
        torch.nn.init.normal_(made.head.weight, std=0.5)
    return made


def adapted(settings: LoraSettings = SETTINGS, kv_heads: int | None = None, trained: bool = True) -> GPT:
    """A network with adapters that have learned something."""
    made = network(kv_heads)
    lora.add_adapters(made, settings)
    if trained:
        generator = torch.Generator().manual_seed(1)
        for name, tensor in lora.adapter_state(made).items():
            if name.endswith("lora_b"):
                tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.1)
    return made


TOKENS = torch.tensor([[WORDS.bos, *WORDS.encode("p q : Prop\nh1 : p\n⊢ q")]])


def step(model: GPT, optimizer=None, dist: DistInfo = small.ALONE) -> None:
    settings = StepSettings(BATCH, LossWeights(0.1), 1.0, WORDS.pad)
    train_step(
        model, optimizer or build_optimizer(model, OptimizerOptions()), small.examples(WORDS), 1.0, settings, dist
    )


# -- what adapters compute ---------------------------------------------------------------------------------------------


def test_before_the_first_step_the_network_is_its_base_to_the_last_bit() -> None:
    fresh = adapted(trained=False)
    assert torch.equal(fresh(TOKENS), network()(TOKENS))
    a = fresh.layers[0].qkv.lora_a.detach()
    assert a.abs().max() <= 1 / math.sqrt(32) and float(a.std()) == pytest.approx(1 / math.sqrt(3 * 32), rel=0.1)


@pytest.mark.parametrize(("targets", "kv_heads"), [(("q", "v"), 1), (("k",), None), (("q", "k", "v"), 1)])
def test_a_layer_adds_alpha_over_r_times_b_a_x_to_its_matrices(targets: tuple[str, ...], kv_heads: int | None) -> None:
    model = adapted(LoraSettings(4, 6.0, targets, 0.0, 0, "", ""), kv_heads)
    layer, plain = model.layers[1].qkv, network(kv_heads).layers[1].qkv
    x = torch.randn(3, 32, generator=torch.Generator().manual_seed(2))
    wanted, row = plain(x), 0
    sizes = {"q": 32, "k": 16 * (kv_heads or 2), "v": 16 * (kv_heads or 2)}
    starts = {"q": 0, "k": 32, "v": 32 + sizes["k"]}
    for number, name in enumerate(targets):
        a, b = layer.lora_a[4 * number : 4 * number + 4], layer.lora_b[row : row + sizes[name]]
        wanted[:, starts[name] : starts[name] + sizes[name]] += 1.5 * x @ a.T @ b.T
        row += sizes[name]
    assert row == len(layer.lora_b)
    torch.testing.assert_close(layer(x), wanted)
    torch.testing.assert_close(x @ layer.merged_weight().T, wanted)


def test_merged_is_as_unmerged() -> None:
    model = adapted(LoraSettings(4, 8.0, tuple(lora.PLACES), 0.3, 0, "", ""))
    wanted = model(TOKENS)
    assert not torch.allclose(wanted, network()(TOKENS), atol=1e-3)
    lora.merge_adapters(model)
    torch.testing.assert_close(model(TOKENS), wanted, atol=1e-5, rtol=1e-5)
    assert [name for name, _ in model.named_parameters()] == [name for name, _ in network().named_parameters()]
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_dropout_is_of_the_adapters_input_and_in_training_only() -> None:
    layer = adapted(LoraSettings(4, 8.0, ("o",), 0.5, 0, "", "")).layers[0].attention_out
    x = torch.ones(4000, 32)
    assert torch.equal(layer(x)[0], layer(x)[1])
    layer.train()
    base = torch.nn.functional.linear(x, layer.weight)
    added, expected = layer(x) - base, layer.eval()(x) - base
    assert len({tuple(row) for row in added[:50].tolist()}) > 40
    torch.testing.assert_close(added.mean(0), expected.mean(0), atol=0.05, rtol=0.1)


# -- what is trained ---------------------------------------------------------------------------------------------------


def test_only_adapters_get_gradients_and_move() -> None:
    model = adapted(trained=False)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    optimizer = build_optimizer(model, OptimizerOptions(), 0.01)
    step(model, optimizer)
    changed = {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed == {name for name in before if name.endswith("lora_b")}  # while B is zero A has no gradient
    step(model, optimizer)
    changed = {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed == set(lora.adapter_state(model)) == set(optimizer.parameters)


def test_the_first_update_of_an_adapter_is_its_learning_rate() -> None:
    model = adapted(trained=False)
    step(model, build_optimizer(model, OptimizerOptions(matrix_lr=0.5), 0.003))
    b = model.layers[1].attention_out.lora_b
    moved = b.abs()[b != 0]
    torch.testing.assert_close(moved.median(), torch.tensor(0.003), rtol=1e-3, atol=0)


def test_scores_that_are_taken_between_updates_have_no_dropout() -> None:
    model = adapted(LoraSettings(4, 8.0, ("q", "o"), 0.5, 0, "", "")).train()
    once, again = (tactic_logprobs(model, WORDS.pad, small.examples(WORDS, 5), BATCH) for _ in range(2))
    assert once == again


def test_the_engine_samples_from_merged_weights_and_follows_the_adapters() -> None:
    model = adapted()
    engine, options = Engine(model, WORDS), SamplingOptions(4, 8)

    def sampled(one: Engine) -> list[list[int]]:
        request = one.submit(TOKENS[0].tolist(), options, 7)
        while not one.idle:
            one.step()
        assert request.completion is not None
        return [list(sample.tokens) for sample in (*request.completion.samples, *request.completion.unfinished)]

    def merged() -> GPT:
        copy = adapted()
        copy.load_state_dict(model.state_dict())
        lora.merge_adapters(copy)
        return copy

    first = sampled(engine)
    assert first == sampled(Engine(merged(), WORDS))
    own = {parameter.data_ptr() for parameter in model.parameters()}
    by_torch = Engine(model, WORDS, EngineLimits(backend="torch"))
    assert first == sampled(by_torch)
    copies = [name for name, tensor in by_torch._backend._network.named_parameters() if tensor.data_ptr() not in own]
    assert sorted(copies) == sorted(f"blocks.{i}.{name}.weight" for i in range(2) for name in ("qkv", "attention_out"))
    with torch.no_grad():
        for name, tensor in lora.adapter_state(model).items():
            tensor.mul_(3 if name.endswith("lora_b") else 1)
    engine.refresh()
    assert sampled(engine) == sampled(Engine(merged(), WORDS)) != first


def test_8_bit_products_and_adapters_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="not with adapters"):
        convert_to_fp8(adapted())


def adapters_of_ranks(folder: Path) -> None:
    """Three steps in the process of each rank, with dropout; keeps the adapters."""
    torch.set_num_threads(1)
    dist = init_distributed("cpu")
    model = adapted(LoraSettings(4, 8.0, ("q", "k", "v", "o"), 0.3, 0, "", ""))
    optimizer = build_optimizer(model, OptimizerOptions(), 0.01)
    settings = StepSettings(BATCH, LossWeights(0.1), 1.0, WORDS.pad)
    for _ in range(3):
        train_step(model, optimizer, list(shard(small.examples(WORDS, 20), dist)), 1.0, settings, dist)
    torch.save(lora.adapter_state(model), folder / f"{dist.rank}.pt")
    cleanup()


def test_ranks_keep_the_same_adapters(tmp_path: Path) -> None:
    run_ranks(2, adapters_of_ranks, tmp_path)
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    before = lora.adapter_state(adapted())
    assert set(first) == set(second) == set(before)
    assert all(torch.equal(first[name], second[name]) and not torch.equal(first[name], before[name]) for name in first)


# -- what is saved -----------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A base, and adapters of it in `adapters`."""
    base = save_checkpoint(tmp_path / "base", 5, network(), WORDS, extra={"stage": "sft"})
    settings = LoraSettings(4, 8.0, ("q", "v"), 0.0, 0, str(base), weights_sha256(base.with_suffix(".json")))
    save_checkpoint(tmp_path / "adapters", 9, adapted(settings), WORDS, extra={"stage": "sft"})
    return tmp_path


def test_a_checkpoint_holds_adapters_alone_and_loads_as_a_plain_network(saved: Path) -> None:
    held = torch.load(saved / "adapters" / "model_9.pt", weights_only=True)
    assert set(held) == {f"blocks.{i}.qkv.lora_{letter}" for i in range(2) for letter in "ab"}
    trained, _, _ = load_trained(saved / "adapters")
    plain, _, manifest = load_model(saved / "adapters")
    assert lora.settings_of(plain) is None and manifest["lora"]["targets"] == ["q", "v"]
    torch.testing.assert_close(plain(TOKENS), trained(TOKENS), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(plain(TOKENS), network()(TOKENS), atol=1e-3)


def test_adapters_of_adapters_load(saved: Path) -> None:
    first, _, _ = load_model(saved / "adapters")
    path = saved / "adapters" / "model_9.pt"
    settings = LoraSettings(2, 8.0, ("o",), 0.0, 0, str(path), weights_sha256(path.with_suffix(".json")))
    lora.add_adapters(first, settings)
    wanted = first(TOKENS)
    save_checkpoint(saved / "second", 1, first, WORDS)
    torch.testing.assert_close(load_model(saved / "second")[0](TOKENS), wanted)


def test_a_base_that_is_gone_or_another_is_named(saved: Path) -> None:
    identity = weights_sha256(saved / "adapters" / "model_9.json")
    save_checkpoint(saved / "base", 5, small.model(WORDS, seed=3), WORDS)
    with pytest.raises(UserError, match=r"adapters of .*model_5\.pt, whose weights are others now: their SHA-256 is"):
        load_model(saved / "adapters")
    shutil.rmtree(saved / "base")
    with pytest.raises(UserError, match=r"adapters of .*model_5\.pt, which is not there; put it back"):
        load_model(saved / "adapters")
    file = saved / "adapters" / "model_9.json"
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps({**manifest, "lora": {**manifest["lora"], "base_sha256": "1" * 64}}))
    assert weights_sha256(file) != identity  # on another base it is another network
    file.write_text(json.dumps({**manifest, "lora": {"rank": 4}}))
    with pytest.raises(UserError, match="does not describe adapters"):
        load_model(saved / "adapters")


def test_a_merged_export_needs_no_base(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = load_model(saved / "adapters")[0](TOKENS)
    assert export_model.main(["--model-path", str(saved / "adapters"), "--merge"]) == 0
    assert "merged_9" in capsys.readouterr().out
    shutil.rmtree(saved / "base")
    plain, _, manifest = load_model(saved / "adapters" / "merged_9")
    assert torch.equal(plain(TOKENS), wanted)
    assert (manifest["step"], manifest["extra"], "lora" in manifest) == (9, {"stage": "sft"}, False)


def test_adapters_of_rank_16_are_a_twentieth_of_the_quickstarts_network() -> None:
    config = GPTConfig(1024, depth=4, aspect_ratio=32, head_dim=32, num_kv_heads=1, sequence_len=256)
    model = GPT.create(config)
    whole = model.num_parameters()
    lora.add_adapters(model, LoraSettings(16, 32.0, ("q", "k", "v", "o"), 0.0, 0, "", ""))
    trained = sum(tensor.numel() for tensor in lora.adapter_state(model).values())
    assert trained == 4 * 16 * (4 * 128 + 128 + 32 + 32 + 128)
    assert trained / whole < 0.06


# -- runs --------------------------------------------------------------------------------------------------------------


class Stopped(Finetuning):
    """One that is asked to end in its fourth step."""

    def train_one(self) -> dict[str, float]:
        self.stop.received = self.state.step == 3
        return super().train_one()


FLAGS = ("--lora", "4", "--lora-dropout", "0.2", "--lora-lr", "0.02", "--target-examples-per-step", "16")


def test_a_run_learns_saves_adapters_and_resumes_to_the_last_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.save_model(tmp_path)
    base = torch.load(tmp_path / "model_0.pt", weights_only=True)

    def words(run: str) -> list[str]:
        line = ["--model-path", str(tmp_path), "--data", str(tmp_path / "data.jsonl"), "--run-dir", str(tmp_path / run)]
        return [*line, *FLAGS, "--row-length", "128", "--device-type", "cpu", "--epochs", "2", "--log-level", "warning"]

    assert sft.main(words("whole")) == 0
    monkeypatch.setattr("nanoproof.training.finetuning.Finetuning", Stopped)
    assert sft.main(words("parts")) == 0
    monkeypatch.undo()
    assert not (tmp_path / "parts" / "finished").exists()
    assert sft.main(["--resume-from", str(tmp_path / "parts")]) == 0
    files = sorted((tmp_path / "whole").glob("model_*.pt"))
    last = files[-1].name
    whole, parts = (torch.load(tmp_path / run / last, weights_only=True) for run in ("whole", "parts"))
    assert set(whole) == set(parts) and all(torch.equal(whole[name], parts[name]) for name in whole)
    assert not set(whole) & set(base)
    losses = [record["loss"] for record in read_jsonl(tmp_path / "whole" / "metrics.jsonl")]
    assert losses[-1] < losses[0]
    assert all(torch.equal(tensor, base[name]) for name, tensor in torch.load(tmp_path / "model_0.pt").items())
    assert "parameters are trained" in json.loads((tmp_path / "whole" / "meta.json").read_text())["decisions"]["lora"]
    with pytest.raises(UserError, match="trains adapters: --lora 8 where that run has 4"):
        sft.main(["--resume-from", str(tmp_path / "parts"), "--lora", "8"])


def test_what_cannot_be_adapted_is_refused(tmp_path: Path) -> None:
    small.save_model(tmp_path)
    common = ["--data", str(tmp_path / "data.jsonl"), "--device-type", "cpu", "--row-length", "128"]
    with pytest.raises(UserError, match="--lora 4 adapts a network that there is: give --model-path"):
        tokenizer = ["--tokenizer", str(tmp_path), "--depth", "1", "--head-dim", "16", "--aspect-ratio", "16"]
        sft.main([*common, *tokenizer, "--lora", "4"])
    with pytest.raises(UserError, match="--lora-targets q_proj: networks of ours have q, k, v, o, up, down"):
        sft.main([*common, "--model-path", str(tmp_path), "--lora", "4", "--lora-targets", "q,q_proj"])
    assert LoraOptions(lora_targets="o, q,o").targets == ("o", "q")
