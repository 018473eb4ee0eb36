"""Reinforcement learning of models of transformers, over a scripted Lean: updates, ranks, checkpoints, resumption."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.inference.value_head import VALUE_FILE, ValueHead
from nanoproof.lean.types import Transition
from nanoproof.policy.prompt_formats import known_format
from nanoproof.rl import __main__ as rl
from nanoproof.rl.hub_learner import HubLearner, HubPolicy, tokenized_example
from nanoproof.rl.learner import checkpoint_spec
from nanoproof.rl.options import RLConfig, parse_args
from nanoproof.training.hub_network import checkpoint_steps
from tests.fakes.hf_models import save_decoder, save_encoder_decoder
from tests.helpers import NIGHTLY, Later
from tests.rl import scripted_rl
from tests.training import small

transformers: Any = Later("transformers")
peft: Any = Later("peft")

STEPS = [
    Transition("h : p\n⊢ p", "exact h", 1),
    Transition("⊢ ∀ x, x = x", "intro x", 2),
    Transition("⊢ p", "simp", 70),
]
LORA = {"lora": 3, "lora_targets": "q,v,down", "lora_lr": 0.1}
SFT_ONLY = {"collect_transitions": 0, "fraction_sft": 1}
REAL_POLICY = HubLearner.make_policy
"""Not the scripted one."""


@pytest.fixture(scope="module", autouse=True)
def _scripts() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with scripted_rl.scripted():
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A decoder with a value head that has learned something, and the SFT data."""
    folder = save_decoder(tmp_path_factory.mktemp("model"))
    head = ValueHead(32)
    with torch.no_grad():
        head.weight.normal_(std=0.1)
    head.save(folder)
    small.write_leantree(folder / "data.jsonl", STEPS[:2] * 4)
    return folder


@pytest.fixture(scope="module")
def runs() -> Iterator[scripted_rl.Runs]:
    """Runs in processes of their own."""
    runs = scripted_rl.Runs(scripted_rl.HUB_USED_LATE)
    yield runs
    runs.close()


def words(model: Path, path: Path, **options: object) -> list[str]:
    more = {"value_weight": 0.1, "init_lr_frac": 1.0, "device_batch_size": 1, "model_tactic_tokens": 24, **options}
    line = scripted_rl.words(model, path, **more)
    line[line.index("--model-path") + 1] = f"hf:{model}"
    return line


def learner_of(model: Path, **options: object) -> HubLearner:
    config = RLConfig.from_args(parse_args(words(model, model / "unused", **options)))
    return HubLearner(config, small.ALONE, "rl")


def weights(path: Path, step: int) -> dict[str, torch.Tensor]:
    folder = path / f"checkpoint-{step}"
    files = [*folder.glob("*.safetensors"), folder / VALUE_FILE]
    return {name: tensor for file in files for name, tensor in load_file(file).items()}


def test_examples_are_the_models_own_prompts_with_the_value_where_they_end(model: Path) -> None:
    learner = learner_of(model, **LORA)
    assert known_format(f"hf:{model}", "tactic") is None and learner.network.format.name == "bfs-prover"
    examples = learner.encode(STEPS, [0.5] * 64)
    for item, example in zip(STEPS, examples, strict=True):
        assert example is not None
        read = tokenized_example(example)
        text = learner.tokenizer.decode(read.prompt), learner.tokenizer.decode(read.answer)
        assert text == (f"{item.state}:::", f"{item.tactic}</s>")
        assert (read.depth, read.value_weight, read.negative) == (min(item.depth, 64), 0.5, False)
    (failed,) = learner.encode(STEPS[:1], negative=True)
    assert failed is not None and tokenized_example(failed).negative and tokenized_example(failed).depth == 0
    assert learner.encode([Transition("⊢ p " * 99, "simp", 1)]) == [None]


def test_updates_teach_tactics_and_values_and_unteach_what_failed(model: Path) -> None:
    learner = learner_of(model, unlikelihood_weight=1.0, model_lr=0.003)
    likely, unlikely = learner.encode(STEPS[:2]), learner.encode([Transition(STEPS[0].state, "simp", 1)], negative=True)
    batch = [example for example in [*likely, *unlikely] if example is not None]
    policy = REAL_POLICY(learner, model)
    assert isinstance(policy, HubPolicy)
    before, value = learner.tactic_logprobs(batch), policy.suggest(STEPS[1].state).value
    losses = [learner.update(batch, 0.0) for _ in range(30)]
    after = learner.tactic_logprobs(batch)
    assert after[0] > before[0] and after[1] > before[1] and after[2] < before[2]
    assert losses[-1]["value_loss"] < losses[0]["value_loss"] and losses[-1]["unlikelihood_loss"] < 1
    suggestion = policy.suggest(STEPS[1].state)
    assert abs(suggestion.value - 2) < abs(value - 2) and len(suggestion.value_distribution) == 64
    shown = learner.token_losses(batch)
    assert shown[0]["losses"][:3] == [None] * 3 and sum(shown[0]["losses"][-2:]) < 2
    policy.close()


@pytest.mark.nightly
def test_a_run_collects_trains_evaluates_and_leaves_folders_that_peft_loads(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "rl"
    options = {"save_every": "1steps", "eval_every": "2steps", "keep_checkpoints": 1, "negative_fraction": 0.2}
    assert rl.main(words(model, path, num_steps=3, **LORA, **options)) == 0
    records = list(read_jsonl(path / "metrics.jsonl"))
    assert [record["step"] for record in records] == [1, 2, 3] and records[-1]["theorems_proven"] > 0
    assert all(record["value_loss"] > 0 for record in records)
    best = read_json(path / "best.json")
    assert best["checkpoint"] == f"checkpoint-{best['step']}" and {best["step"], 3} <= set(checkpoint_steps(path))
    assert checkpoint_spec(path, 3) == f"hf:{path / 'checkpoint-3'}"
    base = transformers.AutoModelForCausalLM.from_pretrained(model)
    adapted = peft.PeftModel.from_pretrained(base, path / "checkpoint-3")
    assert any(parameter.any() for name, parameter in adapted.named_parameters() if "lora_B" in name)
    assert ValueHead.load(path / "checkpoint-3", 32) is not None


@pytest.mark.nightly
def test_a_resumed_run_makes_the_updates_that_it_would_have_made(model: Path, tmp_path: Path) -> None:
    options: dict[str, object] = {**LORA, **SFT_ONLY, "lora_dropout": 0.3, "save_every": "1steps"}
    assert rl.main(words(model, tmp_path / "whole", num_steps=4, **options)) == 0
    assert rl.main(words(model, tmp_path / "cut", num_steps=2, **options)) == 0
    assert rl.main(["--resume-from", str(tmp_path / "cut"), "--num-steps", "4"]) == 0
    whole, cut = weights(tmp_path / "whole", 4), weights(tmp_path / "cut", 4)
    assert whole.keys() == cut.keys() and all(torch.equal(whole[name], cut[name]) for name in whole)
    (tmp_path / "cut" / "checkpoint-4" / "optimizer.pt").write_bytes(b"torn")
    with pytest.raises(UserError, match=r"optimizer\.pt is missing, damaged .* --resume-fresh-optimizer"):
        rl.main(["--resume-from", str(tmp_path / "cut"), "--num-steps", "5"])


@pytest.mark.slow
def test_a_run_that_is_killed_makes_the_updates_of_one_that_is_not(
    model: Path, tmp_path: Path, runs: scripted_rl.Runs
) -> None:
    kills, steps = (10, 8) if NIGHTLY > 1 else (1, 3)
    options: dict[str, object] = {**LORA, **SFT_ONLY, "lora_dropout": 0.3, "save_every": "1steps", "num_steps": steps}
    options |= {"keep_checkpoints": 2}
    assert rl.main(words(model, tmp_path / "whole", **options)) == 0
    line, path, rng = words(model, tmp_path / "killed", **options), tmp_path / "killed", random.Random(0)
    for number in range(kills):
        (child,) = runs.start(line)
        deadline, wanted = time.monotonic() + 120, min(steps - 1, number + 1)
        # In the middle of a step, of a checkpoint, or between them.
        while time.monotonic() < deadline and (not path.is_dir() or max(checkpoint_steps(path), default=0) < wanted):
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.05))
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        runs.codes()
        line = ["--resume-from", str(path)]
    runs.start(line)
    assert runs.codes() == [0]
    whole, killed = weights(tmp_path / "whole", steps), weights(path, steps)
    assert all(torch.equal(whole[name], killed[name]) for name in whole)
    assert [record["step"] for record in read_jsonl(path / "metrics.jsonl")] == list(range(1, steps + 1))
    assert not list(path.glob(".checkpoint*"))


@pytest.mark.nightly
@pytest.mark.slow
def test_two_ranks_make_the_updates_of_one_divided_over_them_or_not(
    model: Path, tmp_path: Path, runs: scripted_rl.Runs
) -> None:
    options: dict[str, object] = {**SFT_ONLY, "check_ranks": True, "model_lr": 0.003, "eval_datasets": "scripted"}
    # Of five examples one rank has more batches than the other: divided, they meet in each forward pass.
    options |= {"target_examples_per_step": 5, "row_length": 64, "num_updates_per_step": 3, "num_steps": 1}
    for trained, lora in (("whole", {}), ("adapters", LORA)):
        path = tmp_path / trained
        states, losses = [], []
        for name, ranks, more in (("alone", 1, {}), ("2", 2, {}), ("divided", 2, {"shard": True})):
            runs.start(words(model, path / name, **options, **lora, **more), ranks)
            assert runs.codes() == [0] * ranks
            # Of AdamW the means of gradients, as its steps are the signs of these, those of rounding too.
            states.append(torch.load(path / name / "checkpoint-1" / "optimizer.pt")["state"])
            (record,) = read_jsonl(path / name / "metrics.jsonl")
            losses.append([record[part] for part in ("tactic_loss", "value_loss", "grad_norm")])
        assert losses[1] == pytest.approx(losses[0], rel=1e-4) and losses[2] == pytest.approx(losses[0], rel=1e-4)
        alone, *together = states
        for state in together:
            assert len(alone) == len(state) > 4
            for number, values in alone.items():
                assert torch.allclose(values["exp_avg"], state[number]["exp_avg"], atol=1e-5)
    # What several ranks wrote goes on alone, and the other way round.
    for trained, name, ranks, more in (
        ("whole", "divided", 1, ["--no-shard"]),
        ("adapters", "divided", 1, ["--no-shard"]),
        ("adapters", "alone", 2, ["--shard"]),
    ):
        runs.start(["--resume-from", str(tmp_path / trained / name), "--num-steps", "2", *more], ranks)
        assert runs.codes() == [0] * ranks
        after = weights(tmp_path / trained / name, 2)
        assert after.keys() == weights(tmp_path / trained / "2", 1).keys()
        assert not torch.equal(after["weight"], load_file(model / VALUE_FILE)["weight"])
    runs.close()


def test_what_cannot_be_trained_is_refused_in_one_line(model: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is an encoder-decoder: reinforcement learning takes decoders"):
        learner_of(save_encoder_decoder(tmp_path / "t5"), value_weight=0)
    with pytest.raises(UserError, match=r"--model-tactic-tokens 128 leaves no room for states: .* has 128 positions"):
        learner_of(model, model_tactic_tokens=128)
    with pytest.raises(UserError, match="--asynchronous is for networks of ours"):
        learner_of(model, asynchronous=True)
    with pytest.raises(UserError, match="--model-load-4bit needs a GPU"):
        learner_of(model, model_load_4bit=True)
    with pytest.raises(UserError, match="--shard divides a network over ranks, and there is one: start it with torch"):
        learner_of(model, shard=True)
    line = words(model, tmp_path / "rl")
    line[line.index("--model-path") + 1] = "openai:http://127.0.0.1:9/v1"
    with pytest.raises(UserError, match="weights of an endpoint cannot be trained from here; give hf:FOLDER"):
        rl.main(line)


def test_memory_on_paper_is_counted_without_loading_anything(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rl.main([*words(model, model / "unused", **LORA), "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    network = transformers.AutoModelForCausalLM.from_pretrained(model)
    assert f"weights: {sum(parameter.numel() for parameter in network.parameters()):,} parameters, bf16" in lines[1]
    trained = learner_of(model, **LORA).network.sizes()[1]
    assert f"trained: {trained:,} parameters" in lines[2] and "at most" in lines[-1]
    with pytest.raises(UserError, match="--dry-run estimates the memory for a model of transformers"):
        rl.main(["--model-path", "sft/x", "--dry-run"])
