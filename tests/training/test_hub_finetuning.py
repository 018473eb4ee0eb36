"""Finetuning of models of transformers: losses, gradients, folders that the plain libraries load, killed runs."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from nanoproof import grpo, sft
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.compat.trainers import SFTTrainer
from nanoproof.data.transitions import leandojo
from nanoproof.data.weighted_rows import Row, write_rows
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.hf_tokens import PromptCodec
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.inference.value_head import expected_tactics
from nanoproof.lean.types import Transition
from nanoproof.model.network_options import LoraOptions
from nanoproof.policy.prompt_formats import FORMATS, known_format
from nanoproof.training import hub_finetuning, hub_grpo, options
from nanoproof.training.hub_examples import answer_logits, tokenize, tokenize_rows
from nanoproof.training.hub_finetuning import HubFinetuning
from nanoproof.training.hub_network import checkpoint_steps, target_modules
from tests.fakes.hf_models import save_decoder, save_encoder, save_encoder_decoder, save_other_decoder
from tests.helpers import Later, run_ranks
from tests.training import small

transformers: Any = Later("transformers")
peft: Any = Later("peft")

torch.set_num_threads(1)

STEPS = [Transition("h : p\n⊢ p", "exact h", 1), Transition("⊢ ∀ x, x = x", "intro x", 2), Transition("⊢ p", "simp", 1)]


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_decoder(tmp_path_factory.mktemp("decoder"))


@pytest.fixture(scope="module")
def encoder_decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder_decoder(tmp_path_factory.mktemp("encoder_decoder"))


@pytest.fixture(params=["decoder", "encoder_decoder"])
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


def plain(folder: Path) -> Any:
    """A whole model as one loads it by hand."""
    config = transformers.AutoConfig.from_pretrained(folder)
    kind = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
    return kind.from_pretrained(folder).eval()


def write_export(folder: Path, train: list[Transition], valid: list[Transition] | None = None, extra: str = "") -> Path:
    """A folder as LeanDojo exports it, a theorem for each transition; `extra` is a tactic that each begins with."""

    def theorem(number: int, item: Transition) -> dict[str, Any]:
        steps = [{"tactic": extra, "annotated_tactic": [extra, []], "state_before": "⊢ x", "state_after": ""}]
        steps = [*(steps if extra else []), {**steps[0], "tactic": item.tactic, "state_before": item.state}]
        where = {"url": "u", "commit": "c", "file_path": "F.lean", "start": [1, 1], "end": [2, 1]}
        return {**where, "full_name": f"t{number}", "theorem_statement": None, "traced_tactics": steps}

    (folder / "random").mkdir(parents=True, exist_ok=True)
    for name, items in (("train", train), ("val", valid)):
        if items is not None:
            rows = [theorem(number, item) for number, item in enumerate(items)]
            (folder / "random" / f"{name}.json").write_text(json.dumps(rows, ensure_ascii=False))
    return folder


# -- losses ------------------------------------------------------------------------------------------------------------


def by_hand(model: Any, tokenizer: Any, item: Transition, how: str) -> tuple[float, int, bool]:
    """The summed -log p of an answer's tokens, their number, and whether each is the likeliest; by one plain pass."""
    prompt, answer = FORMATS[how].example(item.state, item.tactic)
    answer_ids = [*tokenizer(answer, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    prompt_ids = tokenizer(prompt)["input_ids"]
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            before = torch.tensor([[0, *answer_ids[:-1]]])
            logits = model(input_ids=torch.tensor([prompt_ids]), decoder_input_ids=before).logits[0]
        else:
            whole = tokenizer(prompt + answer)["input_ids"]
            assert whole[: len(prompt_ids)] == prompt_ids
            answer_ids = [*whole[len(prompt_ids) :], tokenizer.eos_token_id]
            logits = model(torch.tensor([[*prompt_ids, *answer_ids]])).logits[0, len(prompt_ids) - 1 : -1]
    nll = -logits.log_softmax(-1)[range(len(answer_ids)), answer_ids].sum()
    return float(nll), len(answer_ids), logits.argmax(-1).tolist() == answer_ids


def loop_of(folder: Path, data: Path, *words: str, run: str = "run") -> HubFinetuning:
    """The loop of a command line, not run."""
    from nanoproof.common.config import Parser, add_flags, from_args

    parser = Parser()
    for group in options.HUB_SFT:
        add_flags(parser, group)
    args = parser.parse_args(["--model-path", f"hf:{folder}", "--data", str(data), "--device-type", "cpu", *words])
    return HubFinetuning(*(from_args(group, args) for group in options.HUB_SFT), small.ALONE)


def test_the_loss_is_the_mean_over_the_tokens_of_answers_alone(folder: Path, tmp_path: Path) -> None:
    data = write_export(tmp_path, STEPS, STEPS[:2])
    loop = loop_of(folder, data, "--target-examples-per-step", "3", "--device-batch-size", "2")
    model, how = plain(folder), loop.format.name
    assert how == ("reprover" if model.config.is_encoder_decoder else "bfs-prover")
    hands = [by_hand(model, loop.tokenizer, item, how) for item in STEPS]
    loop.model.eval()
    held_out = loop.evaluate()
    assert held_out["loss"] == pytest.approx(sum(h[0] for h in hands[:2]) / sum(h[1] for h in hands[:2]), abs=1e-5)
    loop.model.train = lambda mode=True: loop.model  # no dropout: as it was computed by hand
    metrics = loop.train_one()
    assert metrics["loss"] == pytest.approx(sum(h[0] for h in hands) / sum(h[1] for h in hands), abs=1e-5)
    assert metrics["lr_factor"] == 1.0  # the first step of a line from 1 to 0


@pytest.mark.parametrize(("warmup", "constant"), [(0, False), (5, False), (5, True)])
def test_learning_rates_are_those_of_transformers_to_the_last_step(
    decoder: Path, tmp_path: Path, warmup: int, constant: bool
) -> None:
    data = write_export(tmp_path, STEPS, [])
    words = ["--target-examples-per-step", "1", "--epochs", "7", "--warmup-frac", repr(warmup / (7 * len(STEPS)))]
    loop = loop_of(decoder, data, *words, *(["--constant-lr"] if constant else []))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    if constant:
        schedule = transformers.get_constant_schedule_with_warmup(optimizer, warmup)
    else:
        schedule = transformers.get_linear_schedule_with_warmup(optimizer, warmup, loop.num_steps)
    for step in range(loop.num_steps):
        loop.state.step = step
        assert loop.lr_factor == pytest.approx(schedule.get_last_lr()[0], abs=1e-12), step
        optimizer.step()
        schedule.step()


def test_a_padded_batch_has_the_numbers_of_single_rows(folder: Path) -> None:
    model, tokenizer = plain(folder), transformers.AutoTokenizer.from_pretrained(folder)
    encoder_decoder = model.config.is_encoder_decoder
    codec = PromptCodec(tokenizer, encoder_decoder, False, [tokenizer.eos_token_id])
    examples, too_long = tokenize(STEPS, FORMATS["bfs-prover"], codec, tokenizer.eos_token_id, 100, encoder_decoder)
    assert too_long == []
    with torch.no_grad():
        logits_NV, targets_N, rows_N, _ = answer_logits(model, examples, 0, 0)
        for row, example in enumerate(examples):
            alone_KV, wanted_K, _, _ = answer_logits(model, [example], 0, 0)
            torch.testing.assert_close(logits_NV[rows_N == row], alone_KV, atol=1e-5, rtol=1e-5)
            assert wanted_K.tolist() == targets_N[rows_N == row].tolist() == example.answer.tolist()
    sizes = [len(each.prompt) + len(each.answer) for each in examples]
    room = max(sizes) if not encoder_decoder else max(max(len(each.prompt), len(each.answer)) for each in examples)
    assert tokenize(STEPS, FORMATS["bfs-prover"], codec, 1, room, encoder_decoder)[1] == []
    assert tokenize(STEPS, FORMATS["bfs-prover"], codec, 1, room - 1, encoder_decoder)[1] == [room]


def test_exact_matches_are_those_that_greedy_decoding_writes(decoder: Path, tmp_path: Path) -> None:
    data = write_export(tmp_path / "data", STEPS, [STEPS[0], STEPS[0], STEPS[1], Transition("⊢ q", "rw [h]", 1)])
    words = ["--model-path", f"hf:{decoder}", "--data", str(data), "--run-dir", str(tmp_path / "run")]
    words += ["--device-type", "cpu", "--epochs", "25", "--lr", "0.01", "--target-examples-per-step", "3"]
    words += ["--value-weight", "0.1", "--lora-lr", "0.02"]
    assert sft.main([*words, "--log-level", "warning"]) == 0
    records = list(read_jsonl(tmp_path / "run" / "metrics.jsonl"))
    assert records[-1]["loss"] < 0.1 < records[0]["loss"] and records[-1]["step"] == 25
    assert records[-1]["valid/tactic_exact_match"] == 0.75
    assert records[-1]["value_loss"] < 0.1 < records[0]["value_loss"] and records[-1]["valid/value_error"] < 1
    assert (tmp_path / "run" / "finished").exists()
    folder = tmp_path / "run" / "checkpoint-25"
    assert known_format(f"hf:{folder}", "tactic") is FORMATS["bfs-prover"]
    ours = HFModel(str(folder))
    greedy = GenerationOptions(max_new_tokens=20, temperature=0)
    prompts = [FORMATS["bfs-prover"].prompt(item.state, ()) for item in STEPS]
    for item, value in zip(STEPS, ours.values(prompts), strict=True):
        assert expected_tactics(value) == pytest.approx(1, abs=0.3), item  # an export of theorems of one step
    answers = ours.generate(prompts, greedy, [0] * 3)
    assert [samples[0].text for samples in answers] == [item.tactic for item in STEPS]
    assert all(samples[0].finished for samples in answers)
    ours.close()


# -- adapters ----------------------------------------------------------------------------------------------------------


def test_adapters_alone_are_trained_and_begin_at_the_base(folder: Path, tmp_path: Path) -> None:
    data = write_export(tmp_path, STEPS)
    loop = loop_of(folder, data, "--lora", "4", "--lora-dropout", "0.1", "--lora-lr", "0.01", "--epochs", "22")
    base = plain(folder)
    loop.model.eval()
    with torch.no_grad():
        ours, theirs = (answer_logits(model, loop.train, loop.pad, loop.begin)[0] for model in (loop.model, base))
    assert torch.equal(ours, theirs)
    before = {name: tensor.clone() for name, tensor in loop.model.state_dict().items()}
    loop.train_one()
    loop.state.step += 1
    loop.train_one()
    changed = {name for name, tensor in loop.model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed == {name for name in before if "lora_" in name}
    parts = {name.split(".lora_")[0].rpartition(".")[2] for name in changed}
    assert parts == (
        {"q", "k", "v", "o"} if base.config.is_encoder_decoder else {"q_proj", "k_proj", "v_proj", "o_proj"}
    )
    assert "parameters are trained" in loop.decisions()["lora"]


def test_targets_are_named_as_the_network_does(decoder: Path, tmp_path: Path) -> None:
    gpt2 = plain(save_other_decoder(tmp_path, "gpt2"))
    assert target_modules(gpt2, LoraOptions(lora=4)) == ["c_attn", "c_proj"]
    small_heads = {"qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "kv_lora_rank": 8, "q_lora_rank": 8}
    shape = {"num_hidden_layers": 1, "hidden_size": 32, "intermediate_size": 32, "vocab_size": 32, **small_heads}
    with torch.device("meta"):
        deepseek = transformers.AutoModelForCausalLM.from_config(transformers.DeepseekV3Config(**shape))
    assert target_modules(deepseek, LoraOptions(lora=4)) == ["kv_b_proj", "o_proj", "q_b_proj"]
    network = plain(decoder)
    assert target_modules(network, LoraOptions(lora=4, lora_targets="q,up,v_proj")) == ["q_proj", "up_proj", "v_proj"]
    assert target_modules(network, LoraOptions(lora=4, lora_targets="all-linear")) == "all-linear"
    with pytest.raises(UserError, match="--lora-targets c_attn: this network has q_proj, k_proj, v_proj, o_proj, gate"):
        target_modules(network, LoraOptions(lora=4, lora_targets="c_attn"))


class Stopped(HubFinetuning):
    """One that is asked to end in its third step."""

    def train_one(self) -> dict[str, float]:
        self.stop.received = self.state.step == 2
        return super().train_one()


def test_a_run_with_adapters_resumes_to_the_last_bit_and_its_folder_loads_in_peft(
    encoder_decoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_export(tmp_path / "data", STEPS, STEPS)

    def words(run: str) -> list[str]:
        line = ["--model-path", f"hf:{encoder_decoder}", "--data", str(data), "--run-dir", str(tmp_path / run)]
        line += ["--lora", "4", "--lora-dropout", "0.2", "--lora-lr", "0.02", "--target-examples-per-step", "2"]
        return [*line, "--device-type", "cpu", "--epochs", "4", "--log-level", "warning"]

    assert sft.main(words("whole")) == 0
    monkeypatch.setattr(hub_finetuning, "HubFinetuning", Stopped)
    assert sft.main(words("parts")) == 0
    monkeypatch.undo()
    assert [each.name for each in (tmp_path / "parts").glob("checkpoint-*")] == ["checkpoint-3"]
    assert sft.main(["--resume-from", str(tmp_path / "parts")]) == 0
    assert sft.main(["--resume-from", str(tmp_path / "parts")]) == 0  # a resumed run is still known for what it is
    with pytest.raises(UserError, match=r"--target-examples-per-step 3 clashes with --resume-from .* have 2"):
        sft.main(["--resume-from", str(tmp_path / "parts"), "--target-examples-per-step", "3", "--epochs", "9"])
    whole, parts = (tmp_path / run / "checkpoint-6" for run in ("whole", "parts"))
    tensors = [peft.utils.load_peft_weights(str(folder), device="cpu") for folder in (whole, parts)]
    assert tensors[0] and all(torch.equal(tensors[0][name], tensors[1][name]) for name in tensors[0])
    assert not (whole / "model.safetensors").exists()
    losses = [
        [
            {name: value for name, value in record.items() if "loss" in name}
            for record in read_jsonl(run / "metrics.jsonl")
        ]
        for run in (tmp_path / "whole", tmp_path / "parts")
    ]
    assert losses[0] == losses[1] and losses[0][-1]["loss"] < losses[0][0]["loss"]

    adapted = peft.PeftModel.from_pretrained(plain(encoder_decoder), whole).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(whole)
    ours, prompt = HFModel(str(whole)), FORMATS["reprover"].prompt(STEPS[0].state, ())
    wanted = -by_hand(adapted, tokenizer, STEPS[0], "reprover")[0]
    ending = [*tokenizer("exact h", add_special_tokens=False)["input_ids"], 1]
    assert ours._score(tokenizer(prompt)["input_ids"], ending) == pytest.approx(wanted, abs=1e-4)  # merged as unmerged
    assert not math.isclose(wanted, -by_hand(plain(encoder_decoder), tokenizer, STEPS[0], "reprover")[0], abs_tol=1e-2)
    ours.close()
    with pytest.raises(UserError, match=r"--lora 8: hf:.* holds adapters of rank 4"):
        loop_of(whole, data, "--lora", "8")
    assert loop_of(whole, data).lr == 2e-5  # merged, and all of it is trained


def finetuned_as_command(words: list[str]) -> None:
    torch.set_num_threads(1)
    assert sft.main(words) == 0


@pytest.mark.nightly
@pytest.mark.slow
def test_a_network_that_is_divided_over_ranks_is_finetuned_as_on_one(decoder: Path, tmp_path: Path) -> None:
    items = [Transition("h : p\n⊢ p", "exact h", 1), Transition("⊢ ∀ x, x = x", "intro x", 2)] * 3
    small.write_leantree(tmp_path / "data.jsonl", items)
    line = ["--model-path", f"hf:{decoder}", "--data", str(tmp_path / "data.jsonl"), "--value-weight", "0.1"]
    # Of five examples a rank has three, in two batches, and the other two, in one.
    line += ["--target-examples-per-step", "5", "--device-batch-size", "2", "--device-type", "cpu", "--epochs", "2"]
    assert sft.main([*line, "--run-dir", str(tmp_path / "1")]) == 0
    run_ranks(2, finetuned_as_command, [*line, "--run-dir", str(tmp_path / "2"), "--shard"])
    alone, divided = (list(read_jsonl(tmp_path / run / "metrics.jsonl")) for run in ("1", "2"))
    assert len(alone) == len(divided) > 2
    for step, other in zip(alone, divided, strict=True):
        for name, value in step.items():
            if "loss" in name or name == "grad_norm":
                assert other[name] == pytest.approx(value, rel=1e-3), name
    folder = sorted((tmp_path / "2").glob("checkpoint-*"))[-1]
    transformers.AutoModelForCausalLM.from_pretrained(folder)


def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one(decoder: Path, tmp_path: Path) -> None:
    loop = loop_of(decoder, write_export(tmp_path / "data", STEPS))
    loop.write_checkpoint(tmp_path, None)
    kept = sorted(file.name for file in (tmp_path / "checkpoint-0").iterdir())
    assert {"config.json", "model.safetensors", "optimizer.pt", "nanoproof.json", "tokenizer.json"} <= set(kept)

    def full(folder: Path) -> None:
        folder.mkdir()
        (folder / "half").write_text("")
        raise OSError(28, "No space left on device")

    loop.model.save_pretrained = full
    with pytest.raises(OSError, match="No space left"):
        loop.write_checkpoint(tmp_path, None)
    assert sorted(file.name for file in (tmp_path / "checkpoint-0").iterdir()) == kept
    assert not list(tmp_path.glob(".checkpoint*"))
    for step in (1, 2):
        loop.state.step = step
        del loop.model.save_pretrained
        loop.write_checkpoint(tmp_path, 2)
        loop.model.save_pretrained = full
    assert checkpoint_steps(tmp_path) == [1, 2]
    (tmp_path / "checkpoint-2" / "optimizer.pt").write_bytes(b"torn")
    with pytest.raises(UserError, match=r"optimizer\.pt is missing, damaged .* --resume-fresh-optimizer"):
        loop.network.load_optimizer(tmp_path / "checkpoint-2")
    loop.state.step = 3
    del loop.model.save_pretrained
    with torch.no_grad():
        loop.model.lm_head.weight[0, 0] = math.inf
    with pytest.raises(UserError, match=r"checkpoint-3 is not written: the weight lm_head\.weight has values .* not f"):
        loop.write_checkpoint(tmp_path, 1)
    assert checkpoint_steps(tmp_path) == [1, 2]


# -- data of LeanDojo, and the known constructor -----------------------------------------------------------------------


def test_an_export_is_read_without_marks_and_without_what_gives_up(tmp_path: Path) -> None:
    marked = Transition("⊢ p", " rw [<a>Nat.add_comm</a>]\n", 1)
    gives_up = [Transition("⊢ p", tactic, 1) for tactic in ("sorry", "exact foo (by sorry)", "admit", "exact h.admit")]
    done = Transition("no goals", "rfl", 1)
    write_export(tmp_path, [marked, *gives_up, done], extra="intro x")
    train, valid, left_out = leandojo.load_export(tmp_path)
    assert [item.tactic for item in train if item.tactic != "intro x"] == ["rw [Nat.add_comm]", "exact h.admit"]
    assert [item.depth for item in train[:2]] == [2, 1] and valid == []
    assert sorted(left_out.values()) == [1, 3]
    (tmp_path / "random" / "train.json").write_text('[{"full_name": "t"}]')
    with pytest.raises(UserError, match=r"train\.json: theorem 0 is of another shape: KeyError 'traced_tactics'"):
        leandojo.load_export(tmp_path)


class Exports:
    """A database that writes the transitions of the repositories it is asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def export_merged_data(self, repositories: list[str], output_path: Path) -> None:
        self.asked.append(repositories)
        shutil.rmtree(output_path, ignore_errors=True)
        write_export(output_path, STEPS[: len(repositories) + 1], STEPS[:1])


def test_the_known_trainer_goes_through_repositories_and_saves_what_the_libraries_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "HUB_SFT_DEFAULTS", {**options.HUB_SFT_DEFAULTS, "device_type": "cpu"})
    modules = ["q_proj", "k_proj", "v_proj", "o_proj"]
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=modules, lora_dropout=0.1, task_type="CAUSAL_LM")
    out, database = tmp_path / "outputs", Exports()
    decoder = save_decoder(tmp_path / "chat", chat=True, positions=512)
    trainer = SFTTrainer(
        str(decoder), output_dir=str(out), epochs_per_repo=2, batch_size=1, lr=1e-3, lora_config=config
    )
    assert (trainer.config.num_train_epochs, trainer.config.learning_rate) == (2, 1e-3)
    assert trainer.tokenizer.pad_token == "</s>" and hasattr(trainer.model, "print_trainable_parameters")
    before = trainer.model.state_dict()
    metrics = trainer.train(["owner/one", "owner/two"], database, tmp_path / "merged")
    assert database.asked == [["owner/one"], ["owner/one", "owner/two"]]
    assert metrics["step"] == 6 and math.isfinite(metrics["valid/loss"]) and "valid/tactic_exact_match" in metrics
    after = trainer.model.state_dict()
    assert before.keys() == after.keys() and any(not torch.equal(before[name], after[name]) for name in before)
    assert read_json(out / "nanoproof.json")["prompt_format"] == "leandojo"
    saved = read_json(out / "adapter_config.json")
    assert (saved["r"], saved["lora_alpha"], saved["base_model_name_or_path"]) == (4, 8, str(decoder))
    peft.PeftModel.from_pretrained(plain(decoder), out)
    assert transformers.AutoTokenizer.from_pretrained(out).eos_token == "</s>"
    assert not (out / "optimizer.pt").exists()
    assert trainer.train(["owner/one", "owner/two"], database, tmp_path / "merged") == metrics  # all of it is done
    assert len(database.asked) == 2
    again = SFTTrainer(str(decoder), output_dir=str(out), epochs_per_repo=1, batch_size=2, lr=1e-3, lora_config=config)
    assert again.train(["owner/one"], database, tmp_path / "merged")["step"] == 1  # other settings: not done
    with pytest.raises(UserError, match="there are no repositories to train on"):
        trainer.train([], database, tmp_path / "merged")


@pytest.mark.nightly
def test_the_known_trainer_with_its_defaults_saves_a_whole_model(
    encoder_decoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "HUB_SFT_DEFAULTS", {**options.HUB_SFT_DEFAULTS, "device_type": "cpu"})
    monkeypatch.chdir(tmp_path)
    trainer = SFTTrainer(model_name=str(encoder_decoder))
    trainer.train([], None, write_export(tmp_path / "data", STEPS))
    loaded, base = plain(tmp_path / "outputs"), plain(encoder_decoder)
    assert any(not torch.equal(ours, theirs) for ours, theirs in zip(loaded.parameters(), base.parameters()))


def test_a_model_that_is_not_there_is_said_before_data_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command, module in ((sft, hub_finetuning), (grpo, hub_grpo)):
        monkeypatch.setattr(module, "load_data", lambda name: pytest.fail("data were made first"))
        with pytest.raises(UserError, match="there is no such folder"):
            command.main(["--model-path", f"hf:{tmp_path}/no-such", "--data", "nanolean", "--device-type", "cpu"])


def test_held_out_transitions_without_room_are_left_out(decoder: Path, tmp_path: Path) -> None:
    data = write_export(tmp_path / "data", STEPS, [Transition("h " * 400 + "⊢ p", "rfl", 1)])
    loop = loop_of(decoder, data)
    assert (len(loop.valid), loop.too_long) == (0, 1) and loop.evaluate() == {}


def test_what_cannot_be_finetuned_is_one_line(decoder: Path, tmp_path: Path) -> None:
    data = write_export(tmp_path / "data", STEPS)
    encoder = save_encoder(tmp_path / "encoder")
    nothing, scales = write_export(tmp_path / "nothing", [Transition("⊢ p", "sorry", 1)]), tmp_path / "scales"
    rows_of_all = peft.IA3Config(target_modules=["q_proj"], feedforward_modules=[], task_type="CAUSAL_LM")
    peft.get_peft_model(plain(decoder), rows_of_all).save_pretrained(scales)
    common = ["--data", str(data), "--device-type", "cpu"]
    for words, message in (
        (
            ["--model-path", f"hf:{encoder}"],
            "is T5EncoderModel, which writes no texts: give",
        ),
        (["--model-path", f"hf:{tmp_path}"], "its models are in encoder"),
        (["--model-path", "hf:"], "expected hf:PATH_OR_ID"),
        (["--model-path", f"hf:{decoder}", "--prompt-format", "chat"], "has no chat template"),
        (["--model-path", f"hf:{decoder}", "--prompt-format", "stp"], "stp is for whole proofs"),
        (["--model-path", f"hf:{decoder}", "--max-length", "3"], "no transition fits in 3 tokens"),
        (["--model-path", f"hf:{decoder}", "--data", str(tmp_path / "none.jsonl")], "none.jsonl"),
        (["--model-path", f"hf:{decoder}", "--data", str(nothing)], "holds no transitions to train on"),
        (["--model-path", f"hf:{scales}", "--lora", "4"], "holds adapters of the kind IA3, which have no rank"),
    ):
        with pytest.raises(UserError, match=message) as caught:
            sft.main([*common, *words])
        assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("checkpoint*"))


# -- rows of texts ---------------------------------------------------------------------------------------------------


def test_rows_of_texts_have_a_weighted_mean_over_targets_and_their_end(tmp_path: Path) -> None:
    folder, data = save_decoder(tmp_path / "model"), tmp_path / "rows.json"
    rows = [Row("theorem t", " (p : Prop)", 0.25), Row("exact h", " rw [h] simp", 2.0), Row("simp", " intro x", 1.0)]
    write_rows(data, rows)
    loop = loop_of(folder, data, "--target-examples-per-step", "3", "--device-batch-size", "2", "--constant-lr")
    assert loop.format.name == "stp" and loop.decisions()["transitions"].endswith("3 to train, 0 to validate")
    model, total, weight = plain(folder), 0.0, 0.0
    for row in rows:
        prompt = loop.tokenizer(row.prompt)["input_ids"]
        answer = [*loop.tokenizer(row.prompt + row.target)["input_ids"][len(prompt) :], loop.tokenizer.eos_token_id]
        with torch.no_grad():
            logits = model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1]
        nll = -logits.log_softmax(-1)[range(len(answer)), answer]
        total, weight = total + row.weight * float(nll.sum()), weight + row.weight * len(answer)
    metrics = loop.train_one()
    assert metrics["loss"] == pytest.approx(total / weight, rel=1e-4)
    assert metrics["lr_factor"] == 1.0


def test_of_rows_that_are_too_long_the_end_is_kept(tmp_path: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(save_decoder(tmp_path / "model"))
    codec, end = PromptCodec(tokenizer, False, False, [tokenizer.eos_token_id]), tokenizer.eos_token_id
    row = Row("rw [h] simp intro x", " exact h simp", 1.0)
    (whole,), num_cut = tokenize_rows([row], codec, end, 1000, False)
    assert num_cut == 0
    prompt, answer = whole.prompt.tolist(), whole.answer.tolist()
    assert answer[-1] == end
    for lost in (1, 3):
        (cut,), num_cut = tokenize_rows([row], codec, end, len(prompt) + len(answer) - lost, False)
        assert num_cut == 1
        assert cut.prompt.tolist() == [prompt[0], *prompt[1 + lost :]] and cut.answer.tolist() == answer
    (cut,), _ = tokenize_rows([row], codec, end, len(answer), False)
    assert cut.prompt.tolist() == prompt[:1] and cut.answer.tolist() == answer[1:]
